/* One micro-kernel: a tile of ROWS x (PANELS panels of VECTORS vectors) of c stays in registers while k runs.
 * Included by gemm_body.h once a shape, with ROWS and PANELS set; accumulators are named variables because compilers
 * keep those, and not arrays, in registers.
 *
 * c[i][j] = (first ? +0 : c[i][j]) continued by fma(a[p * ROWS + i], b[p * b_step + j], .) for p = 0 .. k-1. */

#if VECTORS == 1
#define EACH_VECTOR(X, i, p) X(i, p, 0)
#elif VECTORS == 2
#define EACH_VECTOR(X, i, p) X(i, p, 0) X(i, p, 1)
#else
#define EACH_VECTOR(X, i, p) X(i, p, 0) X(i, p, 1) X(i, p, 2) X(i, p, 3)
#endif

#if PANELS == 1
#define EACH_PANEL(X, i) EACH_VECTOR(X, i, 0)
#elif PANELS == 2
#define EACH_PANEL(X, i) EACH_VECTOR(X, i, 0) EACH_VECTOR(X, i, 1)
#else
#define EACH_PANEL(X, i) EACH_VECTOR(X, i, 0) EACH_VECTOR(X, i, 1) EACH_VECTOR(X, i, 2) EACH_VECTOR(X, i, 3)
#endif

#if ROWS == 1
#define EACH_ROW(X) X(0)
#elif ROWS == 2
#define EACH_ROW(X) X(0) X(1)
#elif ROWS == 4
#define EACH_ROW(X) X(0) X(1) X(2) X(3)
#elif ROWS == 6
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5)
#elif ROWS == 8
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#else
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#endif

#define MICRO_PASTE_(rows, panels) micro_##rows##x##panels
#define MICRO_PASTE(rows, panels) MICRO_PASTE_(rows, panels)

#define C_AT(i, p, v) (c + (i)*c_row + ((p)*VECTORS + (v)) * LANES)
#define ZERO(i, p, v) V c##i##_##p##_##v = {0};
#define LOAD(i, p, v) c##i##_##p##_##v = load(C_AT(i, p, v));
#define STORE(i, p, v) store(C_AT(i, p, v), c##i##_##p##_##v);
#define LOAD_B(i, p, v) V b##p##_##v = load(b + (p)*b_panel + (v)*LANES);
#define STEP(i, p, v) c##i##_##p##_##v = multiply_add(x, b##p##_##v, c##i##_##p##_##v);
#define ZERO_ROW(i) EACH_PANEL(ZERO, i)
#define LOAD_ROW(i) EACH_PANEL(LOAD, i)
#define STORE_ROW(i) EACH_PANEL(STORE, i)
#define STEP_ROW(i)     \
  {                     \
    V x = splat(a[i]);  \
    EACH_PANEL(STEP, i) \
  }

static void MICRO_PASTE(ROWS, PANELS)(int64_t k, const T *a, const T *b, int64_t b_step, int64_t b_panel, T *c,
                                      int64_t c_row, bool first) {
  (void)b_panel;
  EACH_ROW(ZERO_ROW)
  if (!first) {
    EACH_ROW(LOAD_ROW)
  }
  for (int64_t p = 0; p < k; p++) {
    EACH_PANEL(LOAD_B, 0)
    EACH_ROW(STEP_ROW)
    a += ROWS;
    b += b_step;
  }
  EACH_ROW(STORE_ROW)
}

#undef EACH_VECTOR
#undef EACH_PANEL
#undef EACH_ROW
#undef MICRO_PASTE_
#undef MICRO_PASTE
#undef C_AT
#undef ZERO
#undef LOAD
#undef STORE
#undef LOAD_B
#undef STEP
#undef ZERO_ROW
#undef LOAD_ROW
#undef STORE_ROW
#undef STEP_ROW
#undef ROWS
#undef PANELS
