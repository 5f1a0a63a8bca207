/* Operators that pick or place elements by an index tensor. Definitions: ONNX Gather, GatherElements, GatherND,
 * Scatter, ScatterElements, ScatterND, Compress, OneHot, versions 1 to 28. An index out of range is an error, never
 * clamped. Where several updates meet in one element they are applied in the order of the index tensor. */
#include <string.h>

#include "ops/infer_help.h"
#include "ops/movement.h"
#include "ops/numbers.h"
#include "ops/partial.h"

static assay_status index_error(const struct op_run *run, int64_t index, int64_t size) {
  return status_make(ASSAY_INDEX_RANGE, run->node->label, "an index is %lld, but the axis has %lld elements",
                     (long long)index, (long long)size);
}

/* Index i of an integer tensor, with negative ones counted from the end; false when out of range. */
static bool index_at(const assay_tensor *indices, int64_t i, int64_t size, int64_t *out) {
  int64_t index = tensor_get_int(indices, i);
  *out = index < 0 ? index + size : index;
  return *out >= 0 && *out < size;
}

static int64_t product(const int64_t *dims, int from, int to) {
  int64_t result = 1;
  for (int i = from; i < to; i++) {
    result *= dims[i];
  }
  return result;
}

/* --- Gather --------------------------------------------------------------- */

/* Shape arithmetic: a scalar or vector of constant indices into a partly known vector. */
static assay_status gather_partial(struct infer *infer) {
  struct dim all[ASSAY_RANK_MAX], picked[ASSAY_RANK_MAX];
  const assay_tensor *indices = infer->inputs[1]->constant;
  int32_t n;
  if (infer->inputs[0]->type.rank != 1 || indices == NULL || tensor_count(indices) > ASSAY_RANK_MAX ||
      !partial_of(infer->inputs[0], all, &n)) {
    return status_ok();
  }
  for (int64_t i = 0; i < tensor_count(indices); i++) {
    int64_t at;
    if (!index_at(indices, i, n, &at)) {
      return status_make(ASSAY_INDEX_RANGE, NULL, "an index of Gather is %lld, but the axis has %d elements",
                         (long long)tensor_get_int(indices, i), (int)n);
    }
    picked[i] = all[at];
  }
  return partial_set(infer, 0, picked, (int32_t)tensor_count(indices));
}

assay_status infer_gather(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  TRY(infer_want(infer, 0, 1, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 0, ASSAY_RANK_MAX));
  const struct value_type *in = &infer->inputs[0]->type, *indices = &infer->inputs[1]->type;
  if (in->rank < 0 || indices->rank < 0) {
    infer_set(infer, 0, in->dtype, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  int axis, rank = in->rank - 1 + indices->rank;
  TRY(axis_normalise("axis of Gather", node_attribute_int(infer->node, "axis", 0), in->rank, &axis));
  if (rank > ASSAY_RANK_MAX) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "the result has %d dimensions, at most %d are supported", rank,
                       ASSAY_RANK_MAX);
  }
  struct dim dims[ASSAY_RANK_MAX];
  memcpy(dims, in->dims, (size_t)axis * sizeof *dims);
  memcpy(dims + axis, indices->dims, (size_t)indices->rank * sizeof *dims);
  memcpy(dims + axis + indices->rank, in->dims + axis + 1, (size_t)(in->rank - axis - 1) * sizeof *dims);
  infer_set(infer, 0, in->dtype, rank, dims);
  return gather_partial(infer);
}

assay_status run_gather(struct op_run *run) {
  const assay_tensor *in = run->inputs[0], *indices = run->inputs[1];
  int axis;
  TRY(axis_normalise("axis of Gather", node_attribute_int(run->node, "axis", 0), in->rank, &axis));
  int64_t dims[2 * ASSAY_RANK_MAX];
  int rank = in->rank - 1 + indices->rank;
  memcpy(dims, in->dims, (size_t)axis * sizeof *dims);
  memcpy(dims + axis, indices->dims, (size_t)indices->rank * sizeof *dims);
  memcpy(dims + axis + indices->rank, in->dims + axis + 1, (size_t)(in->rank - axis - 1) * sizeof *dims);
  TRY(output_become(run, 0, in->dtype, dims, rank));
  int64_t outer = product(in->dims, 0, axis), n = tensor_count(indices), size = in->dims[axis];
  size_t inner = (size_t)product(in->dims, axis + 1, in->rank) * element_size(in->dtype);
  char *target = run->outputs[0]->data;
  for (int64_t o = 0; o < outer; o++) {
    const char *source = (const char *)in->data + (size_t)(o * size) * inner;
    for (int64_t i = 0; i < n; i++, target += inner) {
      int64_t at;
      if (!index_at(indices, i, size, &at)) {
        return index_error(run, tensor_get_int(indices, i), size);
      }
      if (inner > 0) {
        memcpy(target, source + (size_t)at * inner, inner);
      }
    }
  }
  return status_ok();
}

/* --- GatherElements and ScatterElements -------------------------------------- */

assay_status infer_gather_elements(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  TRY(infer_want(infer, 0, 1, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 1, ASSAY_RANK_MAX));
  const struct value_type *in = &infer->inputs[0]->type, *indices = &infer->inputs[1]->type;
  if (in->rank >= 0 && indices->rank >= 0 && in->rank != indices->rank) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "GatherElements has data of rank %d and indices of rank %d",
                       (int)in->rank, (int)indices->rank);
  }
  infer_set(infer, 0, in->dtype, indices->rank, indices->dims);
  return status_ok();
}

/* What an update does to the element that it meets. */
enum scatter_reduction { SCATTER_NONE, SCATTER_ADD, SCATTER_MUL, SCATTER_MAX, SCATTER_MIN };

/* Calls `each` with the flat place in the index tensor and the flat place that it names in the data. */
typedef void element_pair(const struct op_run *run, enum scatter_reduction how, int64_t at_index, int64_t at_data);
static assay_status each_element(struct op_run *run, const assay_tensor *data, const assay_tensor *indices, int axis,
                                 enum scatter_reduction how, element_pair *each) {
  int64_t strides[ASSAY_RANK_MAX], place[ASSAY_RANK_MAX] = {0}, n = tensor_count(indices);
  int64_t stride = 1;
  for (int i = data->rank - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= data->dims[i];
    if (i != axis && indices->dims[i] > data->dims[i]) {
      return status_make(ASSAY_SHAPE_CONFLICT, run->node->label,
                         "dimension %d of the indices is %lld, of the data %lld", i, (long long)indices->dims[i],
                         (long long)data->dims[i]);
    }
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t index, at = 0;
    if (!index_at(indices, i, data->dims[axis], &index)) {
      return index_error(run, tensor_get_int(indices, i), data->dims[axis]);
    }
    for (int d = 0; d < data->rank; d++) {
      at += (d == axis ? index : place[d]) * strides[d];
    }
    each(run, how, i, at);
    for (int d = data->rank - 1; d >= 0 && ++place[d] == indices->dims[d]; d--) {
      place[d] = 0;
    }
  }
  return status_ok();
}

static void pick_element(const struct op_run *run, enum scatter_reduction how, int64_t at_index, int64_t at_data) {
  (void)how;
  size_t element = element_size(run->inputs[0]->dtype);
  memcpy((char *)run->outputs[0]->data + (size_t)at_index * element,
         (const char *)run->inputs[0]->data + (size_t)at_data * element, element);
}

assay_status run_gather_elements(struct op_run *run) {
  const assay_tensor *in = run->inputs[0], *indices = run->inputs[1];
  int axis;
  TRY(axis_normalise("axis of GatherElements", node_attribute_int(run->node, "axis", 0), in->rank, &axis));
  if (in->rank != indices->rank) {
    return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "data has rank %d and indices have rank %d",
                       (int)in->rank, (int)indices->rank);
  }
  TRY(output_become(run, 0, in->dtype, indices->dims, indices->rank));
  return each_element(run, in, indices, axis, SCATTER_NONE, pick_element);
}

/* --- reductions of Scatter ------------------------------------------------------ */

static assay_status scatter_reduction(const struct node *node, assay_dtype dtype, enum scatter_reduction *out) {
  static const char *const names[] = {"none", "add", "mul", "max", "min"};
  *out = SCATTER_NONE;
  const struct attribute *given = node_attribute(node, "reduction");
  if (given == NULL) {
    return status_ok();
  }
  for (int i = 0; i < 5; i++) {
    if (node_attribute_is(node, "reduction", names[i], false)) {
      *out = (enum scatter_reduction)i;
      if (i != 0 && number_kind_of(dtype) == NUMBER_NONE) {
        return status_make(ASSAY_NODE_INVALID, NULL, "%s cannot %s elements of %s", node->op_type, names[i],
                           assay_dtype_name(dtype));
      }
      return status_ok();
    }
  }
  return status_make(ASSAY_NODE_INVALID, NULL, "reduction of %s is '%.*s'; expected none, add, mul, max or min",
                     node->op_type, (int)given->s.length, given->s.data);
}

/* IEEE 754-2019 maximum and minimum: NaN wins, -0 is below +0. */
#define FLOAT_EXTREME(name, type, signbit, greater)  \
  static type name(type a, type b) {                 \
    if (a != a || b != b) {                          \
      return a != a ? a : b;                         \
    }                                                \
    if (a == b) {                                    \
      return (signbit(a) != 0) == (greater) ? b : a; \
    }                                                \
    return (a > b) == (greater) ? a : b;             \
  }
FLOAT_EXTREME(f32_larger, float, __builtin_signbit, true)
FLOAT_EXTREME(f32_smaller, float, __builtin_signbit, false)
FLOAT_EXTREME(f64_larger, double, __builtin_signbit, true)
FLOAT_EXTREME(f64_smaller, double, __builtin_signbit, false)

#define FLOAT_COMBINE(name, type, larger, smaller)               \
  static type name(enum scatter_reduction how, type a, type b) { \
    switch (how) {                                               \
      case SCATTER_ADD:                                          \
        return a + b;                                            \
      case SCATTER_MUL:                                          \
        return a * b;                                            \
      case SCATTER_MAX:                                          \
        return larger(a, b);                                     \
      case SCATTER_MIN:                                          \
        return smaller(a, b);                                    \
      case SCATTER_NONE:                                         \
        break;                                                   \
    }                                                            \
    return b;                                                    \
  }
FLOAT_COMBINE(f32_combine, float, f32_larger, f32_smaller)
FLOAT_COMBINE(f64_combine, double, f64_larger, f64_smaller)

/* Integers wrap, as two's complement does; `larger` says how a and b compare in their own signedness. */
static uint64_t integer_combine(enum scatter_reduction how, uint64_t a, uint64_t b, bool larger) {
  switch (how) {
    case SCATTER_ADD:
      return a + b;
    case SCATTER_MUL:
      return a * b;
    case SCATTER_MAX:
      return larger ? a : b;
    case SCATTER_MIN:
      return larger ? b : a;
    case SCATTER_NONE:
      break;
  }
  return b;
}

/* output[at] = combine(output[at], updates[from]) */
static void combine_element(enum scatter_reduction how, assay_tensor *output, int64_t at, const assay_tensor *updates,
                            int64_t from) {
  size_t element = element_size(output->dtype);
  if (how == SCATTER_NONE) {
    memcpy((char *)output->data + (size_t)at * element, (const char *)updates->data + (size_t)from * element, element);
    return;
  }
  enum number_kind kind = number_kind_of(output->dtype);
  union {
    float f32;
    double f64;
    int64_t i64;
    uint64_t u64;
  } a, b;
  numbers_load(output->dtype, output->data, at, 1, 1, kind, &a);
  numbers_load(updates->dtype, updates->data, from, 1, 1, kind, &b);
  if (kind == NUMBER_F32) {
    a.f32 = f32_combine(how, a.f32, b.f32);
  } else if (kind == NUMBER_F64) {
    a.f64 = f64_combine(how, a.f64, b.f64);
  } else {
    a.u64 = integer_combine(how, a.u64, b.u64, kind == NUMBER_I64 ? a.i64 > b.i64 : a.u64 > b.u64);
  }
  numbers_store(output->dtype, output->data, at, 1, kind, &a);
}

assay_status infer_scatter(struct infer *infer) {
  TRY(infer_want_counts(infer, 3, 3, 1, 1));
  TRY(infer_want(infer, 0, 1, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 1, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 2, 0, ASSAY_RANK_MAX));
  TRY(infer_want_same_dtype(infer, 0, 2));
  infer_set_like(infer, 0, 0, ASSAY_UNDEFINED);
  enum scatter_reduction how;
  return scatter_reduction(infer->node, infer->inputs[0]->type.dtype, &how);
}

static assay_status copy_input(struct op_run *run) {
  const assay_tensor *in = run->inputs[0];
  TRY(output_become(run, 0, in->dtype, in->dims, in->rank));
  if (in->bytes > 0) {
    memcpy(run->outputs[0]->data, in->data, in->bytes);
  }
  return status_ok();
}

static void place_element(const struct op_run *run, enum scatter_reduction how, int64_t at_index, int64_t at_data) {
  combine_element(how, run->outputs[0], at_data, run->inputs[2], at_index);
}

assay_status run_scatter_elements(struct op_run *run) {
  const assay_tensor *in = run->inputs[0], *indices = run->inputs[1], *updates = run->inputs[2];
  int axis;
  enum scatter_reduction how;
  TRY(scatter_reduction(run->node, in->dtype, &how));
  TRY(axis_normalise("axis of ScatterElements", node_attribute_int(run->node, "axis", 0), in->rank, &axis));
  if (in->rank != indices->rank || !shape_equal(indices, updates)) {
    return status_make(ASSAY_SHAPE_CONFLICT, run->node->label,
                       "indices and updates must have one shape, of the rank of the data");
  }
  TRY(copy_input(run));
  return each_element(run, in, indices, axis, how, place_element);
}

/* --- GatherND and ScatterND -------------------------------------------------------- */

/* The flat place of the tuple of `depth` indices that begins at element `first`, below `batch` leading dimensions. */
static assay_status tuple_place(const struct op_run *run, const assay_tensor *data, const assay_tensor *indices,
                                int64_t first, int depth, int batch, int64_t *out) {
  int64_t at = 0;
  for (int i = 0; i < depth; i++) {
    int64_t index, size = data->dims[batch + i];
    if (!index_at(indices, first + i, size, &index)) {
      return index_error(run, tensor_get_int(indices, first + i), size);
    }
    at = at * size + index;
  }
  *out = at;
  return status_ok();
}

assay_status infer_gather_nd(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  TRY(infer_want(infer, 0, 1, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 1, ASSAY_RANK_MAX));
  const struct value_type *in = &infer->inputs[0]->type, *indices = &infer->inputs[1]->type;
  int64_t batch = node_attribute_int(infer->node, "batch_dims", 0);
  if (in->rank < 0 || indices->rank < 0 || !dim_known(indices->dims[indices->rank - 1])) {
    infer_set(infer, 0, in->dtype, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  int64_t depth = indices->dims[indices->rank - 1].value;
  if (batch < 0 || batch >= indices->rank || batch + depth > in->rank ||
      indices->rank - 1 + in->rank - batch - depth > ASSAY_RANK_MAX) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                       "GatherND with %lld batch dimensions and tuples of %lld does not fit data "
                       "of rank %d",
                       (long long)batch, (long long)depth, (int)in->rank);
  }
  struct dim dims[ASSAY_RANK_MAX];
  int rank = indices->rank - 1;
  memcpy(dims, indices->dims, (size_t)rank * sizeof *dims);
  for (int64_t i = batch + depth; i < in->rank; i++) {
    dims[rank++] = in->dims[i];
  }
  infer_set(infer, 0, in->dtype, rank, dims);
  return status_ok();
}

assay_status run_gather_nd(struct op_run *run) {
  const assay_tensor *in = run->inputs[0], *indices = run->inputs[1];
  int batch = (int)node_attribute_int(run->node, "batch_dims", 0);
  int64_t depth = indices->dims[indices->rank - 1], dims[2 * ASSAY_RANK_MAX];
  int rank = indices->rank - 1;
  memcpy(dims, indices->dims, (size_t)rank * sizeof *dims);
  for (int64_t i = batch + depth; i < in->rank; i++) {
    dims[rank++] = in->dims[i];
  }
  TRY(output_become(run, 0, in->dtype, dims, rank));
  int64_t batches = product(in->dims, 0, batch), tuples = product(indices->dims, batch, indices->rank - 1);
  int64_t places = product(in->dims, batch, batch + (int)depth);
  size_t inner = (size_t)product(in->dims, batch + (int)depth, in->rank) * element_size(in->dtype);
  char *target = run->outputs[0]->data;
  for (int64_t i = 0; i < batches * tuples; i++, target += inner) {
    int64_t at;
    TRY(tuple_place(run, in, indices, i * depth, (int)depth, batch, &at));
    if (inner > 0) {
      memcpy(target, (const char *)in->data + (size_t)(i / tuples * places + at) * inner, inner);
    }
  }
  return status_ok();
}

assay_status run_scatter_nd(struct op_run *run) {
  const assay_tensor *in = run->inputs[0], *indices = run->inputs[1], *updates = run->inputs[2];
  enum scatter_reduction how;
  TRY(scatter_reduction(run->node, in->dtype, &how));
  int64_t depth = indices->dims[indices->rank - 1], tuples = product(indices->dims, 0, indices->rank - 1);
  int64_t inner = depth <= in->rank ? product(in->dims, (int)depth, in->rank) : -1;
  if (inner < 0 || tensor_count(updates) != tuples * inner) {
    return status_make(ASSAY_SHAPE_CONFLICT, run->node->label,
                       "updates of ScatterND have %lld elements; indices and data ask for %lld",
                       (long long)tensor_count(updates), (long long)(inner < 0 ? 0 : tuples * inner));
  }
  TRY(copy_input(run));
  for (int64_t i = 0; i < tuples; i++) {
    int64_t at;
    TRY(tuple_place(run, in, indices, i * depth, (int)depth, 0, &at));
    for (int64_t k = 0; k < inner; k++) {
      combine_element(how, run->outputs[0], at * inner + k, updates, i * inner + k);
    }
  }
  return status_ok();
}

/* --- Compress ------------------------------------------------------------------------- */

assay_status infer_compress(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  TRY(infer_want(infer, 0, 1, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 1, 1));
  const struct value_type *in = &infer->inputs[0]->type;
  struct dim dims[ASSAY_RANK_MAX] = {dim_unknown()};
  bool whole = node_attribute(infer->node, "axis") == NULL;
  if (whole || in->rank < 0) {
    infer_set(infer, 0, in->dtype, whole ? 1 : RANK_UNKNOWN, dims);
    return status_ok();
  }
  int axis;
  TRY(axis_normalise("axis of Compress", node_attribute_int(infer->node, "axis", 0), in->rank, &axis));
  memcpy(dims, in->dims, (size_t)in->rank * sizeof *dims);
  dims[axis] = dim_unknown();
  infer_set(infer, 0, in->dtype, in->rank, dims);
  return status_ok();
}

assay_status run_compress(struct op_run *run) {
  const assay_tensor *in = run->inputs[0], *condition = run->inputs[1];
  int64_t dims[ASSAY_RANK_MAX], outer = 1, size = tensor_count(in), inner = 1, kept = 0;
  int axis = 0, rank = 1;
  if (node_attribute(run->node, "axis") != NULL) {
    TRY(axis_normalise("axis of Compress", node_attribute_int(run->node, "axis", 0), in->rank, &axis));
    rank = in->rank;
    memcpy(dims, in->dims, sizeof dims);
    outer = product(dims, 0, axis);
    size = dims[axis];
    inner = product(dims, axis + 1, rank);
  }
  int64_t n = tensor_count(condition) < size ? tensor_count(condition) : size;
  const uint8_t *keep = condition->data;
  for (int64_t i = 0; i < n; i++) {
    kept += keep[i] != 0;
  }
  dims[axis] = kept;
  TRY(output_become(run, 0, in->dtype, dims, rank));
  size_t bytes = (size_t)inner * element_size(in->dtype);
  char *target = run->outputs[0]->data;
  for (int64_t o = 0; o < outer && bytes > 0; o++) {
    for (int64_t i = 0; i < n; i++) {
      if (keep[i] != 0) {
        memcpy(target, (const char *)in->data + (size_t)(o * size + i) * bytes, bytes);
        target += bytes;
      }
    }
  }
  return status_ok();
}

/* --- OneHot ------------------------------------------------------------------------------ */

assay_status infer_one_hot(struct infer *infer) {
  TRY(infer_want_counts(infer, 3, 3, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX - 1));
  TRY(infer_want(infer, 2, 1, 1));
  const struct value_type *indices = &infer->inputs[0]->type;
  const assay_tensor *depth = infer->inputs[1]->constant;
  assay_dtype dtype = infer->inputs[2]->type.dtype;
  if (indices->rank < 0) {
    infer_set(infer, 0, dtype, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  int axis;
  TRY(axis_normalise("axis of OneHot", node_attribute_int(infer->node, "axis", -1), indices->rank + 1, &axis));
  struct dim dims[ASSAY_RANK_MAX];
  for (int i = 0; i <= indices->rank; i++) {
    dims[i] = i == axis ? dim_unknown() : indices->dims[i - (i > axis)];
  }
  if (depth != NULL && tensor_count(depth) == 1 && tensor_get(depth, 0) >= 0) {
    dims[axis] = dim_of((int64_t)tensor_get(depth, 0));
  }
  infer_set(infer, 0, dtype, indices->rank + 1, dims);
  return status_ok();
}

assay_status run_one_hot(struct op_run *run) {
  const assay_tensor *indices = run->inputs[0], *values = run->inputs[2];
  double depth_value = tensor_count(run->inputs[1]) == 1 ? tensor_get(run->inputs[1], 0) : -1;
  if (!(depth_value >= 0 && depth_value <= INT32_MAX) || tensor_count(values) != 2) {
    return status_make(ASSAY_NODE_INVALID, run->node->label,
                       "OneHot needs a depth of one number from 0 on and two values (off, on)");
  }
  int64_t depth = (int64_t)depth_value, dims[ASSAY_RANK_MAX];
  int axis;
  TRY(axis_normalise("axis of OneHot", node_attribute_int(run->node, "axis", -1), indices->rank + 1, &axis));
  for (int i = 0; i <= indices->rank; i++) {
    dims[i] = i == axis ? depth : indices->dims[i - (i > axis)];
  }
  TRY(output_become(run, 0, values->dtype, dims, indices->rank + 1));
  int64_t outer = product(indices->dims, 0, axis), inner = product(indices->dims, axis, indices->rank);
  size_t element = element_size(values->dtype);
  const char *off = values->data, *on = off + element;
  for (int64_t o = 0; o < outer; o++) {
    for (int64_t d = 0; d < depth; d++) {
      for (int64_t i = 0; i < inner; i++) {
        /* Indices may be floats; one that is not in -depth..depth-1 marks nothing. */
        double index = tensor_get(indices, o * inner + i);
        index += index < 0 ? depth_value : 0;
        memcpy((char *)run->outputs[0]->data + (size_t)((o * depth + d) * inner + i) * element,
               index == (double)d ? on : off, element);
      }
    }
  }
  return status_ok();
}
