/* Making a plan: what is alive, which nodes become steps, and where every value lies. */
#include "engine/graph_plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "engine/memory_plan.h"

/* --- captures ---------------------------------------------------------- */

void node_captures(const struct node *node, capture_function *call, void *user) {
  for (int32_t i = 0; i < node->n_attributes; i++) {
    const struct attribute *attribute = &node->attributes[i];
    bool graphs = attribute->kind == ATTRIBUTE_GRAPH || attribute->kind == ATTRIBUTE_GRAPHS;
    for (int32_t j = 0; graphs && j < attribute->count; j++) {
      const struct graph *graph = attribute->graphs[j];
      for (int32_t k = 0; k < graph->n_values; k++) {
        if (graph->values[k].outer >= 0) {
          call(user, graph->values[k].outer);
        }
      }
    }
  }
}

/* --- what is alive ----------------------------------------------------- */

struct wanting {
  struct graph_plan *plan;
  bool *wanted; /* by value */
  bool count;   /* count uses, too */
};

static void want(void *user, int32_t value) {
  struct wanting *wanting = user;
  wanting->wanted[value] = true;
  wanting->plan->slots[value].uses += wanting->count ? 1 : 0;
}

static void want_inputs(struct wanting *wanting, const struct node *node) {
  for (int32_t i = 0; i < node->n_inputs; i++) {
    if (node->inputs[i] >= 0) {
      want(wanting, node->inputs[i]);
    }
  }
  node_captures(node, want, wanting);
}

/* An output of the node is wanted, and not known already. */
static bool is_wanted(const struct wanting *wanting, const struct node *node) {
  for (int32_t i = 0; i < node->n_outputs; i++) {
    int32_t value = node->outputs[i];
    if (value >= 0 && wanting->plan->slots[value].home != SLOT_CONSTANT &&
        (wanting->wanted[value] || wanting->plan->engine->keep_dead)) {
      return true;
    }
  }
  return false;
}

/* Walks backward from the outputs and marks in plan->alive what has to run. */
static assay_status mark_alive(struct graph_plan *plan, bool count) {
  const struct graph *graph = plan->graph;
  struct wanting wanting = {.plan = plan, .count = count};
  ARENA_NEW(&plan->temporary, wanting.wanted, graph->n_values);
  for (int32_t i = 0; i < graph->n_outputs; i++) {
    want(&wanting, graph->outputs[i]);
  }
  for (int32_t i = graph->n_nodes - 1; i >= 0; i--) {
    plan->alive[i] = is_wanted(&wanting, &graph->nodes[i]);
    if (plan->alive[i]) {
      want_inputs(&wanting, &graph->nodes[i]);
    }
  }
  return status_ok();
}

/* Constants that only folding needed. */
static void drop_unused_constants(struct graph_plan *plan) {
  for (int32_t i = 0; i < plan->graph->n_values; i++) {
    if (plan->slots[i].home == SLOT_CONSTANT && plan->slots[i].uses == 0) {
      slot_unuse(plan, i);
    }
  }
}

/* --- steps ------------------------------------------------------------- */

/* Shapes not known before the run, of something read or written. */
static bool is_late(const struct graph_plan *plan, const struct node *node) {
  for (int32_t i = 0; i < node->n_inputs; i++) {
    if (node->inputs[i] >= 0 && !plan->slots[node->inputs[i]].fixed) {
      return true;
    }
  }
  for (int32_t i = 0; i < node->n_outputs; i++) {
    if (node->outputs[i] >= 0 && !plan->slots[node->outputs[i]].fixed) {
      return true;
    }
  }
  return false;
}

/* Operators whose first output is the first input's bytes in another shape. */
static bool moves_nothing(const struct node *node) {
  static const char *const names[] = {"Reshape", "Identity", "Flatten", "Squeeze", "Unsqueeze"};
  if (node->domain[0] != '\0' || node->n_inputs < 1 || node->n_outputs < 1) {
    return false;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (text_equal(node->op_type, names[i])) {
      return true;
    }
  }
  return false;
}

/* The step only renames bytes, and no rounding falls due on the way. */
static bool is_view(const struct step *step) {
  const struct node *node = step->node;
  if (step->late || step->wrapped || !moves_nothing(node) || node->inputs[0] < 0 || step->outputs[0] == NULL) {
    return false;
  }
  const struct slot *from = &step->plan->slots[node->inputs[0]];
  const struct slot *to = &step->plan->slots[node->outputs[0]];
  return step->conversions[0].kind == CONVERT_NONE && from->home != SLOT_CONSTANT &&
         from->known.type.dtype == to->known.type.dtype && from->rounded == to->rounded &&
         from->known.type.dtype != ASSAY_STRING;
}

/* A tensor of the slot's type, without data; the shape as far as it is fixed. */
static void shape_tensor(const struct slot *slot, assay_tensor *tensor) {
  *tensor = (assay_tensor){.dtype = slot->known.type.dtype};
  if (!slot->fixed) {
    return;
  }
  tensor->rank = slot->known.type.rank;
  int64_t count;
  for (int32_t i = 0; i < tensor->rank; i++) {
    tensor->dims[i] = slot->known.type.dims[i].value;
  }
  if (!shape_count(tensor->dims, tensor->rank, &count) || !dtype_bytes(tensor->dtype, count, &tensor->bytes)) {
    tensor->bytes = SIZE_MAX; /* the memory plan refuses it */
  }
}

static assay_status make_steps(struct graph_plan *plan) {
  const struct graph *graph = plan->graph;
  int32_t count = 0;
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    count += plan->alive[i] ? 1 : 0;
  }
  ARENA_NEW(plan->arena, plan->steps, count);
  for (int32_t i = 0; i < graph->n_values; i++) {
    struct slot *slot = &plan->slots[i];
    if (slot->home != SLOT_CONSTANT) {
      shape_tensor(slot, &slot->tensor);
    }
  }
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    if (!plan->alive[i]) {
      continue;
    }
    struct step *step = &plan->steps[plan->n_steps];
    assay_status status = step_make(plan, i, is_late(plan, &graph->nodes[i]), step);
    plan->n_steps++;
    arena_free(&plan->temporary);
    TRY(status);
    step->view = is_view(step);
    if (step->view) {
      step->work_bytes = 0;
      plan->slots[graph->nodes[i].outputs[0]].root = plan->slots[graph->nodes[i].inputs[0]].root;
    }
  }
  return status_ok();
}

/* --- places in memory -------------------------------------------------- */

static int32_t root_of(const struct graph_plan *plan, int32_t value) { return plan->slots[value].root; }

struct reading {
  struct graph_plan *plan;
  int32_t step;
};

static void read_value(void *user, int32_t value) {
  struct reading *reading = user;
  struct slot *root = &reading->plan->slots[root_of(reading->plan, value)];
  root->last = reading->step > root->last ? reading->step : root->last;
}

/* Time: step 0 is the feeding of the inputs, step s + 1 is plan->steps[s], the last is the handing out. */
static void find_last_reads(struct graph_plan *plan) {
  for (int32_t s = 0; s < plan->n_steps; s++) {
    const struct node *node = plan->steps[s].node;
    struct reading reading = {plan, s + 1};
    for (int32_t i = 0; i < node->n_inputs; i++) {
      if (node->inputs[i] >= 0) {
        read_value(&reading, node->inputs[i]);
      }
    }
    for (int32_t i = 0; i < node->n_outputs; i++) {
      if (plan->steps[s].targets[i] != NULL) {
        read_value(&reading, node->outputs[i]);
      }
    }
    node_captures(node, read_value, &reading);
  }
  struct reading end = {plan, plan->n_steps + 1};
  for (int32_t i = 0; i < plan->graph->n_outputs; i++) {
    read_value(&end, plan->graph->outputs[i]);
  }
}

/* A value of the arena; those handed out keep their place for the whole run, so that they may be fed
 * back as they lie. */
static void add_block(struct graph_plan *plan, int32_t value, int32_t begin) {
  struct slot *slot = &plan->slots[value];
  slot->home = SLOT_ARENA;
  bool handed_out = slot->last == plan->n_steps + 1;
  slot->block = plan->n_blocks;
  plan->blocks[plan->n_blocks++] =
      (struct memory_block){slot->tensor.bytes, handed_out ? 0 : begin, slot->last < begin ? begin : slot->last, 0};
}

static bool is_fed(const struct graph_plan *plan, int32_t input) {
  int32_t value = plan->graph->inputs[input];
  return plan->graph->values[value].initializer < 0 || (plan->fed != NULL && plan->fed[input]);
}

static int compare_begin(const void *a, const void *b) {
  const struct memory_block *const *left = a, *const *right = b;
  if ((*left)->begin != (*right)->begin) {
    return (*left)->begin < (*right)->begin ? -1 : 1;
  }
  return *left < *right ? -1 : (*left > *right ? 1 : 0);
}

static void collect_step_blocks(struct graph_plan *plan, int32_t s) {
  struct step *step = &plan->steps[s];
  for (int32_t i = 0; i < step->node->n_outputs; i++) {
    int32_t value = step->node->outputs[i];
    if (step->targets[i] == NULL) {
      continue;
    }
    struct slot *slot = &plan->slots[value];
    if (!slot->fixed) {
      slot->home = SLOT_DYNAMIC;
    } else if (slot->root == value) {
      add_block(plan, value, s + 1);
    } else {
      slot->home = SLOT_ARENA; /* a view */
    }
  }
  if (!step->late && !step->view && step->work_bytes > 0) {
    step->block = plan->n_blocks;
    plan->blocks[plan->n_blocks++] = (struct memory_block){step->work_bytes, s + 1, s + 1, 0};
  }
}

static assay_status collect_blocks(struct graph_plan *plan) {
  const struct graph *graph = plan->graph;
  ARENA_NEW(plan->arena, plan->blocks, (int64_t)graph->n_values + plan->n_steps + graph->n_outputs);
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    if (is_fed(plan, i)) {
      add_block(plan, graph->inputs[i], 0);
    }
  }
  for (int32_t s = 0; s < plan->n_steps; s++) {
    collect_step_blocks(plan, s);
  }
  return status_ok();
}

/* Outputs that are not computed here (constants, inputs, captured values) get a copy of their own. */
static assay_status copy_outputs(struct graph_plan *plan) {
  const struct graph *graph = plan->graph;
  ARENA_NEW(plan->arena, plan->output_copies, graph->n_outputs);
  ARENA_NEW(plan->arena, plan->output_views, graph->n_outputs);
  ARENA_NEW(plan->arena, plan->outputs, graph->n_outputs);
  ARENA_NEW(plan->arena, plan->output_blocks, graph->n_outputs);
  for (int32_t i = 0; i < graph->n_outputs; i++) {
    int32_t value = graph->outputs[i];
    const struct slot *root = &plan->slots[root_of(plan, value)];
    bool computed = plan->graph->values[root_of(plan, value)].producer >= 0 &&
                    (root->home == SLOT_ARENA || root->home == SLOT_DYNAMIC);
    plan->outputs[i] = (struct named_tensor){graph->values[value].name, &plan->output_views[i]};
    plan->output_blocks[i] = -1;
    if (computed) {
      continue;
    }
    if (!plan->slots[value].fixed) {
      return status_make(ASSAY_INTERNAL, graph->values[value].name, "an output has no shape and nothing computes it");
    }
    shape_tensor(&plan->slots[value], &plan->output_copies[i]);
    plan->output_blocks[i] = plan->n_blocks;
    plan->blocks[plan->n_blocks++] = (struct memory_block){plan->output_copies[i].bytes, 0, plan->n_steps + 1, 0};
  }
  return status_ok();
}

/* The planner wants its blocks sorted by time. */
static assay_status place_blocks(struct graph_plan *plan, bool reuse) {
  struct memory_block **order, *sorted;
  ARENA_NEW(&plan->temporary, order, plan->n_blocks);
  ARENA_NEW(&plan->temporary, sorted, plan->n_blocks);
  for (int32_t i = 0; i < plan->n_blocks; i++) {
    order[i] = &plan->blocks[i];
  }
  qsort(order, (size_t)plan->n_blocks, sizeof(struct memory_block *), compare_begin);
  for (int32_t i = 0; i < plan->n_blocks; i++) {
    sorted[i] = *order[i];
  }
  TRY(memory_plan(sorted, plan->n_blocks, plan->n_steps + 2, reuse, &plan->memory_bytes));
  for (int32_t i = 0; i < plan->n_blocks; i++) {
    order[i]->offset = sorted[i].offset;
  }
  return status_ok();
}

static assay_status take_memory(struct graph_plan *plan) {
  size_t bytes;
  if (!size_add(plan->memory_bytes, MEMORY_ALIGNMENT, &bytes)) {
    return status_no_memory(SIZE_MAX);
  }
  TRY(budget_take(&plan->engine->budget, bytes, "the values of the graph"));
  plan->charged += bytes;
  /* Cleared pages come from the system and are touched when they are used. */
  plan->memory_block_start = memory_alloc(1, bytes);
  if (plan->memory_block_start == NULL) {
    return status_no_memory(bytes);
  }
  size_t past = (uintptr_t)plan->memory_block_start % MEMORY_ALIGNMENT;
  plan->memory = (unsigned char *)plan->memory_block_start + (past == 0 ? 0 : MEMORY_ALIGNMENT - past);
  return status_ok();
}

/* From offsets to pointers. */
static void point_at_places(struct graph_plan *plan) {
  for (int32_t i = 0; i < plan->graph->n_values; i++) {
    struct slot *slot = &plan->slots[i];
    if (slot->home == SLOT_ARENA && slot->block >= 0) {
      slot->tensor.data = plan->memory + plan->blocks[slot->block].offset;
    }
  }
  for (int32_t s = 0; s < plan->n_steps; s++) {
    struct step *step = &plan->steps[s];
    if (step->block >= 0) {
      step_place(step, plan->memory + plan->blocks[step->block].offset);
    }
  }
  for (int32_t i = 0; i < plan->graph->n_outputs; i++) {
    if (plan->output_blocks[i] >= 0) {
      plan->output_copies[i].data = plan->memory + plan->blocks[plan->output_blocks[i]].offset;
    }
  }
}

/* For the test that poisons what is dead: blocks by the step that ends them. */
static assay_status list_block_ends(struct graph_plan *plan) {
  ARENA_NEW(plan->arena, plan->block_end_first, plan->n_steps + 2);
  ARENA_NEW(plan->arena, plan->block_end_next, plan->n_blocks);
  for (int32_t i = 0; i < plan->n_steps + 2; i++) {
    plan->block_end_first[i] = -1;
  }
  for (int32_t i = 0; i < plan->n_blocks; i++) {
    int32_t end = plan->blocks[i].end;
    plan->block_end_next[i] = plan->block_end_first[end];
    plan->block_end_first[end] = i;
  }
  return status_ok();
}

static assay_status place_values(struct graph_plan *plan) {
  find_last_reads(plan);
  TRY(collect_blocks(plan));
  TRY(copy_outputs(plan));
  TRY(place_blocks(plan, !plan->engine->no_reuse));
  TRY(take_memory(plan));
  point_at_places(plan);
  return plan->engine->poison ? list_block_ends(plan) : status_ok();
}

/* --- making and ending ------------------------------------------------- */

static assay_status build(struct graph_plan *plan, const struct infer_value *inputs, const bool *fed) {
  const struct graph *graph = plan->graph;
  ARENA_NEW(plan->arena, plan->slots, graph->n_values);
  ARENA_NEW(plan->arena, plan->ops, graph->n_nodes);
  ARENA_NEW(plan->arena, plan->alive, graph->n_nodes);
  if (fed != NULL) {
    bool *copy;
    ARENA_NEW(plan->arena, copy, graph->n_inputs);
    memcpy(copy, fed, (size_t)graph->n_inputs * sizeof *copy);
    plan->fed = copy;
  }
  TRY(mark_alive(plan, false));
  arena_free(&plan->temporary);
  TRY(graph_plan_analyse(plan, inputs, true));
  TRY(mark_alive(plan, true));
  arena_free(&plan->temporary);
  drop_unused_constants(plan);
  TRY(make_steps(plan));
  assay_status status = place_values(plan);
  arena_free(&plan->temporary);
  return status;
}

assay_status graph_plan_new(struct engine *engine, const struct graph *graph, struct graph_plan *parent,
                            const struct infer_value *inputs, const bool *fed, struct graph_plan **out) {
  struct graph_plan *plan = memory_alloc(1, sizeof *plan);
  if (plan == NULL) {
    return status_no_memory(sizeof *plan);
  }
  plan->engine = engine;
  plan->graph = graph;
  plan->parent = parent;
  plan->arena = &plan->own;
  plan->scratch.budget = &engine->budget;
  plan->own.limit = engine->budget.limit - engine->budget.used;
  plan->own.limit += plan->own.limit == 0 ? 1 : 0; /* 0 would be no limit */
  plan->temporary.limit = plan->own.limit;
  assay_status status = build(plan, inputs, fed);
  if (assay_status_ok(status)) {
    status = budget_take(&engine->budget, plan->own.used, "the packed weights of the graph");
    plan->charged += assay_status_ok(status) ? plan->own.used : 0;
  }
  if (!assay_status_ok(status)) {
    graph_plan_free(plan);
    return status;
  }
  *out = plan;
  return status_ok();
}

void graph_plan_free(struct graph_plan *plan) {
  if (plan == NULL) {
    return;
  }
  for (int32_t i = 0; i < plan->n_steps; i++) {
    step_free(&plan->steps[i]);
  }
  for (int32_t i = 0; plan->slots != NULL && i < plan->graph->n_values; i++) {
    slot_free(plan, &plan->slots[i]);
  }
  scratch_free(&plan->scratch);
  budget_give(&plan->engine->budget, plan->charged);
  memory_free(plan->memory_block_start);
  arena_free(&plan->temporary);
  arena_free(&plan->own);
  memory_free(plan);
}
