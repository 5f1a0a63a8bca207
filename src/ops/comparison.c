/* Operators that answer with truth values, and the choice by one: comparisons, IsNaN, IsInf, And, Or, Xor, Where. */
#include <string.h>

#include "ops/elementwise.h"
#include "ops/infer_help.h"

#define COMPARISON(name, kernel, swapped)                                                               \
  assay_status run_##name(struct op_run *run) {                                                         \
    struct compare_kernels kernels = {run->kernels->f32_##kernel, run->kernels->f64_##kernel,           \
                                      run->kernels->i64_##kernel, run->kernels->u64_##kernel, swapped}; \
    return compare_run(run, &kernels);                                                                  \
  }
COMPARISON(less, less, false)
COMPARISON(less_equal, less_equal, false)
COMPARISON(greater, less, true)
COMPARISON(greater_equal, less_equal, true)

/* Strings are equal when their bytes are. */
static void equal_text_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  const assay_text *a = in[0], *b = in[1];
  for (int64_t i = 0; i < n; i++) {
    const assay_text *x = &a[i * strides[0]], *y = &b[i * strides[1]];
    ((uint8_t *)out)[i] = x->length == y->length && (x->length == 0 || memcmp(x->data, y->data, x->length) == 0);
  }
}

assay_status run_equal(struct op_run *run) {
  if (run->inputs[0]->dtype != ASSAY_STRING) {
    struct compare_kernels kernels = {run->kernels->f32_equal, run->kernels->f64_equal, run->kernels->i64_equal,
                                      run->kernels->u64_equal, false};
    return compare_run(run, &kernels);
  }
  TRY(broadcast_output(run, 2));
  struct elementwise work = {
      .n_inputs = 2, .inputs = {run->inputs[0], run->inputs[1]}, .output = run->outputs[0], .rows = equal_text_rows};
  elementwise_run(&work, run->pool);
  return status_ok();
}

/* --- IsNaN, IsInf ---------------------------------------------------------- */

assay_status infer_same_bool(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  infer_set_like(infer, 0, 0, ASSAY_BOOL);
  return status_ok();
}

static void is_nan_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  (void)strides;
  const double *x = in[0];
  for (int64_t i = 0; i < n; i++) {
    ((uint8_t *)out)[i] = x[i] != x[i];
  }
}

struct which_infinity {
  bool positive, negative;
};

static void is_inf_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)strides;
  const struct which_infinity *which = user;
  const double *x = in[0], infinity = __builtin_inf();
  for (int64_t i = 0; i < n; i++) {
    ((uint8_t *)out)[i] = (which->positive && x[i] == infinity) || (which->negative && x[i] == -infinity);
  }
}

/* All floats are looked at as double, which keeps NaN and Inf. */
static assay_status test_run(struct op_run *run, element_rows *rows, const void *user) {
  TRY(output_like(run, 0, run->inputs[0]));
  struct elementwise work = {.n_inputs = 1,
                             .inputs = {run->inputs[0]},
                             .kinds = {NUMBER_F64},
                             .output = run->outputs[0],
                             .output_kind = NUMBER_NONE,
                             .rows = rows,
                             .user = user};
  elementwise_run(&work, run->pool);
  return status_ok();
}

assay_status run_is_nan(struct op_run *run) { return test_run(run, is_nan_rows, NULL); }
assay_status run_is_inf(struct op_run *run) {
  struct which_infinity which = {node_attribute_int(run->node, "detect_positive", 1) != 0,
                                 node_attribute_int(run->node, "detect_negative", 1) != 0};
  return test_run(run, is_inf_rows, &which);
}

/* --- Where ------------------------------------------------------------------ */

assay_status infer_where(struct infer *infer) {
  TRY(infer_want_counts(infer, 3, 3, 1, 1));
  for (int32_t i = 0; i < 3; i++) {
    TRY(infer_want(infer, i, 0, ASSAY_RANK_MAX));
  }
  TRY(infer_want_same_dtype(infer, 1, 2));
  const struct infer_value *x = infer->inputs[1], *y = infer->inputs[2];
  struct value_type type;
  TRY(type_broadcast(&infer->inputs[0]->type, &x->type, &type));
  TRY(type_broadcast(&type, &y->type, &type));
  infer_set(infer, 0, x->type.dtype != ASSAY_UNDEFINED ? x->type.dtype : y->type.dtype, type.rank, type.dims);
  return status_ok();
}

#define CHOOSE(type)                                                                           \
  for (int64_t i = 0; i < n; i++) {                                                            \
    ((type *)out)[i] = condition[i * strides[0]] != 0 ? ((const type *)in[1])[i * strides[1]]  \
                                                      : ((const type *)in[2])[i * strides[2]]; \
  }                                                                                            \
  break

/* Bits are moved, whatever they mean; user points to the size of an element. */
static void where_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  const uint8_t *condition = in[0];
  size_t size = *(const size_t *)user;
  switch (size) {
    case 1:
      CHOOSE(uint8_t);
    case 2:
      CHOOSE(uint16_t);
    case 4:
      CHOOSE(uint32_t);
    case 8:
      CHOOSE(uint64_t);
    default:
      for (int64_t i = 0; i < n; i++) {
        const char *from = condition[i * strides[0]] != 0 ? (const char *)in[1] + (size_t)(i * strides[1]) * size
                                                          : (const char *)in[2] + (size_t)(i * strides[2]) * size;
        memcpy((char *)out + (size_t)i * size, from, size);
      }
      break;
  }
}

assay_status run_where(struct op_run *run) {
  TRY(broadcast_output(run, 3));
  size_t size = assay_dtype_bits(run->inputs[1]->dtype) / 8;
  struct elementwise work = {.n_inputs = 3,
                             .inputs = {run->inputs[0], run->inputs[1], run->inputs[2]},
                             .output = run->outputs[0],
                             .rows = where_rows,
                             .user = &size};
  elementwise_run(&work, run->pool);
  return status_ok();
}
