/* The walk over time that LSTM, GRU and RNN share. The products with the input are computed for all steps together,
 * which changes no chain. */
#include "ops/recurrent.h"

#include <string.h>

#include "core/memory.h"

/* --- attributes ---------------------------------------------------------- */

struct activation_row {
  const char *name;
  bool takes_alpha, takes_beta;
  float alpha, beta;
};

/* In the order of enum activation_kind. */
static const struct activation_row activation_rows[] = {
    {"Relu", false, false, 0, 0},         {"Tanh", false, false, 0, 0},
    {"Sigmoid", false, false, 0, 0},      {"Affine", true, true, 1, 0},
    {"LeakyRelu", true, false, 0.01f, 0}, {"ThresholdedRelu", true, false, 1, 0},
    {"ScaledTanh", true, true, 1, 1},     {"HardSigmoid", true, true, 0.2f, 0.5f},
    {"Elu", true, false, 1, 0},           {"Softsign", false, false, 0, 0},
    {"Softplus", false, false, 0, 0},
};
enum { ACTIVATION_COUNT = sizeof activation_rows / sizeof *activation_rows };

static assay_status activation_find(assay_text name, enum activation_kind *out) {
  for (int i = 0; i < ACTIVATION_COUNT; i++) {
    if (strlen(activation_rows[i].name) == name.length &&
        memcmp(activation_rows[i].name, name.data, name.length) == 0) {
      *out = (enum activation_kind)i;
      return status_ok();
    }
  }
  return status_make(ASSAY_NODE_INVALID, NULL,
                     "attribute activations holds '%.*s', which is no activation of this operator",
                     (int)(name.length < 40 ? name.length : 40), name.data);
}

/* Factors are taken from the lists in the order of the activations that have such a factor. */
static assay_status read_activations(const struct node *node, struct recurrent *r) {
  const struct attribute *names = node_attribute(node, "activations");
  int32_t n_alpha, n_beta, alpha_at = 0, beta_at = 0;
  const float *alphas = node_attribute_floats(node, "activation_alpha", &n_alpha);
  const float *betas = node_attribute_floats(node, "activation_beta", &n_beta);
  int count = r->directions * r->kind->activations;
  if (names != NULL && names->count != count) {
    return status_make(ASSAY_NODE_INVALID, NULL, "attribute activations has %d names, expected %d", (int)names->count,
                       count);
  }
  for (int i = 0; i < count; i++) {
    int of = i % r->kind->activations;
    struct activation *a = &r->activations[i / r->kind->activations][of];
    a->kind = r->kind->defaults[of];
    if (names != NULL) {
      TRY(activation_find(names->strings[i], &a->kind));
    }
    const struct activation_row *row = &activation_rows[a->kind];
    a->alpha = row->takes_alpha && alpha_at < n_alpha ? alphas[alpha_at++] : row->alpha;
    a->beta = row->takes_beta && beta_at < n_beta ? betas[beta_at++] : row->beta;
  }
  return status_ok();
}

static assay_status read_direction(const struct node *node, struct recurrent *r) {
  r->directions = 1;
  if (node_attribute_is(node, "direction", "forward", true)) {
    return status_ok();
  }
  if (node_attribute_is(node, "direction", "reverse", false)) {
    r->reversed[0] = true;
    return status_ok();
  }
  if (node_attribute_is(node, "direction", "bidirectional", false)) {
    r->directions = 2;
    r->reversed[1] = true;
    return status_ok();
  }
  return status_make(ASSAY_NODE_INVALID, NULL, "attribute direction is none of forward, reverse and bidirectional");
}

/* Everything but the sizes. */
static assay_status read_attributes(const struct node *node, const struct recurrent_kind *kind, struct recurrent *r) {
  *r = (struct recurrent){.kind = kind};
  TRY(read_direction(node, r));
  TRY(read_activations(node, r));
  r->batch_first = node_attribute_int(node, "layout", 0) != 0;
  r->clipped = node_attribute(node, "clip") != NULL;
  r->clip = node_attribute_float(node, "clip", 0);
  r->input_forget = node_attribute_int(node, "input_forget", 0) != 0;
  r->linear_before_reset = node_attribute_int(node, "linear_before_reset", 0) != 0;
  if (r->clipped && !(r->clip >= 0)) {
    return status_make(ASSAY_NODE_INVALID, NULL, "attribute clip is %g, expected at least 0", (double)r->clip);
  }
  return status_ok();
}

/* --- inference ----------------------------------------------------------- */

static struct dim dim_at(const struct infer *infer, int32_t input, int rank, int axis) {
  const struct infer_value *value = infer_input(infer, input);
  return value != NULL && value->type.kind == TYPE_TENSOR && value->type.rank == rank ? value->type.dims[axis]
                                                                                      : dim_unknown();
}

/* Input i, where it is there, has these dims; what was not known of them becomes known. */
static assay_status match(const struct infer *infer, int32_t i, int rank, struct dim *const *dims) {
  if (infer_input(infer, i) == NULL) {
    return status_ok();
  }
  TRY(infer_want(infer, i, rank, rank));
  for (int axis = 0; axis < rank; axis++) {
    struct dim found = dim_at(infer, i, rank, axis);
    struct dim expected = *dims[axis];
    if (!dim_merge(found, expected, dims[axis])) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "input %d has %lld elements along axis %d, expected %lld", (int)i,
                         (long long)found.value, axis, (long long)expected.value);
    }
  }
  return status_ok();
}

static struct dim times(struct dim a, int64_t factor) {
  return dim_known(a) && a.value <= INT64_MAX / factor ? dim_of(a.value * factor) : dim_unknown();
}

assay_status recurrent_infer(struct infer *infer, const struct recurrent_kind *kind) {
  struct recurrent r;
  TRY(read_attributes(infer->node, kind, &r));
  TRY(infer_want_counts(infer, 3, kind->outputs == 3 ? 8 : 6, 0, kind->outputs));
  for (int32_t i = 0; i < 3; i++) {
    TRY(infer_want(infer, i, 3, 3));
  }
  for (int32_t i = 1; i < infer->node->n_inputs; i++) {
    if (i != 4) {
      TRY(infer_want_same_dtype(infer, 0, i));
    }
  }
  struct dim directions = dim_of(r.directions), input = dim_at(infer, 0, 3, 2), hidden = dim_at(infer, 2, 3, 2);
  struct dim batch = dim_at(infer, 0, 3, r.batch_first ? 0 : 1), steps = dim_at(infer, 0, 3, r.batch_first ? 1 : 0);
  const int64_t *hidden_size = NULL;
  const struct attribute *attribute = node_attribute(infer->node, "hidden_size");
  if (attribute != NULL) {
    hidden_size = &attribute->i;
    if (*hidden_size < 1 || (dim_known(hidden) && hidden.value != *hidden_size)) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "attribute hidden_size is %lld and R has %lld columns",
                         (long long)*hidden_size, (long long)hidden.value);
    }
    hidden = dim_of(*hidden_size);
  }
  struct dim gates = times(hidden, kind->gates), biases = times(hidden, 2 * kind->gates), holes = times(hidden, 3);
  TRY(match(infer, 1, 3, (struct dim *const[]){&directions, &gates, &input}));
  TRY(match(infer, 2, 3, (struct dim *const[]){&directions, &gates, &hidden}));
  TRY(match(infer, 3, 2, (struct dim *const[]){&directions, &biases}));
  TRY(match(infer, 4, 1, (struct dim *const[]){&batch}));
  struct dim *outer = r.batch_first ? &batch : &directions, *inner = r.batch_first ? &directions : &batch;
  TRY(match(infer, 5, 3, (struct dim *const[]){outer, inner, &hidden}));
  TRY(match(infer, 6, 3, (struct dim *const[]){outer, inner, &hidden}));
  TRY(match(infer, 7, 2, (struct dim *const[]){&directions, &holes}));
  const struct infer_value *lengths = infer_input(infer, 4);
  if (lengths != NULL && lengths->type.dtype != ASSAY_UNDEFINED && lengths->type.dtype != ASSAY_INT32) {
    return status_make(ASSAY_TYPE_CONFLICT, NULL, "sequence_lens is %s, expected int32",
                       assay_dtype_name(lengths->type.dtype));
  }
  assay_dtype dtype = infer->inputs[0]->type.dtype;
  struct dim y[4] = {steps, directions, batch, hidden}, y_batch_first[4] = {batch, steps, directions, hidden};
  infer_set(infer, 0, dtype, 4, r.batch_first ? y_batch_first : y);
  struct dim last[3] = {*outer, *inner, hidden};
  infer_set(infer, 1, dtype, 3, last);
  infer_set(infer, 2, dtype, 3, last);
  return status_ok();
}

/* --- plan ---------------------------------------------------------------- */

static void set_sizes(struct recurrent *r, const int64_t *x, const int64_t *w) {
  r->batch = x[r->batch_first ? 0 : 1];
  r->steps = x[r->batch_first ? 1 : 0];
  r->input = x[2];
  r->hidden = w[1] / r->kind->gates;
}

/* Where everything lies in the workspace, or in the plan. */
struct recurrent_layout {
  size_t w, r[2];                     /* packed, of all directions */
  size_t w_direction, r_direction[2]; /* bytes of one direction */
  size_t x, h, c, hr, t, hidden_gate, rounded, lengths, rows, scratch, bytes;
};

static assay_status place(size_t *at, size_t *total, int64_t a, int64_t b, size_t c) {
  size_t bytes = 0;
  TRY(dot_bytes(a, b, c, &bytes));
  *at = *total;
  if (!size_add(*total, bytes, total) || *total > SIZE_MAX / 2) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "the sequences are more than memory can hold");
  }
  return status_ok();
}

/* The packed weights alone. */
static assay_status layout_weights(const struct dot_kernels *dot, const struct recurrent *r, bool w, bool rr,
                                   struct recurrent_layout *out, size_t *total) {
  if (w) {
    TRY(dot_packed_b_bytes(dot, r->input, r->kind->gates * r->hidden, &out->w_direction));
    TRY(place(&out->w, total, r->directions, (int64_t)out->w_direction, 1));
  }
  for (int part = 0; rr && part < r->kind->parts; part++) {
    TRY(dot_packed_b_bytes(dot, r->hidden, r->kind->widths[part] * r->hidden, &out->r_direction[part]));
    TRY(place(&out->r[part], total, r->directions, (int64_t)out->r_direction[part], 1));
  }
  return status_ok();
}

static assay_status layout_run(const struct dot_kernels *dot, const struct recurrent *r,
                               const struct recurrent_state *state, int threads, struct recurrent_layout *out) {
  size_t total = 0;
  int64_t gates = r->kind->gates * r->hidden;
  TRY(place(&out->scratch, &total, threads, 1, dot_scratch_bytes(dot)));
  TRY(layout_weights(dot, r, state->w == NULL, state->r[0] == NULL, out, &total));
  size_t rows = 0;
  TRY(dot_bytes(r->steps, r->batch, 1, &rows));
  TRY(place(&out->x, &total, (int64_t)rows, gates, dot->size));
  TRY(place(&out->h, &total, r->batch, r->hidden, dot->size));
  TRY(place(&out->c, &total, r->batch, r->hidden, dot->size));
  TRY(place(&out->hr, &total, r->batch, gates, dot->size));
  TRY(place(&out->t, &total, 4, r->hidden, dot->size));
  TRY(place(&out->hidden_gate, &total, r->batch, r->hidden, dot->size));
  TRY(place(&out->rounded, &total, r->batch, r->hidden, dot->size));
  TRY(place(&out->lengths, &total, r->batch, 1, sizeof(int64_t)));
  TRY(place(&out->rows, &total, r->batch, 1, sizeof(char *)));
  out->bytes = total;
  return status_ok();
}

/* Packs W of all directions. Rows of W are columns of the product. */
static void pack_w(const struct dot_kernels *dot, const struct recurrent *r, const struct recurrent_layout *layout,
                   const void *w, char *to) {
  int64_t n = r->kind->gates * r->hidden;
  for (int d = 0; d < r->directions; d++) {
    const char *from = (const char *)w + (size_t)(d * n * r->input) * dot->size;
    dot_pack_b_all(dot, NULL, from, 1, r->input, r->input, n, 1, to + layout->w + (size_t)d * layout->w_direction);
  }
}

static void pack_r(const struct dot_kernels *dot, const struct recurrent *r, const struct recurrent_layout *layout,
                   const void *weights, char *to) {
  for (int d = 0; d < r->directions; d++) {
    int64_t row = d * r->kind->gates * r->hidden;
    for (int part = 0; part < r->kind->parts; part++) {
      const char *from = (const char *)weights + (size_t)(row * r->hidden) * dot->size;
      int64_t n = r->kind->widths[part] * r->hidden;
      dot_pack_b_all(dot, NULL, from, 1, r->hidden, r->hidden, n, 1,
                     to + layout->r[part] + (size_t)d * layout->r_direction[part]);
      row += n;
    }
  }
}

assay_status recurrent_prepare(struct op_prepare *prepare, const struct recurrent_kind *kind) {
  struct recurrent_state *state;
  ARENA_NEW(prepare->arena, state, 1);
  prepare->state = state;
  struct recurrent r;
  struct dot_kernels dot;
  int64_t x[ASSAY_RANK_MAX], w[ASSAY_RANK_MAX];
  TRY(read_attributes(prepare->node, kind, &r));
  if (!type_dims(&prepare->inputs[0]->type, x) || !type_dims(&prepare->inputs[1]->type, w) ||
      !dot_kernels_find(prepare->kernels, prepare->inputs[0]->type.dtype, &dot)) {
    return status_ok();
  }
  set_sizes(&r, x, w);
  const assay_tensor *w_constant = prepare->inputs[1]->constant, *r_constant = prepare->inputs[2]->constant;
  struct recurrent_layout layout = {0};
  size_t total = 0;
  TRY(layout_weights(&dot, &r, w_constant != NULL, r_constant != NULL, &layout, &total));
  void *block = NULL;
  TRY(plan_alloc(prepare, total, &block));
  if (w_constant != NULL) {
    pack_w(&dot, &r, &layout, w_constant->data, block);
    state->w = (char *)block + layout.w;
    prepare->packed |= 2;
  }
  if (r_constant != NULL) {
    pack_r(&dot, &r, &layout, r_constant->data, block);
    for (int part = 0; part < kind->parts; part++) {
      state->r[part] = (char *)block + layout.r[part];
    }
    prepare->packed |= 4;
  }
  struct recurrent_layout run_layout = {0};
  TRY(layout_run(&dot, &r, state, prepare->threads, &run_layout));
  prepare->workspace = run_layout.bytes;
  return status_ok();
}

/* --- vectors ------------------------------------------------------------- */

void recurrent_add(const struct recurrent_step *s, const void *a, const void *b, void *y, int64_t n) {
  if (s->dtype == ASSAY_FLOAT64) {
    s->kernels->f64_add(a, 1, b, 1, y, n);
  } else {
    s->kernels->f32_add(a, 1, b, 1, y, n);
  }
}

void recurrent_mul(const struct recurrent_step *s, const void *a, const void *b, void *y, int64_t n) {
  if (s->dtype == ASSAY_FLOAT64) {
    s->kernels->f64_mul(a, 1, b, 1, y, n);
  } else {
    s->kernels->f32_mul(a, 1, b, 1, y, n);
  }
}

void recurrent_one_minus(const struct recurrent_step *s, const void *a, void *y, int64_t n) {
  const double one64 = 1;
  const float one32 = 1;
  if (s->dtype == ASSAY_FLOAT64) {
    s->kernels->f64_sub(&one64, 0, a, 1, y, n);
  } else {
    s->kernels->f32_sub(&one32, 0, a, 1, y, n);
  }
}

#define ACTIVATION_KERNELS(ROW)                      \
  ROW(ACTIVATION_RELU, relu)                         \
  ROW(ACTIVATION_TANH, tanh)                         \
  ROW(ACTIVATION_SIGMOID, sigmoid)                   \
  ROW(ACTIVATION_LEAKY_RELU, leaky_relu)             \
  ROW(ACTIVATION_THRESHOLDED_RELU, thresholded_relu) \
  ROW(ACTIVATION_HARD_SIGMOID, hard_sigmoid)         \
  ROW(ACTIVATION_ELU, elu)                           \
  ROW(ACTIVATION_SOFTSIGN, softsign)                 \
  ROW(ACTIVATION_SOFTPLUS, softplus)

static void activate_f32(const struct kernels *k, const struct activation *a, float *x, int64_t n) {
  const float p[2] = {a->alpha, a->beta};
  switch (a->kind) {
#define ROW(activation, name)  \
  case activation:             \
    k->f32_##name(x, x, n, p); \
    break;
    ACTIVATION_KERNELS(ROW)
#undef ROW
    case ACTIVATION_AFFINE:
      k->f32_mul(x, 1, &p[0], 0, x, n);
      k->f32_add(x, 1, &p[1], 0, x, n);
      break;
    case ACTIVATION_SCALED_TANH:
      k->f32_mul(x, 1, &p[1], 0, x, n);
      k->f32_tanh(x, x, n, NULL);
      k->f32_mul(x, 1, &p[0], 0, x, n);
      break;
  }
}

static void activate_f64(const struct kernels *k, const struct activation *a, double *x, int64_t n) {
  const double p[2] = {(double)a->alpha, (double)a->beta};
  switch (a->kind) {
#define ROW(activation, name)  \
  case activation:             \
    k->f64_##name(x, x, n, p); \
    break;
    ACTIVATION_KERNELS(ROW)
#undef ROW
    case ACTIVATION_AFFINE:
      k->f64_mul(x, 1, &p[0], 0, x, n);
      k->f64_add(x, 1, &p[1], 0, x, n);
      break;
    case ACTIVATION_SCALED_TANH:
      k->f64_mul(x, 1, &p[1], 0, x, n);
      k->f64_tanh(x, x, n, NULL);
      k->f64_mul(x, 1, &p[0], 0, x, n);
      break;
  }
}

void recurrent_activate(const struct recurrent_step *s, int i, void *x, int64_t n) {
  const struct activation *a = &s->recurrent->activations[s->direction][i];
  float clip = s->recurrent->clip;
  if (s->dtype == ASSAY_FLOAT64) {
    if (s->recurrent->clipped) {
      s->kernels->f64_clip(x, x, n, (const double[]){-(double)clip, (double)clip});
    }
    activate_f64(s->kernels, a, x, n);
    return;
  }
  if (s->recurrent->clipped) {
    s->kernels->f32_clip(x, x, n, (const float[]){-clip, clip});
  }
  activate_f32(s->kernels, a, x, n);
}

/* --- run ----------------------------------------------------------------- */

void recurrent_multiply(struct recurrent_step *s, int part, const void *from, char *to, int64_t to_row) {
  const struct recurrent *r = s->recurrent;
  if (s->run->round_operands != NULL && s->dtype == ASSAY_FLOAT32) {
    memcpy(s->rounded, from, (size_t)(r->batch * r->hidden) * s->size);
    s->run->round_operands(s->run, (float *)(void *)s->rounded, r->batch * r->hidden);
    from = s->rounded;
  }
  struct dot_products p = {.count = 1,
                           .g = {.m = r->batch,
                                 .n = r->kind->widths[part] * r->hidden,
                                 .k = r->hidden,
                                 .a = from,
                                 .a_row = r->hidden,
                                 .a_column = 1,
                                 .packed_b = s->r[part],
                                 .c = to,
                                 .c_row = to_row}};
  dot_products_run(s->dot, s->pool, &p, s->scratch);
}

/* The chains over the input of all steps. */
static void multiply_inputs(const struct recurrent_step *s, const void *x, const void *w) {
  const struct recurrent *r = s->recurrent;
  int64_t n = r->kind->gates * r->hidden;
  struct dot_products p = {.count = 1,
                           .g = {.m = r->steps * r->batch,
                                 .n = n,
                                 .k = r->input,
                                 .a = x,
                                 .a_row = r->input,
                                 .a_column = 1,
                                 .packed_b = w,
                                 .c = s->x,
                                 .c_row = n}};
  dot_products_run(s->dot, s->pool, &p, s->scratch);
}

/* Steps of each row; all of them without sequence_lens. */
static assay_status read_lengths(const struct op_run *run, const struct recurrent *r, int64_t *lengths) {
  const assay_tensor *given = run->node->n_inputs > 4 ? run->inputs[4] : NULL;
  for (int64_t row = 0; row < r->batch; row++) {
    lengths[row] = given == NULL ? r->steps : ((const int32_t *)given->data)[row];
    if (lengths[row] < 0 || lengths[row] > r->steps) {
      return status_make(ASSAY_NODE_VALUE, run->node->label,
                         "node '%s': sequence_lens holds %lld for row %lld, expected 0 to %lld", run->node->label,
                         (long long)lengths[row], (long long)row, (long long)r->steps);
    }
  }
  return status_ok();
}

/* Row of x (and of y without its directions) of a batch row at a time. */
static int64_t row_at(const struct recurrent *r, int64_t time, int64_t row) {
  return r->batch_first ? row * r->steps + time : time * r->batch + row;
}

/* Row of an initial or last state. */
static int64_t state_row(const struct recurrent *r, int direction, int64_t row) {
  return r->batch_first ? row * r->directions + direction : direction * r->batch + row;
}

/* Row of Y. */
static int64_t y_row(const struct recurrent *r, int direction, int64_t time, int64_t row) {
  return r->batch_first ? (row * r->steps + time) * r->directions + direction
                        : (time * r->directions + direction) * r->batch + row;
}

static void load_state(const struct recurrent_step *s, const assay_tensor *initial, char *state) {
  const struct recurrent *r = s->recurrent;
  size_t bytes = (size_t)r->hidden * s->size;
  for (int64_t row = 0; row < r->batch; row++) {
    if (initial == NULL) {
      memset(state + (size_t)row * bytes, 0, bytes);
    } else {
      memcpy(state + (size_t)row * bytes, (const char *)initial->data + (size_t)state_row(r, s->direction, row) * bytes,
             bytes);
    }
  }
}

static void store_state(const struct recurrent_step *s, const char *state, assay_tensor *last) {
  const struct recurrent *r = s->recurrent;
  size_t bytes = (size_t)r->hidden * s->size;
  for (int64_t row = 0; last != NULL && row < r->batch; row++) {
    memcpy((char *)last->data + (size_t)state_row(r, s->direction, row) * bytes, state + (size_t)row * bytes, bytes);
  }
}

/* One direction from its first step to its last. Y beyond the end of a sequence is zero. */
static void walk(struct recurrent_step *s, recurrent_products *products, recurrent_cell *cell, char **rows,
                 assay_tensor *y) {
  const struct recurrent *r = s->recurrent;
  size_t bytes = (size_t)r->hidden * s->size, gates = bytes * (size_t)r->kind->gates;
  for (int64_t step = 0; step < r->steps; step++) {
    for (int64_t row = 0; row < r->batch; row++) {
      int64_t time = r->reversed[s->direction] ? s->lengths[row] - 1 - step : step;
      rows[row] = step < s->lengths[row] ? s->x + (size_t)row_at(r, time, row) * gates : NULL;
    }
    products(s, rows);
    for (int64_t row = 0; row < r->batch; row++) {
      int64_t time = r->reversed[s->direction] && rows[row] != NULL ? s->lengths[row] - 1 - step : step;
      if (rows[row] != NULL) {
        cell(s, row, rows[row]);
      }
      if (y == NULL) {
        continue;
      }
      char *to = (char *)y->data + (size_t)y_row(r, s->direction, time, row) * bytes;
      if (rows[row] != NULL) {
        memcpy(to, s->h + (size_t)row * bytes, bytes);
      } else {
        memset(to, 0, bytes);
      }
    }
  }
}

static const assay_tensor *input_at(const struct op_run *run, int32_t i) {
  return i < run->node->n_inputs ? run->inputs[i] : NULL;
}
static assay_tensor *output_at(const struct op_run *run, int32_t i) {
  return i < run->node->n_outputs ? run->outputs[i] : NULL;
}

/* Part of direction d of an optional input, `elements` a direction. */
static const char *of_direction(const assay_tensor *tensor, int direction, int64_t elements, size_t size) {
  return tensor == NULL ? NULL : (const char *)tensor->data + (size_t)(direction * elements) * size;
}

assay_status recurrent_run(struct op_run *run, const struct recurrent_kind *kind, recurrent_products *products,
                           recurrent_cell *cell) {
  const struct recurrent_state *state = run->state;
  const assay_tensor *x = run->inputs[0], *bias = input_at(run, 3), *peepholes = input_at(run, 7);
  struct recurrent r;
  struct dot_kernels dot;
  TRY(read_attributes(run->node, kind, &r));
  if (!dot_kernels_find(run->kernels, x->dtype, &dot)) {
    return status_make(ASSAY_INTERNAL, run->node->label, "%s was given %s", kind->name, assay_dtype_name(x->dtype));
  }
  set_sizes(&r, x->dims, run->inputs[1]->dims);
  struct recurrent_layout layout = {0};
  void *block = NULL;
  TRY(layout_run(&dot, &r, state, pool_threads(run->pool), &layout));
  TRY(run_workspace(run, layout.bytes, &block));
  char *base = block;
  int64_t *lengths = (int64_t *)(void *)(base + layout.lengths), gates = kind->gates * r.hidden;
  TRY(read_lengths(run, &r, lengths));
  if (state->w == NULL) {
    pack_w(&dot, &r, &layout, run->inputs[1]->data, base);
  }
  if (state->r[0] == NULL) {
    pack_r(&dot, &r, &layout, run->inputs[2]->data, base);
  }
  for (int d = 0; d < r.directions; d++) {
    struct recurrent_step s = {.recurrent = &r,
                               .kernels = run->kernels,
                               .dtype = x->dtype,
                               .size = dot.size,
                               .direction = d,
                               .dot = &dot,
                               .pool = run->pool,
                               .w_bias = of_direction(bias, d, 2 * gates, dot.size),
                               .peepholes = of_direction(peepholes, d, 3 * r.hidden, dot.size),
                               .x = base + layout.x,
                               .h = base + layout.h,
                               .c = base + layout.c,
                               .hr = base + layout.hr,
                               .t = base + layout.t,
                               .hidden_gate = base + layout.hidden_gate,
                               .rounded = base + layout.rounded,
                               .run = run,
                               .scratch = base + layout.scratch,
                               .lengths = lengths};
    s.r_bias = s.w_bias == NULL ? NULL : s.w_bias + (size_t)gates * dot.size;
    size_t w_bytes = 0, r_bytes[2] = {0, 0};
    TRY(dot_packed_b_bytes(&dot, r.input, gates, &w_bytes));
    const char *w = (state->w != NULL ? (const char *)state->w : base + layout.w) + (size_t)d * w_bytes;
    for (int part = 0; part < kind->parts; part++) {
      TRY(dot_packed_b_bytes(&dot, r.hidden, kind->widths[part] * r.hidden, &r_bytes[part]));
      const char *packed = state->r[0] != NULL ? state->r[part] : base + layout.r[part];
      s.r[part] = packed + (size_t)d * r_bytes[part];
    }
    load_state(&s, input_at(run, 5), s.h);
    load_state(&s, kind->outputs == 3 ? input_at(run, 6) : NULL, s.c);
    multiply_inputs(&s, x->data, w);
    walk(&s, products, cell, (char **)(void *)(base + layout.rows), output_at(run, 0));
    store_state(&s, s.h, output_at(run, 1));
    store_state(&s, s.c, kind->outputs == 3 ? output_at(run, 2) : NULL);
  }
  return status_ok();
}
