/* The tables of kernels, one a level, and the choice between them. */
#include "kernels/kernels.h"

/* Declarations of every kernel at every level. */
#define KERNEL_ROW(name, parameters) void name##_base parameters;
#include "kernels/kernels.inc"
#undef KERNEL_ROW
#if defined(__x86_64__)
#define KERNEL_ROW(name, parameters) void name##_avx2 parameters;
#include "kernels/kernels.inc"
#undef KERNEL_ROW
#define KERNEL_ROW(name, parameters) void name##_avx512 parameters;
#include "kernels/kernels.inc"
#undef KERNEL_ROW
#endif

static const struct kernels kernels_base = {
    .level = KERNEL_LEVEL_BASE,
#define KERNEL_ROW(name, parameters) .name = name##_base,
#include "kernels/kernels.inc"
#undef KERNEL_ROW
};

#if defined(__x86_64__)
static const struct kernels kernels_avx2 = {
    .level = KERNEL_LEVEL_AVX2,
#define KERNEL_ROW(name, parameters) .name = name##_avx2,
#include "kernels/kernels.inc"
#undef KERNEL_ROW
};
static const struct kernels kernels_avx512 = {
    .level = KERNEL_LEVEL_AVX512,
#define KERNEL_ROW(name, parameters) .name = name##_avx512,
#include "kernels/kernels.inc"
#undef KERNEL_ROW
};
#endif

const struct kernels *kernels_at(enum kernel_level level) {
  if (level == KERNEL_LEVEL_BASE) {
    return &kernels_base;
  }
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (level == KERNEL_LEVEL_AVX2 && avx2) {
    return &kernels_avx2;
  }
  if (level == KERNEL_LEVEL_AVX512 && avx512) {
    return &kernels_avx512;
  }
#endif
  return NULL;
}

const struct kernels *kernels_best(void) {
  for (int level = KERNEL_LEVEL_COUNT - 1; level > KERNEL_LEVEL_BASE; level--) {
    const struct kernels *kernels = kernels_at((enum kernel_level)level);
    if (kernels != NULL) {
      return kernels;
    }
  }
  return &kernels_base;
}

const char *kernel_level_name(enum kernel_level level) {
  static const char *const names[KERNEL_LEVEL_COUNT] = {"base", "avx2", "avx512"};
  return level < KERNEL_LEVEL_COUNT ? names[level] : "unknown";
}
