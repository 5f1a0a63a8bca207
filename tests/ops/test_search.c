/* ArgMax, ArgMin, TopK and the running sums: ties (fault 27), NaN, axes, both kinds of k. */
#include <stdlib.h>

#include "op_fixture.h"

#define INF INFINITY

void test_op_ArgMax_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("ArgMax", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 3, 3, -INF, NAN, 5));
  op_case_int(c, "axis", 1);
  op_case_expect(c, 0, ASSAY_INT64, DIMS(2, 1), I64(1, 1));
  op_case_int(c, "select_last_index", 1);
  op_case_expect(c, 0, ASSAY_INT64, DIMS(2, 1), I64(2, 1));
  op_case_int(c, "keepdims", 0);
  op_case_int(c, "axis", -2);
  op_case_expect(c, 0, ASSAY_INT64, DIMS(3), I64(0, 1, 1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 1.0001F));
  op_case_int(c, "axis", 0);
  op_case_int(c, "select_last_index", 0);
  op_case_expect(c, 0, ASSAY_INT64, SCALAR, I64(1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT16, DIMS(2), U16(0x3C00, 0x3C00)); /* the same numbers as float16 */
  op_case_expect(c, 0, ASSAY_INT64, SCALAR, I64(0));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(-0.0F, 0)); /* equal */
  op_case_expect(c, 0, ASSAY_INT64, SCALAR, I64(0));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT64, DIMS(2), U64(1, UINT64_MAX));
  op_case_expect(c, 0, ASSAY_INT64, SCALAR, I64(1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(0), EMPTY);
  op_case_fails(c, ASSAY_NODE_VALUE, "over no elements");
  op_case_free(c);
}

void test_op_ArgMin_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("ArgMin", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 1, 3, -INF, NAN, NAN));
  op_case_int(c, "axis", 1);
  op_case_expect(c, 0, ASSAY_INT64, DIMS(2, 1), I64(0, 1));
  op_case_int(c, "select_last_index", 1);
  op_case_expect(c, 0, ASSAY_INT64, DIMS(2, 1), I64(1, 2));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT8, DIMS(1, 3), I8(5, -128, -128));
  op_case_expect(c, 0, ASSAY_INT64, DIMS(1, 1), I64(2));
  op_case_free(c);
}

/* Until opset 9, k is an attribute. */
void test_op_TopK_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("TopK", "", 9);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 4), F32(2, 3, 3, 1));
  op_case_outputs(c, 2);
  op_case_int(c, "k", 2);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2), F32(3, 3));
  op_case_expect(c, 1, ASSAY_INT64, DIMS(1, 2), I64(1, 2));
  op_case_free(c);
}

/* A row large enough to need the heap, against sorting. */
static const float *sorted_values;
static int by_value_then_index(const void *a, const void *b) {
  int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
  if (sorted_values[i] != sorted_values[j]) {
    return sorted_values[i] > sorted_values[j] ? -1 : 1;
  }
  return i < j ? -1 : 1;
}

static void long_row(int64_t k) {
  enum { LENGTH = 1000 };
  static float x[LENGTH], values[LENGTH];
  static int64_t order[LENGTH];
  uint32_t seed = 5;
  for (int i = 0; i < LENGTH; i++) {
    x[i] = (float)op_random_int(&seed, -100, 100); /* many ties */
    order[i] = i;
  }
  sorted_values = x;
  qsort(order, LENGTH, sizeof *order, by_value_then_index);
  for (int64_t i = 0; i < k; i++) {
    values[i] = x[order[i]];
  }
  struct op_case *c = op_case_new("TopK", "", 11);
  op_case_input(c, ASSAY_FLOAT32, DIMS(LENGTH), x, sizeof x);
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(k));
  op_case_outputs(c, 2);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(k), values, (size_t)k * sizeof *values);
  op_case_expect(c, 1, ASSAY_INT64, DIMS(k), order, (size_t)k * sizeof *order);
  op_case_free(c);
}

void test_op_TopK_10(void **state) {
  (void)state;
  struct op_case *c = op_case_new("TopK", "", 11);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, -0.0F, 0, NAN, 7, 7));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(2));
  op_case_outputs(c, 2);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(1, -0.0F, NAN, 7));
  op_case_expect(c, 1, ASSAY_INT64, DIMS(2, 2), I64(0, 1, 0, 1));
  op_case_int(c, "largest", 0);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(-0.0F, 0, 7, 7));
  op_case_expect(c, 1, ASSAY_INT64, DIMS(2, 2), I64(1, 2, 1, 2));
  op_case_int(c, "axis", 0);
  op_case_expect(c, 1, ASSAY_INT64, DIMS(2, 3), I64(0, 0, 0, 1, 1, 1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT64, DIMS(3), I64(INT64_MIN, 4, INT64_MAX));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(3));
  op_case_expect(c, 1, ASSAY_INT64, DIMS(3), I64(0, 1, 2));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, 2, 3));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(4));
  op_case_fails(c, ASSAY_NODE_VALUE, "asks for 4 of 3");
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, 2, 3));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(-1));
  op_case_fails(c, ASSAY_NODE_VALUE, "-1");
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, 2, 3));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(0));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(0), EMPTY);
  op_case_free(c);
  long_row(1);
  long_row(10);
  long_row(999);
  long_row(1000);
}

void test_op_CumSum_11(void **state) {
  (void)state;
  struct op_case *c = op_case_new("CumSum", "", 14);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(-0.0F, 2, 3, 4, NAN, 6));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 3), F32(-0.0F, 2, 5, 4, NAN, NAN));
  op_case_int(c, "reverse", 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 3), F32(5, 5, 3, NAN, NAN, 6));
  op_case_int(c, "exclusive", 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 3), F32(5, 3, 0, NAN, 6, 0));
  op_case_int(c, "reverse", 0);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 3), F32(0, -0.0F, 2, 0, 4, NAN));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT32, DIMS(2, 2), I32(1, 2, INT32_MAX, 4));
  op_case_input(c, ASSAY_INT32, SCALAR, I32(-2));
  op_case_int(c, "exclusive", 0);
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2, 2), I32(1, 2, INT32_MIN, 6));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 2));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(1));
  op_case_fails(c, ASSAY_NODE_INVALID, "axis is 1");
  op_case_free(c);
}

void test_op_CumProd_26(void **state) {
  (void)state;
  struct op_case *c = op_case_new("CumProd", "", 26);
  op_case_input(c, ASSAY_FLOAT64, DIMS(4), F64(1, 2, 3, 4));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(0));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(4), F64(1, 2, 6, 24));
  op_case_int(c, "exclusive", 1);
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(4), F64(1, 1, 2, 6));
  op_case_int(c, "reverse", 1);
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(4), F64(24, 12, 4, 1));
  op_case_free(c);
}
