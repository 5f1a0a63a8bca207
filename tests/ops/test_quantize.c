/* Quantisation: ties, range, zero points, axes and blocks. The values of fault 12 are worked out by hand. */
#include "op_fixture.h"

void test_op_QuantizeLinear_10(void **state) {
  (void)state;
  struct op_case *c = op_case_new("QuantizeLinear", "", 13); /* (a) ties go to even */
  op_case_input(c, ASSAY_FLOAT32, DIMS(6), F32(.125F, .375F, .625F, .875F, -.125F, -.375F));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(.25F));
  op_case_input(c, ASSAY_INT8, SCALAR, I8(0));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(6), I8(0, 2, 2, 4, 0, -2));
  op_case_clear_inputs(c); /* (b) saturation; NaN gives the zero point */
  op_case_input(c, ASSAY_FLOAT32, DIMS(7), F32(-129, -128, -127.6F, 127, 128, INFINITY, NAN));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(1));
  op_case_input(c, ASSAY_INT8, SCALAR, I8(0));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(7), I8(-128, -128, -128, 127, 127, 127, 0));
  op_case_clear_inputs(c); /* (c) round first, then add */
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(.5F, 1.5F, -.5F));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(1));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(127));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(3), U8(127, 129, 127));
  op_case_clear_inputs(c); /* no zero point: uint8 */
  op_case_input(c, ASSAY_FLOAT64, DIMS(2), F64(-3, 2.5));
  op_case_input(c, ASSAY_FLOAT64, SCALAR, F64(1));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(2), U8(0, 2));
  op_case_free(c);

  c = op_case_new("QuantizeLinear", "", 19); /* (e) fp16: +-0.2 / 0.25 */
  op_case_input(c, ASSAY_FLOAT16, DIMS(2), U16(0x3266, 0xB266));
  op_case_input(c, ASSAY_FLOAT16, SCALAR, U16(0x3400));
  op_case_input(c, ASSAY_INT8, SCALAR, I8(0));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(2), I8(1, -1));
  op_case_free(c);

  c = op_case_new("QuantizeLinear", "", 13); /* one scale per row */
  op_case_int(c, "axis", 0);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 2), F32(1, 2, 1, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, .5F));
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(0, 10));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(2, 2), I8(1, 2, 12, 14));
  op_case_int(c, "axis", -3);
  op_case_fails(c, ASSAY_NODE_INVALID, "axis");
  op_case_free(c);

  c = op_case_new("QuantizeLinear", "", 21); /* blocks of two along axis 0, packed to four bits */
  op_case_int(c, "axis", 0);
  op_case_int(c, "block_size", 2);
  op_case_int(c, "output_dtype", ASSAY_INT4);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3, 2), F32(1, 2, 3, 4, 5, 100));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 2), F32(1, 2, 5, 1));
  op_case_expect(c, 0, ASSAY_INT4, DIMS(3, 2), U8(0x11, 0x23, 0x71));
  op_case_free(c);
}

void test_op_DequantizeLinear_10(void **state) {
  (void)state;
  struct op_case *c = op_case_new("DequantizeLinear", "", 13);
  op_case_input(c, ASSAY_UINT8, DIMS(3), U8(0, 128, 255));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(.5F));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(128));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(-64, 0, 63.5F));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT32, DIMS(1), I32(-2147483647));
  op_case_input(c, ASSAY_FLOAT64, SCALAR, F64(.5));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(1), F64(-1073741823.5));
  op_case_clear_inputs(c); /* a scale for each of axis 1 */
  op_case_input(c, ASSAY_INT8, DIMS(1, 2), I8(-128, 4));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, .25F));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2), F32(-128, 1));
  op_case_input(c, ASSAY_INT8, DIMS(1), I8(0));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "2 scales and 1 zero points");
  op_case_free(c);
  c = op_case_new("DequantizeLinear", "", 19);
  op_case_input(c, ASSAY_FLOAT8E4M3FN, DIMS(2), U8(0x7E, 0x7F)); /* 448 and NaN */
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(.5F));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(224, NAN));
  op_case_free(c);
}

static void dynamic_gives(int n, const void *in, size_t in_bytes, const void *out, size_t out_bytes, float scale,
                          uint8_t zero) {
  struct op_case *c = op_case_new("DynamicQuantizeLinear", "", 11);
  op_case_outputs(c, 3);
  op_case_input(c, ASSAY_FLOAT32, DIMS(n), in, in_bytes);
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(n), out, out_bytes);
  op_case_expect(c, 1, ASSAY_FLOAT32, SCALAR, F32(scale));
  op_case_expect(c, 2, ASSAY_UINT8, SCALAR, U8(zero));
  op_case_free(c);
}

void test_op_DynamicQuantizeLinear_11(void **state) {
  (void)state;
  dynamic_gives(3, F32(-100, 155, .5F), U8(0, 255, 100), 1, 100);
  dynamic_gives(2, F32(-201, 309), U8(0, 254), 2, 100);
  dynamic_gives(2, F32(2, 4), U8(127, 255), 4.0F / 255, 0); /* widened to hold 0; 4/255 is rounded up */
  dynamic_gives(2, F32(0, 0), U8(0, 0), 1, 0);
}
