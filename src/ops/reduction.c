/* The walk over what is kept and what is reduced. Must give each output alone its answer, whatever the threads are. */
#include "ops/reduction.h"

enum { LANES = 16, COLUMNS = 32, GRAIN_ELEMENTS = 16384 };

void reduce_plan_make(const int64_t *dims, int rank, const bool *reduced, struct reduce_plan *out) {
  *out = (struct reduce_plan){.outputs = 1, .count = 1};
  int64_t stride = 1;
  int previous = -1; /* kind of the dimension before: 1 reduced, 0 kept */
  /* Last dimension first; turned round at the end. */
  for (int d = rank - 1; d >= 0; d--) {
    int64_t *rank_dims = reduced[d] ? out->reduced_dims : out->kept_dims;
    int64_t *strides = reduced[d] ? out->reduced_strides : out->kept_strides;
    int *n = reduced[d] ? &out->reduced_rank : &out->kept_rank;
    *(reduced[d] ? &out->count : &out->outputs) *= dims[d];
    if (dims[d] != 1) {
      if (previous == (int)reduced[d]) {
        rank_dims[*n - 1] *= dims[d];
      } else {
        rank_dims[*n] = dims[d];
        strides[(*n)++] = stride;
        previous = (int)reduced[d];
      }
    }
    stride *= dims[d];
  }
  for (int kind = 0; kind < 2; kind++) {
    int64_t *rank_dims = kind ? out->reduced_dims : out->kept_dims;
    int64_t *strides = kind ? out->reduced_strides : out->kept_strides;
    int n = kind ? out->reduced_rank : out->kept_rank;
    for (int d = 0; d < n / 2; d++) {
      int64_t dim = rank_dims[d], step = strides[d];
      rank_dims[d] = rank_dims[n - 1 - d];
      strides[d] = strides[n - 1 - d];
      rank_dims[n - 1 - d] = dim;
      strides[n - 1 - d] = step;
    }
  }
}

/* --- the kernels of one reduction and kind, behind one type ---------------- */

struct lane_calls {
  void (*begin)(const struct kernels *k, void *lanes, int64_t width);
  void (*lanes)(const struct kernels *k, const void *x, int64_t stride, int64_t n, int64_t first, const void *m,
                void *lanes);
  void (*columns)(const struct kernels *k, const void *x, int64_t stride, int64_t n, int64_t first, int64_t width,
                  const void *m, void *lanes);
  void (*fold)(const struct kernels *k, void *lanes, int64_t width, void *y);
};

#define CALLS(prefix, name)                                                                                \
  static void prefix##_##name##_begin(const struct kernels *k, void *lanes, int64_t width) {               \
    k->prefix##_##name##_begin(lanes, width);                                                              \
  }                                                                                                        \
  static void prefix##_##name##_lanes(const struct kernels *k, const void *x, int64_t stride, int64_t n,   \
                                      int64_t first, const void *m, void *lanes) {                         \
    k->prefix##_##name##_lanes(x, stride, n, first, m, lanes);                                             \
  }                                                                                                        \
  static void prefix##_##name##_columns(const struct kernels *k, const void *x, int64_t stride, int64_t n, \
                                        int64_t first, int64_t width, const void *m, void *lanes) {        \
    k->prefix##_##name##_columns(x, stride, n, first, width, m, lanes);                                    \
  }                                                                                                        \
  static void prefix##_##name##_fold(const struct kernels *k, void *lanes, int64_t width, void *y) {       \
    k->prefix##_##name##_fold(lanes, width, y);                                                            \
  }
#define FLOAT_REDUCTION(name) CALLS(f32, name) CALLS(f64, name)
#define REDUCTION(name) FLOAT_REDUCTION(name) CALLS(i64, name) CALLS(u64, name)
#include "kernels/reduce.inc"
#undef FLOAT_REDUCTION
#undef REDUCTION

#define CALLS_ROW(prefix, name) \
  { prefix##_##name##_begin, prefix##_##name##_lanes, prefix##_##name##_columns, prefix##_##name##_fold }
static const struct lane_calls all_calls[REDUCTION_COUNT][NUMBER_U64 + 1] = {
#define FLOAT_REDUCTION(name) \
  [REDUCTION_##name] = {[NUMBER_F32] = CALLS_ROW(f32, name), [NUMBER_F64] = CALLS_ROW(f64, name)},
#define REDUCTION(name)                                      \
  [REDUCTION_##name] = {[NUMBER_F32] = CALLS_ROW(f32, name), \
                        [NUMBER_F64] = CALLS_ROW(f64, name), \
                        [NUMBER_I64] = CALLS_ROW(i64, name), \
                        [NUMBER_U64] = CALLS_ROW(u64, name)},
#include "kernels/reduce.inc"
#undef FLOAT_REDUCTION
#undef REDUCTION
};

/* --- the walk ---------------------------------------------------------------- */

struct reduce_walk {
  const struct reduce_plan *plan;
  const struct lane_calls *calls;
  const struct kernels *kernels;
  size_t size;
  const char *x, *m;
  char *y;
};

/* Outputs o..o+width-1, whose first elements lie side by side from `base` on. */
static void reduce_columns(const struct reduce_walk *walk, int64_t o, int64_t base, int64_t width) {
  const struct reduce_plan *plan = walk->plan;
  _Alignas(64) char lanes[LANES * COLUMNS * 8];
  const char *m = walk->m != NULL ? walk->m + (size_t)o * walk->size : NULL;
  walk->calls->begin(walk->kernels, lanes, width);
  int last = plan->reduced_rank - 1;
  int64_t n = last >= 0 ? plan->reduced_dims[last] : plan->count;
  int64_t stride = last >= 0 ? plan->reduced_strides[last] : 1;
  int64_t index[ASSAY_RANK_MAX] = {0}, offset = base;
  for (int64_t first = 0; first < plan->count; first += n) {
    const char *x = walk->x + (size_t)offset * walk->size;
    if (width == 1) {
      walk->calls->lanes(walk->kernels, x, stride, n, first, m, lanes);
    } else {
      walk->calls->columns(walk->kernels, x, stride, n, first, width, m, lanes);
    }
    for (int d = last - 1; d >= 0; d--) {
      offset += plan->reduced_strides[d];
      if (++index[d] < plan->reduced_dims[d]) {
        break;
      }
      offset -= plan->reduced_dims[d] * plan->reduced_strides[d];
      index[d] = 0;
    }
  }
  walk->calls->fold(walk->kernels, lanes, width, walk->y + (size_t)o * walk->size);
}

static void reduce_range(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct reduce_walk *walk = argument;
  const struct reduce_plan *plan = walk->plan;
  int last = plan->kept_rank - 1;
  bool side_by_side = last >= 0 && plan->kept_strides[last] == 1;
  for (int64_t o = begin; o < end;) {
    int64_t rest = o, base = 0, room = 1;
    for (int d = last; d >= 0; d--) {
      int64_t index = rest % plan->kept_dims[d];
      rest /= plan->kept_dims[d];
      base += index * plan->kept_strides[d];
      room = d == last && side_by_side ? plan->kept_dims[d] - index : room;
    }
    int64_t width = room < end - o ? room : end - o;
    width = width < COLUMNS ? width : COLUMNS;
    reduce_columns(walk, o, base, width);
    o += width;
  }
}

void reduce_run(const struct reduce_plan *plan, enum reduction reduction, enum number_kind kind, const void *x,
                const void *m, void *y, const struct kernels *kernels, struct pool *pool) {
  struct reduce_walk walk = {.plan = plan,
                             .calls = &all_calls[reduction][kind],
                             .kernels = kernels,
                             .size = number_size(kind),
                             .x = x,
                             .m = m,
                             .y = y};
  int64_t grain = plan->count > 0 ? GRAIN_ELEMENTS / plan->count : GRAIN_ELEMENTS;
  grain = grain < 1 ? 1 : grain;
  if (plan->kept_rank > 0 && plan->kept_strides[plan->kept_rank - 1] == 1 && grain < COLUMNS) {
    grain = COLUMNS; /* columns are computed together */
  }
  pool_for(pool, plan->outputs, grain, reduce_range, &walk);
}
