/* Functions of one number, element by element. Where ONNX defines an operator by a function body, the body's steps
 * are taken one by one, each rounded to the type. Every kernel may write over its input. */
#include <stddef.h>

#include "kernels/ref/elementary.h"
#include "kernels/ref/level.h"

#define UNARY_LOOP(type, prefix, name, expression)                                           \
  void KERNEL(prefix##_##name)(const type *source, type *target, int64_t n, const type *p) { \
    type p0 = p != NULL ? p[0] : 0, p1 = p != NULL ? p[1] : 0;                               \
    (void)p0, (void)p1;                                                                      \
    for (int64_t i = 0; i < n; i++) {                                                        \
      type x = source[i];                                                                    \
      target[i] = (expression);                                                              \
    }                                                                                        \
  }
/* One formula for both types: F(name) is the function of that type. */
#define BOTH(name, expression32, expression64) \
  UNARY_LOOP(float, f32, name, expression32)   \
  UNARY_LOOP(double, f64, name, expression64)
#define BOTH_CALL(name) BOTH(name, name##_f32(x), name##_f64(x))

/* --- exact ------------------------------------------------------------- */
BOTH_CALL(abs)
BOTH(neg, -x, -x)
BOTH_CALL(sign)
BOTH_CALL(floor)
BOTH_CALL(ceil)
BOTH_CALL(round)
BOTH(sqrt, __builtin_sqrtf(x), __builtin_sqrt(x))
BOTH(reciprocal, 1.0F / x, 1.0 / x)

/* --- elementary functions ----------------------------------------------- */
BOTH_CALL(exp)
BOTH_CALL(log)
BOTH_CALL(asin)
BOTH_CALL(acos)
BOTH_CALL(atan)
BOTH_CALL(sinh)
BOTH_CALL(cosh)
BOTH_CALL(tanh)
BOTH_CALL(asinh)
BOTH_CALL(acosh)
BOTH_CALL(atanh)
BOTH_CALL(erf)
BOTH_CALL(sigmoid)
BOTH_CALL(softplus)
UNARY_LOOP(double, f64, sin, sin_f64(x))
UNARY_LOOP(double, f64, cos, cos_f64(x))
UNARY_LOOP(double, f64, tan, tan_f64(x))

/* The three that need a long reduction for large angles: a block is computed as if all angles were near, then the
 * far ones, seldom any, are done again. The block's input is kept, since the target may be the source. */
enum { TRIG_BLOCK = 64 };
#define TRIG_LOOP(name)                                                                    \
  void KERNEL(f32_##name)(const float *source, float *target, int64_t n, const float *p) { \
    (void)p;                                                                               \
    for (int64_t begin = 0; begin < n; begin += TRIG_BLOCK) {                              \
      int32_t m = n - begin < TRIG_BLOCK ? (int32_t)(n - begin) : TRIG_BLOCK;              \
      float x[TRIG_BLOCK];                                                                 \
      __builtin_memcpy(x, source + begin, (size_t)m * sizeof *x);                          \
      int far = 0;                                                                         \
      for (int32_t i = 0; i < m; i++) {                                                    \
        target[begin + i] = name##_f32_near(x[i]);                                         \
        far |= !(abs_f32(x[i]) <= TRIG_LIMIT);                                             \
      }                                                                                    \
      for (int32_t i = 0; far && i < m; i++) {                                             \
        if (!(abs_f32(x[i]) <= TRIG_LIMIT)) {                                              \
          target[begin + i] = name##_f32_far(x[i]);                                        \
        }                                                                                  \
      }                                                                                    \
    }                                                                                      \
  }
TRIG_LOOP(sin)
TRIG_LOOP(cos)
TRIG_LOOP(tan)

/* --- activations, by the steps of their function bodies ----------------- */
BOTH(softsign, x / (1.0F + abs_f32(x)), x / (1.0 + abs_f64(x)))
BOTH(relu, max_f32(x, 0.0F), max_f64(x, 0.0))
BOTH(leaky_relu, x < 0.0F ? p0 * x : x, x < 0.0 ? p0 * x : x)
BOTH(thresholded_relu, p0 < x ? x : 0.0F, p0 < x ? x : 0.0)
BOTH(elu, x < 0.0F ? p0 * (exp_f32(x) - 1.0F) : x, x < 0.0 ? p0 * (exp_f64(x) - 1.0) : x)
BOTH(celu, p0 *(x / p0 < 0.0F ? exp_f32(x / p0) - 1.0F : x / p0), p0 *(x / p0 < 0.0 ? exp_f64(x / p0) - 1.0 : x / p0))
BOTH(selu, x < 0.0F ? p1 * (p0 * exp_f32(x) - p0) : p1 * x, x < 0.0 ? p1 * (p0 * exp_f64(x) - p0) : p1 * x)
BOTH(gelu, (0.5F * x) * (1.0F + erf_f32(x / __builtin_sqrtf(2.0F))),
     (0.5 * x) * (1.0 + erf_f64(x / __builtin_sqrt(2.0))))
/* The parameters are the root of 2 / pi and 0.044715, both as the type holds them. */
BOTH(gelu_tanh, (0.5F * x) * (1.0F + tanh_f32(p0 * (x + p1 * pow_f32(x, 3.0F)))),
     (0.5 * x) * (1.0 + tanh_f64(p0 * (x + p1 * pow_f64(x, 3.0)))))
BOTH(mish, x *tanh_f32(softplus_f32(x)), x *tanh_f64(softplus_f64(x)))
BOTH(swish, x *sigmoid_f32(p0 *x), x *sigmoid_f64(p0 *x))
BOTH(hard_sigmoid, max_f32(min_f32(x *p0 + p1, 1.0F), 0.0F), max_f64(min_f64(x *p0 + p1, 1.0), 0.0))
BOTH(hard_swish, x *max_f32(min_f32(x *p0 + p1, 1.0F), 0.0F), x *max_f64(min_f64(x *p0 + p1, 1.0), 0.0))
BOTH(shrink, x < -p0 ? x + p1 : (p0 < x ? x - p1 : 0.0F), x < -p0 ? x + p1 : (p0 < x ? x - p1 : 0.0))
BOTH(clip, min_f32(max_f32(x, p0), p1), min_f64(max_f64(x, p0), p1))
