/* The 16 virtual lanes of every reduction: element i goes to lane i mod 16, lanes are folded 8, 4, 2, 1. Must never
 * depend on how wide the processor's vectors are. */
#ifndef KERNELS_REF_LANES_H
#define KERNELS_REF_LANES_H

#include "kernels/ref/elementary.h"

enum { LANES = 16 };

/* Feeds n elements into lanes; element number `first` comes first. */
#define LANES_FEED(type, combine, map, x, stride, n, first, lanes)        \
  do {                                                                    \
    int64_t at_ = 0;                                                      \
    for (; at_ < (n) && ((first) + at_) % LANES != 0; at_++) {            \
      int64_t lane_ = ((first) + at_) % LANES;                            \
      (lanes)[lane_] = combine((lanes)[lane_], map((x)[at_ * (stride)])); \
    }                                                                     \
    if ((stride) == 1) {                                                  \
      type held_[LANES];                                                  \
      __builtin_memcpy(held_, (lanes), sizeof held_);                     \
      for (; at_ + LANES <= (n); at_ += LANES) {                          \
        for (int32_t lane_ = 0; lane_ < LANES; lane_++) {                 \
          held_[lane_] = combine(held_[lane_], map((x)[at_ + lane_]));    \
        }                                                                 \
      }                                                                   \
      __builtin_memcpy((lanes), held_, sizeof held_);                     \
    }                                                                     \
    for (; at_ < (n); at_++) {                                            \
      int64_t lane_ = ((first) + at_) % LANES;                            \
      (lanes)[lane_] = combine((lanes)[lane_], map((x)[at_ * (stride)])); \
    }                                                                     \
  } while (0)

/* Folds the lanes of `width` columns; the answers stand in the first row. */
#define LANES_FOLD(combine, lanes, width)                                  \
  do {                                                                     \
    for (int32_t half_ = LANES / 2; half_ > 0; half_ /= 2) {               \
      for (int64_t i_ = 0; i_ < half_ * (width); i_++) {                   \
        (lanes)[i_] = combine((lanes)[i_], (lanes)[i_ + half_ * (width)]); \
      }                                                                    \
    }                                                                      \
  } while (0)

#define LANES_ADD(a, b) ((a) + (b))
#define LANES_SAME(x) (x)

/* The sum of a row. */
static inline float lanes_sum_f32(const float *x, int64_t n) {
  float lanes[LANES] = {0};
  LANES_FEED(float, LANES_ADD, LANES_SAME, x, 1, n, (int64_t)0, lanes);
  LANES_FOLD(LANES_ADD, lanes, 1);
  return lanes[0];
}
static inline double lanes_sum_f64(const double *x, int64_t n) {
  double lanes[LANES] = {0};
  LANES_FEED(double, LANES_ADD, LANES_SAME, x, 1, n, (int64_t)0, lanes);
  LANES_FOLD(LANES_ADD, lanes, 1);
  return lanes[0];
}

#endif
