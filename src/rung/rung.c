/* The table of runtimes and the door to them. It must never guess an engine, and never fall back from
 * one to another. */
#include "rung/rung.h"

#include <string.h>

#include "rung/isolated.h"
#include "rung/rung_kinds.h"
#include "rung/staged_rung.h"

static const struct rung_kind *const kinds[] = {
#define RUNG_KIND(kind) &kind,
#define RUNG_ABSENT(engine, missing)
#include "rung/rung_kinds.inc"
#undef RUNG_KIND
#undef RUNG_ABSENT
};

static const struct {
  const char *engine, *missing;
} absent[] = {
#define RUNG_KIND(kind)
#define RUNG_ABSENT(engine, missing) {engine, missing},
#include "rung/rung_kinds.inc"
#undef RUNG_KIND
#undef RUNG_ABSENT
};
enum { KINDS = sizeof kinds / sizeof kinds[0], ABSENT = sizeof absent / sizeof absent[0] };

static const struct rung_kind *find_kind(const char *engine) {
  for (size_t i = 0; i < KINDS; i++) {
    if (strcmp(kinds[i]->engine, engine) == 0) {
      return kinds[i];
    }
  }
  return NULL;
}

static const char *find_missing(const char *engine) {
  for (size_t i = 0; i < ABSENT; i++) {
    if (strcmp(absent[i].engine, engine) == 0) {
      return absent[i].missing;
    }
  }
  return NULL;
}

bool rung_engine_is_known(const char *engine) { return find_kind(engine) != NULL || find_missing(engine) != NULL; }

void rung_engines_list(struct text *out) {
  for (size_t i = 0; i < KINDS; i++) {
    text_format(out, "%s%s", i > 0 ? ", " : "", kinds[i]->engine);
  }
  for (size_t i = 0; i < ABSENT; i++) {
    text_format(out, ", %s", absent[i].engine);
  }
}

const char *rung_word(struct arena *arena, const char *said) {
  enum { WORD_MAX = 200 };
  struct text shown = {0};
  text_add_shown(&shown, said);
  const char *word =
      shown.failed ? NULL : arena_copy(arena, text_string(&shown), shown.length < WORD_MAX ? shown.length : WORD_MAX);
  text_free(&shown);
  return word;
}

static assay_status unknown_engine(const struct rung_request *request) {
  struct text engines = {0};
  rung_engines_list(&engines);
  assay_status status = status_make(ASSAY_ENGINE_UNKNOWN, request->name,
                                    "rung '%s' asks for the engine '%s', which assay does not know; engines are %s",
                                    request->name, request->engine, text_string(&engines));
  text_free(&engines);
  return status;
}

static assay_status find_for(const struct rung_request *request, const struct rung_kind **out) {
  *out = request->kind != NULL ? request->kind : find_kind(request->engine);
  const char *missing = find_missing(request->engine);
  if (*out != NULL) {
    return status_ok();
  }
  if (missing == NULL) {
    return unknown_engine(request);
  }
  return status_make(ASSAY_RUNTIME_MISSING, request->name, "the engine '%s' is not to be had: %s", request->engine,
                     missing);
}

assay_status rung_open_here(const struct rung_kind *kind, const struct rung_request *request, struct rung **out) {
  bool whole = kind->replays || (kind->is_whole != NULL && kind->is_whole(request));
  bool staged = request->stages != NULL && !whole;
  return staged ? staged_open(kind, request, out) : kind->open(request, out);
}

assay_status rung_open(const struct rung_request *request, struct rung **out) {
  const struct rung_kind *kind;
  *out = NULL;
  TRY(find_for(request, &kind));
  bool isolated = kind->foreign || (request->time_limit_s > 0 && !kind->replays && !kind->keeps_time);
  return isolated ? isolated_open(kind, request, out) : rung_open_here(kind, request, out);
}

assay_status rung_open_isolated(const struct rung_request *request, struct rung **out) {
  const struct rung_kind *kind;
  *out = NULL;
  TRY(find_for(request, &kind));
  return isolated_open(kind, request, out);
}

assay_status rung_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out) {
  *out = (struct rung_answer){0};
  return rung->kind->run(rung, call, out);
}

assay_status rung_renew(struct rung *rung) { return rung->kind->renew != NULL ? rung->kind->renew(rung) : status_ok(); }

void rung_describe(struct rung *rung, struct rung_actual *out) {
  *out = (struct rung_actual){0};
  rung->kind->describe(rung, out);
}

bool rung_replays(const struct rung *rung) { return rung->kind->replays; }

void rung_close(struct rung *rung) {
  if (rung != NULL) {
    rung->kind->close(rung);
  }
}
