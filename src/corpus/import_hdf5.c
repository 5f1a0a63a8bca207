/* Importing HDF5 episodes: datasets of frames become arrays of cases, one case a frame or one an episode.
 * How the file is read without trusting it, hdf5_child.c tells. */
#include <inttypes.h>
#include <string.h>

#include "core/file.h"
#include "corpus/case_arrays.h"
#include "corpus/hdf5_read.h"
#include "corpus/import.h"
#include "corpus/import_case.h"

static const char placeholder[] = "{episode}";

/* One episode while its arrays arrive. */
struct episode {
  struct corpus_editor *editor;
  const struct hdf5_import *import;
  const struct corpus_case *like;
  const char *path, *prefix, *digest;
  int64_t number; /* -1: not known */
  struct import_case made;
};

/* "data/demo_{episode}/obs" with the number in it. */
static char *fill_in(struct arena *arena, const char *dataset, int64_t number) {
  const char *at = strstr(dataset, placeholder);
  return at == NULL
             ? arena_string(arena, dataset)
             : arena_format(arena, "%.*s%" PRId64 "%s", (int)(at - dataset), dataset, number, at + strlen(placeholder));
}

static assay_status finish_case(struct episode *episode, int64_t frame) {
  struct import_case *made = &episode->made;
  struct corpus_case entry = *episode->like;
  entry.file = NULL;
  entry.origin = (struct case_origin){.file = path_name(episode->path),
                                      .digest = episode->digest,
                                      .episode = episode->number,
                                      .frame = frame,
                                      .frames = -1,
                                      .stride = -1};
  if (entry.sequence) {
    entry.id = episode->prefix;
    entry.origin.frames = made->tensors[0].dims[0];
    entry.origin.stride = episode->import->stride;
  } else {
    entry.id = arena_format(&made->arena, "%s_f%06" PRId64, episode->prefix, frame);
    if (entry.id == NULL) {
      return status_no_memory(strlen(episode->prefix));
    }
  }
  assay_status status = import_case_add(made, episode->editor, &entry);
  import_case_free(made);
  return status;
}

/* A policy takes a batch; a recording has none. */
static assay_status add_batch_axis(const struct episode *episode, const char *array, assay_tensor *tensor) {
  const char *rest;
  enum array_group group = array_group_of(array, &rest);
  if (!episode->import->batch || (group != GROUP_INPUTS && group != GROUP_OUTPUTS)) {
    return status_ok();
  }
  if (tensor->rank == ASSAY_RANK_MAX) {
    return status_make(ASSAY_HDF5_INVALID, episode->path, "'%s' has no room for a batch axis: it has %d axes", array,
                       ASSAY_RANK_MAX);
  }
  int32_t place = episode->like->sequence ? 1 : 0; /* behind the steps */
  memmove(&tensor->dims[place + 1], &tensor->dims[place], (size_t)(tensor->rank - place) * sizeof tensor->dims[0]);
  tensor->dims[place] = 1;
  tensor->rank++;
  return status_ok();
}

static assay_status take_array(void *user, int64_t frame, int32_t dataset, const assay_tensor *tensor) {
  struct episode *episode = user;
  const char *array = episode->import->maps[dataset].array;
  assay_tensor copy;
  TRY(tensor_copy(tensor, &copy));
  assay_status status = add_batch_axis(episode, array, &copy);
  if (assay_status_ok(status)) {
    status = import_case_take(&episode->made, array, &copy);
  }
  tensor_free(&copy);
  if (assay_status_ok(status) && dataset == episode->import->n_maps - 1) {
    status = finish_case(episode, frame);
  }
  return status;
}

static assay_status read_episode(struct episode *episode, struct arena *arena) {
  const struct hdf5_import *import = episode->import;
  const char **datasets;
  ARENA_NEW(arena, datasets, import->n_maps);
  for (int32_t i = 0; i < import->n_maps; i++) {
    datasets[i] = fill_in(arena, import->maps[i].dataset, episode->number);
    if (datasets[i] == NULL) {
      return status_no_memory(strlen(import->maps[i].dataset));
    }
  }
  const struct hdf5_request request = {.path = episode->path,
                                       .n_datasets = import->n_maps,
                                       .datasets = datasets,
                                       .from = import->from,
                                       .to = import->to,
                                       .stride = import->stride,
                                       .whole = episode->like->sequence,
                                       .bytes_max = import->bytes_max,
                                       .seconds = import->seconds};
  assay_status status = hdf5_read(&request, take_array, episode);
  import_case_free(&episode->made);
  return status;
}

static assay_status check_maps(const struct hdf5_import *import, const char *path, bool *numbered) {
  *numbered = false;
  for (int32_t i = 0; i < import->n_maps; i++) {
    const char *rest;
    enum array_group group = array_group_of(import->maps[i].array, &rest);
    if (group == GROUP_COUNT || group == GROUP_TAPS || *rest == '\0') {
      return status_make(
          ASSAY_USAGE, path,
          "'%s' is no array of a case; map datasets to inputs/NAME, outputs/NAME, raw/NAME or decoded/NAME",
          import->maps[i].array);
    }
    for (int32_t before = 0; before < i; before++) {
      if (strcmp(import->maps[before].array, import->maps[i].array) == 0) {
        return status_make(ASSAY_USAGE, path, "two datasets are mapped to '%s'", import->maps[i].array);
      }
    }
    *numbered = *numbered || strstr(import->maps[i].dataset, placeholder) != NULL;
  }
  if (import->n_maps == 0) {
    return status_make(ASSAY_USAGE, path,
                       "an HDF5 import needs to be told which dataset is which array, such as --map "
                       "observations/qpos=inputs/qpos");
  }
  if (*numbered == (import->n_episodes == 0)) {
    return status_make(ASSAY_USAGE, path,
                       *numbered
                           ? "the datasets hold {episode}, so say which episodes with --episodes"
                           : "--episodes needs {episode} in the names of the datasets; a file without is one episode");
  }
  return status_ok();
}

/* The number that a file's name ends with ("episode_12.hdf5"), or -1. */
static int64_t number_of(const char *stem) {
  size_t end = strlen(stem), begin = end;
  while (begin > 0 && stem[begin - 1] >= '0' && stem[begin - 1] <= '9') {
    begin--;
  }
  if (begin == end || end - begin > 15) {
    return -1;
  }
  int64_t number = 0;
  for (size_t i = begin; i < end; i++) {
    number = number * 10 + (stem[i] - '0');
  }
  return number;
}

static assay_status import_file(struct corpus_editor *editor, const struct corpus_case *like,
                                const struct hdf5_import *import, const char *path, struct arena *arena) {
  bool numbered;
  char digest[HASH_TEXT_SIZE];
  TRY(check_maps(import, path, &numbered));
  TRY(hash_file(path, digest));
  const char *stem = import_stem(arena, path);
  const char *prefix = like->id != NULL ? like->id : stem;
  if (stem == NULL) {
    return status_no_memory(strlen(path));
  }
  struct episode episode = {
      .editor = editor, .import = import, .like = like, .path = path, .prefix = prefix, .digest = digest};
  if (!numbered) {
    episode.number = number_of(stem);
    return read_episode(&episode, arena);
  }
  for (int32_t i = 0; i < import->n_episodes; i++) {
    episode.number = import->episodes[i];
    episode.prefix = arena_format(arena, "%s_e%03" PRId64, prefix, episode.number);
    if (episode.prefix == NULL) {
      return status_no_memory(strlen(prefix));
    }
    TRY(read_episode(&episode, arena));
  }
  return status_ok();
}

assay_status import_hdf5(struct corpus_editor *editor, const struct corpus_case *like, const struct hdf5_import *import,
                         const char *path) {
  struct arena arena = {0};
  assay_status status = import_file(editor, like, import, path, &arena);
  arena_free(&arena);
  return status;
}
