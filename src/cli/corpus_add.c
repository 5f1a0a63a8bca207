/* `assay corpus add FOLDER FILE.npz...`, or one case of .npy files given by name. */
#include "cli/corpus_cli.h"
#include "corpus/import.h"

enum { ARRAYS_MAX = 256 };

struct add_options {
  struct case_options shared;
  const char *inputs[ARRAYS_MAX], *outputs[ARRAYS_MAX], *raw[ARRAYS_MAX], *decoded[ARRAYS_MAX], *arrays[ARRAYS_MAX];
  int n_inputs, n_outputs, n_raw, n_decoded, n_arrays;
};

/* Takes up "NAME=F.npy" arguments; `group` is put before the name. */
static assay_status take_arrays(struct arena *arena, const char *const *given, int n, const char *what,
                                const char *group, struct import_array *arrays, int *count) {
  for (int i = 0; i < n; i++) {
    const char *name;
    struct import_array *array = &arrays[(*count)++];
    TRY(split_pair(arena, given[i], what, false, &name, &array->path));
    array->array = arena_format(arena, "%s%s", group, name);
    if (array->array == NULL) {
      return status_no_memory(1);
    }
  }
  return status_ok();
}

static assay_status add_npy(const struct add_options *options, const struct corpus_case *like, struct arena *arena,
                            struct corpus_editor *editor) {
  struct import_array *arrays;
  int count = 0;
  ARENA_NEW(arena, arrays, 5 * ARRAYS_MAX);
  TRY(take_arrays(arena, options->inputs, options->n_inputs, "input", "inputs/", arrays, &count));
  TRY(take_arrays(arena, options->outputs, options->n_outputs, "output", "outputs/", arrays, &count));
  TRY(take_arrays(arena, options->raw, options->n_raw, "raw", "raw/", arrays, &count));
  TRY(take_arrays(arena, options->decoded, options->n_decoded, "decoded", "decoded/", arrays, &count));
  TRY(take_arrays(arena, options->arrays, options->n_arrays, "array", "", arrays, &count));
  if (like->id == NULL) {
    return status_make(ASSAY_USAGE, NULL, "a case made of .npy files needs --id");
  }
  return import_npy(editor, like, arrays, (size_t)count);
}

static assay_status add(const struct add_options *options, char *const *files, int n_files, struct arena *arena,
                        struct corpus_editor *editor) {
  struct corpus_case like;
  TRY(case_from_options(&options->shared, arena, &like));
  TRY(declare_dtypes(&options->shared, arena, editor));
  int n_arrays = options->n_inputs + options->n_outputs + options->n_raw + options->n_decoded + options->n_arrays;
  if ((n_arrays > 0) == (n_files > 0)) {
    /* An invalid case may consist of nothing at all. */
    if (n_files == 0 && like.refuse) {
      return add_npy(options, &like, arena, editor);
    }
    return status_make(ASSAY_USAGE, NULL,
                       "corpus add takes .npz files, or --input, --output, ... for one case of .npy files");
  }
  if (n_arrays > 0) {
    return add_npy(options, &like, arena, editor);
  }
  if (n_files > 1 && like.id != NULL) {
    return status_make(ASSAY_USAGE, NULL, "--id names one case; several .npz files are named after themselves");
  }
  for (int i = 0; i < n_files; i++) {
    TRY(import_npz(editor, &like, files[i]));
  }
  return status_ok();
}

int corpus_add_command(struct cli *cli, int argc, char **argv) {
  struct add_options given = {0};
  const struct cli_option options[] = {
      {"input", 0, "NAME=F.npy", "an input", NULL, NULL, given.inputs, &given.n_inputs, ARRAYS_MAX},
      {"output", 0, "NAME=F.npy", "the source's answer", NULL, NULL, given.outputs, &given.n_outputs, ARRAYS_MAX},
      {"raw", 0, "SENSOR=F.npy", "what the sensor gave", NULL, NULL, given.raw, &given.n_raw, ARRAYS_MAX},
      {"decoded", 0, "COMPONENT=F.npy", "the source's answer after decoding", NULL, NULL, given.decoded,
       &given.n_decoded, ARRAYS_MAX},
      {"array", 0, "ARRAY=F.npy", "any array by its whole name, such as repeats/0/action", NULL, NULL, given.arrays,
       &given.n_arrays, ARRAYS_MAX},
      CASE_OPTIONS(given.shared)};
  int n = 0;
  bool done = false;
  assay_status status = cli_options(
      cli, argc, argv, options, sizeof options / sizeof *options, "corpus add FOLDER [FILE.npz...] [options]",
      "Adds cases to a corpus: .npz files as they are, or one case made of .npy files.", &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n < 1) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "corpus add takes the folder of a corpus"));
  }
  struct corpus_editor *editor = NULL;
  struct arena arena = {0};
  status = corpus_edit(argv[0], &editor);
  if (assay_status_ok(status)) {
    status = add(&given, argv + 1, n - 1, &arena, editor);
  }
  arena_free(&arena);
  return finish_edit(cli, status, editor, argv[0]);
}
