/* MatMul and Gemm. */
#include <stdlib.h>

#include "op_fixture.h"

void test_op_MatMul_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("MatMul", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 2, 3, 4, 5, 6));
  op_case_input(c, ASSAY_FLOAT32, DIMS(3, 2), F32(7, 8, 9, 10, 11, 12));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(58, 64, 139, 154));

  /* TF32 would answer 0 here (fault 23). */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2), F32(1.0f + 0x1p-12f, 1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 1), F32(4096, -4096));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1), F32(1));

  /* Vectors: rows on the left, columns on the right, and their axis vanishes. */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT64, DIMS(3), F64(1, 2, 3));
  op_case_input(c, ASSAY_FLOAT64, DIMS(3, 2), F64(7, 8, 9, 10, 11, 12));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(2), F64(58, 64));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 2, 3), F32(1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6));
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, 1, 2));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(9, 21, -9, -21));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, 2, 3));
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(4, 5, 6));
  op_case_expect(c, 0, ASSAY_FLOAT32, SCALAR, F32(32));

  /* Batches broadcast: [2,1] with [3] gives [2,3]. */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT32, DIMS(2, 1, 1, 2), I32(1, 2, 3, 4));
  op_case_input(c, ASSAY_INT32, DIMS(3, 2, 1), I32(1, 1, 10, 1, 1, 10));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2, 3, 1, 1), I32(3, 12, 21, 7, 34, 43));

  /* Nothing to add up is 0; no rows are no result. */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 0), EMPTY);
  op_case_input(c, ASSAY_FLOAT32, DIMS(0, 2), EMPTY);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(0, 0, 0, 0));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(0, 2), EMPTY);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 2), F32(1, 2, 3, 4));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(0, 2), EMPTY);

  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2), F32(1, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(3, 1), F32(1, 2, 3));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "they must be equal");
  op_case_free(c);
}

/* Large enough for several blocks of rows and of k, and for many threads. */
static void matmul_large(void) {
  enum { M = 201, K = 300, N = 133 };
  float *a = malloc(2 * M * K * sizeof *a), *b = malloc(K * N * sizeof *b), *y = malloc(2 * M * N * sizeof *y);
  op_fill_f32(a, 2 * M * K, 1);
  op_fill_f32(b, K * N, 2);
  for (int i = 0; i < 2 * M; i++) {
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) {
        sum = fmaf(a[i * K + k], b[k * N + j], sum);
      }
      y[i * N + j] = sum;
    }
  }
  struct op_case *c = op_case_new("MatMul", "", 9);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, M, K), a, 2 * M * K * sizeof *a);
  op_case_input(c, ASSAY_FLOAT32, DIMS(K, N), b, K * N * sizeof *b);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, M, N), y, 2 * M * N * sizeof *y);
  op_case_free(c);
  free(a);
  free(b);
  free(y);
}

void test_op_Gemm_7(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Gemm", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 2, 3, 4, 5, 6));
  op_case_input(c, ASSAY_FLOAT32, DIMS(3, 2), F32(7, 8, 9, 10, 11, 12));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(100, 200));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(158, 264, 239, 354));

  /* Both turned, both factors: round(alpha * acc) + round(beta * C). */
  op_case_clear_inputs(c);
  op_case_int(c, "transA", 1);
  op_case_int(c, "transB", 1);
  op_case_float(c, "alpha", 0.5f);
  op_case_float(c, "beta", -2.0f);
  op_case_input(c, ASSAY_FLOAT64, DIMS(3, 2), F64(1, 4, 2, 5, 3, 6));
  op_case_input(c, ASSAY_FLOAT64, DIMS(2, 3), F64(7, 9, 11, 8, 10, 12));
  op_case_input(c, ASSAY_FLOAT64, DIMS(2, 1), F64(1, 2));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(2, 2), F64(27, 30, 65.5, 73));
  op_case_free(c);

  /* C may be a scalar, a row, a matrix, or absent. The factors are rounded separately. */
  c = op_case_new("Gemm", "", 11);
  op_case_float(c, "alpha", 0.1f);
  op_case_float(c, "beta", 0.3f);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1), F32(7));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2), F32(3, 5));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(11));
  float left = 0.1f * 21.0f, right = 0.1f * 35.0f, bias = 0.3f * 11.0f;
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2), F32(left + bias, right + bias));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1), F32(7));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2), F32(3, 5));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2), F32(left, right));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 1), F32(1, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2), F32(3, 5));
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, 2, 3));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "cannot be broadcast");
  op_case_free(c);
  matmul_large();
}

/* Before opset 7 a C of another shape than the result's has to say broadcast=1. */
void test_op_Gemm_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Gemm", "", 6);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 1), F32(1, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2), F32(3, 5));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(100, 200));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "without broadcast=1");
  op_case_int(c, "broadcast", 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(103, 205, 106, 210));
  op_case_free(c);
}
