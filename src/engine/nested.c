/* Subgraphs of If, Loop and Scan: planned when first run with these shapes, and remembered. */
#include <string.h>

#include "engine/graph_plan.h"

static bool type_fits(const struct value_type *type, const assay_tensor *tensor) {
  bool fits = type->dtype == tensor->dtype && type->rank == tensor->rank;
  for (int32_t i = 0; fits && i < type->rank; i++) {
    fits = type->dims[i].value == tensor->dims[i];
  }
  return fits;
}

/* Was the plan made for inputs and captured values of these shapes? */
static bool plan_fits(const struct graph_plan *plan, const assay_tensor *inputs) {
  const struct graph *graph = plan->graph;
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    if (!type_fits(&plan->slots[graph->inputs[i]].known.type, &inputs[i])) {
      return false;
    }
  }
  for (int32_t i = 0; i < graph->n_values; i++) {
    if (plan->slots[i].home == SLOT_OUTER && plan->slots[i].uses > 0 &&
        !type_fits(&plan->slots[i].known.type, &plan->parent->slots[graph->values[i].outer].tensor)) {
      return false;
    }
  }
  return true;
}

static assay_status make_plan(struct step *step, struct nested *nested, const assay_tensor *inputs) {
  struct infer_value *values;
  struct arena arena = {0};
  assay_status status = status_ok();
  values = arena_alloc(&arena, (size_t)nested->graph->n_inputs, sizeof *values);
  if (values == NULL) {
    return status_no_memory((size_t)nested->graph->n_inputs * sizeof *values);
  }
  for (int32_t i = 0; i < nested->graph->n_inputs; i++) {
    values[i].type = type_of_tensor(&inputs[i]);
  }
  struct graph_plan *plan = NULL;
  status = graph_plan_new(step->plan->engine, nested->graph, step->plan, values, NULL, &plan);
  arena_free(&arena);
  if (!assay_status_ok(status)) {
    return status;
  }
  if (nested->n_plans == NESTED_PLANS_MAX) {
    graph_plan_free(nested->plans[--nested->n_plans]);
  }
  memmove(nested->plans + 1, nested->plans, (size_t)nested->n_plans * sizeof *nested->plans);
  nested->plans[0] = plan;
  nested->n_plans++;
  return status_ok();
}

/* Brings the fitting plan to the front, making it when there is none. */
static assay_status find_plan(struct step *step, struct nested *nested, const assay_tensor *inputs) {
  for (int32_t i = 0; i < nested->n_plans; i++) {
    if (plan_fits(nested->plans[i], inputs)) {
      struct graph_plan *plan = nested->plans[i];
      memmove(nested->plans + 1, nested->plans, (size_t)i * sizeof *nested->plans);
      nested->plans[0] = plan;
      return status_ok();
    }
  }
  return make_plan(step, nested, inputs);
}

/* A policy answers many times a second; a call that runs this many bodies is a loop that does not end. */
enum { BODIES_MAX = 1000000 };

static assay_status count_body(struct step *step) {
  if (step->plan->engine->bodies < BODIES_MAX) {
    step->plan->engine->bodies++;
    return status_ok();
  }
  return status_make(
      ASSAY_LIMIT_EXCEEDED, step->node->label,
      "node '%s' (%s) has not ended after %d bodies were run in one call, which is as many as assay runs; "
      "correct its trip count or condition",
      step->node->label, step->node->op_type, BODIES_MAX);
}

assay_status nested_run(struct op_run *run, const struct graph *graph, const assay_tensor *inputs, int32_t n_inputs,
                        assay_tensor *outputs, int32_t n_outputs) {
  struct step *step = run->engine;
  struct nested *nested = NULL;
  for (int32_t i = 0; i < step->n_nested && nested == NULL; i++) {
    nested = step->nested[i].graph == graph ? &step->nested[i] : NULL;
  }
  if (nested == NULL || n_inputs != graph->n_inputs || n_outputs != graph->n_outputs) {
    return status_make(ASSAY_INTERNAL, step->node->label, "node '%s' runs a subgraph that does not fit it",
                       step->node->label);
  }
  TRY(count_body(step));
  TRY(find_plan(step, nested, inputs));
  struct graph_plan *plan = nested->plans[0];
  TRY(graph_plan_run(plan, inputs));
  for (int32_t i = 0; i < n_outputs; i++) {
    outputs[i] = *plan->outputs[i].tensor;
  }
  return status_ok();
}
