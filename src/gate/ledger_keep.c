/* See ledger_keep.h. */
#include "gate/ledger_keep.h"

#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/file.h"
#include "gate/declare.h"

assay_status ledger_line_files(const struct gate_result *result, struct arena *arena, struct ledger_line *line) {
  struct ledger_file *files;
  ARENA_NEW(arena, files, result->n_files + 1);
  for (int32_t i = 0; i < result->n_files; i++) {
    files[i] = (struct ledger_file){result->files[i].role, result->files[i].path, result->files[i].digest};
  }
  line->files = files;
  line->n_files = result->n_files;
  return status_ok();
}

assay_status ledger_line_verdict(const struct gate_result *result, struct arena *arena, struct ledger_line *line) {
  struct ledger_rung *rungs;
  ARENA_NEW(arena, rungs, result->n_rungs + 1);
  for (int32_t r = 0; r < result->n_rungs; r++) {
    const struct rung_result *rung = &result->rungs[r];
    rungs[r] = (struct ledger_rung){rung->name, verdict_name(rung->verdict), rung->required};
  }
  line->rungs = rungs;
  line->n_rungs = result->n_rungs;
  line->verdict = verdict_name(result->verdict);
  line->exit_code = result->exit_code;
  return status_ok();
}

static assay_status add_declaration(struct ledger_run *run, struct ledger_store *store,
                                    const struct declaration *declaration, struct gate_result *result) {
  struct ledger_line line = {.kind = LEDGER_DECLARED,
                             .date = result->date,
                             .version = result->version,
                             .gate = declaration->gate,
                             .contract = declaration->contract};
  TRY(ledger_line_files(result, &result->arena, &line));
  TRY(ledger_difference(ledger_store_lines(store), declaration, &result->arena, &line.contract_says, &line.gate_says));
  TRY(ledger_store_add(store, &line));
  run->line = line.number;
  return status_ok();
}

/* Opens, adds where it may, and remembers. */
static assay_status use_ledger(struct ledger_run *run, bool write, const struct declaration *declaration,
                               struct gate_result *result) {
  struct ledger_store *store;
  TRY(ledger_store_open(run->folder, write, &result->arena, &store));
  assay_status status = write ? add_declaration(run, store, declaration, result) : status_ok();
  if (assay_status_ok(status)) {
    status = ledger_history(ledger_store_lines(store), declaration, &result->arena, &result->ledger);
  }
  ledger_store_close(store);
  return status;
}

static assay_status say(struct gate_result *result, assay_code code, const char *where, const char *sentence) {
  result->ledger.why =
      *where != '\0' ? arena_format(&result->arena, "%s: %s", where, sentence) : arena_string(&result->arena, sentence);
  if (result->ledger.why == NULL) {
    return status_no_memory(strlen(sentence));
  }
  return gate_reason_say(&result->arena, &result->reasons, code, "%s", result->ledger.why);
}

/* What cannot be read says nothing of what was declared before. */
static assay_status say_broken(struct gate_result *result, assay_status status) {
  if (status.code == ASSAY_OUT_OF_MEMORY) {
    return status;
  }
  result->ledger = (struct ledger_result){.asked = true, .broken = true};
  assay_status said = say(result, ASSAY_LEDGER_BROKEN, assay_status_where(status), assay_status_sentence(status));
  assay_status_clear(&status);
  return said;
}

/* It could not be added to: what it says is shown all the same. */
static assay_status read_only(struct ledger_run *run, const struct declaration *declaration, const char *where,
                              const char *why, struct gate_result *result) {
  result->ledger = (struct ledger_result){.asked = true};
  assay_status status = use_ledger(run, false, declaration, result);
  return assay_status_ok(status) ? say(result, ASSAY_LEDGER_ABSENT, where, why) : say_broken(result, status);
}

/* A ledger that was moved away or left behind begins anew: what it would have told is missing, so that is said. */
static assay_status note_beginning(const struct ledger_run *run, struct gate_result *result) {
  struct stat here, usual, runs;
  char *path = path_join(&result->arena, run->usual, "runs.jsonl");
  if (path == NULL) {
    return status_no_memory(strlen(run->usual));
  }
  bool same = stat(run->folder, &here) == 0 && stat(run->usual, &usual) == 0 && here.st_dev == usual.st_dev &&
              here.st_ino == usual.st_ino;
  if (!same && strcmp(run->folder, run->usual) != 0 && lstat(path, &runs) == 0 && runs.st_size > 0) {
    TRY(gate_result_note(result, "the ledger is %s, but %s has entries too, which are not read here", run->folder,
                         run->usual));
  }
  return result->ledger.kept && result->ledger.runs == 1
             ? gate_result_note(result, "this is the first run in a new ledger: of runs before it nothing is known")
             : status_ok();
}

assay_status ledger_begin(struct ledger_run *run, const struct gate_file *gate, const struct contract *contract,
                          const struct corpus *corpus, struct gate_result *result) {
  struct declaration declaration = {.gate = run->gate, .contract = run->contract};
  run->line = 0;
  if (run->use == LEDGER_UNUSED) {
    return status_ok();
  }
  result->ledger.asked = true;
  TRY(declare(gate, contract, corpus, &result->arena, &declaration));
  if (run->use == LEDGER_READ) {
    return read_only(run, &declaration, "", run->why_unkept, result);
  }
  assay_status status = use_ledger(run, true, &declaration, result);
  result->ledger.kept = assay_status_ok(status);
  result->ledger.unfinished -= result->ledger.kept; /* this run is not over */
  if (assay_status_ok(status)) {
    return note_beginning(run, result);
  }
  if (status.code == ASSAY_OUT_OF_MEMORY) {
    return status;
  }
  if (status.code == ASSAY_LEDGER_BROKEN) {
    return say_broken(result, status);
  }
  assay_status said = read_only(run, &declaration, assay_status_where(status), assay_status_sentence(status), result);
  assay_status_clear(&status);
  return said;
}

assay_status ledger_end(const struct ledger_run *run, struct gate_result *result) {
  struct ledger_store *store;
  struct ledger_line line = {.kind = LEDGER_VERDICT, .of = run->line};
  char date[CLOCK_DATE_SIZE];
  if (run->line == 0) {
    return status_ok();
  }
  clock_date(date);
  line.date = date;
  assay_status status = ledger_store_open(run->folder, true, &result->arena, &store);
  if (assay_status_ok(status)) {
    status = ledger_line_verdict(result, &result->arena, &line);
    if (assay_status_ok(status)) {
      status = ledger_store_add(store, &line);
    }
    ledger_store_close(store);
  }
  result->ledger.digest = line.self != NULL ? line.self : result->ledger.digest;
  return status;
}
