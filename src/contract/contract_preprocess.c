/* The preprocess steps of an input, as the contract describes them. What they do to values is in
 * preprocess.c; here only what can be known without a raw array is checked. */
#include <math.h>
#include <string.h>

#include "contract/contract_reader.h"

static const char *const layouts[] = {"NCHW", "NHWC", "CHW", "HWC"};
static const char *const colors[] = {"RGB", "BGR", "GRAY"};

static assay_status step_filter(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"nearest", "bilinear", "bicubic", "area"};
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 4, &which));
  ((struct preprocess_step *)member)->filter = (enum resize_filter)which;
  return status_ok();
}

static assay_status step_coordinates(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"half_pixel", "align_corners", "asymmetric"};
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 3, &which));
  ((struct preprocess_step *)member)->coordinates = (enum resize_coordinates)which;
  return status_ok();
}

static assay_status step_rounding(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"none", "half_even", "half_up", "pillow", "opencv"};
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 5, &which));
  ((struct preprocess_step *)member)->rounding = (enum resize_rounding)(which + 1);
  return status_ok();
}

static assay_status read_resize(struct reader *reader, const struct yaml *node, const char *what,
                                struct preprocess_step *step) {
  static const struct field fields[] = {
      {"height", read_size, offsetof(struct preprocess_step, height), FIELD_REQUIRED},
      {"width", read_size, offsetof(struct preprocess_step, width), FIELD_REQUIRED},
      {"filter", step_filter, 0, FIELD_REQUIRED},
      {"antialias", read_flag, offsetof(struct preprocess_step, antialias), FIELD_OPTIONAL},
      {"coordinates", step_coordinates, 0, FIELD_OPTIONAL},
      {"rounding", step_rounding, 0, FIELD_OPTIONAL},
  };
  TRY(FIELDS_READ(reader, node, fields, what, step));
  bool smooth = step->filter == RESIZE_BILINEAR || step->filter == RESIZE_BICUBIC;
  if (step->antialias && (!smooth || step->coordinates != RESIZE_HALF_PIXEL)) {
    return yaml_error(&reader->file, node->mark,
                      "%s asks for antialias, which bilinear and bicubic have, with half_pixel coordinates", what);
  }
  if (step->filter == RESIZE_AREA && step->coordinates != RESIZE_HALF_PIXEL) {
    return yaml_error(&reader->file, node->mark, "%s: the filter area has half_pixel coordinates and no others", what);
  }
  bool nearest = step->filter == RESIZE_NEAREST && step->coordinates == RESIZE_HALF_PIXEL;
  if (step->rounding == RESIZE_ROUND_PILLOW && !step->antialias && !nearest) {
    return yaml_error(&reader->file, node->mark,
                      "%s: the rounding pillow goes with bilinear or bicubic and antialias: true, or with nearest",
                      what);
  }
  bool linear = step->filter == RESIZE_BILINEAR && step->coordinates == RESIZE_HALF_PIXEL && !step->antialias;
  if (step->rounding == RESIZE_ROUND_OPENCV && !linear) {
    return yaml_error(&reader->file, node->mark,
                      "%s: the rounding opencv goes with bilinear, half_pixel and no antialias (INTER_LINEAR)", what);
  }
  if (step->filter == RESIZE_NEAREST && step->rounding != RESIZE_ROUND_DEFAULT &&
      step->rounding != RESIZE_ROUND_PILLOW) {
    return yaml_error(&reader->file, node->mark, "%s: the filter nearest copies values, there is nothing to round",
                      what);
  }
  return status_ok();
}

static assay_status read_crop(struct reader *reader, const struct yaml *node, const char *what,
                              struct preprocess_step *step) {
  static const struct field fields[] = {
      {"height", read_size, offsetof(struct preprocess_step, height), FIELD_REQUIRED},
      {"width", read_size, offsetof(struct preprocess_step, width), FIELD_REQUIRED},
      {"top", read_whole, offsetof(struct preprocess_step, top), FIELD_OPTIONAL},
      {"left", read_whole, offsetof(struct preprocess_step, left), FIELD_OPTIONAL},
      {"center", read_flag, offsetof(struct preprocess_step, center), FIELD_OPTIONAL},
  };
  TRY(FIELDS_READ(reader, node, fields, what, step));
  bool top = yaml_get(node, "top") != NULL, left = yaml_get(node, "left") != NULL;
  if (step->center ? top || left : !top || !left) {
    return yaml_error(&reader->file, node->mark, "%s needs either 'top' and 'left', or 'center: true'", what);
  }
  return status_ok();
}

static assay_status read_pad(struct reader *reader, const struct yaml *node, const char *what,
                             struct preprocess_step *step) {
  static const struct field fields[] = {
      {"height", read_size, offsetof(struct preprocess_step, height), FIELD_OPTIONAL},
      {"width", read_size, offsetof(struct preprocess_step, width), FIELD_OPTIONAL},
      {"center", read_flag, offsetof(struct preprocess_step, center), FIELD_OPTIONAL},
      {"top", read_whole, offsetof(struct preprocess_step, top), FIELD_OPTIONAL},
      {"bottom", read_whole, offsetof(struct preprocess_step, bottom), FIELD_OPTIONAL},
      {"left", read_whole, offsetof(struct preprocess_step, left), FIELD_OPTIONAL},
      {"right", read_whole, offsetof(struct preprocess_step, right), FIELD_OPTIONAL},
      {"fill", read_number, offsetof(struct preprocess_step, fill), FIELD_REQUIRED},
  };
  TRY(FIELDS_READ(reader, node, fields, what, step));
  bool sides = yaml_get(node, "top") != NULL || yaml_get(node, "bottom") != NULL || yaml_get(node, "left") != NULL ||
               yaml_get(node, "right") != NULL;
  bool size = step->height > 0 && step->width > 0;
  bool half_size = (step->height > 0) != (step->width > 0);
  if (half_size || size == sides || (step->center && !size)) {
    return yaml_error(&reader->file, node->mark,
                      "%s needs either 'height' and 'width' (with or without 'center'), or some of 'top', 'bottom', "
                      "'left' and 'right'",
                      what);
  }
  const int64_t side[] = {step->top, step->bottom, step->left, step->right};
  for (int i = 0; i < 4; i++) {
    if (side[i] > 65536) {
      return yaml_error(&reader->file, node->mark, "%s adds %lld rows or columns; at most 65536 are added", what,
                        (long long)side[i]);
    }
  }
  return status_ok();
}

/* {from, to} out of a list of words. */
static assay_status read_from_to(struct reader *reader, const struct yaml *node, const char *what,
                                 const char *const *words, size_t count, struct preprocess_step *step) {
  static const char *const keys[] = {"from", "to"};
  TRY(yaml_keys(&reader->file, node, keys, 2, what));
  const char **const members[] = {&step->from, &step->to};
  for (int i = 0; i < 2; i++) {
    const struct yaml *value;
    char member[WHAT_SIZE];
    int32_t which = 0;
    what_format(member, "'%s' of %s", keys[i], what);
    TRY(yaml_require(&reader->file, node, keys[i], what, &value));
    TRY(yaml_choice(&reader->file, value, member, words, count, &which));
    *members[i] = words[which];
  }
  if (text_equal(step->from, step->to)) {
    return yaml_error(&reader->file, node->mark, "%s goes from %s to %s, which changes nothing; take it out", what,
                      step->from, step->to);
  }
  return status_ok();
}

static assay_status read_layout(struct reader *reader, const struct yaml *node, const char *what,
                                struct preprocess_step *step) {
  TRY(read_from_to(reader, node, what, layouts, 4, step));
  if (strlen(step->from) > strlen(step->to)) {
    return yaml_error(&reader->file, node->mark, "%s goes from %s to %s; a layout step takes no dimension away", what,
                      step->from, step->to);
  }
  return status_ok();
}

/* Factors that are 0 make every input equal; those of std below 0 turn it round. */
static assay_status check_factors(struct reader *reader, const struct yaml *node, const char *what,
                                  const double *values, int32_t count, bool positive) {
  for (int32_t i = 0; i < count; i++) {
    if (values[i] == 0 || (positive && values[i] < 0)) {
      return yaml_error(&reader->file, node->mark, "%s is %.9g; it must %s", what, values[i],
                        positive ? "be above 0" : "not be 0");
    }
  }
  return status_ok();
}

static assay_status read_factor(struct reader *reader, const struct yaml *node, const char *what,
                                struct preprocess_step *step) {
  TRY(read_numbers(reader, node, what, &step->a, &step->n));
  return check_factors(reader, node, what, step->a, step->n, false);
}

/* What maps [min, max] to [low, high] takes off a centre and divides by a width, as mean and std do. */
static assay_status normalize_range(struct reader *reader, const struct statistics *statistics,
                                    struct preprocess_step *step) {
  double *centre, *width;
  ARENA_NEW(reader->arena, centre, statistics->count);
  ARENA_NEW(reader->arena, width, statistics->count);
  for (int32_t i = 0; i < statistics->count; i++) {
    width[i] = (statistics->b[i] - statistics->a[i]) / (statistics->high - statistics->low);
    centre[i] = statistics->a[i] - statistics->low * width[i];
  }
  step->a = centre;
  step->b = width;
  step->n = statistics->count;
  return status_ok();
}

static assay_status normalize_by_statistics(struct reader *reader, const struct yaml *node, const char *what,
                                            struct preprocess_step *step) {
  struct statistics statistics = {0};
  TRY(read_statistics(reader, node, what, 0, 0, &statistics));
  if (statistics.min_max) {
    return normalize_range(reader, &statistics, step);
  }
  step->a = statistics.a;
  step->b = statistics.b;
  step->n = statistics.count;
  return status_ok();
}

static assay_status read_normalize(struct reader *reader, const struct yaml *node, const char *what,
                                   struct preprocess_step *step) {
  static const char *const keys[] = {"mean", "std", "statistics"};
  TRY(yaml_keys(&reader->file, node, keys, 3, what));
  const struct yaml *statistics = yaml_get(node, "statistics"), *mean, *std;
  if (statistics != NULL) {
    if (node->count > 1) {
      return yaml_error(&reader->file, node->mark, "%s has 'statistics' beside 'mean' or 'std'; give one of them",
                        what);
    }
    char member[WHAT_SIZE];
    what_format(member, "'statistics' of %s", what);
    return normalize_by_statistics(reader, statistics, member, step);
  }
  TRY(yaml_require(&reader->file, node, "mean", what, &mean));
  TRY(yaml_require(&reader->file, node, "std", what, &std));
  char mean_what[WHAT_SIZE], std_what[WHAT_SIZE];
  what_format(mean_what, "'mean' of %s", what);
  what_format(std_what, "'std' of %s", what);
  int32_t n_std = 0;
  TRY(read_numbers(reader, mean, mean_what, &step->a, &step->n));
  TRY(read_numbers(reader, std, std_what, &step->b, &n_std));
  TRY(check_factors(reader, std, std_what, step->b, n_std, true));
  if (n_std != step->n) {
    return yaml_error(&reader->file, std->mark, "%s has %d numbers, but 'mean' has %d", std_what, (int)n_std,
                      (int)step->n);
  }
  return status_ok();
}

static assay_status read_cast(struct reader *reader, const struct yaml *node, const char *what,
                              struct preprocess_step *step) {
  TRY(read_dtype(reader, node, what, &step->dtype));
  switch (step->dtype) {
    case ASSAY_FLOAT32:
    case ASSAY_FLOAT64:
    case ASSAY_FLOAT16:
    case ASSAY_UINT8:
    case ASSAY_INT8:
    case ASSAY_UINT16:
    case ASSAY_INT16:
    case ASSAY_INT32:
      return status_ok();
    default:
      return yaml_error(&reader->file, node->mark,
                        "%s is %s; a cast goes to float64, float32, float16, uint8, int8, uint16, int16 or int32", what,
                        assay_dtype_name(step->dtype));
  }
}

static assay_status read_step(struct reader *reader, const struct yaml *node, const char *what,
                              struct preprocess_step *step) {
  static const char *const keys[] = {"resize", "crop",   "pad",       "color", "layout",
                                     "scale",  "divide", "normalize", "cast"};
  int32_t which = 0;
  const struct yaml *value = NULL;
  TRY(read_step_key(reader, node, what, keys, sizeof keys / sizeof *keys, &which, &value));
  char member[WHAT_SIZE];
  what_format(member, "'%s' in %s", keys[which], what);
  step->kind = (enum preprocess_kind)which;
  step->mark = node->mark;
  switch (step->kind) {
    case PREPROCESS_RESIZE:
      return read_resize(reader, value, member, step);
    case PREPROCESS_CROP:
      return read_crop(reader, value, member, step);
    case PREPROCESS_PAD:
      return read_pad(reader, value, member, step);
    case PREPROCESS_COLOR:
      return read_from_to(reader, value, member, colors, 3, step);
    case PREPROCESS_LAYOUT:
      return read_layout(reader, value, member, step);
    case PREPROCESS_SCALE:
    case PREPROCESS_DIVIDE:
      return read_factor(reader, value, member, step);
    case PREPROCESS_NORMALIZE:
      return read_normalize(reader, value, member, step);
    case PREPROCESS_CAST:
      return read_cast(reader, value, member, step);
  }
  return status_ok();
}

static bool needs_layout(const struct preprocess_step *step) {
  return step->kind == PREPROCESS_RESIZE || step->kind == PREPROCESS_CROP || step->kind == PREPROCESS_PAD ||
         step->kind == PREPROCESS_COLOR || step->kind == PREPROCESS_LAYOUT;
}

/* The channels that a per-channel step meets: those of the input, unless colours change later. */
static assay_status check_channels(struct reader *reader, const struct contract_input *input, int32_t at,
                                   const char *what) {
  const struct preprocess_step *step = &input->preprocess[at];
  if (step->n <= 1) {
    return status_ok();
  }
  for (int32_t i = at + 1; i < input->n_preprocess; i++) {
    if (input->preprocess[i].kind == PREPROCESS_COLOR) {
      return status_ok();
    }
  }
  if (input->rank == 0) {
    return yaml_error(&reader->file, step->mark, "%s has %d numbers for an input that is a single number", what,
                      (int)step->n);
  }
  int32_t axis = input->layout != NULL ? (int32_t)(strchr(input->layout, 'C') - input->layout) : input->rank - 1;
  const struct dim_range *dim = &input->dims[axis];
  if (step->n < dim->min || step->n > dim->max) {
    return yaml_error(&reader->file, step->mark, "%s has %d numbers, but dimension %d of input '%s' has %lld", what,
                      (int)step->n, (int)axis, input->name, (long long)dim->max);
  }
  return status_ok();
}

/* Colours and layout must arrive at what the input says of itself. */
static assay_status check_arrival(struct reader *reader, const struct contract_input *input, int32_t at,
                                  const char *what) {
  const struct preprocess_step *step = &input->preprocess[at];
  const char *next_from = NULL;
  for (int32_t i = at + 1; i < input->n_preprocess && next_from == NULL; i++) {
    next_from = input->preprocess[i].kind == step->kind ? input->preprocess[i].from : NULL;
  }
  const char *own = step->kind == PREPROCESS_COLOR ? input->color : input->layout;
  if (next_from == NULL && step->kind == PREPROCESS_COLOR && own == NULL) {
    return yaml_error(&reader->file, step->mark,
                      "%s changes colours, but input '%s' has no 'color'; say what the model takes", what, input->name);
  }
  const char *expected = next_from != NULL ? next_from : own;
  bool batch_added = next_from == NULL && text_equal(expected + 1, step->to); /* CHW arrives at NCHW */
  if (!text_equal(step->to, expected) && !(step->kind == PREPROCESS_LAYOUT && batch_added)) {
    return yaml_error(&reader->file, step->mark, "%s ends at %s, but %s is %s", what, step->to,
                      next_from != NULL ? "the next such step starts from what" : "what the input says of itself",
                      expected);
  }
  return status_ok();
}

assay_status read_preprocess(struct reader *reader, const struct yaml *node, struct contract_input *input) {
  char what[WHAT_SIZE];
  what_format(what, "'preprocess' of input '%.80s'", input->name);
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  if (node->count > 64) {
    return yaml_error(&reader->file, node->mark, "%s has %d steps; at most 64 are read", what, (int)node->count);
  }
  struct preprocess_step *steps;
  ARENA_NEW(reader->arena, steps, node->count);
  input->preprocess = steps;
  for (int32_t i = 0; i < node->count; i++) {
    what_format(what, "step %d of 'preprocess' of input '%.80s'", (int)i + 1, input->name);
    TRY(read_step(reader, &node->items[i], what, &steps[i]));
    if (needs_layout(&steps[i]) && input->layout == NULL) {
      return yaml_error(&reader->file, steps[i].mark, "%s works on an image, but the input has no 'layout'", what);
    }
  }
  input->n_preprocess = node->count;
  for (int32_t i = 0; i < node->count; i++) {
    what_format(what, "step %d of 'preprocess' of input '%.80s'", (int)i + 1, input->name);
    TRY(check_channels(reader, input, i, what));
    if (steps[i].kind == PREPROCESS_COLOR || steps[i].kind == PREPROCESS_LAYOUT) {
      TRY(check_arrival(reader, input, i, what));
    }
  }
  return status_ok();
}
