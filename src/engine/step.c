/* One node, ready to run: what its operator reads and writes, in the form that the operator takes, and
 * where the precision policy rounds. A late step is inferred and prepared while running. */
#include <string.h>

#include "core/memory.h"
#include "engine/graph_plan.h"

/* --- making ------------------------------------------------------------ */

static int32_t count_graphs(const struct node *node) {
  int32_t count = 0;
  for (int32_t i = 0; i < node->n_attributes; i++) {
    enum attribute_kind kind = node->attributes[i].kind;
    count += kind == ATTRIBUTE_GRAPH || kind == ATTRIBUTE_GRAPHS ? node->attributes[i].count : 0;
  }
  return count;
}

static assay_status make_nested(struct step *step, struct arena *arena) {
  int32_t count = count_graphs(step->node);
  if (count == 0) {
    return status_ok();
  }
  ARENA_NEW(arena, step->nested, count);
  for (int32_t i = 0; i < step->node->n_attributes; i++) {
    const struct attribute *attribute = &step->node->attributes[i];
    bool graphs = attribute->kind == ATTRIBUTE_GRAPH || attribute->kind == ATTRIBUTE_GRAPHS;
    for (int32_t j = 0; graphs && j < attribute->count; j++) {
      struct nested *nested = &step->nested[step->n_nested++];
      nested->graph = attribute->graphs[j];
      ARENA_NEW(arena, nested->plans, NESTED_PLANS_MAX);
    }
  }
  return status_ok();
}

/* Gives output i a shape and scratch memory: what an operator calls when only it knows the shape. */
static assay_status step_resize(struct op_run *run, int32_t output, assay_dtype dtype, const int64_t *dims, int rank) {
  struct step *step = run->engine;
  if (output < 0 || output >= step->node->n_outputs || step->outputs[output] == NULL) {
    return status_make(ASSAY_INTERNAL, step->node->label, "node '%s' gives a shape to output %d, which nobody reads",
                       step->node->label, output);
  }
  assay_tensor *tensor = step->outputs[output];
  int64_t count;
  size_t bytes;
  if (rank < 0 || rank > ASSAY_RANK_MAX || !shape_count(dims, rank, &count) || !dtype_bytes(dtype, count, &bytes)) {
    return status_make(ASSAY_LIMIT_EXCEEDED, step->node->label,
                       "node '%s' (%s) gives its output %d more elements than can be counted", step->node->label,
                       step->node->op_type, output);
  }
  if (tensor->data != NULL) {
    assay_tensor wanted = {.dtype = dtype, .rank = rank};
    memcpy(wanted.dims, dims, (size_t)rank * sizeof *dims);
    if (tensor->dtype == dtype && shape_equal(tensor, &wanted)) {
      return status_ok();
    }
    return status_make(ASSAY_INTERNAL, step->node->label,
                       "node '%s' (%s) computes an output of another shape than was inferred", step->node->label,
                       step->node->op_type);
  }
  TRY(scratch_take(&step->plan->scratch, bytes, &tensor->data));
  tensor->dtype = dtype;
  tensor->rank = rank;
  memcpy(tensor->dims, dims, (size_t)rank * sizeof *dims);
  tensor->bytes = bytes;
  return status_ok();
}

static assay_status step_scratch(struct op_run *run, size_t bytes, void **out) {
  struct step *step = run->engine;
  return scratch_take(&step->plan->scratch, bytes, out);
}

static assay_status make_arrays(struct step *step, struct arena *arena) {
  const struct node *node = step->node;
  ARENA_NEW(arena, step->inputs, node->n_inputs);
  ARENA_NEW(arena, step->conversions, node->n_inputs);
  ARENA_NEW(arena, step->outputs, node->n_outputs);
  ARENA_NEW(arena, step->targets, node->n_outputs);
  ARENA_NEW(arena, step->wide, node->n_outputs);
  ARENA_NEW(arena, step->wide_offsets, node->n_outputs);
  if (step->late) {
    ARENA_NEW(arena, step->prepared_for, node->n_inputs);
  }
  return make_nested(step, arena);
}

/* Does the policy want input i of this step rounded, if it is float32? */
static bool wants_rounding(const struct step *step, int32_t i) {
  const struct policy *policy = &step->plan->engine->policy;
  return !step->kept && policy_rounds_input(policy, step->node, step->op->dot_operands, i);
}

/* Which inputs are read in another form, now that their dtypes are known. */
static assay_status connect_input(struct step *step, int32_t i, assay_dtype dtype) {
  struct graph_plan *plan = step->plan;
  int32_t value = step->node->inputs[i];
  struct slot *slot = &plan->slots[value];
  struct conversion *conversion = &step->conversions[i];
  conversion->kind = CONVERT_NONE;
  conversion->from = &slot->tensor;
  if (slot->home == SLOT_CONSTANT) {
    TRY(slot_constant(plan, value, wants_rounding(step, i), &conversion->from));
  } else if (dtype == ASSAY_FLOAT32 && !slot->rounded && wants_rounding(step, i)) {
    conversion->kind = CONVERT_ROUND;
  }
  if (step->wrapped && dtype_is_narrow(dtype)) {
    conversion->kind = CONVERT_WIDEN;
  }
  step->inputs[i] = conversion->kind == CONVERT_NONE ? conversion->from : &conversion->to;
  return status_ok();
}

static assay_status connect(struct step *step, const struct infer_value *const *inputs,
                            const struct infer_value *outputs) {
  const struct node *node = step->node;
  TRY(node_check_dtype(step->plan->engine, node, step->op, inputs, outputs, &step->wrapped));
  for (int32_t i = 0; i < node->n_inputs; i++) {
    if (node->inputs[i] >= 0) {
      TRY(connect_input(step, i, inputs[i]->type.dtype));
    }
  }
  for (int32_t i = 0; i < node->n_outputs; i++) {
    bool wide = step->targets[i] != NULL && step->wrapped && dtype_is_narrow(outputs[i].type.dtype);
    step->outputs[i] = wide ? &step->wide[i] : step->targets[i];
  }
  return status_ok();
}

/* --- preparing --------------------------------------------------------- */

static void tensor_shape_of(const struct value_type *type, assay_dtype dtype, assay_tensor *tensor) {
  tensor->dtype = dtype;
  tensor->rank = type->rank;
  int64_t count = 1;
  for (int32_t i = 0; i < type->rank; i++) {
    tensor->dims[i] = type->dims[i].value;
  }
  tensor->bytes =
      shape_count(tensor->dims, tensor->rank, &count) && dtype_bytes(dtype, count, &tensor->bytes) ? tensor->bytes : 0;
}

static assay_status add_work(struct step *step, size_t bytes, size_t *offset) {
  *offset = step->work_bytes;
  size_t total;
  if (!size_add(bytes == 0 ? 1 : bytes, 63, &bytes) || !size_add(step->work_bytes, bytes & ~(size_t)63, &total)) {
    return status_make(ASSAY_LIMIT_EXCEEDED, step->node->label, "node '%s' wants more work memory than can be counted",
                       step->node->label);
  }
  step->work_bytes = total;
  return status_ok();
}

/* Shapes of converted inputs and wide outputs, and places for them behind the operator's workspace. */
static assay_status lay_out_work(struct step *step, const struct infer_value *const *inputs,
                                 const struct infer_value *outputs) {
  step->work_bytes = 0;
  if (step->workspace > 0) {
    size_t first;
    TRY(add_work(step, step->workspace, &first));
  }
  for (int32_t i = 0; i < step->node->n_inputs; i++) {
    struct conversion *conversion = &step->conversions[i];
    if (step->node->inputs[i] >= 0 && conversion->kind != CONVERT_NONE) {
      tensor_shape_of(&inputs[i]->type, ASSAY_FLOAT32, &conversion->to);
      TRY(add_work(step, conversion->to.bytes, &conversion->offset));
    }
  }
  for (int32_t i = 0; i < step->node->n_outputs; i++) {
    if (step->outputs[i] != NULL && step->outputs[i] == &step->wide[i]) {
      step->wide[i] = (assay_tensor){.dtype = ASSAY_FLOAT32};
      if (type_is_concrete(&outputs[i].type)) {
        tensor_shape_of(&outputs[i].type, ASSAY_FLOAT32, &step->wide[i]);
        TRY(add_work(step, step->wide[i].bytes, &step->wide_offsets[i]));
      }
    }
  }
  return status_ok();
}

/* The constant behind input i as the operator is to see it: float32 when the step is wrapped. */
static assay_status constant_for_prepare(const struct step *step, int32_t i, struct infer_value *value) {
  struct arena *arena = &step->plan->temporary;
  const struct conversion *conversion = &step->conversions[i];
  value->constant = conversion->from;
  if (conversion->kind == CONVERT_WIDEN) {
    assay_tensor *wide;
    ARENA_NEW(arena, wide, 1);
    TRY(tensor_new_in(arena, ASSAY_FLOAT32, conversion->from->dims, conversion->from->rank, wide));
    narrow_to_float(conversion->from, wide);
    value->constant = wide;
  }
  return status_ok();
}

static void widen_type(const struct step *step, struct infer_value *value) {
  if (step->wrapped && value->type.kind == TYPE_TENSOR && dtype_is_narrow(value->type.dtype)) {
    value->type.dtype = ASSAY_FLOAT32;
  }
}

/* Calls the operator's prepare; state and packed weights go to `arena`. */
static assay_status prepare(struct step *step, const struct infer_value *const *inputs,
                            const struct infer_value *outputs, struct arena *arena, uint32_t *packed) {
  const struct node *node = step->node;
  struct engine *engine = step->plan->engine;
  struct infer_value *seen, *given;
  const struct infer_value **pointers;
  struct arena *temporary = &step->plan->temporary;
  ARENA_NEW(temporary, seen, node->n_inputs);
  ARENA_NEW(temporary, pointers, node->n_inputs);
  ARENA_NEW(temporary, given, node->n_outputs);
  for (int32_t i = 0; i < node->n_inputs; i++) {
    if (node->inputs[i] < 0) {
      continue;
    }
    seen[i].type = inputs[i]->type;
    pointers[i] = &seen[i];
    if (step->plan->slots[node->inputs[i]].home == SLOT_CONSTANT) {
      TRY(constant_for_prepare(step, i, &seen[i]));
    }
    widen_type(step, &seen[i]);
  }
  for (int32_t i = 0; i < node->n_outputs; i++) {
    given[i].type = outputs[i].type;
    widen_type(step, &given[i]);
  }
  struct op_prepare call = {.op = step->op,
                            .node = node,
                            .inputs = pointers,
                            .outputs = given,
                            .arena = arena,
                            .kernels = engine->kernels,
                            .threads = pool_threads(engine->pool)};
  if (step->op->prepare != NULL) {
    assay_status status = step->op->prepare(&call);
    if (!assay_status_ok(status)) {
      return status_prefix(status, "node '%s' (%s, opset %lld)", node->label, node->op_type, (long long)node->opset);
    }
  }
  step->run.state = call.state;
  step->workspace = call.workspace;
  *packed = call.packed;
  return status_ok();
}

static void round_operands(struct op_run *run, float *values, int64_t count) {
  const struct step *step = run->engine;
  policy_round(&step->plan->engine->policy, values, values, count);
}

/* Does the policy round anything of this node? */
static bool rounds(const struct step *step) {
  const struct policy *policy = &step->plan->engine->policy;
  return !step->kept && (policy->tf32_operands || policy->storage != ASSAY_UNDEFINED);
}

static void begin_run(struct step *step) {
  struct engine *engine = step->plan->engine;
  step->run.op = step->op;
  step->run.node = step->node;
  step->run.inputs = step->inputs;
  step->run.outputs = step->outputs;
  step->run.kernels = engine->kernels;
  step->run.pool = engine->pool;
  step->run.engine = step;
  step->run.resize = step_resize;
  step->run.scratch = step_scratch;
  step->run.subgraph = nested_run;
  step->run.round_operands = rounds(step) ? round_operands : NULL;
}

/* An early step is prepared at once, with what the analysis knows. */
static assay_status prepare_early(struct step *step) {
  struct graph_plan *plan = step->plan;
  const struct node *node = step->node;
  const struct infer_value **inputs;
  struct infer_value *outputs;
  ARENA_NEW(&plan->temporary, inputs, node->n_inputs);
  ARENA_NEW(&plan->temporary, outputs, node->n_outputs);
  for (int32_t i = 0; i < node->n_inputs; i++) {
    inputs[i] = node->inputs[i] >= 0 ? &plan->slots[node->inputs[i]].known : NULL;
  }
  for (int32_t i = 0; i < node->n_outputs; i++) {
    outputs[i].type.rank = RANK_UNKNOWN;
    if (node->outputs[i] >= 0) {
      outputs[i] = plan->slots[node->outputs[i]].known;
    }
  }
  TRY(connect(step, inputs, outputs));
  uint32_t packed = 0;
  size_t before = plan->arena->used;
  TRY(prepare(step, inputs, outputs, plan->arena, &packed));
  plan->weight_bytes += plan->arena->used - before;
  for (int32_t i = 0; i < node->n_inputs && i < 32; i++) {
    if (node->inputs[i] >= 0 && (packed >> i & 1u) != 0) {
      /* What was packed is not converted at each run; its shape may still be asked for. */
      tensor_shape_of(&inputs[i]->type, ASSAY_FLOAT32, &step->conversions[i].to);
      step->conversions[i].kind = CONVERT_NONE;
      slot_unuse(plan, node->inputs[i]);
    }
  }
  return lay_out_work(step, inputs, outputs);
}

assay_status step_make(struct graph_plan *plan, int32_t index, bool late, struct step *step) {
  const struct node *node = &plan->graph->nodes[index];
  *step = (struct step){.plan = plan, .node = node, .op = plan->ops[index], .late = late, .block = -1};
  step->kept = policy_keeps(&plan->engine->policy, node);
  step->prepared.limit = plan->engine->budget.limit;
  TRY(make_arrays(step, plan->arena));
  begin_run(step);
  for (int32_t i = 0; i < node->n_outputs; i++) {
    int32_t value = node->outputs[i];
    /* Output 0 is always computed; another only where somebody reads it. */
    bool wanted = value >= 0 && (i == 0 || plan->slots[value].uses > 0 || plan->engine->keep_dead || late);
    step->targets[i] = wanted ? &plan->slots[value].tensor : NULL;
  }
  return late ? status_ok() : prepare_early(step);
}

void step_place(struct step *step, unsigned char *work) {
  step->run.workspace = work;
  step->run.workspace_bytes = step->workspace;
  for (int32_t i = 0; i < step->node->n_inputs; i++) {
    if (step->conversions[i].kind != CONVERT_NONE) {
      step->conversions[i].to.data = work + step->conversions[i].offset;
    }
  }
  for (int32_t i = 0; i < step->node->n_outputs; i++) {
    if (step->outputs[i] != NULL && step->outputs[i] == &step->wide[i] && step->wide[i].bytes > 0) {
      step->wide[i].data = work + step->wide_offsets[i];
    }
  }
}

void step_free(struct step *step) {
  for (int32_t i = 0; i < step->n_nested; i++) {
    for (int32_t j = 0; j < step->nested[i].n_plans; j++) {
      graph_plan_free(step->nested[i].plans[j]);
    }
    step->nested[i].n_plans = 0;
  }
  arena_free(&step->prepared);
}

/* --- late steps -------------------------------------------------------- */

static bool prepared_for_these(const struct step *step, const struct infer_value *const *inputs) {
  if (!step->is_prepared) {
    return false;
  }
  for (int32_t i = 0; i < step->node->n_inputs; i++) {
    const assay_tensor *now = inputs[i] != NULL ? inputs[i]->constant : NULL;
    const assay_tensor *then = &step->prepared_for[i];
    if (now != NULL && (now->dtype != then->dtype || !shape_equal(now, then))) {
      return false;
    }
  }
  return true;
}

static assay_status prepare_late(struct step *step, const struct infer_value *const *inputs,
                                 const struct infer_value *outputs) {
  if (prepared_for_these(step, inputs)) {
    return status_ok();
  }
  arena_free(&step->prepared);
  step->is_prepared = false;
  uint32_t packed;
  TRY(prepare(step, inputs, outputs, &step->prepared, &packed));
  for (int32_t i = 0; i < step->node->n_inputs; i++) {
    if (inputs[i] != NULL) {
      step->prepared_for[i] = *inputs[i]->constant;
    }
  }
  step->is_prepared = true;
  return status_ok();
}

/* Shape and memory of the outputs, as far as inference could tell. */
static assay_status shape_late_outputs(struct step *step, const struct infer_value *outputs) {
  for (int32_t i = 0; i < step->node->n_outputs; i++) {
    assay_tensor *target = step->targets[i];
    if (target == NULL || step->plan->slots[step->node->outputs[i]].home == SLOT_ARENA) {
      continue;
    }
    *target = (assay_tensor){.dtype = outputs[i].type.dtype};
    if (type_is_concrete(&outputs[i].type)) {
      tensor_shape_of(&outputs[i].type, outputs[i].type.dtype, target);
      TRY(scratch_take(&step->plan->scratch, target->bytes, &target->data));
    }
  }
  return status_ok();
}

/* Everything that an early step had done while planning, from the tensors at hand. */
static assay_status get_ready_late(struct step *step) {
  struct graph_plan *plan = step->plan;
  const struct node *node = step->node;
  struct infer_value *values, *outputs;
  const struct infer_value **inputs;
  ARENA_NEW(&plan->temporary, values, node->n_inputs);
  ARENA_NEW(&plan->temporary, inputs, node->n_inputs);
  ARENA_NEW(&plan->temporary, outputs, node->n_outputs);
  for (int32_t i = 0; i < node->n_inputs; i++) {
    int32_t value = node->inputs[i];
    if (value < 0) {
      continue;
    }
    const assay_tensor *tensor = &plan->slots[value].tensor;
    if (plan->slots[value].home == SLOT_CONSTANT) {
      TRY(slot_constant(plan, value, wants_rounding(step, i), &tensor));
    }
    values[i].type = type_of_tensor(tensor);
    values[i].constant = tensor;
    inputs[i] = &values[i];
  }
  TRY(node_infer(plan, node, step->op, inputs, &plan->temporary, outputs));
  TRY(connect(step, inputs, outputs));
  TRY(prepare_late(step, inputs, outputs));
  TRY(lay_out_work(step, inputs, outputs));
  TRY(shape_late_outputs(step, outputs));
  void *work;
  TRY(scratch_take(&plan->scratch, step->work_bytes, &work));
  step_place(step, work);
  return status_ok();
}

/* --- running ----------------------------------------------------------- */

static void convert_inputs(struct step *step) {
  for (int32_t i = 0; i < step->node->n_inputs; i++) {
    struct conversion *conversion = &step->conversions[i];
    if (conversion->kind == CONVERT_ROUND) {
      policy_round(&step->plan->engine->policy, conversion->from->data, conversion->to.data,
                   tensor_count(conversion->from));
    } else if (conversion->kind == CONVERT_WIDEN) {
      narrow_to_float(conversion->from, &conversion->to);
    }
  }
}

/* Fills what the operator must not read before it wrote it with a pattern that shows. */
static void poison_outputs(struct step *step) {
  for (int32_t i = 0; i < step->node->n_outputs; i++) {
    if (step->outputs[i] != NULL && step->outputs[i]->data != NULL && step->outputs[i]->dtype != ASSAY_STRING) {
      memset(step->outputs[i]->data, 0xFF, step->outputs[i]->bytes);
    }
  }
  if (step->workspace > 0) {
    memset(step->run.workspace, 0xFF, step->workspace);
  }
}

/* Back from float32 to the narrow type that the graph states. */
static assay_status narrow_output(struct step *step, int32_t i) {
  assay_tensor *target = step->targets[i];
  const assay_tensor *wide = &step->wide[i];
  if (target->data == NULL) {
    assay_dtype dtype = target->dtype;
    *target = *wide;
    target->dtype = dtype;
    target->bytes = wide->bytes / 2;
    TRY(scratch_take(&step->plan->scratch, target->bytes, &target->data));
  }
  narrow_from_float(wide, target);
  return status_ok();
}

static assay_status finish_outputs(struct step *step) {
  const struct policy *policy = &step->plan->engine->policy;
  for (int32_t i = 0; i < step->node->n_outputs; i++) {
    assay_tensor *target = step->targets[i];
    if (target == NULL) {
      continue;
    }
    if (step->outputs[i]->data == NULL) {
      return status_make(ASSAY_INTERNAL, step->node->label, "node '%s' (%s) gave no output %d", step->node->label,
                         step->node->op_type, i);
    }
    if (step->outputs[i] == &step->wide[i]) {
      TRY(narrow_output(step, i));
    }
    if (policy->storage != ASSAY_UNDEFINED && !step->kept && target->dtype == ASSAY_FLOAT32) {
      policy_round(policy, target->data, target->data, tensor_count(target));
    }
  }
  return status_ok();
}

/* The same bytes under another shape. */
static void run_view(struct step *step) {
  const assay_tensor *from = step->inputs[0];
  step->targets[0]->data = from->data;
}

assay_status step_run(struct step *step) {
  if (step->view) {
    run_view(step);
    return status_ok();
  }
  if (step->late) {
    TRY(get_ready_late(step));
  }
  convert_inputs(step);
  if (step->plan->engine->poison) {
    poison_outputs(step);
  }
  assay_status status = step->op->run(&step->run);
  if (!assay_status_ok(status)) {
    return status_prefix(status, "node '%s' (%s, opset %lld)", step->node->label, step->node->op_type,
                         (long long)step->node->opset);
  }
  return finish_outputs(step);
}
