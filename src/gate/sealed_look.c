/* See sealed_look.h. */
#include "gate/sealed_look.h"

#include <string.h>

#include "core/clock.h"
#include "core/file.h"
#include "core/text.h"
#include "corpus/sealed_register.h"
#include "gate/declare.h"
#include "gate/gate.h"
#include "gate/ledger_keep.h"

/* --- overlap --------------------------------------------------------------------- */

/* Every draw of every case. One that cannot be read is told of by whoever reads it next. */
static assay_status each_case(const struct corpus *corpus, struct sealed_register *sealed, bool add) {
  assay_status status = status_ok();
  for (int32_t i = 0; i < corpus->n_cases && assay_status_ok(status); i++) {
    int32_t n_seeds = 1;
    for (int32_t seed = 0; seed < n_seeds && assay_status_ok(status); seed++) {
      struct case_data *data = NULL;
      status = case_load_seed(corpus, i, seed, &data);
      if (!assay_status_ok(status)) {
        bool skip = !add && status.code != ASSAY_OUT_OF_MEMORY;
        if (skip) {
          assay_status_clear(&status);
          status = status_ok();
        }
        break;
      }
      n_seeds = data->n_seeds > 0 ? data->n_seeds : 1;
      status = add ? sealed_register_add(sealed, &corpus->cases[i], data)
                   : sealed_register_check(sealed, corpus->folder, &corpus->cases[i], data);
      case_data_free(data);
    }
  }
  return status;
}

static assay_status check_and_free(struct sealed_register *sealed, const struct corpus *corpus) {
  assay_status status = sealed != NULL ? each_case(corpus, sealed, false) : status_ok();
  sealed_register_free(sealed);
  return status;
}

assay_status sealed_overlap_check(const char *folder, const struct corpus *corpus) {
  struct arena arena = {0};
  struct sealed_register *sealed = NULL;
  char *path = path_join(&arena, folder, SEALED_REGISTER_NAME);
  assay_status status = path != NULL ? sealed_register_read(path, &sealed) : status_no_memory(strlen(folder));
  arena_free(&arena);
  TRY(status);
  if (sealed != NULL) {
    return check_and_free(sealed, corpus);
  }
  TRY(sealed_register_beside(corpus->folder, &sealed));
  return check_and_free(sealed, corpus);
}

assay_status sealed_overlap_direct(const struct corpus *sealed, const struct corpus *corpus) {
  struct sealed_register *made;
  TRY(sealed_register_new(&made));
  assay_status status = each_case(sealed, made, true);
  if (!assay_status_ok(status)) {
    sealed_register_free(made);
    return status;
  }
  return check_and_free(made, corpus);
}

/* --- what is frozen ------------------------------------------------------------------ */

static void hash_field(struct hash *hash, const char *text) {
  hash_add(hash, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
}

/* The files, and which engine each rung asks for. */
static assay_status freeze(const struct gate_file *gate, const struct gate_result *result, struct arena *arena,
                           struct ledger_line *line) {
  struct ledger_file *files;
  TRY(ledger_line_files(result, arena, line));
  ARENA_NEW(arena, files, line->n_files + gate->n_rungs + 1);
  if (line->n_files > 0) {
    memcpy(files, line->files, (size_t)line->n_files * sizeof *files);
  }
  for (int32_t r = 0; r < gate->n_rungs; r++) {
    const struct rung_request *request = &gate->rungs[r].request;
    const char *precision = request->precision != NULL ? request->precision : "fp32";
    files[line->n_files++] =
        (struct ledger_file){"engine", request->name, arena_format(arena, "%s %s", request->engine, precision)};
  }
  line->files = files;
  struct hash hash;
  char digest[HASH_TEXT_SIZE];
  hash_begin(&hash);
  hash_field(&hash, result->version);
  for (int32_t i = 0; i < line->n_files; i++) {
    hash_field(&hash, files[i].role);
    hash_field(&hash, files[i].path);
    hash_field(&hash, files[i].digest);
  }
  hash_end(&hash, digest);
  line->digest = arena_string(arena, digest);
  return line->digest != NULL ? status_ok() : status_no_memory(sizeof digest);
}

static const struct ledger_file *find_file(const struct ledger_line *line, const struct ledger_file *file) {
  for (int32_t i = 0; i < line->n_files; i++) {
    if (text_equal(line->files[i].role, file->role) && text_equal(line->files[i].path, file->path)) {
      return &line->files[i];
    }
  }
  return NULL;
}

static void add_item(struct text *out, const struct ledger_file *file, const char *how) {
  text_format(out, "%s%s %s%s", out->length > 0 ? ", " : "", file->role, file->path, how);
}

/* "model policy.onnx, contract contract.yaml"; empty when nothing has. */
static void add_changes(const struct ledger_line *first, const struct ledger_line *now, struct text *out) {
  for (int32_t i = 0; i < now->n_files; i++) {
    const struct ledger_file *before = find_file(first, &now->files[i]);
    if (before == NULL) {
      add_item(out, &now->files[i], " (new)");
    } else if (!text_equal(before->digest, now->files[i].digest)) {
      add_item(out, &now->files[i], "");
    }
  }
  for (int32_t i = 0; i < first->n_files; i++) {
    if (find_file(now, &first->files[i]) == NULL) {
      add_item(out, &first->files[i], " (gone)");
    }
  }
  if (!text_equal(first->version, now->version)) {
    text_format(out, "%sassay %s (was %s)", out->length > 0 ? ", " : "", now->version, first->version);
  }
}

/* --- the look --------------------------------------------------------------------------- */

static const struct ledger_line *first_look(const struct ledger_lines *lines, int32_t *count) {
  const struct ledger_line *first = NULL;
  *count = 0;
  for (int32_t i = 0; i < lines->count; i++) {
    if (lines->items[i].kind == LEDGER_LOOK) {
      first = first != NULL ? first : &lines->items[i];
      (*count)++;
    }
  }
  return first;
}

static assay_status check_again(const struct gate_final *final, const char *folder, const struct ledger_line *first,
                                int32_t count, const char *changed) {
  if (final->again) {
    return status_ok();
  }
  return status_make(
      ASSAY_SEALED_LOOKED, folder,
      "the sealed set was looked at %d time%s, first on %.10s; changed since then: %s; use another sealed "
      "set, or say --again --reason TEXT, which every later report shows",
      (int)count, count == 1 ? "" : "s", first->date, *changed != '\0' ? changed : "nothing");
}

static assay_status say_again(struct gate_result *result, int32_t before, const struct ledger_line *first,
                              const char *changed) {
  struct gate_reason reason = gate_reason_of(ASSAY_SEALED_AGAIN);
  reason.sentence =
      arena_format(&result->arena, "this is look %d at the sealed set; changed since the first on %.10s: %s",
                   (int)before + 1, first->date, *changed != '\0' ? changed : "nothing");
  return reason.sentence != NULL ? gate_reason_add(&result->arena, &result->reasons, &reason) : status_no_memory(128);
}

/* With the ledger open: is a look allowed, and on record? */
static assay_status record(struct sealed_look *look, const struct gate_final *final, const struct gate_file *gate,
                           struct ledger_store *store, struct gate_result *result) {
  struct ledger_line line = {.kind = LEDGER_LOOK, .date = result->date, .version = result->version};
  struct text changed = {0};
  int32_t before;
  const struct ledger_line *first = first_look(ledger_store_lines(store), &before);
  TRY(freeze(gate, result, &result->arena, &line));
  line.reason = before > 0 ? final->reason : NULL;
  assay_status status = status_ok();
  if (first != NULL) {
    add_changes(first, &line, &changed);
    status = text_status(&changed);
  }
  if (assay_status_ok(status) && first != NULL) {
    status = check_again(final, look->folder, first, before, text_string(&changed));
  }
  if (assay_status_ok(status) && first != NULL) {
    status = say_again(result, before, first, text_string(&changed));
  }
  text_free(&changed);
  TRY(status);
  TRY(ledger_store_add(store, &line));
  look->line = line.number;
  return status_ok();
}

assay_status sealed_look_begin(struct sealed_look *look, const struct gate_final *final, const struct gate_file *gate,
                               const struct contract *contract, const struct corpus *golden,
                               struct gate_result *result) {
  struct declaration declaration = {.gate = gate_shown_path(result->folder, gate->path),
                                    .contract = gate_shown_path(result->folder, gate->contract_path)};
  struct ledger_store *store;
  TRY(declare(gate, contract, golden, &result->arena, &declaration));
  TRY(ledger_store_open(look->folder, true, &result->arena, &store));
  assay_status status = record(look, final, gate, store, result);
  if (assay_status_ok(status)) {
    status = ledger_history(ledger_store_lines(store), &declaration, &result->arena, &result->ledger);
  }
  ledger_store_close(store);
  result->ledger.asked = true;
  result->ledger.kept = assay_status_ok(status);
  return status;
}

assay_status sealed_look_end(const struct sealed_look *look, struct gate_result *result) {
  struct ledger_line line = {.kind = LEDGER_LOOK_VERDICT, .of = look->line};
  struct ledger_store *store;
  char date[CLOCK_DATE_SIZE];
  clock_date(date);
  line.date = date;
  TRY(ledger_store_open(look->folder, true, &result->arena, &store));
  assay_status status = ledger_line_verdict(result, &result->arena, &line);
  if (assay_status_ok(status)) {
    status = ledger_store_add(store, &line);
  }
  ledger_store_close(store);
  result->ledger.digest = line.self != NULL ? line.self : result->ledger.digest;
  return status;
}
