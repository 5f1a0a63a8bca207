/* Names of kernels at the level that this file is being compiled for:
 * KERNEL(f32_relu) is f32_relu_base, f32_relu_avx2 or f32_relu_avx512. */
#ifndef KERNELS_REF_LEVEL_H
#define KERNELS_REF_LEVEL_H

#include "kernels/arguments.h"

#define KERNEL_PASTE_(name, level) name##_##level
#define KERNEL_PASTE(name, level) KERNEL_PASTE_(name, level)
#define KERNEL(name) KERNEL_PASTE(name, KERNEL_LEVEL)

/* Prototypes of this level's kernels, so that each definition is checked against the table. */
#define KERNEL_ROW(name, parameters) void KERNEL(name) parameters;
#include "kernels/kernels.inc"
#undef KERNEL_ROW

#endif
