/* Multiply-adds from shapes. Only operators that multiply and add along an axis count; a shape that is not
 * known is counted as unknown, never as nothing. */
#include <string.h>

#include "model/summary.h"

enum { COST_UNKNOWN = -1 };

/* The number of a dimension, or COST_UNKNOWN; negative axes count from the end. */
static double dim_at(const struct infer_value *value, int32_t axis) {
  if (value == NULL || value->type.rank == RANK_UNKNOWN) {
    return COST_UNKNOWN;
  }
  axis = axis < 0 ? axis + value->type.rank : axis;
  if (axis < 0 || axis >= value->type.rank || value->type.dims[axis].value < 0) {
    return COST_UNKNOWN;
  }
  return (double)value->type.dims[axis].value;
}

/* The product of the dimensions from `first` on. */
static double product(const struct infer_value *value, int32_t first) {
  if (value == NULL || value->type.rank == RANK_UNKNOWN) {
    return COST_UNKNOWN;
  }
  double result = 1;
  for (int32_t i = first; i < value->type.rank; i++) {
    if (value->type.dims[i].value < 0) {
      return COST_UNKNOWN;
    }
    result *= (double)value->type.dims[i].value;
  }
  return result;
}

static double times(double a, double b) { return a < 0 || b < 0 ? COST_UNKNOWN : a * b; }

/* One node's inputs and outputs. */
struct cost_node {
  const struct node *node;
  const struct infer_value *const *inputs;
  const struct infer_value *const *outputs;
};

static const struct infer_value *input_of(const struct cost_node *cost, int32_t i) {
  return i < cost->node->n_inputs ? cost->inputs[i] : NULL;
}

static const struct infer_value *output_of(const struct cost_node *cost, int32_t i) {
  return i < cost->node->n_outputs ? cost->outputs[i] : NULL;
}

static double cost_matmul(const struct cost_node *cost) {
  return times(product(output_of(cost, 0), 0), dim_at(input_of(cost, 0), -1));
}

static double cost_gemm(const struct cost_node *cost) {
  int32_t inner = node_attribute_int(cost->node, "transA", 0) != 0 ? 0 : 1;
  return times(product(output_of(cost, 0), 0), dim_at(input_of(cost, 0), inner));
}

/* Each output element takes one product for each element of a filter. */
static double cost_conv_of(const struct cost_node *cost, int32_t filter) {
  return times(product(output_of(cost, 0), 0), product(input_of(cost, filter), 1));
}

static double cost_conv(const struct cost_node *cost) { return cost_conv_of(cost, 1); }
static double cost_qlinear_conv(const struct cost_node *cost) { return cost_conv_of(cost, 3); }

/* The other way round: each input element. */
static double cost_conv_transpose(const struct cost_node *cost) {
  return times(product(input_of(cost, 0), 0), product(input_of(cost, 1), 1));
}

/* X is [steps, batch, inputs] (in either order), W [directions, gates x hidden, inputs], R [.., .., hidden]. */
static double cost_recurrent(const struct cost_node *cost) {
  double steps_and_batch = times(dim_at(input_of(cost, 0), 0), dim_at(input_of(cost, 0), 1));
  return times(steps_and_batch, product(input_of(cost, 1), 0) < 0 || product(input_of(cost, 2), 0) < 0
                                    ? COST_UNKNOWN
                                    : product(input_of(cost, 1), 0) + product(input_of(cost, 2), 0));
}

static const struct {
  const char *op_type;
  double (*cost)(const struct cost_node *cost);
} rows[] = {{"Conv", cost_conv},
            {"ConvInteger", cost_conv},
            {"ConvTranspose", cost_conv_transpose},
            {"GRU", cost_recurrent},
            {"Gemm", cost_gemm},
            {"LSTM", cost_recurrent},
            {"MatMul", cost_matmul},
            {"MatMulInteger", cost_matmul},
            {"QLinearConv", cost_qlinear_conv},
            {"QLinearMatMul", cost_matmul},
            {"RNN", cost_recurrent}};

static void add_cost(struct cost_summary *summary, const char *op_type, double multiply_adds) {
  int32_t i = 0;
  while (i < summary->n_operators && strcmp(summary->by_operator[i].op_type, op_type) != 0) {
    i++;
  }
  if (i == summary->n_operators) {
    summary->n_operators++;
    summary->by_operator[i].op_type = op_type;
  }
  summary->by_operator[i].multiply_adds += multiply_adds;
  summary->by_operator[i].nodes++;
  summary->multiply_adds += multiply_adds;
  summary->n_counted++;
}

_Static_assert(sizeof rows / sizeof *rows <=
                   sizeof((struct cost_summary *)0)->by_operator / sizeof *((struct cost_summary *)0)->by_operator,
               "a place for each operator that counts");

void cost_visit(void *user, const struct node *node, const struct infer_value *const *inputs,
                const struct infer_value *const *outputs) {
  struct cost_summary *summary = user;
  struct cost_node cost = {node, inputs, outputs};
  if (node->domain[0] != '\0') {
    return;
  }
  summary->n_repeated += strcmp(node->op_type, "Loop") == 0 || strcmp(node->op_type, "Scan") == 0;
  summary->n_branches += strcmp(node->op_type, "If") == 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strcmp(rows[i].op_type, node->op_type) == 0) {
      double multiply_adds = rows[i].cost(&cost);
      if (multiply_adds < 0) {
        summary->n_unknown++;
      } else {
        add_cost(summary, rows[i].op_type, multiply_adds);
      }
    }
  }
}
