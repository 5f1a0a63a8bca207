/* The narrow float formats against their definition, computed another way: every value from
 * ldexp, every rounding from the distance to the two neighbours. */
#include "tensor/floatfmt.h"

#include <math.h>
#include <string.h>

#include "support.h"

struct definition {
  assay_dtype dtype;
  int exponent_bits, fraction_bits, bias;
  bool infinity; /* exponent all ones and fraction 0 */
  bool ieee_nan; /* exponent all ones and fraction not 0 */
  bool last_nan; /* all ones is NaN (E4M3FN) */
  bool zero_nan; /* the bits of -0 are NaN (FNUZ) */
};

static const struct definition definitions[] = {
    {ASSAY_FLOAT16, 5, 10, 15, true, true, false, false},
    {ASSAY_BFLOAT16, 8, 7, 127, true, true, false, false},
    {ASSAY_FLOAT8E4M3FN, 4, 3, 7, false, false, true, false},
    {ASSAY_FLOAT8E4M3FNUZ, 4, 3, 8, false, false, false, true},
    {ASSAY_FLOAT8E5M2, 5, 2, 15, true, true, false, false},
    {ASSAY_FLOAT8E5M2FNUZ, 5, 2, 16, false, false, false, true},
    {ASSAY_FLOAT4E2M1, 2, 1, 1, false, false, false, false},
};
enum { FORMATS = sizeof definitions / sizeof definitions[0] };

static unsigned sign_of(const struct definition *d) { return 1U << (d->exponent_bits + d->fraction_bits); }

/* What the bits stand for, from the definition. */
static double value_of(const struct definition *d, unsigned bits) {
  unsigned sign = sign_of(d), magnitude = bits & (sign - 1);
  int exponent = (int)(magnitude >> d->fraction_bits), top = (1 << d->exponent_bits) - 1;
  double fraction = ldexp((double)(magnitude & ((1U << d->fraction_bits) - 1)), -d->fraction_bits);
  if ((d->zero_nan && bits == sign) || (d->last_nan && magnitude == sign - 1) ||
      (d->ieee_nan && exponent == top && fraction > 0)) {
    return (double)NAN;
  }
  double value = d->infinity && exponent == top ? (double)INFINITY
                 : exponent == 0                ? ldexp(fraction, 1 - d->bias)
                                                : ldexp(1 + fraction, exponent - d->bias);
  return (bits & sign) != 0 ? -value : value;
}

static double to_double(const struct definition *d, unsigned bits) {
  switch (d->dtype) {
    case ASSAY_FLOAT16:
      return (double)fp16_to_float((uint16_t)bits);
    case ASSAY_BFLOAT16:
      return (double)bf16_to_float((uint16_t)bits);
    default:
      return (double)small_float_to_float(d->dtype, (uint8_t)bits);
  }
}

static unsigned from_double(const struct definition *d, double value) {
  switch (d->dtype) {
    case ASSAY_FLOAT16:
      return fp16_from_double(value);
    case ASSAY_BFLOAT16:
      return bf16_from_double(value);
    default:
      return small_float_from_double(d->dtype, value, true);
  }
}

static unsigned from_float(const struct definition *d, float value) {
  switch (d->dtype) {
    case ASSAY_FLOAT16:
      return fp16_from_float(value);
    case ASSAY_BFLOAT16:
      return bf16_from_float(value);
    default:
      return small_float_from_float(d->dtype, value, true);
  }
}

static void assert_bits(const struct definition *d, double value, unsigned expected, unsigned actual) {
  if (expected != actual) {
    print_error("%s of %.17g: expected 0x%x, got 0x%x\n", assay_dtype_name(d->dtype), value, expected, actual);
  }
  assert_int_equal(actual, expected);
}

static void every_value_is_what_the_definition_says(void **state) {
  (void)state;
  for (int f = 0; f < FORMATS; f++) {
    const struct definition *d = &definitions[f];
    for (unsigned bits = 0; bits < 2 * sign_of(d); bits++) {
      double expected = value_of(d, bits), actual = to_double(d, bits);
      bool same = isnan(expected) ? isnan(actual) : expected == actual && signbit(expected) == signbit(actual);
      if (!same) {
        print_error("%s 0x%x: expected %.17g, got %.17g\n", assay_dtype_name(d->dtype), bits, expected, actual);
      }
      assert_true(same);
    }
  }
}

static void every_value_comes_back_as_its_bits(void **state) {
  (void)state;
  for (int f = 0; f < FORMATS; f++) {
    const struct definition *d = &definitions[f];
    for (unsigned bits = 0; bits < 2 * sign_of(d); bits++) {
      double value = value_of(d, bits);
      bool saturates = isinf(value) && d->dtype == ASSAY_FLOAT8E5M2;
      if (isfinite(value) || (isinf(value) && !saturates)) {
        assert_bits(d, value, bits, from_double(d, value));
        assert_bits(d, value, bits, from_float(d, (float)value));
      }
    }
  }
}

/* Between two neighbours: the nearer one; the even one from the middle. Doubles a hair beside
 * the middle see a second rounding that should not be there. */
static void between_neighbours_the_nearer_or_the_even(void **state) {
  (void)state;
  for (int f = 0; f < FORMATS; f++) {
    const struct definition *d = &definitions[f];
    for (unsigned low = 0; low + 1 < sign_of(d); low++) {
      double a = value_of(d, low), b = value_of(d, low + 1);
      if (!isfinite(a) || !isfinite(b)) {
        continue;
      }
      double middle = a + (b - a) / 2; /* exact: both have few bits */
      unsigned even = low % 2 == 0 ? low : low + 1;
      for (unsigned sign = 0; sign <= 1; sign++) {
        double s = sign == 0 ? 1 : -1;
        unsigned mark = sign * sign_of(d);
        unsigned zero_mark = d->zero_nan ? 0 : mark;
        assert_bits(d, s * middle, even | (even == 0 ? zero_mark : mark), from_double(d, s * middle));
        double below = nextafter(middle, 0), above = nextafter(middle, INFINITY);
        assert_bits(d, s * below, low | (low == 0 ? zero_mark : mark), from_double(d, s * below));
        assert_bits(d, s * above, (low + 1) | mark, from_double(d, s * above));
        float middle32 = (float)middle;
        if ((double)middle32 == middle) {
          assert_bits(d, s * middle, even | (even == 0 ? zero_mark : mark), from_float(d, (float)s * middle32));
          float above32 = nextafterf(middle32, INFINITY);
          assert_bits(d, (double)above32, (low + 1) | mark, from_float(d, (float)s * above32));
        }
      }
    }
  }
}

static void the_fast_and_the_general_way_agree(void **state) {
  (void)state;
  uint32_t bits = 1;
  for (int i = 0; i < 500000; i++) {
    bits = bits * 1664525 + 1013904223;
    float value;
    memcpy(&value, &bits, sizeof value);
    assert_int_equal(fp16_from_float(value), fp16_from_double((double)value));
    assert_int_equal(bf16_from_float(value), bf16_from_double((double)value));
  }
}

static void the_ends_of_the_ranges(void **state) {
  (void)state;
  assert_int_equal(fp16_from_float(65504), 0x7BFF);
  assert_int_equal(fp16_from_float(nextafterf(65520, 0)), 0x7BFF);
  assert_int_equal(fp16_from_float(65520), 0x7C00);
  assert_int_equal(fp16_from_float(-65520), 0xFC00);
  assert_int_equal(fp16_from_double(nextafter(65520, 0)), 0x7BFF);
  assert_int_equal(fp16_from_float(INFINITY), 0x7C00);
  assert_int_equal(fp16_from_float(NAN), 0x7E00);
  assert_int_equal(fp16_from_float(-NAN), 0x7E00);
  assert_int_equal(fp16_from_float(ldexpf(1, -25)), 0);
  assert_int_equal(fp16_from_float(nextafterf(ldexpf(1, -25), 1)), 1);
  assert_int_equal(fp16_from_float(-0.0F), 0x8000);
  assert_int_equal(bf16_from_float(3.4028235e38F), 0x7F80);
  assert_int_equal(bf16_from_float(NAN), 0x7FC0);
  assert_int_equal(bf16_from_float(1.4e-45F), 0);
  assert_int_equal(bf16_from_double(1e308), 0x7F80);
  assert_int_equal(fp16_from_double(5e-324), 0);
}

/* ONNX's table of Cast to 8-bit floats: finite overflow, infinity and NaN, saturating or not. */
static void small_floats_overflow_as_cast_does(void **state) {
  (void)state;
  static const struct {
    assay_dtype dtype;
    uint8_t big[2], infinite[2], nan; /* without and with saturation */
  } rows[] = {
      {ASSAY_FLOAT8E4M3FN, {0x7F, 0x7E}, {0x7F, 0x7E}, 0x7F}, {ASSAY_FLOAT8E4M3FNUZ, {0x80, 0x7F}, {0x80, 0x7F}, 0x80},
      {ASSAY_FLOAT8E5M2, {0x7C, 0x7B}, {0x7C, 0x7B}, 0x7F},   {ASSAY_FLOAT8E5M2FNUZ, {0x80, 0x7F}, {0x80, 0x7F}, 0x80},
      {ASSAY_FLOAT4E2M1, {0x07, 0x07}, {0x07, 0x07}, 0x07},   {ASSAY_FLOAT8E8M0, {0xFF, 0xFE}, {0xFF, 0xFE}, 0xFF},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (int saturate = 0; saturate <= 1; saturate++) {
      assert_int_equal(small_float_from_double(rows[i].dtype, 1e300, saturate != 0), rows[i].big[saturate]);
      assert_int_equal(small_float_from_float(rows[i].dtype, INFINITY, saturate != 0), rows[i].infinite[saturate]);
      assert_int_equal(small_float_from_float(rows[i].dtype, NAN, saturate != 0), rows[i].nan);
    }
  }
  assert_int_equal(small_float_from_float(ASSAY_FLOAT8E4M3FN, 464, false), 0x7E); /* a tie: 448 is even */
  assert_int_equal(small_float_from_float(ASSAY_FLOAT8E4M3FN, 465, false), 0x7F);
  assert_int_equal(small_float_from_float(ASSAY_FLOAT8E4M3FNUZ, -0.0F, true), 0);
  assert_int_equal(small_float_from_float(ASSAY_FLOAT8E5M2FNUZ, -1e-30F, true), 0);
}

static void powers_of_two_alone(void **state) {
  (void)state;
  for (unsigned bits = 0; bits < 255; bits++) {
    float expected = ldexpf(1, (int)bits - 127);
    assert_true(small_float_to_float(ASSAY_FLOAT8E8M0, (uint8_t)bits) == expected);
    assert_int_equal(small_float_from_float(ASSAY_FLOAT8E8M0, expected, true), bits);
  }
  assert_true(isnan(small_float_to_float(ASSAY_FLOAT8E8M0, 0xFF)));
  assert_int_equal(small_float_from_float(ASSAY_FLOAT8E8M0, 1.0001F, true), 128);
  assert_int_equal(small_float_from_float(ASSAY_FLOAT8E8M0, -2, true), 128);
  assert_int_equal(small_float_from_float(ASSAY_FLOAT8E8M0, 0, true), 0);
}

static void tf32_keeps_ten_bits(void **state) {
  (void)state;
  const float unit = ldexpf(1, -10);
  assert_true(tf32_round(1 + unit) == 1 + unit);
  assert_true(tf32_round(1 + unit / 2) == 1);
  assert_true(tf32_round(1 + unit * 1.5F) == 1 + 2 * unit);
  assert_true(tf32_round(nextafterf(1 + unit / 2, 2)) == 1 + unit);
  assert_true(isinf(tf32_round(3.4028235e38F)));
  assert_true(isinf(tf32_round(INFINITY)) && isnan(tf32_round(NAN)));
  uint32_t narrow = 0x7F800001, bits; /* a NaN whose payload lies below the kept bits */
  float nan;
  memcpy(&nan, &narrow, sizeof nan);
  nan = tf32_round(nan);
  memcpy(&bits, &nan, sizeof bits);
  assert_true((bits & 0x7FFFFFFF) > 0x7F800000);
}

static void rounding_to_a_type(void **state) {
  (void)state;
  assert_true(float_round_to(ASSAY_FLOAT32, 0.1F) == 0.1F);
  assert_true(float_round_to(ASSAY_FLOAT16, 2049) == 2048);
  assert_true(float_round_to(ASSAY_BFLOAT16, 257) == 256);
  assert_true(float_round_to(ASSAY_FLOAT8E4M3FN, 1000) == 448);
  assert_true(float_round_to(ASSAY_FLOAT4E2M1, -2.5F) == -2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_value_is_what_the_definition_says),
      cmocka_unit_test(every_value_comes_back_as_its_bits),
      cmocka_unit_test(between_neighbours_the_nearer_or_the_even),
      cmocka_unit_test(the_fast_and_the_general_way_agree),
      cmocka_unit_test(the_ends_of_the_ranges),
      cmocka_unit_test(small_floats_overflow_as_cast_does),
      cmocka_unit_test(powers_of_two_alone),
      cmocka_unit_test(tf32_keeps_ten_bits),
      cmocka_unit_test(rounding_to_a_type),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
