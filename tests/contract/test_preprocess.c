/* Preprocessing against values worked out by hand, and against what Pillow 13, OpenCV 4.10 and 5.0 and NumPy
 * answered for the same small image. */
#include <math.h>
#include <string.h>

#include "contract/apply.h"
#include "core/memory.h"
#include "support.h"

/* The contract of one input x with these words in it. */
static struct contract *contract_of(const char *input) {
  char text[2000];
  snprintf(text, sizeof text,
           "assay: 1\npolicy: p\nmodel: m.onnx\ninputs: [{name: x, %s}]\n"
           "outputs: [{name: y, dtype: float32, shape: [1], components: [{name: a, unit: rad}]}]\n",
           input);
  struct contract *contract = NULL;
  ASSERT_OK(contract_parse(text, strlen(text), "c.yaml", ".", &contract));
  return contract;
}

static assay_tensor view(assay_dtype dtype, int32_t rank, const int64_t *dims, void *data) {
  assay_tensor tensor = {.dtype = dtype, .rank = rank, .data = data};
  for (int32_t i = 0; i < rank; i++) {
    tensor.dims[i] = dims[i];
  }
  assert_true(dtype_bytes(dtype, tensor_count(&tensor), &tensor.bytes));
  return tensor;
}
#define DIMS(...) \
  (int32_t)(sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t)), (const int64_t[]) { __VA_ARGS__ }

static void assert_preprocessed(const char *input, const assay_tensor *raw, const double *expected, int64_t count) {
  struct contract *contract = contract_of(input);
  assay_tensor out;
  ASSERT_OK(contract_preprocess(&contract->inputs[0], raw, &out));
  assert_int_equal(tensor_count(&out), count);
  assert_int_equal(out.dtype, contract->inputs[0].dtype);
  assert_int_equal(out.rank, contract->inputs[0].rank);
  for (int64_t i = 0; i < count; i++) {
    double actual = tensor_get(&out, i);
    if (!(actual == expected[i] || (isnan(actual) && isnan(expected[i])))) {
      print_error("%s\nelement %d: expected %.17g, actual %.17g\n", input, (int)i, expected[i], actual);
      fail();
    }
  }
  tensor_free(&out);
  contract_free(contract);
}

static void assert_refused(const char *input, const assay_tensor *raw, const char *part) {
  struct contract *contract = contract_of(input);
  assay_tensor out;
  ASSERT_FAILS(contract_preprocess(&contract->inputs[0], raw, &out), ASSAY_PREPROCESS_INVALID, part);
  assert_null(out.data);
  contract_free(contract);
}

static void passes_nan_and_refuses_empties(void **state) {
  (void)state;
  float values[] = {NAN, 1, -INFINITY};
  assay_tensor raw = view(ASSAY_FLOAT32, DIMS(3), values);
  assert_preprocessed("dtype: float32, shape: [1, 3], preprocess: [{scale: 2}]", &raw,
                      (double[]){(double)NAN, 2, -(double)INFINITY}, 3);
  assert_refused("dtype: uint8, shape: [3], preprocess: [{cast: uint8}]", &raw, "element 0 is NaN");
  assay_tensor empty = view(ASSAY_UINT8, DIMS(0, 4, 3), NULL);
  assert_refused(
      "dtype: uint8, shape: [2, 2, 3], layout: HWC, preprocess: [{resize: {height: 2, width: 2, filter: nearest}}]",
      &empty, "the image is empty");
  /* a NaN in one pixel stays where the filter reaches it */
  float image[] = {0, NAN, 4, 8};
  assay_tensor row = view(ASSAY_FLOAT32, DIMS(1, 4, 1), image);
  assert_preprocessed(
      "dtype: float32, shape: [1, 2, 1], layout: HWC, preprocess: [{resize: {height: 1, width: 2, filter: area}}]",
      &row, (double[]){(double)NAN, 6}, 2);
}

static void resizes_by_hand(void **state) {
  (void)state;
  float ramp[] = {0, 10};
  assay_tensor raw = view(ASSAY_FLOAT32, DIMS(1, 2, 1), ramp);
#define ROW "dtype: float32, shape: [1, 4, 1], layout: HWC, preprocess: [{resize: {height: 1, width: 4, filter: "
  assert_preprocessed(ROW "bilinear}}]", &raw, (double[]){0, 2.5, 7.5, 10}, 4);
  assert_preprocessed(ROW "bilinear, coordinates: asymmetric}}]", &raw, (double[]){0, 5, 10, 10}, 4);
  assert_preprocessed(ROW "bilinear, coordinates: align_corners}}]", &raw,
                      (double[]){0, (double)(float)(10.0 / 3), (double)(float)(20.0 / 3), 10}, 4);
  assert_preprocessed(ROW "nearest}}]", &raw, (double[]){0, 0, 10, 10}, 4);
  assert_preprocessed(ROW "nearest, coordinates: align_corners}}]", &raw, (double[]){0, 0, 10, 10}, 4);
  /* position -0.25: weights of A = -0.75 at distances 1.75, 0.75, 0.25, 1.25, the left three on the edge */
  assert_preprocessed(ROW "bicubic}}]", &raw, (double[]){-1.0546875, 2.265625, 7.734375, 11.0546875}, 4);
#undef ROW
  float eight[] = {0, 1, 2, 3, 4, 5, 6, 7};
  assay_tensor long_row = view(ASSAY_FLOAT32, DIMS(1, 8, 1), eight);
#define ROW "dtype: float32, shape: [1, 2, 1], layout: HWC, preprocess: [{resize: {height: 1, width: 2, filter: "
  assert_preprocessed(ROW "nearest, coordinates: asymmetric}}]", &long_row, (double[]){0, 4}, 2);
  assert_preprocessed(ROW "nearest}}]", &long_row, (double[]){2, 6}, 2);
  assert_preprocessed(ROW "area}}]", &long_row, (double[]){1.5, 5.5}, 2);
  assert_preprocessed(ROW "area}}]", &raw, (double[]){0, 10}, 2);
#undef ROW
  assert_refused(
      "dtype: float32, shape: [1, 4, 1], layout: HWC, preprocess: [{resize: {height: 1, width: 4, filter: area}}]",
      &raw, "never enlarges, and 2 is to become 4");
}

/* What other libraries answered for the 5 x 7 image of (37 j j + 11 j) mod 256. */
static void agrees_with_other_libraries(void **state) {
  (void)state;
  uint8_t image[35];
  for (int j = 0; j < 35; j++) {
    image[j] = (uint8_t)((j * j * 37 + 11 * j) % 256);
  }
  assay_tensor raw = view(ASSAY_UINT8, DIMS(5, 7, 1), image);
  static const struct {
    int height, width;
    const char *how;
    double expected[54];
  } rows[] = {
      {3,
       4,
       "filter: bilinear, antialias: true, rounding: pillow",
       {67, 119, 168, 168, 152, 127, 165, 191, 173, 114, 111, 166}},
      {3,
       4,
       "filter: bicubic, antialias: true, rounding: pillow",
       {59, 121, 172, 168, 157, 123, 168, 196, 182, 110, 103, 171}},
      {3, 4, "filter: nearest, rounding: pillow", {0, 170, 124, 118, 238, 176, 154, 172, 132, 94, 96, 138}},
      {3, 4, "filter: bilinear, rounding: opencv", {51, 125, 162, 165, 165, 170, 151, 203, 169, 96, 94, 163}},
      {3, 4, "filter: nearest, coordinates: asymmetric", {0, 48, 110, 212, 98, 152, 226, 84, 164, 230, 72, 210}},
      {3, 4, "filter: bicubic", {44, 121, 167, 163, 159, 180, 144, 208, 177, 84, 84, 168}},
      {3, 4, "filter: area", {61, 121, 166, 167, 155, 130, 162, 194, 175, 107, 105, 167}},
      {6,
       9,
       "filter: bilinear, antialias: true, rounding: pillow",
       {0,   32,  102, 157, 110, 121, 173, 181, 118, 74,  109, 97,  91,  197, 212, 160, 150, 219,
        180, 118, 99,  125, 169, 187, 187, 191, 205, 207, 149, 134, 140, 105, 127, 190, 209, 156,
        156, 201, 172, 100, 69,  95,  162, 185, 135, 132, 180, 155, 86,  58,  88,  158, 185, 138}},
      {6,
       9,
       "filter: bicubic, antialias: true, rounding: pillow",
       {0,   20,  108, 171, 106, 109, 182, 190, 109, 64,  121, 93,  67,  207, 232, 146, 132, 230,
        198, 112, 81,  126, 177, 198, 190, 192, 212, 225, 141, 129, 155, 100, 114, 205, 226, 147,
        148, 219, 189, 89,  65,  84,  167, 190, 128, 128, 188, 163, 79,  57,  81,  167, 193, 135}},
      {6, 9, "filter: nearest, rounding: pillow", {0,   48,  48,  170, 110, 124, 212, 212, 118, 98,  152, 152, 24,  226,
                                                   246, 84,  84,  252, 238, 42,  42,  176, 128, 154, 254, 254, 172, 238,
                                                   42,  42,  176, 128, 154, 254, 254, 172, 164, 230, 230, 114, 72,  104,
                                                   210, 210, 134, 132, 204, 204, 94,  58,  96,  208, 208, 138}},
      {6, 9, "filter: bilinear, rounding: opencv", {0,   32,  102, 157, 110, 121, 173, 181, 118, 74,  108,
                                                    97,  91,  197, 211, 160, 150, 219, 180, 118, 99,  125,
                                                    169, 187, 187, 190, 205, 207, 149, 133, 140, 104, 127,
                                                    190, 209, 156, 156, 201, 173, 100, 69,  94,  162, 184,
                                                    135, 132, 180, 155, 86,  58,  87,  158, 184, 138}},
      {6, 9, "filter: nearest, coordinates: asymmetric", {0,   0,   48,  170, 110, 110, 124, 212, 118, 0,   0,
                                                          48,  170, 110, 110, 124, 212, 118, 98,  98,  152, 24,
                                                          226, 226, 246, 84,  252, 238, 238, 42,  176, 128, 128,
                                                          154, 254, 172, 164, 164, 230, 114, 72,  72,  104, 210,
                                                          134, 132, 132, 204, 94,  58,  58,  96,  208, 138}},
      {6, 9, "filter: bicubic", {0,   13,  113, 176, 104, 103, 187, 196, 104, 56,  126, 91,  64,  210,
                                 243, 141, 123, 239, 204, 109, 71,  127, 183, 206, 189, 189, 221, 233,
                                 139, 129, 159, 96,  104, 211, 235, 141, 143, 230, 195, 80,  63,  78,
                                 168, 194, 126, 126, 192, 165, 74,  57,  76,  169, 198, 134}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char input[300];
    snprintf(input, sizeof input,
             "dtype: uint8, shape: [%d, %d, 1], layout: HWC, preprocess: [{resize: {height: %d, width: %d, %s}}]",
             rows[i].height, rows[i].width, rows[i].height, rows[i].width, rows[i].how);
    assert_preprocessed(input, &raw, rows[i].expected, rows[i].height * rows[i].width);
  }
}

static void rounds_as_asked(void **state) {
  (void)state;
  uint8_t pair[] = {1, 2, 2, 3}; /* means 1.5 and 2.5 */
  assay_tensor raw = view(ASSAY_UINT8, DIMS(1, 4, 1), pair);
#define RESIZE "shape: [1, 2, 1], layout: HWC, preprocess: [{resize: {height: 1, width: 2, filter: area"
  assert_preprocessed("dtype: uint8, " RESIZE "}}]", &raw, (double[]){2, 2}, 2);
  assert_preprocessed("dtype: uint8, " RESIZE ", rounding: half_up}}]", &raw, (double[]){2, 3}, 2);
  assert_preprocessed("dtype: float32, " RESIZE ", rounding: none}}]", &raw, (double[]){1.5, 2.5}, 2);
  assert_refused("dtype: uint8, " RESIZE ", rounding: none}}]", &raw, "arrives as float32, and the model takes uint8");
#undef RESIZE
  float cast[] = {0.5F, 1.5F, -3, 300, 254.5F};
  assay_tensor floats = view(ASSAY_FLOAT32, DIMS(5), cast);
  assert_preprocessed("dtype: uint8, shape: [5], preprocess: [{cast: uint8}]", &floats, (double[]){0, 2, 0, 255, 254},
                      5);
  assert_refused("dtype: uint8, shape: [5]", &floats, "add a cast step");
}

static void crops_and_pads(void **state) {
  (void)state;
  uint8_t image[20];
  for (int i = 0; i < 20; i++) {
    image[i] = (uint8_t)i; /* 4 rows of 5 */
  }
  assay_tensor raw = view(ASSAY_UINT8, DIMS(4, 5, 1), image);
#define IMAGE(h, w, steps) "dtype: uint8, shape: [" #h ", " #w ", 1], layout: HWC, preprocess: [" steps "]"
  assert_preprocessed(IMAGE(2, 3, "{crop: {height: 2, width: 3, top: 1, left: 2}}"), &raw,
                      (double[]){7, 8, 9, 12, 13, 14}, 6);
  /* (4 - 1) / 2 = 1.5 goes to 2, (5 - 2) / 2 = 1.5 to 2, (4 - 3) / 2 = 0.5 to 0 */
  assert_preprocessed(IMAGE(1, 2, "{crop: {height: 1, width: 2, center: true}}"), &raw, (double[]){12, 13}, 2);
  assert_preprocessed(IMAGE(3, 1, "{crop: {height: 3, width: 1, center: true}}"), &raw, (double[]){2, 7, 12}, 3);
  assert_refused(IMAGE(2, 3, "{crop: {height: 2, width: 3, top: 3, left: 0}}"), &raw, "a crop of 2 from 3");
  assert_refused(IMAGE(5, 3, "{crop: {height: 5, width: 3, center: true}}"), &raw, "does not fit into 4");
  assert_preprocessed(
      IMAGE(2, 4, "{crop: {height: 1, width: 2, top: 0, left: 0}}, {pad: {top: 1, left: 1, right: 1, fill: 9}}"), &raw,
      (double[]){9, 9, 9, 9, 9, 0, 1, 9}, 8);
  assert_preprocessed(IMAGE(3, 4,
                            "{crop: {height: 2, width: 1, top: 0, left: 0}}, "
                            "{pad: {height: 3, width: 4, center: true, fill: 9}}"),
                      &raw, (double[]){9, 0, 9, 9, 9, 5, 9, 9, 9, 9, 9, 9}, 12);
  assert_refused(IMAGE(3, 9, "{pad: {height: 3, width: 9, fill: 0}}"), &raw, "would have to cut an image of 4x5");
  /* a pad and the crop of it give the image back */
  double same[20];
  for (int i = 0; i < 20; i++) {
    same[i] = i;
  }
  assert_preprocessed(
      IMAGE(4, 5,
            "{pad: {top: 3, bottom: 2, left: 1, right: 4, fill: 7}}, {crop: {height: 4, width: 5, top: 3, left: 1}}"),
      &raw, same, 20);
#undef IMAGE
}

static void orders_colours_and_dimensions(void **state) {
  (void)state;
  uint8_t image[] = {1, 2, 3, 4, 5, 6}; /* one row of two pixels */
  assay_tensor raw = view(ASSAY_UINT8, DIMS(1, 2, 3), image);
  assert_preprocessed(
      "dtype: float32, shape: [1, 3, 1, 2], layout: NCHW, color: RGB, preprocess: [{layout: {from: HWC, to: CHW}}]",
      &raw, (double[]){1, 4, 2, 5, 3, 6}, 6);
  assert_preprocessed(
      "dtype: uint8, shape: [1, 3, 1, 2], layout: NCHW, color: RGB, preprocess: [{color: {from: BGR, to: RGB}}, "
      "{layout: {from: NHWC, to: NCHW}}]",
      &raw, (double[]){3, 6, 2, 5, 1, 4}, 6);
  assert_preprocessed(
      "dtype: uint8, shape: [1, 3, 1, 2], layout: NCHW, preprocess: [{scale: 1}, {cast: uint8}, "
      "{layout: {from: HWC, to: NCHW}}]",
      &raw, (double[]){1, 4, 2, 5, 3, 6}, 6);
  assert_preprocessed(
      "dtype: uint8, shape: [1, 1, 2, 3], layout: NHWC, color: RGB, preprocess: [{layout: {from: HWC, to: CHW}}, "
      "{layout: {from: CHW, to: HWC}}]",
      &raw, (double[]){1, 2, 3, 4, 5, 6}, 6);
  /* Pillow: (255 * 19595 + 32768) >> 16 = 76; BT.601 in float */
  uint8_t red[] = {255, 0, 0};
  assay_tensor pixel = view(ASSAY_UINT8, DIMS(1, 1, 3), red);
  assert_preprocessed(
      "dtype: uint8, shape: [1, 1, 1], layout: HWC, color: GRAY, preprocess: [{color: {from: RGB, to: GRAY}}]", &pixel,
      (double[]){76}, 1);
  assert_preprocessed(
      "dtype: uint8, shape: [1, 1, 1], layout: HWC, color: GRAY, preprocess: [{color: {from: BGR, to: GRAY}}]", &pixel,
      (double[]){29}, 1);
  assert_preprocessed(
      "dtype: float32, shape: [1, 1, 1], layout: HWC, color: GRAY, preprocess: [{cast: float32}, "
      "{color: {from: RGB, to: GRAY}}]",
      &pixel, (double[]){(double)(float)(0.299 * 255)}, 1);
  uint8_t grey[] = {7, 8};
  assay_tensor plane = view(ASSAY_UINT8, DIMS(1, 2), grey); /* without its channel */
  assert_preprocessed(
      "dtype: uint8, shape: [1, 1, 2, 3], layout: NHWC, color: RGB, preprocess: [{color: {from: GRAY, to: RGB}}]",
      &plane, (double[]){7, 7, 7, 8, 8, 8}, 6);
  assert_refused("dtype: uint8, shape: [1, 1, 2, 3], layout: NHWC, color: RGB", &plane,
                 "2 dimensions, and its layout is NHWC");
  assert_refused(
      "dtype: uint8, shape: [1, 1, 2, 3], layout: NHWC, color: RGB, preprocess: [{color: {from: GRAY, to: RGB}}]", &raw,
      "GRAY has 1 channels, and the array has 3");
}

/* The numbers of NumPy in float32: factors rounded first, one rounding an operation. */
static void computes_in_the_arrays_own_type(void **state) {
  (void)state;
  uint8_t pixel[] = {200, 3, 77};
  assay_tensor raw = view(ASSAY_UINT8, DIMS(1, 1, 3), pixel);
  static const float mean[] = {0.485F, 0.456F, 0.406F}, std[] = {0.229F, 0.224F, 0.225F};
  double normalised[3], scaled[3];
  for (int c = 0; c < 3; c++) {
    volatile float x = (float)pixel[c] / 255.0F;
    volatile float centred = x - mean[c];
    normalised[c] = (double)(centred / std[c]);
    scaled[c] = (double)((float)pixel[c] * 0.00392156862745098F);
  }
  assert_preprocessed(
      "dtype: float32, shape: [1, 3, 1, 1], layout: NCHW, color: RGB, preprocess: [{layout: {from: HWC, to: CHW}}, "
      "{divide: 255}, {normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}}]",
      &raw, normalised, 3);
  assert_preprocessed("dtype: float32, shape: [1, 1, 3], layout: HWC, preprocess: [{scale: 0.00392156862745098}]", &raw,
                      scaled, 3);
  /* float64 stays until the end: one rounding to the model's float32 */
  double joints[] = {0.1, 0.2};
  assay_tensor doubles = view(ASSAY_FLOAT64, DIMS(2), joints);
  assert_preprocessed("dtype: float32, shape: [1, 2], preprocess: [{normalize: {mean: [0.3, 0.1], std: [0.7, 0.9]}}]",
                      &doubles, (double[]){(double)(float)((0.1 - 0.3) / 0.7), (double)(float)((0.2 - 0.1) / 0.9)}, 2);
  assert_refused("dtype: float32, shape: [1, {min: 1, opt: 2, max: 3}], preprocess: [{scale: [1, 2, 3]}]", &doubles,
                 "3 numbers for 2 channels");
}

static void survives_every_failure_of_memory(void **state) {
  (void)state;
  uint8_t image[12 * 3] = {0};
  assay_tensor raw = view(ASSAY_UINT8, DIMS(3, 4, 3), image);
  struct contract *contract = contract_of(
      "dtype: float32, shape: [1, 3, 2, 2], layout: NCHW, color: RGB, preprocess: [{color: {from: BGR, to: RGB}}, "
      "{crop: {height: 3, width: 3, center: true}}, {pad: {top: 1, fill: 0}}, {resize: {height: 2, width: 2, filter: "
      "bilinear}}, {layout: {from: HWC, to: CHW}}, {divide: 255}]");
  for (int64_t n = 0;; n++) {
    assay_tensor out;
    memory_fail_at(n);
    assay_status status = contract_preprocess(&contract->inputs[0], &raw, &out);
    memory_fail_at(-1);
    if (assay_status_ok(status)) {
      tensor_free(&out);
      assert_true(n > 10);
      break;
    }
    assert_int_equal(status.code, ASSAY_OUT_OF_MEMORY);
    assay_status_clear(&status);
  }
  contract_free(contract);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_nan_and_refuses_empties),
      cmocka_unit_test(resizes_by_hand),
      cmocka_unit_test(agrees_with_other_libraries),
      cmocka_unit_test(rounds_as_asked),
      cmocka_unit_test(crops_and_pads),
      cmocka_unit_test(orders_colours_and_dimensions),
      cmocka_unit_test(computes_in_the_arrays_own_type),
      cmocka_unit_test(survives_every_failure_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
