/* Casts between all kinds of numbers (fault 1: none of them is nothing), and Clip. */
#include "op_fixture.h"

#define INF INFINITY

static void casts(assay_dtype from, int n, const void *in, size_t in_bytes, assay_dtype to, const void *out,
                  size_t out_bytes) {
  struct op_case *c = op_case_new("Cast", "", 21);
  op_case_input(c, from, DIMS(n), in, in_bytes);
  op_case_int(c, "to", to);
  op_case_expect(c, 0, to, DIMS(n), out, out_bytes);
  op_case_free(c);
}

void test_op_Cast_6(void **state) {
  (void)state;
  /* Fault 1 a: truncated first, then asked whether it is zero. */
  casts(ASSAY_FLOAT32, 7, F32(-0.9F, -0.4F, 0, 0.4F, 0.9F, 1, -1.5F), ASSAY_INT32, I32(0, 0, 0, 0, 0, 1, -1));
  casts(ASSAY_INT32, 7, I32(0, 0, 0, 0, 0, 1, -1), ASSAY_BOOL, BOOL(0, 0, 0, 0, 0, 1, 1));
  casts(ASSAY_FLOAT32, 5, F32(-0.0F, 0.4F, NAN, INF, 1e-45F), ASSAY_BOOL, BOOL(0, 1, 1, 1, 1));
  /* b: float to float16 and back. */
  casts(ASSAY_FLOAT32, 6, F32(1e-8F, 65519, 65520, 2049, 0.1F, -1e38F), ASSAY_FLOAT16,
        U16(0, 0x7BFF, 0x7C00, 0x6800, 0x2E66, 0xFC00));
  casts(ASSAY_FLOAT16, 6, U16(0, 0x7BFF, 0x7C00, 0x6800, 0x2E66, 0xFC00), ASSAY_FLOAT32,
        F32(0, 65504, INF, 2048, 0.0999755859375F, -INF));
  /* c: double to float and back. */
  casts(ASSAY_FLOAT64, 2, F64(0.1, 16777217), ASSAY_FLOAT32, F32(0.1F, 16777216));
  casts(ASSAY_FLOAT32, 2, F32(0.1F, 16777216), ASSAY_FLOAT64, F64(0.10000000149011612, 16777216));
  /* d: integers keep their low bits. */
  casts(ASSAY_INT32, 3, I32(-1, 256, 5), ASSAY_UINT8, U8(255, 0, 5));
  casts(ASSAY_UINT8, 3, U8(255, 0, 5), ASSAY_INT32, I32(255, 0, 5));
  casts(ASSAY_INT64, 2, I64(INT64_MIN, INT64_C(0x1FFFFFFFF)), ASSAY_INT32, I32(0, -1));
  casts(ASSAY_UINT64, 1, U64(UINT64_MAX), ASSAY_INT64, I64(-1));
  /* e: what ArgMax of a float16 sees. */
  casts(ASSAY_FLOAT32, 2, F32(1, 1.0001F), ASSAY_FLOAT16, U16(0x3C00, 0x3C00));
  /* Out of range: saturated; NaN is 0. */
  casts(ASSAY_FLOAT32, 5, F32(-1, 256, NAN, 255.9F, INF), ASSAY_UINT8, U8(0, 255, 0, 255, 255));
  casts(ASSAY_FLOAT64, 4, F64(3e9, -3e9, (double)NAN, -0.99), ASSAY_INT32, I32(INT32_MAX, INT32_MIN, 0, 0));
  casts(ASSAY_FLOAT32, 3, F32(9.3e18F, -INF, 0x1p62F), ASSAY_INT64, I64(INT64_MAX, INT64_MIN, INT64_C(1) << 62));
  casts(ASSAY_FLOAT64, 2, F64(2e19, -1), ASSAY_UINT64, U64(UINT64_MAX, 0));
  /* One rounding, where two would differ: just above the middle of two float16 and two floats. */
  casts(ASSAY_FLOAT64, 1, F64(1 + 0x1p-11 + 0x1p-40), ASSAY_FLOAT16, U16(0x3C01));
  casts(ASSAY_INT64, 1, I64((INT64_C(1) << 60) + (INT64_C(1) << 36) + 1), ASSAY_FLOAT32, F32(0x1.000002p60F));
  casts(ASSAY_INT64, 1, I64((INT64_C(1) << 60) + (INT64_C(1) << 52) + 1), ASSAY_BFLOAT16, U16(0x5D81));
  casts(ASSAY_BOOL, 2, BOOL(1, 0), ASSAY_FLOAT32, F32(1, 0));
  casts(ASSAY_INT8, 2, I8(-8, 7), ASSAY_INT4, U8(0x78)); /* two in a byte, low bits first */
  casts(ASSAY_INT4, 2, U8(0x78), ASSAY_FLOAT32, F32(-8, 7));
  casts(ASSAY_FLOAT32, 3, F32(9, -3, 1.9F), ASSAY_UINT4, U8(0xD9, 0x01));
  casts(ASSAY_FLOAT32, 3, F32(448, 1000, 0.5F), ASSAY_FLOAT8E4M3FN, U8(0x7E, 0x7E, 0x30));
  casts(ASSAY_FLOAT8E5M2, 2, U8(0x3C, 0xFC), ASSAY_FLOAT32, F32(1, -INF));
  struct op_case *c = op_case_new("Cast", "", 21);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1000, INF));
  op_case_int(c, "to", ASSAY_FLOAT8E4M3FN);
  op_case_int(c, "saturate", 0);
  op_case_expect(c, 0, ASSAY_FLOAT8E4M3FN, DIMS(2), U8(0x7F, 0x7F));
  op_case_int(c, "to", 99);
  op_case_fails(c, ASSAY_NODE_INVALID, "names a type");
  op_case_free(c);
}

/* Every NaN becomes the same one. */
static void one_nan(void) {
  static const uint32_t bits[] = {0xFFC12345, 0x7F800001};
  float in[2];
  memcpy(in, bits, sizeof in);
  struct op_case *c = op_case_new("Cast", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), in, sizeof in);
  op_case_int(c, "to", ASSAY_FLOAT32);
  assert_memory_equal(op_case_output(c, 0)->data, ((const uint32_t[]){0x7FC00000, 0x7FC00000}), sizeof in);
  op_case_free(c);
}

void test_op_Cast_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Cast", "", 5);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1.5F, -2));
  op_case_string(c, "to", "INT64");
  op_case_expect(c, 0, ASSAY_INT64, DIMS(2), I64(1, -2));
  op_case_string(c, "to", "DOUBLE");
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(2), F64(1.5, -2));
  op_case_string(c, "to", "FLOATS");
  op_case_fails(c, ASSAY_NODE_INVALID, "names a type");
  op_case_free(c);
  one_nan();
}

void test_op_CastLike_15(void **state) {
  (void)state;
  struct op_case *c = op_case_new("CastLike", "", 19);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1.5F, -2));
  op_case_input(c, ASSAY_INT16, DIMS(0), EMPTY);
  op_case_expect(c, 0, ASSAY_INT16, DIMS(2), I16(1, -2));
  op_case_free(c);
}

void test_op_BitCast_26(void **state) {
  (void)state;
  struct op_case *c = op_case_new("BitCast", "", 26);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, -2));
  op_case_int(c, "to", ASSAY_INT32);
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2), I32(0x3F800000, INT32_MIN + 0x40000000));
  op_case_int(c, "to", ASSAY_INT64);
  op_case_fails(c, ASSAY_TYPE_CONFLICT, "differ in size");
  op_case_free(c);
}

/* Until opset 10 bounds are attributes, and without them the largest floats. */
void test_op_Clip_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Clip", "", 6);
  op_case_input(c, ASSAY_FLOAT32, DIMS(4), F32(-INF, NAN, 2, -0.0F));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(4), F32(-0x1.fffffep127F, NAN, 2, -0.0F));
  op_case_float(c, "min", 0);
  op_case_float(c, "max", 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(4), F32(0, NAN, 1, 0));
  op_case_free(c);
}

/* Fault 7: NaN comes through. */
void test_op_Clip_11(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Clip", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(4), F32(NAN, 2, -3, INF));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(4), F32(NAN, 2, -3, INF));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(-1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(4), F32(NAN, 2, -1, INF));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(4), F32(NAN, 1, -1, 1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(-5, 5)); /* bounds the wrong way round: the upper one */
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(2));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(1, 1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT8, DIMS(3), I8(-128, 3, 127));
  op_case_absent(c);
  op_case_input(c, ASSAY_INT8, SCALAR, I8(5));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(3), I8(-128, 3, 5));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT64, DIMS(2), U64(UINT64_MAX, 3));
  op_case_input(c, ASSAY_UINT64, SCALAR, U64(4));
  op_case_expect(c, 0, ASSAY_UINT64, DIMS(2), U64(UINT64_MAX, 4));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 2));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "2 elements");
  op_case_free(c);
}
