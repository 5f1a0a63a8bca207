/* Elements of any dtype as numbers, and back. Must round once and no more. */
#include "ops/numbers.h"

#include <string.h>

#include "tensor/floatfmt.h"

enum number_kind number_kind_of(assay_dtype dtype) {
  switch (dtype) {
    case ASSAY_FLOAT64:
      return NUMBER_F64;
    case ASSAY_UINT64:
      return NUMBER_U64;
    case ASSAY_BOOL:
      return NUMBER_I64;
    default:
      return dtype_is_float(dtype) ? NUMBER_F32 : (dtype_is_integer(dtype) ? NUMBER_I64 : NUMBER_NONE);
  }
}

size_t number_size(enum number_kind kind) { return kind == NUMBER_F32 ? 4 : 8; }

bool number_is_native(assay_dtype dtype, enum number_kind kind) {
  return (dtype == ASSAY_FLOAT32 && kind == NUMBER_F32) || (dtype == ASSAY_FLOAT64 && kind == NUMBER_F64) ||
         (dtype == ASSAY_INT64 && kind == NUMBER_I64) || (dtype == ASSAY_UINT64 && kind == NUMBER_U64);
}

/* --- loading ------------------------------------------------------------ */

/* Integers: out[i] as the kind has it. A float of an integer is rounded once. */
#define LOAD_AS(type, out_type, value)                 \
  for (int64_t i = 0; i < n; i++) {                    \
    type x = ((const type *)data)[start + i * stride]; \
    ((out_type *)out)[i] = (out_type)(value);          \
  }                                                    \
  break
#define LOAD_INTEGER(type)        \
  switch (kind) {                 \
    case NUMBER_F32:              \
      LOAD_AS(type, float, x);    \
    case NUMBER_F64:              \
      LOAD_AS(type, double, x);   \
    case NUMBER_I64:              \
      LOAD_AS(type, int64_t, x);  \
    default:                      \
      LOAD_AS(type, uint64_t, x); \
  }                               \
  break

static int64_t i64_from_f64(double x) {
  if (!(x > -0x1p63)) {
    return x == x ? INT64_MIN : 0;
  }
  return x < 0x1p63 ? (int64_t)x : INT64_MAX;
}
static uint64_t u64_from_f64(double x) {
  if (!(x > 0)) {
    return 0;
  }
  return x < 0x1p64 ? (uint64_t)x : UINT64_MAX;
}

/* A float of a format narrower than float, or float itself. */
static float narrow_get(assay_dtype dtype, const void *data, int64_t i) {
  switch (dtype) {
    case ASSAY_FLOAT32:
      return ((const float *)data)[i];
    case ASSAY_FLOAT16:
      return fp16_to_float(((const uint16_t *)data)[i]);
    case ASSAY_BFLOAT16:
      return bf16_to_float(((const uint16_t *)data)[i]);
    case ASSAY_FLOAT4E2M1:
      return small_float_to_float(dtype, (((const uint8_t *)data)[i / 2] >> (i % 2 * 4)) & 15);
    default:
      return small_float_to_float(dtype, ((const uint8_t *)data)[i]);
  }
}

static void load_narrow_float(assay_dtype dtype, const void *data, int64_t start, int64_t stride, int64_t n,
                              enum number_kind kind, void *out) {
  for (int64_t i = 0; i < n; i++) {
    float x = narrow_get(dtype, data, start + i * stride);
    switch (kind) {
      case NUMBER_F32:
        ((float *)out)[i] = x;
        break;
      case NUMBER_F64:
        ((double *)out)[i] = (double)x;
        break;
      case NUMBER_I64:
        ((int64_t *)out)[i] = i64_from_f64((double)x);
        break;
      default:
        ((uint64_t *)out)[i] = u64_from_f64((double)x);
        break;
    }
  }
}

static void load_f64(const void *data, int64_t start, int64_t stride, int64_t n, enum number_kind kind, void *out) {
  switch (kind) {
    case NUMBER_F32:
      LOAD_AS(double, float, x);
    case NUMBER_F64:
      LOAD_AS(double, double, x);
    case NUMBER_I64:
      LOAD_AS(double, int64_t, i64_from_f64(x));
    default:
      LOAD_AS(double, uint64_t, u64_from_f64(x));
  }
}

/* Integers of fewer than 8 bits, low bits first in their bytes. */
static int64_t packed_get(assay_dtype dtype, const void *data, int64_t i) {
  unsigned bits = (unsigned)assay_dtype_bits(dtype), each = 8 / bits;
  unsigned field = (unsigned)((const uint8_t *)data)[i / each] >> (unsigned)(i % each) * bits & ((1U << bits) - 1);
  bool negative = dtype_is_signed(dtype) && field >> (bits - 1) != 0;
  return (int64_t)field - (negative ? (int64_t)1 << bits : 0);
}

static void load_packed(assay_dtype dtype, const void *data, int64_t start, int64_t stride, int64_t n,
                        enum number_kind kind, void *out) {
  for (int64_t i = 0; i < n; i++) {
    int64_t x = packed_get(dtype, data, start + i * stride);
    switch (kind) {
      case NUMBER_F32:
        ((float *)out)[i] = (float)x;
        break;
      case NUMBER_F64:
        ((double *)out)[i] = (double)x;
        break;
      default:
        ((int64_t *)out)[i] = x;
        break;
    }
  }
}

void numbers_load(assay_dtype dtype, const void *data, int64_t start, int64_t stride, int64_t n, enum number_kind kind,
                  void *out) {
  if (number_is_native(dtype, kind) && stride == 1) {
    size_t size = number_size(kind);
    memcpy(out, (const char *)data + (size_t)start * size, (size_t)n * size);
    return;
  }
  switch (dtype) {
    case ASSAY_FLOAT64:
      load_f64(data, start, stride, n, kind, out);
      break;
    case ASSAY_BOOL:
    case ASSAY_UINT8:
      LOAD_INTEGER(uint8_t);
    case ASSAY_INT8:
      LOAD_INTEGER(int8_t);
    case ASSAY_UINT16:
      LOAD_INTEGER(uint16_t);
    case ASSAY_INT16:
      LOAD_INTEGER(int16_t);
    case ASSAY_UINT32:
      LOAD_INTEGER(uint32_t);
    case ASSAY_INT32:
      LOAD_INTEGER(int32_t);
    case ASSAY_UINT64:
      LOAD_INTEGER(uint64_t);
    case ASSAY_INT64:
      LOAD_INTEGER(int64_t);
    case ASSAY_UINT4:
    case ASSAY_INT4:
    case ASSAY_UINT2:
    case ASSAY_INT2:
      load_packed(dtype, data, start, stride, n, kind, out);
      break;
    default:
      load_narrow_float(dtype, data, start, stride, n, kind, out);
      break;
  }
}

/* --- storing ------------------------------------------------------------ */

static void packed_set(void *data, unsigned bits, int64_t i, unsigned field) {
  unsigned each = 8 / bits, shift = (unsigned)(i % each) * bits, mask = ((1U << bits) - 1) << shift;
  uint8_t *byte = (uint8_t *)data + i / each;
  /* The first field clears the rest, so that what pads the last byte is 0. */
  *byte = (uint8_t)(((shift == 0 ? 0U : *byte) & ~mask) | (field << shift & mask));
}

/* From float or double; 64-bit integers come through double only where that is exact. */
static void narrow_set(assay_dtype dtype, void *data, int64_t i, float x, double wide, bool is_wide, bool saturate) {
  switch (dtype) {
    case ASSAY_FLOAT16:
      ((uint16_t *)data)[i] = is_wide ? fp16_from_double(wide) : fp16_from_float(x);
      break;
    case ASSAY_BFLOAT16:
      ((uint16_t *)data)[i] = is_wide ? bf16_from_double(wide) : bf16_from_float(x);
      break;
    case ASSAY_FLOAT4E2M1:
      packed_set(data, 4, i,
                 is_wide ? small_float_from_double(dtype, wide, saturate) : small_float_from_float(dtype, x, saturate));
      break;
    default:
      ((uint8_t *)data)[i] =
          is_wide ? small_float_from_double(dtype, wide, saturate) : small_float_from_float(dtype, x, saturate);
      break;
  }
}

/* A 64-bit integer as a double that rounds to any narrow float as the integer itself would: below 2^53 it is exact;
 * above, the low bits are folded into a sticky one, far below the last place of every narrow float. */
static double f64_of_integer(int64_t x, bool is_unsigned) {
  bool negative = !is_unsigned && x < 0;
  uint64_t magnitude = negative ? 0 - (uint64_t)x : (uint64_t)x;
  if (magnitude >> 53 != 0) {
    magnitude = (magnitude & ~UINT64_C(0xFFF)) | ((magnitude & 0xFFF) != 0 ? UINT64_C(0x1000) : 0);
  }
  return negative ? -(double)magnitude : (double)magnitude;
}

static void store_narrow_float(assay_dtype dtype, void *data, int64_t start, int64_t n, enum number_kind kind,
                               const void *in, bool saturate) {
  for (int64_t i = 0; i < n; i++) {
    if (kind == NUMBER_F32) {
      narrow_set(dtype, data, start + i, ((const float *)in)[i], 0, false, saturate);
    } else {
      double wide =
          kind == NUMBER_F64 ? ((const double *)in)[i] : f64_of_integer(((const int64_t *)in)[i], kind == NUMBER_U64);
      narrow_set(dtype, data, start + i, 0, wide, true, saturate);
    }
  }
}

#define STORE_AS(type, in_type, value)         \
  for (int64_t i = 0; i < n; i++) {            \
    in_type x = ((const in_type *)in)[i];      \
    ((type *)data)[start + i] = (type)(value); \
  }                                            \
  break
/* low, high: the range of the type; doubles hold both ends of all types of up to 32 bits. */
#define STORE_INTEGER(type, low, high)                        \
  switch (kind) {                                             \
    case NUMBER_F32:                                          \
      STORE_AS(type, float, saturated((double)x, low, high)); \
    case NUMBER_F64:                                          \
      STORE_AS(type, double, saturated(x, low, high));        \
    case NUMBER_I64:                                          \
      STORE_AS(type, int64_t, x);                             \
    default:                                                  \
      STORE_AS(type, uint64_t, x);                            \
  }                                                           \
  break

static int64_t saturated(double x, double low, double high) {
  return x >= high ? (int64_t)high : (x <= low ? (int64_t)low : (x == x ? (int64_t)x : 0));
}

/* Below a byte a float keeps the low bits of its truncated integer, as ONNX's own tests have it. */
static void store_packed(assay_dtype dtype, void *data, int64_t start, int64_t n, enum number_kind kind,
                         const void *in) {
  unsigned bits = (unsigned)assay_dtype_bits(dtype);
  for (int64_t i = 0; i < n; i++) {
    int64_t x = kind == NUMBER_F32   ? i64_from_f64((double)((const float *)in)[i])
                : kind == NUMBER_F64 ? i64_from_f64(((const double *)in)[i])
                                     : ((const int64_t *)in)[i];
    packed_set(data, bits, start + i, (unsigned)((uint64_t)x & 15));
  }
}

static void store_64(assay_dtype dtype, void *data, int64_t start, int64_t n, enum number_kind kind, const void *in) {
  if (dtype == ASSAY_INT64) {
    switch (kind) {
      case NUMBER_F32:
        STORE_AS(int64_t, float, i64_from_f64((double)x));
      case NUMBER_F64:
        STORE_AS(int64_t, double, i64_from_f64(x));
      default:
        STORE_AS(int64_t, int64_t, x);
    }
    return;
  }
  switch (kind) {
    case NUMBER_F32:
      STORE_AS(uint64_t, float, u64_from_f64((double)x));
    case NUMBER_F64:
      STORE_AS(uint64_t, double, u64_from_f64(x));
    default:
      STORE_AS(uint64_t, uint64_t, x);
  }
}

static void store_float(void *data, int64_t start, int64_t n, enum number_kind kind, const void *in) {
  switch (kind) {
    case NUMBER_F32:
      STORE_AS(float, float, x);
    case NUMBER_F64:
      STORE_AS(float, double, x);
    case NUMBER_I64:
      STORE_AS(float, int64_t, x);
    default:
      STORE_AS(float, uint64_t, x);
  }
}

static void store_double(void *data, int64_t start, int64_t n, enum number_kind kind, const void *in) {
  switch (kind) {
    case NUMBER_F32:
      STORE_AS(double, float, x);
    case NUMBER_F64:
      STORE_AS(double, double, x);
    case NUMBER_I64:
      STORE_AS(double, int64_t, x);
    default:
      STORE_AS(double, uint64_t, x);
  }
}

static void store_bool(void *data, int64_t start, int64_t n, enum number_kind kind, const void *in) {
  switch (kind) {
    case NUMBER_F32:
      STORE_AS(uint8_t, float, x != 0.0F);
    case NUMBER_F64:
      STORE_AS(uint8_t, double, x != 0.0);
    default:
      STORE_AS(uint8_t, int64_t, x != 0);
  }
}

void numbers_store_saturating(assay_dtype dtype, void *data, int64_t start, int64_t n, enum number_kind kind,
                              const void *in, bool saturate) {
  switch (dtype) {
    case ASSAY_FLOAT32:
      store_float(data, start, n, kind, in);
      break;
    case ASSAY_FLOAT64:
      store_double(data, start, n, kind, in);
      break;
    case ASSAY_BOOL:
      store_bool(data, start, n, kind, in);
      break;
    case ASSAY_UINT8:
      STORE_INTEGER(uint8_t, 0.0, 255.0);
    case ASSAY_INT8:
      STORE_INTEGER(int8_t, -128.0, 127.0);
    case ASSAY_UINT16:
      STORE_INTEGER(uint16_t, 0.0, 65535.0);
    case ASSAY_INT16:
      STORE_INTEGER(int16_t, -32768.0, 32767.0);
    case ASSAY_UINT32:
      STORE_INTEGER(uint32_t, 0.0, 4294967295.0);
    case ASSAY_INT32:
      STORE_INTEGER(int32_t, -2147483648.0, 2147483647.0);
    case ASSAY_UINT64:
    case ASSAY_INT64:
      store_64(dtype, data, start, n, kind, in);
      break;
    case ASSAY_UINT4:
    case ASSAY_INT4:
    case ASSAY_UINT2:
    case ASSAY_INT2:
      store_packed(dtype, data, start, n, kind, in);
      break;
    default:
      store_narrow_float(dtype, data, start, n, kind, in, saturate);
      break;
  }
}

void numbers_store(assay_dtype dtype, void *data, int64_t start, int64_t n, enum number_kind kind, const void *in) {
  numbers_store_saturating(dtype, data, start, n, kind, in, true);
}

double number_get_f64(const assay_tensor *tensor, int64_t i) {
  double x;
  numbers_load(tensor->dtype, tensor->data, i, 1, 1, NUMBER_F64, &x);
  return x;
}

float number_get_f32(const assay_tensor *tensor, int64_t i) {
  float x;
  numbers_load(tensor->dtype, tensor->data, i, 1, 1, NUMBER_F32, &x);
  return x;
}

int64_t number_get_i64(const assay_tensor *tensor, int64_t i) {
  int64_t x;
  numbers_load(tensor->dtype, tensor->data, i, 1, 1, NUMBER_I64, &x);
  return x;
}
