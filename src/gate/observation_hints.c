/* Why a stored observation is not the one that its terms make: named hypotheses, each a change of the terms, each
 * tested by building the observation of every step again. Only one that leaves no difference is told, and none changes
 * a verdict. A new hypothesis is one function and one row of the table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "gate/observation.h"

/* Values that the tests of one difference may build, and hypotheses that are told. */
static const int64_t work_max = INT64_C(200) << 20;
enum { TOLD_MAX = 3, SENTENCE_SIZE = 320, PAIRS_TERMS_MAX = 64, PERMUTED_MAX = 64, CLOCK_STEPS_MAX = 256 };

/* The terms as a hypothesis changes them. */
struct changed {
  struct arena *arena; /* of this hypothesis */
  const struct observation_case *the;
  const struct observation_difference *difference;
  struct contract_terms terms;
  struct contract_term *list; /* terms.terms */
  char sentence[SENTENCE_SIZE];
  int64_t *work; /* values that may still be built */
};

/* What a hypothesis says to a variant's number: there is none any more, this one does not apply, test it. */
enum variant { VARIANT_END, VARIANT_NONE, VARIANT_TEST };

static bool term_differs(const struct changed *changed, int32_t t) {
  const struct contract_terms *terms = changed->the->input->terms;
  const struct contract_term *term = &terms->terms[t];
  for (int32_t age = 0; age < term->history; age++) {
    int64_t at = terms_position(terms, t, age);
    for (int32_t e = 0; e < term->n_elements; e++) {
      if (changed->difference->differs[at + e]) {
        return true;
      }
    }
  }
  return false;
}

static void say(struct changed *changed, const char *format, ...) PRINTF_LIKE(2, 3);
static void say(struct changed *changed, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(changed->sentence, sizeof changed->sentence, format, arguments);
  va_end(arguments);
}

/* --- steps of one term ------------------------------------------------------------------------ */

static bool is_factor(const struct term_step *step) { return step->kind == TERM_SCALE || step->kind == TERM_DIVIDE; }
static bool is_offset(const struct term_step *step) { return step->kind == TERM_OFFSET; }
static bool is_clip(const struct term_step *step) { return step->kind == TERM_CLIP; }

/* The steps of a term with those of a kind left out (times 0), or done twice (times 2). False: it has none. */
static assay_status repeat_steps(struct changed *changed, int32_t t, bool (*is_kind)(const struct term_step *),
                                 int times, bool *any) {
  struct contract_term *term = &changed->list[t];
  struct term_step *steps;
  int32_t n = 0;
  ARENA_NEW(changed->arena, steps, 2 * term->n_steps + 1);
  *any = false;
  for (int32_t s = 0; s < term->n_steps; s++) {
    bool of_kind = is_kind(&term->steps[s]);
    *any = *any || of_kind;
    for (int k = 0; k < (of_kind ? times : 1); k++) {
      steps[n++] = term->steps[s];
    }
  }
  term->steps = steps;
  term->n_steps = n;
  return status_ok();
}

/* One variant a term, for hypotheses about the steps of one. */
static assay_status about_steps(struct changed *changed, int32_t t, bool (*is_kind)(const struct term_step *),
                                int times, const char *what, enum variant *out) {
  bool any = false;
  *out = t < changed->terms.n_terms ? VARIANT_NONE : VARIANT_END;
  if (*out == VARIANT_END || !term_differs(changed, t)) {
    return status_ok();
  }
  TRY(repeat_steps(changed, t, is_kind, times, &any));
  say(changed, "%s of the term '%s' %s", what, changed->list[t].name,
      times == 0 ? "is missing from the recorded observation" : "was applied twice in the recorded observation");
  *out = any ? VARIANT_TEST : VARIANT_NONE;
  return status_ok();
}

static assay_status scale_lost(struct changed *c, int32_t v, enum variant *out) {
  return about_steps(c, v, is_factor, 0, "the scale", out);
}
static assay_status scale_twice(struct changed *c, int32_t v, enum variant *out) {
  return about_steps(c, v, is_factor, 2, "the scale", out);
}
static assay_status offset_lost(struct changed *c, int32_t v, enum variant *out) {
  return about_steps(c, v, is_offset, 0, "the offset", out);
}
static assay_status offset_twice(struct changed *c, int32_t v, enum variant *out) {
  return about_steps(c, v, is_offset, 2, "the offset", out);
}
static assay_status clip_lost(struct changed *c, int32_t v, enum variant *out) {
  return about_steps(c, v, is_clip, 0, "the clip", out);
}

static assay_status offset_sign(struct changed *changed, int32_t t, enum variant *out) {
  *out = t < changed->terms.n_terms ? VARIANT_NONE : VARIANT_END;
  if (*out == VARIANT_END || !term_differs(changed, t)) {
    return status_ok();
  }
  struct contract_term *term = &changed->list[t];
  struct term_step *steps;
  ARENA_NEW(changed->arena, steps, term->n_steps + 1);
  for (int32_t s = 0; s < term->n_steps; s++) {
    double *a;
    steps[s] = term->steps[s];
    ARENA_NEW(changed->arena, a, steps[s].n);
    for (int32_t i = 0; i < steps[s].n; i++) {
      a[i] = is_offset(&steps[s]) ? -steps[s].a[i] : steps[s].a[i];
    }
    steps[s].a = a;
    *out = is_offset(&steps[s]) ? VARIANT_TEST : *out;
  }
  term->steps = steps;
  say(changed, "the offset of the term '%s' was taken with the other sign in the recorded observation", term->name);
  return status_ok();
}

static assay_status steps_reversed(struct changed *changed, int32_t t, enum variant *out) {
  *out = t < changed->terms.n_terms ? VARIANT_NONE : VARIANT_END;
  if (*out == VARIANT_END || !term_differs(changed, t) || changed->list[t].n_steps < 2) {
    return status_ok();
  }
  struct contract_term *term = &changed->list[t];
  struct term_step *steps;
  ARENA_NEW(changed->arena, steps, term->n_steps);
  for (int32_t s = 0; s < term->n_steps; s++) {
    steps[s] = term->steps[term->n_steps - 1 - s];
  }
  term->steps = steps;
  say(changed, "offset, scale and clip of the term '%s' were applied in the other order in the recorded observation",
      term->name);
  *out = VARIANT_TEST;
  return status_ok();
}

/* Two variants a term: degrees recorded for radians, and the other way round. */
static assay_status degrees(struct changed *changed, int32_t v, enum variant *out) {
  static const double degree = 57.29577951308232087680;
  int32_t t = v / 2;
  *out = t < changed->terms.n_terms ? VARIANT_NONE : VARIANT_END;
  if (*out == VARIANT_END || !term_differs(changed, t)) {
    return status_ok();
  }
  struct contract_term *term = &changed->list[t];
  struct term_step *steps;
  ARENA_NEW(changed->arena, steps, term->n_steps + 1);
  steps[0] = (struct term_step){.kind = v % 2 == 0 ? TERM_SCALE : TERM_DIVIDE, .n = 1, .a = &degree};
  if (term->n_steps > 0) {
    memcpy(steps + 1, term->steps, (size_t)term->n_steps * sizeof *steps);
  }
  term->steps = steps;
  term->n_steps++;
  say(changed, "the term '%s' was made of %s in the recorded observation", term->name,
      v % 2 == 0 ? "degrees, where the sensor gives radians" : "radians, where the sensor gives degrees");
  *out = VARIANT_TEST;
  return status_ok();
}

/* --- the observation as a whole ----------------------------------------------------------------- */

static assay_status whole_clip_lost(struct changed *changed, int32_t v, enum variant *out) {
  *out = v > 0 ? VARIANT_END : changed->terms.has_clip ? VARIANT_TEST : VARIANT_NONE;
  changed->terms.has_clip = false;
  say(changed, "the clip of the whole observation is missing from the recorded one");
  return status_ok();
}

static assay_status order_reversed(struct changed *changed, int32_t v, enum variant *out) {
  bool newest = changed->terms.order == HISTORY_NEWEST_FIRST;
  *out = v > 0 ? VARIANT_END : changed->terms.has_history ? VARIANT_TEST : VARIANT_NONE;
  changed->terms.order = newest ? HISTORY_OLDEST_FIRST : HISTORY_NEWEST_FIRST;
  say(changed, "the history order is reversed: the recorded observation has %s",
      newest ? "oldest_first" : "newest_first");
  return status_ok();
}

static bool equal_histories(const struct contract_terms *terms) {
  for (int32_t t = 1; t < terms->n_terms; t++) {
    if (terms->terms[t].history != terms->terms[0].history) {
      return false;
    }
  }
  return true;
}

/* With the order as it is, and with the other one. */
static assay_status layout_exchanged(struct changed *changed, int32_t v, enum variant *out) {
  bool time_major = changed->terms.layout == HISTORY_TIME_MAJOR;
  *out = v > 1                                                            ? VARIANT_END
         : changed->terms.has_history && equal_histories(&changed->terms) ? VARIANT_TEST
                                                                          : VARIANT_NONE;
  changed->terms.layout = time_major ? HISTORY_TERM_MAJOR : HISTORY_TIME_MAJOR;
  if (v == 1) {
    changed->terms.order = changed->terms.order == HISTORY_NEWEST_FIRST ? HISTORY_OLDEST_FIRST : HISTORY_NEWEST_FIRST;
  }
  say(changed, "the history layout is another: the recorded observation is %s and %s",
      time_major ? "term_major" : "time_major",
      changed->terms.order == HISTORY_NEWEST_FIRST ? "newest_first" : "oldest_first");
  return status_ok();
}

static assay_status initial_exchanged(struct changed *changed, int32_t v, enum variant *out) {
  bool zeros = changed->terms.initial == HISTORY_ZEROS;
  *out = v > 0 ? VARIANT_END : changed->terms.has_history ? VARIANT_TEST : VARIANT_NONE;
  changed->terms.initial = zeros ? HISTORY_REPEAT_FIRST : HISTORY_ZEROS;
  say(changed, "the history before the first step is filled otherwise: the recorded observation has %s",
      zeros ? "repeat_first" : "zeros");
  return status_ok();
}

/* Terms a < b, every pair. */
static assay_status terms_exchanged(struct changed *changed, int32_t v, enum variant *out) {
  int32_t n = changed->terms.n_terms, a = v / (n > 0 ? n : 1), b = v % (n > 0 ? n : 1);
  *out = a >= n || n > PAIRS_TERMS_MAX ? VARIANT_END : a < b ? VARIANT_TEST : VARIANT_NONE;
  if (*out != VARIANT_TEST) {
    return status_ok();
  }
  struct contract_term kept = changed->list[a];
  changed->list[a] = changed->list[b];
  changed->list[b] = kept;
  say(changed, "the terms '%s' and '%s' stand in each other's place in the recorded observation", kept.name,
      changed->list[a].name);
  return status_ok();
}

/* --- fed back, and clocks -------------------------------------------------------------------------- */

static assay_status space_exchanged(struct changed *changed, int32_t t, enum variant *out) {
  *out = t < changed->terms.n_terms ? VARIANT_NONE : VARIANT_END;
  if (*out == VARIANT_END || changed->list[t].source != TERM_OUTPUT || !term_differs(changed, t)) {
    return status_ok();
  }
  bool decoded = changed->list[t].decoded;
  changed->list[t].decoded = !decoded;
  say(changed, "the term '%s' is the %s output in the recorded observation, not the %s one", changed->list[t].name,
      decoded ? "raw" : "decoded", decoded ? "decoded" : "raw");
  *out = VARIANT_TEST;
  return status_ok();
}

static assay_status lag_off(struct changed *changed, int32_t v, enum variant *out) {
  int32_t t = v / 2, by = v % 2 == 0 ? 1 : -1;
  *out = t < changed->terms.n_terms ? VARIANT_NONE : VARIANT_END;
  if (*out == VARIANT_END || changed->list[t].source != TERM_OUTPUT || !term_differs(changed, t) ||
      changed->list[t].lag + by < 0) {
    return status_ok();
  }
  changed->list[t].lag += by;
  say(changed, "the lag of the term '%s' is %d in the recorded observation, not %d", changed->list[t].name,
      (int)changed->list[t].lag, (int)changed->list[t].lag - by);
  *out = VARIANT_TEST;
  return status_ok();
}

/* A clock that runs ahead or behind by whole steps; of all clocks, each by itself. */
static assay_status clock_shifted(struct changed *changed, int32_t v, enum variant *out) {
  int32_t t = v / (2 * CLOCK_STEPS_MAX), shift = v % (2 * CLOCK_STEPS_MAX);
  int32_t steps = shift / 2 + 1, by = shift % 2 == 0 ? steps : -steps;
  *out = t < changed->terms.n_terms ? VARIANT_NONE : VARIANT_END;
  if (*out == VARIANT_END || changed->list[t].source != TERM_CLOCK || !term_differs(changed, t) ||
      2 * steps > (int32_t)fmin(changed->list[t].period_steps + 1, 2 * CLOCK_STEPS_MAX)) {
    return status_ok();
  }
  double start = changed->list[t].start + by / changed->list[t].period_steps;
  changed->list[t].start = start - floor(start);
  say(changed, "the clock of the term '%s' is %d step%s %s in the recorded observation", changed->list[t].name,
      (int)steps, steps == 1 ? "" : "s", by > 0 ? "ahead" : "behind");
  *out = VARIANT_TEST;
  return status_ok();
}

static assay_status forms_exchanged(struct changed *changed, int32_t t, enum variant *out) {
  *out = t < changed->terms.n_terms ? VARIANT_NONE : VARIANT_END;
  if (*out == VARIANT_END || changed->list[t].source != TERM_CLOCK || !term_differs(changed, t)) {
    return status_ok();
  }
  struct contract_term *term = &changed->list[t];
  for (int32_t f = 0; f < term->n_forms; f++) {
    enum clock_form form = term->forms[f];
    term->forms[f] = form == CLOCK_SIN ? CLOCK_COS : form == CLOCK_COS ? CLOCK_SIN : form;
    *out = form == CLOCK_PHASE ? *out : VARIANT_TEST;
  }
  say(changed, "sin and cos of the term '%s' are exchanged in the recorded observation", term->name);
  return status_ok();
}

/* --- elements in another order ------------------------------------------------------------------------ */

/* Element e of the term made of element order[e]; `with_steps`: its offset, scale and clip move with it. */
static assay_status reorder(struct changed *changed, int32_t t, const int32_t *order, bool with_steps) {
  const struct contract_term *from = &changed->the->input->terms->terms[t];
  struct contract_term *term = &changed->list[t];
  int64_t *picks;
  double *initial;
  struct term_step *steps;
  ARENA_NEW(changed->arena, picks, term->n_elements);
  ARENA_NEW(changed->arena, initial, term->n_elements);
  ARENA_NEW(changed->arena, steps, term->n_steps + 1);
  for (int32_t e = 0; e < term->n_elements; e++) {
    picks[e] = from->picks != NULL ? from->picks[order[e]] : order[e];
    initial[e] = from->initial != NULL ? from->initial[order[e]] : 0.0;
  }
  for (int32_t s = 0; s < term->n_steps; s++) {
    steps[s] = from->steps[s];
    if (steps[s].n > 1 && with_steps) {
      double *a, *b;
      ARENA_NEW(changed->arena, a, steps[s].n);
      ARENA_NEW(changed->arena, b, steps[s].n);
      for (int32_t e = 0; e < steps[s].n; e++) {
        a[e] = from->steps[s].a[order[e]];
        b[e] = from->steps[s].b != NULL ? from->steps[s].b[order[e]] : 0.0;
      }
      steps[s].a = a;
      steps[s].b = b;
    }
  }
  term->picks = picks;
  term->initial = from->initial != NULL ? initial : NULL;
  term->steps = steps;
  return status_ok();
}

/* Which element of the term each recorded one is, found by trying every rotation: rotation r pairs e with e + r, and
 * the pairs that never differ are kept. False: some element is none of them. */
static assay_status find_order(struct changed *changed, int32_t t, bool with_steps, int32_t *order, bool *found) {
  const struct contract_terms *terms = changed->the->input->terms;
  int32_t n = terms->terms[t].n_elements, placed = 0;
  struct observation_difference differences = {0};
  bool *taken;
  int32_t *turned;
  ARENA_NEW(changed->arena, taken, n);
  ARENA_NEW(changed->arena, turned, n);
  ARENA_NEW(changed->arena, differences.differs, terms->size);
  for (int32_t e = 0; e < n; e++) {
    order[e] = -1;
  }
  for (int32_t r = 0; r < n && placed < n; r++) {
    for (int32_t e = 0; e < n; e++) {
      turned[e] = (e + r) % n;
    }
    memset(differences.differs, 0, (size_t)terms->size);
    TRY(reorder(changed, t, turned, with_steps));
    TRY(observation_compare(changed->the, &changed->terms, true, &differences));
    *changed->work -= terms->size * changed->the->fed->steps;
    for (int32_t e = 0; e < n; e++) {
      bool agrees = order[e] < 0 && !taken[turned[e]];
      for (int32_t age = 0; age < terms->terms[t].history && agrees; age++) {
        agrees = !differences.differs[terms_position(terms, t, age) + e];
      }
      if (agrees) {
        order[e] = turned[e];
        taken[turned[e]] = true;
        placed++;
      }
    }
  }
  *found = placed == n;
  return status_ok();
}

static void say_order(struct changed *changed, int32_t t, const int32_t *order, bool with_steps) {
  const struct contract_term *term = &changed->the->input->terms->terms[t];
  struct text list = {0};
  for (int32_t e = 0; e < term->n_elements && text_status(&list).code == ASSAY_OK; e++) {
    text_format(&list, "%s%d", e == 0 ? "" : ",", (int)order[e]);
  }
  say(changed, "the elements of the term '%s' are permuted%s in the recorded observation: (%.200s)", term->name,
      with_steps ? "" : " before offset and scale", text_string(&list));
  text_free(&list);
}

/* Two variants a term. */
static assay_status elements_permuted(struct changed *changed, int32_t v, enum variant *out) {
  int32_t t = v / 2;
  bool with_steps = v % 2 == 0, found = false;
  *out = t < changed->terms.n_terms ? VARIANT_NONE : VARIANT_END;
  if (*out == VARIANT_END || changed->list[t].source == TERM_CLOCK || !term_differs(changed, t)) {
    return status_ok();
  }
  int32_t n = changed->list[t].n_elements;
  int64_t work = (int64_t)n * changed->terms.size * changed->the->fed->steps;
  if (n < 2 || n > PERMUTED_MAX || work > *changed->work) {
    return status_ok();
  }
  int32_t *order;
  ARENA_NEW(changed->arena, order, n);
  TRY(find_order(changed, t, with_steps, order, &found));
  if (found) {
    TRY(reorder(changed, t, order, with_steps));
    say_order(changed, t, order, with_steps);
    *out = VARIANT_TEST;
  }
  return status_ok();
}

/* --- the table ------------------------------------------------------------------------------------------ */

/* Makes variant `v` of a hypothesis, from 0 on until it says VARIANT_END. */
typedef assay_status change_make(struct changed *changed, int32_t v, enum variant *out);

static change_make *const hypotheses[] = {
    scale_lost,      scale_twice,    offset_lost,     offset_twice,   offset_sign,       clip_lost,
    whole_clip_lost, steps_reversed, degrees,         order_reversed, layout_exchanged,  terms_exchanged,
    space_exchanged, lag_off,        forms_exchanged, clock_shifted,  initial_exchanged, elements_permuted,
};

/* Tests one variant; true when it explains everything. */
static assay_status test_variant(struct changed *changed, change_make *make, int32_t v, enum variant *what,
                                 bool *explains) {
  const struct contract_terms *terms = changed->the->input->terms;
  *explains = false;
  *changed->work -= terms->n_terms;
  changed->terms = *terms;
  ARENA_NEW(changed->arena, changed->list, terms->n_terms);
  memcpy(changed->list, terms->terms, (size_t)terms->n_terms * sizeof *changed->list);
  changed->terms.terms = changed->list;
  TRY(make(changed, v, what));
  if (*what != VARIANT_TEST) {
    return status_ok();
  }
  struct observation_difference left = {0};
  assay_status status = observation_compare(changed->the, &changed->terms, false, &left);
  *changed->work -= left.n_known + terms->size;
  if (!assay_status_ok(status) && assay_code_kind_of(status.code) != ASSAY_KIND_INTERNAL) {
    assay_status_clear(&status); /* such an observation cannot be built, so it is not what was recorded */
    return status_ok();
  }
  /* What became unknown would explain nothing. */
  *explains = left.n == 0 && left.n_known == changed->difference->n_known;
  return status;
}

assay_status observation_explain(const struct observation_case *the, const struct observation_difference *difference,
                                 struct text *out) {
  int64_t work = work_max;
  int told = 0;
  for (size_t h = 0; h < sizeof hypotheses / sizeof hypotheses[0] && told < TOLD_MAX; h++) {
    enum variant what = VARIANT_NONE;
    for (int32_t v = 0; what != VARIANT_END && work > 0 && told < TOLD_MAX; v++) {
      struct arena arena = {0};
      struct changed changed = {.arena = &arena, .the = the, .difference = difference, .work = &work};
      bool explains = false;
      assay_status status = test_variant(&changed, hypotheses[h], v, &what, &explains);
      if (assay_status_ok(status) && explains) {
        text_format(out, "%s %s",
                    told == 0 ? "; every difference is explained by this:" : "; or by this:", changed.sentence);
        told++;
      }
      arena_free(&arena);
      TRY(status);
    }
  }
  return text_status(out);
}
