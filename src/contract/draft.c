/* Writes the drafts. Every answer that a draft gives is a fact of the model or of a file that it names; every TODO is
 * a question that `verify` refuses with its line until a person answers it. */
#include "contract/draft.h"

#include <string.h>

#include "contract/draft_stages.h"
#include "contract/draft_write.h"
#include "contract/yaml.h"

/* --- state ------------------------------------------------------------------ */

static bool same_type(const struct signature_tensor *a, const struct signature_tensor *b) {
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (int32_t i = 0; same && i < a->rank; i++) {
    same = a->dims[i] == b->dims[i];
  }
  return same;
}

static void add_pair(const char *input, const char *output, struct text *out) {
  text_add(out, "{input: ");
  yaml_write_scalar(out, input);
  text_add(out, ", output: ");
  yaml_write_scalar(out, output);
}

/* Pairs of equal dtype and shape may be state; which are, the model does not say. */
static void add_candidates(const struct draft_plan *plan, struct text *out) {
  const struct signature *signature = plan->signature;
  bool any = false;
  for (int32_t i = 0; i < signature->n_inputs; i++) {
    for (int32_t o = 0; o < signature->n_outputs; o++) {
      if (plan->inputs[i] != NULL || signature->inputs[i].has_default ||
          !same_type(&signature->inputs[i], &signature->outputs[o])) {
        continue;
      }
      if (!any) {
        text_add(out,
                 "state: TODO                       # which outputs are fed back at the next step? of equal dtype and "
                 "shape are:\n");
        any = true;
      }
      text_add(out, "#  - ");
      add_pair(signature->inputs[i].name, signature->outputs[o].name, out);
      text_add(out, ", initial: zeros, reset: episode}\n");
    }
  }
  if (any) {
    text_add(out, "# Take 'state' out when none is; an output that is only state needs no 'components'.\n");
  }
}

static void add_state(const struct draft_plan *plan, struct text *out) {
  const struct facts *facts = plan->facts;
  for (int32_t i = 0; i < facts->n_states; i++) {
    const struct fact_state *state = &facts->states[i];
    text_add(out, i == 0 ? "state:\n  - " : "  - ");
    add_pair(state->input, state->output, out);
    text_add(out, ", initial: ");
    if (state->initial != NULL && state->initial[0] == '{') {
      text_add(out, state->initial); /* a mapping, as the contract writes it */
    } else if (state->initial != NULL) {
      yaml_write_scalar(out, state->initial);
    } else {
      write_todo(out, "no file says what it starts from");
    }
    text_add(out, ", source: ");
    write_place(out, state->place);
    text_add(out, "}\n");
  }
  if (facts->n_states == 0) {
    add_candidates(plan, out);
  }
}

static bool is_state_input(const struct facts *facts, const char *name) {
  for (int32_t i = 0; i < facts->n_states; i++) {
    if (text_equal(facts->states[i].input, name)) {
      return true;
    }
  }
  return false;
}

static bool is_state_output(const struct facts *facts, const char *name) {
  for (int32_t i = 0; i < facts->n_states; i++) {
    if (text_equal(facts->states[i].output, name)) {
      return true;
    }
  }
  return false;
}

/* --- which facts are about which tensor ------------------------------------------ */

static assay_status no_tensor(const struct draft_plan *plan, struct place place, bool input, const char *name) {
  const struct signature *signature = plan->signature;
  struct text where = {0}, list = {0};
  place_add(&where, place);
  int32_t count = input ? signature->n_inputs : signature->n_outputs;
  const struct signature_tensor *tensors = input ? signature->inputs : signature->outputs;
  for (int32_t i = 0; i < count && i < 16; i++) {
    text_add(&list, i > 0 ? ", " : "");
    text_add_shown(&list, tensors[i].name);
  }
  const char *side = input ? "input" : "output";
  assay_status status =
      name != NULL ? status_make(ASSAY_IMPORT_INVALID, text_string(&where),
                                 "the file speaks of %s '%.80s', which %s does not have; its %ss are: %s", side, name,
                                 plan->model_name, side, text_string(&list))
                   : status_make(ASSAY_IMPORT_INVALID, text_string(&where),
                                 "the file does not say which %s it speaks of, and sizes don't tell; those of %s are: "
                                 "%s",
                                 side, plan->model_name, text_string(&list));
  text_free(&where);
  text_free(&list);
  return status;
}

static int32_t find_tensor(const struct signature_tensor *tensors, int32_t count, const char *name) {
  for (int32_t i = 0; i < count; i++) {
    if (text_equal(tensors[i].name, name)) {
      return i;
    }
  }
  return -1;
}

/* The free tensor that facts without a name are about: the only one, or the only one of that size. */
static int32_t find_free(const struct signature_tensor *tensors, int32_t count, const bool *taken, int64_t size) {
  int32_t only = -1, sized = -1, n_free = 0, n_sized = 0;
  for (int32_t i = 0; i < count; i++) {
    if (!taken[i]) {
      n_free++;
      only = i;
      if (size > 0 && draft_size(&tensors[i]) == size) {
        n_sized++;
        sized = i;
      }
    }
  }
  return n_free == 1 ? only : n_sized == 1 ? sized : -1;
}

/* The elements that facts of an input add up to, as far as they say; 0 when they don't. */
static int64_t stated_size(const struct draft_plan *plan, const struct fact_input *input) {
  double total = 0;
  for (int32_t t = 0; t < input->n_terms; t++) {
    const struct fact_term *term = &input->terms[t];
    double steps = term->history.given ? term->history.value : input->history.given ? input->history.value : 1;
    int64_t joints = term->of_joints || term->origin == FACT_OUTPUT ? plan->n_joints : 0;
    int64_t width = term->elements.count > 0     ? term->elements.count
                    : term->of_some.count > 0    ? term->of_some.count
                    : term->width > 0            ? term->width
                    : term->origin == FACT_CLOCK ? 2
                                                 : joints;
    if (width == 0) {
      return input->size.given ? (int64_t)input->size.value : 0;
    }
    total += (double)width * steps;
  }
  return total > 0 && total < 1e9 ? (int64_t)total : input->size.given ? (int64_t)input->size.value : 0;
}

static assay_status plan_inputs(struct draft_plan *plan, struct arena *arena) {
  const struct signature *signature = plan->signature;
  bool *taken;
  ARENA_NEW(arena, plan->inputs, signature->n_inputs + 1);
  ARENA_NEW(arena, taken, signature->n_inputs + 1);
  for (int32_t i = 0; i < signature->n_inputs; i++) {
    taken[i] = signature->inputs[i].has_default || is_state_input(plan->facts, signature->inputs[i].name);
  }
  for (int32_t named = 1; named >= 0; named--) {
    for (int32_t f = 0; f < plan->facts->n_inputs; f++) {
      const struct fact_input *input = &plan->facts->inputs[f];
      if ((input->name != NULL) != (named == 1)) {
        continue;
      }
      int32_t at = named == 1 ? find_tensor(signature->inputs, signature->n_inputs, input->name)
                              : find_free(signature->inputs, signature->n_inputs, taken, stated_size(plan, input));
      if (at < 0) {
        return no_tensor(plan, input->place, true, input->name);
      }
      plan->inputs[at] = input;
      taken[at] = true;
    }
  }
  return status_ok();
}

static assay_status plan_outputs(struct draft_plan *plan, struct arena *arena) {
  const struct signature *signature = plan->signature;
  bool *taken;
  ARENA_NEW(arena, plan->outputs, signature->n_outputs + 1);
  ARENA_NEW(arena, taken, signature->n_outputs + 1);
  for (int32_t i = 0; i < signature->n_outputs; i++) {
    taken[i] = is_state_output(plan->facts, signature->outputs[i].name);
  }
  for (int32_t named = 1; named >= 0; named--) {
    for (int32_t f = 0; f < plan->facts->n_outputs; f++) {
      const struct fact_output *output = &plan->facts->outputs[f];
      if ((output->name != NULL) != (named == 1)) {
        continue;
      }
      int64_t size = output->components.count > 0    ? output->components.count
                     : output->joint_index.count > 0 ? output->joint_index.count
                                                     : plan->n_joints;
      int32_t at = named == 1 ? find_tensor(signature->outputs, signature->n_outputs, output->name)
                              : find_free(signature->outputs, signature->n_outputs, taken, size);
      if (at < 0) {
        return no_tensor(plan, output->place, false, output->name);
      }
      plan->outputs[at] = output;
      taken[at] = true;
    }
  }
  return status_ok();
}

int32_t draft_find_output(const struct draft_plan *plan, const char *name) {
  const struct signature *signature = plan->signature;
  if (name != NULL) {
    return find_tensor(signature->outputs, signature->n_outputs, name);
  }
  int32_t planned = -1, n_planned = 0;
  for (int32_t i = 0; i < signature->n_outputs; i++) {
    if (plan->outputs[i] != NULL) {
      planned = i;
      n_planned++;
    }
  }
  return n_planned == 1 ? planned : signature->n_outputs == 1 ? 0 : -1;
}

static int32_t find_joint(const struct fact_words *joints, const char *name) {
  for (int32_t i = 0; i < joints->count; i++) {
    if (text_equal(joints->values[i], name)) {
      return i;
    }
  }
  return -1;
}

assay_status draft_default(const struct draft_plan *plan, struct arena *arena, double sign,
                           const struct fact_words *named, struct fact_numbers *out) {
  const struct fact_numbers *all = &plan->facts->default_pos;
  *out = (struct fact_numbers){.place = all->place};
  if (all->count == 0) {
    return status_ok();
  }
  int32_t count = named->count > 0 ? named->count : all->count;
  double *values;
  ARENA_NEW(arena, values, count);
  for (int32_t i = 0; i < count; i++) {
    int32_t at = named->count > 0 ? find_joint(&plan->facts->joints, named->values[i]) : i;
    if (at < 0 || (at >= all->count && all->count > 1)) {
      return status_ok(); /* a joint of which no file says it */
    }
    double value = sign * all->values[all->count == 1 ? 0 : at];
    values[i] = value == 0 ? 0 : value;
  }
  out->values = values;
  out->count = count;
  return status_ok();
}

/* Joints have names, or a number of which some tensor is made. */
static void plan_joints(struct draft_plan *plan) {
  const struct facts *facts = plan->facts;
  plan->n_joints = facts->joints.count > 0 ? facts->joints.count
                   : facts->n_joints.given ? (int32_t)facts->n_joints.value
                                           : 0;
  bool used = facts->joints.count > 0;
  for (int32_t i = 0; i < facts->n_inputs; i++) {
    for (int32_t t = 0; t < facts->inputs[i].n_terms; t++) {
      used = used || facts->inputs[i].terms[t].of_joints;
    }
  }
  plan->has_joints_group = used || plan->n_joints > 0;
}

/* --- the whole ------------------------------------------------------------------------ */

static void add_metadata(struct text *out, const struct signature *signature) {
  for (int32_t i = 0; i < signature->n_metadata; i++) {
    text_add(out, i == 0 ? "# The model's metadata:\n#   " : "#   ");
    write_remark(out, signature->metadata[i].key);
    text_add(out, ": ");
    write_remark(out, signature->metadata[i].value);
    text_add_char(out, '\n');
  }
}

static void add_remarks(struct text *out, const struct facts *facts) {
  for (int32_t i = 0; i < facts->n_remarks; i++) {
    struct text place = {0};
    place_add(&place, facts->remarks[i].place);
    text_add(out, i == 0 ? "# Said by the files, and no key of a contract:\n#   " : "#   ");
    write_remark(out, text_string(&place));
    text_add(out, "  ");
    write_remark(out, facts->remarks[i].text);
    text_add_char(out, '\n');
    write_part_free(&place, out);
  }
}

static void add_groups(const struct draft_plan *plan, struct text *out) {
  static const struct place nowhere = {0};
  const struct fact_words *joints = &plan->facts->joints;
  if (!plan->has_joints_group) {
    return;
  }
  text_add(out, "groups:\n  joints: ");
  if (joints->count > 0) {
    write_value_begin(out, joints->place, nowhere);
    write_words(out, joints->values, joints->count, 4);
    write_value_end(out, joints->place, nowhere);
  } else {
    const char *asked = facts_asked(&plan->facts->open, "joints");
    struct text reason = {0};
    if (plan->facts->n_joints.given) {
      text_format(&reason, "the %d names in the order of the model's output; ", (int)plan->n_joints);
      place_add(&reason, plan->facts->n_joints.place);
      text_add(&reason, " counts them and no file names them; --from a file with joint_names does");
    } else {
      text_add(&reason, "the names in the order of the model's output; no file names them");
    }
    write_todo(out, asked != NULL ? asked : text_string(&reason));
    write_part_free(&reason, out);
  }
  text_add_char(out, '\n');
}

static void add_timing(const struct draft_plan *plan, struct text *out) {
  static const struct place nowhere = {0};
  const struct fact_number *period = &plan->facts->period_ms;
  const char *asked = facts_asked(&plan->facts->open, "period_ms");
  if (!period->given && asked == NULL) {
    return;
  }
  text_add(out, "timing: {period_ms: ");
  if (period->given) {
    write_value_begin(out, period->place, nowhere);
    write_number(out, period->value);
    write_value_end(out, period->place, nowhere);
  } else {
    write_todo(out, asked);
  }
  text_add(out, "}\n");
}

/* Whether a term of the same step is fed from an output: what an earlier stage gives. */
static bool is_fed_at_once(const struct facts *facts, const char *output) {
  for (int32_t i = 0; i < facts->n_inputs; i++) {
    for (int32_t t = 0; t < facts->inputs[i].n_terms; t++) {
      const struct fact_term *term = &facts->inputs[i].terms[t];
      if (term->origin == FACT_OUTPUT && term->lag == 0 && term->output != NULL && text_equal(term->output, output)) {
        return true;
      }
    }
  }
  return false;
}

static assay_status add_tensors(const struct draft_plan *plan, const struct staging *staging, struct arena *arena,
                                struct text *out) {
  text_add(out, "inputs:\n");
  for (int32_t i = 0; i < plan->signature->n_inputs; i++) {
    const struct signature_tensor *tensor = &plan->signature->inputs[i];
    if (is_state_input(plan->facts, tensor->name) && plan->inputs[i] == NULL) {
      draft_head(tensor, out); /* nobody measures it, so that it has no unit */
    } else if (!tensor->has_default) {
      TRY(draft_input(plan, arena, i, out));
    }
  }
  add_state(plan, out);
  text_add(out, "outputs:\n");
  for (int32_t i = 0; i < plan->signature->n_outputs; i++) {
    const char *name = plan->signature->outputs[i].name;
    bool inner = staging_is_inner(staging, name) || is_fed_at_once(plan->facts, name);
    bool carried = is_state_output(plan->facts, name) || inner;
    if (carried && plan->outputs[i] == NULL) {
      draft_head(&plan->signature->outputs[i], out); /* only carried on, so that it needs no components */
    } else {
      TRY(draft_output(plan, arena, i, out));
    }
  }
  return status_ok();
}

static assay_status make_draft(const struct draft *draft, struct arena *arena, struct text *out) {
  static const struct facts nothing = {0};
  struct draft_plan plan = {.facts = draft->facts != NULL ? draft->facts : &nothing};
  struct staging staging = {0};
  plan.signature = draft->models[0].signature;
  plan.model_name = draft->models[0].path;
  if (draft->n_models > 1 || plan.facts->n_stages > 1) {
    TRY(staging_plan(draft, plan.facts, arena, &staging));
    plan.signature = &staging.signature;
    plan.model_name = "the policy";
  }
  plan_joints(&plan);
  TRY(plan_inputs(&plan, arena));
  TRY(plan_outputs(&plan, arena));
  text_add(out,
           "# Drafted by `assay init`. Every TODO is a question that neither the model nor a file answers; `assay "
           "verify`\n# refuses this file until each is answered. docs/contract.md describes every key.\n");
  add_metadata(out, plan.signature);
  add_remarks(out, plan.facts);
  text_add(out, "assay: 1\npolicy: ");
  yaml_write_scalar(out, plan.facts->policy.value != NULL ? plan.facts->policy.value : draft->policy);
  text_add_char(out, '\n');
  if (staging.count == 0) {
    text_add(out, "model: ");
    yaml_write_scalar(out, draft->models[0].path);
    text_add_char(out, '\n');
  }
  add_groups(&plan, out);
  add_timing(&plan, out);
  TRY(add_tensors(&plan, &staging, arena, out));
  if (staging.count > 0) {
    staging_write(&staging, out);
  }
  return status_ok();
}

assay_status draft_contract(const struct draft *draft, struct text *out) {
  struct arena arena = {0};
  assay_status status = make_draft(draft, &arena, out);
  arena_free(&arena);
  TRY(status);
  return text_status(out);
}

assay_status draft_gate(const char *policy, struct text *out) {
  text_add(out, "# Drafted by `assay init`: the ladder of ");
  write_remark(out, policy);
  text_add(out,
           ", against what the source framework answered.\n"
           "assay: 1\n"
           "contract: contract.yaml\n"
           "corpus: golden                    # `assay corpus new golden` starts one\n"
           "reference: {rung: recorded}\n"
           "rungs:\n"
           "  - {name: fp32, engine: assay}\n");
  return text_status(out);
}
