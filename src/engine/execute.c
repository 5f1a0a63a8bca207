/* Running a plan: inputs are copied to their places, steps run in order, taps and outputs are handed
 * out with canonical NaN. Allocates nothing but scratch memory. */
#include <string.h>

#include "core/text.h"
#include "engine/graph_plan.h"
#include "engine/memory_plan.h"
#include "engine/widen.h"

/* --- feeding ----------------------------------------------------------- */

static void feed(struct graph_plan *plan, int32_t value, const assay_tensor *input) {
  struct slot *slot = &plan->slots[value];
  assay_tensor *place = &slot->tensor;
  int64_t count = tensor_count(place);
  if (place->bytes == 0) {
    return;
  }
  if (place->dtype == ASSAY_FLOAT64 && input->dtype == ASSAY_FLOAT32) {
    floats_widen(input->data, place->data, count);
  } else {
    memmove(place->data, input->data, place->bytes);
    if (slot->rounded && place->dtype == ASSAY_FLOAT32) {
      policy_round(&plan->engine->policy, place->data, place->data, count);
    }
  }
}

static void feed_all(struct graph_plan *plan, const assay_tensor *inputs) {
  const struct graph *graph = plan->graph;
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    int32_t value = graph->inputs[i];
    if (plan->slots[value].home == SLOT_ARENA && graph->values[value].producer < 0) {
      feed(plan, value, &inputs[i]);
    }
  }
}

/* Views of what the enclosing graph has computed, and no trace of the last run's dynamic values. */
static void refresh_slots(struct graph_plan *plan) {
  for (int32_t i = 0; i < plan->graph->n_values; i++) {
    struct slot *slot = &plan->slots[i];
    if (slot->home == SLOT_OUTER) {
      slot->tensor = plan->parent->slots[plan->graph->values[i].outer].tensor;
    } else if (slot->home == SLOT_DYNAMIC) {
      slot->tensor.data = NULL;
    }
  }
}

/* --- taps -------------------------------------------------------------- */

static bool tap_wanted(const struct session_run *run, const char *value, bool named_only) {
  for (size_t i = 0; run != NULL && i < run->n_taps; i++) {
    if (text_equal(run->taps[i], value) || (!named_only && text_equal(run->taps[i], "*"))) {
      return true;
    }
  }
  return false;
}

static assay_status tap(struct graph_plan *plan, const struct node *node, int32_t value, const assay_tensor *tensor) {
  const struct session_run *run = plan->engine->run;
  assay_tensor view = *tensor;
  if (nan_is_foreign(&view)) {
    TRY(scratch_take(&plan->scratch, view.bytes, &view.data));
    memcpy(view.data, tensor->data, view.bytes);
    nan_canonicalise(&view);
  }
  run->tap(run->tap_user, node, plan->graph->values[value].name, &view);
  return status_ok();
}

static bool is_tapped(const struct graph_plan *plan) {
  return plan->engine->run != NULL && plan->engine->run->n_taps > 0;
}

/* Values that stand before the first step: inputs and weights when named, folded ones by "*" too. */
static assay_status tap_givens(struct graph_plan *plan) {
  if (!is_tapped(plan)) {
    return status_ok();
  }
  for (int32_t i = 0; i < plan->graph->n_values; i++) {
    const struct slot *slot = &plan->slots[i];
    const struct value *value = &plan->graph->values[i];
    bool constant = slot->home == SLOT_CONSTANT && !slot->released && !slot->from_outer;
    bool input = slot->home == SLOT_ARENA && value->producer < 0;
    if ((constant || input) && tap_wanted(plan->engine->run, value->name, value->producer < 0)) {
      const assay_tensor *tensor = &slot->tensor;
      if (constant) {
        TRY(slot_constant(plan, i, false, &tensor));
      }
      TRY(tap(plan, value->producer >= 0 ? &plan->graph->nodes[value->producer] : NULL, i, tensor));
    }
  }
  return status_ok();
}

static assay_status tap_step(struct graph_plan *plan, const struct step *step) {
  if (!is_tapped(plan)) {
    return status_ok();
  }
  for (int32_t i = 0; i < step->node->n_outputs; i++) {
    int32_t value = step->node->outputs[i];
    if (step->targets[i] != NULL && tap_wanted(plan->engine->run, plan->graph->values[value].name, false)) {
      TRY(tap(plan, step->node, value, step->targets[i]));
    }
  }
  return status_ok();
}

/* --- the run ----------------------------------------------------------- */

/* For tests: what died with this step must not be read again. */
static void poison_dead(struct graph_plan *plan, int32_t time) {
  for (int32_t i = plan->block_end_first[time]; i >= 0; i = plan->block_end_next[i]) {
    memset(plan->memory + plan->blocks[i].offset, 0xFF, plan->blocks[i].bytes);
  }
}

static assay_status run_steps(struct graph_plan *plan) {
  for (int32_t s = 0; s < plan->n_steps; s++) {
    struct step *step = &plan->steps[s];
    assay_status status = step_run(step);
    if (step->late) {
      arena_free(&plan->temporary);
    }
    TRY(status);
    TRY(tap_step(plan, step));
    if (plan->engine->poison && !plan->engine->no_reuse) {
      poison_dead(plan, s + 1);
    }
  }
  return status_ok();
}

static assay_status hand_out(struct graph_plan *plan) {
  for (int32_t i = 0; i < plan->graph->n_outputs; i++) {
    int32_t value = plan->graph->outputs[i];
    if (plan->output_blocks[i] < 0) {
      plan->output_views[i] = plan->slots[value].tensor;
      continue;
    }
    const assay_tensor *from = &plan->slots[value].tensor;
    if (plan->slots[value].home == SLOT_CONSTANT) {
      bool rounded = plan->engine->policy.storage != ASSAY_UNDEFINED;
      TRY(slot_constant(plan, value, rounded, &from));
    }
    plan->output_views[i] = plan->output_copies[i];
    if (from->bytes > 0) {
      memcpy(plan->output_views[i].data, from->data, from->bytes);
    }
  }
  return status_ok();
}

assay_status graph_plan_run(struct graph_plan *plan, const assay_tensor *inputs) {
  feed_all(plan, inputs);
  TRY(scratch_reset(&plan->scratch));
  refresh_slots(plan);
  TRY(tap_givens(plan));
  TRY(run_steps(plan));
  return hand_out(plan);
}
