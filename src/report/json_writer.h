/* Writing JSON whose bytes depend on the values alone: keys in the order given,
 * fp32 as %.9g and fp64 as %.17g, what is not finite as a string. (jansson prints every real
 * with one precision, which is why it is not used for writing. No name here may be one of its: they share a program.)
 */
#ifndef REPORT_JSON_WRITER_H
#define REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"

struct json {
  struct text *out;
  int depth;
  int line_depth; /* > 0: inside a container that stands on one line */
  bool has_items; /* in the container being written */
};

/* `key` NULL inside an array. `line`: the container stands on one line. */
void json_open(struct json *json, const char *key, char bracket, bool line);
void json_close(struct json *json, char bracket);
void json_text(struct json *json, const char *key, const char *value); /* NULL: null */
void json_int(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_none(struct json *json, const char *key);
/* "NaN", "Infinity" and "-Infinity" are strings. */
void json_number(struct json *json, const char *key, double value, bool single);
/* The same, but NaN means that there is no value: null. */
void json_number_or_null(struct json *json, const char *key, double value, bool single);

/* Length of the UTF-8 sequence at `bytes` (at least one byte before `end`); 0 when it is malformed. */
int utf8_length(const char *bytes, const char *end);

#endif
