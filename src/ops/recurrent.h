/* What LSTM, GRU and RNN share: sizes and attributes, activations, packed weights, and the walk over time. The order
 * of additions is: the chain over the input, the chain over the hidden state, then the biases of either, each one
 * addition. Definitions: ONNX RNN, GRU, LSTM 1 to 22. */
#ifndef OPS_RECURRENT_H
#define OPS_RECURRENT_H

#include "ops/dot.h"

enum { RECURRENT_DIRECTIONS = 2, RECURRENT_ACTIVATIONS = 3 };

enum activation_kind {
  ACTIVATION_RELU,
  ACTIVATION_TANH,
  ACTIVATION_SIGMOID,
  ACTIVATION_AFFINE,
  ACTIVATION_LEAKY_RELU,
  ACTIVATION_THRESHOLDED_RELU,
  ACTIVATION_SCALED_TANH,
  ACTIVATION_HARD_SIGMOID,
  ACTIVATION_ELU,
  ACTIVATION_SOFTSIGN,
  ACTIVATION_SOFTPLUS
};

struct activation {
  enum activation_kind kind;
  float alpha, beta;
};

/* One of the three operators. */
struct recurrent_kind {
  const char *name;
  int gates;
  int activations;
  const enum activation_kind *defaults;
  int outputs;       /* Y, Y_h and, for LSTM, Y_c */
  int parts;         /* into how many products the recurrent weights are split */
  const int *widths; /* gates of each of them */
};

struct recurrent {
  const struct recurrent_kind *kind;
  int64_t steps, batch, input, hidden;
  int directions;
  bool reversed[RECURRENT_DIRECTIONS];
  bool batch_first; /* layout 1 */
  bool clipped;
  float clip;
  bool input_forget, linear_before_reset;
  struct activation activations[RECURRENT_DIRECTIONS][RECURRENT_ACTIVATIONS];
};

/* What the plan holds: constant weights, packed for each direction. */
struct recurrent_state {
  const void *w;    /* input x gates * hidden, a direction after the other; NULL when not constant */
  const void *r[2]; /* hidden x widths[part] * hidden; r[0] NULL when not constant */
};

/* A run of one direction, for the cell. Pointers are to elements of the dtype. */
struct recurrent_step {
  const struct recurrent *recurrent;
  const struct kernels *kernels;
  assay_dtype dtype;
  size_t size;
  int direction;
  const struct dot_kernels *dot;
  struct pool *pool;
  struct op_run *run; /* for the rounding of h where the precision policy asks for it */
  char *rounded;      /* batch rows of hidden */
  const char *r[2];   /* packed, of this direction */
  const char *w_bias; /* gates * hidden, or NULL */
  const char *r_bias;
  const char *peepholes;  /* LSTM: 3 * hidden, or NULL */
  char *x;                /* steps * batch rows of gates * hidden: the input's chains */
  char *h, *c;            /* state: batch rows of hidden */
  char *hr;               /* batch rows of gates * hidden: the hidden state's chains */
  char *t;                /* scratch of `hidden` elements, four of them */
  char *hidden_gate;      /* scratch of batch rows of hidden */
  void *scratch;          /* of the products */
  const int64_t *lengths; /* steps of each batch row */
};

/* Updates h and c of batch row `row`, given the row of x (overwritten) that belongs to it. */
typedef void recurrent_cell(struct recurrent_step *step, int64_t row, char *x);
/* Computes products of the state before the cells of one step run. x_rows[row] is the row of x of that batch row, NULL
 * where its sequence has ended. */
typedef void recurrent_products(struct recurrent_step *step, char *const *x_rows);

ASSAY_MUST_CHECK assay_status recurrent_infer(struct infer *infer, const struct recurrent_kind *kind);
ASSAY_MUST_CHECK assay_status recurrent_prepare(struct op_prepare *prepare, const struct recurrent_kind *kind);
ASSAY_MUST_CHECK assay_status recurrent_run(struct op_run *run, const struct recurrent_kind *kind,
                                            recurrent_products *products, recurrent_cell *cell);

/* hr (from `column` on) = h . r[part] for all batch rows; `from` is h or something of its shape. */
void recurrent_multiply(struct recurrent_step *step, int part, const void *from, char *to, int64_t to_row);

/* Vectors of `hidden` elements. */
void recurrent_add(const struct recurrent_step *step, const void *a, const void *b, void *y, int64_t n);
void recurrent_mul(const struct recurrent_step *step, const void *a, const void *b, void *y, int64_t n);
void recurrent_one_minus(const struct recurrent_step *step, const void *a, void *y, int64_t n);
/* Clips (where the node says so) and applies activation i. */
void recurrent_activate(const struct recurrent_step *step, int i, void *x, int64_t n);

#endif
