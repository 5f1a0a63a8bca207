/* The cells of GRU (gates z, r, h) and RNN (one gate). Definitions: ONNX GRU 1 to 22, RNN 1 to 22. */
#include <string.h>

#include "ops/recurrent.h"

enum { GATE_Z, GATE_R, GATE_H };

static const enum activation_kind gru_defaults[] = {ACTIVATION_SIGMOID, ACTIVATION_TANH};
static const int gru_widths[] = {2, 1};
static const struct recurrent_kind gru = {"GRU", 3, 2, gru_defaults, 2, 2, gru_widths};

static const enum activation_kind rnn_defaults[] = {ACTIVATION_TANH};
static const int rnn_widths[] = {1};
static const struct recurrent_kind rnn = {"RNN", 1, 1, rnn_defaults, 2, 1, rnn_widths};

assay_status infer_gru(struct infer *infer) { return recurrent_infer(infer, &gru); }
assay_status prepare_gru(struct op_prepare *prepare) { return recurrent_prepare(prepare, &gru); }
assay_status infer_rnn(struct infer *infer) { return recurrent_infer(infer, &rnn); }
assay_status prepare_rnn(struct op_prepare *prepare) { return recurrent_prepare(prepare, &rnn); }

static void add_biases(const struct recurrent_step *s, char *gate, int which, bool w, bool r) {
  size_t at = (size_t)which * (size_t)s->recurrent->hidden * s->size;
  if (s->w_bias == NULL) {
    return;
  }
  if (w) {
    recurrent_add(s, gate, s->w_bias + at, gate, s->recurrent->hidden);
  }
  if (r) {
    recurrent_add(s, gate, s->r_bias + at, gate, s->recurrent->hidden);
  }
}

/* Gates z and r of every row first: the product of the third gate needs r. Leaves that product in hidden_gate. */
static void gru_products(struct recurrent_step *s, char *const *x_rows) {
  int64_t n = s->recurrent->hidden;
  size_t bytes = (size_t)n * s->size;
  recurrent_multiply(s, 0, s->h, s->hr, 3 * n);
  if (s->recurrent->linear_before_reset) {
    recurrent_multiply(s, 1, s->h, s->hidden_gate, n);
  }
  for (int64_t row = 0; row < s->recurrent->batch; row++) {
    char *x = x_rows[row], *hr = s->hr + (size_t)row * 3 * bytes, *reset = hr + 2 * bytes;
    if (x == NULL) { /* nobody asks for the product of this row */
      memset(reset, 0, bytes);
      continue;
    }
    recurrent_add(s, x, hr, x, 2 * n);
    for (int gate = GATE_Z; gate <= GATE_R; gate++) {
      add_biases(s, x + (size_t)gate * bytes, gate, true, true);
      recurrent_activate(s, 0, x + (size_t)gate * bytes, n);
    }
    recurrent_mul(s, x + bytes, s->h + (size_t)row * bytes, reset, n);
  }
  if (!s->recurrent->linear_before_reset) {
    /* r . h of all rows, brought together where the product wants them. */
    for (int64_t row = 0; row < s->recurrent->batch; row++) {
      memcpy(s->hr + (size_t)row * bytes, s->hr + ((size_t)row * 3 + 2) * bytes, bytes);
    }
    recurrent_multiply(s, 1, s->hr, s->hidden_gate, n);
  }
}

static void gru_cell(struct recurrent_step *s, int64_t row, char *x) {
  int64_t n = s->recurrent->hidden;
  size_t bytes = (size_t)n * s->size;
  char *z = x, *r = x + bytes, *g = x + 2 * bytes, *h = s->h + (size_t)row * bytes, *t = s->t;
  char *product = s->hidden_gate + (size_t)row * bytes;
  if (s->recurrent->linear_before_reset) {
    add_biases(s, product, GATE_H, false, true);
    recurrent_mul(s, r, product, product, n);
  }
  recurrent_add(s, g, product, g, n);
  add_biases(s, g, GATE_H, true, !s->recurrent->linear_before_reset);
  recurrent_activate(s, 1, g, n);
  recurrent_one_minus(s, z, t, n);
  recurrent_mul(s, t, g, t, n);
  recurrent_mul(s, z, h, h, n);
  recurrent_add(s, t, h, h, n);
}

assay_status run_gru(struct op_run *run) { return recurrent_run(run, &gru, gru_products, gru_cell); }

static void rnn_products(struct recurrent_step *s, char *const *x_rows) {
  (void)x_rows;
  recurrent_multiply(s, 0, s->h, s->hr, s->recurrent->hidden);
}

static void rnn_cell(struct recurrent_step *s, int64_t row, char *x) {
  int64_t n = s->recurrent->hidden;
  size_t bytes = (size_t)n * s->size;
  recurrent_add(s, x, s->hr + (size_t)row * bytes, x, n);
  add_biases(s, x, 0, true, true);
  recurrent_activate(s, 0, x, n);
  memcpy(s->h + (size_t)row * bytes, x, bytes);
}

assay_status run_rnn(struct op_run *run) { return recurrent_run(run, &rnn, rnn_products, rnn_cell); }
