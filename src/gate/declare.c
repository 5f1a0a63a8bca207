/* See declare.h. Only what a verdict is judged by, or the guard refuses by, is said: the rest may change freely. */
#include "gate/declare.h"

#include <math.h>
#include <string.h>

#include "contract/checks.h"
#include "core/text.h"
#include "corpus/case_times.h"

/* Said of everything that can be dropped, so that a whole that went is told as that and not by its parts. */
static void add_listed(struct statements *out) { describe_text(out, true, "listed", "yes"); }

/* The contract's statements that judge, each output and component listed. */
static assay_status declare_contract(const struct contract *contract, struct arena *arena, struct statements *out) {
  struct statements all = {.arena = arena};
  const char *root = NULL, *part = NULL;
  TRY(contract_describe(contract, &all));
  for (int32_t i = 0; i < all.count; i++) {
    const struct statement *statement = &all.items[i];
    bool other = statement->root != root || statement->part != part;
    root = statement->root;
    part = statement->part;
    if (other && text_starts_with(root, "output ")) {
      out->root = root;
      out->part = part;
      add_listed(out);
    }
    if (statement->judges && statement->kind != STATEMENT_ORDER) {
      describe_add(out, statement);
    }
  }
  return describe_status(out);
}

/* The tolerances in force where the rung has its own, under the names that the contract's have. */
static void declare_tolerances(const struct gate_rung *rung, const struct contract *contract, struct statements *out) {
  for (int32_t o = 0; o < contract->n_outputs && rung->n_tolerances > 0; o++) {
    const struct contract_output *output = &contract->outputs[o];
    for (int32_t c = 0; c < output->n_components; c++) {
      const struct contract_component *component = &output->components[c];
      const char *reason;
      struct tolerance own = gate_tolerance_of(rung, output, component, &reason);
      describe_part(out, "output %s, component %s", output->name, component->name);
      describe_tolerance(out, &own, component->unit, component->raw_unit);
      describe_text(out, false, "reason", reason);
    }
  }
  describe_part(out, NULL);
}

static void declare_rung(const struct gate_rung *rung, const struct contract *contract, struct statements *out) {
  const struct rung_request *request = &rung->request;
  describe_root(out, "rung %s", request->name);
  add_listed(out);
  const struct statement required = {.root = out->root,
                                     .what = "required",
                                     .value = rung->required ? "yes" : "no",
                                     .kind = STATEMENT_FLOOR,
                                     .judges = true,
                                     .number = rung->required};
  describe_add(out, &required);
  describe_text(out, true, "engine", request->engine);
  describe_text(out, true, "precision", request->precision);
  describe_text(out, true, "provider", request->provider);
  for (int32_t i = 0; i < request->n_settings; i++) {
    struct text what = {0};
    text_format(&what, "setting %s", request->settings[i].key);
    out->failed |= what.failed;
    describe_text(out, true, text_string(&what), request->settings[i].value);
    text_free(&what);
  }
  declare_tolerances(rung, contract, out);
}

static void declare_noise(const struct gate_noise *noise, struct statements *out) {
  describe_root(out, "noise");
  describe_bound(out, STATEMENT_FLOOR, "cases", noise->cases, NULL);
  describe_bound(out, STATEMENT_FLOOR, "repeats", noise->repeats, NULL);
  describe_bound(out, STATEMENT_FLOOR, "processes", noise->processes, NULL);
  describe_bound(out, STATEMENT_FLOOR, "rebuild", noise->rebuild, NULL);
  describe_bound(out, STATEMENT_FLOOR, "thread counts", noise->n_threads, NULL);
}

/* "step 3 ACTION_LIMIT, ..." */
static void declare_guard(const struct corpus_case *entry, struct statements *out) {
  struct text answers = {0};
  for (int32_t i = 0; i < entry->n_guard; i++) {
    text_add(&answers, i > 0 ? ", " : "");
    if (entry->guard[i].step >= 0) {
      text_format(&answers, "step %lld ", (long long)entry->guard[i].step);
    }
    text_add(&answers, guard_answer_name(entry->guard[i].answer));
  }
  out->failed |= answers.failed;
  describe_text(out, true, "guard", entry->n_guard > 0 ? text_string(&answers) : NULL);
  text_free(&answers);
}

/* One field of the digest, its length before it. */
static void add_field(struct hash *hash, const char *text) {
  const size_t length = text != NULL ? strlen(text) + 1 : 0;
  hash_add(hash, &length, sizeof length);
  hash_add(hash, text != NULL ? text : "", length);
}

/* When things were measured and what monitors said: many numbers, so their digest stands for them. */
static void declare_times(const struct corpus_case *entry, struct statements *out) {
  struct hash hash;
  char digest[HASH_TEXT_SIZE], ms[NUMBER_SIZE];
  if (entry->n_ages == 0 && !case_times_given(entry)) {
    return;
  }
  hash_begin(&hash);
  for (int32_t i = 0; i < entry->n_ages; i++) {
    number_text(ms, entry->ages[i].ms);
    add_field(&hash, entry->ages[i].input);
    add_field(&hash, ms);
  }
  case_times_hash(&hash, entry, add_field);
  hash_end(&hash, digest);
  describe_text(out, true, "times and monitors", digest);
}

static void declare_case(const struct corpus_case *entry, struct statements *out) {
  describe_root(out, "case %s", entry->id);
  describe_text(out, true, "bytes", entry->digest);
  describe_text(out, true, "expectation", entry->refuse ? assay_code_name(entry->refusal) : "answer");
  declare_guard(entry, out);
  declare_times(entry, out);
  if (entry->forced) {
    describe_text(out, true, "state", "forced");
  }
}

assay_status declare(const struct gate_file *gate, const struct contract *contract, const struct corpus *corpus,
                     struct arena *arena, struct declaration *out) {
  out->contract_says = (struct statements){.arena = arena};
  out->gate_says = (struct statements){.arena = arena};
  TRY(declare_contract(contract, arena, &out->contract_says));
  struct statements *says = &out->gate_says;
  describe_root(says, "gate");
  describe_text(says, true, "reference", gate->reference);
  for (int32_t r = 0; r < gate->n_rungs; r++) {
    declare_rung(&gate->rungs[r], contract, says);
  }
  declare_noise(&gate->noise, says);
  for (int32_t i = 0; corpus != NULL && i < corpus->n_cases; i++) {
    declare_case(&corpus->cases[i], says);
  }
  return describe_status(says);
}
