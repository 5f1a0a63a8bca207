/* Placeholder until the first kernel stands here. */
#include "kernels/ref/level.h"
