/* The chains of a contract as statements: preprocessing and decoding, each one value, in the order in which the steps
 * are done. See describe.h. */
#include <math.h>
#include <string.h>

#include "contract/describe.h"
#include "core/text.h"

static void add_number(struct text *out, double value) {
  char number[NUMBER_SIZE];
  number_text(number, value);
  text_add(out, number);
}

/* One number where all are equal: written once or once a channel, it means the same. */
void numbers_text(struct text *out, const double *values, int32_t n) {
  bool same = n > 0;
  for (int32_t i = 1; i < n; i++) {
    same = same && values[i] == values[0];
  }
  text_add(out, same ? "" : "[");
  for (int32_t i = 0; i < (same ? 1 : n); i++) {
    text_add(out, i > 0 ? ", " : "");
    add_number(out, values[i]);
  }
  text_add(out, same ? "" : "]");
}

static void add_resize(struct text *out, const struct preprocess_step *step) {
  static const char *const filters[] = {"nearest", "bilinear", "bicubic", "area"};
  static const char *const coordinates[] = {"half_pixel", "align_corners", "asymmetric"};
  static const char *const roundings[] = {"by the type", "none", "half_even", "half_up", "pillow", "opencv"};
  text_format(out, "resize to %lld x %lld, %s, %s, rounding %s%s", (long long)step->height, (long long)step->width,
              filters[step->filter], coordinates[step->coordinates], roundings[step->rounding],
              step->antialias ? ", antialias" : "");
}

static void add_crop(struct text *out, const struct preprocess_step *step) {
  text_format(out, "crop to %lld x %lld", (long long)step->height, (long long)step->width);
  if (step->center) {
    text_add(out, " at the center");
  } else {
    text_format(out, " from top %lld, left %lld", (long long)step->top, (long long)step->left);
  }
}

static void add_pad(struct text *out, const struct preprocess_step *step) {
  if (step->height > 0) {
    text_format(out, "pad to %lld x %lld%s", (long long)step->height, (long long)step->width,
                step->center ? " around the center" : "");
  } else {
    text_format(out, "pad by top %lld, bottom %lld, left %lld, right %lld", (long long)step->top,
                (long long)step->bottom, (long long)step->left, (long long)step->right);
  }
  text_add(out, " with ");
  add_number(out, step->fill);
}

static void add_preprocess(struct text *out, const struct preprocess_step *step) {
  switch (step->kind) {
    case PREPROCESS_RESIZE:
      add_resize(out, step);
      break;
    case PREPROCESS_CROP:
      add_crop(out, step);
      break;
    case PREPROCESS_PAD:
      add_pad(out, step);
      break;
    case PREPROCESS_COLOR:
    case PREPROCESS_LAYOUT:
      text_format(out, "%s to %s", step->from, step->to);
      break;
    case PREPROCESS_SCALE:
      text_add(out, "scale ");
      numbers_text(out, step->a, step->n);
      break;
    case PREPROCESS_DIVIDE:
      text_add(out, "divide ");
      numbers_text(out, step->a, step->n);
      break;
    case PREPROCESS_NORMALIZE:
      text_add(out, "normalize by mean ");
      numbers_text(out, step->a, step->n);
      text_add(out, " and std ");
      numbers_text(out, step->b, step->n);
      break;
    case PREPROCESS_CAST:
      text_format(out, "cast to %s", assay_dtype_name(step->dtype));
      break;
  }
}

void describe_preprocess(struct statements *out, const struct contract_input *input) {
  struct text chain = {0};
  for (int32_t i = 0; i < input->n_preprocess; i++) {
    text_add(&chain, i > 0 ? "; " : "");
    add_preprocess(&chain, &input->preprocess[i]);
  }
  out->failed |= chain.failed;
  describe_text(out, false, "preprocess", input->n_preprocess > 0 ? text_string(&chain) : NULL);
  text_free(&chain);
}

/* One number, or one for each step of a chunk. */
static void add_each(struct text *out, const struct decode_step *step) {
  add_number(out, step->n_each > 0 ? step->each[0] : step->a);
  for (int32_t h = 1; h < step->n_each; h++) {
    text_add(out, ", ");
    add_number(out, step->each[h]);
  }
}

static void add_decode(struct text *out, const struct decode_step *step) {
  switch (step->kind) {
    case DECODE_CLIP:
      text_add(out, "clip to [");
      add_number(out, step->a);
      text_add(out, ", ");
      add_number(out, step->b);
      text_add(out, "]");
      break;
    case DECODE_SCALE:
      text_add(out, "scale ");
      add_each(out, step);
      break;
    case DECODE_OFFSET:
      text_add(out, "offset ");
      add_each(out, step);
      break;
    case DECODE_ADD:
      text_format(out, "add %s[%lld] of ", step->input, (long long)step->element);
      if (step->frame < 0) {
        text_add(out, "the last frame");
      } else {
        text_format(out, "frame %lld", (long long)step->frame);
      }
      text_add(out, step->cumulative ? ", each step of a chunk upon the one before" : "");
      break;
  }
}

void describe_decode(struct statements *out, const struct contract_component *component) {
  struct text chain = {0};
  for (int32_t i = 0; i < component->n_decode; i++) {
    text_add(&chain, i > 0 ? "; " : "");
    add_decode(&chain, &component->decode[i]);
  }
  out->failed |= chain.failed;
  describe_text(out, true, "decode", component->n_decode > 0 ? text_string(&chain) : NULL);
  text_free(&chain);
}
