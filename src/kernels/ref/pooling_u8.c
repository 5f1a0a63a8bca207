/* Pooling of uint8_t: maxima alone. */
#include "kernels/ref/vector.h"

#define T uint8_t
#define NAME(what) KERNEL(u8_##what)
#define LOWEST 0
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define IS_NAN(x) ((void)(x), false)
#include "kernels/ref/pooling_body.h"
