/* Loading one case: its bytes must be those that corpus.yaml vouches for, and a sequence must carry the
 * same number of steps in every array. What an output means is not looked at here. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "corpus/case_arrays.h"
#include "corpus/case_seeds.h"
#include "corpus/case_times.h"

static void free_arrays(struct case_array *arrays, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    tensor_free(&arrays[i].tensor);
  }
}

void case_data_free(struct case_data *data) {
  if (data == NULL) {
    return;
  }
  free_arrays(data->inputs, data->n_inputs);
  free_arrays(data->outputs, data->n_outputs);
  free_arrays(data->outputs64, data->n_outputs64);
  free_arrays(data->raw, data->n_raw);
  free_arrays(data->decoded, data->n_decoded);
  free_arrays(data->taps, data->n_taps);
  for (int32_t r = 0; r < data->n_repeats; r++) {
    free_arrays(data->repeats[r], data->n_outputs);
  }
  arena_free(&data->arena);
  memory_free(data);
}

static const assay_tensor *find(const struct case_array *arrays, int32_t count, const char *name) {
  for (int32_t i = 0; i < count; i++) {
    if (strcmp(arrays[i].name, name) == 0) {
      return &arrays[i].tensor;
    }
  }
  return NULL;
}

const assay_tensor *case_input(const struct case_data *data, const char *name) {
  return find(data->inputs, data->n_inputs, name);
}
const assay_tensor *case_output(const struct case_data *data, const char *name) {
  return find(data->outputs, data->n_outputs, name);
}
const assay_tensor *case_raw(const struct case_data *data, const char *name) {
  return find(data->raw, data->n_raw, name);
}
const assay_tensor *case_decoded(const struct case_data *data, const char *name) {
  return find(data->decoded, data->n_decoded, name);
}
const assay_tensor *case_tap(const struct case_data *data, const char *name) {
  return find(data->taps, data->n_taps, name);
}

double case_age(const struct corpus_case *entry, const char *input) {
  for (int32_t i = 0; i < entry->n_ages; i++) {
    if (strcmp(entry->ages[i].input, input) == 0) {
      return entry->ages[i].ms;
    }
  }
  return (double)NAN;
}

assay_tensor case_step(const struct case_data *data, const struct corpus_case *entry, const assay_tensor *tensor,
                       int64_t step) {
  assay_tensor view = *tensor;
  (void)data;
  if (!entry->sequence || tensor->rank == 0 || step < 0 || step >= tensor->dims[0]) {
    return view;
  }
  view.rank--;
  memmove(view.dims, view.dims + 1, (size_t)view.rank * sizeof view.dims[0]);
  view.bytes = tensor->bytes / (size_t)tensor->dims[0];
  if (view.bytes > 0) {
    view.data = (unsigned char *)tensor->data + view.bytes * (size_t)step;
  }
  return view;
}

/* The leading axis of every array of a list is `*steps`; the first array seen sets it. */
static assay_status check_steps(const char *path, enum array_group group, const struct case_array *arrays,
                                int32_t count, const char **first, int64_t *steps) {
  for (int32_t i = 0; i < count; i++) {
    const assay_tensor *tensor = &arrays[i].tensor;
    if (tensor->rank == 0) {
      return status_make(
          ASSAY_CORPUS_INVALID, path,
          "'%s/%s' is a scalar, but the case is a sequence, whose arrays carry steps along a leading axis",
          array_group_name(group), arrays[i].name);
    }
    if (*first == NULL) {
      *first = arrays[i].name;
      *steps = tensor->dims[0];
    }
    if (tensor->dims[0] != *steps) {
      return status_make(ASSAY_CORPUS_INVALID, path,
                         "'%s/%s' has %" PRId64 " steps along its leading axis, but '%s' has %" PRId64
                         "; all arrays of a sequence have the same number",
                         array_group_name(group), arrays[i].name, tensor->dims[0], *first, *steps);
    }
    size_t bits = assay_dtype_bits(tensor->dtype);
    if (bits < 8 && *steps > 0 && (size_t)(tensor_count(tensor) / *steps) * bits % 8 != 0) {
      return status_make(
          ASSAY_CORPUS_INVALID, path,
          "a step of '%s/%s' does not fill whole bytes of %s; assay reads such sequences only where it does",
          array_group_name(group), arrays[i].name, assay_dtype_name(tensor->dtype));
    }
  }
  return status_ok();
}

static assay_status check_sequence(const char *path, struct case_data *data) {
  const char *first = NULL;
  TRY(check_steps(path, GROUP_INPUTS, data->inputs, data->n_inputs, &first, &data->steps));
  TRY(check_steps(path, GROUP_OUTPUTS, data->outputs, data->n_outputs, &first, &data->steps));
  TRY(check_steps(path, GROUP_OUTPUTS64, data->outputs64, data->n_outputs64, &first, &data->steps));
  TRY(check_steps(path, GROUP_RAW, data->raw, data->n_raw, &first, &data->steps));
  TRY(check_steps(path, GROUP_TAPS, data->taps, data->n_taps, &first, &data->steps));
  return check_steps(path, GROUP_DECODED, data->decoded, data->n_decoded, &first, &data->steps);
}

/* A case that is answered needs something to feed, and in a corpus that is compared, an answer. */
static assay_status check_complete(const char *path, const struct corpus *corpus, const struct corpus_case *entry,
                                   const struct case_data *data) {
  if (entry->refuse) {
    return status_ok();
  }
  if (data->n_inputs == 0 && data->n_raw == 0) {
    return status_make(ASSAY_CORPUS_INVALID, path,
                       "case '%s' has neither inputs/ nor raw/ arrays; store what the policy was fed", entry->id);
  }
  if (data->n_outputs == 0 && corpus->role != CORPUS_CALIBRATION) {
    return status_make(ASSAY_CORPUS_INVALID, path,
                       "case '%s' expects an answer but stores none; add the source's outputs/ arrays", entry->id);
  }
  return status_ok();
}

static assay_status check_digest(const char *path, const struct corpus_case *entry) {
  char found[HASH_TEXT_SIZE];
  TRY(hash_file(path, found));
  if (strcmp(found, entry->digest) == 0) {
    return status_ok();
  }
  return status_make(
      ASSAY_CORPUS_DIGEST, path,
      "case '%s' is not the file that corpus.yaml vouches for: its digest is %s, but %s is written there; "
      "restore the file, or add the case again",
      entry->id, found, entry->digest);
}

static assay_status load(const struct corpus *corpus, const struct corpus_case *entry, int32_t seed,
                         struct case_data *data) {
  enum { CASE_GROUPS = (1 << GROUP_COUNT) - 1 };
  char *path;
  TRY(path_join_inside(&data->arena, corpus->folder, entry->file, ASSAY_CORPUS_INVALID, &path));
  TRY(check_digest(path, entry));
  struct array_rules rules = {
      ASSAY_CORPUS_INVALID, CASE_GROUPS, corpus->n_dtypes, corpus->dtypes, entry->refuse, true, seed};
  TRY(case_arrays_read(path, &rules, data));
  if (entry->sequence) {
    TRY(check_sequence(path, data));
    TRY(case_times_check(entry, data->steps, path));
  }
  return check_complete(path, corpus, entry, data);
}

assay_status corpus_case_seeds(const struct corpus *corpus, int32_t index, int32_t *out) {
  struct arena scratch = {0};
  struct npz *npz = NULL;
  char *path;
  *out = 0;
  assay_status status =
      path_join_inside(&scratch, corpus->folder, corpus->cases[index].file, ASSAY_CORPUS_INVALID, &path);
  if (assay_status_ok(status)) {
    status = npz_open(path, &npz);
  }
  if (assay_status_ok(status)) {
    status = case_seeds_count(npz, path, ASSAY_CORPUS_INVALID, out);
  }
  npz_close(npz);
  arena_free(&scratch);
  return status;
}

assay_status case_load(const struct corpus *corpus, int32_t index, struct case_data **out) {
  return case_load_seed(corpus, index, 0, out);
}

assay_status case_load_seed(const struct corpus *corpus, int32_t index, int32_t seed, struct case_data **out) {
  *out = NULL;
  struct case_data *data = memory_alloc(1, sizeof *data);
  if (data == NULL) {
    return status_no_memory(sizeof *data);
  }
  assay_status status = load(corpus, &corpus->cases[index], seed, data);
  if (!assay_status_ok(status)) {
    case_data_free(data);
    return status;
  }
  *out = data;
  return status;
}
