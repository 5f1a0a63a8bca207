/* Convolution of one type, after gemm_body.h: the filters are packed a, and panels of b are gathered from the image,
 * a column being an output position. Nothing is multiplied for a tap that has no input: see redo_skipped. */

/* Positions that are gathered together: filters are read once for them all. */
enum { CHUNK = CONV_CHUNK_UNITS * GEMM_UNIT };

/* Consecutive output positions of one row of the output that lie in one panel. */
struct segment {
  int64_t at[3];  /* of the first position */
  int64_t length; /* positions */
  int64_t column; /* within the chunk */
};

struct chunk {
  int64_t columns, n_segments;
  struct segment segments[CHUNK + CHUNK / PANEL];
};

static void chunk_make(const struct conv_arguments *v, int64_t begin, int64_t columns, struct chunk *chunk) {
  chunk->columns = columns;
  chunk->n_segments = 0;
  int64_t length;
  for (int64_t column = 0; column < columns; column += length) {
    int64_t position = begin + column;
    int64_t x = position % v->out[2], y = position / v->out[2] % v->out[1], z = position / v->out[2] / v->out[1];
    length = v->out[2] - x;
    length = columns - column < length ? columns - column : length;
    length = PANEL - column % PANEL < length ? PANEL - column % PANEL : length;
    chunk->segments[chunk->n_segments++] = (struct segment){{z, y, x}, length, column};
  }
}

/* Copies PANEL elements where that many can be read; whoever writes the lanes after `length` comes later. */
ALWAYS_INLINE void copy_run(T *to, const T *from, int64_t length, const T *from_end) {
  if (from_end - from >= PANEL) {
    memcpy(to, from, (size_t)PANEL * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < length; i++) {
    to[i] = from[i];
  }
}

/* The input row of one segment and one tap of the kernel. Taps without an input become 0. */
static void gather_segment(const struct conv_arguments *v, const struct segment *s, const T *channel, const T *end,
                           const int64_t tap[3], T *to) {
  int64_t z = v->map[0][tap[0] * v->out[0] + s->at[0]], y = v->map[1][tap[1] * v->out[1] + s->at[1]];
  if (z < 0 || y < 0) {
    memset(to, 0, (size_t)PANEL * sizeof(T));
    return;
  }
  const T *row = channel + (z * v->in[1] + y) * v->in[2];
  const int32_t *map = v->map[2] + tap[2] * v->out[2] + s->at[2];
  if (v->step == 0) {
    for (int64_t i = 0; i < s->length; i++) {
      to[i] = map[i] < 0 ? 0 : row[map[i]];
    }
    return;
  }
  /* The inputs of the last axis are evenly spaced, and missing only at its ends. */
  int64_t begin = 0, length = s->length;
  while (begin < length && map[begin] < 0) {
    to[begin++] = 0;
  }
  while (length > begin && map[length - 1] < 0) {
    to[--length] = 0;
  }
  if (begin == length) {
    return;
  }
  const T *from = row + map[begin];
  T *rest = to + begin;
  int64_t n = length - begin;
  if (v->step == 1) {
    if (n == s->length) {
      copy_run(rest, from, n, end);
    } else {
      for (int64_t i = 0; i < n; i++) {
        rest[i] = from[i];
      }
    }
  } else if (v->step == 2) {
    for (int64_t i = 0; i < n; i++) {
      rest[i] = from[2 * i];
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      rest[i] = from[v->step * i];
    }
  }
}

/* Elements from one panel of a gathered block to the next: the rows, and room for a run that is longer than its
 * segment. */
#define GATHERED(k) (((k) + 1) * PANEL)

/* Rows k_begin .. k_begin + k of the patches of a chunk, as panels. */
static void gather(const struct conv_arguments *v, const struct chunk *chunk, int64_t k_begin, int64_t k, T *out) {
  int64_t area = v->in[0] * v->in[1] * v->in[2];
  const T *end = (const T *)v->x + v->channels * area;
  int64_t taps = v->kernel[0] * v->kernel[1] * v->kernel[2], channel = k_begin / taps, rest = k_begin % taps;
  int64_t tap[3] = {rest / v->kernel[2] / v->kernel[1], rest / v->kernel[2] % v->kernel[1], rest % v->kernel[2]};
  if (chunk->columns % PANEL != 0) { /* nothing strange in the columns that nobody asks for */
    memset(out + chunk->columns / PANEL * GATHERED(k), 0, (size_t)(GATHERED(k)) * sizeof(T));
  }
  for (int64_t p = 0; p < k; p++) {
    const T *image = (const T *)v->x + channel * area;
    for (int64_t i = 0; i < chunk->n_segments; i++) {
      const struct segment *s = &chunk->segments[i];
      T *to = out + s->column / PANEL * GATHERED(k) + p * PANEL + s->column % PANEL;
      gather_segment(v, s, image, end, tap, to);
    }
    if (++tap[2] == v->kernel[2]) {
      tap[2] = 0;
      if (++tap[1] == v->kernel[1]) {
        tap[1] = 0;
        if (++tap[0] == v->kernel[0]) {
          tap[0] = 0;
          channel++;
        }
      }
    }
  }
}

/* Weight k of filter m, out of the packed ones. */
static T packed_weight(const struct conv_arguments *v, int64_t taps, int64_t m, int64_t k) {
  int64_t k_all = v->channels * taps, block = k - k % GEMM_BLOCK_K;
  int64_t k_block = k_all - block < GEMM_BLOCK_K ? k_all - block : GEMM_BLOCK_K, i = m - m % TILE_ROWS;
  const T *tile_begin = (const T *)v->packed_w + block * packed_rows(v->filters) + i * k_block;
  return tile_begin[(k - block) * tile_rows(v->filters - i) + (m - i)];
}

static bool position_skips(const struct conv_arguments *v, const int64_t at[3]) {
  for (int axis = 0; axis < 3; axis++) {
    for (int64_t tap = 0; tap < v->kernel[axis]; tap++) {
      if (v->map[axis][tap * v->out[axis] + at[axis]] < 0) {
        return true;
      }
    }
  }
  return false;
}

/* The chain of one output, with its skips. */
static T chain_with_skips(const struct conv_arguments *v, int64_t m, const int64_t at[3]) {
  int64_t taps = v->kernel[0] * v->kernel[1] * v->kernel[2], k = 0;
  T sum = 0;
  for (int64_t channel = 0; channel < v->channels; channel++) {
    const T *image = (const T *)v->x + channel * v->in[0] * v->in[1] * v->in[2];
    for (int64_t z = 0; z < v->kernel[0]; z++) {
      for (int64_t y = 0; y < v->kernel[1]; y++) {
        for (int64_t x = 0; x < v->kernel[2]; x++, k++) {
          int64_t iz = v->map[0][z * v->out[0] + at[0]], iy = v->map[1][y * v->out[1] + at[1]];
          int64_t ix = v->map[2][x * v->out[2] + at[2]];
          if (iz >= 0 && iy >= 0 && ix >= 0) {
            sum = multiply_add_one(packed_weight(v, taps, m, k), image[(iz * v->in[1] + iy) * v->in[2] + ix], sum);
          }
        }
      }
    }
  }
  return sum;
}

/* Taps without an input were multiplied as 0. With a finite weight that changes no accumulator but -0, which becomes
 * +0; this shows only where the sum is zero in the end. So a zero at a position that skips is computed again, and where
 * a weight is not finite, every such position. */
static void redo_skipped(const struct conv_arguments *v, const struct chunk *chunk, int64_t begin, int64_t m_begin,
                         int64_t m_end) {
  int64_t area = v->out[0] * v->out[1] * v->out[2];
  for (int64_t column = 0; column < chunk->columns; column++) {
    int64_t position = begin + column;
    int64_t at[3] = {position / v->out[2] / v->out[1], position / v->out[2] % v->out[1], position % v->out[2]};
    if (!position_skips(v, at)) {
      continue;
    }
    for (int64_t m = m_begin; m < m_end; m++) {
      T *y = (T *)v->y + m * area + position;
      if (*y == 0 || !v->weights_finite) {
        *y = chain_with_skips(v, m, at);
      }
    }
  }
}

/* --- few filters ----------------------------------------------------------- */

/* y[i] = fma(w, x[i * step], y[i]). */
static void accumulate_run(T *restrict y, const T *restrict x, int64_t step, int64_t n, T w) {
  if (step == 1) {
    for (int64_t i = 0; i < n; i++) {
      y[i] = multiply_add_one(w, x[i], y[i]);
    }
  } else if (step == 2) {
    for (int64_t i = 0; i < n; i++) {
      y[i] = multiply_add_one(w, x[2 * i], y[i]);
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      y[i] = multiply_add_one(w, x[i * step], y[i]);
    }
  }
}

/* One tap of one channel for the positions begin..end, which lie in rows; y is that of position begin. */
static void accumulate_tap(const struct conv_arguments *v, const T *channel, const int64_t tap[3], T w, int64_t begin,
                           int64_t end, T *y) {
  const int32_t *map = v->map[2] + tap[2] * v->out[2];
  int64_t first = 0, last = v->out[2], length;
  while (first < last && map[first] < 0) {
    first++;
  }
  while (last > first && map[last - 1] < 0) {
    last--;
  }
  for (int64_t position = begin; position < end; position += length, y += length) {
    int64_t row = position / v->out[2], x = position % v->out[2];
    length = v->out[2] - x < end - position ? v->out[2] - x : end - position;
    int64_t iz = v->map[0][tap[0] * v->out[0] + row / v->out[1]], iy = v->map[1][tap[1] * v->out[1] + row % v->out[1]];
    if (iz < 0 || iy < 0) {
      continue;
    }
    const T *from = channel + (iz * v->in[1] + iy) * v->in[2];
    int64_t x_begin = x > first ? x : first, x_end = x + length < last ? x + length : last;
    if (v->step != 0 && x_begin < x_end) {
      accumulate_run(y + (x_begin - x), from + map[x_begin], v->step, x_end - x_begin, w);
    }
    for (int64_t i = x_begin; v->step == 0 && i < x_end; i++) {
      if (map[i] >= 0) {
        y[i - x] = multiply_add_one(w, from[map[i]], y[i - x]);
      }
    }
  }
}

/* A filter at a time over the input as it lies: with few filters, gathering would cost more than the products. Skips
 * what has no input, as the definition does. */
static void convolve_directly(const struct conv_arguments *v, int64_t m, int64_t begin, int64_t end) {
  int64_t taps = v->kernel[0] * v->kernel[1] * v->kernel[2], area = v->in[0] * v->in[1] * v->in[2];
  T *y = (T *)v->y + m * v->out[0] * v->out[1] * v->out[2] + begin;
  memset(y, 0, (size_t)(end - begin) * sizeof(T));
  for (int64_t k = 0; k < v->channels * taps; k++) {
    int64_t t = k % taps, tap[3] = {t / v->kernel[2] / v->kernel[1], t / v->kernel[2] % v->kernel[1], t % v->kernel[2]};
    accumulate_tap(v, (const T *)v->x + k / taps * area, tap, packed_weight(v, taps, m, k), begin, end, y);
  }
}

static void add_bias(const struct conv_arguments *v, int64_t m, int64_t begin, int64_t end) {
  if (v->bias == NULL) {
    return;
  }
  T bias = ((const T *)v->bias)[m], *y = (T *)v->y + m * v->out[0] * v->out[1] * v->out[2];
  for (int64_t j = begin; j < end; j++) {
    y[j] = y[j] + bias;
  }
}

void NAME(conv)(const struct conv_arguments *v, int64_t m_begin, int64_t m_end, int64_t unit_begin, int64_t unit_end,
                void *scratch) {
  int64_t area = v->out[0] * v->out[1] * v->out[2], taps = v->kernel[0] * v->kernel[1] * v->kernel[2];
  int64_t k = v->channels * taps, m = m_end - m_begin, end = unit_end * GEMM_UNIT < area ? unit_end * GEMM_UNIT : area;
  if (v->filters <= CONV_DIRECT_FILTERS) {
    for (int64_t i = m_begin; i < m_end; i++) {
      convolve_directly(v, i, unit_begin * GEMM_UNIT, end);
      add_bias(v, i, unit_begin * GEMM_UNIT, end);
    }
    return;
  }
  struct chunk chunk;
  for (int64_t begin = unit_begin * GEMM_UNIT; begin < end; begin += CHUNK) {
    chunk_make(v, begin, end - begin < CHUNK ? end - begin : CHUNK, &chunk);
    T *y = (T *)v->y + m_begin * area + begin;
    for (int64_t p = 0; p < k; p += GEMM_BLOCK_K) {
      int64_t block = k - p < GEMM_BLOCK_K ? k - p : GEMM_BLOCK_K, rows;
      gather(v, &chunk, p, block, scratch);
      const T *w = (const T *)v->packed_w + p * packed_rows(v->filters) + m_begin * block;
      for (int64_t i = 0; i < m; i += rows) {
        rows = m - i < TILE_ROWS ? m - i : TILE_ROWS;
        multiply_block(rows, chunk.columns, block, w + i * block, scratch, GATHERED(block), y + i * area, area, p == 0);
      }
    }
    if (v->skips) {
      redo_skipped(v, &chunk, begin, m_begin, m_end);
    }
    for (int64_t i = m_begin; i < m_end; i++) {
      add_bias(v, i, begin, begin + chunk.columns);
    }
  }
}
