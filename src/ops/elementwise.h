/* How operators run over elements: broadcasting of up to three inputs (ONNX Broadcasting.md), blocks converted to the
 * kind of number that the kernel takes, threads. The kernels get rows with a stride and know nothing of it. */
#ifndef OPS_ELEMENTWISE_H
#define OPS_ELEMENTWISE_H

#include "ops/numbers.h"
#include "ops/operators.h"

enum { ELEMENTWISE_INPUTS = 3 };

/* Computes n results from rows; in[i] starts the row of input i, whose elements lie strides[i] apart. */
typedef void element_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n);

struct elementwise {
  int n_inputs;
  const assay_tensor *inputs[ELEMENTWISE_INPUTS];
  enum number_kind kinds[ELEMENTWISE_INPUTS]; /* what rows takes */
  assay_tensor *output;
  enum number_kind output_kind; /* what rows gives; NUMBER_NONE for elements as they are stored */
  bool unsaturated;             /* ONNX's saturate=0 for 8-bit floats */
  element_rows *rows;
  const void *user;
};
/* Runs over the whole output. */
void elementwise_run(const struct elementwise *work, struct pool *pool);

/* Gives output 0 the broadcast shape of the inputs 0..n-1, unless the plan did. */
ASSAY_MUST_CHECK assay_status broadcast_output(struct op_run *run, int n_inputs);
/* Gives output i this shape unless it has it; its dtype is what the plan says. */
ASSAY_MUST_CHECK assay_status output_shape(struct op_run *run, int32_t output, const int64_t *dims, int rank);
ASSAY_MUST_CHECK assay_status output_like(struct op_run *run, int32_t output, const assay_tensor *input);

/* Ready-made: output 0 from one or two inputs. Missing kernels (NULL) are of kinds that the row's dtypes exclude. */
typedef void f32_unary(const float *x, float *y, int64_t n, const float *p);
typedef void f64_unary(const double *x, double *y, int64_t n, const double *p);
/* Output 0 from input 0, row by row in the kind that holds the input's dtype. */
ASSAY_MUST_CHECK assay_status unary_rows_run(struct op_run *run, element_rows *rows, const void *user);
ASSAY_MUST_CHECK assay_status unary_run(struct op_run *run, f32_unary *f32, f64_unary *f64, double p0, double p1);

#define BINARY_TYPE(name, type, result) \
  typedef void name(const type *a, int64_t sa, const type *b, int64_t sb, result *y, int64_t n)
BINARY_TYPE(f32_binary, float, float);
BINARY_TYPE(f64_binary, double, double);
BINARY_TYPE(i64_binary, int64_t, int64_t);
BINARY_TYPE(u64_binary, uint64_t, uint64_t);
BINARY_TYPE(f32_compare, float, uint8_t);
BINARY_TYPE(f64_compare, double, uint8_t);
BINARY_TYPE(i64_compare, int64_t, uint8_t);
BINARY_TYPE(u64_compare, uint64_t, uint8_t);

struct binary_kernels {
  f32_binary *f32;
  f64_binary *f64;
  i64_binary *i64;
  u64_binary *u64;
};
struct compare_kernels {
  f32_compare *f32;
  f64_compare *f64;
  i64_compare *i64;
  u64_compare *u64;
  bool swap; /* b against a */
};
/* output = f(a, b), both converted to `kind`; the output's dtype may be another. */
ASSAY_MUST_CHECK assay_status binary_of(struct op_run *run, const struct binary_kernels *kernels, const assay_tensor *a,
                                        const assay_tensor *b, enum number_kind kind, assay_tensor *output);
ASSAY_MUST_CHECK assay_status binary_run(struct op_run *run, const struct binary_kernels *kernels);
ASSAY_MUST_CHECK assay_status compare_run(struct op_run *run, const struct compare_kernels *kernels);

#endif
