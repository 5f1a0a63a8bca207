/* Tries what commonly goes wrong in decoding, one thing at a time, and says which of them makes every recorded value of
 * the case: statistics not applied, applied twice or the wrong way, another key of the same file, a step left out,
 * another frame, degrees, another order of components. It must never say what explains a part alone. */
#include <math.h>
#include <string.h>

#include "contract/statistics_keys.h"
#include "core/memory.h"
#include "gate/decode_check.h"

enum { STEPS_MOST = 256, FRAMES_MOST = 64, ELEMENTS_MOST = 512 };
static const double degrees_per_radian = 57.29577951308232;

/* An output like the contract's, but for the decoding of one component. */
struct variant {
  const struct decoded_array *array;
  int32_t c;
  struct contract_output output;
  struct contract_component *components;
  struct decode_step *steps; /* 2 * STEPS_MOST + 2 */
};

static const struct contract_component *original(const struct variant *variant) {
  return &variant->array->output->components[variant->c];
}

static void reset(struct variant *variant) {
  const struct contract_component *from = original(variant);
  for (int32_t s = 0; s < from->n_decode; s++) {
    variant->steps[s] = from->decode[s];
  }
  variant->components[variant->c].n_decode = from->n_decode;
}

static void append(struct variant *variant, struct decode_step step) {
  variant->steps[variant->components[variant->c].n_decode++] = step;
}

/* Keeps the steps for which `drop` is false. */
static void leave_out(struct variant *variant, const bool *drop) {
  const struct contract_component *from = original(variant);
  variant->components[variant->c].n_decode = 0;
  for (int32_t s = 0; s < from->n_decode; s++) {
    if (!drop[s]) {
      append(variant, from->decode[s]);
    }
  }
}

static assay_status agrees(const struct variant *variant, int64_t shift, bool *out) {
  struct decode_look look;
  TRY(decode_look(variant->array, &variant->output, variant->c, variant->c, shift, &look));
  *out = decode_agrees(&look);
  return status_ok();
}

/* --- steps left out, twice, or the wrong way ---------------------------------------------- */

static const char *step_name(const struct decode_step *step) {
  static const char *const names[] = {"clip", "scale", "offset", "add"};
  return step->origin != NULL ? "statistics" : names[step->kind];
}

/* The step and, of statistics, those that belong to it. */
static void mark_item(const struct contract_component *component, int32_t s, bool *marks) {
  const struct decode_origin *origin = component->decode[s].origin;
  for (int32_t i = 0; i < component->n_decode; i++) {
    marks[i] = i == s || (origin != NULL && component->decode[i].origin == origin);
  }
}

static assay_status try_identity(struct variant *variant, struct text *out, bool *found) {
  variant->components[variant->c].n_decode = 0;
  TRY(agrees(variant, 0, found));
  if (*found) {
    text_add(out, "what was recorded is the model's own number: the source did not decode it; output looks normalised");
  }
  return status_ok();
}

static assay_status try_left_out(struct variant *variant, struct text *out, bool *found) {
  const struct contract_component *component = original(variant);
  bool drop[STEPS_MOST];
  for (int32_t s = 0; s < component->n_decode && !*found; s++) {
    const struct decode_step *step = &component->decode[s];
    mark_item(component, s, drop);
    leave_out(variant, drop);
    TRY(agrees(variant, 0, found));
    if (!*found) {
      continue;
    }
    text_format(out, "leaving out '%s' (step %d of its decoding) explains all of it", step_name(step), (int)s + 1);
    text_add(out, step->origin != NULL       ? ": the un-normaliser is inert; output looks normalised"
                  : step->kind == DECODE_ADD ? ": the source decoded it relative, without what was measured"
                                             : "");
  }
  return status_ok();
}

static assay_status try_twice(struct variant *variant, struct text *out, bool *found) {
  const struct contract_component *component = original(variant);
  bool item[STEPS_MOST];
  for (int32_t s = 0; s < component->n_decode && !*found; s++) {
    mark_item(component, s, item);
    variant->components[variant->c].n_decode = 0;
    for (int32_t i = 0; i < component->n_decode; i++) {
      append(variant, component->decode[i]);
      bool last = item[i] && (i + 1 == component->n_decode || !item[i + 1]);
      for (int32_t j = 0; last && j <= i; j++) {
        if (item[j] && !component->decode[j].cumulative) {
          append(variant, component->decode[j]);
        }
      }
    }
    TRY(agrees(variant, 0, found));
    if (*found) {
      text_format(out, "applying '%s' (step %d of its decoding) twice explains all of it",
                  step_name(&component->decode[s]), (int)s + 1);
    }
  }
  return status_ok();
}

static assay_status try_inverse(struct variant *variant, struct text *out, bool *found) {
  const struct contract_component *component = original(variant);
  bool per_step = false;
  variant->components[variant->c].n_decode = 0;
  for (int32_t s = component->n_decode - 1; s >= 0; s--) {
    struct decode_step step = component->decode[s];
    per_step |= step.n_each > 0 || step.kind == DECODE_ADD;
    step.a = step.kind == DECODE_SCALE ? 1 / step.a : step.kind == DECODE_OFFSET ? -step.a : step.a;
    append(variant, step);
  }
  if (per_step || component->n_decode == 0) {
    return status_ok();
  }
  TRY(agrees(variant, 0, found));
  if (*found) {
    text_add(out, "decoding backwards explains all of it: normalised where it should be un-normalised");
  }
  return status_ok();
}

static assay_status try_degrees(struct variant *variant, struct text *out, bool *found) {
  for (int to = 0; to < 2 && !*found; to++) {
    reset(variant);
    append(variant,
           (struct decode_step){.kind = DECODE_SCALE, .a = to == 0 ? degrees_per_radian : 1 / degrees_per_radian});
    TRY(agrees(variant, 0, found));
    if (*found) {
      text_format(out, "degrees against radians: the source's values are %s times the contract's",
                  to == 0 ? "57.29578" : "1/57.29578");
    }
  }
  return status_ok();
}

/* --- another frame ------------------------------------------------------------------------ */

static int64_t frames_of(const struct decoded_array *array, const struct decode_step *step) {
  const struct fed_inputs *inputs = fed_case_measured(array->fed, 0);
  for (size_t i = 0; inputs != NULL && step->frame_size > 0 && i < inputs->count; i++) {
    if (strcmp(inputs->items[i].name, step->input) == 0) {
      return tensor_count(inputs->items[i].tensor) / step->frame_size;
    }
  }
  return 0;
}

static void say_frame(struct text *out, int64_t frame, int64_t frames) {
  text_format(out, "frame %lld%s", (long long)frame,
              frame == 0            ? " (the first)"
              : frame == frames - 1 ? " (the last)"
                                    : "");
}

static assay_status try_frames(struct variant *variant, int32_t s, struct text *out, bool *found) {
  const struct decode_step *step = &original(variant)->decode[s];
  int64_t frames = frames_of(variant->array, step), own = step->frame < 0 ? frames - 1 : step->frame;
  for (int64_t frame = 0; frame < frames && frame < FRAMES_MOST && !*found; frame++) {
    reset(variant);
    variant->steps[s].frame = frame;
    TRY(frame != own ? agrees(variant, 0, found) : status_ok());
    if (*found) {
      text_add(out, "the source anchored on ");
      say_frame(out, frame, frames);
      text_format(out, " of '%s', the contract on ", step->input);
      say_frame(out, own, frames);
    }
  }
  for (int64_t shift = -1; shift <= 1 && !*found; shift += 2) {
    reset(variant);
    TRY(agrees(variant, shift, found));
    if (*found) {
      text_format(out, "the source anchored on the '%s' of the step %s, the contract on that of the same step",
                  step->input, shift > 0 ? "after" : "before");
    }
  }
  for (int64_t element = 0; element < step->frame_size && element < ELEMENTS_MOST && !*found; element++) {
    reset(variant);
    variant->steps[s].element = element;
    TRY(element != step->element ? agrees(variant, 0, found) : status_ok());
    if (*found) {
      text_format(out, "the source added element %lld of '%s', the contract adds element %lld", (long long)element,
                  step->input, (long long)step->element);
    }
  }
  if (!*found && variant->output.horizon_axis >= 0) {
    reset(variant);
    variant->steps[s].cumulative = !step->cumulative;
    TRY(agrees(variant, 0, found));
    if (*found) {
      text_format(out, "the source decoded the steps of a chunk %s",
                  step->cumulative ? "each from what was measured, the contract says each from the one before"
                                   : "each from the one before, the contract says each from what was measured");
    }
  }
  return status_ok();
}

static assay_status try_adds(struct variant *variant, struct text *out, bool *found) {
  for (int32_t s = 0; s < original(variant)->n_decode && !*found; s++) {
    if (original(variant)->decode[s].kind == DECODE_ADD) {
      TRY(try_frames(variant, s, out, found));
    }
  }
  return status_ok();
}

/* --- another key --------------------------------------------------------------------------- */

static assay_status try_keys(const struct plan *plan, struct variant *variant, struct arena *scratch, struct text *out,
                             bool *found) {
  const struct contract_component *component = original(variant);
  const struct decode_origin *done = NULL;
  for (int32_t s = 0; s < component->n_decode && !*found; s++) {
    const struct decode_origin *origin = component->decode[s].origin;
    if (origin == NULL || origin == done) {
      continue;
    }
    done = origin;
    struct statistics_key *keys;
    size_t count;
    TRY(statistics_other_keys(plan->contract, origin, variant->c, variant->output.n_components, scratch, &keys,
                              &count));
    for (size_t k = 0; k < count && !*found; k++) {
      reset(variant);
      bool plain = statistics_replace(origin, &keys[k], variant->steps, component->n_decode);
      TRY(plain ? agrees(variant, 0, found) : status_ok());
      if (*found) {
        text_format(out, "the statistics '%.60s' of %s explain all of it; the contract names '%s'", keys[k].a,
                    origin->file, origin->a);
      }
    }
  }
  return status_ok();
}

/* --- another order -------------------------------------------------------------------------- */

enum { COMPONENTS_MOST = 64 };

/* The component whose decoded values were recorded as component c; -1 when none or more than one. */
static assay_status find_source(const struct decoded_array *array, int32_t c, int32_t *source) {
  *source = -1;
  for (int32_t from = 0; from < array->output->n_components; from++) {
    struct decode_look look;
    TRY(decode_look(array, array->output, c, from, 0, &look));
    if (decode_agrees(&look)) {
      *source = *source < 0 ? from : COMPONENTS_MOST;
    }
  }
  *source = *source == COMPONENTS_MOST ? -1 : *source;
  return status_ok();
}

static assay_status try_order(const struct decoded_array *array, int32_t c, struct text *out, bool *found) {
  int32_t sources[COMPONENTS_MOST], n = array->output->n_components, unexplained = 0;
  if (n > COMPONENTS_MOST || n < 2) {
    return status_ok();
  }
  TRY(find_source(array, c, &sources[c]));
  if (sources[c] < 0) {
    return status_ok();
  }
  *found = true;
  for (int32_t i = 0; i < n && array->component < 0; i++) {
    TRY(find_source(array, i, &sources[i]));
    unexplained += sources[i] < 0;
  }
  if (array->component >= 0 || unexplained > 0) {
    text_format(out, "what was recorded is '%s'; look at the order of the components",
                array->output->components[sources[c]].name);
    return status_ok();
  }
  const int32_t *order = array->output->hardware_order;
  text_add(out, "permutation (");
  for (int32_t i = 0; i < n; i++) {
    text_format(out, "%s%d", i > 0 ? "," : "", (int)sources[order != NULL ? order[i] : i]);
  }
  text_format(out, ") explains all: element k of decoded/%s is the component of that number; correct hardware_order",
              array->output->name);
  return status_ok();
}

/* --- all of it ------------------------------------------------------------------------------- */

static assay_status try_all(const struct plan *plan, struct variant *variant, struct arena *scratch, struct text *out) {
  bool found = false;
  TRY(try_identity(variant, out, &found));
  TRY(found ? status_ok() : try_adds(variant, out, &found));
  TRY(found ? status_ok() : try_left_out(variant, out, &found));
  TRY(found ? status_ok() : try_twice(variant, out, &found));
  TRY(found ? status_ok() : try_inverse(variant, out, &found));
  TRY(found ? status_ok() : try_degrees(variant, out, &found));
  TRY(found ? status_ok() : try_keys(plan, variant, scratch, out, &found));
  return found ? status_ok() : try_order(variant->array, variant->c, out, &found);
}

assay_status decode_explain(const struct plan *plan, const struct decoded_array *array, int32_t c, struct text *out) {
  struct arena scratch = {0};
  struct variant variant = {.array = array, .c = c, .output = *array->output};
  int32_t n = array->output->n_components;
  if (array->output->components[c].n_decode >= STEPS_MOST) {
    return status_ok();
  }
  variant.components = arena_alloc(&scratch, (size_t)n, sizeof *variant.components);
  variant.steps = arena_alloc(&scratch, 2 * STEPS_MOST + 2, sizeof *variant.steps);
  assay_status status = variant.components == NULL || variant.steps == NULL ? status_no_memory(0) : status_ok();
  if (assay_status_ok(status)) {
    memcpy(variant.components, array->output->components, (size_t)n * sizeof *variant.components);
    variant.components[c].decode = variant.steps;
    variant.output.components = variant.components;
    status = try_all(plan, &variant, &scratch, out);
  }
  arena_free(&scratch);
  return status;
}
