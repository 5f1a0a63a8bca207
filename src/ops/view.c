/* Strided views and their copying, and what the operators that move data share. */
#include <string.h>

#include "ops/infer_help.h"
#include "ops/movement.h"

enum { COPY_GRAIN = 16384 }; /* elements a thread should at least have */

void view_dense(const int64_t *dims, int rank, struct view *out) {
  *out = (struct view){.rank = rank};
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; i--) {
    out->dims[i] = dims[i];
    out->strides[i] = stride;
    stride *= dims[i];
  }
}

size_t element_size(assay_dtype dtype) {
  return dtype == ASSAY_STRING ? sizeof(assay_text) : assay_dtype_bits(dtype) / 8;
}

/* Drops dimensions of 1 and joins neighbours that can be walked as one. */
static void view_join(struct view *view) {
  int rank = 0;
  for (int i = 0; i < view->rank; i++) {
    if (view->dims[i] == 1) {
      continue;
    }
    if (rank > 0 && view->strides[rank - 1] == view->dims[i] * view->strides[i]) {
      view->dims[rank - 1] *= view->dims[i];
      view->strides[rank - 1] = view->strides[i];
      continue;
    }
    view->dims[rank] = view->dims[i];
    view->strides[rank] = view->strides[i];
    rank++;
  }
  view->rank = rank;
}

/* n elements, `stride` apart in the source, one after the other in the target. */
static void copy_row(const char *source, int64_t stride, char *target, int64_t n, size_t element) {
  if (stride == 1) {
    memcpy(target, source, (size_t)n * element);
    return;
  }
  ptrdiff_t step = (ptrdiff_t)stride * (ptrdiff_t)element;
  switch (element) {
    case 4:
      for (int64_t i = 0; i < n; i++) {
        memcpy(target + 4 * i, source + i * step, 4);
      }
      return;
    case 8:
      for (int64_t i = 0; i < n; i++) {
        memcpy(target + 8 * i, source + i * step, 8);
      }
      return;
    case 1:
      for (int64_t i = 0; i < n; i++) {
        target[i] = source[i * step];
      }
      return;
    default:
      for (int64_t i = 0; i < n; i++) {
        memcpy(target + (size_t)i * element, source + i * step, element);
      }
  }
}

struct copy_job {
  struct view view; /* joined; rank >= 1 */
  const char *source;
  char *target;
  size_t element;
};

static void copy_rows(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct copy_job *job = argument;
  const struct view *view = &job->view;
  int last = view->rank - 1;
  int64_t n = view->dims[last];
  for (int64_t row = begin; row < end; row++) {
    int64_t rest = row, at = view->offset;
    for (int i = last - 1; i >= 0; i--) {
      at += rest % view->dims[i] * view->strides[i];
      rest /= view->dims[i];
    }
    copy_row(job->source + at * (ptrdiff_t)job->element, view->strides[last],
             job->target + (size_t)(row * n) * job->element, n, job->element);
  }
}

void view_copy(struct op_run *run, const struct view *view, const void *source, void *target, size_t element) {
  struct copy_job job = {.view = *view, .source = source, .target = target, .element = element};
  int64_t rows = 1;
  for (int i = 0; i < view->rank; i++) {
    if (view->dims[i] == 0) {
      return;
    }
  }
  view_join(&job.view);
  if (job.view.rank == 0) {
    job.view.rank = 1;
    job.view.dims[0] = job.view.strides[0] = 1;
  }
  for (int i = 0; i < job.view.rank - 1; i++) {
    rows *= job.view.dims[i];
  }
  int64_t n = job.view.dims[job.view.rank - 1];
  pool_for(run->pool, rows, n >= COPY_GRAIN ? 1 : COPY_GRAIN / n, copy_rows, &job);
}

assay_status run_ints(struct op_run *run, int32_t input, const char *attribute, int64_t **values, int32_t *count) {
  const assay_tensor *tensor = input >= 0 ? run_input(run, input) : NULL;
  int32_t n = 0;
  const int64_t *given = attribute != NULL ? node_attribute_ints(run->node, attribute, &n) : NULL;
  bool present = tensor != NULL || (attribute != NULL && node_attribute(run->node, attribute) != NULL);
  if (tensor != NULL) {
    int64_t elements = tensor_count(tensor);
    if (elements > ASSAY_RANK_MAX * 4) {
      return status_make(ASSAY_NODE_INVALID, run->node->label,
                         "input %d has %lld elements where a list of axes or sizes is expected", (int)input,
                         (long long)elements);
    }
    n = (int32_t)elements;
  }
  void *room;
  TRY(run->scratch(run, (size_t)(n == 0 ? 1 : n) * sizeof(int64_t), &room));
  *values = room;
  for (int32_t i = 0; i < n; i++) {
    (*values)[i] = tensor != NULL ? tensor_get_int(tensor, i) : given[i];
  }
  *count = present ? n : -1;
  return status_ok();
}

assay_status output_become(struct op_run *run, int32_t output, assay_dtype dtype, const int64_t *dims, int rank) {
  const assay_tensor *have = run->outputs[output];
  if (have->data != NULL && have->dtype == dtype && have->rank == rank &&
      (rank == 0 || memcmp(have->dims, dims, (size_t)rank * sizeof *dims) == 0)) {
    return status_ok();
  }
  return run->resize(run, output, dtype, dims, rank);
}
