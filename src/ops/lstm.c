/* The cell of LSTM: gates i, o, f, c. Definition: ONNX LSTM 1 to 22. */
#include <string.h>

#include "ops/recurrent.h"

enum { GATE_I, GATE_O, GATE_F, GATE_C };

static const enum activation_kind lstm_defaults[] = {ACTIVATION_SIGMOID, ACTIVATION_TANH, ACTIVATION_TANH};
static const int lstm_widths[] = {4};
static const struct recurrent_kind lstm = {"LSTM", 4, 3, lstm_defaults, 3, 1, lstm_widths};

assay_status infer_lstm(struct infer *infer) { return recurrent_infer(infer, &lstm); }
assay_status prepare_lstm(struct op_prepare *prepare) { return recurrent_prepare(prepare, &lstm); }

static void lstm_products(struct recurrent_step *s, char *const *x_rows) {
  (void)x_rows;
  recurrent_multiply(s, 0, s->h, s->hr, 4 * s->recurrent->hidden);
}

/* gate += P . c, then the biases. */
static void add_rest(const struct recurrent_step *s, char *gate, int which, const char *hole, const char *c) {
  int64_t n = s->recurrent->hidden;
  size_t at = (size_t)which * (size_t)n * s->size;
  if (hole != NULL) {
    recurrent_mul(s, hole, c, s->t, n);
    recurrent_add(s, gate, s->t, gate, n);
  }
  if (s->w_bias != NULL) {
    recurrent_add(s, gate, s->w_bias + at, gate, n);
    recurrent_add(s, gate, s->r_bias + at, gate, n);
  }
}

static void lstm_cell(struct recurrent_step *s, int64_t row, char *x) {
  int64_t n = s->recurrent->hidden;
  size_t bytes = (size_t)n * s->size;
  char *i = x + GATE_I * bytes, *o = x + GATE_O * bytes, *f = x + GATE_F * bytes, *g = x + GATE_C * bytes;
  char *h = s->h + (size_t)row * bytes, *c = s->c + (size_t)row * bytes, *t = s->t;
  const char *hole = s->peepholes; /* of i, o, f */
  recurrent_add(s, x, s->hr + (size_t)row * 4 * bytes, x, 4 * n);
  add_rest(s, i, GATE_I, hole, c);
  recurrent_activate(s, 0, i, n);
  if (s->recurrent->input_forget) {
    recurrent_one_minus(s, i, f, n);
  } else {
    add_rest(s, f, GATE_F, hole == NULL ? NULL : hole + 2 * bytes, c);
    recurrent_activate(s, 0, f, n);
  }
  add_rest(s, g, GATE_C, NULL, NULL);
  recurrent_activate(s, 1, g, n);
  recurrent_mul(s, f, c, c, n);
  recurrent_mul(s, i, g, t, n);
  recurrent_add(s, c, t, c, n);
  add_rest(s, o, GATE_O, hole == NULL ? NULL : hole + bytes, c);
  recurrent_activate(s, 0, o, n);
  memcpy(t, c, bytes); /* what is clipped for the activation is not the state */
  recurrent_activate(s, 2, t, n);
  recurrent_mul(s, o, t, h, n);
}

assay_status run_lstm(struct op_run *run) { return recurrent_run(run, &lstm, lstm_products, lstm_cell); }
