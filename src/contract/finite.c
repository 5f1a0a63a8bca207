/* Finiteness from exponent and fraction, as integers: see finite.h. No arithmetic is done with the value. */
#include "contract/finite.h"

#include <stdint.h>
#include <string.h>

static const uint64_t exponent_mask = UINT64_C(0x7FF0000000000000);
static const uint64_t magnitude_mask = UINT64_C(0x7FFFFFFFFFFFFFFF);

static uint64_t magnitude_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits & magnitude_mask;
}

bool value_is_finite(double value) { return magnitude_bits(value) < exponent_mask; }
bool value_is_nan(double value) { return magnitude_bits(value) > exponent_mask; }
bool value_is_inf(double value) { return magnitude_bits(value) == exponent_mask; }
