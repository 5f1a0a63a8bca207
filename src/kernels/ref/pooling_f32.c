/* Pooling of floats. An average adds over 16 lanes, never in another order. */
#include "kernels/ref/elementary.h"
#include "kernels/ref/vector.h"

#define T float
#define NAME(what) KERNEL(f32_##what)
#define LOWEST (-__builtin_inff())
#define LARGER(a, b) max_f32(a, b)
#define IS_NAN(x) ((x) != (x))
#define POWER(x, y) pow_f32(x, y)
#define ROOT(x) __builtin_sqrtf(x)
#define POOLING_SUMS
#include "kernels/ref/pooling_body.h"
