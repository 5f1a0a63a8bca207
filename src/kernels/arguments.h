/* Argument blocks of the larger kernels. Pointers are to dense values; strides
 * count elements. A kernel states in a comment which ranges it computes, so
 * that a thread pool can share the outputs. */
#ifndef KERNELS_ARGUMENTS_H
#define KERNELS_ARGUMENTS_H

#include <stdint.h>

#endif
