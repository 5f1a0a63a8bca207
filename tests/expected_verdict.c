/* See expected_verdict.h. */
#include "expected_verdict.h"

#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"
#include "report/report.h"
#include "support.h"

/* The verdict without what differs from run to run and from version to version. */
static void stable_part(const struct gate_result *result, struct text *out) {
  struct text whole = {0};
  ASSERT_OK(report_json(result, &whole));
  const char *end = strstr(text_string(&whole), "\n  \"environment\"");
  assert_non_null(end);
  for (const char *line = text_string(&whole); line < end;) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    next = next != NULL ? next + 1 : end;
    const char *found = strstr(line, "\"version\": \"" ASSAY_VERSION "\"");
    bool version = strncmp(line, "  \"assay\": ", 11) == 0 || (found != NULL && found < next);
    if (!version) {
      text_add_bytes(out, line, (size_t)(next - line));
    }
    line = next;
  }
  text_add_char(out, '\n');
  text_free(&whole);
}

static size_t line_length(const char *line) { return strcspn(line, "\n"); }

void expect_whole_verdict(const struct gate_result *result, const char *name) {
  struct text got = {0};
  char path[1024], *expected = NULL;
  size_t size = 0;
  stable_part(result, &got);
  snprintf(path, sizeof path, ASSAY_BINARY_DIR "/%s.verdict.json", name);
  ASSERT_OK(file_replace(path, got.data, got.length));
  snprintf(path, sizeof path, ASSAY_SOURCE_DIR "/tests/examples/%s.verdict.json", name);
  ASSERT_OK(file_read(path, 64 << 20, &expected, &size));
  const char *a = expected, *b = text_string(&got);
  for (int line = 1; *a != '\0' || *b != '\0'; line++) {
    size_t n_a = line_length(a), n_b = line_length(b);
    if (n_a != n_b || memcmp(a, b, n_a) != 0) {
      print_error("%s:%d: expected\n%.*s\ngot\n%.*s\n", path, line, (int)n_a, a, (int)n_b, b);
      fail();
    }
    a += n_a + (a[n_a] != '\0');
    b += n_b + (b[n_b] != '\0');
  }
  memory_free(expected);
  text_free(&got);
}
