/* From a raw sensor array to the tensor that the model takes, step by step as the contract says. Each
 * step is computed in the array's own float type (integers become float32, the factors are rounded to
 * that type first), as NumPy and PyTorch compute; a resize is computed in double and rounded once.
 * What does not fit is refused, never cut or stretched to fit. */
#include <math.h>
#include <string.h>

#include "contract/apply.h"
#include "contract/resize_image.h"
#include "core/fpenv.h"

/* Most elements of an array on its way. */
static const int64_t elements_max = INT64_C(1) << 27;

/* The array on its way through the steps. */
struct work {
  const struct contract_input *input;
  assay_tensor tensor; /* owned */
  const char *layout;  /* "HWC", ...; NULL when it is no image */
};

static assay_status refuse(const struct work *work, int32_t step, const char *format, ...) PRINTF_LIKE(3, 4);
static assay_status refuse(const struct work *work, int32_t step, const char *format, ...) {
  struct text where = {0}, sentence = {0};
  text_format(&where, "raw/%s", work->input->raw);
  if (step >= 0) {
    text_format(&sentence, "step %d of 'preprocess' of input '%s': ", (int)step + 1, work->input->name);
  } else {
    text_format(&sentence, "input '%s': ", work->input->name);
  }
  va_list arguments;
  va_start(arguments, format);
  text_format_va(&sentence, format, arguments);
  va_end(arguments);
  assay_status status = status_make(ASSAY_PREPROCESS_INVALID, text_string(&where), "%s", text_string(&sentence));
  text_free(&where);
  text_free(&sentence);
  return status;
}

static int32_t axis_of(const struct work *work, char letter) {
  const char *at = work->layout != NULL ? strchr(work->layout, letter) : NULL;
  return at != NULL ? (int32_t)(at - work->layout) : -1;
}

/* Elements before and behind an axis. */
static void split(const assay_tensor *tensor, int32_t axis, int64_t *outer, int64_t *inner) {
  *outer = *inner = 1;
  for (int32_t i = 0; i < tensor->rank; i++) {
    if (i < axis) {
      *outer *= tensor->dims[i];
    } else if (i > axis) {
      *inner *= tensor->dims[i];
    }
  }
}

/* A new tensor like `from` with another dtype and one axis of another size. */
static assay_status make_like(const struct work *work, int32_t step, assay_dtype dtype, int32_t axis, int64_t size,
                              assay_tensor *out) {
  int64_t dims[ASSAY_RANK_MAX], count;
  memcpy(dims, work->tensor.dims, sizeof dims);
  if (axis >= 0) {
    dims[axis] = size;
  }
  if (!shape_count(dims, work->tensor.rank, &count) || count > elements_max) {
    return refuse(work, step, "the array would have more than 2^27 elements");
  }
  return tensor_new(dtype, dims, work->tensor.rank, out);
}

static void replace(struct work *work, assay_tensor *with) {
  tensor_free(&work->tensor);
  work->tensor = *with;
}

/* --- resize --------------------------------------------------------------- */

/* Resizes one axis of a tensor of doubles. Columns come first, rows after them. */
static assay_status resize_one(struct work *work, int32_t at, int32_t axis, bool rows,
                               const struct preprocess_step *step) {
  int64_t size = rows ? step->height : step->width;
  bool opencv = step->rounding == RESIZE_ROUND_OPENCV;
  if (size == work->tensor.dims[axis] && !opencv) {
    return status_ok();
  }
  if (step->filter == RESIZE_AREA && size > work->tensor.dims[axis]) {
    return refuse(work, at, "the filter area never enlarges, and %lld is to become %lld",
                  (long long)work->tensor.dims[axis], (long long)size);
  }
  assay_tensor out = {0};
  struct resize_axis weights = {0};
  TRY(make_like(work, at, ASSAY_FLOAT64, axis, size, &out));
  assay_status status = resize_axis_make(work->tensor.dims[axis], size, step, rows, &weights);
  if (assay_status_ok(status)) {
    int64_t outer, inner;
    split(&work->tensor, axis, &outer, &inner);
    bool pillow = step->rounding == RESIZE_ROUND_PILLOW && step->filter != RESIZE_NEAREST;
    enum resize_sum sum = pillow ? RESIZE_SUM_PILLOW : opencv && rows ? RESIZE_SUM_OPENCV_ROWS : RESIZE_SUM_DOUBLE;
    resize_along(&weights, outer, inner, sum, work->tensor.data, out.data);
    resize_axis_free(&weights);
    replace(work, &out);
  } else {
    tensor_free(&out);
  }
  return status;
}

/* Converts the tensor to a dtype without any rounding of its own but that of tensor_set. */
static assay_status convert(struct work *work, int32_t at, assay_dtype dtype) {
  if (work->tensor.dtype == dtype) {
    return status_ok();
  }
  assay_tensor out = {0};
  TRY(make_like(work, at, dtype, -1, 0, &out));
  int64_t count = tensor_count(&out);
  for (int64_t i = 0; i < count; i++) {
    tensor_set(&out, i, tensor_get(&work->tensor, i));
  }
  replace(work, &out);
  return status_ok();
}

static void round_all(struct work *work, enum resize_rounding rounding) {
  double *values = work->tensor.data;
  int64_t count = tensor_count(&work->tensor);
  for (int64_t i = 0; i < count; i++) {
    values[i] = rounding == RESIZE_ROUND_HALF_UP ? floor(values[i] + 0.5) : nearbyint(values[i]);
  }
}

static assay_status apply_resize(struct work *work, int32_t at, const struct preprocess_step *step) {
  assay_dtype dtype = work->tensor.dtype;
  bool whole = !dtype_is_float(dtype);
  enum resize_rounding rounding = step->rounding;
  if (rounding == RESIZE_ROUND_DEFAULT) {
    rounding = whole && step->filter != RESIZE_NEAREST ? RESIZE_ROUND_HALF_EVEN : RESIZE_ROUND_NONE;
  }
  bool eight_bits = rounding == RESIZE_ROUND_PILLOW || rounding == RESIZE_ROUND_OPENCV;
  if (eight_bits && dtype != ASSAY_UINT8) {
    return refuse(work, at, "the roundings pillow and opencv are for uint8 arrays, and this one is %s",
                  assay_dtype_name(dtype));
  }
  int32_t height = axis_of(work, 'H'), width = axis_of(work, 'W');
  if (work->tensor.dims[height] < 1 || work->tensor.dims[width] < 1) {
    return refuse(work, at, "the image is empty");
  }
  TRY(convert(work, at, ASSAY_FLOAT64));
  TRY(resize_one(work, at, width, false, step));
  TRY(resize_one(work, at, height, true, step));
  if (rounding == RESIZE_ROUND_HALF_UP || rounding == RESIZE_ROUND_HALF_EVEN) {
    round_all(work, rounding);
  }
  bool keeps = !whole || rounding != RESIZE_ROUND_NONE || step->filter == RESIZE_NEAREST;
  return convert(work, at, keeps ? dtype : ASSAY_FLOAT32);
}

/* --- crop, pad, layout, colour: elements move, none is computed but grey ------ */

/* Copies elements `from` .. `from + count` of an axis to `to` of another tensor that differs in the size
 * of that axis alone. Both have the same dtype, whole bytes an element. */
static void copy_along(const assay_tensor *in, int64_t from, assay_tensor *out, int64_t to, int64_t count,
                       int32_t axis) {
  int64_t outer, inner;
  split(in, axis, &outer, &inner);
  size_t width = (size_t)inner * assay_dtype_bits(in->dtype) / 8;
  for (int64_t o = 0; o < outer && count > 0; o++) {
    const char *source = (const char *)in->data + (size_t)(o * in->dims[axis] + from) * width;
    char *target = (char *)out->data + (size_t)(o * out->dims[axis] + to) * width;
    memcpy(target, source, (size_t)count * width);
  }
}

static assay_status crop_one(struct work *work, int32_t at, int32_t axis, int64_t from, int64_t size, bool center) {
  int64_t spare = work->tensor.dims[axis] - size;
  /* half of an odd rest goes to the even number, as torchvision's CenterCrop rounds */
  int64_t begin = center ? spare / 2 + (spare % 2 != 0 && spare / 2 % 2 != 0) : from;
  if (spare < 0 || begin + size > work->tensor.dims[axis]) {
    return refuse(work, at, "a crop of %lld from %lld does not fit into %lld", (long long)size, (long long)begin,
                  (long long)work->tensor.dims[axis]);
  }
  assay_tensor out = {0};
  TRY(make_like(work, at, work->tensor.dtype, axis, size, &out));
  copy_along(&work->tensor, begin, &out, 0, size, axis);
  replace(work, &out);
  return status_ok();
}

static assay_status apply_crop(struct work *work, int32_t at, const struct preprocess_step *step) {
  TRY(crop_one(work, at, axis_of(work, 'H'), step->top, step->height, step->center));
  return crop_one(work, at, axis_of(work, 'W'), step->left, step->width, step->center);
}

static assay_status pad_one(struct work *work, int32_t at, int32_t axis, int64_t before, int64_t size, double fill) {
  assay_tensor out = {0};
  TRY(make_like(work, at, work->tensor.dtype, axis, size, &out));
  int64_t count = tensor_count(&out);
  for (int64_t i = 0; i < count; i++) {
    tensor_set(&out, i, fill);
  }
  copy_along(&work->tensor, 0, &out, before, work->tensor.dims[axis], axis);
  replace(work, &out);
  return status_ok();
}

static assay_status apply_pad(struct work *work, int32_t at, const struct preprocess_step *step) {
  int32_t height = axis_of(work, 'H'), width = axis_of(work, 'W');
  int64_t h = work->tensor.dims[height], w = work->tensor.dims[width];
  if (step->height == 0) {
    TRY(pad_one(work, at, height, step->top, h + step->top + step->bottom, step->fill));
    return pad_one(work, at, width, step->left, w + step->left + step->right, step->fill);
  }
  if (h > step->height || w > step->width) {
    return refuse(work, at, "a pad to %lldx%lld would have to cut an image of %lldx%lld", (long long)step->height,
                  (long long)step->width, (long long)h, (long long)w);
  }
  TRY(pad_one(work, at, height, step->center ? (step->height - h) / 2 : 0, step->height, step->fill));
  return pad_one(work, at, width, step->center ? (step->width - w) / 2 : 0, step->width, step->fill);
}

/* Name of a layout without its batch, for arrays that have none. */
static const char *without_batch(const char *layout) { return layout[0] == 'N' ? layout + 1 : layout; }

static assay_status apply_layout(struct work *work, int32_t at, const struct preprocess_step *step) {
  const char *to = work->layout[0] == 'N' ? step->to : without_batch(step->to);
  int64_t dims[ASSAY_RANK_MAX], strides[ASSAY_RANK_MAX];
  for (int32_t i = 0; i < work->tensor.rank; i++) {
    int32_t axis = axis_of(work, to[i]);
    int64_t outer;
    split(&work->tensor, axis, &outer, &strides[i]);
    dims[i] = work->tensor.dims[axis];
  }
  assay_tensor out = {0};
  TRY(make_like(work, at, work->tensor.dtype, -1, 0, &out));
  memcpy(out.dims, dims, (size_t)out.rank * sizeof *dims);
  size_t size = assay_dtype_bits(out.dtype) / 8;
  int64_t count = tensor_count(&out);
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i, from = 0;
    for (int32_t d = out.rank - 1; d >= 0; d--) {
      from += rest % dims[d] * strides[d];
      rest /= dims[d];
    }
    memcpy((char *)out.data + (size_t)i * size, (const char *)work->tensor.data + (size_t)from * size, size);
  }
  replace(work, &out);
  work->layout = to;
  return status_ok();
}

/* BT.601 luma. Eight-bit images by Pillow's whole-number formula, others in double with one rounding. */
static double grey(assay_dtype dtype, double r, double g, double b) {
  if (dtype == ASSAY_UINT8) {
    return (double)(((int32_t)r * 19595 + (int32_t)g * 38470 + (int32_t)b * 7471 + 0x8000) >> 16);
  }
  return 0.299 * r + 0.587 * g + 0.114 * b;
}

static int64_t channels_of(const char *color) { return text_equal(color, "GRAY") ? 1 : 3; }

static assay_status apply_color(struct work *work, int32_t at, const struct preprocess_step *step) {
  int32_t axis = axis_of(work, 'C');
  if (work->tensor.dims[axis] != channels_of(step->from)) {
    return refuse(work, at, "%s has %lld channels, and the array has %lld", step->from,
                  (long long)channels_of(step->from), (long long)work->tensor.dims[axis]);
  }
  assay_tensor out = {0};
  TRY(make_like(work, at, work->tensor.dtype, axis, channels_of(step->to), &out));
  int64_t outer, inner, n_in = work->tensor.dims[axis], n_out = out.dims[axis];
  split(&work->tensor, axis, &outer, &inner);
  bool red_first = text_equal(step->from, "RGB");
  for (int64_t o = 0; o < outer; o++) {
    for (int64_t j = 0; j < inner; j++) {
      double in[3] = {0, 0, 0};
      for (int64_t c = 0; c < n_in; c++) {
        in[c] = tensor_get(&work->tensor, (o * n_in + c) * inner + j);
      }
      for (int64_t c = 0; c < n_out; c++) {
        double value = n_in == 1    ? in[0]
                       : n_out == 3 ? in[2 - c]
                                    : grey(out.dtype, in[red_first ? 0 : 2], in[1], in[red_first ? 2 : 0]);
        tensor_set(&out, (o * n_out + c) * inner + j, value);
      }
    }
  }
  replace(work, &out);
  return status_ok();
}

/* --- arithmetic ------------------------------------------------------------ */

static float step_float32(enum preprocess_kind kind, float x, double a, double b) {
  float fa = (float)a, fb = (float)b;
  switch (kind) {
    case PREPROCESS_SCALE:
      return x * fa;
    case PREPROCESS_DIVIDE:
      return x / fa;
    default:
      return (x - fa) / fb;
  }
}

static double step_float64(enum preprocess_kind kind, double x, double a, double b) {
  switch (kind) {
    case PREPROCESS_SCALE:
      return x * a;
    case PREPROCESS_DIVIDE:
      return x / a;
    default:
      return (x - a) / b;
  }
}

static assay_status apply_arithmetic(struct work *work, int32_t at, const struct preprocess_step *step) {
  TRY(convert(work, at, work->tensor.dtype == ASSAY_FLOAT64 ? ASSAY_FLOAT64 : ASSAY_FLOAT32));
  int32_t axis = work->layout != NULL ? axis_of(work, 'C') : work->tensor.rank - 1;
  int64_t outer, inner, channels = axis < 0 ? 1 : work->tensor.dims[axis];
  if (step->n > 1 && step->n != channels) {
    return refuse(work, at, "there are %d numbers for %lld channels", (int)step->n, (long long)channels);
  }
  split(&work->tensor, axis, &outer, &inner);
  int64_t count = tensor_count(&work->tensor);
  for (int64_t i = 0; i < count; i++) {
    int64_t c = step->n > 1 ? i / inner % channels : 0;
    double a = step->a[c], b = step->b != NULL ? step->b[c] : 1;
    if (work->tensor.dtype == ASSAY_FLOAT32) {
      float *x = (float *)work->tensor.data + i;
      *x = step_float32(step->kind, *x, a, b);
    } else {
      double *x = (double *)work->tensor.data + i;
      *x = step_float64(step->kind, *x, a, b);
    }
  }
  return status_ok();
}

/* Rounds half to even and saturates; a NaN has no place in whole numbers. */
static assay_status apply_cast(struct work *work, int32_t at, const struct preprocess_step *step) {
  int64_t count = dtype_is_float(work->tensor.dtype) && dtype_is_integer(step->dtype) ? tensor_count(&work->tensor) : 0;
  for (int64_t i = 0; i < count; i++) {
    if (isnan(tensor_get(&work->tensor, i))) {
      return refuse(work, at, "element %lld is NaN and cannot become %s", (long long)i, assay_dtype_name(step->dtype));
    }
  }
  return convert(work, at, step->dtype);
}

/* --- the whole ------------------------------------------------------------- */

/* What the raw array is laid out as: what the first layout step starts from, or the input's own layout;
 * without its batch when the array has none. */
static const char *raw_layout(const struct contract_input *input) {
  for (int32_t i = 0; i < input->n_preprocess; i++) {
    if (input->preprocess[i].kind == PREPROCESS_LAYOUT) {
      return input->preprocess[i].from;
    }
  }
  return input->layout;
}

/* What colours the raw array has. */
static const char *raw_color(const struct contract_input *input) {
  for (int32_t i = 0; i < input->n_preprocess; i++) {
    if (input->preprocess[i].kind == PREPROCESS_COLOR) {
      return input->preprocess[i].from;
    }
  }
  return input->color;
}

/* A grey image may come without its one channel. */
static void add_channel(struct work *work, const char *layout) {
  int32_t axis = (int32_t)(strchr(layout, 'C') - layout);
  for (int32_t i = work->tensor.rank; i > axis; i--) {
    work->tensor.dims[i] = work->tensor.dims[i - 1];
  }
  work->tensor.dims[axis] = 1;
  work->tensor.rank++;
}

static assay_status begin(struct work *work) {
  const char *layout = raw_layout(work->input);
  if (layout == NULL) {
    return status_ok();
  }
  int32_t rank = work->tensor.rank;
  const char *color = raw_color(work->input);
  if (rank + 1 == (int32_t)strlen(without_batch(layout)) && color != NULL && text_equal(color, "GRAY")) {
    add_channel(work, without_batch(layout));
    rank++;
  }
  work->layout = rank == (int32_t)strlen(layout) ? layout : without_batch(layout);
  if (rank != (int32_t)strlen(work->layout)) {
    return refuse(work, -1, "the raw array has %d dimensions, and its layout is %s", (int)rank, layout);
  }
  return status_ok();
}

static assay_status apply(struct work *work, int32_t at) {
  const struct preprocess_step *step = &work->input->preprocess[at];
  switch (step->kind) {
    case PREPROCESS_RESIZE:
      return apply_resize(work, at, step);
    case PREPROCESS_CROP:
      return apply_crop(work, at, step);
    case PREPROCESS_PAD:
      return apply_pad(work, at, step);
    case PREPROCESS_COLOR:
      return apply_color(work, at, step);
    case PREPROCESS_LAYOUT:
      return apply_layout(work, at, step);
    case PREPROCESS_SCALE:
    case PREPROCESS_DIVIDE:
    case PREPROCESS_NORMALIZE:
      return apply_arithmetic(work, at, step);
    case PREPROCESS_CAST:
      return apply_cast(work, at, step);
  }
  return status_ok();
}

/* A missing batch of 1 in front, and the model's dtype; a float never becomes a whole number unasked. */
static assay_status finish(struct work *work) {
  const struct contract_input *input = work->input;
  if (work->tensor.rank == input->rank - 1 && input->dims[0].min <= 1 && input->dims[0].max >= 1) {
    memmove(work->tensor.dims + 1, work->tensor.dims, (size_t)work->tensor.rank * sizeof *work->tensor.dims);
    work->tensor.dims[0] = 1;
    work->tensor.rank++;
  }
  if (work->tensor.dtype != input->dtype && !dtype_is_float(input->dtype)) {
    return refuse(work, -1, "the array arrives as %s, and the model takes %s; add a cast step",
                  assay_dtype_name(work->tensor.dtype), assay_dtype_name(input->dtype));
  }
  return convert(work, -1, input->dtype);
}

assay_status contract_preprocess(const struct contract_input *input, const assay_tensor *raw, assay_tensor *out) {
  struct work work = {.input = input};
  *out = (assay_tensor){0};
  bool number = dtype_is_float(raw->dtype) || dtype_is_integer(raw->dtype) || raw->dtype == ASSAY_BOOL;
  if (!number || assay_dtype_bits(raw->dtype) < 8 || raw->rank >= ASSAY_RANK_MAX || tensor_count(raw) > elements_max) {
    return refuse(&work, -1, "a raw array of %s with %d dimensions is not read", assay_dtype_name(raw->dtype),
                  (int)raw->rank);
  }
  TRY(tensor_copy(raw, &work.tensor));
  struct fpenv saved = fpenv_enter(); /* rounding to nearest even, whatever the caller has */
  assay_status status = begin(&work);
  for (int32_t i = 0; assay_status_ok(status) && i < input->n_preprocess; i++) {
    status = apply(&work, i);
  }
  if (assay_status_ok(status)) {
    status = finish(&work);
  }
  fpenv_leave(saved);
  if (!assay_status_ok(status)) {
    tensor_free(&work.tensor);
    return status;
  }
  *out = work.tensor;
  return status_ok();
}
