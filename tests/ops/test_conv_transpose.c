/* ConvTranspose. */
#include <stdlib.h>

#include "op_fixture.h"

enum { IMAGES = 2, GROUPS = 2, CHANNELS = 3, FILTERS = 4, IN_Y = 4, IN_X = 5, K_Y = 3, K_X = 2, OUT_Y = 9, OUT_X = 13 };

/* One output, gathered: strides 2 and 3, dilations 2 and 1, one row and no column cut off in front. */
static float gathered(const float *x, const float *w, int image, int group, int filter, int oy, int ox) {
  float sum = 0;
  for (int c = 0; c < CHANNELS; c++) {
    for (int ky = 0; ky < K_Y; ky++) {
      for (int kx = 0; kx < K_X; kx++) {
        int y = oy + 1 - 2 * ky, u = ox - kx;
        if (y < 0 || y % 2 != 0 || y / 2 >= IN_Y || u < 0 || u % 3 != 0 || u / 3 >= IN_X) {
          continue;
        }
        float weight = w[(((group * CHANNELS + c) * FILTERS + filter) * K_Y + ky) * K_X + kx];
        sum = fmaf(weight, x[(((image * GROUPS + group) * CHANNELS + c) * IN_Y + y / 2) * IN_X + u / 3], sum);
      }
    }
  }
  return sum;
}

static void transpose_random(void) {
  enum { N_X = IMAGES * GROUPS * CHANNELS * IN_Y * IN_X, N_W = GROUPS * CHANNELS * FILTERS * K_Y * K_X };
  enum { N_Y = IMAGES * GROUPS * FILTERS * OUT_Y * OUT_X };
  static float x[N_X], w[N_W], y[N_Y], bias[GROUPS * FILTERS];
  op_fill_f32(x, N_X, 1);
  op_fill_f32(w, N_W, 2);
  op_fill_f32(bias, GROUPS * FILTERS, 3);
  for (int i = 0; i < N_Y; i++) {
    int filter = i / (OUT_Y * OUT_X) % (GROUPS * FILTERS), image = i / (OUT_Y * OUT_X) / (GROUPS * FILTERS);
    y[i] = gathered(x, w, image, filter / FILTERS, filter % FILTERS, i / OUT_X % OUT_Y, i % OUT_X) + bias[filter];
  }
  struct op_case *c = op_case_new("ConvTranspose", "", 11);
  op_case_int(c, "group", GROUPS);
  op_case_ints(c, "strides", (const int64_t[]){2, 3}, 2);
  op_case_ints(c, "dilations", (const int64_t[]){2, 1}, 2);
  op_case_ints(c, "pads", (const int64_t[]){1, 0, 2, 2}, 4);
  op_case_ints(c, "output_padding", (const int64_t[]){1, 1}, 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(IMAGES, GROUPS * CHANNELS, IN_Y, IN_X), x, sizeof x);
  op_case_input(c, ASSAY_FLOAT32, DIMS(GROUPS * CHANNELS, FILTERS, K_Y, K_X), w, sizeof w);
  op_case_input(c, ASSAY_FLOAT32, DIMS(GROUPS * FILTERS), bias, sizeof bias);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(IMAGES, GROUPS * FILTERS, OUT_Y, OUT_X), y, sizeof y);
  op_case_free(c);
}

void test_op_ConvTranspose_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("ConvTranspose", "", 11);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 3), F32(1, 2, 3));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2, 3), F32(1, 1, 1, 1, 10, 100));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2, 5), F32(1, 3, 6, 5, 3, 1, 12, 123, 230, 300));
  op_case_ints(c, "strides", (const int64_t[]){2}, 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2, 7), F32(1, 1, 3, 2, 5, 3, 3, 1, 10, 102, 20, 203, 30, 300));
  /* An output shape takes the padding from the difference: the odd element in front, or behind for SAME_UPPER. */
  op_case_ints(c, "output_shape", (const int64_t[]){6}, 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2, 6), F32(1, 3, 2, 5, 3, 3, 10, 102, 20, 203, 30, 300));
  op_case_string(c, "auto_pad", "SAME_UPPER");
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2, 6), F32(1, 1, 3, 2, 5, 3, 1, 10, 102, 20, 203, 30));
  op_case_free(c);

  /* What no input reaches is +0, and a weight that is not finite stays away from it. */
  c = op_case_new("ConvTranspose", "", 11);
  op_case_ints(c, "strides", (const int64_t[]){3}, 1);
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 1, 2), F64(1, -1));
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 1, 2), F64(INFINITY, 5));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(1, 1, 5), F64(INFINITY, 5, 0, -INFINITY, -5));
  op_case_ints(c, "pads", (const int64_t[]){3, 2}, 2);
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "would have 0 elements");
  op_case_free(c);
  transpose_random();
}
