/* Resize and Upsample: what changed between opsets 10 and 11 (fault 2), coordinates, nearest rules, cubic,
 * antialiasing. */
#include "op_fixture.h"

/* [1,1,1,n] resized along the last dimension by a scale. */
static struct op_case *by_scale(const char *op, int64_t opset, int n, const void *values, size_t bytes, float scale) {
  struct op_case *c = op_case_new(op, "", opset);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1, n), values, bytes);
  if (opset < 9) {
    op_case_floats(c, "scales", (const float[]){1, 1, 1, scale}, 4);
    return c;
  }
  if (opset > 10) {
    op_case_absent(c);
  }
  op_case_input(c, ASSAY_FLOAT32, DIMS(4), F32(1, 1, 1, scale));
  return c;
}

static void linear_twice(const char *op, int64_t opset, float second, float third) {
  struct op_case *c = by_scale(op, opset, 2, F32(0, 10), 2);
  op_case_string(c, "mode", "linear");
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 4), F32(0, second, third, 10));
  op_case_free(c);
}

static void nearest_quarter(const char *op, int64_t opset, float first, float second) {
  struct op_case *c = by_scale(op, opset, 8, F32(0, 1, 2, 3, 4, 5, 6, 7), 0.25F);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 2), F32(first, second));
  op_case_free(c);
}

void test_op_Resize_10(void **state) {
  (void)state;
  linear_twice("Resize", 10, 5, 10);
  nearest_quarter("Resize", 10, 0, 4);
}

void test_op_Upsample_7(void **state) {
  (void)state;
  linear_twice("Upsample", 7, 5, 10);
  nearest_quarter("Upsample", 7, 0, 4);
}

void test_op_Upsample_9(void **state) {
  (void)state;
  linear_twice("Upsample", 9, 5, 10);
  nearest_quarter("Upsample", 9, 0, 4);
}

static struct op_case *four_by_four(int64_t opset) {
  struct op_case *c = op_case_new("Resize", "", opset);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 4, 4), F32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
  return c;
}

static void sizes_and_rules(void) {
  struct op_case *c = op_case_new("Resize", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1, 4), F32(1, 2, 3, 4));
  op_case_absent(c);
  op_case_absent(c);
  op_case_input(c, ASSAY_INT64, DIMS(4), I64(1, 1, 1, 2));
  /* Coordinates 0.5 and 2.5. */
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 2), F32(1, 3));
  op_case_string(c, "nearest_mode", "round_prefer_ceil");
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 2), F32(2, 4));
  op_case_string(c, "nearest_mode", "floor");
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 2), F32(1, 3));
  op_case_string(c, "nearest_mode", "ceil");
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 2), F32(2, 4));
  op_case_string(c, "coordinate_transformation_mode", "align_corners"); /* 0 and 3 */
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 2), F32(1, 4));
  op_case_string(c, "coordinate_transformation_mode", "sideways");
  op_case_fails(c, ASSAY_NODE_INVALID, "'sideways'");
  op_case_free(c);
  c = op_case_new("Resize", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 2));
  op_case_fails(c, ASSAY_NODE_INVALID, "neither");
  op_case_free(c);
}

/* Sizes for two axes alone; the sides kept in proportion. */
static void axes_and_policy(void) {
  struct op_case *c = op_case_new("Resize", "", 18);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 2, 4), F32(1, 2, 3, 4, 5, 6, 7, 8));
  op_case_absent(c);
  op_case_absent(c);
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(1, 3));
  op_case_ints(c, "axes", DIMS(2, 3));
  op_case_string(c, "keep_aspect_ratio_policy", "not_smaller");
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 2, 3), F32(1, 2, 4, 5, 6, 8));
  op_case_string(c, "keep_aspect_ratio_policy", "not_larger");
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 2), F32(1, 3));
  op_case_free(c);
}

/* A part of the image, and what lies beyond it. */
static void crop(void) {
  struct op_case *c = op_case_new("Resize", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(4), F32(1, 2, 3, 4));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(0, 2));
  op_case_absent(c);
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(3));
  op_case_string(c, "coordinate_transformation_mode", "tf_crop_and_resize");
  op_case_string(c, "mode", "linear");
  op_case_float(c, "extrapolation_value", -1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(1, 4, -1)); /* at 0, 3, 6 */
  op_case_string(c, "mode", "nearest");
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(1, 4, -1));
  op_case_free(c);
}

void test_op_Resize_11(void **state) {
  (void)state;
  linear_twice("Resize", 11, 2.5F, 7.5F);
  nearest_quarter("Resize", 11, 1, 5);
  sizes_and_rules();
  axes_and_policy();
  crop();
  /* Cubic at 0.125 of a pixel past the middle, A = -0.75: values of the specification's example. */
  struct op_case *c = four_by_four(11);
  op_case_absent(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(4), F32(1, 1, 0.8F, 0.8F));
  op_case_string(c, "mode", "cubic");
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 3, 3),
                      F32(1.47119141F, 2.78125F, 4.08251953F, 6.71142578F, 8.02148438F, 9.32275391F, 11.9165039F,
                          13.2265625F, 14.527832F),
                      1e-5, 0);
  op_case_free(c);
  /* Linear with a filter as wide as what it replaces: halving averages pairs with their neighbours 1:3:3:1. */
  c = op_case_new("Resize", "", 18);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1, 4), F32(0, 8, 16, 24));
  op_case_absent(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(4), F32(1, 1, 1, 0.5F));
  op_case_string(c, "mode", "linear");
  op_case_int(c, "antialias", 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 2), F32(5, 19));
  op_case_free(c);
  /* Two axes, several rows: the answer is that of one axis after the other. */
  c = op_case_new("Resize", "", 19);
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 1, 2, 2), F64(0, 4, 8, 12));
  op_case_absent(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(4), F32(1, 1, 2, 2));
  op_case_string(c, "mode", "linear");
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(1, 1, 4, 4), F64(0, 1, 3, 4, 2, 3, 5, 6, 6, 7, 9, 10, 8, 9, 11, 12));
  op_case_free(c);
}
