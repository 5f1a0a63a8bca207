/* CumSum and CumProd: each output is the one before, plus or times one more element, rounded at each step. 16-bit
 * floats are kept as float along the row and rounded on the way out. */
#include "ops/axis_rows.h"
#include "ops/elementwise.h"
#include "ops/infer_help.h"

assay_status infer_cumulate(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  TRY(infer_want(infer, 1, 0, 1));
  const struct infer_value *axis = infer->inputs[1];
  if (infer->inputs[0]->type.rank >= 0 && axis->constant != NULL && tensor_count(axis->constant) == 1) {
    int at;
    TRY(axis_normalise("axis", number_get_i64(axis->constant, 0), infer->inputs[0]->type.rank, &at));
  }
  return infer_same(infer);
}

struct cumulate_walk {
  const assay_tensor *x;
  assay_tensor *y;
  struct axis_rows rows;
  bool exclusive, reverse, product;
};

/* One row: `value` goes through the elements; `term` is the one to be taken in. */
#define CUMULATE(type, kind, combine)                                                              \
  do {                                                                                             \
    type value = walk->product ? (type)1 : (type)0, term;                                          \
    for (int64_t i = 0; i < walk->rows.length; i++) {                                              \
      int64_t at = start + (walk->reverse ? walk->rows.length - 1 - i : i) * walk->rows.inner;     \
      numbers_load(walk->x->dtype, walk->x->data, at, 1, 1, kind, &term);                          \
      type next = (combine);                                                                       \
      numbers_store(walk->y->dtype, walk->y->data, at, 1, kind, walk->exclusive ? &value : &next); \
      value = next;                                                                                \
    }                                                                                              \
  } while (0)

/* The first element of all is taken as it is, so that -0 stays. */
#define FLOAT_STEP(first) (walk->product ? value * term : (first) ? term : value + term)

static void cumulate_range(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct cumulate_walk *walk = argument;
  for (int64_t r = begin; r < end; r++) {
    int64_t start = axis_row_start(&walk->rows, r);
    switch (number_kind_of(walk->x->dtype)) {
      case NUMBER_F32:
        CUMULATE(float, NUMBER_F32, FLOAT_STEP(i == 0));
        break;
      case NUMBER_F64:
        CUMULATE(double, NUMBER_F64, FLOAT_STEP(i == 0));
        break;
      default: /* integers wrap, signed or not */
        CUMULATE(uint64_t, NUMBER_I64, walk->product ? value * term : value + term);
        break;
    }
  }
}

static assay_status cumulate_run(struct op_run *run, bool product) {
  const assay_tensor *x = run->inputs[0];
  if (tensor_count(run->inputs[1]) != 1) {
    return status_make(ASSAY_NODE_VALUE, NULL, "axis of %s is not one number", run->node->op_type);
  }
  int axis;
  TRY(axis_normalise("axis", number_get_i64(run->inputs[1], 0), x->rank, &axis));
  TRY(output_like(run, 0, x));
  struct cumulate_walk walk = {.x = x,
                               .y = run->outputs[0],
                               .rows = axis_rows_of(x, axis),
                               .exclusive = node_attribute_int(run->node, "exclusive", 0) != 0,
                               .reverse = node_attribute_int(run->node, "reverse", 0) != 0,
                               .product = product};
  pool_for(run->pool, walk.rows.outer * walk.rows.inner, 1 + 1024 / (walk.rows.length + 1), cumulate_range, &walk);
  return status_ok();
}

assay_status run_cumsum(struct op_run *run) { return cumulate_run(run, false); }
assay_status run_cumprod(struct op_run *run) { return cumulate_run(run, true); }
