/* Operators that move elements about by regular patterns. Definitions: ONNX Transpose, Expand, Tile, Concat, Split,
 * Slice, DepthToSpace, SpaceToDepth, versions 1 to 28. Bits are kept. */
#include "ops/movement.h"

#include <string.h>

#include "ops/infer_help.h"
#include "ops/partial.h"

static void set_unknown(struct infer *infer, int32_t output, int32_t rank) {
  struct dim dims[ASSAY_RANK_MAX];
  for (int32_t i = 0; i < rank; i++) {
    dims[i] = dim_unknown();
  }
  infer_set(infer, output, infer->inputs[0]->type.dtype, rank, dims);
}

/* --- Transpose ------------------------------------------------------------ */

/* perm of the node, or the reverse order. */
static assay_status permutation(const struct node *node, int rank, int *perm) {
  int32_t n;
  const int64_t *given = node_attribute_ints(node, "perm", &n);
  uint32_t seen = 0;
  if (given != NULL && n != rank) {
    return status_make(ASSAY_NODE_INVALID, NULL, "perm of Transpose has %d entries, but the input has rank %d", (int)n,
                       rank);
  }
  for (int i = 0; i < rank; i++) {
    perm[i] = rank - 1 - i;
    if (given != NULL) {
      TRY(axis_normalise("an entry of perm", given[i], rank, &perm[i]));
    }
    seen |= UINT32_C(1) << perm[i];
  }
  return seen == (UINT32_C(1) << rank) - 1
             ? status_ok()
             : status_make(ASSAY_NODE_INVALID, NULL, "perm of Transpose names an axis twice");
}

assay_status infer_transpose(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  const struct value_type *in = &infer->inputs[0]->type;
  if (in->rank < 0) {
    infer_set(infer, 0, in->dtype, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  int perm[ASSAY_RANK_MAX];
  TRY(permutation(infer->node, in->rank, perm));
  struct dim dims[ASSAY_RANK_MAX];
  for (int i = 0; i < in->rank; i++) {
    dims[i] = in->dims[perm[i]];
  }
  infer_set(infer, 0, in->dtype, in->rank, dims);
  return status_ok();
}

assay_status run_transpose(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  int perm[ASSAY_RANK_MAX];
  int64_t dims[ASSAY_RANK_MAX];
  TRY(permutation(run->node, input->rank, perm));
  struct view dense, view = {.rank = input->rank};
  view_dense(input->dims, input->rank, &dense);
  for (int i = 0; i < input->rank; i++) {
    dims[i] = view.dims[i] = dense.dims[perm[i]];
    view.strides[i] = dense.strides[perm[i]];
  }
  TRY(output_become(run, 0, input->dtype, dims, input->rank));
  view_copy(run, &view, input->data, run->outputs[0]->data, element_size(input->dtype));
  return status_ok();
}

/* --- Expand ---------------------------------------------------------------- */

/* The new shape as a type whose dimensions are known as far as the input tells. */
static bool shape_input(const struct infer *infer, int32_t input, struct value_type *out) {
  const struct infer_value *value = infer_input(infer, input);
  int32_t n;
  *out = (struct value_type){.kind = TYPE_TENSOR, .rank = RANK_UNKNOWN};
  if (value == NULL || !partial_of(value, out->dims, &n)) {
    return false;
  }
  out->rank = n;
  return true;
}

assay_status infer_expand(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  struct value_type shape, result;
  if (!shape_input(infer, 1, &shape)) {
    infer_set(infer, 0, infer->inputs[0]->type.dtype, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  TRY(type_broadcast(&infer->inputs[0]->type, &shape, &result));
  infer_set(infer, 0, infer->inputs[0]->type.dtype, result.rank, result.dims);
  return status_ok();
}

assay_status run_expand(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  int64_t *shape, dims[ASSAY_RANK_MAX];
  int32_t n;
  TRY(run_ints(run, 1, NULL, &shape, &n));
  int rank = n > input->rank ? n : input->rank;
  if (rank > ASSAY_RANK_MAX) {
    return status_make(ASSAY_SHAPE_CONFLICT, run->node->label,
                       "the new shape has %d dimensions, at most %d are supported", rank, ASSAY_RANK_MAX);
  }
  struct view dense, view = {.rank = rank};
  view_dense(input->dims, input->rank, &dense);
  for (int i = 0; i < rank; i++) {
    int from = i - (rank - input->rank), wanted = i - (rank - n);
    int64_t have = from >= 0 ? input->dims[from] : 1, want = wanted >= 0 ? shape[wanted] : 1;
    if (want < 0 || (have != want && have != 1 && want != 1)) {
      return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "dimension %d is %lld and cannot be expanded to %lld",
                         i, (long long)have, (long long)want);
    }
    dims[i] = view.dims[i] = have == 1 ? want : have;
    view.strides[i] = have == 1 ? 0 : dense.strides[from];
  }
  TRY(output_become(run, 0, input->dtype, dims, rank));
  view_copy(run, &view, input->data, run->outputs[0]->data, element_size(input->dtype));
  return status_ok();
}

/* --- Tile ------------------------------------------------------------------- */

/* Repeats per dimension. Version 1 has one count and one axis instead. */
static assay_status tile_repeats(const struct node *node, int rank, const int64_t *values, int32_t n,
                                 const int64_t *axis, int32_t n_axis, int64_t *out) {
  if (node->opset < 6) {
    int which;
    if (n != 1 || n_axis != 1) {
      return status_make(ASSAY_NODE_INVALID, NULL, "Tile of opset %lld takes one count and one axis",
                         (long long)node->opset);
    }
    TRY(axis_normalise("axis of Tile", axis[0], rank, &which));
    for (int i = 0; i < rank; i++) {
      out[i] = i == which ? values[0] : 1;
    }
  } else if (n != rank) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "Tile has %d repeats, but the input has rank %d", (int)n, rank);
  } else {
    memcpy(out, values, (size_t)rank * sizeof *out);
  }
  for (int i = 0; i < rank; i++) {
    if (out[i] < 0) {
      return status_make(ASSAY_NODE_INVALID, NULL, "dimension %d is to be repeated %lld times", i, (long long)out[i]);
    }
  }
  return status_ok();
}

assay_status infer_tile(struct infer *infer) {
  bool old = infer->node->opset < 6;
  TRY(infer_want_counts(infer, old ? 3 : 2, old ? 3 : 2, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  const struct value_type *in = &infer->inputs[0]->type;
  const int64_t *values, *axis = NULL;
  int32_t n, n_axis = 0;
  bool known, axis_known = true;
  TRY(infer_ints(infer, 1, NULL, &values, &n, &known));
  if (old) {
    TRY(infer_ints(infer, 2, NULL, &axis, &n_axis, &axis_known));
  }
  if (!known || !axis_known || in->rank < 0) {
    set_unknown(infer, 0, in->rank);
    return status_ok();
  }
  int64_t repeats[ASSAY_RANK_MAX];
  TRY(tile_repeats(infer->node, in->rank, values, n, axis, n_axis, repeats));
  struct dim dims[ASSAY_RANK_MAX];
  for (int i = 0; i < in->rank; i++) {
    dims[i] = repeats[i] == 1 ? in->dims[i] : dim_unknown();
    if (dim_known(in->dims[i]) && __builtin_mul_overflow(in->dims[i].value, repeats[i], &dims[i].value)) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "dimension %d of the result overflows", i);
    }
  }
  infer_set(infer, 0, in->dtype, in->rank, dims);
  return status_ok();
}

assay_status run_tile(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  int64_t *values, *axis = NULL, repeats[ASSAY_RANK_MAX], dims[ASSAY_RANK_MAX];
  int32_t n, n_axis = 0;
  TRY(run_ints(run, 1, NULL, &values, &n));
  if (run->node->opset < 6) {
    TRY(run_ints(run, 2, NULL, &axis, &n_axis));
  }
  TRY(tile_repeats(run->node, input->rank, values, n, axis, n_axis, repeats));
  struct view dense, view = {.rank = 2 * input->rank};
  view_dense(input->dims, input->rank, &dense);
  for (int i = 0; i < input->rank; i++) {
    view.dims[2 * i] = repeats[i];
    view.dims[2 * i + 1] = dense.dims[i];
    view.strides[2 * i + 1] = dense.strides[i];
    if (__builtin_mul_overflow(repeats[i], dense.dims[i], &dims[i])) {
      return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "dimension %d of the result overflows", i);
    }
  }
  TRY(output_become(run, 0, input->dtype, dims, input->rank));
  view_copy(run, &view, input->data, run->outputs[0]->data, element_size(input->dtype));
  return status_ok();
}

/* --- Concat ------------------------------------------------------------------- */

static assay_status concat_axis(const struct node *node, int rank, int *axis) {
  const struct attribute *given = node_attribute(node, "axis");
  if (given == NULL && node->opset >= 4) {
    return status_make(ASSAY_NODE_INVALID, NULL, "Concat has no axis; from opset 4 on it must have one");
  }
  return axis_normalise("axis of Concat", given != NULL ? given->i : 1, rank, axis);
}

/* The vector that joining partly known vectors gives. */
static assay_status concat_partial(struct infer *infer) {
  struct dim joined[ASSAY_RANK_MAX];
  int32_t n = 0;
  for (int32_t i = 0; i < infer->node->n_inputs; i++) {
    struct dim part[ASSAY_RANK_MAX];
    int32_t count;
    if (infer->inputs[i]->type.rank != 1 || !partial_of(infer->inputs[i], part, &count) || n + count > ASSAY_RANK_MAX) {
      return status_ok();
    }
    memcpy(joined + n, part, (size_t)count * sizeof *part);
    n += count;
  }
  return partial_set(infer, 0, joined, n);
}

assay_status infer_concat(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, INT32_MAX, 1, 1));
  struct value_type out = {.kind = TYPE_TENSOR, .rank = RANK_UNKNOWN};
  int axis = 0;
  struct dim sum = dim_of(0);
  for (int32_t i = 0; i < infer->node->n_inputs; i++) {
    TRY(infer_want(infer, i, 1, ASSAY_RANK_MAX));
    TRY(infer_want_same_dtype(infer, 0, i));
    const struct value_type *in = &infer->inputs[i]->type;
    out.dtype = out.dtype == ASSAY_UNDEFINED ? in->dtype : out.dtype;
    if (in->rank < 0) {
      sum = dim_unknown();
      continue;
    }
    if (out.rank < 0) {
      assay_dtype dtype = out.dtype;
      out = *in;
      out.dtype = dtype;
      TRY(concat_axis(infer->node, out.rank, &axis));
    }
    if (in->rank != out.rank) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "input %d of Concat has rank %d and another has %d", (int)i,
                         (int)in->rank, (int)out.rank);
    }
    for (int j = 0; j < out.rank; j++) {
      if (j != axis && !dim_merge(out.dims[j], in->dims[j], &out.dims[j])) {
        return status_make(ASSAY_SHAPE_CONFLICT, NULL, "dimension %d of input %d of Concat is %lld and of another %lld",
                           j, (int)i, (long long)in->dims[j].value, (long long)out.dims[j].value);
      }
    }
    bool both = dim_known(sum) && dim_known(in->dims[axis]);
    sum = both ? dim_of(sum.value + in->dims[axis].value) : dim_unknown();
  }
  if (out.rank >= 0) {
    out.dims[axis] = infer->node->n_inputs == 1 ? out.dims[axis] : sum;
  }
  infer_set(infer, 0, out.dtype, out.rank, out.dims);
  return concat_partial(infer);
}

assay_status run_concat(struct op_run *run) {
  const assay_tensor *first = run->inputs[0];
  int axis;
  TRY(concat_axis(run->node, first->rank, &axis));
  int64_t dims[ASSAY_RANK_MAX], outer = 1, inner = 1;
  memcpy(dims, first->dims, sizeof dims);
  for (int32_t i = 1; i < run->node->n_inputs; i++) {
    const assay_tensor *in = run->inputs[i];
    for (int j = 0; j < first->rank; j++) {
      if (in->rank != first->rank || (j != axis && in->dims[j] != first->dims[j])) {
        return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "input %d of Concat does not fit the first", (int)i);
      }
    }
    dims[axis] += in->dims[axis];
  }
  TRY(output_become(run, 0, first->dtype, dims, first->rank));
  for (int j = 0; j < first->rank; j++) {
    outer *= j < axis ? dims[j] : 1;
    inner *= j > axis ? dims[j] : 1;
  }
  size_t element = element_size(first->dtype), row = (size_t)(dims[axis] * inner) * element, at = 0;
  for (int32_t i = 0; i < run->node->n_inputs; i++) {
    size_t part = (size_t)(run->inputs[i]->dims[axis] * inner) * element;
    for (int64_t o = 0; o < outer && part > 0; o++) {
      memcpy((char *)run->outputs[0]->data + (size_t)o * row + at,
             (const char *)run->inputs[i]->data + (size_t)o * part, part);
    }
    at += part;
  }
  return status_ok();
}

/* --- Split ----------------------------------------------------------------------- */

/* Sizes of the parts: as given, or equal ones (from 18 on the last may be smaller). */
static assay_status split_sizes(const struct node *node, const int64_t *given, int32_t n_given, int64_t size,
                                int64_t *out) {
  int64_t n = node->n_outputs, sum = 0;
  int64_t told = node_attribute_int(node, "num_outputs", 0);
  if (n_given > 0) {
    if (n_given != n) {
      return status_make(ASSAY_NODE_INVALID, NULL, "Split has %lld outputs and %d sizes", (long long)n, (int)n_given);
    }
    for (int64_t i = 0; i < n; i++) {
      out[i] = given[i];
      if (given[i] < 0 || __builtin_add_overflow(sum, given[i], &sum)) {
        return status_make(ASSAY_NODE_INVALID, NULL, "a size of Split is %lld", (long long)given[i]);
      }
    }
    return sum == size
               ? status_ok()
               : status_make(ASSAY_SHAPE_CONFLICT, NULL, "the sizes of Split sum to %lld, but the axis has %lld",
                             (long long)sum, (long long)size);
  }
  if (told != 0 && (node->opset < 18 || told != n)) {
    return status_make(
        ASSAY_NODE_INVALID, NULL,
        "Split says num_outputs %lld; it has %lld outputs and the opset is %lld (the attribute is of 18)",
        (long long)told, (long long)n, (long long)node->opset);
  }
  if (node->opset < 18 && size % n != 0) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "%lld elements cannot be split into %lld equal parts",
                       (long long)size, (long long)n);
  }
  int64_t part = (size + n - 1) / n;
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = size - i * part;
    out[i] = rest < 0 ? 0 : rest < part ? rest : part;
  }
  return status_ok();
}

assay_status infer_split(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 2, 1, INT32_MAX));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  const struct value_type *in = &infer->inputs[0]->type;
  const int64_t *given;
  int32_t n;
  bool known;
  TRY(infer_ints(infer, 1, infer->node->opset < 13 ? "split" : NULL, &given, &n, &known));
  int axis = 0;
  if (in->rank >= 0) {
    TRY(axis_normalise("axis of Split", node_attribute_int(infer->node, "axis", 0), in->rank, &axis));
  }
  int64_t *sizes;
  ARENA_NEW(infer->arena, sizes, infer->node->n_outputs);
  bool sized = in->rank >= 0 && known && dim_known(in->dims[axis]);
  if (sized) {
    TRY(split_sizes(infer->node, given, n, in->dims[axis].value, sizes));
  }
  for (int32_t i = 0; i < infer->node->n_outputs; i++) {
    struct value_type out = *in;
    if (in->rank >= 0) {
      out.dims[axis] = sized ? dim_of(sizes[i]) : dim_unknown();
    }
    infer_set(infer, i, in->dtype, in->rank, out.dims);
  }
  return status_ok();
}

assay_status run_split(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  int64_t *given;
  int32_t n;
  int axis;
  void *room;
  TRY(axis_normalise("axis of Split", node_attribute_int(run->node, "axis", 0), input->rank, &axis));
  TRY(run_ints(run, 1, "split", &given, &n));
  TRY(run->scratch(run, (size_t)run->node->n_outputs * sizeof(int64_t), &room));
  int64_t *sizes = room, at = 0;
  TRY(split_sizes(run->node, given, n, input->dims[axis], sizes));
  for (int32_t i = 0; i < run->node->n_outputs; i++) {
    if (run->outputs[i] != NULL) {
      struct view view;
      int64_t dims[ASSAY_RANK_MAX];
      view_dense(input->dims, input->rank, &view);
      memcpy(dims, input->dims, sizeof dims);
      dims[axis] = view.dims[axis] = sizes[i];
      view.offset = at * view.strides[axis];
      TRY(output_become(run, i, input->dtype, dims, input->rank));
      view_copy(run, &view, input->data, run->outputs[i]->data, element_size(input->dtype));
    }
    at += sizes[i];
  }
  return status_ok();
}

/* --- Slice -------------------------------------------------------------------------- */

struct slice {
  int64_t start, step, count;
};

/* Start, step and number of elements along one axis, by NumPy's rules for clamping. */
static assay_status slice_axis(int64_t size, int64_t start, int64_t end, int64_t step, struct slice *out) {
  if (step == 0 || step == INT64_MIN) {
    return status_make(ASSAY_NODE_INVALID, NULL, "a step of Slice is %lld", (long long)step);
  }
  start += start < 0 ? size : 0;
  end += end < 0 ? size : 0;
  int64_t last = step > 0 ? size : size - 1; /* where a slice may begin at the latest */
  int64_t first_end = step > 0 ? 0 : -1;     /* where it may end at the earliest */
  start = start > last ? last : start < 0 ? 0 : start;
  end = end < first_end ? first_end : end > size ? size : end;
  int64_t span = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
  *out = (struct slice){start, step, span <= 0 || size == 0 ? 0 : (span - 1) / stride + 1};
  return status_ok();
}

struct slice_lists {
  const int64_t *starts, *ends, *axes, *steps;
  int32_t n_starts, n_ends, n_axes, n_steps;
};

/* One slice per dimension; `dims` may be unknown (-1), whose slice is then left with count -1 when it is cut. */
static assay_status slices_of(const struct slice_lists *lists, int rank, const int64_t *dims, struct slice *out) {
  int32_t n = lists->n_starts;
  if (lists->n_ends != n || (lists->axes != NULL && lists->n_axes != n) ||
      (lists->steps != NULL && lists->n_steps != n)) {
    return status_make(ASSAY_NODE_INVALID, NULL,
                       "Slice has %d starts, %d ends, %d axes and %d steps; they must be as many", (int)n,
                       (int)lists->n_ends, (int)lists->n_axes, (int)lists->n_steps);
  }
  for (int i = 0; i < rank; i++) {
    out[i] = (struct slice){0, 1, dims[i]};
  }
  for (int32_t i = 0; i < n; i++) {
    int axis;
    TRY(axis_normalise("an axis of Slice", lists->axes != NULL ? lists->axes[i] : i, rank, &axis));
    int64_t step = lists->steps != NULL ? lists->steps[i] : 1;
    if (dims[axis] < 0) {
      out[axis].count = -1;
      continue;
    }
    TRY(slice_axis(dims[axis], lists->starts[i], lists->ends[i], step, &out[axis]));
  }
  return status_ok();
}

assay_status infer_slice(struct infer *infer) {
  bool old = infer->node->opset < 10;
  TRY(infer_want_counts(infer, old ? 1 : 3, old ? 1 : 5, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  const struct value_type *in = &infer->inputs[0]->type;
  struct slice_lists lists;
  bool known[4];
  TRY(infer_ints(infer, old ? -1 : 1, old ? "starts" : NULL, &lists.starts, &lists.n_starts, &known[0]));
  TRY(infer_ints(infer, old ? -1 : 2, old ? "ends" : NULL, &lists.ends, &lists.n_ends, &known[1]));
  TRY(infer_ints(infer, old ? -1 : 3, old ? "axes" : NULL, &lists.axes, &lists.n_axes, &known[2]));
  TRY(infer_ints(infer, old ? -1 : 4, NULL, &lists.steps, &lists.n_steps, &known[3]));
  if (in->rank < 0 || !known[0] || !known[1] || !known[2] || !known[3]) {
    set_unknown(infer, 0, in->rank);
    return status_ok();
  }
  int64_t sizes[ASSAY_RANK_MAX];
  struct slice slices[ASSAY_RANK_MAX];
  struct dim dims[ASSAY_RANK_MAX], part[ASSAY_RANK_MAX], all[ASSAY_RANK_MAX];
  for (int i = 0; i < in->rank; i++) {
    sizes[i] = in->dims[i].value >= 0 ? in->dims[i].value : -1;
  }
  TRY(slices_of(&lists, in->rank, sizes, slices));
  for (int i = 0; i < in->rank; i++) {
    bool whole = slices[i].count == sizes[i] && slices[i].step == 1 && sizes[i] < 0;
    bool cut = false;
    for (int32_t k = 0; k < lists.n_starts; k++) {
      int64_t axis = lists.axes != NULL ? lists.axes[k] : k;
      cut |= axis == i || axis + in->rank == i;
    }
    dims[i] = whole && !cut ? in->dims[i] : slices[i].count >= 0 ? dim_of(slices[i].count) : dim_unknown();
  }
  infer_set(infer, 0, in->dtype, in->rank, dims);
  int32_t n;
  if (in->rank != 1 || !partial_of(infer->inputs[0], all, &n) || slices[0].count < 0) {
    return status_ok();
  }
  for (int64_t i = 0; i < slices[0].count; i++) {
    part[i] = all[slices[0].start + i * slices[0].step];
  }
  return partial_set(infer, 0, part, (int32_t)slices[0].count);
}

assay_status run_slice(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  bool old = run->node->opset < 10;
  int64_t *starts, *ends, *axes, *steps = NULL, dims[ASSAY_RANK_MAX];
  struct slice_lists lists = {0};
  TRY(run_ints(run, old ? -1 : 1, "starts", &starts, &lists.n_starts));
  TRY(run_ints(run, old ? -1 : 2, "ends", &ends, &lists.n_ends));
  TRY(run_ints(run, old ? -1 : 3, "axes", &axes, &lists.n_axes));
  TRY(run_ints(run, old ? -1 : 4, NULL, &steps, &lists.n_steps));
  lists.starts = starts;
  lists.ends = ends;
  lists.axes = lists.n_axes >= 0 ? axes : NULL;
  lists.steps = lists.n_steps >= 0 ? steps : NULL;
  struct slice slices[ASSAY_RANK_MAX];
  TRY(slices_of(&lists, input->rank, input->dims, slices));
  struct view view;
  view_dense(input->dims, input->rank, &view);
  for (int i = 0; i < input->rank; i++) {
    dims[i] = view.dims[i] = slices[i].count;
    view.offset += slices[i].start * view.strides[i];
    view.strides[i] *= slices[i].step;
  }
  TRY(output_become(run, 0, input->dtype, dims, input->rank));
  view_copy(run, &view, input->data, run->outputs[0]->data, element_size(input->dtype));
  return status_ok();
}

/* --- DepthToSpace and SpaceToDepth ------------------------------------------------------ */

static assay_status block_size(const struct node *node, int64_t *out) {
  *out = node_attribute_int(node, "blocksize", 0);
  return *out >= 1 && *out <= INT32_MAX
             ? status_ok()
             : status_make(ASSAY_NODE_INVALID, NULL, "blocksize of %s is %lld", node->op_type, (long long)*out);
}

static assay_status infer_blocks(struct infer *infer, bool to_space) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 4, 4));
  int64_t b;
  TRY(block_size(infer->node, &b));
  const struct value_type *in = &infer->inputs[0]->type;
  if (in->rank < 0) {
    set_unknown(infer, 0, 4);
    return status_ok();
  }
  struct dim dims[4] = {in->dims[0], dim_unknown(), dim_unknown(), dim_unknown()};
  for (int i = 1; i < 4; i++) {
    int64_t by = i == 1 ? b * b : b, size = in->dims[i].value;
    if (!dim_known(in->dims[i])) {
      continue;
    }
    bool divides = (i == 1) == to_space;
    if (divides && size % by != 0) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "dimension %d is %lld and not a multiple of %lld", i,
                         (long long)size, (long long)by);
    }
    if (!divides && __builtin_mul_overflow(size, by, &size)) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "dimension %d of the result overflows", i);
    }
    dims[i] = dim_of(divides ? size / by : size);
  }
  infer_set(infer, 0, in->dtype, 4, dims);
  return status_ok();
}

assay_status infer_depth_to_space(struct infer *infer) { return infer_blocks(infer, true); }
assay_status infer_space_to_depth(struct infer *infer) { return infer_blocks(infer, false); }

assay_status run_depth_to_space(struct op_run *run) {
  const assay_tensor *in = run->inputs[0];
  int64_t b;
  TRY(block_size(run->node, &b));
  bool crd = node_attribute_is(run->node, "mode", "CRD", false);
  int64_t n = in->dims[0], c = in->dims[1] / (b * b), h = in->dims[2], w = in->dims[3], plane = h * w;
  int64_t channel = crd ? b * b * plane : plane, by = crd ? b * plane : b * c * plane, bx = crd ? plane : c * plane;
  struct view view = {.rank = 6, .dims = {n, c, h, b, w, b}, .strides = {in->dims[1] * plane, channel, w, by, 1, bx}};
  TRY(output_become(run, 0, in->dtype, (int64_t[]){n, c, h * b, w * b}, 4));
  view_copy(run, &view, in->data, run->outputs[0]->data, element_size(in->dtype));
  return status_ok();
}

assay_status run_space_to_depth(struct op_run *run) {
  const assay_tensor *in = run->inputs[0];
  int64_t b;
  TRY(block_size(run->node, &b));
  int64_t n = in->dims[0], c = in->dims[1], h = in->dims[2] / b, w = in->dims[3] / b, row = in->dims[3];
  int64_t image = c * in->dims[2] * row, plane = in->dims[2] * row;
  struct view view = {.rank = 6, .dims = {n, b, b, c, h, w}, .strides = {image, row, 1, plane, b * row, b}};
  if (node_attribute_is(run->node, "mode", "CRD", false)) { /* from opset 28 on: the channel leads */
    view = (struct view){.rank = 6, .dims = {n, c, b, b, h, w}, .strides = {image, plane, row, 1, b * row, b}};
  }
  TRY(output_become(run, 0, in->dtype, (int64_t[]){n, c * b * b, h, w}, 4));
  view_copy(run, &view, in->data, run->outputs[0]->data, element_size(in->dtype));
  return status_ok();
}
