/* Pooling over windows of one type. Included once a type, with T, NAME(what), LOWEST (what every value is at least),
 * LARGER(a, b) and IS_NAN(x) set; POOLING_SUMS as well for types that have averages. Taps outside the input are
 * skipped. */
#include <string.h>

/* The outputs begin..end of a row whose tap has an input: those where 0 <= x * stride + offset < in. */
static void row_range(int64_t stride, int64_t offset, int64_t in, int64_t out, int64_t *begin, int64_t *end) {
  *begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  *end = in - offset <= 0 ? 0 : (in - offset - 1) / stride + 1;
  *end = *end < out ? *end : out;
}

/* y[x] = the larger of y[x] and row[x * stride]; both NaN and the sign of zero as IEEE 754-2019's maximum has them. */
static void take_larger(T *y, const T *row, int64_t stride, int64_t n) {
  if (stride == 1) {
    for (int64_t x = 0; x < n; x++) {
      y[x] = LARGER(y[x], row[x]);
    }
  } else if (stride == 2) {
    for (int64_t x = 0; x < n; x++) {
      y[x] = LARGER(y[x], row[2 * x]);
    }
  } else {
    for (int64_t x = 0; x < n; x++) {
      y[x] = LARGER(y[x], row[x * stride]);
    }
  }
}

/* Where tap `tap` of output `position` reads along an axis; may lie outside. */
static int64_t tap_at(const struct pooling_arguments *p, int axis, int64_t position, int64_t tap) {
  return position * p->stride[axis] - p->pad[axis] + tap * p->dilation[axis];
}

static bool inside(const struct pooling_arguments *p, int axis, int64_t i) { return i >= 0 && i < p->in[axis]; }

static void max_row(const struct pooling_arguments *p, const T *plane, int64_t z, int64_t y, T *out) {
  for (int64_t x = 0; x < p->out[2]; x++) {
    out[x] = LOWEST;
  }
  for (int64_t a = 0; a < p->kernel[0]; a++) {
    int64_t iz = tap_at(p, 0, z, a);
    for (int64_t b = 0; b < p->kernel[1]; b++) {
      int64_t iy = tap_at(p, 1, y, b);
      for (int64_t c = 0; inside(p, 0, iz) && inside(p, 1, iy) && c < p->kernel[2]; c++) {
        int64_t offset = tap_at(p, 2, 0, c), begin, end;
        row_range(p->stride[2], offset, p->in[2], p->out[2], &begin, &end);
        const T *row = plane + (iz * p->in[1] + iy) * p->in[2];
        if (begin < end) {
          take_larger(out + begin, row + begin * p->stride[2] + offset, p->stride[2], end - begin);
        }
      }
    }
  }
}

/* The first of the largest; the first NaN where there is one. -1 when the window has no input. */
static int64_t max_index(const struct pooling_arguments *p, const T *plane, const int64_t at[3]) {
  int64_t best = -1;
  T best_value = LOWEST;
  for (int64_t a = 0; a < p->kernel[0]; a++) {
    for (int64_t b = 0; b < p->kernel[1]; b++) {
      for (int64_t c = 0; c < p->kernel[2]; c++) {
        int64_t z = tap_at(p, 0, at[0], a), y = tap_at(p, 1, at[1], b), x = tap_at(p, 2, at[2], c);
        if (!inside(p, 0, z) || !inside(p, 1, y) || !inside(p, 2, x)) {
          continue;
        }
        T value = plane[(z * p->in[1] + y) * p->in[2] + x];
        if (best < 0 || value > best_value || (IS_NAN(value) && !IS_NAN(best_value))) {
          best_value = value;
          best = p->column_major ? (x * p->in[1] + y) * p->in[0] + z : (z * p->in[1] + y) * p->in[2] + x;
        }
      }
    }
  }
  return best;
}

void NAME(max_pool)(const struct pooling_arguments *p, int64_t begin, int64_t end) {
  int64_t in = p->in[0] * p->in[1] * p->in[2], out = p->out[0] * p->out[1] * p->out[2];
  for (int64_t i = begin; i < end; i++) {
    const T *plane = (const T *)p->x + i * in;
    T *y = (T *)p->y + i * out;
    int64_t *indices = p->indices == NULL ? NULL : p->indices + i * out;
    for (int64_t row = 0; row < p->out[0] * p->out[1]; row++) {
      int64_t at[3] = {row / p->out[1], row % p->out[1], 0};
      max_row(p, plane, at[0], at[1], y + row * p->out[2]);
      for (at[2] = 0; indices != NULL && at[2] < p->out[2]; at[2]++) {
        int64_t index = max_index(p, plane, at);
        indices[row * p->out[2] + at[2]] = index < 0 ? -1 : i * in + index;
      }
    }
  }
}

#if defined(POOLING_SUMS)
enum { POOLING_LANES = 16 };

static T fold_lanes(T lanes[POOLING_LANES]) {
  for (int width = POOLING_LANES / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; i++) {
      lanes[i] = lanes[i] + lanes[i + width];
    }
  }
  return lanes[0];
}

/* What is added up of one element: itself, or |x|^power. */
ALWAYS_INLINE T term(const struct pooling_arguments *p, T x) {
  T magnitude = x < 0 ? -x : x;
  if (p->power == 0) {
    return x;
  }
  return p->power == 1 ? magnitude : p->power == 2 ? x * x : POWER(magnitude, (T)p->power);
}

/* Adds n elements that follow the *done that the lanes have already. */
static void add_run(const struct pooling_arguments *p, T lanes[POOLING_LANES], int64_t *done, const T *x, int64_t n) {
  int64_t i = 0;
  for (; i < n && (*done + i) % POOLING_LANES != 0; i++) {
    T *lane = &lanes[(*done + i) % POOLING_LANES];
    *lane = *lane + term(p, x[i]);
  }
  for (; i + POOLING_LANES <= n; i += POOLING_LANES) {
    for (int lane = 0; lane < POOLING_LANES; lane++) {
      lanes[lane] = lanes[lane] + term(p, x[i + lane]);
    }
  }
  for (int lane = 0; i < n; i++, lane++) {
    lanes[lane] = lanes[lane] + term(p, x[i]);
  }
  *done += n;
}

/* Elements of the window of one output, taps outside the input left out, over 16 lanes. */
static T window_sum(const struct pooling_arguments *p, const T *plane, const int64_t at[3]) {
  T lanes[POOLING_LANES] = {0};
  int64_t done = 0, first = tap_at(p, 2, at[2], 0), step = p->dilation[2];
  int64_t begin = first < 0 ? (-first + step - 1) / step : 0, end = begin;
  while (end < p->kernel[2] && first + end * step < p->in[2]) {
    end++;
  }
  for (int64_t a = 0; a < p->kernel[0]; a++) {
    int64_t z = tap_at(p, 0, at[0], a);
    for (int64_t b = 0; inside(p, 0, z) && b < p->kernel[1]; b++) {
      int64_t y = tap_at(p, 1, at[1], b);
      if (!inside(p, 1, y)) {
        continue;
      }
      const T *row = plane + (z * p->in[1] + y) * p->in[2] + first;
      if (step == 1) {
        add_run(p, lanes, &done, row + begin, end - begin);
        continue;
      }
      for (int64_t c = begin; c < end; c++) {
        add_run(p, lanes, &done, row + c * step, 1);
      }
    }
  }
  return fold_lanes(lanes);
}

/* Taps of a window along an axis that count: those with an input, or those within the padded input. */
static int64_t counted(const struct pooling_arguments *p, int axis, int64_t position) {
  int64_t low = p->count_padding ? -p->pad[axis] : 0, n = 0;
  int64_t high = p->in[axis] + (p->count_padding ? p->pad_end[axis] : 0);
  for (int64_t tap = 0; tap < p->kernel[axis]; tap++) {
    int64_t i = tap_at(p, axis, position, tap);
    n += i >= low && i < high;
  }
  return n;
}

void NAME(sum_pool)(const struct pooling_arguments *p, int64_t begin, int64_t end) {
  int64_t in = p->in[0] * p->in[1] * p->in[2], out = p->out[0] * p->out[1] * p->out[2];
  for (int64_t i = begin; i < end; i++) {
    const T *plane = (const T *)p->x + i * in;
    T *y = (T *)p->y + i * out;
    for (int64_t position = 0; position < out; position++) {
      int64_t at[3] = {position / p->out[2] / p->out[1], position / p->out[2] % p->out[1], position % p->out[2]};
      T sum = window_sum(p, plane, at);
      if (p->power == 0) {
        y[position] = sum / (T)(counted(p, 0, at[0]) * counted(p, 1, at[1]) * counted(p, 2, at[2]));
      } else {
        y[position] = p->power == 1 ? sum : p->power == 2 ? ROOT(sum) : POWER(sum, (T)1 / (T)p->power);
      }
    }
  }
}
#endif
