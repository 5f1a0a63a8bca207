/* Operators of one number: exact ones, elementary functions and activations. What each computes stands in
 * kernels/ref/unary.c; this file reads the attributes, whose defaults are those of the specification. */
#include "ops/elementwise.h"

#define PLAIN(name)                                                                  \
  assay_status run_##name(struct op_run *run) {                                      \
    return unary_run(run, run->kernels->f32_##name, run->kernels->f64_##name, 0, 0); \
  }
PLAIN(floor)
PLAIN(ceil)
PLAIN(round)
PLAIN(sqrt)
PLAIN(reciprocal)
PLAIN(exp)
PLAIN(log)
PLAIN(sin)
PLAIN(cos)
PLAIN(tan)
PLAIN(asin)
PLAIN(acos)
PLAIN(atan)
PLAIN(sinh)
PLAIN(cosh)
PLAIN(tanh)
PLAIN(asinh)
PLAIN(acosh)
PLAIN(atanh)
PLAIN(erf)
PLAIN(sigmoid)
PLAIN(softplus)
PLAIN(softsign)
PLAIN(mish)

/* --- those that integers have too ---------------------------------------- */

/* Unsigned numbers are their own magnitude. */
static void abs_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  (void)strides;
  const int64_t *x = in[0];
  for (int64_t i = 0; i < n; i++) {
    ((uint64_t *)out)[i] = x[i] < 0 ? 0 - (uint64_t)x[i] : (uint64_t)x[i];
  }
}

static void neg_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  (void)strides;
  for (int64_t i = 0; i < n; i++) {
    ((uint64_t *)out)[i] = 0 - ((const uint64_t *)in[0])[i];
  }
}

static void sign_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  (void)strides;
  const int64_t *x = in[0];
  for (int64_t i = 0; i < n; i++) {
    ((int64_t *)out)[i] = (x[i] > 0) - (x[i] < 0);
  }
}

static void sign_rows_unsigned(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  (void)strides;
  for (int64_t i = 0; i < n; i++) {
    ((uint64_t *)out)[i] = ((const uint64_t *)in[0])[i] != 0;
  }
}

static void same_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  (void)strides;
  for (int64_t i = 0; i < n; i++) {
    ((uint64_t *)out)[i] = ((const uint64_t *)in[0])[i];
  }
}

static void relu_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  (void)strides;
  const int64_t *x = in[0];
  for (int64_t i = 0; i < n; i++) {
    ((int64_t *)out)[i] = x[i] > 0 ? x[i] : 0;
  }
}

/* Runs a function of integers; those that the floats have besides go through unary_run. */
static assay_status integer_run(struct op_run *run, element_rows *rows_signed, element_rows *rows_unsigned) {
  bool is_unsigned = number_kind_of(run->inputs[0]->dtype) == NUMBER_U64;
  return unary_rows_run(run, is_unsigned ? rows_unsigned : rows_signed, NULL);
}

#define WITH_INTEGERS(name, rows_signed, rows_unsigned)                                   \
  assay_status run_##name(struct op_run *run) {                                           \
    return dtype_is_float(run->inputs[0]->dtype)                                          \
               ? unary_run(run, run->kernels->f32_##name, run->kernels->f64_##name, 0, 0) \
               : integer_run(run, rows_signed, rows_unsigned);                            \
  }
WITH_INTEGERS(abs, abs_rows, same_rows)
WITH_INTEGERS(neg, neg_rows, neg_rows)
WITH_INTEGERS(sign, sign_rows, sign_rows_unsigned)
WITH_INTEGERS(relu, relu_rows, same_rows)

/* --- activations with parameters ----------------------------------------- */

static double attribute(const struct op_run *run, const char *name, float otherwise) {
  return (double)node_attribute_float(run->node, name, otherwise);
}

#define WITH_PARAMETERS(name, p0, p1)                                                  \
  assay_status run_##name(struct op_run *run) {                                        \
    return unary_run(run, run->kernels->f32_##name, run->kernels->f64_##name, p0, p1); \
  }
WITH_PARAMETERS(leaky_relu, attribute(run, "alpha", 0.01F), 0)
WITH_PARAMETERS(thresholded_relu, attribute(run, "alpha", 1.0F), 0)
WITH_PARAMETERS(elu, attribute(run, "alpha", 1.0F), 0)
WITH_PARAMETERS(celu, attribute(run, "alpha", 1.0F), 0)
WITH_PARAMETERS(selu, attribute(run, "alpha", run->node->opset < 6 ? 1.6732F : 1.67326319217681884765625F),
                attribute(run, "gamma", run->node->opset < 6 ? 1.0507F : 1.05070102214813232421875F))
WITH_PARAMETERS(hard_sigmoid, attribute(run, "alpha", 0.2F), attribute(run, "beta", 0.5F))
/* The body calls HardSigmoid with alpha = 1/6, as a float, and beta = 0.5. */
WITH_PARAMETERS(hard_swish, (double)(1.0F / 6.0F), 0.5)
WITH_PARAMETERS(swish, attribute(run, "alpha", 1.0F), 0)
WITH_PARAMETERS(shrink, attribute(run, "lambd", 0.5F), attribute(run, "bias", 0.0F))

assay_status run_gelu(struct op_run *run) {
  if (node_attribute_is(run->node, "approximate", "tanh", false)) {
    /* The body's constants are floats; the root of the first is taken in the tensor's type. */
    return unary_run(run, run->kernels->f32_gelu_tanh, run->kernels->f64_gelu_tanh,
                     __builtin_sqrt((double)0.636619772367581343076F), (double)0.044715F);
  }
  return unary_run(run, run->kernels->f32_gelu, run->kernels->f64_gelu, 0, 0);
}
