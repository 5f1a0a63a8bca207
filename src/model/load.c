/* From the scanned bytes to a model. protobuf-c sees only the short copy that the scan made. */
#include "model/load.h"

#include <string.h>

#include "core/memory.h"

/* --- messages and texts ------------------------------------------------------------ */

assay_status load_fail(const struct loader *loader, assay_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  assay_status status = status_make_va(code, loader->where, format, arguments);
  va_end(arguments);
  return status;
}

assay_status load_warn(struct loader *loader, assay_code code, const char *format, ...) {
  enum { WARNINGS_MAX = 1000 }; /* what more would say nobody reads */
  struct model *model = loader->model;
  if (model->n_warnings == WARNINGS_MAX) {
    return status_ok();
  }
  if (model->n_warnings == loader->warning_capacity) {
    int32_t capacity = loader->warning_capacity == 0 ? 8 : loader->warning_capacity * 2;
    struct model_warning *grown;
    ARENA_NEW(loader->arena, grown, capacity);
    if (model->n_warnings > 0) {
      memcpy(grown, model->warnings, (size_t)model->n_warnings * sizeof *grown);
    }
    model->warnings = grown;
    loader->warning_capacity = capacity;
  }
  va_list arguments;
  va_start(arguments, format);
  struct model_warning warning = {code, arena_string(loader->arena, loader->where),
                                  arena_format_va(loader->arena, format, arguments)};
  va_end(arguments);
  if (warning.where == NULL || warning.sentence == NULL) {
    return status_no_memory(strlen(format));
  }
  model->warnings[model->n_warnings++] = warning;
  return status_ok();
}

assay_status load_text(struct loader *loader, const char *text, const char **out) {
  if (text == NULL || text[0] == '\0') {
    *out = "";
    return status_ok();
  }
  *out = arena_string(loader->arena, text);
  return *out == NULL ? status_no_memory(strlen(text)) : status_ok();
}

const char *load_domain(const char *domain) { return domain == NULL || text_equal(domain, "ai.onnx") ? "" : domain; }

/* --- protobuf-c -------------------------------------------------------------------------- */

static void *unpack_alloc(void *failed, size_t size) {
  void *block = memory_alloc(1, size);
  *(bool *)failed = *(bool *)failed || block == NULL;
  return block;
}

static void unpack_free(void *failed, void *block) {
  (void)failed;
  memory_free(block);
}

static assay_status unpack(const struct loader *loader, bool *failed, ProtobufCAllocator *allocator,
                           Onnx__ModelProto **out) {
  *allocator = (ProtobufCAllocator){unpack_alloc, unpack_free, failed};
  *out = onnx__model_proto__unpack(allocator, loader->scan->slim_size, loader->scan->slim);
  if (*out != NULL) {
    return status_ok();
  }
  if (*failed) {
    return status_no_memory(loader->scan->slim_size);
  }
  return load_fail(loader, ASSAY_MODEL_INVALID, "it is not a well-formed ModelProto; export the model again");
}

/* --- the model ------------------------------------------------------------------------------ */

static assay_status load_metadata(struct loader *loader, const Onnx__ModelProto *proto) {
  struct model *model = loader->model;
  ARENA_NEW(loader->arena, model->metadata, proto->n_metadata_props);
  for (size_t i = 0; i < proto->n_metadata_props; i++) {
    TRY(load_text(loader, proto->metadata_props[i]->key, &model->metadata[i].key));
    TRY(load_text(loader, proto->metadata_props[i]->value, &model->metadata[i].value));
    model->n_metadata++;
  }
  return status_ok();
}

static assay_status load_header(struct loader *loader, const Onnx__ModelProto *proto) {
  struct model *model = loader->model;
  model->ir_version = proto->ir_version;
  model->model_version = proto->model_version;
  TRY(load_text(loader, proto->producer_name, &model->producer_name));
  TRY(load_text(loader, proto->producer_version, &model->producer_version));
  TRY(load_text(loader, proto->domain, &model->domain));
  TRY(load_text(loader, proto->doc_string, &model->doc));
  TRY(load_metadata(loader, proto));
  TRY(load_opsets(loader, proto->n_opset_import, proto->opset_import, "the model", &model->opsets, &model->n_opsets));
  if (model->n_opsets == 0 && model->ir_version < 3) {
    ARENA_NEW(loader->arena, model->opsets, 1); /* before IR version 3 there was one operator set */
    model->opsets[0] = (struct opset_import){"", 1};
    model->n_opsets = 1;
  }
  if (model->n_opsets == 0) {
    return load_fail(loader, ASSAY_OPSET_MISSING,
                     "the model imports no operator set, so that no operator's version is known; export it again");
  }
  return status_ok();
}

static assay_status note_passed_over(struct loader *loader) {
  if (loader->scan->has_training) {
    TRY(load_warn(loader, ASSAY_MODEL_TRAINING_IGNORED, "the file holds training graphs, which were passed over"));
  }
  if (loader->scan->has_unknown) {
    TRY(load_warn(loader, ASSAY_MODEL_UNKNOWN_FIELDS,
                  "the file holds fields that ONNX does not define up to IR version %d; they were passed over",
                  MODEL_IR_MAX));
  }
  return status_ok();
}

static assay_status reserve_labels(struct loader *loader, const Onnx__ModelProto *proto) {
  TRY(load_reserve_labels(loader, proto->graph->n_node, proto->graph->node));
  for (size_t i = 0; i < proto->n_functions; i++) {
    TRY(load_reserve_labels(loader, proto->functions[i]->n_node, proto->functions[i]->node));
  }
  return status_ok();
}

static assay_status build(struct loader *loader, const Onnx__ModelProto *proto) {
  TRY(load_header(loader, proto));
  if (proto->graph == NULL) {
    return load_fail(loader, ASSAY_GRAPH_EMPTY, "there is no graph in it; export the model again");
  }
  TRY(note_passed_over(loader));
  TRY(reserve_labels(loader, proto));
  TRY(load_functions(loader, proto));
  TRY(load_main_graph(loader, proto->graph));
  return load_check_calls(loader);
}

assay_status load_model(struct loader *loader) {
  Onnx__ModelProto *proto;
  ProtobufCAllocator allocator;
  bool failed = false;
  TRY(unpack(loader, &failed, &allocator, &proto));
  names_begin(&loader->labels, &loader->scratch);
  names_begin(&loader->external, &loader->scratch);
  assay_status status = build(loader, proto);
  onnx__model_proto__free_unpacked(proto, &allocator);
  arena_free(&loader->scratch);
  return status;
}
