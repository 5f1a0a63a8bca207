/* Making and freeing a gate's result: see result.h. */
#include "gate/result.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "corpus/corpus.h"
#include "gate/gate_file.h"

const char *verdict_name(enum verdict verdict) {
  static const char *const names[] = {"PASS", "REJECT", "BLOCKED"};
  return names[verdict];
}

void gate_result_free(struct gate_result *result) {
  if (result != NULL) {
    gate_file_free(result->gate);
    contract_free(result->contract);
    corpus_close(result->corpus);
    arena_free(&result->arena);
    memory_free(result);
  }
}

assay_status gate_result_note(struct gate_result *result, const char *format, ...) {
  const char **notes;
  va_list arguments;
  ARENA_NEW(&result->arena, notes, result->n_notes + 1);
  for (int32_t i = 0; i < result->n_notes; i++) {
    notes[i] = result->notes[i];
  }
  va_start(arguments, format);
  notes[result->n_notes] = arena_format_va(&result->arena, format, arguments);
  va_end(arguments);
  if (notes[result->n_notes] == NULL) {
    return status_no_memory(0);
  }
  result->notes = notes;
  result->n_notes++;
  return status_ok();
}

struct gate_reason gate_reason_of(assay_code code) {
  return (struct gate_reason){.code = code,
                              .step = -1,
                              .element = -1,
                              .expected = {NAN, false},
                              .actual = {NAN, false},
                              .measured = NAN,
                              .tolerance = NAN};
}

assay_status gate_reason_add(struct arena *arena, struct gate_reasons *reasons, const struct gate_reason *reason) {
  if (reasons->count == reasons->capacity) {
    int32_t capacity = reasons->capacity == 0 ? 8 : 2 * reasons->capacity;
    struct gate_reason *items;
    ARENA_NEW(arena, items, capacity);
    if (reasons->count > 0) {
      memcpy(items, reasons->items, (size_t)reasons->count * sizeof *items);
    }
    reasons->items = items;
    reasons->capacity = capacity;
  }
  reasons->items[reasons->count++] = *reason;
  return status_ok();
}

assay_status gate_reason_say(struct arena *arena, struct gate_reasons *reasons, assay_code code, const char *format,
                             ...) {
  struct gate_reason reason = gate_reason_of(code);
  va_list arguments;
  va_start(arguments, format);
  reason.sentence = arena_format_va(arena, format, arguments);
  va_end(arguments);
  if (reason.sentence == NULL) {
    return status_no_memory(0);
  }
  return gate_reason_add(arena, reasons, &reason);
}
