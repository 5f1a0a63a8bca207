/* Operators that make tensors out of little: Constant, ConstantOfShape, EyeLike, Range, and those that select by place
 * or by being zero: Trilu, NonZero. Definitions: ONNX, versions 1 to 28. */
#include <string.h>

#include "ops/infer_help.h"
#include "ops/movement.h"
#include "ops/numbers.h"
#include "ops/partial.h"

/* --- Constant ------------------------------------------------------------- */

/* The one attribute that holds the value; which kind of value it is decides dtype and shape. */
static assay_status constant_attribute(const struct node *node, const struct attribute **out) {
  static const char *const names[] = {"value",      "value_float",  "value_floats", "value_int",
                                      "value_ints", "value_string", "value_strings"};
  *out = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const struct attribute *attribute = node_attribute(node, names[i]);
    if (attribute != NULL && *out != NULL) {
      return status_make(ASSAY_NODE_INVALID, NULL, "Constant has both %s and %s; it must have one value", (*out)->name,
                         names[i]);
    }
    *out = attribute != NULL ? attribute : *out;
  }
  return *out != NULL ? status_ok()
                      : status_make(ASSAY_NODE_INVALID, NULL,
                                    "Constant has no value that assay reads (a dense tensor, numbers or strings)");
}

/* The value as a tensor view into the attribute. */
static assay_status constant_value(const struct node *node, assay_tensor *out) {
  const struct attribute *a;
  TRY(constant_attribute(node, &a));
  *out = (assay_tensor){.rank = 1, .dims = {a->count}};
  switch (a->kind) {
    case ATTRIBUTE_TENSOR:
      *out = a->tensors[0];
      return status_ok();
    case ATTRIBUTE_FLOAT:
      *out = (assay_tensor){.dtype = ASSAY_FLOAT32, .data = (void *)(uintptr_t)&a->f, .bytes = sizeof a->f};
      return status_ok();
    case ATTRIBUTE_INT:
      *out = (assay_tensor){.dtype = ASSAY_INT64, .data = (void *)(uintptr_t)&a->i, .bytes = sizeof a->i};
      return status_ok();
    case ATTRIBUTE_STRING:
      *out = (assay_tensor){.dtype = ASSAY_STRING, .data = (void *)(uintptr_t)&a->s, .bytes = sizeof a->s};
      return status_ok();
    case ATTRIBUTE_FLOATS:
      out->dtype = ASSAY_FLOAT32;
      out->data = (void *)(uintptr_t)a->floats;
      break;
    case ATTRIBUTE_INTS:
      out->dtype = ASSAY_INT64;
      out->data = (void *)(uintptr_t)a->ints;
      break;
    case ATTRIBUTE_STRINGS:
      out->dtype = ASSAY_STRING;
      out->data = (void *)(uintptr_t)a->strings;
      break;
    default:
      return status_make(ASSAY_NODE_INVALID, NULL, "attribute %s of Constant is of another kind than its name says",
                         a->name);
  }
  size_t element = element_size(out->dtype);
  out->bytes = (size_t)a->count * element;
  return status_ok();
}

assay_status infer_constant(struct infer *infer) {
  TRY(infer_want_counts(infer, 0, 0, 1, 1));
  assay_tensor *value;
  ARENA_NEW(infer->arena, value, 1);
  TRY(constant_value(infer->node, value));
  struct dim dims[ASSAY_RANK_MAX];
  for (int i = 0; i < value->rank; i++) {
    dims[i] = dim_of(value->dims[i]);
  }
  infer_set(infer, 0, value->dtype, value->rank, dims);
  infer->outputs[0].constant = value;
  return status_ok();
}

/* A session in float64 declares the output as float64 where the attribute holds float32; the number is widened. */
assay_status run_constant(struct op_run *run) {
  assay_tensor value;
  TRY(constant_value(run->node, &value));
  assay_tensor *out = run->outputs[0];
  bool widen = value.dtype == ASSAY_FLOAT32 && out->dtype == ASSAY_FLOAT64;
  TRY(output_become(run, 0, widen ? ASSAY_FLOAT64 : value.dtype, value.dims, value.rank));
  if (widen) {
    numbers_load(ASSAY_FLOAT32, value.data, 0, 1, tensor_count(&value), NUMBER_F64, out->data);
  } else if (value.bytes > 0) {
    memcpy(out->data, value.data, value.bytes);
  }
  return status_ok();
}

/* --- ConstantOfShape --------------------------------------------------------- */

/* The one element to fill with: float32 zero unless the attribute says otherwise. */
static assay_status fill_value(const struct node *node, assay_tensor *out) {
  static const float zero = 0;
  const struct attribute *value = node_attribute(node, "value");
  *out = (assay_tensor){.dtype = ASSAY_FLOAT32, .data = (void *)(uintptr_t)&zero, .bytes = sizeof zero};
  if (value == NULL) {
    return status_ok();
  }
  if (value->kind != ATTRIBUTE_TENSOR || tensor_count(&value->tensors[0]) != 1) {
    return status_make(ASSAY_NODE_INVALID, NULL, "value of ConstantOfShape must be a tensor of one element");
  }
  *out = value->tensors[0];
  return status_ok();
}

assay_status infer_constant_of_shape(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 1, 1));
  assay_tensor fill;
  TRY(fill_value(infer->node, &fill));
  struct dim dims[ASSAY_RANK_MAX];
  int32_t n;
  const assay_tensor *shape = infer->inputs[0]->constant;
  for (int64_t i = 0; shape != NULL && i < tensor_count(shape); i++) {
    if (tensor_get_int(shape, i) < 0) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "dimension %lld of ConstantOfShape is %lld", (long long)i,
                         (long long)tensor_get_int(shape, i));
    }
  }
  bool known = partial_of(infer->inputs[0], dims, &n);
  const struct value_type *in = &infer->inputs[0]->type;
  if (!known && in->rank == 1 && dim_known(in->dims[0]) && in->dims[0].value <= ASSAY_RANK_MAX) {
    n = (int32_t)in->dims[0].value;
    for (int32_t i = 0; i < n; i++) {
      dims[i] = dim_unknown();
    }
    known = true;
  }
  infer_set(infer, 0, fill.dtype, known ? n : RANK_UNKNOWN, dims);
  return status_ok();
}

assay_status run_constant_of_shape(struct op_run *run) {
  int64_t *dims;
  int32_t rank;
  assay_tensor fill;
  TRY(run_ints(run, 0, NULL, &dims, &rank));
  TRY(fill_value(run->node, &fill));
  for (int i = 0; i < rank; i++) {
    if (dims[i] < 0) {
      return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "dimension %d of ConstantOfShape is %lld", i,
                         (long long)dims[i]);
    }
  }
  if (rank > ASSAY_RANK_MAX) {
    return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "the shape has %d dimensions, at most %d are supported",
                       (int)rank, ASSAY_RANK_MAX);
  }
  assay_tensor *out = run->outputs[0];
  bool widen = fill.dtype == ASSAY_FLOAT32 && out->dtype == ASSAY_FLOAT64;
  double wide = widen ? tensor_get(&fill, 0) : 0;
  TRY(output_become(run, 0, widen ? ASSAY_FLOAT64 : fill.dtype, dims, rank));
  size_t element = element_size(out->dtype);
  for (int64_t i = 0, n = tensor_count(out); i < n; i++) {
    memcpy((char *)out->data + (size_t)i * element, widen ? (const void *)&wide : fill.data, element);
  }
  return status_ok();
}

/* --- EyeLike ------------------------------------------------------------------- */

static assay_dtype eye_dtype(const struct node *node, assay_dtype input) {
  int64_t told = node_attribute_int(node, "dtype", ASSAY_UNDEFINED);
  return told > ASSAY_UNDEFINED && told < ASSAY_DTYPE_COUNT ? (assay_dtype)told : input;
}

assay_status infer_eye_like(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 2, 2));
  assay_dtype dtype = eye_dtype(infer->node, infer->inputs[0]->type.dtype);
  if (dtype != ASSAY_UNDEFINED && dtype != ASSAY_BOOL && !dtype_is_float(dtype) && !dtype_is_integer(dtype)) {
    return status_make(ASSAY_NODE_INVALID, NULL, "EyeLike cannot make %s", assay_dtype_name(dtype));
  }
  infer_set_like(infer, 0, 0, dtype);
  return status_ok();
}

assay_status run_eye_like(struct op_run *run) {
  const assay_tensor *in = run->inputs[0];
  assay_tensor *out = run->outputs[0];
  assay_dtype told = eye_dtype(run->node, in->dtype);
  TRY(output_become(run, 0, told == ASSAY_FLOAT32 && out->dtype == ASSAY_FLOAT64 ? ASSAY_FLOAT64 : told, in->dims, 2));
  memset(out->data, 0, out->bytes);
  int64_t k = node_attribute_int(run->node, "k", 0);
  for (int64_t row = 0; row < in->dims[0]; row++) {
    int64_t column;
    if (!__builtin_add_overflow(row, k, &column) && column >= 0 && column < in->dims[1]) {
      tensor_set(out, row * in->dims[1] + column, 1);
    }
  }
  return status_ok();
}

/* --- Range ---------------------------------------------------------------------- */

/* max(ceil((limit - start) / delta), 0), as the specification has it; integers exactly. */
static assay_status range_count(const assay_tensor *start, const assay_tensor *limit, const assay_tensor *delta,
                                int64_t *out) {
  *out = 0;
  if (dtype_is_integer(start->dtype)) {
    int64_t a = tensor_get_int(start, 0), b = tensor_get_int(limit, 0), d = tensor_get_int(delta, 0), span;
    if (d == 0 || d == INT64_MIN || __builtin_sub_overflow(d > 0 ? b : a, d > 0 ? a : b, &span)) {
      return status_make(ASSAY_NODE_INVALID, NULL, "Range from %lld to %lld by %lld has no end", (long long)a,
                         (long long)b, (long long)d);
    }
    *out = span <= 0 ? 0 : (span - 1) / (d > 0 ? d : -d) + 1;
    return status_ok();
  }
  double a = tensor_get(start, 0), b = tensor_get(limit, 0), d = tensor_get(delta, 0);
  double count = start->dtype == ASSAY_FLOAT64 ? (b - a) / d : (double)((float)((float)b - (float)a) / (float)d);
  if (!(count < (double)INT32_MAX) || d == 0) {
    return status_make(ASSAY_NODE_INVALID, NULL, "Range from %g to %g by %g has no end, or one too far off", a, b, d);
  }
  *out = count <= 0 ? 0 : (int64_t)count + (count > (double)(int64_t)count);
  return status_ok();
}

assay_status infer_range(struct infer *infer) {
  TRY(infer_want_counts(infer, 3, 3, 1, 1));
  bool known = true;
  for (int32_t i = 0; i < 3; i++) {
    TRY(infer_want(infer, i, 0, 1));
    TRY(infer_want_same_dtype(infer, 0, i));
    const assay_tensor *constant = infer->inputs[i]->constant;
    known &= constant != NULL && tensor_count(constant) == 1;
  }
  struct dim count = dim_unknown();
  if (known) {
    TRY(range_count(infer->inputs[0]->constant, infer->inputs[1]->constant, infer->inputs[2]->constant, &count.value));
  }
  infer_set(infer, 0, infer->inputs[0]->type.dtype, 1, &count);
  return status_ok();
}

/* Element i is start + i*delta: two roundings in the element's type. */
assay_status run_range(struct op_run *run) {
  const assay_tensor *start = run->inputs[0], *delta = run->inputs[2];
  int64_t n;
  for (int i = 0; i < 3; i++) {
    if (tensor_count(run->inputs[i]) != 1) {
      return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "input %d of Range must be one number", i);
    }
  }
  TRY(range_count(start, run->inputs[1], delta, &n));
  TRY(output_become(run, 0, start->dtype, &n, 1));
  for (int64_t i = 0; i < n; i++) {
    if (dtype_is_integer(start->dtype)) {
      int64_t value = (int64_t)((uint64_t)tensor_get_int(start, 0) + (uint64_t)i * (uint64_t)tensor_get_int(delta, 0));
      numbers_store(start->dtype, run->outputs[0]->data, i, 1, NUMBER_I64, &value);
    } else if (start->dtype == ASSAY_FLOAT64) {
      double step = (double)i * tensor_get(delta, 0), value = tensor_get(start, 0) + step;
      numbers_store(start->dtype, run->outputs[0]->data, i, 1, NUMBER_F64, &value);
    } else {
      float step = (float)i * number_get_f32(delta, 0), value = number_get_f32(start, 0) + step;
      numbers_store(start->dtype, run->outputs[0]->data, i, 1, NUMBER_F32, &value);
    }
  }
  return status_ok();
}

/* --- Trilu ------------------------------------------------------------------------ */

assay_status infer_trilu(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 2, 1, 1));
  TRY(infer_want(infer, 0, 2, ASSAY_RANK_MAX));
  infer_set_like(infer, 0, 0, ASSAY_UNDEFINED);
  return status_ok();
}

assay_status run_trilu(struct op_run *run) {
  const assay_tensor *in = run->inputs[0], *shift = run_input(run, 1);
  bool upper = node_attribute_int(run->node, "upper", 1) != 0;
  int64_t k = shift != NULL ? tensor_get_int(shift, 0) : 0, rows = in->dims[in->rank - 2],
          columns = in->dims[in->rank - 1];
  TRY(output_become(run, 0, in->dtype, in->dims, in->rank));
  size_t element = element_size(in->dtype);
  k = k > columns ? columns : k < -rows ? -rows : k;
  memset(run->outputs[0]->data, 0, run->outputs[0]->bytes);
  for (int64_t row = 0, n = columns == 0 ? 0 : tensor_count(in) / columns; row < n; row++) {
    int64_t diagonal = row % rows + k; /* the column that the diagonal crosses here */
    int64_t from = upper ? diagonal : 0, to = upper ? columns : diagonal + 1;
    from = from < 0 ? 0 : from;
    to = to > columns ? columns : to;
    if (from < to) {
      size_t at = (size_t)(row * columns + from) * element;
      memcpy((char *)run->outputs[0]->data + at, (const char *)in->data + at, (size_t)(to - from) * element);
    }
  }
  return status_ok();
}

/* --- NonZero -------------------------------------------------------------------------- */

assay_status infer_non_zero(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  int32_t rank = infer->inputs[0]->type.rank;
  struct dim dims[2] = {rank < 0 ? dim_unknown() : dim_of(rank), dim_unknown()};
  infer_set(infer, 0, ASSAY_INT64, 2, dims);
  return status_ok();
}

static bool is_not_zero(const assay_tensor *tensor, int64_t i) {
  return dtype_is_integer(tensor->dtype) || tensor->dtype == ASSAY_BOOL ? tensor_get_int(tensor, i) != 0
                                                                        : tensor_get(tensor, i) != 0;
}

assay_status run_non_zero(struct op_run *run) {
  const assay_tensor *in = run->inputs[0];
  int64_t n = tensor_count(in), found = 0, at = 0;
  for (int64_t i = 0; i < n; i++) {
    found += is_not_zero(in, i);
  }
  TRY(output_become(run, 0, ASSAY_INT64, (int64_t[]){in->rank, found}, 2));
  int64_t *out = run->outputs[0]->data;
  for (int64_t i = 0; i < n; i++) {
    if (!is_not_zero(in, i)) {
      continue;
    }
    int64_t rest = i;
    for (int d = in->rank - 1; d >= 0; d--) {
      out[d * found + at] = rest % in->dims[d];
      rest /= in->dims[d];
    }
    at++;
  }
  return status_ok();
}
