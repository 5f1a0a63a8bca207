/* Text: a growing string, and the few helpers on C strings that are needed
 * everywhere. A failed allocation is remembered in the builder and reported
 * once, at the end, by text_status. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct text {
  char *data; /* zero-terminated once anything was added; NULL before */
  size_t length;
  size_t capacity;
  bool failed;
};

void text_free(struct text *text);
void text_clear(struct text *text); /* keeps the memory */
void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_add_char(struct text *text, char c);
void text_format(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
void text_format_va(struct text *text, const char *format, va_list arguments);
/* The string so far; "" when empty. Valid until the next change. */
const char *text_string(const struct text *text);
/* OUT_OF_MEMORY when any addition failed. */
ASSAY_MUST_CHECK assay_status text_status(const struct text *text);

static inline bool text_equal(const char *a, const char *b) { return __builtin_strcmp(a, b) == 0; }
bool text_starts_with(const char *string, const char *prefix);
bool text_ends_with(const char *string, const char *suffix);
/* True when the bytes are well-formed UTF-8 (no surrogate, nothing overlong). */
bool text_is_utf8(const char *bytes, size_t length);
/* True when a terminal may be shown the character at `bytes`, whose length is then in *length. Control
 * characters (C0, DEL, C1), line separators, marks that turn the direction of writing, and bytes that are not UTF-8
 * are not shown as they are. `left` is at least 1. */
bool text_is_shown(const char *bytes, size_t left, size_t *length);
/* The code point of a well-formed UTF-8 character of `length` bytes. */
uint32_t text_character(const char *bytes, size_t length);
/* Adds what came from a file or the command line, on one line: what text_is_shown refuses is written as \n, \t, \x1b
 * or \u202e. */
void text_add_shown(struct text *text, const char *string);
/* The same, padded with spaces to `width` characters. */
void text_add_padded(struct text *text, const char *string, size_t width);
/* The entry of `words` nearest to `word` (edit distance of at most a third of
 * its length), for "did you mean"; NULL when none is near. */
const char *text_nearest(const char *word, const char *const *words, size_t count);

#endif
