/* Argument blocks of the larger kernels. Pointers are to dense values; strides
 * count elements. A kernel states in a comment which ranges it computes, so
 * that a thread pool can share the outputs. */
#ifndef KERNELS_ARGUMENTS_H
#define KERNELS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- dot products (kernels/ref/gemm_body.h, conv_body.h) ----------------- */
enum {
  GEMM_UNIT = 32,          /* columns that threads share out by, and to which packed b is rounded up */
  GEMM_ROW_UNIT = 24,      /* rows of packed a that threads share out by */
  GEMM_BLOCK_K = 256,      /* k that goes through the cache together */
  GEMM_BLOCK_ROWS = 192,   /* rows of a that do */
  CONV_CHUNK_UNITS = 4,    /* units of output positions that are gathered together */
  CONV_DIRECT_FILTERS = 4, /* with so many filters or fewer nothing is gathered */
  CONV_DIRECT_UNITS = 64   /* units of output positions that then stay in the cache */
};

static inline int64_t gemm_units(int64_t n) { return n / GEMM_UNIT + (n % GEMM_UNIT != 0); }
/* Elements of packed b (k x n), of packed a (m x k), and of the scratch of one call of gemm or conv. */
static inline int64_t gemm_packed_b(int64_t k, int64_t n) { return gemm_units(n) * GEMM_UNIT * k; }
static inline int64_t gemm_packed_a(int64_t m, int64_t k) {
  return (m + GEMM_ROW_UNIT - 1) / GEMM_ROW_UNIT * GEMM_ROW_UNIT * k;
}
static inline int64_t gemm_scratch(void) { return (int64_t)GEMM_BLOCK_ROWS * GEMM_BLOCK_K; }

/* c (m x n) = round(alpha * sum over k of a * b) + round(beta * bias). Strides count elements. */
struct gemm_arguments {
  int64_t m, n, k;
  const void *a; /* element (i, p) at i * a_row + p * a_column */
  int64_t a_row, a_column;
  const void *packed_b; /* by pack_b, all units */
  void *c;              /* element (i, j) at i * c_row + j */
  int64_t c_row;
  bool scaled;      /* alpha is not 1 */
  const void *bias; /* NULL for none; element (i, j) at i * bias_row + j * bias_column */
  bool bias_scaled; /* beta is not 1 */
  int64_t bias_row, bias_column;
  double alpha, beta; /* rounded to the type */
};

/* One image and one group of a convolution over three axes (missing ones have size 1). y[m][position] = sum over
 * (channel, tap of axis 0, 1, 2), taps without an input skipped, of w * x; then + bias[m]. */
struct conv_arguments {
  int64_t filters, channels; /* of the group */
  int64_t in[3], out[3], kernel[3];
  const int32_t *map[3]; /* map[axis][tap * out[axis] + position]: the input's index, -1 for a tap without one */
  int64_t step; /* along axis 2: inputs of one tap at neighbouring outputs are this far apart; 0 for irregular */
  bool skips;   /* some tap of some output has no input, and that is not the same as a 0 */
  bool weights_finite;
  const void *x;        /* channels x in */
  const void *packed_w; /* by pack_a: filters x (channel, taps) */
  const void *bias;     /* NULL for none */
  void *y;              /* filters x out */
};

/* --- pooling (kernels/ref/pooling_body.h) --------------------------------- */

/* Planes of an image over three axes (missing ones have size 1), one output a window. A kernel computes planes
 * begin..end. Taps outside the input are skipped. */
struct pooling_arguments {
  int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3], pad_end[3];
  const void *x;
  void *y;
  int64_t *indices;   /* max_pool: where each maximum stands in x; NULL for not wanted */
  bool column_major;  /* max_pool: indices count the first axis fastest within a plane */
  bool count_padding; /* sum_pool: an average divides by taps in the padding too */
  int64_t power;      /* sum_pool: 0 for an average, p for (sum of |x|^p)^(1/p) */
};

#endif
