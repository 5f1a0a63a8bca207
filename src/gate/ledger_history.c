/* What the ledger remembers: see ledger.h. The lines are gone through once, in order. For everything that was ever said
 * of a thing there is a path; each path keeps the strictest value that was in force at a REJECT, and what it became
 * after that. Nothing is forgotten when a tolerance is tightened again. Work is linear in the ledger, but for sorting.
 */
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "gate/ledger.h"

/* One thing of which something is said. */
struct path {
  const struct statement *name; /* root, part and what */
  int32_t fallback;             /* of a rung's tolerance: the contract's, which is in force without it; -1: none */
  const struct statement *now, *base, *worst; /* base: at the REJECT; worst: since; NULL: not said */
  const struct ledger_line *rejected;         /* of base; NULL: there was none */
  bool changed;                               /* since base */
  bool touched;                               /* said anew since the last REJECT */
};

enum { NAMES_MAX = 64 }; /* of files that took each other's place; more are not followed */

struct names {
  const char *items[NAMES_MAX];
  int32_t count;
};

struct history {
  struct arena *arena;
  const struct ledger_lines *lines;
  const struct declaration *declaration;
  struct path *paths; /* sorted by name */
  int32_t n_paths;
  int32_t *touched; /* paths said anew since the last REJECT */
  int32_t n_touched;
  const struct ledger_line **verdicts; /* of line i + 1; NULL: none */
  struct ledger_change *changes;
  int32_t n_changes, capacity;
  struct names contracts, gates; /* whose declarations are one thread with this one */
};

/* --- paths ------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
  return statement_order(((const struct path *)a)->name, ((const struct path *)b)->name);
}

static struct path *find(const struct history *history, const struct statement *name) {
  const struct path key = {.name = name};
  return history->n_paths == 0
             ? NULL
             : bsearch(&key, history->paths, (size_t)history->n_paths, sizeof *history->paths, by_name);
}

static bool names_hold(const struct names *names, const char *name) {
  bool found = false;
  for (int32_t i = 0; i < names->count && !found; i++) {
    found = text_equal(names->items[i], name);
  }
  return found;
}

static bool names_add(struct names *names, const char *name) {
  bool fits = !names_hold(names, name) && names->count < NAMES_MAX;
  if (fits) {
    names->items[names->count++] = name;
  }
  return fits;
}

/* A contract under another name is still the contract of the gate that was rejected: names of contracts and gates that
 * were ever declared together are followed until there are no more. */
static void follow_names(struct history *history) {
  bool more = true;
  names_add(&history->contracts, history->declaration->contract);
  names_add(&history->gates, history->declaration->gate);
  while (more) {
    more = false;
    for (int32_t i = 0; i < history->lines->count; i++) {
      const struct ledger_line *line = &history->lines->items[i];
      if (line->kind == LEDGER_DECLARED && names_hold(&history->contracts, line->contract)) {
        more |= names_add(&history->gates, line->gate);
      } else if (line->kind == LEDGER_DECLARED && names_hold(&history->gates, line->gate)) {
        more |= names_add(&history->contracts, line->contract);
      }
    }
  }
}

static bool is_ours(const struct history *history, const struct ledger_line *line, bool contract) {
  return line->kind == LEDGER_DECLARED && (contract ? names_hold(&history->contracts, line->contract)
                                                    : text_equal(line->gate, history->declaration->gate));
}

static void add_names(struct history *history, const struct statement *items, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    history->paths[history->n_paths++] = (struct path){.name = &items[i], .fallback = -1};
  }
}

static int64_t count_said(const struct ledger_said *said) { return (int64_t)said->n_set + said->n_unset; }

/* Every name that is spoken of, once. */
static assay_status gather_paths(struct history *history) {
  int64_t count = (int64_t)history->declaration->contract_says.count + history->declaration->gate_says.count;
  for (int32_t i = 0; i < history->lines->count; i++) {
    const struct ledger_line *line = &history->lines->items[i];
    count += count_said(&line->contract_says) + count_said(&line->gate_says);
  }
  if (count > INT32_MAX / 2) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "the ledger says more than can be held in memory");
  }
  ARENA_NEW(history->arena, history->paths, count + 1);
  ARENA_NEW(history->arena, history->touched, count + 1);
  add_names(history, history->declaration->contract_says.items, history->declaration->contract_says.count);
  add_names(history, history->declaration->gate_says.items, history->declaration->gate_says.count);
  for (int32_t i = 0; i < history->lines->count; i++) {
    const struct ledger_line *line = &history->lines->items[i];
    const struct ledger_said *both[] = {&line->contract_says, &line->gate_says};
    for (int k = 0; k < 2; k++) {
      add_names(history, both[k]->set, both[k]->n_set);
      add_names(history, both[k]->unset, both[k]->n_unset);
    }
  }
  int32_t kept = 0;
  qsort(history->paths, (size_t)history->n_paths, sizeof *history->paths, by_name);
  for (int32_t i = 0; i < history->n_paths; i++) {
    if (kept == 0 || by_name(&history->paths[kept - 1], &history->paths[i]) != 0) {
      history->paths[kept++] = history->paths[i];
    }
  }
  history->n_paths = kept;
  return status_ok();
}

/* "rung int8" with the part "output action, component wrist" falls back to that component of that output. */
static assay_status find_fallbacks(struct history *history) {
  static const char between[] = ", component ";
  for (int32_t i = 0; i < history->n_paths; i++) {
    const struct statement *name = history->paths[i].name;
    const char *at = name->part != NULL && text_starts_with(name->root, "rung ") ? strstr(name->part, between) : NULL;
    if (at == NULL) {
      continue;
    }
    const struct statement wanted = {
        .root = arena_copy(history->arena, name->part, (size_t)(at - name->part)), .part = at + 2, .what = name->what};
    if (wanted.root == NULL) {
      return status_no_memory(strlen(name->part));
    }
    const struct path *found = find(history, &wanted);
    history->paths[i].fallback = found != NULL ? (int32_t)(found - history->paths) : -1;
  }
  return status_ok();
}

/* --- sentences ---------------------------------------------------------------------- */

static const char *shown(struct arena *arena, const struct statement *statement) {
  if (statement == NULL) {
    return NULL;
  }
  return statement->unit == NULL ? statement->value : arena_format(arena, "%s %s", statement->value, statement->unit);
}

static const char *after(const char *text, const char *prefix) {
  return text_starts_with(text, prefix) ? text + strlen(prefix) : text;
}

/* "wrist", "rung int8: wrist", "case edge_0" */
static void add_subject(struct text *out, const struct ledger_change *change) {
  if (change->part == NULL) {
    text_add(out, change->root);
    return;
  }
  if (text_starts_with(change->root, "rung ")) {
    text_format(out, "%s: ", change->root);
  }
  const char *component = strstr(change->part, ", component ");
  text_add(out, component != NULL ? component + strlen(", component ") : after(change->part, "component "));
}

static void add_since(struct text *out, const struct ledger_change *change) {
  text_format(out, " since the REJECT of %s", change->since);
  struct text more = {0};
  if (change->rung != NULL) {
    text_format(&more, "of rung %s, which was not required", change->rung);
  }
  if (change->what != NULL && text_equal(change->what, "tolerance max")) {
    text_format(&more, "%s%s", more.length > 0 ? "; " : "", change->what);
  }
  if (change->part != NULL && !text_starts_with(change->root, "rung ")) {
    text_format(&more, "%s%s", more.length > 0 ? "; " : "", change->root);
  }
  if (more.length > 0) {
    text_format(out, " (%s)", text_string(&more));
  }
  out->failed |= more.failed;
  text_free(&more);
}

static void add_now(struct text *out, const struct ledger_change *change) {
  const char *now = change->now;
  if (change->what == NULL) {
    text_add(out, change->in_force ? "" : "; it is back");
  } else if (!change->in_force) {
    text_format(out, "; %s again: %s", change->mark == CHANGE_LOOSER ? "tightened" : "as it was",
                now != NULL ? now : "not said");
  } else if (now != NULL && (change->to == NULL || !text_equal(now, change->to))) {
    text_format(out, "; now %s", now);
  }
  if (change->reason != NULL) {
    text_format(out, "; reason: %s", change->reason);
  }
}

/* "wrist 0.002 to 0.004 since the REJECT of 2026-12-01 (tolerance max; output action)" */
static assay_status make_sentence(struct arena *arena, struct ledger_change *change, const struct statement *from,
                                  const struct statement *to) {
  struct text text = {0};
  bool plain = change->what != NULL && text_equal(change->what, "tolerance max") && from != NULL && to != NULL;
  add_subject(&text, change);
  if (change->what == NULL) {
    text_add(&text, " dropped");
  } else if (text_equal(change->what, "bytes") && to != NULL) {
    text_add(&text, " has other bytes");
  } else if (plain) {
    text_format(&text, " %s to %s", from->value, to->value);
  } else if (to == NULL) {
    text_format(&text, " %s %s taken out", change->what, change->from);
  } else {
    text_format(&text, " %s %s to %s", change->what, from != NULL ? change->from : "none", change->to);
  }
  add_since(&text, change);
  add_now(&text, change);
  change->sentence = text.failed ? NULL : arena_string(arena, text_string(&text));
  text_free(&text);
  return change->sentence != NULL ? status_ok() : status_no_memory(128);
}

/* --- going through the lines ------------------------------------------------------------ */

/* The rung that was rejected where the gate as a whole was not: one that is not required. */
static const char *rejected_rung(const struct ledger_line *verdict) {
  for (int32_t r = 0; r < verdict->n_rungs && !text_equal(verdict->verdict, "REJECT"); r++) {
    if (text_equal(verdict->rungs[r].verdict, "REJECT")) {
      return verdict->rungs[r].name;
    }
  }
  return NULL;
}

static bool is_reject(const struct ledger_line *verdict) {
  return verdict != NULL && (text_equal(verdict->verdict, "REJECT") || rejected_rung(verdict) != NULL);
}

static assay_status push(struct history *history, const struct ledger_change *change) {
  if (history->n_changes == history->capacity) {
    int32_t capacity = history->capacity == 0 ? 32 : history->capacity * 2;
    struct ledger_change *changes;
    ARENA_NEW(history->arena, changes, capacity);
    if (history->n_changes > 0) {
      memcpy(changes, history->changes, (size_t)history->n_changes * sizeof *changes);
    }
    history->changes = changes;
    history->capacity = capacity;
  }
  history->changes[history->n_changes++] = *change;
  return status_ok();
}

static const struct statement *in_force(const struct history *history, const struct path *path) {
  const struct statement *now = path->now;
  return now == NULL && path->fallback >= 0 ? history->paths[path->fallback].now : now;
}

static bool is_worse(enum change_mark mark) {
  return mark == CHANGE_LOOSER || mark == CHANGE_OTHER || mark == CHANGE_REMOVED;
}

/* A case that was added later, or a fact said in addition, takes nothing back. */
static assay_status end_change(struct history *history, const struct path *path) {
  if (!path->changed) {
    return status_ok();
  }
  const struct ledger_line *verdict = history->verdicts[path->rejected->number - 1];
  const struct statement *now = in_force(history, path);
  bool dropped =
      path->worst == NULL && (text_equal(path->name->what, "listed") || text_equal(path->name->what, "bytes"));
  struct ledger_change change = {
      .root = path->name->root,
      .part = path->name->part,
      .what = dropped ? NULL : path->name->what,
      .from = shown(history->arena, path->base),
      .to = shown(history->arena, path->worst),
      .now = shown(history->arena, now),
      .mark = dropped ? CHANGE_REMOVED : statement_compare(path->base, path->worst),
      .in_force = is_worse(statement_compare(path->base, now)),
      .since = arena_copy(history->arena, path->rejected->date, strnlen(path->rejected->date, 10)),
      .rung = rejected_rung(verdict)};
  if (text_starts_with(change.root, "rung ") && change.part != NULL) {
    const struct statement wanted = {.root = change.root, .part = change.part, .what = "reason"};
    const struct path *reason = find(history, &wanted);
    change.reason = reason != NULL && reason->now != NULL ? reason->now->value : NULL;
  }
  if (change.since == NULL) {
    return status_no_memory(16);
  }
  TRY(make_sentence(history->arena, &change, path->base, path->worst));
  return push(history, &change);
}

/* The path has another value: is it looser than what was rejected, and than all since? */
static void compare(const struct history *history, struct path *path) {
  const struct path *contract = path->fallback >= 0 ? &history->paths[path->fallback] : NULL;
  if (path->rejected == NULL && contract != NULL && contract->rejected != NULL) {
    path->base = contract->base; /* at the REJECT the contract's was in force for the rung, too */
    path->rejected = contract->rejected;
  }
  if (path->rejected == NULL) {
    return;
  }
  const struct statement *now = in_force(history, path);
  bool worse = is_worse(statement_compare(path->base, now));
  if (worse && (!path->changed || is_worse(statement_compare(path->worst, now)))) {
    path->worst = now;
    path->changed = true;
  }
}

static void set(struct history *history, const struct statement *name, const struct statement *value) {
  struct path *path = find(history, name);
  if (value != NULL && !value->judges) {
    path->now = value;
    return;
  }
  path->now = value;
  if (!path->touched) {
    path->touched = true;
    history->touched[history->n_touched++] = (int32_t)(path - history->paths);
  }
  compare(history, path);
}

static void apply(struct history *history, const struct ledger_said *said) {
  for (int32_t i = 0; i < said->n_set; i++) {
    set(history, &said->set[i], &said->set[i]);
  }
  for (int32_t i = 0; i < said->n_unset; i++) {
    set(history, &said->unset[i], NULL);
  }
}

/* What was said anew since the last REJECT is now what was rejected, where it is stricter than before. A fact has no
 * strictness: the first one stays. */
static assay_status take_base(struct history *history, const struct ledger_line *line) {
  for (int32_t i = 0; i < history->n_touched; i++) {
    struct path *path = &history->paths[history->touched[i]];
    path->touched = false;
    bool first = path->rejected == NULL;
    if (path->now != NULL && (first || statement_compare(path->base, path->now) == CHANGE_TIGHTER)) {
      TRY(end_change(history, path));
      path->base = path->now;
      path->worst = NULL;
      path->changed = false;
      path->rejected = line;
    }
  }
  history->n_touched = 0;
  return status_ok();
}

static assay_status match_verdicts(struct history *history, struct ledger_result *out) {
  const struct ledger_lines *lines = history->lines;
  ARENA_NEW(history->arena, history->verdicts, lines->count + 1);
  for (int32_t i = 0; i < lines->count; i++) {
    const struct ledger_line *line = &lines->items[i];
    out->runs += line->kind == LEDGER_DECLARED;
    out->n_looks += line->kind == LEDGER_LOOK;
    if (line->kind == LEDGER_VERDICT || line->kind == LEDGER_LOOK_VERDICT) {
      history->verdicts[line->of - 1] = line;
    }
  }
  for (int32_t i = 0; i < lines->count; i++) {
    bool declared = lines->items[i].kind == LEDGER_DECLARED;
    out->rejects += declared && history->verdicts[i] != NULL && text_equal(history->verdicts[i]->verdict, "REJECT");
    out->unfinished += declared && history->verdicts[i] == NULL;
  }
  out->digest = lines->count > 0 ? lines->items[lines->count - 1].self : NULL;
  return status_ok();
}

/* A gate file that is used for the first time after another one was rejected: its rungs were never judged before. */
static assay_status tell_new_gate(struct history *history) {
  const struct ledger_line *rejected = NULL;
  for (int32_t i = 0; i < history->lines->count; i++) {
    const struct ledger_line *line = &history->lines->items[i];
    if (is_ours(history, line, false)) {
      break;
    }
    if (rejected == NULL && line->kind == LEDGER_DECLARED && is_reject(history->verdicts[i])) {
      rejected = line;
    }
  }
  if (rejected == NULL) {
    return status_ok();
  }
  struct ledger_change change = {
      .root = "gate file",
      .what = "name",
      .from = rejected->gate,
      .to = history->declaration->gate,
      .now = history->declaration->gate,
      .mark = CHANGE_ADDED,
      .in_force = true,
      .rung = rejected_rung(history->verdicts[rejected->number - 1]),
      .since = arena_copy(history->arena, rejected->date, strnlen(rejected->date, 10)),
      .sentence = arena_format(history->arena, "gate file %s used since the REJECT of %.10s, which was of %s",
                               history->declaration->gate, rejected->date, rejected->gate)};
  return change.since != NULL && change.sentence != NULL ? push(history, &change) : status_no_memory(128);
}

static assay_status go_through(struct history *history) {
  for (int32_t i = 0; i < history->lines->count; i++) {
    const struct ledger_line *line = &history->lines->items[i];
    bool contract = is_ours(history, line, true), gate = is_ours(history, line, false);
    if (contract) {
      apply(history, &line->contract_says);
    }
    if (gate) {
      apply(history, &line->gate_says);
    }
    if ((contract || gate) && is_reject(history->verdicts[i])) {
      TRY(take_base(history, line));
    }
  }
  return status_ok();
}

/* --- the difference to the last declaration ---------------------------------------------- */

static bool same_statement(const struct statement *a, const struct statement *b) {
  return a != NULL && a->kind == b->kind && a->judges == b->judges && text_equal(a->value, b->value) &&
         (a->unit == NULL) == (b->unit == NULL) && (a->unit == NULL || text_equal(a->unit, b->unit));
}

static bool of_contract(const struct statement *name) {
  static const char *const gates[] = {"gate", "noise", "rung ", "case "};
  for (size_t i = 0; i < sizeof gates / sizeof gates[0]; i++) {
    bool whole = gates[i][strlen(gates[i]) - 1] != ' ';
    if (whole ? text_equal(name->root, gates[i]) : text_starts_with(name->root, gates[i])) {
      return false;
    }
  }
  return true;
}

static assay_status difference(struct history *history, const struct statements *says, bool contract,
                               struct ledger_said *out) {
  struct statement *changed, *gone;
  bool *said;
  ARENA_NEW(history->arena, changed, says->count + 1);
  ARENA_NEW(history->arena, gone, history->n_paths + 1);
  ARENA_NEW(history->arena, said, history->n_paths + 1);
  for (int32_t i = 0; i < says->count; i++) {
    const struct path *path = find(history, &says->items[i]);
    if (!said[path - history->paths] && !same_statement(path->now, &says->items[i])) {
      changed[out->n_set++] = says->items[i];
    }
    said[path - history->paths] = true;
  }
  for (int32_t i = 0; i < history->n_paths; i++) {
    const struct path *path = &history->paths[i];
    if (path->now != NULL && !said[i] && of_contract(path->name) == contract) {
      gone[out->n_unset++] = *path->name;
    }
  }
  out->set = changed;
  out->unset = gone;
  return status_ok();
}

static assay_status begin(struct history *history, struct ledger_result *out) {
  follow_names(history);
  TRY(match_verdicts(history, out));
  TRY(gather_paths(history));
  TRY(find_fallbacks(history));
  return go_through(history);
}

assay_status ledger_difference(const struct ledger_lines *lines, const struct declaration *declaration,
                               struct arena *arena, struct ledger_said *contract_says, struct ledger_said *gate_says) {
  struct history history = {.arena = arena, .lines = lines, .declaration = declaration};
  struct ledger_result ignored = {0};
  *contract_says = *gate_says = (struct ledger_said){0};
  TRY(begin(&history, &ignored));
  TRY(difference(&history, &declaration->contract_says, true, contract_says));
  return difference(&history, &declaration->gate_says, false, gate_says);
}

/* --- the whole ------------------------------------------------------------------------------ */

/* What was said of a thing that was dropped went with it. */
static bool goes_with(const struct ledger_change *change, const struct ledger_change *whole) {
  return change->to == NULL && change->mark != CHANGE_ADDED && text_equal(change->root, whole->root) &&
         text_equal(change->since, whole->since) &&
         (whole->part == NULL || (change->part != NULL && text_equal(change->part, whole->part)));
}

/* A whole stands before what belongs to it. */
static int by_since(const void *a, const void *b) {
  const struct ledger_change *x = a, *y = b;
  int order = strcmp(x->since, y->since);
  order = order != 0 ? order : strcmp(x->root, y->root);
  order = order != 0 ? order : strcmp(x->part != NULL ? x->part : "", y->part != NULL ? y->part : "");
  order = order != 0 ? order : (x->what != NULL) - (y->what != NULL);
  return order != 0 ? order : strcmp(x->sentence, y->sentence);
}

/* Sorted, and without what went with a whole. */
static void tidy(struct history *history) {
  int32_t kept = 0;
  struct ledger_change root = {.root = "", .since = ""}, part = root; /* the last ones that were dropped */
  if (history->n_changes > 0) {
    qsort(history->changes, (size_t)history->n_changes, sizeof *history->changes, by_since);
  }
  for (int32_t i = 0; i < history->n_changes; i++) {
    const struct ledger_change change = history->changes[i];
    bool gone = goes_with(&change, &root) || goes_with(&change, &part);
    if (!gone && change.what == NULL) {
      *(change.part == NULL ? &root : &part) = change;
    }
    if (!gone) {
      history->changes[kept++] = change;
    }
  }
  history->n_changes = kept;
}

static assay_status list_looks(struct history *history, struct ledger_result *out) {
  struct ledger_look *looks;
  int32_t count = 0;
  ARENA_NEW(history->arena, looks, out->n_looks + 1);
  for (int32_t i = 0; i < history->lines->count; i++) {
    const struct ledger_line *line = &history->lines->items[i];
    if (line->kind == LEDGER_LOOK) {
      const struct ledger_line *verdict = history->verdicts[i];
      looks[count++] =
          (struct ledger_look){line->date, line->digest, verdict != NULL ? verdict->verdict : NULL, line->reason};
    }
  }
  out->looks = looks;
  return status_ok();
}

assay_status ledger_history(const struct ledger_lines *lines, const struct declaration *declaration,
                            struct arena *arena, struct ledger_result *out) {
  struct history history = {.arena = arena, .lines = lines, .declaration = declaration};
  struct ledger_said contract_says = {0}, gate_says = {0};
  TRY(begin(&history, out));
  TRY(difference(&history, &declaration->contract_says, true, &contract_says));
  TRY(difference(&history, &declaration->gate_says, false, &gate_says));
  apply(&history, &contract_says);
  apply(&history, &gate_says);
  for (int32_t i = 0; i < history.n_paths; i++) {
    TRY(end_change(&history, &history.paths[i]));
  }
  TRY(tell_new_gate(&history));
  tidy(&history);
  TRY(list_looks(&history, out));
  out->changes = history.changes;
  out->n_changes = history.n_changes;
  return status_ok();
}
