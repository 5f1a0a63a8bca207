/* Which node ran where, as ONNX Runtime itself says: by asking it, or from a profile of one run. What it does not say
 * stays unknown; nothing is inferred from the provider that was asked for. */
#include <jansson.h>
#include <string.h>

#include "core/memory.h"
#include "rung/onnxruntime_rung.h"

/* A growing list; the last answer for a node stands. */
struct placing {
  struct arena *arena;
  struct rung_placement *items;
  int32_t count, capacity;
};

static assay_status add(struct placing *placing, const char *node, const char *provider) {
  for (int32_t i = placing->count; i > 0; i--) {
    if (strcmp(placing->items[i - 1].node, node) == 0) {
      return status_ok(); /* a profile says it once a kernel */
    }
  }
  if (placing->count == placing->capacity) {
    int32_t larger = placing->capacity == 0 ? 64 : placing->capacity * 2;
    struct rung_placement *moved = memory_resize(placing->items, (size_t)larger, sizeof *moved);
    if (moved == NULL) {
      return status_no_memory((size_t)larger * sizeof *moved);
    }
    placing->items = moved;
    placing->capacity = larger;
  }
  struct rung_placement *item = &placing->items[placing->count];
  *item = (struct rung_placement){.node = arena_string(placing->arena, node),
                                  .provider = ort_provider_word(placing->arena, provider)};
  if (item->node == NULL || item->provider == NULL) {
    return status_no_memory(strlen(node));
  }
  placing->count++;
  return status_ok();
}

static assay_status finish(struct placing *placing, assay_status status, const struct rung_placement **out,
                           int32_t *count) {
  struct rung_placement *kept = arena_alloc(placing->arena, (size_t)placing->count + 1, sizeof *kept);
  if (kept == NULL) {
    status = assay_status_ok(status) ? status_no_memory(0) : status;
  } else if (placing->count > 0) {
    memcpy(kept, placing->items, (size_t)placing->count * sizeof *kept);
  }
  memory_free(placing->items);
  *out = kept;
  *count = assay_status_ok(status) ? placing->count : 0;
  return status;
}

/* --- the library's answer ---------------------------------------------------------------- */

static assay_status ask_subgraph(const struct ort_library *library, const ort_subgraph *subgraph,
                                 struct placing *placing) {
  const char *provider = NULL, *name = NULL, *op = NULL;
  const ort_node *const *nodes = NULL;
  size_t count = 0;
  TRY(ort_check(library, library->subgraph_provider(subgraph, &provider), ASSAY_RUNG_FAILED, "saying its placement"));
  TRY(ort_check(library, library->subgraph_nodes(subgraph, &nodes, &count), ASSAY_RUNG_FAILED, "saying its placement"));
  for (size_t i = 0; i < count; i++) {
    TRY(ort_check(library, library->node_name(nodes[i], &name), ASSAY_RUNG_FAILED, "saying its placement"));
    TRY(ort_check(library, library->node_operator(nodes[i], &op), ASSAY_RUNG_FAILED, "saying its placement"));
    TRY(add(placing, name != NULL && *name != '\0' ? name : op, provider));
  }
  return status_ok();
}

assay_status ort_placement_ask(const struct ort_library *library, const ort_session *session, struct arena *arena,
                               const struct rung_placement **out, int32_t *count, bool *known) {
  const ort_subgraph *const *subgraphs = NULL;
  size_t n = 0;
  struct placing placing = {.arena = arena};
  *known = library->api_version >= ORT_API_ASSIGNMENT;
  *out = NULL;
  *count = 0;
  if (!*known) {
    return status_ok();
  }
  assay_status status =
      ort_check(library, library->assignment(session, &subgraphs, &n), ASSAY_RUNG_FAILED, "saying its placement");
  for (size_t i = 0; i < n && assay_status_ok(status); i++) {
    status = ask_subgraph(library, subgraphs[i], &placing);
  }
  return finish(&placing, status, out, count);
}

/* --- a profile ------------------------------------------------------------------------------ */

/* A profile is a list of events. Those of nodes end in "_kernel_time" and carry args.provider. */
static assay_status parse_events(const json_t *events, struct placing *placing) {
  static const char ending[] = "_kernel_time";
  size_t i;
  const json_t *event;
  json_array_foreach(events, i, event) {
    const char *name = json_string_value(json_object_get(event, "name"));
    const char *provider = json_string_value(json_object_get(json_object_get(event, "args"), "provider"));
    size_t length = name != NULL ? strlen(name) : 0, tail = sizeof ending - 1;
    if (provider == NULL || length <= tail || strcmp(name + length - tail, ending) != 0) {
      continue;
    }
    const char *node = arena_copy(placing->arena, name, length - tail);
    if (node == NULL) {
      return status_no_memory(length);
    }
    TRY(add(placing, node, provider));
  }
  return status_ok();
}

assay_status ort_placement_parse(const char *profile, size_t size, struct arena *arena,
                                 const struct rung_placement **out, int32_t *count) {
  json_error_t error;
  struct placing placing = {.arena = arena};
  *out = NULL;
  *count = 0;
  json_t *events = json_loadb(profile, size, 0, &error);
  if (!json_is_array(events)) {
    json_decref(events);
    return status_make(ASSAY_RUNG_FAILED, "profile", "ONNX Runtime's profile cannot be read (line %d: %s)", error.line,
                       error.text);
  }
  assay_status status = parse_events(events, &placing);
  json_decref(events);
  return finish(&placing, status, out, count);
}
