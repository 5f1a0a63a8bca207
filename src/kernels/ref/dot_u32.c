/* Dot products of integers of 32 bits, modulo 2^32: what ConvInteger and MatMulInteger add up, exactly while it fits.
 */
#include "kernels/ref/vector.h"

#define T uint32_t
#define NAME(what) KERNEL(u32_##what)
#include "kernels/ref/gemm_body.h"
/* Needs what stands above. */
#include "kernels/ref/conv_body.h"
