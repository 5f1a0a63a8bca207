/* Pooling of int8_t: maxima alone. */
#include "kernels/ref/vector.h"

#define T int8_t
#define NAME(what) KERNEL(i8_##what)
#define LOWEST INT8_MIN
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define IS_NAN(x) ((void)(x), false)
#include "kernels/ref/pooling_body.h"
