/* Drafts `stages`. Which file is which stage, and which tensor is which value, comes from the facts alone. */
#include "contract/draft_stages.h"

#include <string.h>

#include "contract/draft_write.h"
#include "contract/yaml.h"
#include "core/file.h"

/* "encoder" for "models/encoder.onnx". */
static assay_status stem(struct arena *arena, const char *path, const char **out) {
  const char *name = path_name(path), *dot = strrchr(name, '.');
  *out = arena_copy(arena, name, dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name));
  return *out != NULL ? status_ok() : status_no_memory(strlen(name));
}

/* The model that a stage names: by its whole name, or by a part that no other model's name has. -1 otherwise. */
static int32_t find_model(const struct draft *draft, const char *name) {
  int32_t found = -1, n_found = 0;
  for (int32_t i = 0; i < draft->n_models; i++) {
    const char *file = path_name(draft->models[i].path);
    if (text_equal(file, name)) {
      return i;
    }
    if (strstr(file, name) != NULL) {
      found = i;
      n_found++;
    }
  }
  return n_found == 1 ? found : -1;
}

/* --- values ------------------------------------------------------------------------------------------ */

/* The value that a link gives a tensor; a link without a tensor is about the only one. */
static const char *linked(const struct fact_stage *stage, enum fact_link_side side, const char *tensor, int32_t count) {
  for (int32_t i = 0; i < stage->n_links[side]; i++) {
    const struct fact_link *link = &stage->links[side][i];
    if (link->tensor == NULL ? count == 1 : text_equal(link->tensor, tensor)) {
      return link->value;
    }
  }
  return NULL;
}

static assay_status check_links(const struct fact_stage *stage, enum fact_link_side side,
                                const struct signature_tensor *tensors, int32_t count, const char *path) {
  for (int32_t i = 0; i < stage->n_links[side]; i++) {
    const struct fact_link *link = &stage->links[side][i];
    bool found = link->tensor == NULL && count == 1;
    for (int32_t t = 0; link->tensor != NULL && t < count; t++) {
      found = found || text_equal(tensors[t].name, link->tensor);
    }
    if (!found) {
      return import_invalid(stage->place, "the stage '%.60s' has the %s '%.60s', and %.120s has %d others", stage->name,
                            side == FACT_LINK_INPUT ? "input" : "output",
                            link->tensor != NULL ? link->tensor : link->value, path, (int)count);
    }
  }
  return status_ok();
}

static assay_status name_values(struct staged *staged, const struct fact_stage *stage, struct arena *arena) {
  const struct signature *s = staged->signature;
  ARENA_NEW(arena, staged->inputs, s->n_inputs + 1);
  ARENA_NEW(arena, staged->outputs, s->n_outputs + 1);
  if (stage != NULL) {
    TRY(check_links(stage, FACT_LINK_INPUT, s->inputs, s->n_inputs, staged->path));
    TRY(check_links(stage, FACT_LINK_OUTPUT, s->outputs, s->n_outputs, staged->path));
  }
  for (int32_t i = 0; i < s->n_inputs; i++) {
    const char *value = stage != NULL ? linked(stage, FACT_LINK_INPUT, s->inputs[i].name, s->n_inputs) : NULL;
    staged->inputs[i] = value != NULL ? value : s->inputs[i].name;
  }
  for (int32_t i = 0; i < s->n_outputs; i++) {
    const char *value = stage != NULL ? linked(stage, FACT_LINK_OUTPUT, s->outputs[i].name, s->n_outputs) : NULL;
    staged->outputs[i] = value != NULL ? value : s->outputs[i].name;
  }
  return status_ok();
}

/* --- which model is which stage ------------------------------------------------------------------------ */

static assay_status stage_by_facts(const struct draft *draft, const struct facts *facts, struct arena *arena,
                                   struct staging *out) {
  if (facts->n_stages != draft->n_models) {
    return import_invalid(facts->stages[0].place, "the file speaks of %d models, and %d are given",
                          (int)facts->n_stages, (int)draft->n_models);
  }
  for (int32_t i = 0; i < facts->n_stages; i++) {
    const struct fact_stage *stage = &facts->stages[i];
    int32_t m = find_model(draft, stage->model);
    if (m < 0) {
      return import_invalid(stage->place,
                            "no single model among those given has '%.80s' in its name, as the stage '%.60s' needs",
                            stage->model, stage->name);
    }
    out->stages[i] = (struct staged){.name = stage->name, .path = draft->models[m].path, .place = stage->place};
    out->stages[i].signature = draft->models[m].signature;
    for (int32_t k = 0; k < i; k++) {
      if (out->stages[k].signature == out->stages[i].signature) {
        return import_invalid(stage->place, "%.120s would be the stage '%.60s' as well as '%.60s'", out->stages[i].path,
                              out->stages[k].name, stage->name);
      }
    }
    TRY(name_values(&out->stages[i], stage, arena));
  }
  return status_ok();
}

static const struct signature_tensor *find_input(const struct staging *staging, int32_t before, const char *name) {
  for (int32_t s = 0; s < before; s++) {
    for (int32_t i = 0; i < staging->stages[s].signature->n_inputs; i++) {
      if (text_equal(staging->stages[s].signature->inputs[i].name, name)) {
        return &staging->stages[s].signature->inputs[i];
      }
    }
  }
  return NULL;
}

/* Without facts: a name that is an input of two models, or that two of them give, says nothing certain. */
static assay_status stage_by_order(const struct draft *draft, struct arena *arena, struct staging *out) {
  for (int32_t i = 0; i < draft->n_models; i++) {
    struct staged *staged = &out->stages[i];
    *staged = (struct staged){.path = draft->models[i].path, .signature = draft->models[i].signature};
    TRY(stem(arena, staged->path, &staged->name));
    TRY(name_values(staged, NULL, arena));
    for (int32_t t = 0; t < staged->signature->n_inputs; t++) {
      staged->inputs[t] = find_input(out, i, staged->inputs[t]) != NULL ? NULL : staged->inputs[t];
    }
    for (int32_t k = 0; k < i; k++) {
      for (int32_t t = 0; t < staged->signature->n_outputs; t++) {
        for (int32_t o = 0; o < out->stages[k].signature->n_outputs && staged->outputs[t] != NULL; o++) {
          const char *earlier = out->stages[k].signature->outputs[o].name;
          staged->outputs[t] = text_equal(earlier, staged->outputs[t]) ? NULL : staged->outputs[t];
        }
      }
    }
  }
  return status_ok();
}

/* --- one signature --------------------------------------------------------------------------------------- */

static bool holds(const struct signature_tensor *tensors, int32_t count, const char *name) {
  for (int32_t i = 0; i < count; i++) {
    if (text_equal(tensors[i].name, name)) {
      return true;
    }
  }
  return false;
}

static assay_status join_signatures(struct staging *staging, struct arena *arena) {
  int32_t n_inputs = 0, n_outputs = 0;
  for (int32_t s = 0; s < staging->count; s++) {
    n_inputs += staging->stages[s].signature->n_inputs;
    n_outputs += staging->stages[s].signature->n_outputs;
  }
  struct signature_tensor *inputs, *outputs;
  ARENA_NEW(arena, inputs, n_inputs + 1);
  ARENA_NEW(arena, outputs, n_outputs + 1);
  n_inputs = n_outputs = 0;
  for (int32_t s = 0; s < staging->count; s++) {
    const struct staged *staged = &staging->stages[s];
    for (int32_t i = 0; i < staged->signature->n_inputs; i++) {
      const char *value = staged->inputs[i];
      if (value != NULL && !holds(inputs, n_inputs, value) && !holds(outputs, n_outputs, value)) {
        inputs[n_inputs] = staged->signature->inputs[i];
        inputs[n_inputs++].name = value;
      }
    }
    for (int32_t i = 0; i < staged->signature->n_outputs; i++) {
      if (staged->outputs[i] != NULL) {
        outputs[n_outputs] = staged->signature->outputs[i];
        outputs[n_outputs++].name = staged->outputs[i];
      }
    }
  }
  staging->signature =
      (struct signature){.n_inputs = n_inputs, .n_outputs = n_outputs, .inputs = inputs, .outputs = outputs};
  return status_ok();
}

assay_status staging_plan(const struct draft *draft, const struct facts *facts, struct arena *arena,
                          struct staging *out) {
  *out = (struct staging){.count = draft->n_models};
  ARENA_NEW(arena, out->stages, draft->n_models);
  if (facts->n_stages > 0) {
    TRY(stage_by_facts(draft, facts, arena, out));
  } else {
    TRY(stage_by_order(draft, arena, out));
  }
  return join_signatures(out, arena);
}

bool staging_is_inner(const struct staging *staging, const char *value) {
  bool given = false;
  for (int32_t s = 0; s < staging->count; s++) {
    const struct staged *staged = &staging->stages[s];
    for (int32_t i = 0; given && i < staged->signature->n_inputs; i++) {
      if (staged->inputs[i] != NULL && text_equal(staged->inputs[i], value)) {
        return true;
      }
    }
    for (int32_t i = 0; i < staged->signature->n_outputs; i++) {
      given = given || (staged->outputs[i] != NULL && text_equal(staged->outputs[i], value));
    }
  }
  return false;
}

/* --- the text ---------------------------------------------------------------------------------------------- */

static void write_links(const char *key, const struct signature_tensor *tensors, const char *const *values,
                        int32_t count, const char *reason, struct text *out) {
  bool any = false;
  for (int32_t i = 0; i < count; i++) {
    if (values[i] != NULL && text_equal(values[i], tensors[i].name)) {
      continue;
    }
    text_format(out, any ? ", " : ", %s: {", key);
    any = true;
    yaml_write_scalar(out, tensors[i].name);
    text_add(out, ": ");
    if (values[i] != NULL) {
      yaml_write_scalar(out, values[i]);
    } else {
      write_todo(out, reason);
    }
  }
  text_add(out, any ? "}" : "");
}

void staging_write(const struct staging *staging, struct text *out) {
  text_add(out, "stages:\n");
  for (int32_t i = 0; i < staging->count; i++) {
    const struct staged *staged = &staging->stages[i];
    const struct signature *s = staged->signature;
    text_add(out, "  - {name: ");
    yaml_write_scalar(out, staged->name);
    text_add(out, ", model: ");
    yaml_write_scalar(out, staged->path);
    write_links("inputs", s->inputs, staged->inputs, s->n_inputs,
                "an input of the contract or what an earlier stage gives", out);
    write_links("outputs", s->outputs, staged->outputs, s->n_outputs,
                "the name that later stages and outputs have for it", out);
    if (staged->place.file != NULL) {
      text_add(out, ", source: ");
      write_place(out, staged->place);
    }
    text_add(out, "}\n");
  }
}
