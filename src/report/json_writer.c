/* Writing JSON: see json_writer.h. Whatever bytes come in, what goes out is valid UTF-8. */
#include "report/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void new_line(struct json *json) {
  if (json->line_depth > 0) {
    return;
  }
  text_add_char(json->out, '\n');
  for (int i = 0; i < json->depth; i++) {
    text_add(json->out, "  ");
  }
}

int utf8_length(const char *bytes, const char *end) {
  const unsigned char *b = (const unsigned char *)bytes;
  ptrdiff_t left = end - bytes;
  int length = b[0] < 0x80                   ? 1
               : b[0] >= 0xC2 && b[0] < 0xE0 ? 2
               : b[0] >= 0xE0 && b[0] < 0xF0 ? 3
               : b[0] >= 0xF0 && b[0] < 0xF5 ? 4
                                             : 0;
  if (length == 0 || left < length) {
    return 0;
  }
  for (int i = 1; i < length; i++) {
    if ((b[i] & 0xC0) != 0x80) {
      return 0;
    }
  }
  bool overlong = (b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xF0 && b[1] < 0x90);
  bool outside = (b[0] == 0xED && b[1] >= 0xA0) || (b[0] == 0xF4 && b[1] >= 0x90);
  return overlong || outside ? 0 : length;
}

static void add_escaped(struct text *out, const char *value) {
  const char *end = value + strlen(value);
  text_add_char(out, '"');
  while (value < end) {
    int length = utf8_length(value, end);
    size_t shown;
    unsigned char first = (unsigned char)*value;
    if (length == 0) {
      text_add(out, "\xEF\xBF\xBD"); /* the replacement character */
      length = 1;
    } else if (length > 1 && !text_is_shown(value, (size_t)length, &shown)) {
      text_format(out, "\\u%04x", (unsigned)text_character(value, (size_t)length));
    } else if (first == '"' || first == '\\') {
      text_add_char(out, '\\');
      text_add_char(out, *value);
    } else if (first < 0x20 || first == 0x7F) {
      text_format(out, "\\u%04x", first);
    } else {
      text_add_bytes(out, value, (size_t)length);
    }
    value += length;
  }
  text_add_char(out, '"');
}

static void begin_item(struct json *json, const char *key) {
  if (json->has_items) {
    text_add(json->out, json->line_depth > 0 ? ", " : ",");
  }
  if (json->depth > 0) {
    new_line(json);
  }
  json->has_items = true;
  if (key != NULL) {
    add_escaped(json->out, key);
    text_add(json->out, ": ");
  }
}

void json_open(struct json *json, const char *key, char bracket, bool line) {
  begin_item(json, key);
  text_add_char(json->out, bracket);
  json->depth++;
  json->has_items = false;
  if (line || json->line_depth > 0) {
    json->line_depth++;
  }
}

void json_close(struct json *json, char bracket) {
  json->depth--;
  if (json->has_items) {
    new_line(json);
  }
  if (json->line_depth > 0) {
    json->line_depth--;
  }
  text_add_char(json->out, bracket);
  json->has_items = true;
}

void json_text(struct json *json, const char *key, const char *value) {
  begin_item(json, key);
  if (value == NULL) {
    text_add(json->out, "null");
  } else {
    add_escaped(json->out, value);
  }
}

void json_int(struct json *json, const char *key, int64_t value) {
  begin_item(json, key);
  text_format(json->out, "%lld", (long long)value);
}

void json_bool(struct json *json, const char *key, bool value) {
  begin_item(json, key);
  text_add(json->out, value ? "true" : "false");
}

void json_none(struct json *json, const char *key) {
  begin_item(json, key);
  text_add(json->out, "null");
}

/* Appends `value` with %.9g or %.17g and a decimal point, whatever the locale. */
static void number_format(struct text *out, double value, bool single) {
  char digits[64];
  snprintf(digits, sizeof digits, single ? "%.9g" : "%.17g", value);
  for (char *c = digits; *c != '\0'; c++) {
    if (*c == ',') {
      *c = '.';
    }
  }
  text_add(out, digits);
}

void json_number(struct json *json, const char *key, double value, bool single) {
  if (isnan(value) || isinf(value)) {
    json_text(json, key, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    return;
  }
  begin_item(json, key);
  number_format(json->out, value, single);
}

void json_number_or_null(struct json *json, const char *key, double value, bool single) {
  if (isnan(value)) {
    json_none(json, key);
  } else {
    json_number(json, key, value, single);
  }
}
