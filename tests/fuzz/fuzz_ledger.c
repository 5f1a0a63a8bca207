/* Fuzzes the reader of the ledger, with and without a chain of digests that holds, and what is made of its lines. */
#include <string.h>

#include "core/text.h"
#include "fuzz.h"
#include "gate/ledger.h"

enum { SELF_SIZE = 9 + HASH_TEXT_SIZE - 1 + 2 }; /* ,"self":"sha256:..."} */

/* Gives every line the digest that it should have, so that more than the first check is reached. The digest of the line
 * before stands in the fuzzer's hands. */
static void sign(const char *text, size_t size, struct text *out) {
  const char *end = text + size;
  while (text < end) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    size_t length = stop != NULL ? (size_t)(stop - text) : (size_t)(end - text);
    size_t body = length > SELF_SIZE ? length - SELF_SIZE : length;
    char digest[HASH_TEXT_SIZE];
    struct hash hash;
    hash_begin(&hash);
    hash_add(&hash, text, body);
    hash_end(&hash, digest);
    text_add_bytes(out, text, body);
    text_format(out, ",\"self\":\"%s\"}\n", digest);
    text += length + (stop != NULL);
  }
}

/* A ledger that is broken blocks a verdict; it is no fault of the input. */
static int outcome(assay_status status) {
  if (status.code != ASSAY_LEDGER_BROKEN) {
    return fuzz_outcome(status);
  }
  fuzz_require(strlen(assay_status_sentence(status)) > 10);
  assay_status_clear(&status);
  return 0;
}

static void read_lines(const char *text, size_t size) {
  struct arena arena = {0};
  struct ledger_lines lines;
  struct ledger_result result = {0};
  const struct declaration now = {.gate = "gate.yaml", .contract = "contract.yaml"};
  if (outcome(ledger_parse(text, size, "runs.jsonl", &arena, &lines))) {
    fuzz_require(lines.size <= size);
    if (outcome(ledger_history(&lines, &now, &arena, &result))) {
      for (int32_t i = 0; i < result.n_changes; i++) {
        fuzz_require(result.changes[i].sentence != NULL && result.changes[i].since != NULL);
      }
    }
  }
  arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct text signed_lines = {0};
  read_lines((const char *)data, size);
  sign((const char *)data, size, &signed_lines);
  read_lines(text_string(&signed_lines), signed_lines.length);
  text_free(&signed_lines);
  return 0;
}
