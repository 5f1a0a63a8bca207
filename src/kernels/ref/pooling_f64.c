/* Pooling of doubles. An average adds over 16 lanes, never in another order. */
#include "kernels/ref/elementary.h"
#include "kernels/ref/vector.h"

#define T double
#define NAME(what) KERNEL(f64_##what)
#define LOWEST (-__builtin_inf())
#define LARGER(a, b) max_f64(a, b)
#define IS_NAN(x) ((x) != (x))
#define POWER(x, y) pow_f64(x, y)
#define ROOT(x) __builtin_sqrt(x)
#define POOLING_SUMS
#include "kernels/ref/pooling_body.h"
