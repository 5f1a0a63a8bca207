/* LSTM, GRU and RNN against their equations, computed here in double precision. */
#include <stdlib.h>

#include "op_fixture.h"

enum { STEPS = 5, BATCH = 3, INPUT = 4, HIDDEN = 6 };

struct net {
  int gates, directions;
  bool reverse, batch_first, linear_before_reset, input_forget;
  double clip; /* 0 for none */
  const int32_t *lengths;
  float x[STEPS * BATCH * INPUT];
  float w[2 * 4 * HIDDEN * INPUT], r[2 * 4 * HIDDEN * HIDDEN], b[2 * 8 * HIDDEN], p[2 * 3 * HIDDEN];
  float h0[2 * BATCH * HIDDEN], c0[2 * BATCH * HIDDEN];
  bool peepholes, initial;
  float y[STEPS * 2 * BATCH * HIDDEN], yh[2 * BATCH * HIDDEN], yc[2 * BATCH * HIDDEN];
};

static double clipped(const struct net *net, double x) {
  return net->clip > 0 ? fmin(fmax(x, -net->clip), net->clip) : x;
}
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* W.x + R.h of one gate and unit, each without its bias. */
static double chain_x(const struct net *net, int d, int unit, const float *x) {
  double sum = 0;
  for (int i = 0; i < INPUT; i++) {
    sum += (double)net->w[(d * net->gates * HIDDEN + unit) * INPUT + i] * (double)x[i];
  }
  return sum;
}
static double chain_h(const struct net *net, int d, int unit, const double *h) {
  double sum = 0;
  for (int i = 0; i < HIDDEN; i++) {
    sum += (double)net->r[(d * net->gates * HIDDEN + unit) * HIDDEN + i] * h[i];
  }
  return sum;
}
static double bias(const struct net *net, int d, bool recurrent, int unit) {
  return (double)net->b[d * 2 * net->gates * HIDDEN + (recurrent ? net->gates * HIDDEN : 0) + unit];
}

static void lstm_step(const struct net *net, int d, const float *x, double *h, double *c) {
  double gate[4][HIDDEN];
  const float *p = net->p + d * 3 * HIDDEN; /* i, o, f */
  for (int g = 0; g < 4; g++) {
    for (int j = 0; j < HIDDEN; j++) {
      int unit = g * HIDDEN + j;
      gate[g][j] =
          chain_x(net, d, unit, x) + chain_h(net, d, unit, h) + bias(net, d, false, unit) + bias(net, d, true, unit);
    }
  }
  for (int j = 0; j < HIDDEN; j++) {
    double pi = net->peepholes ? (double)p[j] : 0, po = net->peepholes ? (double)p[HIDDEN + j] : 0;
    double pf = net->peepholes ? (double)p[2 * HIDDEN + j] : 0;
    double i = sigmoid(clipped(net, gate[0][j] + pi * c[j]));
    double f = net->input_forget ? 1 - i : sigmoid(clipped(net, gate[2][j] + pf * c[j]));
    c[j] = f * c[j] + i * tanh(clipped(net, gate[3][j]));
    double o = sigmoid(clipped(net, gate[1][j] + po * c[j]));
    h[j] = o * tanh(clipped(net, c[j]));
  }
}

static void gru_step(const struct net *net, int d, const float *x, double *h) {
  double z[HIDDEN], r[HIDDEN], rh[HIDDEN], next[HIDDEN];
  for (int j = 0; j < HIDDEN; j++) {
    z[j] = sigmoid(chain_x(net, d, j, x) + chain_h(net, d, j, h) + bias(net, d, false, j) + bias(net, d, true, j));
    int u = HIDDEN + j;
    r[j] = sigmoid(chain_x(net, d, u, x) + chain_h(net, d, u, h) + bias(net, d, false, u) + bias(net, d, true, u));
    rh[j] = r[j] * h[j];
  }
  for (int j = 0; j < HIDDEN; j++) {
    int u = 2 * HIDDEN + j;
    double recurrent = net->linear_before_reset ? r[j] * (chain_h(net, d, u, h) + bias(net, d, true, u))
                                                : chain_h(net, d, u, rh) + bias(net, d, true, u);
    next[j] = (1 - z[j]) * tanh(chain_x(net, d, u, x) + recurrent + bias(net, d, false, u)) + z[j] * h[j];
  }
  memcpy(h, next, sizeof next);
}

static void rnn_step(const struct net *net, int d, const float *x, double *h) {
  double next[HIDDEN];
  for (int j = 0; j < HIDDEN; j++) {
    next[j] = tanh(chain_x(net, d, j, x) + chain_h(net, d, j, h) + bias(net, d, false, j) + bias(net, d, true, j));
  }
  memcpy(h, next, sizeof next);
}

static void expected(struct net *net) {
  memset(net->y, 0, sizeof net->y);
  for (int d = 0; d < net->directions; d++) {
    bool reverse = net->reverse || d == 1;
    for (int row = 0; row < BATCH; row++) {
      double h[HIDDEN], c[HIDDEN];
      int at = (net->batch_first ? row * net->directions + d : d * BATCH + row) * HIDDEN;
      for (int j = 0; j < HIDDEN; j++) {
        h[j] = net->initial ? (double)net->h0[at + j] : 0;
        c[j] = net->initial ? (double)net->c0[at + j] : 0;
      }
      int steps = net->lengths == NULL ? STEPS : net->lengths[row];
      for (int s = 0; s < steps; s++) {
        int t = reverse ? steps - 1 - s : s;
        const float *x = net->x + (net->batch_first ? row * STEPS + t : t * BATCH + row) * INPUT;
        if (net->gates == 4) {
          lstm_step(net, d, x, h, c);
        } else if (net->gates == 3) {
          gru_step(net, d, x, h);
        } else {
          rnn_step(net, d, x, h);
        }
        int y = net->batch_first ? (row * STEPS + t) * net->directions + d : (t * net->directions + d) * BATCH + row;
        for (int j = 0; j < HIDDEN; j++) {
          net->y[y * HIDDEN + j] = (float)h[j];
        }
      }
      for (int j = 0; j < HIDDEN; j++) {
        net->yh[at + j] = (float)h[j];
        net->yc[at + j] = (float)c[j];
      }
    }
  }
}

static void set_net(struct op_case *c, const struct net *net) {
  int64_t d = net->directions, g = net->gates;
  op_case_int(c, "hidden_size", HIDDEN);
  op_case_string(c, "direction", d == 2 ? "bidirectional" : net->reverse ? "reverse" : "forward");
  if (net->batch_first) {
    op_case_int(c, "layout", 1);
    op_case_input(c, ASSAY_FLOAT32, DIMS(BATCH, STEPS, INPUT), net->x, sizeof net->x);
  } else {
    op_case_input(c, ASSAY_FLOAT32, DIMS(STEPS, BATCH, INPUT), net->x, sizeof net->x);
  }
  if (net->clip > 0) {
    op_case_float(c, "clip", (float)net->clip);
  }
  op_case_input(c, ASSAY_FLOAT32, DIMS(d, g * HIDDEN, INPUT), net->w, (size_t)(d * g * HIDDEN * INPUT) * 4);
  op_case_input(c, ASSAY_FLOAT32, DIMS(d, g * HIDDEN, HIDDEN), net->r, (size_t)(d * g * HIDDEN * HIDDEN) * 4);
  op_case_input(c, ASSAY_FLOAT32, DIMS(d, 2 * g * HIDDEN), net->b, (size_t)(d * 2 * g * HIDDEN) * 4);
  if (net->lengths != NULL) {
    op_case_input(c, ASSAY_INT32, DIMS(BATCH), net->lengths, BATCH * sizeof *net->lengths);
  } else {
    op_case_absent(c);
  }
  for (int state = 0; state < (g == 4 ? 2 : 1); state++) {
    const float *values = state == 0 ? net->h0 : net->c0;
    size_t bytes = (size_t)d * BATCH * HIDDEN * 4;
    if (!net->initial) {
      op_case_absent(c);
    } else if (net->batch_first) {
      op_case_input(c, ASSAY_FLOAT32, DIMS(BATCH, d, HIDDEN), values, bytes);
    } else {
      op_case_input(c, ASSAY_FLOAT32, DIMS(d, BATCH, HIDDEN), values, bytes);
    }
  }
  if (net->peepholes) {
    op_case_input(c, ASSAY_FLOAT32, DIMS(d, 3 * HIDDEN), net->p, (size_t)d * 3 * HIDDEN * 4);
  }
}

static void fill(struct net *net) {
  op_fill_f32(net->x, sizeof net->x / 4, 1);
  op_fill_f32(net->w, sizeof net->w / 4, 2);
  op_fill_f32(net->r, sizeof net->r / 4, 3);
  op_fill_f32(net->b, sizeof net->b / 4, 4);
  op_fill_f32(net->p, sizeof net->p / 4, 5);
  op_fill_f32(net->h0, sizeof net->h0 / 4, 6);
  op_fill_f32(net->c0, sizeof net->c0 / 4, 7);
}

static void check(const char *op, struct net *net) {
  int64_t d = net->directions;
  size_t y_bytes = (size_t)d * STEPS * BATCH * HIDDEN * 4, last_bytes = (size_t)d * BATCH * HIDDEN * 4;
  fill(net);
  expected(net);
  struct op_case *c = op_case_new(op, "", 14);
  op_case_outputs(c, net->gates == 4 ? 3 : 2);
  set_net(c, net);
  if (net->linear_before_reset) {
    op_case_int(c, "linear_before_reset", 1);
  }
  if (net->input_forget) {
    op_case_int(c, "input_forget", 1);
  }
  if (net->batch_first) {
    op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(BATCH, STEPS, d, HIDDEN), net->y, y_bytes, 1e-6, 0);
    op_case_expect_near(c, 1, ASSAY_FLOAT32, DIMS(BATCH, d, HIDDEN), net->yh, last_bytes, 1e-6, 0);
  } else {
    op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(STEPS, d, BATCH, HIDDEN), net->y, y_bytes, 1e-6, 0);
    op_case_expect_near(c, 1, ASSAY_FLOAT32, DIMS(d, BATCH, HIDDEN), net->yh, last_bytes, 1e-6, 0);
  }
  if (net->gates == 4 && !net->batch_first) {
    op_case_expect_near(c, 2, ASSAY_FLOAT32, DIMS(d, BATCH, HIDDEN), net->yc, last_bytes, 1e-6, 0);
  }
  op_case_free(c);
}

static const int32_t uneven[BATCH] = {5, 2, 0};

void test_op_LSTM_1(void **state) {
  (void)state;
  check("LSTM", &(struct net){.gates = 4, .directions = 1});
  check("LSTM", &(struct net){.gates = 4, .directions = 2, .initial = true, .peepholes = true, .lengths = uneven});
  check("LSTM", &(struct net){.gates = 4, .directions = 1, .reverse = true, .batch_first = true, .initial = true});
  check("LSTM",
        &(struct net){
            .gates = 4, .directions = 1, .clip = 0.25, .input_forget = true, .peepholes = true, .lengths = uneven});

  struct op_case *c = op_case_new("LSTM", "", 7);
  op_case_int(c, "hidden_size", 1);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1), F32(2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 4, 1), F32(1, 1, 1, 1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 4, 1), F32(0, 0, 0, 0));
  /* Factors are taken by the activations that have them: alpha 2 and beta 1 by Affine, alpha 0.5 by LeakyRelu. */
  op_case_strings(c, "activations", (const char *const[]){"Affine", "LeakyRelu", "Relu"}, 3);
  op_case_floats(c, "activation_alpha", (const float[]){2, 0.5f}, 2);
  op_case_floats(c, "activation_beta", (const float[]){1}, 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 1), F32(50));
  op_case_strings(c, "activations", (const char *const[]){"Affine", "LeakyRelu", "Cosine"}, 3);
  op_case_fails(c, ASSAY_NODE_INVALID, "'Cosine'");
  op_case_strings(c, "activations", (const char *const[]){"Tanh"}, 1);
  op_case_fails(c, ASSAY_NODE_INVALID, "1 names, expected 3");
  op_case_free(c);

  c = op_case_new("LSTM", "", 7);
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 1, 1), F64(2));
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 4, 2), F64(1, 1, 1, 1, 1, 1, 1, 1));
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 4, 1), F64(0, 0, 0, 0));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "input 1 has 2 elements along axis 2, expected 1");
  op_case_free(c);
}

void test_op_GRU_1(void **state) {
  (void)state;
  check("GRU", &(struct net){.gates = 3, .directions = 1});
  check("GRU", &(struct net){.gates = 3, .directions = 2, .initial = true, .lengths = uneven});
  check("GRU", &(struct net){.gates = 3,
                             .directions = 2,
                             .initial = true,
                             .linear_before_reset = true,
                             .lengths = uneven,
                             .batch_first = true});
}

void test_op_RNN_1(void **state) {
  (void)state;
  check("RNN", &(struct net){.gates = 1, .directions = 1});
  check("RNN", &(struct net){.gates = 1, .directions = 2, .initial = true, .lengths = uneven, .batch_first = true});

  struct op_case *c = op_case_new("RNN", "", 7);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1), F32(1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1), F32(1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1), F32(1));
  op_case_absent(c);
  op_case_input(c, ASSAY_INT32, DIMS(1), I32(2));
  op_case_fails(c, ASSAY_NODE_VALUE, "sequence_lens holds 2");
  op_case_free(c);

  /* The hidden state is an operand of a product too. */
  c = op_case_new("RNN", "", 7);
  op_case_strings(c, "activations", (const char *const[]){"Affine"}, 1);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1), F32(0));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1), F32(0));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1), F32(1));
  op_case_absent(c);
  op_case_absent(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1), F32(1.0f + 0x1p-12f));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 1), F32(1.0f + 0x1p-12f));
  op_case_round_operands(c);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 1), F32(1));
  op_case_free(c);
}
