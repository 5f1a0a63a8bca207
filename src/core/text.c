/* The growing string and small helpers on C strings. */
#include "core/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"

void text_free(struct text *text) {
  memory_free(text->data);
  *text = (struct text){0};
}

void text_clear(struct text *text) {
  text->length = 0;
  text->failed = false;
  if (text->data != NULL) {
    text->data[0] = '\0';
  }
}

/* Room for `more` bytes and the final zero; false, and remembered, otherwise. */
static bool reserve(struct text *text, size_t more) {
  size_t needed;
  if (text->failed || !size_add(text->length, more, &needed) || !size_add(needed, 1, &needed)) {
    text->failed = true;
    return false;
  }
  if (needed <= text->capacity) {
    return true;
  }
  size_t capacity = text->capacity < 64 ? 64 : text->capacity;
  while (capacity < needed) {
    capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
  }
  char *data = memory_resize(text->data, capacity, 1);
  if (data == NULL) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = capacity;
  return true;
}

void text_add_bytes(struct text *text, const char *bytes, size_t length) {
  if (!reserve(text, length)) {
    return;
  }
  if (length > 0) {
    memcpy(text->data + text->length, bytes, length);
  }
  text->length += length;
  text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *string) { text_add_bytes(text, string, strlen(string)); }
void text_add_char(struct text *text, char c) { text_add_bytes(text, &c, 1); }

void text_format_va(struct text *text, const char *format, va_list arguments) {
  va_list measured;
  va_copy(measured, arguments);
  int length = vsnprintf(NULL, 0, format, measured);
  va_end(measured);
  if (length < 0 || !reserve(text, (size_t)length)) {
    text->failed = true;
    return;
  }
  vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
  text->length += (size_t)length;
}

void text_format(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_format_va(text, format, arguments);
  va_end(arguments);
}

const char *text_string(const struct text *text) { return text->data != NULL ? text->data : ""; }

assay_status text_status(const struct text *text) {
  return text->failed ? status_no_memory(text->capacity * 2) : status_ok();
}

bool text_starts_with(const char *string, const char *prefix) { return strncmp(string, prefix, strlen(prefix)) == 0; }

bool text_ends_with(const char *string, const char *suffix) {
  size_t length = strlen(string), tail = strlen(suffix);
  return length >= tail && strcmp(string + length - tail, suffix) == 0;
}

bool text_is_utf8(const char *bytes, size_t length) {
  const unsigned char *b = (const unsigned char *)bytes;
  size_t i = 0;
  while (i < length) {
    unsigned lead = b[i];
    size_t more = lead < 0x80 ? 0 : lead >= 0xC2 && lead < 0xE0 ? 1 : lead >= 0xE0 && lead < 0xF0 ? 2 : 3;
    if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4 || length - i <= more) {
      return false;
    }
    for (size_t k = 1; k <= more; k++) {
      if ((b[i + k] & 0xC0) != 0x80) {
        return false;
      }
    }
    unsigned second = more > 0 ? b[i + 1] : 0;
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
        (lead == 0xF4 && second > 0x8F)) {
      return false;
    }
    i += more + 1;
  }
  return true;
}

/* Length of the UTF-8 character at `bytes`; 0 when it is malformed. */
static size_t character_length(const char *bytes, size_t left) {
  unsigned char lead = (unsigned char)bytes[0];
  size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return length <= left && text_is_utf8(bytes, length) ? length : 0;
}

uint32_t text_character(const char *bytes, size_t length) {
  static const unsigned char lead_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  uint32_t value = (unsigned char)bytes[0] & lead_bits[length];
  for (size_t i = 1; i < length; i++) {
    value = value << 6 | ((unsigned char)bytes[i] & 0x3F);
  }
  return value;
}

/* Controls, and the format characters that move, split or reverse what stands around them. */
static bool is_hidden(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

bool text_is_shown(const char *bytes, size_t left, size_t *length) {
  size_t found = character_length(bytes, left);
  *length = found == 0 ? 1 : found;
  return found != 0 && !is_hidden(text_character(bytes, found));
}

/* Returns how many columns were written, one a character. */
static size_t add_shown(struct text *text, const char *string) {
  size_t columns = 0, length, before;
  for (size_t left = strlen(string); left > 0; left -= length, string += length) {
    if (text_is_shown(string, left, &length)) {
      text_add_bytes(text, string, length);
      columns++;
      continue;
    }
    before = text->length;
    if (*string == '\n' || *string == '\t') {
      text_add(text, *string == '\n' ? "\\n" : "\\t");
    } else if (length == 1) {
      text_format(text, "\\x%02x", (unsigned)(unsigned char)*string);
    } else {
      text_format(text, "\\u%04x", (unsigned)text_character(string, length));
    }
    columns += text->length - before;
  }
  return columns;
}

void text_add_shown(struct text *text, const char *string) { add_shown(text, string); }

void text_add_padded(struct text *text, const char *string, size_t width) {
  for (size_t columns = add_shown(text, string); columns < width; columns++) {
    text_add_char(text, ' ');
  }
}

/* Levenshtein distance of words shorter than 64 bytes; SIZE_MAX beyond. */
static size_t edit_distance(const char *a, const char *b) {
  enum { LONGEST = 64 };
  size_t na = strlen(a), nb = strlen(b), row[LONGEST];
  if (na >= LONGEST || nb >= LONGEST) {
    return SIZE_MAX;
  }
  for (size_t j = 0; j <= nb; j++) {
    row[j] = j;
  }
  for (size_t i = 1; i <= na; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t change = diagonal + (a[i - 1] != b[j - 1]);
      size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = change < other ? change : other;
    }
  }
  return row[nb];
}

const char *text_nearest(const char *word, const char *const *words, size_t count) {
  size_t best_distance = strlen(word) / 3 + 1;
  const char *best = NULL;
  for (size_t i = 0; i < count; i++) {
    size_t distance = edit_distance(word, words[i]);
    if (distance <= best_distance && (best == NULL || distance < best_distance)) {
      best_distance = distance;
      best = words[i];
    }
  }
  return best;
}
