/* Operators of two numbers, and of many: Add to Pow, Mod, Min, Max, Sum, Mean, PRelu, bits and shifts. Integers wrap;
 * dividing an integer by zero is an error, since it has no answer. */
#include "ops/elementwise.h"
#include "ops/infer_help.h"
#include "ops/partial.h"

/* --- inferring ---------------------------------------------------------- */

/* Before opset 7 the result is like input 0, and input 1 is fitted to it by attributes. */
static assay_status infer_second(struct infer *infer, assay_dtype result) {
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 0, ASSAY_RANK_MAX));
  TRY(infer_want_same_dtype(infer, 0, 1));
  infer_set_like(infer, 0, 0, result);
  return status_ok();
}

assay_status infer_binary(struct infer *infer) {
  if (infer->node->opset < 7) {
    return infer_second(infer, ASSAY_UNDEFINED);
  }
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  return infer_broadcast(infer);
}

assay_status infer_compare(struct infer *infer) {
  if (infer->node->opset < 7) {
    return infer_second(infer, ASSAY_BOOL);
  }
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  return infer_broadcast_bool(infer);
}

/* One input, one output of the same type and shape. */
assay_status infer_unary(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  return infer_same(infer);
}

/* The slope is fitted to input 0. */
assay_status infer_prelu(struct infer *infer) { return infer_second(infer, ASSAY_UNDEFINED); }

/* --- shape arithmetic ----------------------------------------------------- */

enum shape_operation { SHAPE_ADD, SHAPE_SUB, SHAPE_MUL, SHAPE_DIV };

static struct dim shape_combine(enum shape_operation operation, struct dim a, struct dim b) {
  /* Neutral elements keep a symbol. */
  bool one = b.value == 1, none = b.value == 0;
  if ((none && (operation == SHAPE_ADD || operation == SHAPE_SUB)) ||
      (one && (operation == SHAPE_MUL || operation == SHAPE_DIV))) {
    return a;
  }
  if ((a.value == 0 && operation == SHAPE_ADD) || (a.value == 1 && operation == SHAPE_MUL)) {
    return b;
  }
  if (!dim_known(a) || !dim_known(b)) {
    return dim_unknown();
  }
  int64_t y = -1;
  switch (operation) {
    case SHAPE_ADD:
      return __builtin_add_overflow(a.value, b.value, &y) ? dim_unknown() : dim_of(y);
    case SHAPE_SUB:
      return a.value >= b.value ? dim_of(a.value - b.value) : dim_unknown();
    case SHAPE_MUL:
      return __builtin_mul_overflow(a.value, b.value, &y) ? dim_unknown() : dim_of(y);
    default:
      return b.value > 0 ? dim_of(a.value / b.value) : dim_unknown();
  }
}

/* Shape arithmetic on int64 vectors whose elements are partly known. Whole constants are folded elsewhere. */
static assay_status infer_shape_arithmetic(struct infer *infer, enum shape_operation operation) {
  TRY(infer_binary(infer));
  if (infer->outputs[0].type.dtype != ASSAY_INT64 || infer->inputs[0] == NULL || infer->inputs[1] == NULL) {
    return status_ok();
  }
  struct dim a[ASSAY_RANK_MAX], b[ASSAY_RANK_MAX];
  int32_t na, nb;
  if (!partial_of(infer->inputs[0], a, &na) || !partial_of(infer->inputs[1], b, &nb) ||
      (na != nb && na != 1 && nb != 1)) {
    return status_ok();
  }
  int32_t n = na > nb ? na : nb;
  n = na == 0 || nb == 0 ? 0 : n;
  struct dim result[ASSAY_RANK_MAX];
  for (int32_t i = 0; i < n; i++) {
    result[i] = shape_combine(operation, a[na == 1 ? 0 : i], b[nb == 1 ? 0 : i]);
  }
  return partial_set(infer, 0, result, n);
}

assay_status infer_add(struct infer *infer) { return infer_shape_arithmetic(infer, SHAPE_ADD); }
assay_status infer_sub(struct infer *infer) { return infer_shape_arithmetic(infer, SHAPE_SUB); }
assay_status infer_mul(struct infer *infer) { return infer_shape_arithmetic(infer, SHAPE_MUL); }
assay_status infer_div(struct infer *infer) { return infer_shape_arithmetic(infer, SHAPE_DIV); }

/* --- Add, Sub, Mul, Div, Mod ---------------------------------------------- */

#define KERNELS_OF(name)                                                                                   \
  (struct binary_kernels) {                                                                                \
    run->kernels->f32_##name, run->kernels->f64_##name, run->kernels->i64_##name, run->kernels->u64_##name \
  }

assay_status run_add(struct op_run *run) {
  struct binary_kernels kernels = KERNELS_OF(add);
  return binary_run(run, &kernels);
}
assay_status run_sub(struct op_run *run) {
  struct binary_kernels kernels = KERNELS_OF(sub);
  return binary_run(run, &kernels);
}
assay_status run_mul(struct op_run *run) {
  struct binary_kernels kernels = KERNELS_OF(mul);
  return binary_run(run, &kernels);
}

/* No element of an integer divisor may be 0. */
static assay_status want_no_zero(const struct op_run *run, const assay_tensor *divisor) {
  if (dtype_is_float(divisor->dtype)) {
    return status_ok();
  }
  int64_t n = tensor_count(divisor);
  for (int64_t i = 0; i < n; i++) {
    if (number_get_i64(divisor, i) == 0) {
      return status_make(ASSAY_NODE_VALUE, NULL, "%s divides an integer by zero (element %lld of input 1)",
                         run->node->op_type, (long long)i);
    }
  }
  return status_ok();
}

assay_status run_div(struct op_run *run) {
  struct binary_kernels kernels = KERNELS_OF(div);
  TRY(want_no_zero(run, run->inputs[1]));
  return binary_run(run, &kernels);
}

/* fmod=1: the sign of the dividend, as in C; fmod=0: the sign of the divisor, until opset 27 for integers alone. */
assay_status run_mod(struct op_run *run) {
  bool fmod = node_attribute_int(run->node, "fmod", 0) != 0, floats = dtype_is_float(run->inputs[0]->dtype);
  if (!fmod && floats && run->node->opset < 28) {
    return status_make(ASSAY_NODE_INVALID, NULL, "Mod of %s needs fmod=1 before opset 28",
                       assay_dtype_name(run->inputs[0]->dtype));
  }
  struct binary_kernels kernels = KERNELS_OF(mod), like_c = KERNELS_OF(fmod);
  TRY(want_no_zero(run, run->inputs[1]));
  return binary_run(run, fmod ? &like_c : &kernels);
}

assay_status run_prelu(struct op_run *run) {
  struct binary_kernels kernels = {.f32 = run->kernels->f32_prelu, .f64 = run->kernels->f64_prelu};
  const assay_tensor *x = run->inputs[0], *slope = run->inputs[1];
  assay_tensor view = *slope;
  /* Until opset 6 a vector of slopes belongs to the channels, dimension 1. */
  if (run->node->opset < 7 && slope->rank == 1 && x->rank > 2) {
    for (int d = 1; d < x->rank - 1; d++) {
      view.dims[d] = 1;
    }
    view.rank = x->rank - 1;
  }
  TRY(output_like(run, 0, x));
  enum number_kind kind = number_kind_of(x->dtype);
  return binary_of(run, &kernels, x, &view, kind, run->outputs[0]);
}

/* --- Pow ------------------------------------------------------------------ */

assay_status infer_pow(struct infer *infer) {
  if (infer->node->opset < 12) {
    return infer_binary(infer);
  }
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 0, ASSAY_RANK_MAX));
  struct value_type type;
  TRY(type_broadcast(&infer->inputs[0]->type, &infer->inputs[1]->type, &type));
  infer_set(infer, 0, infer->inputs[0]->type.dtype, type.rank, type.dims);
  return status_ok();
}

/* The exponent may have another type. Integers to integers are exact; whatever meets a double, or an integer base a
 * float exponent, is computed in double; the result has the type of the base. */
assay_status run_pow(struct op_run *run) {
  struct binary_kernels kernels = KERNELS_OF(pow);
  assay_dtype base = run->inputs[0]->dtype, exponent = run->inputs[1]->dtype;
  enum number_kind kind = number_kind_of(base), other = number_kind_of(exponent);
  bool base_float = dtype_is_float(base), exponent_float = dtype_is_float(exponent);
  if (kind == NUMBER_F64 || other == NUMBER_F64 || (!base_float && exponent_float) ||
      (base_float && !exponent_float && assay_dtype_bits(exponent) > 16)) {
    kind = NUMBER_F64;
  }
  if (run->node->opset < 7) {
    return binary_run(run, &kernels);
  }
  TRY(broadcast_output(run, 2));
  return binary_of(run, &kernels, run->inputs[0], run->inputs[1], kind, run->outputs[0]);
}

/* --- bits ------------------------------------------------------------------ */

#define BITS(name, kernel)                                                                                  \
  assay_status run_##name(struct op_run *run) {                                                             \
    struct binary_kernels kernels = {.i64 = run->kernels->i64_##kernel, .u64 = run->kernels->u64_##kernel}; \
    return binary_run(run, &kernels);                                                                       \
  }
BITS(and, and)
BITS(or, or)
BITS(xor, xor)

/* Left shifts keep the low bits, so that a wider computation stores right. */
assay_status run_bit_shift(struct op_run *run) {
  bool left = node_attribute_is(run->node, "direction", "LEFT", false);
  if (!left && !node_attribute_is(run->node, "direction", "RIGHT", false)) {
    return status_make(ASSAY_NODE_INVALID, NULL, "BitShift needs direction LEFT or RIGHT");
  }
  struct binary_kernels kernels = {.i64 = left ? run->kernels->i64_shift_left : run->kernels->i64_shift_right,
                                   .u64 = left ? run->kernels->u64_shift_left : run->kernels->u64_shift_right};
  return binary_run(run, &kernels);
}

static void not_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  (void)strides;
  for (int64_t i = 0; i < n; i++) {
    ((uint64_t *)out)[i] = ~((const uint64_t *)in[0])[i];
  }
}

static void logical_not_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  (void)strides;
  for (int64_t i = 0; i < n; i++) {
    ((uint8_t *)out)[i] = ((const uint8_t *)in[0])[i] == 0;
  }
}

static assay_status not_run(struct op_run *run, element_rows *rows, enum number_kind kind) {
  TRY(output_like(run, 0, run->inputs[0]));
  struct elementwise work = {.n_inputs = 1,
                             .inputs = {run->inputs[0]},
                             .kinds = {kind},
                             .output = run->outputs[0],
                             .output_kind = kind,
                             .rows = rows};
  elementwise_run(&work, run->pool);
  return status_ok();
}
assay_status run_bitwise_not(struct op_run *run) {
  return not_run(run, not_rows, number_kind_of(run->inputs[0]->dtype));
}
assay_status run_not(struct op_run *run) { return not_run(run, logical_not_rows, NUMBER_NONE); }

/* --- Min, Max, Sum, Mean of any number of inputs ---------------------------- */

/* Folds input after input into the output; the first is copied by broadcasting it against itself. */
static assay_status fold_inputs(struct op_run *run, const struct binary_kernels *kernels) {
  TRY(broadcast_output(run, run->node->n_inputs));
  assay_tensor *output = run->outputs[0];
  enum number_kind kind = number_kind_of(output->dtype);
  struct binary_kernels copy = {run->kernels->f32_min, run->kernels->f64_min, run->kernels->i64_min,
                                run->kernels->u64_min};
  int32_t n = run->node->n_inputs;
  if (n == 1) { /* the minimum of a number and itself is the number */
    return binary_of(run, &copy, run->inputs[0], run->inputs[0], kind, output);
  }
  TRY(binary_of(run, kernels, run->inputs[0], run->inputs[1], kind, output));
  for (int32_t i = 2; i < n; i++) {
    TRY(binary_of(run, kernels, output, run->inputs[i], kind, output));
  }
  return status_ok();
}

assay_status infer_fold(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, INT32_MAX, 1, 1));
  return infer_broadcast(infer);
}

assay_status run_min(struct op_run *run) {
  struct binary_kernels kernels = KERNELS_OF(min);
  return fold_inputs(run, &kernels);
}
assay_status run_max(struct op_run *run) {
  struct binary_kernels kernels = KERNELS_OF(max);
  return fold_inputs(run, &kernels);
}
assay_status run_sum(struct op_run *run) {
  struct binary_kernels kernels = KERNELS_OF(add);
  return fold_inputs(run, &kernels);
}

/* The sum divided by the number of inputs. */
assay_status run_mean(struct op_run *run) {
  TRY(run_sum(run));
  struct binary_kernels kernels = {.f32 = run->kernels->f32_div, .f64 = run->kernels->f64_div};
  double count = (double)run->node->n_inputs;
  assay_tensor divisor = {.dtype = ASSAY_FLOAT64, .rank = 0, .data = &count, .bytes = sizeof count};
  assay_tensor *output = run->outputs[0];
  return binary_of(run, &kernels, output, &divisor, number_kind_of(output->dtype), output);
}

/* --- SwiGLU: Swish(a) * b, by its body --------------------------------------- */

assay_status run_swiglu(struct op_run *run) {
  double alpha = (double)node_attribute_float(run->node, "alpha", 1.0F);
  TRY(unary_run(run, run->kernels->f32_swish, run->kernels->f64_swish, alpha, 0));
  struct binary_kernels kernels = KERNELS_OF(mul);
  assay_tensor *output = run->outputs[0];
  return binary_of(run, &kernels, output, run->inputs[1], number_kind_of(output->dtype), output);
}
