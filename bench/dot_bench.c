/* Times assay's dot products beside OpenBLAS, where that can be loaded: dot_bench [libopenblas.so.0].
 * One thread, processor time, the fastest of several rounds; both sides compute the same product in the same order of
 * memory. It must not be linked with any BLAS, so that it runs where there is none. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/memory.h"
#include "ops/conv.h"

enum { ROUNDS = 15, ROW_MAJOR = 101, NOT_TURNED = 111, TURNED = 112 };
static const double round_seconds = 0.02;

/* The two functions of OpenBLAS that are timed, NULL without it. */
struct peer {
  void (*sgemm)(int order, int a_turned, int b_turned, int m, int n, int k, float alpha, const float *a, int lda,
                const float *b, int ldb, float beta, float *c, int ldc);
  char *(*version)(void);
};

static struct peer peer_open(const char *name) {
  struct peer peer = {0};
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  void (*set_threads)(int) = NULL;
  if (library == NULL) {
    return peer;
  }
  /* POSIX's way of making a function pointer out of what dlsym answers. */
  *(void **)(void *)&peer.sgemm = dlsym(library, "cblas_sgemm");
  *(void **)(void *)&peer.version = dlsym(library, "openblas_get_config");
  *(void **)(void *)&set_threads = dlsym(library, "openblas_set_num_threads");
  if (set_threads != NULL) {
    set_threads(1);
  }
  return peer;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static float *numbers(int64_t n) {
  float *p = memory_alloc_aligned((size_t)n * sizeof *p);
  for (int64_t i = 0; p != NULL && i < n; i++) {
    p[i] = (float)(i % 17) / 17.0f - 0.5f;
  }
  if (p == NULL) {
    fputs("dot_bench: out of memory\n", stderr);
    exit(1);
  }
  return p;
}

/* The fastest time of one call of work(argument). */
static double fastest(void (*work)(void *), void *argument) {
  double best = INFINITY;
  for (int i = 0; i < ROUNDS; i++) {
    double start = now(), spent;
    int64_t calls = 0;
    do {
      work(argument);
      calls++;
      spent = now() - start;
    } while (spent < round_seconds);
    best = fmin(best, spent / (double)calls);
  }
  return best;
}

/* --- matrices ------------------------------------------------------------ */

struct gemm_trial {
  const struct kernels *kernels;
  const struct peer *peer;
  struct gemm_arguments g;
  const float *weights; /* n x k, as torch.nn.Linear keeps them */
  void *scratch;
};

static void gemm_ours(void *argument) {
  struct gemm_trial *t = argument;
  t->kernels->f32_gemm(&t->g, 0, t->g.m, 0, gemm_units(t->g.n), t->scratch);
}

static void gemm_theirs(void *argument) {
  struct gemm_trial *t = argument;
  int m = (int)t->g.m, n = (int)t->g.n, k = (int)t->g.k;
  t->peer->sgemm(ROW_MAJOR, NOT_TURNED, TURNED, m, n, k, 1.0f, t->g.a, k, t->weights, k, 0.0f, t->g.c, n);
}

static void time_gemm(const struct kernels *kernels, const struct peer *peer, int64_t m, int64_t n, int64_t k) {
  float *a = numbers(m * k), *w = numbers(k * n), *c = numbers(m * n), *packed = numbers(gemm_packed_b(k, n));
  float *scratch = numbers(gemm_scratch());
  kernels->f32_pack_b(w, 1, k, k, n, 0, gemm_units(n), packed);
  struct gemm_arguments g = {
      .m = m, .n = n, .k = k, .a = a, .a_row = k, .a_column = 1, .packed_b = packed, .c = c, .c_row = n};
  struct gemm_trial t = {kernels, peer, g, w, scratch};
  double flops = 2.0 * (double)m * (double)n * (double)k, ours = fastest(gemm_ours, &t);
  printf("| gemm %4lld x %4lld x %4lld | %s | %8.3f | %6.1f |", (long long)m, (long long)n, (long long)k,
         kernel_level_name(kernels->level), ours * 1e3, flops / ours * 1e-9);
  if (peer->sgemm != NULL) {
    double theirs = fastest(gemm_theirs, &t);
    printf(" %8.3f | %6.1f | %.2f |\n", theirs * 1e3, flops / theirs * 1e-9, theirs / ours);
  } else {
    puts(" | | |");
  }
  memory_free(a);
  memory_free(w);
  memory_free(c);
  memory_free(packed);
  memory_free(scratch);
}

/* --- convolutions -------------------------------------------------------- */

struct conv_trial {
  struct dot_kernels kernels;
  struct conv conv;
  const float *x, *bias;
  float *y, *scratch;
};

static void conv_ours(void *argument) {
  struct conv_trial *t = argument;
  conv_run(&t->kernels, NULL, &t->conv, t->x, t->bias, t->y, t->scratch);
}

struct conv_shape {
  const char *what;
  int64_t filters, channels, groups, size_y, size_x, kernel, stride;
};

static void time_conv(const struct kernels *kernels, const struct conv_shape *s) {
  struct conv_trial t = {0};
  int64_t pad = s->kernel / 2, in[3] = {1, s->size_y, s->size_x};
  if (!dot_kernels_find(kernels, ASSAY_FLOAT32, &t.kernels)) {
    return;
  }
  t.conv = (struct conv){.images = 1,
                         .groups = s->groups,
                         .filters = s->filters / s->groups,
                         .channels = s->channels / s->groups,
                         .weights_finite = true};
  for (int axis = 0; axis < WINDOW_AXES; axis++) {
    struct window *w = &t.conv.window;
    w->in[axis] = in[axis];
    w->kernel[axis] = axis == 0 ? 1 : s->kernel;
    w->stride[axis] = axis == 0 ? 1 : s->stride;
    w->dilation[axis] = 1;
    w->pad_begin[axis] = w->pad_end[axis] = axis == 0 ? 0 : pad;
    w->out[axis] = (in[axis] + 2 * w->pad_begin[axis] - w->kernel[axis]) / w->stride[axis] + 1;
  }
  conv_flatten(&t.conv);
  size_t map_bytes = 0, packed_bytes = 0;
  assay_status status = conv_map_bytes(&t.conv.window, &map_bytes);
  if (assay_status_ok(status)) {
    status = conv_packed_bytes(&t.kernels, &t.conv, &packed_bytes);
  }
  if (!assay_status_ok(status)) {
    fprintf(stderr, "dot_bench: %s\n", assay_status_sentence(status));
    assay_status_clear(&status);
    return;
  }
  int64_t area = window_area(t.conv.window.out), weights = s->filters * t.conv.channels * s->kernel * s->kernel;
  float *x = numbers(s->channels * s->size_y * s->size_x), *w = numbers(weights), *bias = numbers(s->filters);
  float *maps = numbers((int64_t)map_bytes), *packed = numbers((int64_t)packed_bytes / 4);
  t.x = x, t.bias = bias, t.y = numbers(s->filters * area), t.scratch = numbers(gemm_scratch());
  conv_map(&t.conv, maps);
  conv_pack(&t.kernels, &t.conv, w, packed);
  t.conv.packed = packed;
  double flops = 2.0 * (double)weights * (double)area, ours = fastest(conv_ours, &t);
  printf("| conv %s | %s | %8.3f | %6.1f | | | |\n", s->what, kernel_level_name(kernels->level), ours * 1e3,
         flops / ours * 1e-9);
  memory_free(x);
  memory_free(w);
  memory_free(bias);
  memory_free(maps);
  memory_free(packed);
  memory_free(t.y);
  memory_free(t.scratch);
}

int main(int argc, char **argv) {
  static const int64_t gemms[][3] = {{768, 768, 768}, {82, 512, 512}, {82, 3200, 512}, {82, 512, 3200},
                                     {50, 512, 512},  {8, 512, 512},  {2, 512, 512},   {1, 512, 512},
                                     {1, 256, 512},   {1, 128, 256},  {1, 512, 3200}};
  static const struct conv_shape convs[] = {
      {"7x7/2, 3 to 64, 240x320", 64, 3, 1, 240, 320, 7, 2},   {"3x3, 64 to 64, 60x80", 64, 64, 1, 60, 80, 3, 1},
      {"3x3/2, 64 to 128, 60x80", 128, 64, 1, 60, 80, 3, 2},   {"3x3, 128 to 128, 30x40", 128, 128, 1, 30, 40, 3, 1},
      {"3x3, 256 to 256, 15x20", 256, 256, 1, 15, 20, 3, 1},   {"3x3, 512 to 512, 8x10", 512, 512, 1, 8, 10, 3, 1},
      {"1x1, 64 to 64, 60x80", 64, 64, 1, 60, 80, 1, 1},       {"3x3, depthwise 64, 60x80", 64, 64, 64, 60, 80, 3, 1},
      {"1x1/2, 256 to 512, 15x20", 512, 256, 1, 15, 20, 1, 2},
  };
  struct peer peer = peer_open(argc > 1 ? argv[1] : "libopenblas.so.0");
  printf("peer: %s\n\n", peer.version != NULL ? peer.version() : "OpenBLAS was not found");
  puts(
      "| what | level | assay, ms | GFLOP/s | OpenBLAS, ms | GFLOP/s | times as fast |\n|---|---|---|---|---|---|---|");
  for (int level = KERNEL_LEVEL_COUNT - 1; level > KERNEL_LEVEL_BASE; level--) {
    const struct kernels *kernels = kernels_at((enum kernel_level)level);
    for (size_t i = 0; kernels != NULL && i < sizeof gemms / sizeof *gemms; i++) {
      time_gemm(kernels, &peer, gemms[i][0], gemms[i][1], gemms[i][2]);
    }
    for (size_t i = 0; kernels != NULL && i < sizeof convs / sizeof *convs; i++) {
      time_conv(kernels, &convs[i]);
    }
  }
  return 0;
}
