/* `assay inspect MODEL`: what the policy is: inputs and outputs, parameters by module, weights that nothing
 * depends on, operators, multiply-adds, bytes. It judges nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/model_text.h"
#include "core/hash.h"
#include "engine/fold.h"
#include "model/summary.h"

enum { SHAPES_MAX = 256, DEAD_SHOWN = 10 };

struct inspect {
  struct cli *cli;
  struct arena arena;
  const char *path, *depth_text;
  const char *shape_texts[SHAPES_MAX];
  int n_shapes;
  struct model *model, *flat;
  struct shapes shapes; /* with the dimensions as they are */
  struct model_summary summary;
  struct cost_summary cost;
  struct text assumed;             /* dimensions that were taken as 1 for the costs */
  assay_status inference, costing; /* why shapes, or costs, are not known */
  bool has_shapes, has_costs;
  char file_digest[HASH_TEXT_SIZE], graph_digest[GRAPH_DIGEST_SIZE];
};

/* --- shapes that the caller gives -------------------------------------------------- */

static assay_status parse_shape(struct inspect *inspect, const char *text, struct shape_binding *out) {
  const char *equals = strrchr(text, '=');
  int64_t *dims;
  ARENA_NEW(&inspect->arena, dims, ASSAY_RANK_MAX);
  if (equals == NULL || equals == text) {
    return status_make(ASSAY_USAGE, NULL, "--shape is '%s'; it must be NAME=1,3,96", text);
  }
  out->input = arena_copy(&inspect->arena, text, (size_t)(equals - text));
  out->rank = 0;
  out->dims = dims;
  for (const char *at = equals + 1; out->input != NULL && *at != '\0';) {
    char *end;
    long long value = strtoll(at, &end, 10);
    if (end == at || value < 0 || (*end != ',' && *end != '\0') || out->rank == ASSAY_RANK_MAX) {
      return status_make(ASSAY_USAGE, NULL, "--shape is '%s'; it must be NAME=1,3,96, with up to %d numbers", text,
                         ASSAY_RANK_MAX);
    }
    dims[out->rank++] = value;
    at = end + (*end == ',');
  }
  return out->input == NULL ? status_no_memory(strlen(text)) : status_ok();
}

static bool is_bound(const struct shape_binding *bindings, int32_t n, const char *name) {
  for (int32_t i = 0; i < n; i++) {
    if (text_equal(bindings[i].input, name)) {
      return true;
    }
  }
  return false;
}

/* The number that a given shape has for the symbol; 1 when none has it. */
static int64_t number_of_symbol(const struct graph *graph, const struct shape_binding *bindings, int32_t n,
                                const char *symbol) {
  for (int32_t i = 0; i < n && symbol != NULL; i++) {
    int32_t number = graph_find_value(graph, bindings[i].input);
    const struct value_type *type = number >= 0 ? &graph->values[number].declared : NULL;
    for (int32_t k = 0; type != NULL && k < type->rank && k < bindings[i].rank; k++) {
      if (type->dims[k].value < 0 && type->dims[k].symbol != NULL && text_equal(type->dims[k].symbol, symbol)) {
        return bindings[i].dims[k];
      }
    }
  }
  return 1;
}

/* Costs need numbers: what no given shape fixes is taken as 1, and said. */
static assay_status bind_rest(struct inspect *inspect, struct shape_binding *bindings, int32_t given, int32_t *n) {
  const struct graph *graph = inspect->flat->graph;
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    const struct value *value = &graph->values[graph->inputs[i]];
    if (value->declared.rank == RANK_UNKNOWN || value->initializer >= 0 || is_bound(bindings, given, value->name)) {
      continue;
    }
    int64_t *dims;
    ARENA_NEW(&inspect->arena, dims, ASSAY_RANK_MAX);
    for (int32_t k = 0; k < value->declared.rank; k++) {
      const struct dim *dim = &value->declared.dims[k];
      dims[k] = dim->value >= 0 ? dim->value : number_of_symbol(graph, bindings, given, dim->symbol);
      if (dim->value < 0) {
        text_add(&inspect->assumed, inspect->assumed.length > 0 ? ", " : "");
        text_add_shown(&inspect->assumed, value->name);
        text_format(&inspect->assumed, "[%d] = %" PRId64, k, dims[k]);
      }
    }
    bindings[(*n)++] = (struct shape_binding){value->name, value->declared.rank, dims};
  }
  return text_status(&inspect->assumed);
}

/* --- working it out ------------------------------------------------------------------- */

/* With dimensions of 1 a model may not fit together at all: that is told, not a failure. */
static assay_status infer_costs(struct inspect *inspect) {
  struct shape_binding *bindings;
  ARENA_NEW(&inspect->arena, bindings, (size_t)inspect->n_shapes + (size_t)inspect->flat->graph->n_inputs);
  int32_t n = 0;
  for (int i = 0; i < inspect->n_shapes; i++) {
    TRY(parse_shape(inspect, inspect->shape_texts[i], &bindings[n++]));
  }
  TRY(bind_rest(inspect, bindings, n, &n));
  struct shapes shapes;
  const struct shapes_options options = {.bindings = bindings,
                                         .n_bindings = n,
                                         .lenient = true,
                                         .defaults = true,
                                         .visitor = cost_visit,
                                         .user = &inspect->cost};
  inspect->costing = shapes_infer(inspect->flat->graph, fold_schemas(), &options, &inspect->arena, &shapes);
  inspect->has_costs = assay_status_ok(inspect->costing);
  bool given = inspect->n_shapes > 0 && !inspect->has_costs;
  assay_status status = given ? inspect->costing : status_ok();
  if (given) {
    inspect->costing = status_ok();
  }
  return status;
}

static assay_status work_out(struct inspect *inspect, int depth) {
  TRY(model_open(inspect->path, NULL, &inspect->model));
  TRY(model_inline(inspect->model, &inspect->flat));
  TRY(model_summarize(inspect->flat, depth, &inspect->arena, &inspect->summary));
  TRY(hash_file(inspect->path, inspect->file_digest));
  TRY(model_digest(inspect->model, inspect->graph_digest));
  const struct shapes_options options = {.lenient = true, .defaults = true};
  inspect->inference = shapes_infer(inspect->flat->graph, fold_schemas(), &options, &inspect->arena, &inspect->shapes);
  inspect->has_shapes = assay_status_ok(inspect->inference);
  return inspect->has_shapes ? infer_costs(inspect) : status_ok();
}

/* --- text ------------------------------------------------------------------------------- */

enum { METADATA_SHOWN = 200 };

static void add_metadata(const struct metadata *entry, struct text *out) {
  char value[METADATA_SHOWN + 1];
  snprintf(value, sizeof value, "%s", entry->value);
  text_add(out, "  metadata ");
  text_add_shown(out, entry->key);
  text_add(out, ": ");
  text_add_shown(out, value);
  text_add(out, strlen(entry->value) > METADATA_SHOWN ? "...\n" : "\n");
}

static void add_head(const struct inspect *inspect, struct text *out) {
  const struct model *model = inspect->model;
  text_add_shown(out, inspect->path);
  text_format(out, "\n  IR version %" PRId64 ", opsets ", model->ir_version);
  model_text_opsets(model->opsets, model->n_opsets, out);
  if (model->producer_name[0] != '\0') {
    text_add(out, ", made by ");
    text_add_shown(out, model->producer_name);
    text_add_char(out, ' ');
    text_add_shown(out, model->producer_version);
  }
  text_format(out, "\n  file %s\n  %s\n", inspect->file_digest, inspect->graph_digest);
  for (int32_t i = 0; i < model->n_metadata; i++) {
    add_metadata(&model->metadata[i], out);
  }
  for (int32_t i = 0; i < model->n_functions; i++) {
    const struct function *function = &model->functions[i];
    text_add(out, "  function ");
    text_add_shown(out, function->name);
    text_add(out, " of ");
    text_add_shown(out, function->domain);
    text_format(out, ": %d nodes, %d inputs, %d outputs\n", function->body->n_nodes, function->body->n_inputs,
                function->body->n_outputs);
  }
  model_text_ends(inspect->flat->graph, inspect->has_shapes ? &inspect->shapes : NULL, out);
}

static double share(int64_t part, int64_t whole) { return whole > 0 ? 100.0 * (double)part / (double)whole : 0; }

static void add_parameters(const struct inspect *inspect, struct text *out) {
  const struct model_summary *summary = &inspect->summary;
  text_add(out, "\nparameters: ");
  text_add_grouped(out, summary->parameters);
  text_add(out, " in ");
  text_add_size(out, (double)summary->bytes, "B");
  text_format(out, ", %d weights\n", summary->n_weights);
  text_format(out, "  %-40s %14s %7s\n", "module", "parameters", "share");
  for (int32_t i = 0; i < summary->n_modules; i++) {
    const struct module_summary *module = &summary->modules[i];
    struct text number = {0};
    text_add_grouped(&number, module->parameters);
    text_add(out, "  ");
    text_add_padded(out, module->name[0] != '\0' ? module->name : "(no scope)", 40);
    text_format(out, " %14s %6.2f%%%s\n", text_string(&number), share(module->parameters, summary->parameters),
                module->dead == module->parameters && module->dead > 0 ? "  dead" : "");
    text_free(&number);
  }
  text_add(out, "dead parameters (no output depends on them): ");
  text_add_grouped(out, summary->dead);
  text_format(out, " (%.1f%%)\n", share(summary->dead, summary->parameters));
  for (int32_t i = 0; i < summary->n_dead && i < DEAD_SHOWN; i++) {
    text_add(out, "  ");
    text_add_shown(out, summary->dead_weights[i].name);
    text_add(out, ": ");
    text_add_grouped(out, summary->dead_weights[i].parameters);
    text_add_char(out, '\n');
  }
  if (summary->n_dead > DEAD_SHOWN) {
    text_format(out, "  and %d more; --json lists them\n", summary->n_dead - DEAD_SHOWN);
  }
}

static void add_operators(const struct inspect *inspect, struct text *out) {
  text_format(out, "\noperators: %d nodes\n ", inspect->summary.n_nodes);
  for (int32_t i = 0; i < inspect->summary.n_operators; i++) {
    const struct operator_summary *row = &inspect->summary.operators[i];
    text_add_char(out, ' ');
    text_add_shown(out, row->domain);
    text_add(out, row->domain[0] != '\0' ? "." : "");
    text_add_shown(out, row->op_type);
    text_format(out, " %d%s", row->count, i + 1 < inspect->summary.n_operators ? "," : "\n");
  }
}

static const char *cost_reason(const struct inspect *inspect) {
  return assay_status_sentence(inspect->has_shapes ? inspect->costing : inspect->inference);
}

static void add_costs(const struct inspect *inspect, struct text *out) {
  const struct cost_summary *cost = &inspect->cost;
  if (!inspect->has_costs) {
    text_add(out, "\nmultiply-adds: not known: ");
    text_add_shown(out, cost_reason(inspect));
    text_add_char(out, '\n');
    if (inspect->assumed.length > 0) {
      text_format(out, "  with %s; --shape gives others\n", text_string(&inspect->assumed));
    }
    return;
  }
  text_add(out, "\nmultiply-adds: ");
  text_add_size(out, cost->multiply_adds, "");
  for (int32_t i = 0; i < cost->n_operators; i++) {
    text_add(out, i == 0 ? " (" : ", ");
    text_add_shown(out, cost->by_operator[i].op_type);
    text_add_char(out, ' ');
    text_add_size(out, cost->by_operator[i].multiply_adds, "");
  }
  text_add(out, cost->n_operators > 0 ? ")\n" : "\n");
  text_add(out, "FLOPs: ");
  text_add_size(out, 2 * cost->multiply_adds, "");
  text_add(out, " (two for each multiply-add)\n");
  if (inspect->assumed.length > 0) {
    text_format(out, "  with %s; --shape gives others\n", text_string(&inspect->assumed));
  }
  if (cost->n_unknown > 0) {
    text_format(out, "  %d nodes are not counted, since their shapes are not known\n", cost->n_unknown);
  }
  if (cost->n_repeated > 0) {
    text_format(out, "  the bodies of %d loops are counted once\n", cost->n_repeated);
  }
  if (cost->n_branches > 0) {
    text_format(out, "  both branches of %d If nodes are counted\n", cost->n_branches);
  }
}

static assay_status show_text(const struct inspect *inspect) {
  struct text text = {0};
  add_head(inspect, &text);
  add_parameters(inspect, &text);
  add_operators(inspect, &text);
  add_costs(inspect, &text);
  fputs(text_string(&text), stdout);
  assay_status status = text_status(&text);
  text_free(&text);
  return status;
}

/* --- JSON ----------------------------------------------------------------------------------- */

static json_t *json_modules(const struct model_summary *summary) {
  json_t *list = json_array();
  for (int32_t i = 0; i < summary->n_modules; i++) {
    const struct module_summary *module = &summary->modules[i];
    json_array_append_new(
        list, json_pack("{s:s, s:I, s:I, s:I}", "name", module->name, "parameters", (json_int_t)module->parameters,
                        "dead", (json_int_t)module->dead, "bytes", (json_int_t)module->bytes));
  }
  return list;
}

static json_t *json_dead(const struct model_summary *summary) {
  json_t *list = json_array();
  for (int32_t i = 0; i < summary->n_dead; i++) {
    json_array_append_new(list, json_pack("{s:s, s:I}", "name", summary->dead_weights[i].name, "parameters",
                                          (json_int_t)summary->dead_weights[i].parameters));
  }
  return list;
}

static json_t *json_operators(const struct model_summary *summary) {
  json_t *list = json_array();
  for (int32_t i = 0; i < summary->n_operators; i++) {
    const struct operator_summary *row = &summary->operators[i];
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:I, s:i}", "domain", row->domain[0] == '\0' ? "ai.onnx" : row->domain, "operator",
                        row->op_type, "opset", (json_int_t)row->opset, "count", row->count));
  }
  return list;
}

static json_t *json_functions(const struct model *model) {
  json_t *list = json_array();
  for (int32_t i = 0; i < model->n_functions; i++) {
    const struct function *function = &model->functions[i];
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i}", "domain", function->domain, "name", function->name,
                                          "overload", function->overload, "nodes", function->body->n_nodes));
  }
  return list;
}

/* A list of pairs, since a file may give a key twice. */
static json_t *json_metadata(const struct model *model) {
  json_t *list = json_array();
  for (int32_t i = 0; i < model->n_metadata; i++) {
    json_array_append_new(list,
                          json_pack("{s:s, s:s}", "key", model->metadata[i].key, "value", model->metadata[i].value));
  }
  return list;
}

static json_t *json_costs(const struct inspect *inspect) {
  const struct cost_summary *cost = &inspect->cost;
  if (!inspect->has_costs) {
    return json_pack("{s:n, s:s, s:s}", "multiply_adds", "reason", cost_reason(inspect), "assumed",
                     text_string(&inspect->assumed));
  }
  json_t *by_operator = json_object();
  for (int32_t i = 0; i < cost->n_operators; i++) {
    json_object_set_new(by_operator, cost->by_operator[i].op_type, json_real(cost->by_operator[i].multiply_adds));
  }
  return json_pack("{s:f, s:f, s:o, s:s, s:i, s:i, s:i}", "multiply_adds", cost->multiply_adds, "flops",
                   2 * cost->multiply_adds, "by_operator", by_operator, "assumed", text_string(&inspect->assumed),
                   "nodes_not_counted", cost->n_unknown, "loops_counted_once", cost->n_repeated,
                   "branches_counted_both", cost->n_branches);
}

static assay_status show_json(const struct inspect *inspect) {
  const struct model *model = inspect->model;
  const struct graph *graph = inspect->flat->graph;
  const struct model_summary *summary = &inspect->summary;
  const struct shapes *shapes = inspect->has_shapes ? &inspect->shapes : NULL;
  json_t *report = json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:s}", "schema", "assay-inspect-1", "model", inspect->path,
                             "file_digest", inspect->file_digest, "graph_digest", inspect->graph_digest, "ir_version",
                             (json_int_t)model->ir_version, "producer", model->producer_name, "producer_version",
                             model->producer_version);
  if (report != NULL) {
    json_object_set_new(report, "opsets", model_json_opsets(model->opsets, model->n_opsets));
    json_object_set_new(report, "metadata", json_metadata(model));
    json_object_set_new(report, "functions", json_functions(model));
    json_object_set_new(report, "inputs", model_json_ends(graph, shapes, graph->inputs, graph->n_inputs));
    json_object_set_new(report, "outputs", model_json_ends(graph, shapes, graph->outputs, graph->n_outputs));
    json_object_set_new(report, "parameters", json_integer(summary->parameters));
    json_object_set_new(report, "parameter_bytes", json_integer((json_int_t)summary->bytes));
    json_object_set_new(report, "dead_parameters", json_integer(summary->dead));
    json_object_set_new(report, "dead_weights", json_dead(summary));
    json_object_set_new(report, "modules", json_modules(summary));
    json_object_set_new(report, "nodes", json_integer(summary->n_nodes));
    json_object_set_new(report, "operators", json_operators(summary));
    json_object_set_new(report, "costs", json_costs(inspect));
  }
  return json_print(report);
}

/* --- the command -------------------------------------------------------------------------------- */

static assay_status parse_depth(const char *text, int *out) {
  char *end;
  long value = text == NULL ? 2 : strtol(text, &end, 10);
  if (text != NULL && (end == text || *end != '\0' || value < 1 || value > 100)) {
    return status_make(ASSAY_USAGE, NULL, "--depth is '%s'; it must be a whole number from 1 to 100", text);
  }
  *out = (int)value;
  return status_ok();
}

int command_inspect(struct cli *cli, int argc, char **argv) {
  struct inspect inspect = {.cli = cli};
  const struct cli_option options[] = {
      {.name = "depth",
       .argument = "N",
       .help = "parts of a module's name to count by (2)",
       .value = &inspect.depth_text},
      {.name = "shape",
       .argument = "NAME=1,3,96",
       .help = "shape of an input, for the multiply-adds",
       .many = inspect.shape_texts,
       .count = &inspect.n_shapes,
       .capacity = SHAPES_MAX},
  };
  int n = 0, depth = 0;
  bool done = false;
  assay_status status =
      cli_options(cli, argc, argv, options, sizeof options / sizeof *options, "inspect MODEL [options]",
                  "Shows what a model is: parameters by module, operators, shapes, multiply-adds, bytes.", &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 1) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "inspect takes one model; see `assay inspect --help`"));
  }
  inspect.path = argv[0];
  status = parse_depth(inspect.depth_text, &depth);
  if (assay_status_ok(status)) {
    status = work_out(&inspect, depth);
  }
  if (assay_status_ok(status)) {
    status = cli->json ? show_json(&inspect) : show_text(&inspect);
  }
  assay_status_clear(&inspect.inference);
  assay_status_clear(&inspect.costing);
  text_free(&inspect.assumed);
  model_close(inspect.flat);
  model_close(inspect.model);
  arena_free(&inspect.arena);
  return cli_finish(status);
}
