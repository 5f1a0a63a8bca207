/* Writes the pieces that drafts are made of. What is written reads back as the same value, whatever stood in the
 * files it came from. */
#include "contract/draft_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/yaml.h"

enum { LINE_WIDTH = 116 };

void write_remark(struct text *out, const char *text) {
  enum { SHOWN = 200 };
  size_t shown = 0;
  for (const char *s = text; *s != '\0' && shown < SHOWN; s++, shown++) {
    bool control = (unsigned char)*s < 0x20 || *s == 0x7F;
    text_add_char(out, control ? ' ' : *s);
  }
  while (shown == SHOWN && out->length > 0 && !text_is_utf8(text_string(out), out->length)) {
    out->data[--out->length] = '\0'; /* never half a character */
  }
  text_add(out, shown == SHOWN ? "..." : "");
}

void write_todo(struct text *out, const char *reason) {
  text_add(out, "TODO");
  if (reason == NULL) {
    return;
  }
  text_add(out, " (");
  for (const char *s = reason; *s != '\0'; s++) {
    unsigned char c = (unsigned char)*s;
    bool ends = c == ',' || c == '[' || c == ']' || c == '{' || c == '}' || c == '#' || c < 0x20 || c >= 0x7F;
    ends = ends || (c == ':' && (s[1] == ' ' || s[1] == '\0'));
    text_add_char(out, ends ? ' ' : (char)c);
  }
  text_add_char(out, ')');
}

void write_number(struct text *out, double value) {
  char digits[40];
  for (int precision = 6; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, value == 0 ? 0 : value);
    if (strtod(digits, NULL) == value) {
      break;
    }
  }
  text_add(out, digits);
}

void write_part_free(struct text *part, struct text *out) {
  out->failed = out->failed || part->failed;
  text_free(part);
}

/* Columns since the last line break. */
static size_t column_of(const struct text *out) {
  size_t column = 0;
  while (column < out->length && out->data[out->length - 1 - column] != '\n') {
    column++;
  }
  return column;
}

/* Adds an item of a list, on a new line where it would not fit. */
static void add_item(struct text *out, const struct text *item, bool first, int indent) {
  if (!first) {
    bool fits = column_of(out) + 2 + item->length <= LINE_WIDTH;
    text_add(out, fits ? ", " : ",\n");
    for (int i = 0; !fits && i < indent; i++) {
      text_add_char(out, ' ');
    }
  }
  text_add(out, text_string(item));
  out->failed = out->failed || item->failed;
}

/* A list that would begin far to the right and not fit there begins on a new line; only inside braces. */
static void begin_list(struct text *out, size_t length, int indent) {
  enum { FAR = 60 };
  if (column_of(out) > FAR && column_of(out) + length > LINE_WIDTH) {
    out->length -= out->length > 0 && out->data[out->length - 1] == ' ';
    text_add_char(out, '\n');
    for (int i = 0; i < indent; i++) {
      text_add_char(out, ' ');
    }
  }
  text_add_char(out, '[');
}

/* One item of either list. */
static void write_item(struct text *out, const double *values, const char *const *words, int32_t i) {
  if (values != NULL) {
    write_number(out, values[i]);
  } else {
    yaml_write_scalar(out, words[i]);
  }
}

static void write_list(struct text *out, const double *values, const char *const *words, int32_t count, int indent) {
  struct text item = {0};
  size_t length = 0;
  for (int32_t i = 0; i < count; i++) {
    text_clear(&item);
    write_item(&item, values, words, i);
    length += item.length + 2;
    out->failed = out->failed || item.failed; /* which text_clear forgets */
  }
  begin_list(out, length, indent);
  for (int32_t i = 0; i < count; i++) {
    text_clear(&item);
    write_item(&item, values, words, i);
    add_item(out, &item, i == 0, indent);
  }
  write_part_free(&item, out);
  text_add_char(out, ']');
}

void write_numbers(struct text *out, const double *values, int32_t count, int indent) {
  write_list(out, values, NULL, count, indent);
}

void write_words(struct text *out, const char *const *words, int32_t count, int indent) {
  write_list(out, NULL, words, count, indent);
}

bool numbers_alike(const double *values, int32_t count) {
  bool alike = count > 0;
  for (int32_t i = 1; i < count; i++) {
    alike = alike && values[i] == values[0];
  }
  return alike;
}

bool all_are(const struct fact_numbers *column, double value) {
  return column->count > 0 && column->values[0] == value && numbers_alike(column->values, column->count);
}

void write_column(struct text *out, const double *values, int32_t count, int indent) {
  if (numbers_alike(values, count)) {
    write_number(out, values[0]);
  } else {
    write_numbers(out, values, count, indent);
  }
}

static bool same_place(struct place a, struct place b) {
  bool keys = (a.key == NULL && b.key == NULL) || (a.key != NULL && b.key != NULL && text_equal(a.key, b.key));
  return a.file != NULL && b.file != NULL && text_equal(a.file, b.file) && a.line == b.line && keys;
}

void write_value_begin(struct text *out, struct place place, struct place base) {
  text_add(out, place.file == NULL || same_place(place, base) ? "" : "{value: ");
}

void write_value_end(struct text *out, struct place place, struct place base) {
  if (place.file != NULL && !same_place(place, base)) {
    text_add(out, ", source: ");
    write_place(out, place);
    text_add_char(out, '}');
  }
}

void write_clip(struct text *out, const struct fact_numbers *low, const struct fact_numbers *high, struct place base) {
  write_value_begin(out, low->place, base);
  int32_t count = low->count > high->count ? low->count : high->count;
  bool each = !numbers_alike(low->values, low->count) || !numbers_alike(high->values, high->count);
  text_add(out, each ? "[" : "");
  for (int32_t i = 0; i < (each ? count : 1); i++) {
    double pair[2] = {low->values[low->count == 1 ? 0 : i], high->values[high->count == 1 ? 0 : i]};
    text_add(out, i > 0 ? ", " : "");
    write_numbers(out, pair, 2, 12);
  }
  text_add(out, each ? "]" : "");
  write_value_end(out, low->place, base);
}

void write_place(struct text *out, struct place place) {
  static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
  struct text text = {0};
  place_add(&text, place);
  const char *colon = strrchr(text_string(&text), ':');
  size_t before = colon != NULL ? (size_t)(colon - text_string(&text)) : 0;
  bool letter = (text_string(&text)[0] >= 'a' && text_string(&text)[0] <= 'z') ||
                (text_string(&text)[0] >= 'A' && text_string(&text)[0] <= 'Z');
  bool plain = letter && strspn(text_string(&text), safe) == before && before > 0 && colon[1] != '\0' &&
               colon[1 + strspn(colon + 1, safe)] == '\0';
  if (plain && !text_starts_with(text_string(&text), "TODO")) {
    text_add(out, text_string(&text));
  } else {
    yaml_write_scalar(out, text_string(&text));
  }
  write_part_free(&text, out);
}

int64_t draft_size(const struct signature_tensor *tensor) {
  int64_t size = 1;
  int32_t start = 0;
  while (start < tensor->rank - 1 && (tensor->dims[start] == 1 || tensor->dims[start] < 0)) {
    start++;
  }
  for (int32_t i = start; i < tensor->rank; i++) {
    if (tensor->dims[i] < 1 || tensor->dims[i] > (int64_t)1 << 30 || size > (int64_t)1 << 30) {
      return 0;
    }
    size *= tensor->dims[i];
  }
  return tensor->rank > 0 ? size : tensor->rank == 0 ? 1 : 0;
}
