/* Packing and multiplying matrices of one type. Included once a type, with
 *   T            the type of the elements and of the accumulators
 *   NAME(what)   the kernel's name, such as KERNEL(f32_##what)
 *   FMA(a, b, c) the fused multiply-add of two elements and an accumulator; undefined for integers, which wrap
 * set. Each element of the result is one chain over k in ascending order; blocks of k carry the accumulator on in c.
 *
 * Packed a, for a block of k: tiles of TILE_ROWS rows (the last of as many as tile_rows says), each k-major. Packed b:
 * panels of PANEL columns, each k-major, columns beyond n zero. */
#include <string.h>

#include "kernels/ref/vector.h"

/* The tile that stays in registers, by what the level has of them. */
#if !FMA_IN_HARDWARE
#define TILE_ROWS 4
#define VECTORS 1
#elif VECTOR_BYTES == 64
#define TILE_ROWS 12
#define VECTORS 2
#elif VECTOR_BYTES == 32
#define TILE_ROWS 6
#define VECTORS 2
#else
#define TILE_ROWS 6
#define VECTORS 4
#endif
#define LANES ((int64_t)(VECTOR_BYTES / sizeof(T)))
#define PANEL (VECTORS * LANES)
/* A tile's part of c, for tiles that do not fit: the widest is 1 x 4 panels. */
#define TILE_MAX (TILE_ROWS * 4 * PANEL)

typedef T V __attribute__((vector_size(VECTOR_BYTES)));

ALWAYS_INLINE V load(const T *from) {
  V v;
  memcpy(&v, from, sizeof v);
  return v;
}

/* Element i of memory that may lie unaligned, as weights in a mapped file do. */
ALWAYS_INLINE T element(const void *base, int64_t i) {
  T x;
  memcpy(&x, (const char *)base + (size_t)i * sizeof(T), sizeof x);
  return x;
}

ALWAYS_INLINE void store(T *to, V v) { memcpy(to, &v, sizeof v); }

ALWAYS_INLINE V splat(T x) {
  V v = {0};
  for (int64_t lane = 0; lane < LANES; lane++) {
    v[lane] = x;
  }
  return v;
}

#if !defined(FMA)
ALWAYS_INLINE V multiply_add(V a, V b, V c) { return a * b + c; }
ALWAYS_INLINE T multiply_add_one(T a, T b, T c) { return a * b + c; }
#else
#if FMA_IN_HARDWARE
ALWAYS_INLINE
#else
static __attribute__((noinline))
#endif
V multiply_add(V a, V b, V c) {
  V v = {0};
  for (int64_t lane = 0; lane < LANES; lane++) {
    v[lane] = FMA(a[lane], b[lane], c[lane]);
  }
  return v;
}
ALWAYS_INLINE T multiply_add_one(T a, T b, T c) { return FMA(a, b, c); }
#endif

#define ROWS 1
#define PANELS 4
#include "kernels/ref/gemm_micro.h"
#define ROWS 1
#define PANELS 1
#include "kernels/ref/gemm_micro.h"
#define ROWS 2
#define PANELS 2
#include "kernels/ref/gemm_micro.h"
#define ROWS 2
#define PANELS 1
#include "kernels/ref/gemm_micro.h"
#define ROWS 4
#define PANELS 1
#include "kernels/ref/gemm_micro.h"
#if TILE_ROWS >= 6
#define ROWS 6
#define PANELS 1
#include "kernels/ref/gemm_micro.h"
#endif
#if TILE_ROWS >= 12
#define ROWS 8
#define PANELS 1
#include "kernels/ref/gemm_micro.h"
#define ROWS 12
#define PANELS 1
#include "kernels/ref/gemm_micro.h"
#endif

/* Rows of the tile that takes `left` rows: the smallest that holds them, or the largest there is. */
static int64_t tile_rows(int64_t left) {
  static const int64_t sizes[] = {1, 2, 4, 6, 8, 12};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    if (sizes[i] == TILE_ROWS || left <= sizes[i]) {
      return sizes[i];
    }
  }
  return TILE_ROWS;
}

/* How many panels go through one micro-kernel together, so that few rows still keep the adders busy. */
static int64_t tile_panels(int64_t rows, int64_t panels_left) {
  int64_t most = rows == 1 ? 4 : rows == 2 ? 2 : 1;
  return panels_left >= most ? most : 1;
}

static void micro(int64_t rows, int64_t panels, int64_t k, const T *a, const T *b, int64_t b_panel, T *c, int64_t c_row,
                  bool first) {
  switch (rows) {
    case 1:
      (panels == 4 ? micro_1x4 : micro_1x1)(k, a, b, PANEL, b_panel, c, c_row, first);
      break;
    case 2:
      (panels == 2 ? micro_2x2 : micro_2x1)(k, a, b, PANEL, b_panel, c, c_row, first);
      break;
    case 4:
      micro_4x1(k, a, b, PANEL, b_panel, c, c_row, first);
      break;
#if TILE_ROWS >= 6
    case 6:
      micro_6x1(k, a, b, PANEL, b_panel, c, c_row, first);
      break;
#endif
#if TILE_ROWS >= 12
    case 8:
      micro_8x1(k, a, b, PANEL, b_panel, c, c_row, first);
      break;
    default:
      micro_12x1(k, a, b, PANEL, b_panel, c, c_row, first);
      break;
#endif
  }
}

/* A tile of c of which only `rows_used` x `columns_used` exist. */
static void tile(int64_t rows, int64_t rows_used, int64_t panels, int64_t columns_used, int64_t k, const T *a,
                 const T *b, int64_t b_panel, T *c, int64_t c_row, bool first) {
  int64_t columns = panels * PANEL;
  if (rows == rows_used && columns == columns_used) {
    micro(rows, panels, k, a, b, b_panel, c, c_row, first);
    return;
  }
  T whole[TILE_MAX];
  memset(whole, 0, sizeof whole);
  for (int64_t i = 0; !first && i < rows_used; i++) {
    memcpy(whole + i * columns, c + i * c_row, (size_t)columns_used * sizeof(T));
  }
  micro(rows, panels, k, a, b, b_panel, whole, columns, first);
  for (int64_t i = 0; i < rows_used; i++) {
    memcpy(c + i * c_row, whole + i * columns, (size_t)columns_used * sizeof(T));
  }
}

/* One block of k: c (m x n) is begun or continued with packed a and packed b; panels of b lie b_panel apart. */
static void multiply_block(int64_t m, int64_t n, int64_t k, const T *a, const T *b, int64_t b_panel, T *c,
                           int64_t c_row, bool first) {
  int64_t first_rows = tile_rows(m), panels;
  for (int64_t j = 0; j < n; j += panels * PANEL, b += panels * b_panel) {
    panels = first_rows <= 2 ? tile_panels(first_rows, (n - j + PANEL - 1) / PANEL) : 1;
    int64_t columns = n - j < panels * PANEL ? n - j : panels * PANEL, rows;
    for (int64_t i = 0; i < m; i += rows) {
      rows = tile_rows(m - i);
      tile(rows, m - i < rows ? m - i : rows, panels, columns, k, a + i * k, b, b_panel, c + i * c_row + j, c_row,
           first);
    }
  }
}

/* Elements that a packed block of m rows has for each k. */
static int64_t packed_rows(int64_t m) { return m - m % TILE_ROWS + (m % TILE_ROWS > 0 ? tile_rows(m % TILE_ROWS) : 0); }

static void pack_a_block(const void *a, int64_t row, int64_t column, int64_t m, int64_t k, T *out) {
  int64_t rows;
  for (int64_t i = 0; i < m; i += rows) {
    rows = tile_rows(m - i);
    for (int64_t r = 0; r < rows; r++) {
      bool used = i + r < m;
      T *to = out + i * k + r;
      for (int64_t p = 0; p < k; p++) {
        to[p * rows] = used ? element(a, (i + r) * row + p * column) : 0;
      }
    }
  }
}

enum { PACK_ROWS = 16 };

void NAME(pack_a)(const void *a, int64_t row, int64_t column, int64_t m, int64_t k, void *out) {
  T *to = out;
  for (int64_t p = 0; p < k; p += GEMM_BLOCK_K) {
    int64_t block = k - p < GEMM_BLOCK_K ? k - p : GEMM_BLOCK_K;
    pack_a_block((const char *)a + (size_t)(p * column) * sizeof(T), row, column, m, block, to + p * packed_rows(m));
  }
}

void NAME(pack_b)(const void *b, int64_t row, int64_t column, int64_t k, int64_t n, int64_t unit_begin,
                  int64_t unit_end, void *out) {
  for (int64_t j = unit_begin * GEMM_UNIT; j < unit_end * GEMM_UNIT; j += PANEL) {
    T *to = (T *)out + j * k;
    int64_t columns = n - j < PANEL ? n - j : PANEL;
    if (columns < PANEL) {
      memset(to, 0, (size_t)(k * PANEL) * sizeof(T));
    }
    if (columns <= 0) {
      continue;
    }
    const char *from = (const char *)b + (size_t)(j * column) * sizeof(T);
    /* Few rows at a time, so that what is read across them stays in the cache. */
    for (int64_t p = 0; p < k; p += PACK_ROWS) {
      int64_t p_end = k - p < PACK_ROWS ? k : p + PACK_ROWS;
      if (column == 1) {
        for (int64_t q = p; q < p_end; q++) {
          memcpy(to + q * PANEL, from + (size_t)(q * row) * sizeof(T), (size_t)columns * sizeof(T));
        }
      } else {
        for (int64_t l = 0; l < columns; l++) {
          for (int64_t q = p; q < p_end; q++) {
            to[q * PANEL + l] = element(from, q * row + l * column);
          }
        }
      }
    }
  }
}

/* c = round(alpha * c) + round(beta * bias), factors of 1 left out, for the rows and columns given. */
static void finish(const struct gemm_arguments *g, int64_t i_begin, int64_t i_end, int64_t j_begin, int64_t j_end) {
  if (!g->scaled && g->bias == NULL) {
    return;
  }
  T alpha = (T)g->alpha, beta = (T)g->beta;
  for (int64_t i = i_begin; i < i_end; i++) {
    T *c = (T *)g->c + i * g->c_row;
    if (g->scaled) {
      for (int64_t j = j_begin; j < j_end; j++) {
        c[j] = alpha * c[j];
      }
    }
    if (g->bias == NULL) {
      continue;
    }
    const T *bias = (const T *)g->bias + i * g->bias_row;
    int64_t column = g->bias_column;
    if (g->bias_scaled) {
      for (int64_t j = j_begin; j < j_end; j++) {
        T term = beta * bias[j * column];
        c[j] = c[j] + term;
      }
    } else if (column == 1) {
      for (int64_t j = j_begin; j < j_end; j++) {
        c[j] = c[j] + bias[j];
      }
    } else {
      for (int64_t j = j_begin; j < j_end; j++) {
        c[j] = c[j] + bias[j * column];
      }
    }
  }
}

void NAME(gemm)(const struct gemm_arguments *g, int64_t m_begin, int64_t m_end, int64_t unit_begin, int64_t unit_end,
                void *scratch) {
  int64_t j_begin = unit_begin * GEMM_UNIT, j_end = unit_end * GEMM_UNIT < g->n ? unit_end * GEMM_UNIT : g->n;
  for (int64_t i = m_begin; i < m_end; i += GEMM_BLOCK_ROWS) {
    int64_t rows = m_end - i < GEMM_BLOCK_ROWS ? m_end - i : GEMM_BLOCK_ROWS;
    T *c = (T *)g->c + i * g->c_row + j_begin;
    for (int64_t p = 0; p < g->k; p += GEMM_BLOCK_K) {
      int64_t block = g->k - p < GEMM_BLOCK_K ? g->k - p : GEMM_BLOCK_K;
      const T *a = (const T *)g->a + i * g->a_row + p * g->a_column;
      if (rows > 1 || g->a_column != 1) {
        pack_a_block(a, g->a_row, g->a_column, rows, block, scratch);
        a = scratch;
      }
      const T *b = (const T *)g->packed_b + j_begin * g->k + p * PANEL;
      multiply_block(rows, j_end - j_begin, block, a, b, g->k * PANEL, c, g->c_row, p == 0);
    }
    for (int64_t r = 0; g->k == 0 && r < rows; r++) {
      memset(c + r * g->c_row, 0, (size_t)(j_end - j_begin) * sizeof(T));
    }
    finish(g, i, i + rows, j_begin, j_end);
  }
}
