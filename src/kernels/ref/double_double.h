/* Numbers as an unevaluated sum of two doubles, about 106 bits, for the functions of fp64. Every step gives the same
 * bits with and without an FMA instruction. Products must stay between 2^-900 and 2^900; callers see to that. */
#ifndef KERNELS_REF_DOUBLE_DOUBLE_H
#define KERNELS_REF_DOUBLE_DOUBLE_H

#include "kernels/ref/fma.h"

struct dd {
  double hi, lo; /* |lo| <= half a unit in the last place of hi */
};

/* a + b exactly (Knuth). */
static inline struct dd dd_sum(double a, double b) {
  double s = a + b, b_part = s - a;
  return (struct dd){s, (a - (s - b_part)) + (b - b_part)};
}

/* a + b exactly where |a| >= |b| or a is 0 (Dekker). */
static inline struct dd dd_sum_ordered(double a, double b) {
  double s = a + b;
  return (struct dd){s, b - (s - a)};
}

/* a * b exactly: by FMA, or by Veltkamp's splitting, which finds the same error. */
static inline struct dd dd_product(double a, double b) {
  double p = a * b;
#if FMA_IN_HARDWARE
  return (struct dd){p, __builtin_fma(a, b, -p)};
#else
  double ta = a * 0x1.0000002p27, tb = b * 0x1.0000002p27;
  double a1 = ta - (ta - a), b1 = tb - (tb - b);
  double a2 = a - a1, b2 = b - b1;
  return (struct dd){p, a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)};
#endif
}

static inline struct dd dd_add(struct dd a, struct dd b) {
  struct dd s = dd_sum(a.hi, b.hi), t = dd_sum(a.lo, b.lo);
  s = dd_sum_ordered(s.hi, s.lo + t.hi);
  return dd_sum_ordered(s.hi, s.lo + t.lo);
}

static inline struct dd dd_add_double(struct dd a, double b) {
  struct dd s = dd_sum(a.hi, b);
  return dd_sum_ordered(s.hi, s.lo + a.lo);
}

static inline struct dd dd_negate(struct dd a) { return (struct dd){-a.hi, -a.lo}; }

static inline struct dd dd_multiply(struct dd a, struct dd b) {
  struct dd p = dd_product(a.hi, b.hi);
  return dd_sum_ordered(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline struct dd dd_multiply_double(struct dd a, double b) {
  struct dd p = dd_product(a.hi, b);
  return dd_sum_ordered(p.hi, p.lo + a.lo * b);
}

/* By a power of two. */
static inline struct dd dd_scale(struct dd a, double power) { return (struct dd){a.hi * power, a.lo * power}; }

static inline struct dd dd_divide(struct dd a, struct dd b) {
  double q = a.hi / b.hi;
  struct dd r = dd_add(a, dd_negate(dd_multiply_double(b, q)));
  double q2 = r.hi / b.hi;
  r = dd_add(r, dd_negate(dd_multiply_double(b, q2)));
  struct dd s = dd_sum_ordered(q, q2);
  return dd_add_double(s, r.hi / b.hi);
}

/* Square root of a >= 0. */
static inline struct dd dd_root(struct dd a) {
  if (!(a.hi > 0.0)) {
    return a;
  }
  double root = __builtin_sqrt(a.hi);
  struct dd rest = dd_add(a, dd_negate(dd_product(root, root)));
  return dd_sum_ordered(root, rest.hi / (2.0 * root));
}

#endif
