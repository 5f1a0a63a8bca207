/* Status objects and the table of codes. The only place that allocates a
 * sentence; it must never fail worse than losing that sentence. */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"

struct assay_error {
  char *where;    /* points into text */
  char *sentence; /* points into text */
  char text[];
};

struct code_row {
  const char *name;
  assay_code_kind kind;
  const char *meaning, *remedy;
};

static const struct code_row code_rows[ASSAY_CODE_COUNT] = {
    {"OK", ASSAY_KIND_OK, "Nothing is wrong.", "Nothing is to be done."},
#define ASSAY_CODE(name, kind, meaning, remedy) {#name, ASSAY_KIND_##kind, meaning, remedy},
#include "assay/codes.inc"
#undef ASSAY_CODE
};

static const struct code_row *code_row(assay_code code) {
  return (unsigned)code < ASSAY_CODE_COUNT ? &code_rows[code] : &code_rows[ASSAY_INTERNAL];
}

const char *assay_code_name(assay_code code) { return code_row(code)->name; }
assay_code_kind assay_code_kind_of(assay_code code) { return code_row(code)->kind; }
const char *assay_code_meaning(assay_code code) { return code_row(code)->meaning; }
const char *assay_code_remedy(assay_code code) { return code_row(code)->remedy; }

assay_code assay_code_find(const char *name) {
  for (int i = 0; i < ASSAY_CODE_COUNT; i++) {
    if (strcmp(code_rows[i].name, name) == 0) {
      return (assay_code)i;
    }
  }
  return ASSAY_CODE_COUNT;
}

const char *assay_status_sentence(assay_status status) {
  return status.detail != NULL ? status.detail->sentence : code_row(status.code)->meaning;
}

const char *assay_status_where(assay_status status) { return status.detail != NULL ? status.detail->where : ""; }

void assay_status_clear(assay_status *status) {
  memory_free(status->detail);
  *status = status_ok();
}

/* The error object for `where` and prefix + the printf-style sentence. */
static struct assay_error *error_make(const char *where, const char *format, va_list arguments, const char *rest) {
  va_list measured;
  va_copy(measured, arguments);
  int length = vsnprintf(NULL, 0, format, measured);
  va_end(measured);
  if (length < 0) {
    return NULL;
  }
  size_t where_size = strlen(where) + 1, rest_size = strlen(rest) + 1;
  struct assay_error *error = memory_alloc(1, sizeof *error + where_size + (size_t)length + rest_size + 1);
  if (error == NULL) {
    return NULL;
  }
  error->where = error->text;
  error->sentence = error->text + where_size;
  memcpy(error->where, where, where_size);
  vsnprintf(error->sentence, (size_t)length + 1, format, arguments);
  memcpy(error->sentence + length, rest, rest_size);
  return error;
}

assay_status status_make_va(assay_code code, const char *where, const char *format, va_list arguments) {
  return (assay_status){code, error_make(where != NULL ? where : "", format, arguments, "")};
}

assay_status status_make(assay_code code, const char *where, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  assay_status status = status_make_va(code, where, format, arguments);
  va_end(arguments);
  return status;
}

assay_status status_prefix(assay_status status, const char *format, ...) {
  if (assay_status_ok(status) || status.detail == NULL) {
    return status;
  }
  size_t size = strlen(status.detail->sentence) + 3;
  char *rest = memory_alloc(1, size);
  if (rest == NULL) {
    return status;
  }
  snprintf(rest, size, ": %s", status.detail->sentence);
  va_list arguments;
  va_start(arguments, format);
  struct assay_error *error = error_make(status.detail->where, format, arguments, rest);
  va_end(arguments);
  memory_free(rest);
  if (error == NULL) {
    return status;
  }
  memory_free(status.detail);
  status.detail = error;
  return status;
}

assay_status status_no_memory(size_t bytes) {
  return status_make(ASSAY_OUT_OF_MEMORY, NULL, "%zu bytes of memory could not be had; free some, or use less.", bytes);
}
