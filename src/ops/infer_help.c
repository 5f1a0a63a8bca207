/* What the inference functions of the operators share. Must never guess: what cannot be told
 * stays unknown. */
#include "ops/infer_help.h"

#include <string.h>

bool dim_equal(struct dim a, struct dim b) {
  if (dim_known(a) || dim_known(b)) {
    return a.value == b.value;
  }
  return a.symbol != NULL && b.symbol != NULL && strcmp(a.symbol, b.symbol) == 0;
}

bool dim_merge(struct dim a, struct dim b, struct dim *out) {
  if (dim_known(a) && dim_known(b) && a.value != b.value) {
    return false;
  }
  *out = dim_known(a) || (!dim_known(b) && a.symbol != NULL) ? a : b;
  return true;
}

bool type_dims(const struct value_type *type, int64_t *dims) {
  if (type->kind != TYPE_TENSOR || type->rank < 0) {
    return false;
  }
  for (int32_t i = 0; i < type->rank; i++) {
    if (!dim_known(type->dims[i])) {
      return false;
    }
    dims[i] = type->dims[i].value;
  }
  return true;
}

const struct infer_value *infer_input(const struct infer *infer, int32_t i) {
  return i >= 0 && i < infer->node->n_inputs ? infer->inputs[i] : NULL;
}

assay_status infer_want(const struct infer *infer, int32_t i, int rank_min, int rank_max) {
  const struct infer_value *input = infer_input(infer, i);
  if (input == NULL) {
    return status_make(ASSAY_NODE_INVALID, NULL, "input %d of %s is missing; the operator needs it", (int)i,
                       infer->node->op_type);
  }
  if (input->type.kind == TYPE_UNKNOWN) {
    return status_ok();
  }
  if (input->type.kind != TYPE_TENSOR) {
    return status_make(ASSAY_TYPE_CONFLICT, NULL, "input %d of %s is not a tensor; the operator takes tensors", (int)i,
                       infer->node->op_type);
  }
  int32_t rank = input->type.rank;
  if (rank != RANK_UNKNOWN && (rank < rank_min || rank > rank_max)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "input %d of %s has rank %d, expected %d to %d", (int)i,
                       infer->node->op_type, (int)rank, rank_min, rank_max);
  }
  return status_ok();
}

assay_status infer_want_same_dtype(const struct infer *infer, int32_t i, int32_t j) {
  const struct infer_value *a = infer_input(infer, i), *b = infer_input(infer, j);
  if (a == NULL || b == NULL || a->type.dtype == ASSAY_UNDEFINED || b->type.dtype == ASSAY_UNDEFINED ||
      a->type.dtype == b->type.dtype) {
    return status_ok();
  }
  return status_make(ASSAY_TYPE_CONFLICT, NULL, "inputs %d and %d of %s are %s and %s; they must have one type", (int)i,
                     (int)j, infer->node->op_type, assay_dtype_name(a->type.dtype), assay_dtype_name(b->type.dtype));
}

assay_status infer_want_counts(const struct infer *infer, int32_t inputs_min, int32_t inputs_max, int32_t outputs_min,
                               int32_t outputs_max) {
  const struct node *node = infer->node;
  if (node->n_inputs < inputs_min || node->n_inputs > inputs_max) {
    return status_make(ASSAY_NODE_INVALID, NULL, "%s has %d inputs, expected %d to %d", node->op_type,
                       (int)node->n_inputs, (int)inputs_min, (int)inputs_max);
  }
  if (node->n_outputs < outputs_min || node->n_outputs > outputs_max) {
    return status_make(ASSAY_NODE_INVALID, NULL, "%s has %d outputs, expected %d to %d", node->op_type,
                       (int)node->n_outputs, (int)outputs_min, (int)outputs_max);
  }
  return status_ok();
}

void infer_set(struct infer *infer, int32_t output, assay_dtype dtype, int32_t rank, const struct dim *dims) {
  if (output >= infer->node->n_outputs) {
    return;
  }
  struct value_type *type = &infer->outputs[output].type;
  *type = (struct value_type){.kind = TYPE_TENSOR, .dtype = dtype, .rank = rank};
  for (int32_t i = 0; i < rank; i++) {
    type->dims[i] = dims[i];
  }
}

void infer_set_like(struct infer *infer, int32_t output, int32_t input, assay_dtype dtype) {
  const struct infer_value *value = infer_input(infer, input);
  if (value == NULL || output >= infer->node->n_outputs) {
    return;
  }
  infer->outputs[output].type = value->type;
  if (dtype != ASSAY_UNDEFINED) {
    infer->outputs[output].type.dtype = dtype;
  }
}

assay_status axis_normalise(const char *what, int64_t axis, int rank, int *out) {
  if (axis < -(int64_t)rank || axis >= rank) {
    return status_make(ASSAY_NODE_INVALID, NULL, "%s is %lld, but the tensor has rank %d; expected %d to %d", what,
                       (long long)axis, rank, -rank, rank - 1);
  }
  *out = (int)(axis < 0 ? axis + rank : axis);
  return status_ok();
}

assay_status infer_ints(struct infer *infer, int32_t input, const char *attribute, const int64_t **values,
                        int32_t *count, bool *known) {
  *values = NULL;
  *count = 0;
  *known = true;
  const struct infer_value *value = infer_input(infer, input);
  if (value == NULL) {
    if (attribute != NULL) {
      *values = node_attribute_ints(infer->node, attribute, count);
    }
    return status_ok();
  }
  if (value->constant == NULL) {
    *known = false;
    return status_ok();
  }
  const assay_tensor *tensor = value->constant;
  if ((tensor->dtype != ASSAY_INT64 && tensor->dtype != ASSAY_INT32) || tensor->rank > 1) {
    return status_make(ASSAY_TYPE_CONFLICT, NULL, "input %d of %s is %s of rank %d, expected a vector of int64",
                       (int)input, infer->node->op_type, assay_dtype_name(tensor->dtype), (int)tensor->rank);
  }
  int64_t n = tensor_count(tensor);
  if (n > INT32_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "input %d of %s has %lld elements", (int)input, infer->node->op_type,
                       (long long)n);
  }
  int64_t *copy;
  ARENA_NEW(infer->arena, copy, n + 1);
  for (int64_t i = 0; i < n; i++) {
    copy[i] = tensor_get_int(tensor, i);
  }
  *values = copy;
  *count = (int32_t)n;
  return status_ok();
}

/* One dimension of a broadcast; false when the two contradict. */
static bool dim_broadcast(struct dim a, struct dim b, struct dim *out) {
  if (a.value == 1) {
    *out = b;
  } else if (b.value == 1 || dim_equal(a, b)) {
    *out = a;
  } else if (dim_known(a) && dim_known(b)) {
    return false;
  } else {
    /* One that is known and not 1 decides; the other must be it or 1. */
    *out = dim_known(a) ? a : dim_known(b) ? b : dim_unknown();
  }
  return true;
}

assay_status type_broadcast(const struct value_type *a, const struct value_type *b, struct value_type *out) {
  struct value_type result = {.kind = TYPE_TENSOR, .dtype = a->dtype, .rank = RANK_UNKNOWN};
  if (a->kind != TYPE_TENSOR || b->kind != TYPE_TENSOR || a->rank < 0 || b->rank < 0) {
    *out = result;
    return status_ok();
  }
  result.rank = a->rank > b->rank ? a->rank : b->rank;
  for (int32_t i = 0; i < result.rank; i++) {
    int32_t ia = i - (result.rank - a->rank), ib = i - (result.rank - b->rank);
    struct dim da = ia >= 0 ? a->dims[ia] : dim_of(1), db = ib >= 0 ? b->dims[ib] : dim_of(1);
    if (!dim_broadcast(da, db, &result.dims[i])) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                         "shapes cannot be broadcast: dimension %d of the result is %lld on one side and %lld on "
                         "the other",
                         (int)i, (long long)da.value, (long long)db.value);
    }
  }
  *out = result;
  return status_ok();
}

assay_status infer_same(struct infer *infer) {
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  infer_set_like(infer, 0, 0, ASSAY_UNDEFINED);
  return status_ok();
}

static assay_status broadcast_all(struct infer *infer, assay_dtype dtype) {
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  struct value_type type = infer->inputs[0]->type;
  for (int32_t i = 1; i < infer->node->n_inputs; i++) {
    TRY(infer_want(infer, i, 0, ASSAY_RANK_MAX));
    TRY(infer_want_same_dtype(infer, 0, i));
    if (type.dtype == ASSAY_UNDEFINED) {
      type.dtype = infer->inputs[i]->type.dtype;
    }
    TRY(type_broadcast(&type, &infer->inputs[i]->type, &type));
  }
  if (dtype != ASSAY_UNDEFINED) {
    type.dtype = dtype;
  }
  infer_set(infer, 0, type.dtype, type.rank, type.dims);
  return status_ok();
}

assay_status infer_broadcast(struct infer *infer) { return broadcast_all(infer, ASSAY_UNDEFINED); }
assay_status infer_broadcast_bool(struct infer *infer) { return broadcast_all(infer, ASSAY_BOOL); }

assay_status infer_reduce(struct infer *infer) {
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  const struct value_type *in = &infer->inputs[0]->type;
  bool keep = node_attribute_int(infer->node, "keepdims", 1) != 0;
  bool noop = node_attribute_int(infer->node, "noop_with_empty_axes", 0) != 0;
  const int64_t *axes;
  int32_t n_axes;
  bool known;
  TRY(infer_ints(infer, 1, "axes", &axes, &n_axes, &known));
  if (in->kind != TYPE_TENSOR || in->rank < 0) {
    infer_set(infer, 0, in->dtype, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  if (!known) {
    struct dim unknown[ASSAY_RANK_MAX];
    for (int32_t i = 0; i < in->rank; i++) {
      unknown[i] = dim_unknown();
    }
    infer_set(infer, 0, in->dtype, keep ? in->rank : RANK_UNKNOWN, unknown);
    return status_ok();
  }
  bool reduced[ASSAY_RANK_MAX];
  for (int i = 0; i < ASSAY_RANK_MAX; i++) {
    reduced[i] = n_axes == 0 && !noop;
  }
  for (int32_t i = 0; i < n_axes; i++) {
    int axis;
    TRY(axis_normalise("an element of axes", axes[i], in->rank, &axis));
    reduced[axis] = true;
  }
  struct dim dims[ASSAY_RANK_MAX];
  int32_t rank = 0;
  for (int32_t i = 0; i < in->rank; i++) {
    if (!reduced[i]) {
      dims[rank++] = in->dims[i];
    } else if (keep) {
      dims[rank++] = dim_of(1);
    }
  }
  infer_set(infer, 0, in->dtype, rank, dims);
  return status_ok();
}
