/* NVIDIA LEAPP's graph file (`leapp.compile_graph`; Isaac Lab exports it for ROS): each node's file with its tensors,
 * what they mean (`kind`, `element_names`), how nodes feed one another, what comes back at the next step, and the rate.
 * Scales and observation code are inside the exported nodes, so that tensors are in physical units already. */
#include <string.h>

#include "contract/import_beside.h"
#include "contract/yaml.h"

static bool is_map(const struct foreign *node) { return node != NULL && node->kind == FOREIGN_MAP; }

int leapp_recognise(const struct import_file *file) {
  if (!file->is_text) {
    return IMPORT_NO;
  }
  const struct foreign *root = file->yaml.documents;
  bool graph = is_map(foreign_get(root, "models")) && is_map(foreign_get(root, "pipeline"));
  if (!graph) {
    return IMPORT_NO;
  }
  bool said = foreign_at(root, "system information/leapp version") != NULL;
  return said || is_map(foreign_at(root, "pipeline/data_flow")) ? IMPORT_SURE : IMPORT_MAYBE;
}

/* A graph that is being read. */
struct graph {
  struct import *import;
  const struct foreign *root, *models, *pipeline;
};

/* --- ports: "node/tensor" --------------------------------------------------------------------------- */

struct port {
  const struct foreign *node; /* of `models` */
  const char *tensor;
  int32_t stage;
};

static assay_status find_port(const struct graph *graph, const struct foreign *at, const char *text, struct port *out) {
  const char *slash = strchr(text, '/');
  for (int32_t i = 0; slash != NULL && i < graph->models->count; i++) {
    size_t length = strlen(graph->models->keys[i]);
    if (length == (size_t)(slash - text) && strncmp(graph->models->keys[i], text, length) == 0) {
      *out = (struct port){.node = &graph->models->items[i], .tensor = slash + 1, .stage = i};
      return status_ok();
    }
  }
  return import_error(graph->import, at, "'%.80s' is no tensor of a node of 'models', written as node/tensor", text);
}

/* The output that feeds an input, by an edge; NULL when it comes from outside. */
static assay_status find_feeder(const struct graph *graph, const char *edges, const char *node, const char *tensor,
                                struct port *out, bool *found) {
  const struct foreign *flow = foreign_get(graph->pipeline, edges);
  *found = false;
  for (int32_t i = 0; is_map(flow) && i < flow->count; i++) {
    const struct foreign *targets = &flow->items[i];
    for (int32_t t = 0; t < (targets->kind == FOREIGN_LIST ? targets->count : 1); t++) {
      const struct foreign *item = targets->kind == FOREIGN_LIST ? &targets->items[t] : targets;
      const char *target = foreign_text(item);
      const char *slash = target != NULL ? strchr(target, '/') : NULL;
      bool same = slash != NULL && strlen(node) == (size_t)(slash - target) &&
                  strncmp(node, target, strlen(node)) == 0 && strcmp(slash + 1, tensor) == 0;
      if (same) {
        *found = true;
        return find_port(graph, item, flow->keys[i], out);
      }
    }
  }
  return status_ok();
}

/* --- what a tensor means ------------------------------------------------------------------------------ */

/* Units of Isaac's own quantities. Of joints nothing says whether they turn or slide, so their unit stays open. */
static const struct {
  const char *kind, *unit; /* unit NULL: none, or mixed */
} units[] = {
    {"state/body/position", "m"},
    {"state/body/linear_velocity", "m/s"},
    {"state/body/angular_velocity", "rad/s"},
    {"state/body/linear_acceleration", "m/s²"},
    {"state/body/angular_acceleration", "rad/s²"},
    {"state/body/rotation", NULL},
    {"state/body/pose", NULL},
    {"state/body/velocity", NULL},
    {"state/body/acceleration", NULL},
    {"state/wrench", NULL},
    {"command/body/rotation", NULL},
    {"command/body/velocity", NULL},
    {"command/body/pose", NULL},
    {"target/body/position", "m"},
    {"target/body/linear_velocity", "m/s"},
    {"target/body/linear_acceleration", "m/s²"},
    {"target/body/angular_acceleration", "rad/s²"},
};

static bool unit_of(const char *kind, const char **unit) {
  for (size_t i = 0; kind != NULL && i < sizeof units / sizeof *units; i++) {
    if (strcmp(units[i].kind, kind) == 0) {
      *unit = units[i].unit;
      return true;
    }
  }
  return false;
}

/* The last size of the shape, and how many sizes it has. -1 where it is not a number. */
static int64_t last_size(const struct foreign *tensor, int32_t *rank) {
  const struct foreign *shape = foreign_get(tensor, "shape");
  int64_t size = -1;
  *rank = shape != NULL && shape->kind == FOREIGN_LIST ? shape->count : -1;
  if (*rank > 0 && !foreign_whole(&shape->items[*rank - 1], &size)) {
    size = -1;
  }
  return size;
}

/* The names along the last axis; NULL when they are none, or not as many as it has. */
static const struct foreign *element_names(const struct foreign *tensor) {
  int32_t rank;
  int64_t size = last_size(tensor, &rank);
  const struct foreign *names = foreign_get(tensor, "element_names");
  if (names == NULL || names->kind != FOREIGN_LIST || names->count == 0) {
    return NULL;
  }
  const struct foreign *last = &names->items[names->count - 1];
  const struct foreign *list = last->kind == FOREIGN_LIST ? last : names;
  return list->count == size && list->items[0].kind == FOREIGN_SCALAR ? list : NULL;
}

/* The axis that is time; -1 when none is. */
static int32_t time_axis(const struct foreign *tensor) {
  const struct foreign *names = foreign_get(tensor, "element_names");
  for (int32_t i = 0; names != NULL && names->kind == FOREIGN_LIST && i < names->count; i++) {
    const char *text = foreign_text(&names->items[i]);
    if (text != NULL && strcmp(text, "__temporal_axis__") == 0) {
      return i;
    }
  }
  return -1;
}

/* An input whose elements have names is a term of its own name. */
static assay_status give_term(const struct graph *graph, const struct foreign *tensor, const char *name,
                              struct fact_input *input, const struct foreign *list) {
  struct import *import = graph->import;
  const char *const *names;
  int32_t count;
  struct place place = import_place(import, list);
  TRY(import_words(import, list, "element_names", &names, &count));
  TRY(facts_terms(import->facts, input, place, &name, &place, 1));
  TRY(facts_words(import->facts, &input->terms[0].elements, "the elements", place, names, count));
  const char *unit = NULL;
  const struct foreign *kind = foreign_get(tensor, "kind");
  bool known = unit_of(kind != NULL ? foreign_text(kind) : NULL, &unit);
  input->terms[0].unitless = known && unit == NULL;
  return unit != NULL ? facts_text(import->facts, &input->terms[0].unit, "the unit", import_place(import, kind), unit)
                      : status_ok();
}

static assay_status give_input(const struct graph *graph, const struct foreign *tensor, const char *name) {
  struct import *import = graph->import;
  struct fact_input *input;
  TRY(facts_input(import->facts, import_place(import, tensor), name, &input));
  int32_t rank;
  (void)last_size(tensor, &rank);
  const struct foreign *list = element_names(tensor);
  if (list != NULL && rank <= 2 && time_axis(tensor) < 0) {
    return give_term(graph, tensor, name, input, list);
  }
  const char *unit = NULL;
  const struct foreign *kind = foreign_get(tensor, "kind");
  (void)unit_of(kind != NULL ? foreign_text(kind) : NULL, &unit);
  return unit != NULL ? facts_text(import->facts, &input->unit, "the unit", import_place(import, kind), unit)
                      : status_ok();
}

static assay_status give_axes(const struct graph *graph, const struct foreign *tensor, struct fact_output *output) {
  enum { AXES_MAX = 8 };
  struct import *import = graph->import;
  int32_t rank, time = time_axis(tensor);
  (void)last_size(tensor, &rank);
  if (time < 0 || rank < 2 || rank > AXES_MAX || time >= rank - 1) {
    return status_ok();
  }
  static const char *const other[AXES_MAX] = {"batch", "axis_1", "axis_2", "axis_3", "axis_4", "axis_5", "axis_6"};
  const char *axes[AXES_MAX];
  for (int32_t i = 0; i < rank; i++) {
    axes[i] = i == rank - 1 ? "component" : i == time ? "horizon" : other[i];
  }
  return facts_words(import->facts, &output->axes, "the axes",
                     import_place(import, foreign_get(tensor, "element_names")), axes, rank);
}

static assay_status give_output(const struct graph *graph, const struct foreign *tensor, const char *name) {
  struct import *import = graph->import;
  struct fact_output *output;
  TRY(facts_output(import->facts, import_place(import, tensor), name, &output));
  const struct foreign *list = element_names(tensor), *kind = foreign_get(tensor, "kind");
  if (list != NULL) {
    const char *const *names;
    int32_t count;
    TRY(import_words(import, list, "element_names", &names, &count));
    TRY(facts_words(import->facts, &output->components, "the components", import_place(import, list), names, count));
  }
  const char *unit = NULL;
  if (unit_of(kind != NULL ? foreign_text(kind) : NULL, &unit) && unit != NULL) {
    TRY(facts_words(import->facts, &output->units, "the unit", import_place(import, kind), &unit, 1));
  }
  return give_axes(graph, tensor, output);
}

/* --- the graph ------------------------------------------------------------------------------------------ */

static assay_status tensor_list(const struct graph *graph, const struct foreign *node, const char *key,
                                const struct foreign **out) {
  TRY(import_get(graph->import, node, key, out));
  if (*out == NULL || (*out)->kind != FOREIGN_LIST) {
    return import_error(graph->import, *out != NULL ? *out : node, "'%s' of a node is not a list of tensors", key);
  }
  return status_ok();
}

static assay_status tensor_name(const struct graph *graph, const struct foreign *tensor, const char **out) {
  const struct foreign *name;
  TRY(import_get(graph->import, tensor, "name", &name));
  *out = name != NULL ? foreign_text(name) : NULL;
  return *out != NULL ? status_ok() : import_error(graph->import, tensor, "a tensor has no 'name'");
}

/* What comes back at the next step starts with a value of the file that `initial_values` names. */
static assay_status give_state(const struct graph *graph, const struct foreign *tensor, const char *node,
                               const char *name, const char *output) {
  struct import *import = graph->import;
  const struct foreign *file;
  TRY(import_get(import, graph->pipeline, "initial_values", &file));
  const char *path = file != NULL ? foreign_text(file) : NULL;
  if (path == NULL) {
    return facts_state(import->facts, import_place(import, tensor), name, output, NULL);
  }
  struct text initial = {0}, key = {0};
  text_format(&key, "%s/%s", node, name);
  assay_status status = import_file_beside(import, file, path, &initial);
  text_add(&initial, ", key: ");
  yaml_write_scalar(&initial, text_string(&key));
  text_add(&initial, "}");
  if (assay_status_ok(status)) {
    char *copy = arena_string(import->arena, text_string(&initial));
    status = initial.failed || key.failed || copy == NULL
                 ? status_no_memory(strlen(path))
                 : facts_state(import->facts, import_place(import, tensor), name, output, copy);
  }
  text_free(&initial);
  text_free(&key);
  return status;
}

/* An input is fed by an earlier node, comes back from the step before, or comes from outside. */
static assay_status read_input(const struct graph *graph, const struct foreign *tensor, const char *node,
                               struct fact_stage *stage) {
  struct port feeder;
  bool forward, back;
  const char *name;
  TRY(tensor_name(graph, tensor, &name));
  TRY(find_feeder(graph, "data_flow", node, name, &feeder, &forward));
  if (forward) {
    return facts_link(graph->import->facts, stage, FACT_LINK_INPUT, name, feeder.tensor);
  }
  TRY(facts_link(graph->import->facts, stage, FACT_LINK_INPUT, name, name));
  TRY(find_feeder(graph, "feedback_flow", node, name, &feeder, &back));
  if (back) {
    return give_state(graph, tensor, node, name, feeder.tensor);
  }
  return give_input(graph, tensor, name);
}

/* Whether an output leaves the graph. */
static bool leaves(const struct graph *graph, const char *node, const char *tensor) {
  const struct foreign *list = foreign_get(foreign_get(graph->pipeline, "outputs"), node);
  for (int32_t i = 0; list != NULL && list->kind == FOREIGN_LIST && i < list->count; i++) {
    const char *name = foreign_text(&list->items[i]);
    if (name != NULL && strcmp(name, tensor) == 0) {
      return true;
    }
  }
  return false;
}

static assay_status read_node(const struct graph *graph, int32_t i) {
  struct import *import = graph->import;
  const struct foreign *node = &graph->models->items[i], *inputs, *outputs;
  const char *name = graph->models->keys[i], *path = foreign_text(foreign_at(node, "parameters/model_path"));
  TRY(tensor_list(graph, node, "inputs", &inputs));
  TRY(tensor_list(graph, node, "outputs", &outputs));
  struct fact_stage *stage;
  TRY(facts_stage(import->facts, import_place_at(import, graph->models->key_marks[i]), name, path != NULL ? path : name,
                  &stage));
  for (int32_t t = 0; t < inputs->count; t++) {
    TRY(read_input(graph, &inputs->items[t], name, stage));
  }
  for (int32_t t = 0; t < outputs->count; t++) {
    const char *tensor;
    TRY(tensor_name(graph, &outputs->items[t], &tensor));
    TRY(facts_link(import->facts, stage, FACT_LINK_OUTPUT, tensor, tensor));
    if (leaves(graph, name, tensor)) {
      TRY(give_output(graph, &outputs->items[t], tensor));
    }
  }
  return status_ok();
}

static assay_status read_period(const struct graph *graph) {
  const struct foreign *rate = foreign_at(graph->pipeline, "configs/frequency");
  if (rate == NULL || rate->kind == FOREIGN_NULL) {
    return status_ok();
  }
  double hertz;
  TRY(import_number(graph->import, rate, "frequency", &hertz));
  if (!(hertz > 0)) {
    return import_error(graph->import, rate, "'frequency' is %g, which is no rate", hertz);
  }
  return facts_number(graph->import->facts, &graph->import->facts->period_ms, "the control period",
                      import_place(graph->import, rate), 1000 / hertz);
}

assay_status leapp_read(struct import *import) {
  struct graph graph = {.import = import, .root = import->file->yaml.documents};
  TRY(import_get(import, graph.root, "models", &graph.models));
  TRY(import_get(import, graph.root, "pipeline", &graph.pipeline));
  if (!is_map(graph.models) || graph.models->count == 0 || !is_map(graph.pipeline)) {
    return import_error(import, graph.root, "'models' and 'pipeline' are not the mappings that LEAPP writes");
  }
  for (int32_t i = 0; i < graph.models->count; i++) {
    TRY(read_node(&graph, i));
  }
  return read_period(&graph);
}
