/* Walking a corpus once and saying what it covers. Figures only: whether they are enough, the reader judges. */
#include "corpus/coverage.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract/apply.h"
#include "contract/noise.h"
#include "core/list.h"
#include "core/memory.h"
#include "corpus/case_observation.h"
#include "corpus/case_times.h"
#include "corpus/coverage_watch.h"

enum { INPUTS_MAX = 64, OUTPUTS_MAX = 64 };

/* The walk in progress. */
struct survey {
  struct coverage *coverage;
  struct arena *arena; /* the coverage's */
  int32_t n_inputs, n_outputs;
  struct input_watch inputs[INPUTS_MAX];
  struct output_watch outputs[OUTPUTS_MAX];
  bool differ[INPUTS_MAX][INPUTS_MAX], compared[INPUTS_MAX][INPUTS_MAX];
  int32_t pairs_capacity;
};

static assay_status note(struct survey *survey, const char *sentence) {
  struct coverage *coverage = survey->coverage;
  if (sentence == NULL) {
    return status_no_memory(1);
  }
  if (coverage->n_notes < COVERAGE_NOTES_MAX) {
    coverage->notes[coverage->n_notes++] = sentence;
  }
  return status_ok();
}

/* --- what is watched --------------------------------------------------- */

static bool is_image(const struct contract_input *contract, const assay_tensor *sample) {
  return (contract != NULL && contract->layout != NULL) || sample->rank >= 4;
}

static assay_status watch_input(struct survey *survey, const char *name, int32_t *index) {
  for (int32_t i = 0; i < survey->n_inputs; i++) {
    if (strcmp(survey->inputs[i].input.name, name) == 0) {
      *index = i;
      return status_ok();
    }
  }
  if (survey->n_inputs == INPUTS_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, survey->coverage->corpus->folder,
                       "the corpus has more than %d different inputs", INPUTS_MAX);
  }
  const struct contract *contract = survey->coverage->contract;
  const struct contract_input *input = contract == NULL ? NULL : contract_find_input(contract, name);
  struct input_watch *watch = &survey->inputs[survey->n_inputs];
  *watch = (struct input_watch){.contract = input, .input = {.share = (double)NAN, .age_min = (double)NAN}};
  watch->input.name = arena_string(survey->arena, name);
  watch->input.age_max = (double)NAN;
  if (watch->input.name == NULL) {
    return status_no_memory(strlen(name));
  }
  if (input != NULL) {
    watch->input.unit = input->unit;
    watch->input.is_state = input->is_state;
    watch->input.has_legal = input->has_legal;
    watch->input.has_typical = input->has_typical;
    watch->input.legal_min = input->legal_min, watch->input.legal_max = input->legal_max;
    watch->input.typical_min = input->typical_min, watch->input.typical_max = input->typical_max;
    watch->input.max_age_ms = input->max_age_ms;
  } else if (contract != NULL) {
    TRY(note(survey, arena_format(survey->arena, "the contract has no input '%s', which the corpus feeds", name)));
  }
  *index = survey->n_inputs++;
  return status_ok();
}

static assay_status list_decisions(struct survey *survey, struct output_watch *watch) {
  const struct contract_output *contract = watch->contract;
  int32_t most = contract->n_components + contract->n_decisions;
  ARENA_NEW(survey->arena, watch->decisions, most);
  for (int32_t c = 0; c < contract->n_components; c++) {
    const struct contract_component *component = &contract->components[c];
    if (component->has_decision) {
      watch->decisions[watch->n_decisions++] = (struct decision_watch){.component = c,
                                                                       .seen = {.output = watch->name,
                                                                                .component = component->name,
                                                                                .decision = &component->decision,
                                                                                .nearest = (double)NAN}};
    }
  }
  for (int32_t d = 0; d < contract->n_decisions; d++) {
    watch->decisions[watch->n_decisions++] = (struct decision_watch){
        .component = -1, .seen = {.output = watch->name, .decision = &contract->decisions[d], .nearest = (double)NAN}};
  }
  return status_ok();
}

static assay_status watch_output(struct survey *survey, const char *name, struct output_watch **out) {
  for (int32_t i = 0; i < survey->n_outputs; i++) {
    if (strcmp(survey->outputs[i].name, name) == 0) {
      *out = &survey->outputs[i];
      return status_ok();
    }
  }
  if (survey->n_outputs == OUTPUTS_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, survey->coverage->corpus->folder,
                       "the corpus has more than %d different outputs", OUTPUTS_MAX);
  }
  const struct contract *contract = survey->coverage->contract;
  struct output_watch *watch = &survey->outputs[survey->n_outputs++];
  *watch = (struct output_watch){.name = arena_string(survey->arena, name)};
  *out = watch;
  if (watch->name == NULL) {
    survey->n_outputs--;
    return status_no_memory(strlen(name));
  }
  watch->contract = contract == NULL ? NULL : contract_find_output(contract, name);
  if (watch->contract != NULL) {
    return list_decisions(survey, watch);
  }
  return contract == NULL
             ? status_ok()
             : note(survey,
                    arena_format(survey->arena, "the contract has no output '%s', which the corpus answers", name));
}

/* --- one sample -------------------------------------------------------- */

static assay_status see_input(struct survey *survey, const char *name, const assay_tensor *sample,
                              const assay_tensor *present[INPUTS_MAX]) {
  int32_t i;
  TRY(watch_input(survey, name, &i));
  struct input_watch *watch = &survey->inputs[i];
  watch->image = is_image(watch->contract, sample);
  present[i] = sample;
  return input_watch_see(watch, survey->arena, sample);
}

/* Whole inputs that look alike: swapping them in this sample would change nothing. */
static void compare_inputs(struct survey *survey, const assay_tensor *const present[INPUTS_MAX]) {
  for (int32_t a = 0; a < survey->n_inputs; a++) {
    for (int32_t b = a + 1; b < survey->n_inputs; b++) {
      const assay_tensor *x = present[a], *y = present[b];
      if (x == NULL || y == NULL || survey->differ[a][b]) {
        continue;
      }
      survey->compared[a][b] = true;
      bool alike = x->dtype == y->dtype && shape_equal(x, y) && x->dtype != ASSAY_STRING &&
                   (x->bytes == 0 || memcmp(x->data, y->data, x->bytes) == 0);
      survey->differ[a][b] = !alike;
    }
  }
}

/* An input that the case stores only as the sensor gave it is seen after the contract's preprocessing. */
static assay_status see_raw_input(struct survey *survey, const struct case_data *data, const struct corpus_case *entry,
                                  int64_t step, const struct contract_input *input, assay_tensor *made) {
  const char *sensor = input->raw != NULL ? input->raw : input->name;
  const assay_tensor *raw = case_raw(data, sensor);
  if (raw == NULL || case_input(data, input->name) != NULL || input->terms != NULL) {
    return status_ok();
  }
  assay_tensor view = case_step(data, entry, raw, step);
  assay_status status = contract_preprocess(input, &view, made);
  if (assay_status_ok(status)) {
    return status_ok();
  }
  const char *sentence = arena_format(survey->arena, "case '%s': raw/%s cannot be preprocessed: %s", entry->id, sensor,
                                      assay_status_sentence(status));
  assay_status_clear(&status);
  return note(survey, sentence);
}

/* What an output of this step may be decoded relative to: inputs as they are fed, and sensors. */
struct sample_fed {
  struct fed_input items[3 * INPUTS_MAX];
  assay_tensor sensors[INPUTS_MAX];
  struct fed_inputs list;
};

static void add_fed(struct sample_fed *fed, const char *name, const assay_tensor *tensor) {
  fed->items[fed->list.count++] = (struct fed_input){name, tensor, (double)NAN};
  fed->list.items = fed->items;
}

static void add_sensors(struct sample_fed *fed, const struct case_data *data, const struct corpus_case *entry,
                        int64_t step) {
  for (int32_t i = 0; i < data->n_raw && i < INPUTS_MAX; i++) {
    fed->sensors[i] = case_step(data, entry, &data->raw[i].tensor, step);
    add_fed(fed, data->raw[i].name, &fed->sensors[i]);
  }
}

static assay_status see_outputs(struct survey *survey, const struct case_data *data, const struct corpus_case *entry,
                                int64_t step, const struct fed_inputs *fed) {
  for (int32_t i = 0; i < data->n_outputs; i++) {
    struct output_watch *watch;
    bool fits;
    assay_tensor view = case_step(data, entry, &data->outputs[i].tensor, step);
    TRY(watch_output(survey, data->outputs[i].name, &watch));
    TRY(output_watch_see(watch, survey->arena, &view, fed, &fits));
    if (!fits) {
      TRY(note(survey,
               arena_format(survey->arena, "case '%s': output '%s' does not have the type and shape of the contract",
                            entry->id, watch->name)));
    }
  }
  return status_ok();
}

static assay_status see_sample(struct survey *survey, const struct case_data *data, const struct corpus_case *entry,
                               const struct case_built *built, int64_t step) {
  struct sample_fed fed = {.list = {NULL, 0}};
  const assay_tensor *present[INPUTS_MAX] = {NULL};
  assay_tensor views[INPUTS_MAX], made[INPUTS_MAX] = {{0}};
  const struct contract *contract = survey->coverage->contract;
  assay_status status = status_ok();
  for (int32_t i = 0; i < data->n_inputs && i < INPUTS_MAX && assay_status_ok(status); i++) {
    views[i] = case_step(data, entry, &data->inputs[i].tensor, step);
    add_fed(&fed, data->inputs[i].name, &views[i]);
    status = see_input(survey, data->inputs[i].name, &views[i], present);
  }
  int32_t n_made = contract == NULL ? 0 : contract->n_inputs < INPUTS_MAX ? contract->n_inputs : INPUTS_MAX;
  for (int32_t i = 0; i < n_made && assay_status_ok(status); i++) {
    status = see_raw_input(survey, data, entry, step, &contract->inputs[i], &made[i]);
    if (assay_status_ok(status) && built->inputs != NULL && built->inputs[i] != NULL) {
      add_fed(&fed, contract->inputs[i].name, &built->inputs[i][step]);
      status = see_input(survey, contract->inputs[i].name, &built->inputs[i][step], present);
    }
    if (assay_status_ok(status) && made[i].dtype != ASSAY_UNDEFINED) {
      add_fed(&fed, contract->inputs[i].name, &made[i]);
      status = see_input(survey, contract->inputs[i].name, &made[i], present);
    }
  }
  if (assay_status_ok(status)) {
    compare_inputs(survey, present);
    add_sensors(&fed, data, entry, step);
    status = see_outputs(survey, data, entry, step, &fed.list);
  }
  for (int32_t i = 0; i < n_made; i++) {
    tensor_free(&made[i]);
  }
  survey->coverage->n_samples += assay_status_ok(status);
  return status;
}

static void see_ages(struct survey *survey, const struct corpus_case *entry, int64_t steps) {
  for (int32_t i = 0; i < survey->n_inputs; i++) {
    struct coverage_input *input = &survey->inputs[i].input;
    bool known = false;
    for (int64_t step = 0; step < steps; step++) {
      double ms = case_age_at(entry, input->name, step);
      if (!isnan(ms)) {
        known = true;
        input->age_min = ms < input->age_min || isnan(input->age_min) ? ms : input->age_min;
        input->age_max = ms > input->age_max || isnan(input->age_max) ? ms : input->age_max;
      }
    }
    input->n_ages += known;
  }
}

/* Observations that the case stores only as what was measured. */
static assay_status build_observations(struct survey *survey, const struct case_data *data,
                                       const struct corpus_case *entry, struct case_built *out) {
  *out = (struct case_built){0};
  if (survey->coverage->contract == NULL) {
    return status_ok();
  }
  assay_status failed = case_build(survey->coverage->contract, entry, data, data->steps, out);
  if (assay_status_ok(failed) || assay_code_kind_of(failed.code) == ASSAY_KIND_INTERNAL) {
    return failed;
  }
  out->inputs = NULL;
  const char *sentence = arena_format(survey->arena, "case '%s': an observation cannot be made of it: %s", entry->id,
                                      assay_status_sentence(failed));
  assay_status_clear(&failed);
  return note(survey, sentence);
}

/* Draws that the contract asks for and the case does not store. */
static assay_status note_seeds(struct survey *survey, const struct corpus_case *entry, const struct case_data *data) {
  const struct contract *contract = survey->coverage->contract;
  for (int32_t i = 0; contract != NULL && i < contract->n_inputs; i++) {
    const struct contract_noise *noise = contract->inputs[i].noise;
    int64_t stored = data->n_seeds > 0 ? data->n_seeds : 1;
    if (noise != NULL && stored < noise->seeds) {
      TRY(note(survey,
               arena_format(survey->arena,
                            "case '%s' stores %" PRId64 " of the %" PRId64 " draws of '%s' that the contract asks for",
                            entry->id, stored, noise->seeds, contract->inputs[i].name)));
    }
  }
  return status_ok();
}

/* One seed of a case, of which a case of its own stands for all that they share. */
static assay_status see_seed(struct survey *survey, int32_t index, int32_t seed, int32_t *n_seeds) {
  struct coverage *coverage = survey->coverage;
  const struct corpus_case *entry = &coverage->corpus->cases[index];
  struct case_data *data;
  TRY(case_load_seed(coverage->corpus, index, seed, &data));
  *n_seeds = data->n_seeds > 0 ? data->n_seeds : 1;
  coverage->n_with_repeats += seed == 0 && data->n_repeats > 0;
  coverage->n_with_seeds += seed == 0 && data->n_seeds > 0;
  assay_status status = status_ok();
  if (!entry->refuse) {
    if (entry->sequence && seed == 0) {
      coverage->steps_min =
          coverage->n_sequences == 0 || data->steps < coverage->steps_min ? data->steps : coverage->steps_min;
      coverage->steps_max = data->steps > coverage->steps_max ? data->steps : coverage->steps_max;
      coverage->n_sequences++;
    }
    struct case_built built;
    status = build_observations(survey, data, entry, &built);
    if (assay_status_ok(status) && seed == 0) {
      status = note_seeds(survey, entry, data);
    }
    for (int64_t step = 0; step < data->steps && assay_status_ok(status); step++) {
      status = see_sample(survey, data, entry, &built, step);
    }
    arena_free(&built.arena);
    if (seed == 0) {
      see_ages(survey, entry, data->steps);
    }
  }
  case_data_free(data);
  return status;
}

static assay_status see_case(struct survey *survey, int32_t index) {
  int32_t n_seeds = 1;
  for (int32_t seed = 0; seed < n_seeds; seed++) {
    TRY(see_seed(survey, index, seed, &n_seeds));
  }
  return status_ok();
}

/* --- the end ----------------------------------------------------------- */

static assay_status add_pair(struct survey *survey, struct coverage_pair **pairs, struct coverage_pair pair) {
  LIST_ROOM(*pairs, survey->coverage->n_pairs, survey->pairs_capacity);
  (*pairs)[survey->coverage->n_pairs++] = pair;
  return status_ok();
}

static char *element_name(const struct survey *survey, const struct input_watch *watch, int32_t i) {
  struct text text = {0};
  int64_t rest = i;
  int64_t at[ASSAY_RANK_MAX];
  for (int32_t d = watch->rank - 1; d >= 0; d--) {
    at[d] = rest % watch->dims[d];
    rest /= watch->dims[d];
  }
  for (int32_t d = 0; d < watch->rank; d++) {
    text_format(&text, "%s%" PRId64, d == 0 ? "[" : ",", at[d]);
  }
  text_add(&text, "]");
  char *name = text.failed ? NULL : arena_string(survey->arena, text_string(&text));
  text_free(&text);
  return name;
}

/* Elements that stand still are reported as such, not as pairs. */
static assay_status find_element_pairs(struct survey *survey, const struct input_watch *watch,
                                       struct coverage_pair **pairs) {
  for (int32_t a = 0; a < watch->pairs.n; a++) {
    for (int32_t b = a + 1; b < watch->pairs.n; b++) {
      if (pair_watch_difference(&watch->pairs, a, b) > 0 || (!watch->varies[a] && !watch->varies[b])) {
        continue;
      }
      struct coverage_pair pair = {PAIR_INPUT_ELEMENTS, watch->input.name, element_name(survey, watch, a),
                                   element_name(survey, watch, b), 0};
      TRY(pair.a == NULL || pair.b == NULL ? status_no_memory(1) : add_pair(survey, pairs, pair));
    }
  }
  return status_ok();
}

static assay_status find_component_pairs(struct survey *survey, const struct output_watch *watch,
                                         struct coverage_pair **pairs) {
  for (int32_t a = 0; a < watch->pairs.n; a++) {
    for (int32_t b = a + 1; b < watch->pairs.n; b++) {
      const struct coverage_component *x = &watch->components[a], *y = &watch->components[b];
      double difference = pair_watch_difference(&watch->pairs, a, b);
      double tolerance = x->tolerance < y->tolerance ? x->tolerance : y->tolerance;
      if (difference <= tolerance && !(x->constant && y->constant)) {
        TRY(add_pair(survey, pairs,
                     (struct coverage_pair){PAIR_COMPONENTS, watch->name, x->name, y->name, difference}));
      }
    }
  }
  return status_ok();
}

static assay_status find_pairs(struct survey *survey, struct coverage_pair **pairs) {
  for (int32_t a = 0; a < survey->n_inputs; a++) {
    for (int32_t b = a + 1; b < survey->n_inputs; b++) {
      if (survey->compared[a][b] && !survey->differ[a][b]) {
        TRY(add_pair(
            survey, pairs,
            (struct coverage_pair){PAIR_INPUTS, NULL, survey->inputs[a].input.name, survey->inputs[b].input.name, 0}));
      }
    }
    TRY(find_element_pairs(survey, &survey->inputs[a], pairs));
  }
  for (int32_t o = 0; o < survey->n_outputs; o++) {
    TRY(find_component_pairs(survey, &survey->outputs[o], pairs));
  }
  return status_ok();
}

static assay_status keep_pairs(struct survey *survey) {
  struct coverage *coverage = survey->coverage;
  struct coverage_pair *found = NULL, *kept;
  assay_status status = find_pairs(survey, &found);
  if (assay_status_ok(status) && coverage->n_pairs > 0) {
    kept = arena_alloc(survey->arena, (size_t)coverage->n_pairs, sizeof *kept);
    if (kept == NULL) {
      status = status_no_memory((size_t)coverage->n_pairs * sizeof *kept);
    } else {
      memcpy(kept, found, (size_t)coverage->n_pairs * sizeof *kept);
      coverage->pairs = kept;
    }
  }
  memory_free(found);
  return status;
}

/* What the contract asks for and no case ever gave is said as well. */
static assay_status note_absent(struct survey *survey) {
  const struct contract *contract = survey->coverage->contract;
  for (int32_t i = 0; contract != NULL && i < contract->n_inputs; i++) {
    int32_t before = survey->n_inputs, index;
    TRY(watch_input(survey, contract->inputs[i].name, &index));
    if (survey->n_inputs > before && !contract->inputs[i].is_state) {
      TRY(note(survey, arena_format(survey->arena, "no case feeds input '%s'", contract->inputs[i].name)));
    }
  }
  for (int32_t o = 0; contract != NULL && o < contract->n_outputs; o++) {
    struct output_watch *watch;
    TRY(watch_output(survey, contract->outputs[o].name, &watch));
    if (watch->components == NULL) {
      TRY(note(survey, arena_format(survey->arena, "no case answers output '%s'", watch->name)));
    }
  }
  return status_ok();
}

static int compare_inputs_by_name(const void *a, const void *b) {
  return strcmp(((const struct coverage_input *)a)->name, ((const struct coverage_input *)b)->name);
}

static assay_status conclude(struct survey *survey) {
  struct coverage *coverage = survey->coverage;
  TRY(note_absent(survey));
  struct coverage_input *inputs;
  ARENA_NEW(survey->arena, inputs, survey->n_inputs);
  for (int32_t i = 0; i < survey->n_inputs; i++) {
    input_watch_end(&survey->inputs[i]);
    inputs[i] = survey->inputs[i].input;
  }
  size_t n_components = 0, n_decisions = 0;
  for (int32_t o = 0; o < survey->n_outputs; o++) {
    output_watch_end(&survey->outputs[o]);
    n_components += survey->outputs[o].components == NULL ? 0 : (size_t)survey->outputs[o].n;
    n_decisions += (size_t)survey->outputs[o].n_decisions;
  }
  TRY(keep_pairs(survey));
  struct coverage_component *components;
  struct coverage_decision *decisions;
  ARENA_NEW(survey->arena, components, n_components);
  ARENA_NEW(survey->arena, decisions, n_decisions);
  for (int32_t o = 0; o < survey->n_outputs; o++) {
    const struct output_watch *watch = &survey->outputs[o];
    for (int32_t c = 0; watch->components != NULL && c < watch->n; c++) {
      components[coverage->n_components++] = watch->components[c];
    }
    for (int32_t d = 0; d < watch->n_decisions; d++) {
      decisions[coverage->n_decisions++] = watch->decisions[d].seen;
    }
  }
  qsort(inputs, (size_t)survey->n_inputs, sizeof *inputs, compare_inputs_by_name);
  coverage->inputs = inputs;
  coverage->n_inputs = survey->n_inputs;
  coverage->components = components;
  coverage->decisions = decisions;
  return status_ok();
}

static assay_status walk(struct survey *survey, const struct progress *progress) {
  struct coverage *coverage = survey->coverage;
  ARENA_NEW(survey->arena, coverage->notes, COVERAGE_NOTES_MAX);
  TRY(coverage_count_tags(coverage));
  TRY(coverage_count_refusals(coverage));
  TRY(coverage_count_lineage(coverage));
  for (int32_t i = 0; i < coverage->corpus->n_cases; i++) {
    TRY(see_case(survey, i));
    progress_step(progress, "cases", (size_t)i + 1, (size_t)coverage->corpus->n_cases);
  }
  return conclude(survey);
}

assay_status coverage_make(const struct corpus *corpus, const struct contract *contract,
                           const struct progress *progress, struct coverage **out) {
  *out = NULL;
  struct coverage *coverage = memory_alloc(1, sizeof *coverage);
  struct survey *survey = memory_alloc(1, sizeof *survey);
  assay_status status = coverage == NULL || survey == NULL ? status_no_memory(sizeof *survey) : status_ok();
  if (assay_status_ok(status)) {
    coverage->corpus = corpus;
    coverage->contract = contract;
    coverage->steps_min = coverage->steps_max = -1;
    survey->coverage = coverage;
    survey->arena = &coverage->arena;
    status = walk(survey, progress);
  }
  memory_free(survey);
  if (!assay_status_ok(status)) {
    coverage_free(coverage);
    return status;
  }
  *out = coverage;
  return status;
}

void coverage_free(struct coverage *coverage) {
  if (coverage != NULL) {
    arena_free(&coverage->arena);
    memory_free(coverage);
  }
}
