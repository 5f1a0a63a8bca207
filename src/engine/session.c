/* A session: a model, a precision, and the plans made for the shapes that were fed. It checks what is
 * fed, finds or makes the plan, and runs it in a floating-point environment of its own. */
#include <string.h>

#include "core/fpenv.h"
#include "core/memory.h"
#include "core/text.h"
#include "engine/graph_plan.h"
#include "engine/load_check.h"
#include "engine/widen.h"

enum { BINDINGS_MAX = 4 };
static const size_t default_max_bytes = (size_t)8 << 30;

struct session {
  struct engine engine;
  struct arena arena;
  const struct model *original;
  struct model *inlined; /* without functions; leans on the original */
  const struct graph *graph;
  int threads;
  /* Feeds of the run under way, by graph input; data and dtype UNDEFINED where none is. */
  assay_tensor *feeds;
  bool *fed;
  bool *overridable;
  struct graph_plan *plans[BINDINGS_MAX]; /* most recently used first */
  int32_t n_plans;
};

/* --- opening ----------------------------------------------------------- */

static assay_status copy_keep(struct session *session, const struct session_options *options) {
  const char **keep;
  ARENA_NEW(&session->arena, keep, options->n_keep);
  for (int32_t i = 0; i < options->n_keep; i++) {
    keep[i] = arena_string(&session->arena, options->keep[i]);
    if (keep[i] == NULL) {
      return status_no_memory(strlen(options->keep[i]));
    }
  }
  session->engine.policy.keep = keep;
  return status_ok();
}

static assay_status choose_kernels(struct session *session, const struct session_options *options) {
  session->engine.kernels =
      options->kernel_level < 0 ? kernels_best() : kernels_at((enum kernel_level)options->kernel_level);
  if (session->engine.kernels == NULL) {
    return status_make(ASSAY_USAGE, NULL, "the kernels of level '%s' do not run on this processor",
                       kernel_level_name((enum kernel_level)options->kernel_level));
  }
  session->threads = options->threads > 1 ? options->threads : 1;
  return session->threads > 1 ? pool_new(session->threads, &session->engine.pool) : status_ok();
}

static assay_status take_graph(struct session *session, const struct session_options *options) {
  TRY(model_inline(session->original, &session->inlined));
  const struct graph *graph = session->inlined->graph;
  TRY(load_check(graph));
  TRY(load_check_keep(graph, options));
  session->graph = graph;
  if (options->precision == PRECISION_FP64) {
    struct graph *wide;
    TRY(graph_widen(graph, &session->arena, &wide));
    session->graph = wide;
  }
  return status_ok();
}

/* What the graph declares of input i, in the session's dtype. */
static struct value_type declared_type(const struct session *session, int32_t i) {
  struct value_type type = session->graph->values[session->graph->inputs[i]].declared;
  if (session->engine.policy.precision == PRECISION_FP64 && type.dtype == ASSAY_FLOAT32) {
    type.dtype = ASSAY_FLOAT64;
  }
  return type;
}

static bool is_required(const struct session *session, int32_t i) {
  return session->graph->values[session->graph->inputs[i]].initializer < 0;
}

static assay_status check_declared(const struct session *session) {
  for (int32_t i = 0; i < session->graph->n_inputs; i++) {
    struct value_type type = declared_type(session, i);
    const char *name = session->graph->values[session->graph->inputs[i]].name;
    if (is_required(session, i) && (type.kind != TYPE_TENSOR || type.dtype == ASSAY_UNDEFINED)) {
      return status_make(
          ASSAY_MODEL_UNSUPPORTED, name,
          "input '%s' of the graph is %s; assay runs models whose inputs are tensors of a known dtype", name,
          type.kind == TYPE_UNKNOWN || type.kind == TYPE_TENSOR ? "of no declared dtype" : "not a tensor");
    }
  }
  return status_ok();
}

static void remember_plan(struct session *session, struct graph_plan *plan) {
  if (session->n_plans == BINDINGS_MAX) {
    graph_plan_free(session->plans[--session->n_plans]);
  }
  memmove(session->plans + 1, session->plans, (size_t)session->n_plans * sizeof *session->plans);
  session->plans[0] = plan;
  session->n_plans++;
}

/* Plans at once when the model declares every shape; otherwise infers as far as that goes, so that what cannot
 * be run fails now. */
static assay_status plan_declared(struct session *session) {
  const struct graph *graph = session->graph;
  struct arena arena = {.limit = session->engine.budget.limit};
  struct infer_value *inputs, *outputs;
  bool concrete = true;
  inputs = arena_alloc(&arena, (size_t)graph->n_inputs, sizeof *inputs);
  outputs = arena_alloc(&arena, (size_t)graph->n_outputs, sizeof *outputs);
  if (inputs == NULL || outputs == NULL) {
    arena_free(&arena);
    return status_no_memory((size_t)graph->n_inputs * sizeof *inputs);
  }
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    inputs[i].type = declared_type(session, i);
    concrete = concrete && (!is_required(session, i) || type_is_concrete(&inputs[i].type));
  }
  assay_status status;
  if (concrete) {
    struct graph_plan *plan;
    status = graph_plan_new(&session->engine, graph, NULL, inputs, NULL, &plan);
    if (assay_status_ok(status)) {
      remember_plan(session, plan);
    }
  } else {
    status = graph_outputs(&session->engine, graph, NULL, inputs, graph->n_inputs, &arena, outputs, graph->n_outputs);
  }
  arena_free(&arena);
  return status;
}

static assay_status set_up(struct session *session, const struct session_options *options) {
  struct engine *engine = &session->engine;
  engine->policy = policy_of(options);
  engine->budget.limit = options->max_bytes != 0 ? options->max_bytes : default_max_bytes;
  engine->keep_dead = options->keep_dead;
  engine->no_reuse = (options->debug & SESSION_NO_REUSE) != 0;
  engine->poison = (options->debug & SESSION_POISON) != 0;
  engine->model = session->original;
  TRY(copy_keep(session, options));
  TRY(choose_kernels(session, options));
  TRY(take_graph(session, options));
  TRY(check_declared(session));
  int32_t n = session->graph->n_inputs;
  ARENA_NEW(&session->arena, session->feeds, n);
  ARENA_NEW(&session->arena, session->fed, n);
  ARENA_NEW(&session->arena, session->overridable, n);
  for (int32_t i = 0; i < n; i++) {
    session->overridable[i] =
        !is_required(session, i) && graph_is_overridable(session->graph, session->graph->inputs[i]);
  }
  return plan_declared(session);
}

assay_status session_open(const struct model *model, const struct session_options *options, struct session **out) {
  struct session *session = memory_alloc(1, sizeof *session);
  if (session == NULL) {
    return status_no_memory(sizeof *session);
  }
  session->original = model;
  struct fpenv saved = fpenv_enter();
  assay_status status = set_up(session, options);
  fpenv_leave(saved);
  if (!assay_status_ok(status)) {
    session_close(session);
    return status;
  }
  *out = session;
  return status_ok();
}

void session_close(struct session *session) {
  if (session == NULL) {
    return;
  }
  for (int32_t i = 0; i < session->n_plans; i++) {
    graph_plan_free(session->plans[i]);
  }
  pool_free(session->engine.pool);
  model_close(session->inlined);
  arena_free(&session->arena);
  memory_free(session);
}

/* --- what is fed ------------------------------------------------------- */

static const char *input_name(const struct session *session, int32_t i) {
  return session->graph->values[session->graph->inputs[i]].name;
}

/* The graph input of that name, or -1. Feeds mostly come in the graph's order: that is tried first. */
static int32_t find_input(const struct session *session, const char *name, size_t guess) {
  if (guess < (size_t)session->graph->n_inputs && text_equal(input_name(session, (int32_t)guess), name)) {
    return (int32_t)guess;
  }
  int32_t value = graph_find_value(session->graph, name);
  return value >= 0 ? session->graph->values[value].input : -1;
}

static void list_inputs(const struct session *session, struct text *out) {
  for (int32_t i = 0; i < session->graph->n_inputs; i++) {
    if (is_required(session, i)) {
      text_format(out, "%s'%s'", out->length == 0 ? "" : ", ", input_name(session, i));
    }
  }
}

static assay_status extra_input(const struct session *session, const char *name, int32_t input) {
  if (input >= 0) {
    return status_make(ASSAY_INPUT_EXTRA, name,
                       "'%s' is a constant of the model (an initializer, and the model's IR version is below 4) and "
                       "cannot be fed",
                       name);
  }
  struct text names = {0};
  list_inputs(session, &names);
  assay_status status = status_make(ASSAY_INPUT_EXTRA, name, "'%s' is fed, and the model has no such input; it has %s",
                                    name, names.length == 0 ? "none" : text_string(&names));
  text_free(&names);
  return status;
}

static void describe_type(const struct value_type *type, struct text *out) {
  text_add(out, assay_dtype_name(type->dtype));
  if (type->rank == RANK_UNKNOWN) {
    text_add(out, " of any shape");
    return;
  }
  text_add_char(out, '[');
  for (int32_t i = 0; i < type->rank; i++) {
    text_add(out, i == 0 ? "" : ",");
    if (type->dims[i].value >= 0) {
      text_format(out, "%lld", (long long)type->dims[i].value);
    } else {
      text_add(out, type->dims[i].symbol != NULL ? type->dims[i].symbol : "?");
    }
  }
  text_add_char(out, ']');
}

static assay_status wrong_input(const struct session *session, int32_t i, const assay_tensor *tensor, assay_code code) {
  struct text found = {0}, expected = {0};
  tensor_describe(tensor, &found);
  describe_type(&session->graph->values[session->graph->inputs[i]].declared, &expected);
  assay_status status = status_make(code, input_name(session, i), "input '%s' is %s; the model expects %s",
                                    input_name(session, i), text_string(&found), text_string(&expected));
  text_free(&found);
  text_free(&expected);
  return status;
}

static bool dtype_fits(const struct session *session, assay_dtype found, assay_dtype expected) {
  return found == expected ||
         (session->engine.policy.precision == PRECISION_FP64 && found == ASSAY_FLOAT32 && expected == ASSAY_FLOAT64);
}

static assay_status check_feed(const struct session *session, int32_t i, const assay_tensor *tensor) {
  const struct value_type *type = &session->graph->values[session->graph->inputs[i]].declared;
  assay_dtype expected = type->dtype;
  if (session->engine.policy.precision == PRECISION_FP64 && expected == ASSAY_FLOAT32) {
    expected = ASSAY_FLOAT64;
  }
  if (!dtype_fits(session, tensor->dtype, expected)) {
    return wrong_input(session, i, tensor, ASSAY_INPUT_DTYPE);
  }
  int64_t count;
  size_t bytes;
  bool sound = tensor->rank >= 0 && tensor->rank <= ASSAY_RANK_MAX && shape_count(tensor->dims, tensor->rank, &count) &&
               dtype_bytes(tensor->dtype, count, &bytes) && bytes == tensor->bytes &&
               (bytes == 0 || tensor->data != NULL);
  if (!sound) {
    return status_make(ASSAY_INPUT_SHAPE, input_name(session, i),
                       "input '%s' holds %zu bytes, and its shape asks for another number", input_name(session, i),
                       tensor->bytes);
  }
  bool fits = type->rank == RANK_UNKNOWN || type->rank == tensor->rank;
  for (int32_t j = 0; fits && type->rank != RANK_UNKNOWN && j < type->rank; j++) {
    fits = type->dims[j].value < 0 || type->dims[j].value == tensor->dims[j];
  }
  return fits ? status_ok() : wrong_input(session, i, tensor, ASSAY_INPUT_SHAPE);
}

static assay_status missing_input(const struct session *session, int32_t i) {
  struct text expected = {0};
  describe_type(&session->graph->values[session->graph->inputs[i]].declared, &expected);
  assay_status status =
      status_make(ASSAY_INPUT_MISSING, input_name(session, i), "input '%s' is missing; the model expects %s",
                  input_name(session, i), text_string(&expected));
  text_free(&expected);
  return status;
}

static assay_status take_feeds(struct session *session, const struct session_run *run) {
  const struct graph *graph = session->graph;
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    session->fed[i] = false;
  }
  for (size_t i = 0; i < run->n_inputs; i++) {
    const char *name = run->inputs[i].name;
    int32_t input = find_input(session, name, i);
    if (input < 0 || (!is_required(session, input) && !session->overridable[input])) {
      return extra_input(session, name, input);
    }
    if (session->fed[input]) {
      return status_make(ASSAY_INPUT_TWICE, name, "input '%s' is fed twice", name);
    }
    TRY(check_feed(session, input, run->inputs[i].tensor));
    session->fed[input] = true;
    session->feeds[input] = *run->inputs[i].tensor;
  }
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    if (!session->fed[i] && is_required(session, i)) {
      return missing_input(session, i);
    }
  }
  return status_ok();
}

/* --- bindings ---------------------------------------------------------- */

static bool plan_fits(const struct session *session, const struct graph_plan *plan) {
  for (int32_t i = 0; i < session->graph->n_inputs; i++) {
    bool fed_then = is_required(session, i) || (plan->fed != NULL && plan->fed[i]);
    if (fed_then != session->fed[i]) {
      return false;
    }
    if (fed_then && !shape_equal(&plan->slots[session->graph->inputs[i]].tensor, &session->feeds[i])) {
      return false;
    }
  }
  return true;
}

/* One symbol, one number: "batch" cannot be 2 for one input and 3 for another. */
static assay_status check_symbols(const struct session *session, int32_t i, int32_t dimension) {
  const struct graph *graph = session->graph;
  const char *symbol = graph->values[graph->inputs[i]].declared.dims[dimension].symbol;
  int64_t size = session->feeds[i].dims[dimension];
  for (int32_t j = 0; j <= i; j++) {
    const struct value_type *type = &graph->values[graph->inputs[j]].declared;
    for (int32_t k = 0; session->fed[j] && type->rank != RANK_UNKNOWN && k < type->rank; k++) {
      bool same = type->dims[k].value < 0 && type->dims[k].symbol != NULL && text_equal(type->dims[k].symbol, symbol);
      if (same && session->feeds[j].dims[k] != size) {
        return status_make(ASSAY_INPUT_SHAPE, input_name(session, i),
                           "dimension '%s' is %lld in input '%s' and %lld in input '%s'; it must be one number", symbol,
                           (long long)session->feeds[j].dims[k], input_name(session, j), (long long)size,
                           input_name(session, i));
      }
    }
  }
  return status_ok();
}

static assay_status check_all_symbols(const struct session *session) {
  for (int32_t i = 0; i < session->graph->n_inputs; i++) {
    const struct value_type *type = &session->graph->values[session->graph->inputs[i]].declared;
    for (int32_t k = 0; session->fed[i] && type->rank != RANK_UNKNOWN && k < type->rank; k++) {
      if (type->dims[k].value < 0 && type->dims[k].symbol != NULL && type->dims[k].symbol[0] != '\0') {
        TRY(check_symbols(session, i, k));
      }
    }
  }
  return status_ok();
}

static assay_status make_plan(struct session *session) {
  const struct graph *graph = session->graph;
  struct arena arena = {0};
  struct infer_value *inputs = arena_alloc(&arena, (size_t)graph->n_inputs, sizeof *inputs);
  if (inputs == NULL) {
    return status_no_memory((size_t)graph->n_inputs * sizeof *inputs);
  }
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    if (session->fed[i]) {
      inputs[i].type = type_of_tensor(&session->feeds[i]);
      inputs[i].type.dtype = declared_type(session, i).dtype;
    }
  }
  struct graph_plan *plan = NULL;
  assay_status status = graph_plan_new(&session->engine, graph, NULL, inputs, session->fed, &plan);
  arena_free(&arena);
  if (assay_status_ok(status)) {
    remember_plan(session, plan);
  }
  return status;
}

/* Brings the plan for what is fed to the front. */
static assay_status bind(struct session *session) {
  for (int32_t i = 0; i < session->n_plans; i++) {
    struct graph_plan *plan = session->plans[i];
    if (plan_fits(session, plan)) {
      memmove(session->plans + 1, session->plans, (size_t)i * sizeof *session->plans);
      session->plans[0] = plan;
      return status_ok();
    }
  }
  TRY(check_all_symbols(session));
  return make_plan(session);
}

/* --- running ----------------------------------------------------------- */

static assay_status check_tap(const struct session *session, const char *name) {
  int32_t value = graph_find_value(session->graph, name);
  if (value < 0 && !text_equal(name, "*") && !graph_has_value(session->graph, name)) {
    return status_make(ASSAY_TAP_UNKNOWN, name, "the model has no value '%s' to tap", name);
  }
  if (value < 0) {
    return status_ok();
  }
  const struct slot *slot = &session->plans[0]->slots[value];
  if (slot->home == SLOT_NONE) {
    return status_make(ASSAY_TAP_UNKNOWN, name,
                       "'%s' is not computed, since no output depends on it; keep dead nodes to see it", name);
  }
  if (slot->home == SLOT_CONSTANT && slot->released) {
    return status_make(ASSAY_TAP_UNKNOWN, name,
                       "'%s' is a constant that went into packed weights; keep dead nodes to see it", name);
  }
  return status_ok();
}

static assay_status run_bound(struct session *session, const struct session_run *run) {
  if (run->n_taps > 0 && run->tap == NULL) {
    return status_make(ASSAY_INTERNAL, NULL, "values are to be tapped, and nobody takes them");
  }
  TRY(take_feeds(session, run));
  TRY(bind(session));
  for (size_t i = 0; i < run->n_taps; i++) {
    TRY(check_tap(session, run->taps[i]));
  }
  session->engine.run = run;
  session->engine.bodies = 0;
  TRY(graph_plan_run(session->plans[0], session->feeds));
  struct graph_plan *plan = session->plans[0];
  for (int32_t i = 0; i < session->graph->n_outputs; i++) {
    nan_canonicalise(&plan->output_views[i]);
  }
  return status_ok();
}

assay_status session_run(struct session *session, const struct session_run *run, const struct named_tensor **outputs,
                         size_t *n_outputs) {
  struct fpenv saved = fpenv_enter();
  assay_status status = run_bound(session, run);
  session->engine.run = NULL;
  fpenv_leave(saved);
  if (assay_status_ok(status)) {
    *outputs = session->plans[0]->outputs;
    *n_outputs = (size_t)session->graph->n_outputs;
  }
  return status;
}

void session_describe(const struct session *session, struct session_info *out) {
  *out = (struct session_info){.precision = session->engine.policy.precision,
                               .rounding = precision_rounding(session->engine.policy.precision),
                               .accumulator = session->engine.policy.precision == PRECISION_FP64 ? "fp64" : "fp32",
                               .n_kept = session->engine.policy.n_keep,
                               .threads = session->threads,
                               .kernels = kernel_level_name(session->engine.kernels->level)};
  if (session->n_plans > 0) {
    const struct graph_plan *plan = session->plans[0];
    out->arena_bytes = plan->memory_bytes;
    out->weight_bytes = plan->weight_bytes;
    out->n_nodes = plan->n_steps;
    out->n_folded = plan->n_folded;
  }
}
