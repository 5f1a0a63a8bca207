/* The table of kernels: how numbers are computed.
 *
 * kernels/ref/ holds the normative ones in plain C, compiled once for the
 * baseline processor and once each for AVX2+FMA and AVX-512; the table of the
 * best level that the processor has is chosen at run time. Every level gives the
 * same bits; kernels take raw pointers and sizes, know no tensors and no
 * operators, allocate nothing and cannot fail. Thread-safe: no state.
 *
 * Adding a kernel: one row in kernels.inc, one function in kernels/ref/
 * written as `void KERNEL(f32_relu)(...)`. */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/arguments.h"

enum kernel_level { KERNEL_LEVEL_BASE = 0, KERNEL_LEVEL_AVX2, KERNEL_LEVEL_AVX512, KERNEL_LEVEL_COUNT };

struct kernels {
  enum kernel_level level;
#define KERNEL_ROW(name, parameters) void(*name) parameters;
#include "kernels/kernels.inc"
#undef KERNEL_ROW
};

/* The best level that this processor runs. */
const struct kernels *kernels_best(void);
/* A given level; NULL when this processor or this build has it not. */
const struct kernels *kernels_at(enum kernel_level level);
const char *kernel_level_name(enum kernel_level level); /* "base", "avx2", "avx512" */

#endif
