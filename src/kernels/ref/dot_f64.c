/* Dot products in double precision: matrices and convolutions. No chain may ever be split. */
#include "kernels/ref/vector.h"

#define T double
#define NAME(what) KERNEL(f64_##what)
#define FMA(a, b, c) fma_f64(a, b, c)
#include "kernels/ref/gemm_body.h"
/* Needs what stands above. */
#include "kernels/ref/conv_body.h"
