/* The stages of a contract wired to their files: see stages.h. A tensor that nothing feeds, or that two things would
 * feed, is refused; nothing is wired by its position. */
#include "contract/stages.h"

#include <string.h>

#include "contract/contract_metadata.h"
#include "contract/contract_side.h"
#include "contract/model_signature.h"
#include "contract/terms.h"
#include "core/file.h"

/* Wiring in progress. */
struct wiring {
  const struct contract *contract;
  const struct signature *signatures;
  const char *const *paths;
  struct arena *arena;
  struct bound_stage *stages;
  struct stage_value *values;
  int32_t n_values;
  bool *inner, *used; /* per output, per input of the contract */
};

int32_t stage_find(const struct contract_stages *stages, const char *name) {
  for (int32_t s = 0; s < stages->count; s++) {
    if (text_equal(stages->items[s].name, name)) {
      return s;
    }
  }
  return -1;
}

double stage_time_at(const struct stage_time *time, int32_t turn) {
  return time->n_values > 0 ? time->values[turn] : time->from + turn * time->step;
}

static int32_t find_value(const struct wiring *wiring, const char *name) {
  for (int32_t v = 0; v < wiring->n_values; v++) {
    if (text_equal(wiring->values[v].name, name)) {
      return v;
    }
  }
  return -1;
}

static int32_t input_index(const struct contract *contract, const char *name) {
  const struct contract_input *input = contract_find_input(contract, name);
  return input != NULL ? (int32_t)(input - contract->inputs) : -1;
}

static const struct stage_link *find_link(const struct stage_link *links, int32_t count, const char *tensor) {
  for (int32_t i = 0; i < count; i++) {
    if (text_equal(links[i].tensor, tensor)) {
      return &links[i];
    }
  }
  return NULL;
}

static assay_status keep_text(struct arena *arena, const char **text) {
  *text = arena_string(arena, *text);
  return *text != NULL ? status_ok() : status_no_memory(0);
}

static assay_status keep_dims(struct arena *arena, const struct signature_tensor *tensor, const int64_t **out) {
  int64_t *dims;
  ARENA_NEW(arena, dims, tensor->rank > 0 ? tensor->rank : 1);
  for (int32_t d = 0; d < tensor->rank; d++) {
    dims[d] = tensor->dims[d];
  }
  *out = dims;
  return status_ok();
}

/* --- what a stage takes --------------------------------------------------------------- */

/* Could a tensor of the first kind be fed to the second? What a file does not say fits. */
static bool tensors_fit(assay_dtype dtype, int32_t rank, const int64_t *dims, const struct signature_tensor *to) {
  bool fits = dtype == to->dtype && (rank < 0 || to->rank < 0 || rank == to->rank);
  for (int32_t d = 0; fits && rank >= 0 && d < to->rank; d++) {
    fits = dims[d] < 0 || to->dims[d] < 0 || dims[d] == to->dims[d];
  }
  return fits;
}

static assay_status misfit(const struct wiring *wiring, int32_t s, struct mark mark, const struct signature_tensor *to,
                           const char *name, assay_dtype dtype, int32_t rank, const int64_t *dims) {
  struct text from = {0}, into = {0};
  text_add(&from, assay_dtype_name(dtype));
  signature_describe_dims(dims, rank, &from);
  text_add(&into, assay_dtype_name(to->dtype));
  signature_describe_dims(to->dims, to->rank, &into);
  assay_status status = contract_fault(wiring->contract, mark, ASSAY_CONTRACT_MISMATCH,
                                       "stage '%s' takes '%s' as %s, but its file %s wants %s for '%s'",
                                       wiring->contract->stages->items[s].name, name, text_string(&from),
                                       wiring->paths[s], text_string(&into), to->name);
  text_free(&from);
  text_free(&into);
  return status;
}

static void take_value(struct wiring *wiring, int32_t value) {
  struct stage_value *given = &wiring->values[value];
  given->taken = true;
  if (given->output >= 0) {
    wiring->inner[given->output] = true;
  }
}

static assay_status add_late(struct wiring *wiring, int32_t s, int32_t input, int32_t value) {
  struct bound_stage *stage = &wiring->stages[s];
  struct stage_late *late;
  for (int32_t i = 0; i < stage->n_late; i++) {
    if (stage->late[i].input == input && stage->late[i].value == value) {
      return status_ok(); /* two terms of one output */
    }
  }
  ARENA_NEW(wiring->arena, late, stage->n_late + 1);
  for (int32_t i = 0; i < stage->n_late; i++) {
    late[i] = stage->late[i];
  }
  late[stage->n_late++] = (struct stage_late){input, value};
  stage->late = late;
  take_value(wiring, value);
  return status_ok();
}

/* The terms of an input that an earlier stage answers. */
static assay_status wire_terms(struct wiring *wiring, int32_t s, int32_t input) {
  const struct contract *contract = wiring->contract;
  const struct contract_terms *terms = contract->inputs[input].terms;
  for (int32_t t = 0; terms != NULL && t < terms->n_terms; t++) {
    const struct contract_term *term = &terms->terms[t];
    if (term->source != TERM_OUTPUT || term->lag > 0) {
      continue;
    }
    int32_t value = find_value(wiring, term->output);
    if (value < 0) {
      return contract_fault(contract, term->mark, ASSAY_CONTRACT_MISMATCH,
                            "term '%s' of input '%s' is the '%s' of the same step, which no stage before '%s' gives",
                            term->name, contract->inputs[input].name, term->output, contract->stages->items[s].name);
    }
    TRY(add_late(wiring, s, input, value));
  }
  return status_ok();
}

/* Wires `to` of stage s to an input of the contract or to what an earlier stage gave, if there is one of that name. */
static assay_status wire(struct wiring *wiring, int32_t s, const char *name, struct mark mark,
                         const struct signature_tensor *to, bool *is_input, int32_t *index) {
  const struct contract *contract = wiring->contract;
  int32_t input = input_index(contract, name), value = find_value(wiring, name);
  *is_input = input >= 0;
  *index = input >= 0 ? input : value;
  if (input >= 0) {
    struct side side = side_of_input(&contract->inputs[input]);
    wiring->used[input] = true;
    TRY(wire_terms(wiring, s, input));
    return side_fit(contract, &side, to, wiring->paths[s]);
  }
  if (value < 0) {
    return status_ok();
  }
  const struct stage_value *given = &wiring->values[value];
  take_value(wiring, value);
  return tensors_fit(given->dtype, given->rank, given->dims, to)
             ? status_ok()
             : misfit(wiring, s, mark, to, name, given->dtype, given->rank, given->dims);
}

static assay_status unknown_value(const struct wiring *wiring, int32_t s, const struct stage_link *link) {
  struct text known = {0};
  for (int32_t i = 0; i < wiring->contract->n_inputs && i < 12; i++) {
    text_format(&known, "%s'%.60s'", known.length > 0 ? ", " : "", wiring->contract->inputs[i].name);
  }
  for (int32_t v = 0; v < wiring->n_values && v < 12; v++) {
    text_format(&known, "%s'%.60s'", known.length > 0 ? ", " : "", wiring->values[v].name);
  }
  assay_status status = contract_fault(
      wiring->contract, link->mark, ASSAY_CONTRACT_MISMATCH,
      "stage '%s' takes '%s', which is neither an input of the contract nor given by an earlier stage; there are %s",
      wiring->contract->stages->items[s].name, link->value, text_string(&known));
  text_free(&known);
  return status;
}

/* The one input of the file that for_each feeds: not wired by name, or named like one of the items. */
static assay_status find_free(const struct wiring *wiring, int32_t s, const struct signature_tensor **out) {
  const struct contract_stage *stage = &wiring->contract->stages->items[s];
  const struct signature *signature = &wiring->signatures[s];
  int32_t count = 0;
  struct text names = {0};
  *out = NULL;
  for (int32_t i = 0; i < signature->n_inputs; i++) {
    const struct signature_tensor *tensor = &signature->inputs[i];
    bool item = false;
    for (int32_t e = 0; e < stage->n_each; e++) {
      item = item || text_equal(stage->each[e].value, tensor->name);
    }
    bool wired = input_index(wiring->contract, tensor->name) >= 0 || find_value(wiring, tensor->name) >= 0;
    if (find_link(stage->inputs, stage->n_inputs, tensor->name) == NULL && (item || !wired) && !tensor->has_default) {
      *out = tensor;
      text_format(&names, "%s'%.60s'", count++ > 0 ? ", " : "", tensor->name);
    }
  }
  assay_status status = status_ok();
  if (count != 1) {
    status =
        contract_fault(wiring->contract, stage->each[0].mark, ASSAY_CONTRACT_MISMATCH,
                       "for_each of stage '%s' needs one input of %s that nothing else feeds, but there are %d%s%s; "
                       "name the others under 'inputs'",
                       stage->name, wiring->paths[s], (int)count, count > 0 ? ": " : "", text_string(&names));
  }
  text_free(&names);
  return status;
}

static assay_status wire_items(struct wiring *wiring, int32_t s, const struct signature_tensor *to) {
  const struct contract_stage *stage = &wiring->contract->stages->items[s];
  struct stage_item *items;
  ARENA_NEW(wiring->arena, items, stage->n_each);
  for (int32_t e = 0; e < stage->n_each; e++) {
    const struct stage_link *link = &stage->each[e];
    items[e].name = link->value;
    TRY(wire(wiring, s, link->value, link->mark, to, &items[e].is_input, &items[e].index));
    if (items[e].index < 0) {
      return unknown_value(wiring, s, link);
    }
  }
  wiring->stages[s].items = items;
  wiring->stages[s].n_items = stage->n_each;
  return status_ok();
}

/* Feeds one input of the file, or leaves it alone when it has a default and no name meets it. */
static assay_status feed_one(struct wiring *wiring, int32_t s, const struct signature_tensor *tensor,
                             const struct signature_tensor *free, struct stage_feed *feeds, int32_t *count) {
  const struct contract_stage *stage = &wiring->contract->stages->items[s];
  const struct stage_link *link = find_link(stage->inputs, stage->n_inputs, tensor->name);
  struct stage_feed feed = {
      .tensor = tensor->name, .dtype = tensor->dtype, .rank = tensor->rank, .index = -1, .carry = -1};
  bool is_input = false;
  if (stage->time.input != NULL && text_equal(stage->time.input, tensor->name)) {
    feed.source = STAGE_FROM_TIME;
  } else if (tensor == free) {
    feed.source = STAGE_FROM_EACH;
    TRY(wire_items(wiring, s, tensor));
  } else {
    TRY(wire(wiring, s, link != NULL ? link->value : tensor->name, link != NULL ? link->mark : stage->mark, tensor,
             &is_input, &feed.index));
    feed.source = is_input ? STAGE_FROM_INPUT : STAGE_FROM_VALUE;
    if (feed.index < 0 && link != NULL) {
      return unknown_value(wiring, s, link);
    }
    if (feed.index < 0 && !tensor->has_default) {
      return contract_fault(wiring->contract, stage->mark, ASSAY_CONTRACT_MISMATCH,
                            "%s takes an input '%s', which nothing feeds: wire it under 'inputs' of stage '%s'",
                            wiring->paths[s], tensor->name, stage->name);
    }
    if (feed.index < 0) {
      return status_ok();
    }
  }
  TRY(keep_text(wiring->arena, &feed.tensor));
  TRY(keep_dims(wiring->arena, tensor, &feed.dims));
  feeds[(*count)++] = feed;
  return status_ok();
}

/* The time is one tensor of a known shape. */
static assay_status check_time(struct wiring *wiring, int32_t s) {
  const struct contract_stage *stage = &wiring->contract->stages->items[s];
  const struct stage_time *time = &stage->time;
  if (time->input == NULL) {
    return status_ok();
  }
  const struct signature *signature = &wiring->signatures[s];
  const struct signature_tensor *tensor = signature_find(signature->inputs, signature->n_inputs, time->input);
  if (tensor == NULL) {
    return contract_fault(wiring->contract, time->mark, ASSAY_CONTRACT_MISMATCH,
                          "%s has no input '%s' to feed the time to", wiring->paths[s], time->input);
  }
  bool fixed = tensor->rank >= 0;
  for (int32_t d = 0; d < tensor->rank; d++) {
    fixed = fixed && tensor->dims[d] >= 0;
  }
  if (time->rank < 0 && !fixed) {
    return contract_fault(wiring->contract, time->mark, ASSAY_CONTRACT_MISMATCH,
                          "the time input '%s' of %s has no fixed shape; say it, as in `shape: [1]`", time->input,
                          wiring->paths[s]);
  }
  struct side side = {"time input", time->input, time->mark, tensor->dtype, time->rank, time->dims};
  return time->rank < 0 ? status_ok() : side_fit(wiring->contract, &side, tensor, wiring->paths[s]);
}

static assay_status wire_inputs(struct wiring *wiring, int32_t s) {
  const struct contract_stage *stage = &wiring->contract->stages->items[s];
  const struct signature *signature = &wiring->signatures[s];
  const struct signature_tensor *free = NULL;
  struct stage_feed *feeds;
  ARENA_NEW(wiring->arena, feeds, signature->n_inputs + 1);
  for (int32_t i = 0; i < stage->n_inputs; i++) {
    if (signature_find(signature->inputs, signature->n_inputs, stage->inputs[i].tensor) == NULL) {
      struct text more = {0};
      signature_suggest(signature->inputs, signature->n_inputs, stage->inputs[i].tensor, &more);
      assay_status status = contract_fault(wiring->contract, stage->inputs[i].mark, ASSAY_CONTRACT_MISMATCH,
                                           "%s has no input '%s' (stage '%s')%s", wiring->paths[s],
                                           stage->inputs[i].tensor, stage->name, text_string(&more));
      text_free(&more);
      return status;
    }
  }
  TRY(check_time(wiring, s));
  if (stage->n_each > 0) {
    TRY(find_free(wiring, s, &free));
  }
  for (int32_t i = 0; i < signature->n_inputs; i++) {
    TRY(feed_one(wiring, s, &signature->inputs[i], free, feeds, &wiring->stages[s].n_feeds));
  }
  wiring->stages[s].feeds = feeds;
  return status_ok();
}

/* --- what a stage gives --------------------------------------------------------------- */

/* dims of what for_each gives, joined. */
static assay_status join_dims(struct wiring *wiring, int32_t s, struct mark mark, struct stage_value *value) {
  const struct contract_stage *stage = &wiring->contract->stages->items[s];
  int32_t axis = stage->join_axis, most = stage->join == STAGE_STACK ? value->rank + 1 : value->rank;
  int64_t *dims;
  if (value->rank < 0) {
    return status_ok();
  }
  if (axis >= most || most > ASSAY_RANK_MAX) {
    return contract_fault(wiring->contract, mark, ASSAY_CONTRACT_MISMATCH,
                          "'join' of stage '%s' names axis %d, but '%s' has %d dimensions", stage->name, (int)axis,
                          value->name, (int)value->rank);
  }
  ARENA_NEW(wiring->arena, dims, most + 1);
  for (int32_t d = 0, from = 0; d < most; d++) {
    bool added = stage->join == STAGE_STACK && d == axis;
    int64_t size = added ? 1 : value->dims[from++];
    dims[d] = d == axis && size >= 0 ? size * stage->n_each : size;
  }
  value->rank = most;
  value->dims = dims;
  return status_ok();
}

static assay_status add_value(struct wiring *wiring, int32_t s, struct mark mark, struct stage_value value) {
  const struct contract *contract = wiring->contract;
  int32_t other = find_value(wiring, value.name);
  const char *name = contract->stages->items[s].name;
  if (input_index(contract, value.name) >= 0) {
    return contract_fault(
        contract, mark, ASSAY_CONTRACT_MISMATCH,
        "stage '%s' gives '%s', which is an input of the contract; give it another name under 'outputs'", name,
        value.name);
  }
  if (other >= 0) {
    return contract_fault(contract, mark, ASSAY_CONTRACT_MISMATCH,
                          "stage '%s' gives '%s', which stage '%s' gives already; name one of them otherwise under "
                          "'outputs'",
                          name, value.name, contract->stages->items[wiring->values[other].stage].name);
  }
  value.output = -1;
  for (int32_t o = 0; o < contract->n_outputs; o++) {
    if (text_equal(contract->outputs[o].name, value.name)) {
      const struct signature_tensor tensor = {
          .name = value.name, .dtype = value.dtype, .rank = value.rank, .dims = value.dims};
      struct side side = side_of_output(&contract->outputs[o]);
      value.output = o;
      TRY(side_fit(contract, &side, &tensor, wiring->paths[s]));
    }
  }
  wiring->values[wiring->n_values++] = value;
  return status_ok();
}

static assay_status give_one(struct wiring *wiring, int32_t s, const struct signature_tensor *tensor,
                             struct stage_gift *gift) {
  const struct contract_stage *stage = &wiring->contract->stages->items[s];
  const struct stage_link *link = find_link(stage->outputs, stage->n_outputs, tensor->name);
  struct mark mark = link != NULL ? link->mark : stage->mark;
  struct stage_value value = {.name = link != NULL ? link->value : tensor->name,
                              .stage = s,
                              .item = -1,
                              .dtype = tensor->dtype,
                              .rank = tensor->rank};
  *gift = (struct stage_gift){
      .tensor = tensor->name, .dtype = tensor->dtype, .rank = tensor->rank, .value = wiring->n_values};
  TRY(keep_text(wiring->arena, &gift->tensor));
  TRY(keep_text(wiring->arena, &value.name));
  TRY(keep_dims(wiring->arena, tensor, &value.dims));
  gift->dims = value.dims;
  if (stage->n_each == 0 || stage->join != STAGE_APART) {
    TRY(stage->n_each > 0 ? join_dims(wiring, s, mark, &value) : status_ok());
    return add_value(wiring, s, mark, value);
  }
  const char *base = value.name;
  for (value.item = 0; value.item < stage->n_each; value.item++) {
    value.name = arena_format(wiring->arena, "%s_%s", base, stage->each[value.item].value);
    TRY(value.name != NULL ? add_value(wiring, s, mark, value) : status_no_memory(strlen(base)));
  }
  return status_ok();
}

static assay_status wire_outputs(struct wiring *wiring, int32_t s) {
  const struct contract_stage *stage = &wiring->contract->stages->items[s];
  const struct signature *signature = &wiring->signatures[s];
  struct stage_gift *gifts;
  ARENA_NEW(wiring->arena, gifts, signature->n_outputs + 1);
  for (int32_t i = 0; i < stage->n_outputs; i++) {
    if (signature_find(signature->outputs, signature->n_outputs, stage->outputs[i].tensor) == NULL) {
      struct text more = {0};
      signature_suggest(signature->outputs, signature->n_outputs, stage->outputs[i].tensor, &more);
      assay_status status = contract_fault(wiring->contract, stage->outputs[i].mark, ASSAY_CONTRACT_MISMATCH,
                                           "%s has no output '%s' (stage '%s')%s", wiring->paths[s],
                                           stage->outputs[i].tensor, stage->name, text_string(&more));
      text_free(&more);
      return status;
    }
  }
  for (int32_t i = 0; i < signature->n_outputs; i++) {
    TRY(give_one(wiring, s, &signature->outputs[i], &gifts[i]));
  }
  wiring->stages[s].gifts = gifts;
  wiring->stages[s].n_gifts = signature->n_outputs;
  return status_ok();
}

/* --- loops ------------------------------------------------------------------------------ */

static assay_status wire_carry(struct wiring *wiring, int32_t s, const struct stage_link *link) {
  struct bound_stage *bound = &wiring->stages[s];
  struct stage_feed *feeds = (struct stage_feed *)bound->feeds;
  struct stage_gift *gifts = (struct stage_gift *)bound->gifts;
  int32_t feed = 0, gift = 0;
  while (feed < bound->n_feeds && !text_equal(feeds[feed].tensor, link->tensor)) {
    feed++;
  }
  while (gift < bound->n_gifts && !text_equal(gifts[gift].tensor, link->value)) {
    gift++;
  }
  bool no_input = feed == bound->n_feeds, no_output = gift == bound->n_gifts;
  if (no_input || no_output) {
    return contract_fault(wiring->contract, link->mark, ASSAY_CONTRACT_MISMATCH,
                          "'carry' of stage '%s' names the %s '%s', but %s has none; it is {INPUT: OUTPUT}, both names "
                          "of tensors in the file",
                          bound->stage->name, no_input ? "input" : "output", no_input ? link->tensor : link->value,
                          wiring->paths[s]);
  }
  const struct signature_tensor to = {
      .name = link->tensor, .dtype = feeds[feed].dtype, .rank = feeds[feed].rank, .dims = feeds[feed].dims};
  if (!tensors_fit(gifts[gift].dtype, gifts[gift].rank, gifts[gift].dims, &to)) {
    return misfit(wiring, s, link->mark, &to, link->value, gifts[gift].dtype, gifts[gift].rank, gifts[gift].dims);
  }
  feeds[feed].carry = gift;
  gifts[gift].carried = true;
  return status_ok();
}

/* --- the whole ---------------------------------------------------------------------------- */

static assay_status check_whole(const struct wiring *wiring) {
  const struct contract *contract = wiring->contract;
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    if (!wiring->used[i]) {
      return contract_fault(contract, contract->inputs[i].mark, ASSAY_CONTRACT_MISMATCH,
                            "no stage takes the input '%s'; wire it under 'inputs' of a stage, or take it out",
                            contract->inputs[i].name);
    }
  }
  for (int32_t o = 0; o < contract->n_outputs; o++) {
    const struct contract_output *output = &contract->outputs[o];
    if (find_value(wiring, output->name) < 0) {
      return contract_fault(contract, output->mark, ASSAY_CONTRACT_MISMATCH,
                            "no stage gives the output '%s'; name it under 'outputs' of a stage, or take it out",
                            output->name);
    }
    if (output->bare && !wiring->inner[o]) {
      return contract_fault(contract, output->mark, ASSAY_CONTRACT_MISMATCH,
                            "output '%s' needs the key 'components', since no later stage takes it", output->name);
    }
  }
  for (int32_t v = 0; v < wiring->n_values; v++) {
    const struct stage_value *value = &wiring->values[v];
    const struct contract_stage *stage = &contract->stages->items[value->stage];
    if (!value->taken && value->output < 0) {
      return contract_fault(
          contract, stage->mark, ASSAY_CONTRACT_MISMATCH,
          "stage '%s' gives '%s', which no later stage takes; list it under 'outputs' of the contract", stage->name,
          value->name);
    }
  }
  return status_ok();
}

assay_status stages_bind(const struct contract *contract, const struct signature *signatures, const char *const *paths,
                         struct arena *arena, struct bound_stages **out) {
  const struct contract_stages *stages = contract->stages;
  struct wiring wiring = {.contract = contract, .signatures = signatures, .paths = paths, .arena = arena};
  size_t most = 0;
  for (int32_t s = 0; s < stages->count; s++) {
    int32_t each = stages->items[s].n_each;
    most += (size_t)signatures[s].n_outputs * (size_t)(each > 0 ? each : 1);
  }
  ARENA_NEW(arena, wiring.stages, stages->count);
  ARENA_NEW(arena, wiring.values, most + 1);
  ARENA_NEW(arena, wiring.inner, contract->n_outputs + 1);
  ARENA_NEW(arena, wiring.used, contract->n_inputs + 1);
  for (int32_t s = 0; s < stages->count; s++) {
    wiring.stages[s].stage = &stages->items[s];
    TRY(wire_inputs(&wiring, s));
    TRY(wire_outputs(&wiring, s));
    for (int32_t c = 0; c < stages->items[s].n_carry; c++) {
      TRY(wire_carry(&wiring, s, &stages->items[s].carry[c]));
    }
    TRY(metadata_check(contract, &signatures[s], paths[s]));
  }
  TRY(check_whole(&wiring));
  ARENA_NEW(arena, *out, 1);
  **out = (struct bound_stages){.contract = contract,
                                .n_stages = stages->count,
                                .n_values = wiring.n_values,
                                .stages = wiring.stages,
                                .values = wiring.values,
                                .inner = wiring.inner};
  return status_ok();
}

assay_status stages_bind_other(const struct bound_stages *bound, int32_t s, const struct signature *signature,
                               const char *path) {
  const struct bound_stage *stage = &bound->stages[s];
  struct mark mark = stage->stage->mark;
  for (int32_t i = 0; i < stage->n_feeds; i++) {
    const struct stage_feed *feed = &stage->feeds[i];
    const struct signature_tensor *tensor = signature_find(signature->inputs, signature->n_inputs, feed->tensor);
    if (tensor == NULL || !tensors_fit(feed->dtype, feed->rank, feed->dims, tensor)) {
      return contract_fault(bound->contract, mark, ASSAY_CONTRACT_MISMATCH,
                            "%s cannot stand for stage '%s': its input '%s' is %s", path, stage->stage->name,
                            feed->tensor, tensor == NULL ? "missing" : "of another dtype or shape");
    }
  }
  for (int32_t i = 0; i < signature->n_inputs; i++) {
    const struct signature_tensor *tensor = &signature->inputs[i];
    bool fed = tensor->has_default;
    for (int32_t f = 0; f < stage->n_feeds && !fed; f++) {
      fed = text_equal(stage->feeds[f].tensor, tensor->name);
    }
    if (!fed) {
      return contract_fault(bound->contract, mark, ASSAY_CONTRACT_MISMATCH,
                            "%s cannot stand for stage '%s': it takes an input '%s', which nothing feeds", path,
                            stage->stage->name, tensor->name);
    }
  }
  return metadata_check(bound->contract, signature, path);
}

assay_status stages_paths(const struct contract *contract, struct arena *arena, const char *const **out) {
  const char **paths, *folder = path_folder(arena, contract->path);
  ARENA_NEW(arena, paths, contract->stages->count);
  for (int32_t s = 0; s < contract->stages->count; s++) {
    paths[s] = folder != NULL ? path_join(arena, folder, contract->stages->items[s].model) : NULL;
    if (paths[s] == NULL) {
      return status_no_memory(strlen(contract->path));
    }
  }
  *out = paths;
  return status_ok();
}

static assay_status open_and_bind(const struct contract *contract, const char *const *paths, struct model **models,
                                  struct arena *scratch, struct arena *arena, struct bound_stages **out) {
  struct signature *signatures;
  ARENA_NEW(scratch, signatures, contract->stages->count);
  for (int32_t s = 0; s < contract->stages->count; s++) {
    TRY(model_open(paths[s], NULL, &models[s]));
    TRY(model_signature(models[s], scratch, &signatures[s]));
  }
  return stages_bind(contract, signatures, paths, arena, out);
}

assay_status stages_bind_files(const struct contract *contract, const char *const *paths, struct arena *arena,
                               struct bound_stages **out) {
  struct model *models[STAGES_MAX] = {0};
  struct arena scratch = {0};
  *out = NULL;
  assay_status status = open_and_bind(contract, paths, models, &scratch, arena, out);
  for (int32_t s = 0; s < contract->stages->count; s++) {
    model_close(models[s]);
  }
  arena_free(&scratch);
  return status;
}
