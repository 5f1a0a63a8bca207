/* Vectors of the width that this level has, in the compilers' own vector type. Every lane is one output element: an
 * operation on vectors is the same operation on each lane, so no result depends on the width. */
#ifndef KERNELS_REF_VECTOR_H
#define KERNELS_REF_VECTOR_H

#include "kernels/ref/fma.h"
#include "kernels/ref/level.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
