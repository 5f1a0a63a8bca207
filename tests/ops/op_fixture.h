/* Runs one operator without the engine, from tensors and attributes given in the test.
 *
 * Every check computes the answer over again at each kernel level that the processor has, with 1,
 * 2, 3 and 7 threads, and with the inputs known to the plan as constants and not: all must give the same bits.
 * So each test of an operator also tests that there is one answer.
 *
 *   void test_op_Relu_14(void **state) {
 *     (void)state;
 *     struct op_case *c = op_case_new("Relu", "", 14);
 *     op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(-1, 0, 2));
 *     op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(0, 0, 2));
 *     op_case_free(c);
 *   }
 */
#ifndef TESTS_OPS_OP_FIXTURE_H
#define TESTS_OPS_OP_FIXTURE_H

#include <math.h>
#include <string.h>

#include "ops/ops.h"
#include "support.h"

#define OPERATOR(name, domain, since, until, arithmetic, dtypes, dot_operands, infer, prepare, run) \
  void test_op_##name##_##since(void **state);
#include "ops/operators.inc"
#undef OPERATOR

/* Dimensions and values in place: DIMS(2, 3), SCALAR, F32(1, 2), … */
#define DIMS(...) (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define SCALAR NULL, 0
#define VALUES_(type, ...) (const void *)((const type[]){__VA_ARGS__}), sizeof((const type[]){__VA_ARGS__})
#define F32(...) VALUES_(float, __VA_ARGS__)
#define F64(...) VALUES_(double, __VA_ARGS__)
#define I8(...) VALUES_(int8_t, __VA_ARGS__)
#define U8(...) VALUES_(uint8_t, __VA_ARGS__)
#define I16(...) VALUES_(int16_t, __VA_ARGS__)
#define U16(...) VALUES_(uint16_t, __VA_ARGS__)
#define I32(...) VALUES_(int32_t, __VA_ARGS__)
#define U32(...) VALUES_(uint32_t, __VA_ARGS__)
#define I64(...) VALUES_(int64_t, __VA_ARGS__)
#define U64(...) VALUES_(uint64_t, __VA_ARGS__)
#define BOOL(...) VALUES_(uint8_t, __VA_ARGS__)
#define EMPTY NULL, (size_t)0

struct op_case;

struct op_case *op_case_new(const char *op, const char *domain, int64_t opset);
void op_case_free(struct op_case *c);

/* Inputs in order. The values are copied. */
void op_case_input(struct op_case *c, assay_dtype dtype, const int64_t *dims, int rank, const void *values,
                   size_t bytes);
void op_case_absent(struct op_case *c);
/* How many outputs the node has; 1 unless said otherwise. */
void op_case_outputs(struct op_case *c, int n);
/* Takes out the inputs, so that others can be given; attributes stay. */
void op_case_clear_inputs(struct op_case *c);

/* The precision policy rounds operands to TF32 that the operator makes itself; those of the node are the test's own. */
void op_case_round_operands(struct op_case *c);

void op_case_int(struct op_case *c, const char *name, int64_t value);
void op_case_float(struct op_case *c, const char *name, float value);
void op_case_string(struct op_case *c, const char *name, const char *value);
void op_case_ints(struct op_case *c, const char *name, const int64_t *values, int n);
void op_case_floats(struct op_case *c, const char *name, const float *values, int n);
void op_case_strings(struct op_case *c, const char *name, const char *const *values, int n);
void op_case_tensor(struct op_case *c, const char *name, const assay_tensor *tensor);

/* Computes in every way and compares the ways. The tensor of output i is the case's, valid until its next change. */
const assay_tensor *op_case_output(struct op_case *c, int output);
/* Output i is exactly this: same dtype, shape, and bits (any NaN equals any NaN; -0 differs from 0). */
void op_case_expect(struct op_case *c, int output, assay_dtype dtype, const int64_t *dims, int rank, const void *values,
                    size_t bytes);
/* For float32 and float64: each element differs by at most `absolute` + `relative` * |expected|; a NaN only equals a
 * NaN. */
void op_case_expect_near(struct op_case *c, int output, assay_dtype dtype, const int64_t *dims, int rank,
                         const void *values, size_t bytes, double absolute, double relative);
/* Inferring, preparing or running fails with this code and a sentence that holds `part`. */
void op_case_fails(struct op_case *c, assay_code code, const char *part);

/* Numbers for larger tests: the same everywhere; uniform in [-1, 1] on a grid of 2^-20, and integers in [low, high]. */
void op_fill_f32(float *values, int64_t n, uint32_t seed);
void op_fill_f64(double *values, int64_t n, uint32_t seed);
int64_t op_random_int(uint32_t *seed, int64_t low, int64_t high);

#endif
