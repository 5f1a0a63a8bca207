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

/* The taps of an output along an axis that have an input: begin..end. */
static void tap_range(const struct pooling_arguments *p, int axis, int64_t position, int64_t *begin, int64_t *end) {
  int64_t first = tap_at(p, axis, position, 0), step = p->dilation[axis], left = p->in[axis] - first;
  *begin = first < 0 ? (-first + step - 1) / step : 0;
  *end = left <= 0 ? 0 : (left + step - 1) / step;
  *end = *end < p->kernel[axis] ? *end : p->kernel[axis];
  *begin = *begin < *end ? *begin : *end;
}

static void max_row(const struct pooling_arguments *p, const T *plane, int64_t z, int64_t y, T *out) {
  for (int64_t x = 0; x < p->out[2]; x++) {
    out[x] = LOWEST;
  }
  int64_t a_begin, a_end, b_begin, b_end;
  tap_range(p, 0, z, &a_begin, &a_end);
  tap_range(p, 1, y, &b_begin, &b_end);
  /* Taps of the last axis that some output of the row has: beyond these there is nothing to look at. */
  int64_t c_begin, c_end, unused;
  tap_range(p, 2, p->out[2] - 1, &c_begin, &unused);
  tap_range(p, 2, 0, &unused, &c_end);
  for (int64_t a = a_begin; a < a_end; a++) {
    for (int64_t b = b_begin; b < b_end; b++) {
      const T *row = plane + (tap_at(p, 0, z, a) * p->in[1] + tap_at(p, 1, y, b)) * p->in[2];
      for (int64_t c = c_begin; c < c_end; c++) {
        int64_t offset = tap_at(p, 2, 0, c), begin, end;
        row_range(p->stride[2], offset, p->in[2], p->out[2], &begin, &end);
        if (begin < end) {
          take_larger(out + begin, row + begin * p->stride[2] + offset, p->stride[2], end - begin);
        }
      }
    }
  }
}

/* The first of the largest; the first NaN where there is one. -1 when the window has no input. */
static int64_t max_index(const struct pooling_arguments *p, const T *plane, const int64_t at[3]) {
  int64_t best = -1, begin[3], end[3];
  T best_value = LOWEST;
  for (int axis = 0; axis < 3; axis++) {
    tap_range(p, axis, at[axis], &begin[axis], &end[axis]);
  }
  for (int64_t a = begin[0]; a < end[0]; a++) {
    for (int64_t b = begin[1]; b < end[1]; b++) {
      for (int64_t c = begin[2]; c < end[2]; c++) {
        int64_t z = tap_at(p, 0, at[0], a), y = tap_at(p, 1, at[1], b), x = tap_at(p, 2, at[2], c);
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
  int64_t done = 0, begin[3], end[3];
  for (int axis = 0; axis < 3; axis++) {
    tap_range(p, axis, at[axis], &begin[axis], &end[axis]);
  }
  for (int64_t a = begin[0]; a < end[0]; a++) {
    for (int64_t b = begin[1]; b < end[1]; b++) {
      const T *row = plane + (tap_at(p, 0, at[0], a) * p->in[1] + tap_at(p, 1, at[1], b)) * p->in[2];
      if (p->dilation[2] == 1) {
        add_run(p, lanes, &done, row + tap_at(p, 2, at[2], begin[2]), end[2] - begin[2]);
        continue;
      }
      for (int64_t c = begin[2]; c < end[2]; c++) {
        add_run(p, lanes, &done, row + tap_at(p, 2, at[2], c), 1);
      }
    }
  }
  return fold_lanes(lanes);
}

/* Taps of a window along an axis that count: those with an input, or those within the padded input. */
static int64_t counted(const struct pooling_arguments *p, int axis, int64_t position) {
  int64_t begin, end;
  tap_range(p, axis, position, &begin, &end);
  if (!p->count_padding) {
    return end - begin;
  }
  /* The first tap lies within the padding in front; what ceil_mode adds lies behind the padding at the end. */
  int64_t left = p->in[axis] + p->pad_end[axis] - tap_at(p, axis, position, 0);
  int64_t within = left <= 0 ? 0 : (left + p->dilation[axis] - 1) / p->dilation[axis];
  return within < p->kernel[axis] ? within : p->kernel[axis];
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
