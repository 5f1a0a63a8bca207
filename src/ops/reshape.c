/* Operators that give the same elements another shape, and those that tell a shape. Definitions: ONNX Identity,
 * Dropout, Reshape, Flatten, Squeeze, Unsqueeze, Shape, Size, versions 1 to 28. */
#include <string.h>

#include "ops/infer_help.h"
#include "ops/movement.h"
#include "ops/partial.h"

/* Output 0 gets the bytes of input 0 under a new shape. */
static assay_status keep_bytes(struct op_run *run, const int64_t *dims, int rank) {
  const assay_tensor *input = run->inputs[0];
  TRY(output_become(run, 0, input->dtype, dims, rank));
  if (input->bytes > 0 && run->outputs[0]->data != input->data) {
    memcpy(run->outputs[0]->data, input->data, input->bytes);
  }
  return status_ok();
}

assay_status infer_identity(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  infer->outputs[0].type = infer->inputs[0] != NULL ? infer->inputs[0]->type : (struct value_type){0};
  return infer->inputs[0] != NULL ? partial_keep(infer) : status_ok();
}

assay_status run_identity(struct op_run *run) { return keep_bytes(run, run->inputs[0]->dims, run->inputs[0]->rank); }

/* --- Dropout ------------------------------------------------------------ */

assay_status infer_dropout(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 3, 1, 2));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  infer_set_like(infer, 0, 0, ASSAY_UNDEFINED);
  infer_set_like(infer, 1, 0, infer->node->opset >= 10 ? ASSAY_BOOL : ASSAY_UNDEFINED);
  return status_ok();
}

/* Training needs random numbers, and assay runs what a robot runs. */
static assay_status refuse_training(struct op_run *run) {
  const assay_tensor *training = run_input(run, 2);
  if (training != NULL && tensor_get(training, 0) != 0) {
    return status_make(ASSAY_OPERATOR_UNKNOWN, run->node->label,
                       "Dropout is in training mode, which drops at random; export the model in evaluation mode");
  }
  return status_ok();
}

assay_status run_dropout(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  TRY(refuse_training(run));
  TRY(keep_bytes(run, input->dims, input->rank));
  if (run->node->n_outputs > 1 && run->outputs[1] != NULL) {
    assay_dtype dtype = run->node->opset >= 10 ? ASSAY_BOOL : input->dtype;
    TRY(output_become(run, 1, dtype, input->dims, input->rank));
    for (int64_t i = 0, n = tensor_count(input); i < n; i++) {
      tensor_set(run->outputs[1], i, 1);
    }
  }
  return status_ok();
}

/* --- Reshape ------------------------------------------------------------ */

/* The wanted shape with 0 and -1 resolved; n_in elements are there. */
static assay_status reshape_dims(const int64_t *want, int32_t n, const int64_t *in, int in_rank, bool allow_zero,
                                 int64_t n_in, int64_t *out) {
  int unknown = -1;
  int64_t known = 1;
  if (n > ASSAY_RANK_MAX) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "the new shape has %d dimensions, at most %d are supported", (int)n,
                       ASSAY_RANK_MAX);
  }
  for (int i = 0; i < n; i++) {
    int64_t dim = want[i];
    if (dim == 0 && !allow_zero) {
      if (i >= in_rank) {
        return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                           "dimension %d of the new shape is 0 (keep), but the input has rank %d", i, in_rank);
      }
      dim = in[i];
    }
    if (dim < -1 || (dim == -1 && unknown >= 0)) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "dimension %d of the new shape is %lld; one -1 is allowed", i,
                         (long long)dim);
    }
    if (dim == -1) {
      unknown = i;
    } else if (__builtin_mul_overflow(known, dim, &known)) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "the new shape has more elements than can be counted");
    }
    out[i] = dim;
  }
  if (unknown >= 0) {
    if (known == 0 || n_in % known != 0) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "%lld elements cannot be spread over the new shape's -1",
                         (long long)n_in);
    }
    out[unknown] = n_in / known;
    return status_ok();
  }
  return known == n_in ? status_ok()
                       : status_make(ASSAY_SHAPE_CONFLICT, NULL, "%lld elements do not fit a shape of %lld",
                                     (long long)n_in, (long long)known);
}

/* What can be said of the new shape when the sizes are only partly known. */
static void reshape_partly(struct infer *infer, const struct dim *want, int32_t n) {
  const struct value_type *in = &infer->inputs[0]->type;
  bool allow_zero = node_attribute_int(infer->node, "allowzero", 0) != 0;
  struct dim dims[ASSAY_RANK_MAX];
  for (int32_t i = 0; i < n; i++) {
    bool keep = want[i].value == 0 && !allow_zero;
    dims[i] = !keep ? want[i] : in->rank > i ? in->dims[i] : dim_unknown();
  }
  infer_set(infer, 0, in->dtype, n, dims);
}

assay_status infer_reshape(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 2, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  const struct value_type *in = &infer->inputs[0]->type;
  const int64_t *want;
  int32_t n;
  bool known;
  int64_t in_dims[ASSAY_RANK_MAX], out[ASSAY_RANK_MAX], count;
  TRY(infer_ints(infer, 1, infer->node->opset < 5 ? "shape" : NULL, &want, &n, &known));
  if (known && want == NULL && n == 0 && infer_input(infer, 1) == NULL && infer->node->opset >= 5) {
    return status_make(ASSAY_NODE_INVALID, NULL, "the shape that Reshape needs is missing");
  }
  if (known && n <= ASSAY_RANK_MAX && type_dims(in, in_dims) && shape_count(in_dims, in->rank, &count)) {
    bool allow_zero = node_attribute_int(infer->node, "allowzero", 0) != 0;
    TRY(reshape_dims(want, n, in_dims, in->rank, allow_zero, count, out));
    struct dim dims[ASSAY_RANK_MAX];
    for (int32_t i = 0; i < n; i++) {
      dims[i] = dim_of(out[i]);
    }
    infer_set(infer, 0, in->dtype, n, dims);
    return partial_keep(infer);
  }
  struct dim partly[ASSAY_RANK_MAX];
  if (infer_input(infer, 1) != NULL && partial_of(infer->inputs[1], partly, &n)) {
    reshape_partly(infer, partly, n);
    return status_ok();
  }
  const struct infer_value *shape = infer_input(infer, 1);
  bool rank_known = shape != NULL && shape->type.rank == 1 && dim_known(shape->type.dims[0]) &&
                    shape->type.dims[0].value <= ASSAY_RANK_MAX;
  struct dim dims[ASSAY_RANK_MAX];
  int32_t rank = rank_known ? (int32_t)shape->type.dims[0].value : RANK_UNKNOWN;
  for (int32_t i = 0; i < rank; i++) {
    dims[i] = dim_unknown();
  }
  infer_set(infer, 0, in->dtype, rank, dims);
  return status_ok();
}

assay_status run_reshape(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  int64_t *want, dims[ASSAY_RANK_MAX];
  int32_t n;
  TRY(run_ints(run, 1, "shape", &want, &n));
  if (n < 0) {
    return status_make(ASSAY_NODE_INVALID, run->node->label, "the shape that Reshape needs is missing");
  }
  bool allow_zero = node_attribute_int(run->node, "allowzero", 0) != 0;
  TRY(reshape_dims(want, n, input->dims, input->rank, allow_zero, tensor_count(input), dims));
  return keep_bytes(run, dims, n);
}

/* --- Flatten -------------------------------------------------------------- */

assay_status infer_flatten(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  const struct value_type *in = &infer->inputs[0]->type;
  struct dim dims[2] = {dim_of(1), dim_of(1)};
  if (in->rank < 0) {
    dims[0] = dims[1] = dim_unknown();
    infer_set(infer, 0, in->dtype, 2, dims);
    return status_ok();
  }
  int64_t axis = node_attribute_int(infer->node, "axis", 1);
  axis += axis < 0 ? in->rank : 0;
  if (axis < 0 || axis > in->rank) {
    return status_make(ASSAY_NODE_INVALID, NULL, "axis of Flatten is %lld, but the input has rank %d", (long long)axis,
                       (int)in->rank);
  }
  for (int side = 0; side < 2; side++) {
    int from = side == 0 ? 0 : (int)axis, to = side == 0 ? (int)axis : in->rank;
    for (int i = from; i < to; i++) {
      bool only = to - from == 1; /* a single symbol survives */
      if (only) {
        dims[side] = in->dims[i];
      } else if (!dim_known(dims[side]) || !dim_known(in->dims[i]) ||
                 __builtin_mul_overflow(dims[side].value, in->dims[i].value, &dims[side].value)) {
        dims[side] = dim_unknown();
        break;
      }
    }
  }
  infer_set(infer, 0, in->dtype, 2, dims);
  return status_ok();
}

assay_status run_flatten(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  int64_t axis = node_attribute_int(run->node, "axis", 1), dims[2] = {1, 1};
  axis += axis < 0 ? input->rank : 0;
  for (int i = 0; i < input->rank; i++) {
    dims[i >= axis] *= input->dims[i];
  }
  return keep_bytes(run, dims, 2);
}

/* --- Squeeze and Unsqueeze --------------------------------------------------- */

/* Axes as a set of bits over `rank` dimensions. */
static assay_status axes_set(const int64_t *axes, int32_t n, int rank, uint32_t *out) {
  *out = 0;
  for (int32_t i = 0; i < n; i++) {
    int axis;
    TRY(axis_normalise("an axis", axes[i], rank, &axis));
    if ((*out >> axis & 1) != 0) {
      return status_make(ASSAY_NODE_INVALID, NULL, "axis %lld is given twice", (long long)axes[i]);
    }
    *out |= UINT32_C(1) << axis;
  }
  return status_ok();
}

/* Checks what both take, and reads the axes: an attribute before opset 13, an input from then on. *known is false, and
 * output 0 of unknown rank, where they or the rank of the input are not known. */
static assay_status infer_axes(struct infer *infer, const int64_t **axes, int32_t *n, bool *known) {
  TRY(infer_want_counts(infer, 1, 2, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  TRY(infer_ints(infer, 1, infer->node->opset < 13 ? "axes" : NULL, axes, n, known));
  *known = *known && infer->inputs[0]->type.rank >= 0;
  if (!*known) {
    infer_set(infer, 0, infer->inputs[0]->type.dtype, RANK_UNKNOWN, NULL);
  }
  return status_ok();
}

assay_status infer_squeeze(struct infer *infer) {
  const int64_t *axes;
  int32_t n;
  bool known;
  uint32_t set = 0;
  TRY(infer_axes(infer, &axes, &n, &known));
  if (!known) {
    return status_ok();
  }
  const struct value_type *in = &infer->inputs[0]->type;
  bool all = axes == NULL && n == 0; /* without axes every 1 goes */
  TRY(axes_set(axes, n, in->rank, &set));
  struct dim dims[ASSAY_RANK_MAX];
  int32_t rank = 0;
  for (int32_t i = 0; i < in->rank; i++) {
    bool named = (set >> i & 1) != 0;
    if (all && !dim_known(in->dims[i])) {
      infer_set(infer, 0, in->dtype, RANK_UNKNOWN, NULL);
      return status_ok();
    }
    if (named && dim_known(in->dims[i]) && in->dims[i].value != 1) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "Squeeze takes out axis %d, whose size is %lld and not 1", (int)i,
                         (long long)in->dims[i].value);
    }
    if (!named && !(all && in->dims[i].value == 1)) {
      dims[rank++] = in->dims[i];
    }
  }
  infer_set(infer, 0, in->dtype, rank, dims);
  return partial_keep(infer);
}

assay_status run_squeeze(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  int64_t *axes, dims[ASSAY_RANK_MAX];
  int32_t n;
  uint32_t set = 0;
  TRY(run_ints(run, 1, "axes", &axes, &n));
  TRY(axes_set(axes, n < 0 ? 0 : n, input->rank, &set));
  int rank = 0;
  for (int i = 0; i < input->rank; i++) {
    bool goes = n < 0 ? input->dims[i] == 1 : (set >> i & 1) != 0;
    if (goes && input->dims[i] != 1) {
      return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "axis %d has size %lld and not 1", i,
                         (long long)input->dims[i]);
    }
    if (!goes) {
      dims[rank++] = input->dims[i];
    }
  }
  return keep_bytes(run, dims, rank);
}

assay_status infer_unsqueeze(struct infer *infer) {
  const int64_t *axes;
  int32_t n;
  bool known;
  uint32_t set = 0;
  TRY(infer_axes(infer, &axes, &n, &known));
  if (!known) {
    return status_ok();
  }
  const struct value_type *in = &infer->inputs[0]->type;
  if (in->rank + n > ASSAY_RANK_MAX) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "the result has %d dimensions, at most %d are supported",
                       (int)(in->rank + n), ASSAY_RANK_MAX);
  }
  TRY(axes_set(axes, n, in->rank + n, &set));
  struct dim dims[ASSAY_RANK_MAX];
  for (int32_t i = 0, from = 0; i < in->rank + n; i++) {
    dims[i] = (set >> i & 1) != 0 ? dim_of(1) : in->dims[from++];
  }
  infer_set(infer, 0, in->dtype, in->rank + n, dims);
  return partial_keep(infer);
}

assay_status run_unsqueeze(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  int64_t *axes, dims[ASSAY_RANK_MAX];
  int32_t n;
  uint32_t set = 0;
  TRY(run_ints(run, 1, "axes", &axes, &n));
  n = n < 0 ? 0 : n;
  if (input->rank + n > ASSAY_RANK_MAX) {
    return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "the result has %d dimensions, at most %d are supported",
                       (int)(input->rank + n), ASSAY_RANK_MAX);
  }
  TRY(axes_set(axes, n, input->rank + n, &set));
  for (int i = 0, from = 0; i < input->rank + n; i++) {
    dims[i] = (set >> i & 1) != 0 ? 1 : input->dims[from++];
  }
  return keep_bytes(run, dims, input->rank + n);
}

/* --- Shape and Size -------------------------------------------------------------- */

/* The part of the shape that `start` and `end` name (from opset 15 on). */
static void shape_part(const struct node *node, int rank, int *begin, int *end) {
  int64_t from = node_attribute_int(node, "start", 0), to = node_attribute_int(node, "end", rank);
  from += from < 0 ? rank : 0;
  to += to < 0 ? rank : 0;
  *begin = from < 0 ? 0 : from > rank ? rank : (int)from;
  *end = to < *begin ? *begin : to > rank ? rank : (int)to;
}

assay_status infer_shape(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  const struct value_type *in = &infer->inputs[0]->type;
  struct dim count = dim_unknown();
  if (in->kind != TYPE_TENSOR || in->rank < 0) {
    infer_set(infer, 0, ASSAY_INT64, 1, &count);
    return status_ok();
  }
  int begin, end;
  shape_part(infer->node, in->rank, &begin, &end);
  count = dim_of(end - begin);
  infer_set(infer, 0, ASSAY_INT64, 1, &count);
  return partial_set(infer, 0, in->dims + begin, end - begin);
}

assay_status run_shape(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  int begin, end;
  shape_part(run->node, input->rank, &begin, &end);
  TRY(output_become(run, 0, ASSAY_INT64, (int64_t[]){end - begin}, 1));
  for (int i = begin; i < end; i++) {
    ((int64_t *)run->outputs[0]->data)[i - begin] = input->dims[i];
  }
  return status_ok();
}

assay_status infer_size(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  int64_t dims[ASSAY_RANK_MAX], count;
  infer_set(infer, 0, ASSAY_INT64, 0, NULL);
  if (!type_dims(&infer->inputs[0]->type, dims) || !shape_count(dims, infer->inputs[0]->type.rank, &count)) {
    return status_ok();
  }
  struct dim value = dim_of(count);
  return partial_set(infer, 0, &value, 1);
}

assay_status run_size(struct op_run *run) {
  TRY(output_become(run, 0, ASSAY_INT64, NULL, 0));
  *(int64_t *)run->outputs[0]->data = tensor_count(run->inputs[0]);
  return status_ok();
}
