/* `assay corpus import FOLDER SOURCE...`: folders of NumPy files, ONNX test data sets and HDF5 episodes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/corpus_cli.h"
#include "corpus/hdf5_read.h"
#include "corpus/import.h"

enum { EPISODES_MAX = 100000 };

struct import_options {
  struct case_options shared;
  const char *model, *episodes, *frames, *limit_mb;
  const char *maps[HDF5_DATASETS_MAX];
  int n_maps;
  bool batch;
};

/* A whole number at *at, which moves behind it. */
static bool take_number(const char **at, int64_t *out) {
  const char *digits = *at;
  size_t n = strspn(digits, "0123456789");
  if (n == 0 || n > 15) {
    return false;
  }
  *out = strtoll(digits, NULL, 10);
  *at = digits + n;
  return true;
}

/* "0,3-5": 0, 3, 4, 5. */
static assay_status parse_episodes(const char *text, struct arena *arena, struct hdf5_import *import) {
  int64_t *episodes, first, last;
  const char *at = text;
  if (text == NULL) {
    return status_ok();
  }
  ARENA_NEW(arena, episodes, EPISODES_MAX);
  do {
    at += *at == ',';
    bool good = take_number(&at, &first);
    last = first;
    if (good && *at == '-') {
      at++;
      good = take_number(&at, &last);
    }
    if (!good || last < first || (*at != ',' && *at != '\0') || last - first >= EPISODES_MAX - import->n_episodes) {
      return status_make(ASSAY_USAGE, NULL, "--episodes is '%s'; it must be numbers and ranges such as 0,3-5", text);
    }
    for (int64_t e = first; e <= last; e++) {
      episodes[import->n_episodes++] = e;
    }
  } while (*at == ',');
  import->episodes = episodes;
  return status_ok();
}

/* "FROM:TO" or "FROM:TO:STRIDE"; TO is not taken, and either may be left out. */
static assay_status parse_frames(const char *text, struct hdf5_import *import) {
  import->from = 0;
  import->to = -1;
  import->stride = 1;
  if (text == NULL) {
    return status_ok();
  }
  const char *at = text;
  bool good = *at == ':' || take_number(&at, &import->from);
  good = good && *at++ == ':';
  if (good && *at != '\0' && *at != ':') {
    good = take_number(&at, &import->to);
  }
  if (good && *at == ':') {
    at++;
    good = take_number(&at, &import->stride) && import->stride > 0;
  }
  return good && *at == '\0'
             ? status_ok()
             : status_make(ASSAY_USAGE, NULL,
                           "--frames is '%s'; it must be FROM:TO or FROM:TO:STRIDE, such as 0:100:10", text);
}

static assay_status parse_hdf5(const struct import_options *options, struct arena *arena, struct hdf5_import *import) {
  struct hdf5_map *maps;
  ARENA_NEW(arena, maps, options->n_maps);
  for (int i = 0; i < options->n_maps; i++) {
    TRY(split_pair(arena, options->maps[i], "map", true, &maps[i].dataset, &maps[i].array));
  }
  *import = (struct hdf5_import){.n_maps = options->n_maps, .maps = maps, .batch = options->batch};
  TRY(parse_episodes(options->episodes, arena, import));
  TRY(parse_frames(options->frames, import));
  if (options->limit_mb != NULL) {
    const char *at = options->limit_mb;
    int64_t megabytes;
    if (!take_number(&at, &megabytes) || *at != '\0' || megabytes < 1 || megabytes > 1 << 20) {
      return status_make(ASSAY_USAGE, NULL, "--limit-mb is '%s'; it must be megabytes, from 1 to %d", options->limit_mb,
                         1 << 20);
    }
    import->bytes_max = (uint64_t)megabytes << 20;
  }
  return status_ok();
}

/* An option that the source cannot use is a mistake, and said so. */
static assay_status check_options(const struct import_options *options, enum import_kind kind, const char *source) {
  bool hdf5 = options->n_maps > 0 || options->episodes != NULL || options->frames != NULL || options->batch ||
              options->limit_mb != NULL;
  if (kind != IMPORT_HDF5 && hdf5) {
    return status_make(ASSAY_USAGE, source,
                       "--map, --episodes, --frames, --batch and --limit-mb are for HDF5 files, and this is none");
  }
  if (kind != IMPORT_ONNX && options->model != NULL) {
    return status_make(ASSAY_USAGE, source, "--model is for ONNX test data sets, and this is none");
  }
  return status_ok();
}

static assay_status import_source(const struct import_options *options, const struct hdf5_import *hdf5,
                                  const struct corpus_case *like, const char *source, struct corpus_editor *editor) {
  enum import_kind kind;
  TRY(import_kind_of(source, &kind));
  TRY(check_options(options, kind, source));
  switch (kind) {
    case IMPORT_NPZ:
      return import_npz(editor, like, source);
    case IMPORT_ONNX:
      return import_onnx(editor, like, source, options->model);
    case IMPORT_HDF5:
      return import_hdf5(editor, like, hdf5, source);
    default:
      return import_folder(editor, like, source);
  }
}

static assay_status import_all(const struct import_options *options, char *const *sources, int n, struct arena *arena,
                               struct corpus_editor *editor) {
  struct corpus_case like;
  struct hdf5_import hdf5;
  TRY(case_from_options(&options->shared, arena, &like));
  TRY(declare_dtypes(&options->shared, arena, editor));
  TRY(parse_hdf5(options, arena, &hdf5));
  for (int i = 0; i < n; i++) {
    struct corpus_case one = like;
    if (like.id != NULL && n > 1) {
      one.id = arena_format(arena, "%s_%d", like.id, i);
      if (one.id == NULL) {
        return status_no_memory(strlen(like.id));
      }
    }
    TRY(import_source(options, &hdf5, &one, sources[i], editor));
  }
  return status_ok();
}

int corpus_import_command(struct cli *cli, int argc, char **argv) {
  struct import_options given = {0};
  const struct cli_option options[] = {
      {"model", 0, "F.onnx", "ONNX data: the model that input_N.pb are the inputs of", NULL, &given.model, NULL, NULL,
       0},
      {"map", 0, "DATASET=ARRAY", "HDF5: such as observations/qpos=inputs/qpos; {episode} stands for the number", NULL,
       NULL, given.maps, &given.n_maps, HDF5_DATASETS_MAX},
      {"episodes", 0, "LIST", "HDF5: numbers for {episode}, such as 0,3-5", NULL, &given.episodes, NULL, NULL, 0},
      {"frames", 0, "FROM:TO[:STRIDE]", "HDF5: which frames; TO is not taken", NULL, &given.frames, NULL, NULL, 0},
      {"batch", 0, NULL, "HDF5: put a batch axis of 1 before every frame of inputs/ and outputs/", &given.batch, NULL,
       NULL, NULL, 0},
      {"limit-mb", 0, "N", "HDF5: largest array that is read (1024)", NULL, &given.limit_mb, NULL, NULL, 0},
      CASE_OPTIONS(given.shared)};
  int n = 0;
  bool done = false;
  assay_status status = cli_options(
      cli, argc, argv, options, sizeof options / sizeof *options, "corpus import FOLDER SOURCE... [options]",
      "Adds recordings to a corpus: folders of .npz or .npy files, ONNX test_data_set_N folders, HDF5 episodes.", &n,
      &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n < 2) {
    return cli_finish(
        status_make(ASSAY_USAGE, NULL, "corpus import takes the folder of a corpus and what is to be imported"));
  }
  struct corpus_editor *editor = NULL;
  struct arena arena = {0};
  status = corpus_edit(argv[0], &editor);
  if (assay_status_ok(status)) {
    status = import_all(&given, argv + 1, n - 1, &arena, editor);
  }
  arena_free(&arena);
  return finish_edit(cli, status, editor, argv[0]);
}
