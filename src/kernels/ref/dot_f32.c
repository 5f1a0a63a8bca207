/* Dot products in single precision: matrices and convolutions. No chain may ever be split. */
#include "kernels/ref/vector.h"

#define T float
#define NAME(what) KERNEL(f32_##what)
#define FMA(a, b, c) fma_f32(a, b, c)
#include "kernels/ref/gemm_body.h"
/* Needs what stands above. */
#include "kernels/ref/conv_body.h"
