/* Control flow: If, Loop (1 to 28) and Scan (9 to 28), as the ONNX specification defines them. A subgraph's
 * outputs live until it runs again, so what is carried on is copied first. */
#include <string.h>

#include "ops/infer_help.h"
#include "ops/movement.h"

static assay_status body_of(const struct node *node, const char *name, const struct graph **out) {
  const struct attribute *attribute = node_attribute(node, name);
  if (attribute == NULL || attribute->kind != ATTRIBUTE_GRAPH) {
    return status_make(ASSAY_NODE_INVALID, NULL, "%s has no subgraph %s", node->op_type, name);
  }
  *out = attribute->graphs[0];
  return status_ok();
}

/* What holds for both: kind, dtype and rank must agree where known; dimensions that differ are unknown. */
static assay_status merge_types(const struct value_type *a, const struct value_type *b, struct value_type *out) {
  *out = *a;
  if (a->kind == TYPE_UNKNOWN || b->kind == TYPE_UNKNOWN) {
    *out = a->kind == TYPE_UNKNOWN ? *b : *a;
    out->rank = RANK_UNKNOWN;
    return status_ok();
  }
  if (a->kind != b->kind || (a->dtype != b->dtype && a->dtype != ASSAY_UNDEFINED && b->dtype != ASSAY_UNDEFINED)) {
    return status_make(ASSAY_TYPE_CONFLICT, NULL, "a value is %s on one way and %s on the other",
                       assay_dtype_name(a->dtype), assay_dtype_name(b->dtype));
  }
  out->dtype = a->dtype == ASSAY_UNDEFINED ? b->dtype : a->dtype;
  if (a->rank != b->rank) {
    out->rank = RANK_UNKNOWN;
    return status_ok();
  }
  for (int i = 0; i < a->rank; i++) {
    out->dims[i] = dim_equal(a->dims[i], b->dims[i]) ? a->dims[i] : dim_unknown();
  }
  return status_ok();
}

static assay_status copy_out(struct op_run *run, int32_t output, const assay_tensor *from) {
  if (run->outputs[output] == NULL) {
    return status_ok();
  }
  TRY(output_become(run, output, from->dtype, from->dims, from->rank));
  if (from->bytes > 0) {
    memcpy(run->outputs[output]->data, from->data, from->bytes);
  }
  return status_ok();
}

/* --- If ------------------------------------------------------------------- */

static const char *branch_name(bool condition) { return condition ? "then_branch" : "else_branch"; }

assay_status infer_if(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, INT32_MAX));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  int32_t n = infer->node->n_outputs;
  const assay_tensor *condition = infer->inputs[0]->constant;
  struct infer_value *branches[2];
  for (int b = 0; b < 2; b++) {
    const struct graph *graph;
    ARENA_NEW(infer->arena, branches[b], n);
    TRY(body_of(infer->node, branch_name(b == 1), &graph));
    if (graph->n_outputs != n) {
      return status_make(ASSAY_NODE_INVALID, NULL, "%s of If has %d outputs, the node has %d", branch_name(b == 1),
                         (int)graph->n_outputs, (int)n);
    }
    /* A branch that is certainly not taken need not even be of fitting shapes. */
    if (condition == NULL || tensor_count(condition) != 1 || (tensor_get_int(condition, 0) != 0) == (b == 1)) {
      TRY(infer->subgraph(infer, graph, NULL, 0, branches[b], n));
    } else {
      branches[b] = NULL;
    }
  }
  for (int32_t i = 0; i < n; i++) {
    if (branches[0] == NULL || branches[1] == NULL) {
      infer->outputs[i].type = branches[branches[0] == NULL][i].type;
    } else {
      TRY(merge_types(&branches[0][i].type, &branches[1][i].type, &infer->outputs[i].type));
    }
  }
  return status_ok();
}

assay_status run_if(struct op_run *run) {
  const assay_tensor *condition = run->inputs[0];
  if (tensor_count(condition) != 1) {
    return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "the condition of If has %lld elements, expected 1",
                       (long long)tensor_count(condition));
  }
  const struct graph *graph;
  TRY(body_of(run->node, branch_name(tensor_get_int(condition, 0) != 0), &graph));
  int32_t n = run->node->n_outputs;
  void *room;
  TRY(run->scratch(run, (size_t)n * sizeof(assay_tensor), &room));
  assay_tensor *outputs = room;
  TRY(run->subgraph(run, graph, NULL, 0, outputs, n));
  for (int32_t i = 0; i < n; i++) {
    TRY(copy_out(run, i, &outputs[i]));
  }
  return status_ok();
}

/* --- what Loop and Scan share --------------------------------------------------- */

/* A value carried from one iteration to the next. Two rooms take turns, since what a body gives back may be a view of
 * what it was given, of another carried value even. */
struct carried {
  assay_tensor tensor;
  void *rooms[2];
  size_t capacities[2];
  int turn;
};

static assay_status carry(struct op_run *run, const assay_tensor *from, struct carried *to) {
  to->turn ^= 1;
  if (to->rooms[to->turn] == NULL || from->bytes > to->capacities[to->turn]) {
    TRY(run->scratch(run, from->bytes == 0 ? 1 : from->bytes, &to->rooms[to->turn]));
    to->capacities[to->turn] = from->bytes;
  }
  to->tensor = *from;
  to->tensor.data = to->rooms[to->turn];
  if (from->bytes > 0) {
    memcpy(to->tensor.data, from->data, from->bytes);
  }
  return status_ok();
}

/* One iteration's part of a stacked output. */
struct part {
  struct part *next;
  assay_tensor tensor;
};
struct stacked {
  struct part *first, *last;
  int64_t count;
};

static assay_status stack_add(struct op_run *run, struct stacked *stacked, const assay_tensor *tensor) {
  void *room;
  TRY(run->scratch(run, sizeof(struct part) + 16 + tensor->bytes, &room));
  struct part *part = room;
  *part = (struct part){.tensor = *tensor};
  part->tensor.data = (char *)room + (sizeof(struct part) + 15) / 16 * 16;
  if (tensor->bytes > 0) {
    memcpy(part->tensor.data, tensor->data, tensor->bytes);
  }
  if (stacked->last != NULL && !shape_equal(&stacked->last->tensor, tensor)) {
    return status_make(ASSAY_SHAPE_CONFLICT, run->node->label,
                       "an output that is stacked changes its shape from one iteration to the next");
  }
  if (stacked->last == NULL) {
    stacked->first = part;
  } else {
    stacked->last->next = part;
  }
  stacked->last = part;
  stacked->count++;
  return status_ok();
}

/* Joins the parts along a new axis; `reverse`: the last iteration first. */
static assay_status stack_write(struct op_run *run, const struct stacked *stacked, int32_t output, int64_t axis,
                                bool reverse, assay_dtype dtype_if_empty) {
  if (run->outputs[output] == NULL) {
    return status_ok();
  }
  if (stacked->count == 0) {
    return run->outputs[output]->data != NULL ? status_ok()
                                              : run->resize(run, output, dtype_if_empty, (int64_t[]){0}, 1);
  }
  const assay_tensor *one = &stacked->first->tensor;
  int at;
  int64_t dims[ASSAY_RANK_MAX + 1], outer = 1;
  if (one->rank == ASSAY_RANK_MAX) {
    return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "a stacked output would have more than %d dimensions",
                       ASSAY_RANK_MAX);
  }
  TRY(axis_normalise("an axis of a stacked output", axis, one->rank + 1, &at));
  for (int i = 0; i <= one->rank; i++) {
    dims[i] = i == at ? stacked->count : one->dims[i - (i > at)];
    outer *= i < at ? dims[i] : 1;
  }
  TRY(output_become(run, output, one->dtype, dims, one->rank + 1));
  size_t block = outer == 0 ? 0 : one->bytes / (size_t)outer;
  int64_t place = 0;
  for (const struct part *part = stacked->first; part != NULL && block > 0; part = part->next, place++) {
    size_t slot = (size_t)(reverse ? stacked->count - 1 - place : place);
    for (int64_t o = 0; o < outer; o++) {
      memcpy((char *)run->outputs[output]->data + ((size_t)o * (size_t)stacked->count + slot) * block,
             (const char *)part->tensor.data + (size_t)o * block, block);
    }
  }
  return status_ok();
}

/* Infers the body with carried values that may change their shape: what differs after one iteration becomes
 * unknown, until nothing changes. values: n_inputs of the body, the carried ones from `first` on. */
static assay_status infer_carried(struct infer *infer, const struct graph *body, struct infer_value *values,
                                  int32_t n_inputs, int32_t first, int32_t n_carried, int32_t first_out,
                                  struct infer_value *outputs) {
  enum { ROUNDS = ASSAY_RANK_MAX + 2 };
  for (int round = 0; round < ROUNDS; round++) {
    bool changed = false;
    TRY(infer->subgraph(infer, body, values, n_inputs, outputs, body->n_outputs));
    for (int32_t i = 0; i < n_carried; i++) {
      struct value_type *in = &values[first + i].type, merged;
      TRY(merge_types(in, &outputs[first_out + i].type, &merged));
      changed |= merged.rank != in->rank;
      for (int d = 0; d < merged.rank && merged.rank == in->rank; d++) {
        changed |= !dim_equal(merged.dims[d], in->dims[d]) && (dim_known(in->dims[d]) || in->dims[d].symbol != NULL);
      }
      *in = merged;
    }
    if (!changed) {
      break;
    }
  }
  return status_ok();
}

static void infer_stacked(struct infer *infer, int32_t output, const struct value_type *part, int at,
                          struct dim count) {
  struct dim dims[ASSAY_RANK_MAX];
  int32_t rank = part->rank < 0 || part->rank == ASSAY_RANK_MAX ? RANK_UNKNOWN : part->rank + 1;
  for (int i = 0; i < rank; i++) {
    dims[i] = i == at ? count : part->dims[i - (i > at)];
  }
  infer_set(infer, output, part->dtype, rank, dims);
}

/* --- Loop ----------------------------------------------------------------------- */

assay_status infer_loop(struct infer *infer) {
  const struct node *node = infer->node;
  const struct graph *body;
  TRY(infer_want_counts(infer, 2, INT32_MAX, 0, INT32_MAX));
  TRY(body_of(node, "body", &body));
  int32_t carried = node->n_inputs - 2, stacked = body->n_outputs - 1 - carried;
  if (body->n_inputs != carried + 2 || stacked < 0 || node->n_outputs > carried + stacked) {
    return status_make(
        ASSAY_NODE_INVALID, NULL,
        "the body of Loop has %d inputs and %d outputs, which does not fit %d carried values and %d outputs",
        (int)body->n_inputs, (int)body->n_outputs, (int)carried, (int)node->n_outputs);
  }
  struct infer_value *values, *outputs;
  ARENA_NEW(infer->arena, values, body->n_inputs);
  ARENA_NEW(infer->arena, outputs, body->n_outputs);
  values[0].type = (struct value_type){.kind = TYPE_TENSOR, .dtype = ASSAY_INT64};
  values[1].type = (struct value_type){.kind = TYPE_TENSOR, .dtype = ASSAY_BOOL};
  for (int32_t i = 0; i < carried; i++) {
    if (infer->inputs[2 + i] != NULL) {
      values[2 + i].type = infer->inputs[2 + i]->type;
    }
  }
  TRY(infer_carried(infer, body, values, body->n_inputs, 2, carried, 1, outputs));
  for (int32_t i = 0; i < node->n_outputs; i++) {
    if (i < carried) {
      infer->outputs[i].type = values[2 + i].type;
    } else {
      infer_stacked(infer, i, &outputs[1 + i].type, 0, dim_unknown());
    }
  }
  return status_ok();
}

/* Iterations that the trip count allows; INT64_MAX without one. */
static assay_status trip_count(const struct op_run *run, int64_t *out) {
  const assay_tensor *trips = run->inputs[0];
  *out = INT64_MAX;
  if (trips != NULL && tensor_count(trips) != 1) {
    return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "the trip count of Loop must be one number");
  }
  if (trips != NULL) {
    *out = tensor_get_int(trips, 0);
  } else if (run->inputs[1] == NULL) {
    return status_make(ASSAY_NODE_INVALID, run->node->label,
                       "Loop has neither a trip count nor a condition, so it would not end");
  }
  return status_ok();
}

assay_status run_loop(struct op_run *run) {
  const struct graph *body;
  TRY(body_of(run->node, "body", &body));
  int32_t carried = run->node->n_inputs - 2, n_stacked = body->n_outputs - 1 - carried;
  int64_t trips, iteration = 0;
  uint8_t condition = run->inputs[1] == NULL || tensor_get_int(run->inputs[1], 0) != 0;
  void *room[4];
  TRY(trip_count(run, &trips));
  TRY(run->scratch(run, (size_t)(carried + 1) * sizeof(struct carried), &room[0]));
  TRY(run->scratch(run, (size_t)(n_stacked + 1) * sizeof(struct stacked), &room[1]));
  TRY(run->scratch(run, (size_t)body->n_inputs * sizeof(assay_tensor), &room[2]));
  TRY(run->scratch(run, (size_t)body->n_outputs * sizeof(assay_tensor), &room[3]));
  struct carried *state = room[0];
  struct stacked *stacked = room[1];
  assay_tensor *inputs = room[2], *outputs = room[3];
  memset(state, 0, (size_t)(carried + 1) * sizeof *state);
  memset(stacked, 0, (size_t)(n_stacked + 1) * sizeof *stacked);
  for (int32_t i = 0; i < carried; i++) {
    if (run->inputs[2 + i] == NULL) {
      return status_make(ASSAY_NODE_INVALID, run->node->label, "carried value %d of Loop has no start", (int)i);
    }
    TRY(carry(run, run->inputs[2 + i], &state[i]));
  }
  for (; iteration < trips && condition; iteration++) {
    inputs[0] = (assay_tensor){.dtype = ASSAY_INT64, .data = &iteration, .bytes = sizeof iteration};
    inputs[1] = (assay_tensor){.dtype = ASSAY_BOOL, .data = &condition, .bytes = 1};
    for (int32_t i = 0; i < carried; i++) {
      inputs[2 + i] = state[i].tensor;
    }
    TRY(run->subgraph(run, body, inputs, body->n_inputs, outputs, body->n_outputs));
    for (int32_t i = 0; i < n_stacked; i++) {
      TRY(stack_add(run, &stacked[i], &outputs[1 + carried + i]));
    }
    uint8_t go_on = tensor_get_int(&outputs[0], 0) != 0;
    for (int32_t i = 0; i < carried; i++) {
      TRY(carry(run, &outputs[1 + i], &state[i]));
    }
    condition = go_on;
  }
  for (int32_t i = 0; i < run->node->n_outputs; i++) {
    if (i < carried) {
      TRY(copy_out(run, i, &state[i].tensor));
    } else {
      int32_t value = body->outputs[1 + i];
      TRY(stack_write(run, &stacked[i - carried], i, 0, false, body->values[value].declared.dtype));
    }
  }
  return status_ok();
}

/* --- Scan ------------------------------------------------------------------------- */

struct scan {
  const struct graph *body;
  int32_t n_state, n_in, n_out; /* carried values, scanned inputs, stacked outputs */
};

static assay_status scan_of(const struct node *node, struct scan *out) {
  TRY(body_of(node, "body", &out->body));
  int64_t n_in = node_attribute_int(node, "num_scan_inputs", 0);
  if (n_in < 1 || n_in > node->n_inputs) {
    return status_make(ASSAY_NODE_INVALID, NULL, "num_scan_inputs of Scan is %lld for %d inputs", (long long)n_in,
                       (int)node->n_inputs);
  }
  out->n_in = (int32_t)n_in;
  out->n_state = node->n_inputs - out->n_in;
  out->n_out = node->n_outputs - out->n_state;
  if (out->n_out < 0 || out->body->n_inputs != node->n_inputs || out->body->n_outputs != node->n_outputs) {
    return status_make(ASSAY_NODE_INVALID, NULL, "the body of Scan does not fit its %d inputs and %d outputs",
                       (int)node->n_inputs, (int)node->n_outputs);
  }
  return status_ok();
}

/* Entry i of a list attribute of Scan; 0 when the list is not there. */
static int64_t scan_entry(const struct node *node, const char *name, int32_t i) {
  int32_t n;
  const int64_t *list = node_attribute_ints(node, name, &n);
  return list != NULL && i < n ? list[i] : 0;
}

assay_status infer_scan(struct infer *infer) {
  const struct node *node = infer->node;
  struct scan scan;
  TRY(infer_want_counts(infer, 1, INT32_MAX, 1, INT32_MAX));
  TRY(scan_of(node, &scan));
  struct infer_value *values, *outputs;
  ARENA_NEW(infer->arena, values, node->n_inputs);
  ARENA_NEW(infer->arena, outputs, node->n_outputs);
  struct dim length = dim_unknown();
  for (int32_t i = 0; i < node->n_inputs; i++) {
    TRY(infer_want(infer, i, i < scan.n_state ? 0 : 1, ASSAY_RANK_MAX));
    values[i].type = infer->inputs[i]->type;
    struct value_type *type = &values[i].type;
    if (i >= scan.n_state && type->rank > 0) {
      int axis;
      TRY(axis_normalise("scan_input_axes", scan_entry(node, "scan_input_axes", i - scan.n_state), type->rank, &axis));
      if (!dim_merge(length, type->dims[axis], &length)) {
        return status_make(ASSAY_SHAPE_CONFLICT, NULL, "the scanned inputs of Scan are of different lengths");
      }
      memmove(&type->dims[axis], &type->dims[axis + 1], (size_t)(type->rank - axis - 1) * sizeof type->dims[0]);
      type->rank--;
    }
  }
  TRY(infer_carried(infer, scan.body, values, node->n_inputs, 0, scan.n_state, 0, outputs));
  for (int32_t i = 0; i < node->n_outputs; i++) {
    if (i < scan.n_state) {
      infer->outputs[i].type = values[i].type;
      continue;
    }
    int axis = 0;
    if (outputs[i].type.rank >= 0) {
      TRY(axis_normalise("scan_output_axes", scan_entry(node, "scan_output_axes", i - scan.n_state),
                         outputs[i].type.rank + 1, &axis));
    }
    infer_stacked(infer, i, &outputs[i].type, axis, length);
  }
  return status_ok();
}

/* The slice of a scanned input at one iteration, copied to where `slice` has room for it. */
static void scan_slice(struct op_run *run, const assay_tensor *input, int axis, int64_t place, assay_tensor *slice) {
  struct view view;
  view_dense(input->dims, input->rank, &view);
  view.offset = place * view.strides[axis];
  view.dims[axis] = 1;
  view_copy(run, &view, input->data, slice->data, element_size(input->dtype));
}

/* Axes and lengths of the scanned inputs, and room for one slice of each. */
static assay_status scan_begin(struct op_run *run, const struct scan *scan, assay_tensor *slices, int *axes,
                               int64_t *length) {
  *length = -1;
  for (int32_t i = 0; i < scan->n_in; i++) {
    const assay_tensor *input = run->inputs[scan->n_state + i];
    TRY(axis_normalise("scan_input_axes", scan_entry(run->node, "scan_input_axes", i), input->rank, &axes[i]));
    int64_t n = input->dims[axes[i]];
    if (*length >= 0 && n != *length) {
      return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "the scanned inputs have %lld and %lld steps",
                         (long long)*length, (long long)n);
    }
    *length = n;
    assay_tensor *slice = &slices[i];
    *slice = *input;
    memmove(&slice->dims[axes[i]], &slice->dims[axes[i] + 1],
            (size_t)(input->rank - axes[i] - 1) * sizeof slice->dims[0]);
    slice->rank--;
    slice->bytes = n == 0 ? 0 : input->bytes / (size_t)n;
    TRY(run->scratch(run, slice->bytes + 1, &slice->data));
  }
  return status_ok();
}

assay_status run_scan(struct op_run *run) {
  struct scan scan;
  TRY(scan_of(run->node, &scan));
  const struct graph *body = scan.body;
  void *room[5];
  TRY(run->scratch(run, (size_t)(scan.n_state + 1) * sizeof(struct carried), &room[0]));
  TRY(run->scratch(run, (size_t)(scan.n_out + 1) * sizeof(struct stacked), &room[1]));
  TRY(run->scratch(run, (size_t)body->n_inputs * sizeof(assay_tensor), &room[2]));
  TRY(run->scratch(run, (size_t)body->n_outputs * sizeof(assay_tensor), &room[3]));
  TRY(run->scratch(run, (size_t)scan.n_in * sizeof(int), &room[4]));
  struct carried *state = room[0];
  struct stacked *stacked = room[1];
  assay_tensor *inputs = room[2], *outputs = room[3];
  int *axes = room[4];
  int64_t length;
  memset(state, 0, (size_t)(scan.n_state + 1) * sizeof *state);
  memset(stacked, 0, (size_t)(scan.n_out + 1) * sizeof *stacked);
  TRY(scan_begin(run, &scan, inputs + scan.n_state, axes, &length));
  for (int32_t i = 0; i < scan.n_state; i++) {
    TRY(carry(run, run->inputs[i], &state[i]));
  }
  for (int64_t step = 0; step < length; step++) {
    for (int32_t i = 0; i < scan.n_state; i++) {
      inputs[i] = state[i].tensor;
    }
    for (int32_t i = 0; i < scan.n_in; i++) {
      bool backward = scan_entry(run->node, "scan_input_directions", i) != 0;
      scan_slice(run, run->inputs[scan.n_state + i], axes[i], backward ? length - 1 - step : step,
                 &inputs[scan.n_state + i]);
    }
    TRY(run->subgraph(run, body, inputs, body->n_inputs, outputs, body->n_outputs));
    for (int32_t i = 0; i < scan.n_out; i++) {
      TRY(stack_add(run, &stacked[i], &outputs[scan.n_state + i]));
    }
    for (int32_t i = 0; i < scan.n_state; i++) {
      TRY(carry(run, &outputs[i], &state[i]));
    }
  }
  for (int32_t i = 0; i < scan.n_state; i++) {
    TRY(copy_out(run, i, &state[i].tensor));
  }
  for (int32_t i = 0; i < scan.n_out; i++) {
    int32_t value = body->outputs[scan.n_state + i];
    TRY(stack_write(run, &stacked[i], scan.n_state + i, scan_entry(run->node, "scan_output_axes", i),
                    scan_entry(run->node, "scan_output_directions", i) != 0, body->values[value].declared.dtype));
  }
  return status_ok();
}
