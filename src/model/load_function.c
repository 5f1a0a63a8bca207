/* Opset imports and model-local functions. A function must be callable without recursion, and every call of
 * one must fit it. */
#include <inttypes.h>
#include <string.h>

#include "model/functions.h"
#include "model/load.h"

enum { IMPORTS_MAX = 1000, CALL_DEPTH_MAX = 100 };

/* --- imports -------------------------------------------------------------------- */

static int64_t newest_of(const char *domain) {
  if (domain[0] == '\0') {
    return MODEL_OPSET_MAX;
  }
  return text_equal(domain, "ai.onnx.ml") ? MODEL_OPSET_ML_MAX : INT32_MAX;
}

static assay_status check_import(const struct loader *loader, const struct opset_import *imports, int32_t n,
                                 const char *owner) {
  const struct opset_import *import = &imports[n];
  const char *domain = import->domain[0] == '\0' ? "ai.onnx" : import->domain;
  if (import->version < 1 || import->version > newest_of(import->domain)) {
    return load_fail(loader, ASSAY_OPSET_UNSUPPORTED,
                     "%s imports version %" PRId64 " of domain '%s'; assay knows 1 to %" PRId64
                     ", so export with one of these",
                     owner, import->version, domain, newest_of(import->domain));
  }
  for (int32_t i = 0; i < n; i++) {
    if (text_equal(imports[i].domain, import->domain)) {
      return load_fail(loader, ASSAY_OPSET_DUPLICATE,
                       "%s imports domain '%s' twice (versions %" PRId64 " and %" PRId64 "); keep one", owner, domain,
                       imports[i].version, import->version);
    }
  }
  return status_ok();
}

assay_status load_opsets(struct loader *loader, size_t n, Onnx__OperatorSetIdProto *const *protos, const char *owner,
                         struct opset_import **out, int32_t *n_out) {
  if (n > IMPORTS_MAX) {
    return load_fail(loader, ASSAY_LIMIT_EXCEEDED, "%s imports %zu operator sets; assay takes up to %d", owner, n,
                     IMPORTS_MAX);
  }
  struct opset_import *imports;
  ARENA_NEW(loader->arena, imports, n);
  for (size_t i = 0; i < n; i++) {
    TRY(load_text(loader, load_domain(protos[i]->domain), &imports[i].domain));
    imports[i].version = protos[i]->version;
    TRY(check_import(loader, imports, (int32_t)i, owner));
  }
  *out = imports;
  *n_out = (int32_t)n;
  return status_ok();
}

/* --- functions -------------------------------------------------------------------- */

/* Adds one attribute name to the function's, which must be new. */
static assay_status add_attribute_name(struct loader *loader, const struct function *function, const char *name) {
  if (name[0] == '\0') {
    return load_fail(loader, ASSAY_NAME_INVALID, "an attribute of function '%s' has no name; give it one",
                     function->name);
  }
  if (names_find(loader->attributes, name) >= 0) {
    return load_fail(loader, ASSAY_ATTRIBUTE_DUPLICATE, "function '%s' declares attribute '%s' twice; keep one",
                     function->name, name);
  }
  return names_add(loader->attributes, name, 0);
}

static assay_status load_function_attributes(struct loader *loader, const Onnx__FunctionProto *proto,
                                             struct function *function) {
  ARENA_NEW(loader->arena, function->attributes, proto->n_attribute);
  for (size_t i = 0; i < proto->n_attribute; i++) {
    TRY(load_text(loader, proto->attribute[i], &function->attributes[i]));
    TRY(add_attribute_name(loader, function, function->attributes[i]));
    function->n_attributes++;
  }
  struct attribute *defaults;
  ARENA_NEW(loader->arena, defaults, proto->n_attribute_proto);
  function->defaults = defaults;
  struct scope scope = {.loader = loader, .opsets = function->opsets, .n_opsets = function->n_opsets};
  for (size_t i = 0; i < proto->n_attribute_proto; i++) {
    const Onnx__AttributeProto *attribute = proto->attribute_proto[i];
    if (attribute->g != NULL || attribute->n_graphs > 0) {
      return load_fail(loader, ASSAY_ATTRIBUTE_INVALID,
                       "attribute '%s' of function '%s' has a graph as its default, which ONNX does not allow",
                       attribute->name != NULL ? attribute->name : "", function->name);
    }
    TRY(load_attribute(&scope, attribute, function->name, &defaults[i]));
    TRY(add_attribute_name(loader, function, defaults[i].name));
    function->n_defaults++;
  }
  return status_ok();
}

static assay_status load_function(struct loader *loader, const Onnx__FunctionProto *proto, struct function *out) {
  TRY(load_text(loader, proto->name, &out->name));
  TRY(load_text(loader, load_domain(proto->domain), &out->domain));
  TRY(load_text(loader, proto->overload, &out->overload));
  if (out->name[0] == '\0') {
    return load_fail(loader, ASSAY_NAME_INVALID, "a function of domain '%s' has no name; give it one", out->domain);
  }
  char *owner = arena_format(&loader->scratch, "function '%s'", out->name);
  if (owner == NULL) {
    return status_no_memory(strlen(out->name));
  }
  TRY(load_opsets(loader, proto->n_opset_import, proto->opset_import, owner, (struct opset_import **)&out->opsets,
                  &out->n_opsets));
  struct name_index attributes;
  names_begin(&attributes, &loader->scratch);
  loader->attributes = &attributes;
  assay_status status = load_function_attributes(loader, proto, out);
  if (assay_status_ok(status)) {
    status = status_prefix(load_function_body(loader, proto, out), "in function '%s'", out->name);
  }
  loader->attributes = NULL;
  return status;
}

assay_status load_functions(struct loader *loader, const Onnx__ModelProto *proto) {
  struct model *model = loader->model;
  ARENA_NEW(loader->arena, model->functions, proto->n_functions);
  for (size_t i = 0; i < proto->n_functions; i++) {
    TRY(load_function(loader, proto->functions[i], &model->functions[i]));
    model->n_functions++;
  }
  const struct function *twice = functions_sort(model->functions, model->n_functions);
  if (twice != NULL) {
    return load_fail(loader, ASSAY_FUNCTION_DUPLICATE, "there are two functions '%s' of domain '%s'; remove one",
                     twice->name, twice->domain);
  }
  return status_ok();
}

/* --- calls -------------------------------------------------------------------------- */

static bool declares(const struct function *function, const char *name) {
  for (int32_t i = 0; i < function->n_attributes; i++) {
    if (text_equal(function->attributes[i], name)) {
      return true;
    }
  }
  for (int32_t i = 0; i < function->n_defaults; i++) {
    if (text_equal(function->defaults[i].name, name)) {
      return true;
    }
  }
  return false;
}

static assay_status check_call(const struct loader *loader, const struct node *node, const struct function *function) {
  const struct graph *body = function->body;
  if (node->n_inputs > body->n_inputs || node->n_outputs > body->n_outputs) {
    return load_fail(loader, ASSAY_FUNCTION_CALL_INVALID,
                     "node '%s' calls function '%s' with %d inputs and %d outputs, but it has %d and %d", node->label,
                     function->name, node->n_inputs, node->n_outputs, body->n_inputs, body->n_outputs);
  }
  for (int32_t i = 0; i < function->n_attributes; i++) {
    if (node_attribute(node, function->attributes[i]) == NULL) {
      return load_fail(loader, ASSAY_FUNCTION_ATTRIBUTE_MISSING,
                       "node '%s' calls function '%s' without its attribute '%s', which has no default; give it",
                       node->label, function->name, function->attributes[i]);
    }
  }
  for (int32_t i = 0; i < node->n_attributes; i++) {
    if (!declares(function, node->attributes[i].name)) {
      return load_fail(loader, ASSAY_FUNCTION_CALL_INVALID,
                       "node '%s' gives attribute '%s' to function '%s', which does not have it; remove it",
                       node->label, node->attributes[i].name, function->name);
    }
  }
  return status_ok();
}

/* Of each function: not yet looked at, being looked at, or how deep calls and subgraphs are nested in it. */
enum { DEPTH_UNKNOWN = 0, DEPTH_PENDING = -1 };

static assay_status check_function(struct loader *loader, const struct function *function, int32_t *depths,
                                   int32_t level);

/* Checks the calls of a graph and its subgraphs; *deepest is raised to how deep they are nested in it. `level` is
 * how deep the graph itself lies. */
static assay_status check_graph(struct loader *loader, const struct graph *graph, int32_t *depths, int32_t level,
                                int32_t *deepest) {
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    const struct node *node = &graph->nodes[i];
    const struct function *function = node_function(loader->model, node);
    if (function != NULL) {
      TRY(check_call(loader, node, function));
      TRY(check_function(loader, function, depths, level + 1));
      int32_t depth = depths[function - loader->model->functions];
      *deepest = depth > *deepest ? depth : *deepest;
    }
    for (int32_t k = 0; k < node->n_attributes; k++) {
      for (int32_t g = 0; node->attributes[k].graphs != NULL && g < node->attributes[k].count; g++) {
        int32_t inside = 0;
        TRY(check_graph(loader, node->attributes[k].graphs[g], depths, level + 1, &inside));
        *deepest = inside + 1 > *deepest ? inside + 1 : *deepest;
      }
    }
  }
  return status_ok();
}

static assay_status check_function(struct loader *loader, const struct function *function, int32_t *depths,
                                   int32_t level) {
  int32_t *depth = &depths[function - loader->model->functions];
  if (*depth == DEPTH_PENDING) {
    return load_fail(loader, ASSAY_FUNCTION_RECURSIVE,
                     "function '%s' of domain '%s' calls itself, directly or through others; export the model again",
                     function->name, function->domain);
  }
  if (level > CALL_DEPTH_MAX || *depth > CALL_DEPTH_MAX) {
    return load_fail(loader, ASSAY_LIMIT_EXCEEDED,
                     "calls of functions and subgraphs are nested more than %d deep at function '%s'", CALL_DEPTH_MAX,
                     function->name);
  }
  if (*depth != DEPTH_UNKNOWN) {
    return status_ok();
  }
  *depth = DEPTH_PENDING;
  int32_t deepest = 0;
  TRY(check_graph(loader, function->body, depths, level, &deepest));
  *depth = deepest + 1;
  return status_ok();
}

assay_status load_check_calls(struct loader *loader) {
  const struct model *model = loader->model;
  if (model->n_functions == 0) {
    return status_ok();
  }
  int32_t *depths, deepest = 0;
  ARENA_NEW(&loader->scratch, depths, model->n_functions);
  for (int32_t i = 0; i < model->n_functions; i++) {
    TRY(check_function(loader, &model->functions[i], depths, 0));
  }
  return check_graph(loader, model->graph, depths, 0, &deepest);
}
