/* Conv and its relatives. */
#include <stdlib.h>

#include "op_fixture.h"

/* A convolution by its definition, over up to three axes. */
struct plain_conv {
  int64_t images, groups, filters, channels; /* filters and channels of a group */
  int64_t in[3], kernel[3], stride[3], dilation[3], pad[6], out[3];
};

static float plain_output(const struct plain_conv *c, const float *x, const float *w, int64_t image, int64_t group,
                          int64_t filter, const int64_t at[3]) {
  float sum = 0;
  int64_t k = 0;
  const float *weights = w + (group * c->filters + filter) * c->channels * c->kernel[0] * c->kernel[1] * c->kernel[2];
  for (int64_t channel = 0; channel < c->channels; channel++) {
    const float *plane = x + ((image * c->groups + group) * c->channels + channel) * c->in[0] * c->in[1] * c->in[2];
    for (int64_t a = 0; a < c->kernel[0]; a++) {
      for (int64_t b = 0; b < c->kernel[1]; b++) {
        for (int64_t d = 0; d < c->kernel[2]; d++, k++) {
          int64_t z = at[0] * c->stride[0] + a * c->dilation[0] - c->pad[0];
          int64_t y = at[1] * c->stride[1] + b * c->dilation[1] - c->pad[1];
          int64_t u = at[2] * c->stride[2] + d * c->dilation[2] - c->pad[2];
          if (z >= 0 && z < c->in[0] && y >= 0 && y < c->in[1] && u >= 0 && u < c->in[2]) {
            sum = fmaf(weights[k], plane[(z * c->in[1] + y) * c->in[2] + u], sum);
          }
        }
      }
    }
  }
  return sum;
}

/* Random numbers through Conv, against the definition. */
static void conv_random(struct plain_conv c, int rank) {
  int64_t areas[2] = {1, 1}, taps = 1;
  for (int i = 0; i < 3; i++) {
    c.out[i] = (c.in[i] + c.pad[i] + c.pad[3 + i] - c.dilation[i] * (c.kernel[i] - 1) - 1) / c.stride[i] + 1;
    areas[0] *= c.in[i];
    areas[1] *= c.out[i];
    taps *= c.kernel[i];
  }
  int64_t filters = c.groups * c.filters, n_x = c.images * c.groups * c.channels * areas[0];
  int64_t n_w = filters * c.channels * taps, n_y = c.images * filters * areas[1];
  float *x = calloc((size_t)n_x, 4), *w = calloc((size_t)n_w, 4), *y = calloc((size_t)n_y, 4),
        *bias = calloc((size_t)filters, 4);
  op_fill_f32(x, n_x, 1);
  op_fill_f32(w, n_w, 2);
  op_fill_f32(bias, filters, 3);
  for (int64_t i = 0; i < n_y; i++) {
    int64_t p = i % areas[1], filter = i / areas[1] % filters;
    int64_t at[3] = {p / c.out[2] / c.out[1], p / c.out[2] % c.out[1], p % c.out[2]};
    y[i] = plain_output(&c, x, w, i / areas[1] / filters, filter / c.filters, filter % c.filters, at) + bias[filter];
  }
  int skip = 3 - rank;
  int64_t x_dims[5] = {c.images, c.groups * c.channels}, w_dims[5] = {filters, c.channels};
  int64_t y_dims[5] = {c.images, filters}, pads[6];
  for (int i = 0; i < rank; i++) {
    x_dims[2 + i] = c.in[skip + i];
    w_dims[2 + i] = c.kernel[skip + i];
    y_dims[2 + i] = c.out[skip + i];
    pads[i] = c.pad[skip + i];
    pads[rank + i] = c.pad[3 + skip + i];
  }
  struct op_case *o = op_case_new("Conv", "", 11);
  op_case_ints(o, "strides", c.stride + skip, rank);
  op_case_ints(o, "dilations", c.dilation + skip, rank);
  op_case_ints(o, "pads", pads, 2 * rank);
  op_case_int(o, "group", c.groups);
  op_case_input(o, ASSAY_FLOAT32, x_dims, rank + 2, x, (size_t)n_x * 4);
  op_case_input(o, ASSAY_FLOAT32, w_dims, rank + 2, w, (size_t)n_w * 4);
  op_case_input(o, ASSAY_FLOAT32, DIMS(filters), bias, (size_t)filters * 4);
  op_case_expect(o, 0, ASSAY_FLOAT32, y_dims, rank + 2, y, (size_t)n_y * 4);
  op_case_free(o);
  free(x);
  free(w);
  free(y);
  free(bias);
}

void test_op_Conv_1(void **state) {
  (void)state;
  /* The specification's example, with and without padding. */
  float x[25];
  for (int i = 0; i < 25; i++) {
    x[i] = (float)i;
  }
  struct op_case *c = op_case_new("Conv", "", 22);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 5, 5), x, sizeof x);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 3, 3), F32(1, 1, 1, 1, 1, 1, 1, 1, 1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 3, 3), F32(54, 63, 72, 99, 108, 117, 144, 153, 162));
  op_case_string(c, "auto_pad", "SAME_LOWER");
  op_case_ints(c, "strides", (const int64_t[]){2, 2}, 2);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 3, 3), F32(12, 27, 24, 63, 108, 81, 72, 117, 84));
  op_case_string(c, "auto_pad", "VALID");
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 2, 2), F32(54, 72, 144, 162));
  op_case_free(c);

  /* SAME puts the odd element at the end, or at the beginning. */
  c = op_case_new("Conv", "", 11);
  op_case_string(c, "auto_pad", "SAME_UPPER");
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 1, 3), F64(1, 2, 4));
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 1, 2), F64(1, 10));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(1, 1, 3), F64(21, 42, 4));
  op_case_string(c, "auto_pad", "SAME_LOWER");
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(1, 1, 3), F64(10, 21, 42));
  op_case_free(c);

  /* A weight over the padding is not multiplied, whatever it is. */
  c = op_case_new("Conv", "", 11);
  op_case_ints(c, "pads", (const int64_t[]){1, 1}, 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 2), F32(1, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 3), F32(NAN, 1, INFINITY));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 2), F32(INFINITY, NAN));
  op_case_free(c);

  conv_random((struct plain_conv){2, 1, 26, 3, {1, 12, 17}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1, 0, 1, 1}, {0}},
              2);
  conv_random((struct plain_conv){1, 2, 3, 4, {1, 9, 30}, {1, 3, 5}, {1, 1, 1}, {1, 2, 1}, {0, 2, 0, 0, 1, 4}, {0}}, 2);
  conv_random((struct plain_conv){1, 7, 1, 1, {1, 8, 9}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1, 0, 1, 1}, {0}}, 2);
  conv_random((struct plain_conv){1, 1, 50, 70, {1, 6, 31}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, {0}}, 2);
  conv_random((struct plain_conv){2, 1, 5, 30, {1, 1, 40}, {1, 1, 10}, {1, 1, 3}, {1, 1, 1}, {0, 0, 2, 0, 0, 1}, {0}},
              1);
  conv_random((struct plain_conv){1, 1, 4, 3, {5, 6, 7}, {3, 2, 3}, {2, 1, 1}, {1, 2, 1}, {1, 0, 1, 1, 1, 2}, {0}}, 3);

  c = op_case_new("Conv", "", 11);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2, 3), F32(1, 2, 3, 4, 5, 6));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 3, 1), F32(1, 2, 3));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "the input has 2 channels");
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 2), F32(1, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 3), F32(1, 2, 3));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "the window spans 3 elements");
  op_case_ints(c, "strides", (const int64_t[]){0}, 1);
  op_case_fails(c, ASSAY_NODE_INVALID, "attribute strides holds 0");
  op_case_free(c);
}
