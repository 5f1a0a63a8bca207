/* Float formats narrower than fp32: bits to float and back, round half to even.
 * Definitions: IEEE 754-2019 (fp16), bfloat16 as the upper half of fp32, TF32 (8-bit
 * exponent, 10-bit fraction), OCP 8-bit formats E4M3 and E5M2, OCP MX FP4 E2M1 and
 * E8M0, ONNX's FNUZ variants. Pure functions, thread-safe. */
#ifndef TENSOR_FLOATFMT_H
#define TENSOR_FLOATFMT_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/tensor.h"

float fp16_to_float(uint16_t bits);
uint16_t fp16_from_float(float value);   /* |x| >= 65520 becomes Inf; NaN becomes 0x7E00 */
uint16_t fp16_from_double(double value); /* one rounding, not two */
float bf16_to_float(uint16_t bits);
uint16_t bf16_from_float(float value); /* NaN becomes 0x7FC0 */
uint16_t bf16_from_double(double value);
float tf32_round(float value); /* to 10 fraction bits, half to even; NaN, Inf kept */
/* Any 8-bit or 4-bit float dtype of ONNX. `saturate` as in ONNX's Cast (always for
 * E2M1, where NaN becomes the largest number); E8M0 rounds up, Cast's default. */
float small_float_to_float(assay_dtype dtype, uint8_t bits);
uint8_t small_float_from_float(assay_dtype dtype, float value, bool saturate);
uint8_t small_float_from_double(assay_dtype dtype, double value, bool saturate);

/* Rounds a float to what `dtype` (FLOAT16, BFLOAT16, narrower floats with
 * saturation; FLOAT32: as it is) can hold, back in float. */
float float_round_to(assay_dtype dtype, float value);

#endif
