/* Reads values out of a YAML tree: words, numbers, bools, choices, and the
 * keys of mappings. Nothing is guessed: what YAML readers disagree about is
 * refused, with what to write instead. */
#include "contract/yaml.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longest piece of a file's text that a message repeats. */
enum { SHOWN_MAX = 60, NUMBER_MAX = 400 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A plain TODO, alone or followed by a remark: `TODO`, `TODO which unit?`. */
static bool is_open(const struct yaml *node) {
  if (node->kind != YAML_SCALAR || node->quoted || !text_starts_with(node->text, "TODO")) {
    return false;
  }
  char next = node->text[4];
  return next == '\0' || next == ' ' || next == ':' || next == '?' || next == '(';
}

static assay_status open_question(const struct yaml_file *file, const struct yaml *node, const char *what) {
  struct yaml_file open = *file;
  open.code = ASSAY_OPEN_QUESTION;
  return yaml_error(&open, node->mark, "%s is still TODO; say what it is, assay does not guess", what);
}

/* The node as a message shows it: "the list", "'abc'", "nothing". */
static void show(const struct yaml *node, struct text *out) {
  switch (node->kind) {
    case YAML_NULL:
      text_add(out, "nothing stands here");
      break;
    case YAML_SEQUENCE:
      text_format(out, "a list of %d stands here", (int)node->count);
      break;
    case YAML_MAPPING:
      text_format(out, "a mapping of %d keys stands here", (int)node->count);
      break;
    case YAML_SCALAR: {
      const char *quote = node->quoted ? "\"" : "'";
      size_t length = strlen(node->text), shown = length < SHOWN_MAX ? length : SHOWN_MAX;
      while (shown < length && shown > 0 && ((unsigned char)node->text[shown] & 0xC0) == 0x80) {
        shown--; /* never half a character */
      }
      text_add(out, quote);
      for (size_t i = 0; i < shown; i++) {
        bool control = (unsigned char)node->text[i] < 0x20 || node->text[i] == 0x7F;
        text_add_char(out, control ? ' ' : node->text[i]);
      }
      text_format(out, "%s%s stands here", shown < length ? "..." : "", quote);
      break;
    }
  }
}

/* "path:line:column: 'what' must be <expected>; <what stands there>." */
static assay_status wrong(const struct yaml_file *file, const struct yaml *node, const char *what,
                          const char *expected) {
  struct text found = {0};
  show(node, &found);
  assay_status status = yaml_error(file, node->mark, "%s must be %s; %s", what, expected, text_string(&found));
  text_free(&found);
  return status;
}

static const char *kind_words(enum yaml_kind kind) {
  switch (kind) {
    case YAML_SEQUENCE:
      return "a list";
    case YAML_MAPPING:
      return "a mapping (key: value)";
    case YAML_SCALAR:
      return "one value";
    case YAML_NULL:
      break;
  }
  return "left empty";
}

assay_status yaml_expect(const struct yaml_file *file, const struct yaml *node, enum yaml_kind kind, const char *what) {
  if (node->kind == kind) {
    return status_ok();
  }
  return is_open(node) ? open_question(file, node, what) : wrong(file, node, what, kind_words(kind));
}

const struct yaml *yaml_get(const struct yaml *mapping, const char *key) {
  if (mapping == NULL || mapping->kind != YAML_MAPPING) {
    return NULL;
  }
  for (int32_t i = 0; i < mapping->count; i++) {
    if (text_equal(mapping->keys[i], key)) {
      return &mapping->items[i];
    }
  }
  return NULL;
}

assay_status yaml_keys(const struct yaml_file *file, const struct yaml *node, const char *const *allowed, size_t count,
                       const char *what) {
  TRY(yaml_expect(file, node, YAML_MAPPING, what));
  for (int32_t i = 0; i < node->count; i++) {
    bool known = false;
    for (size_t j = 0; j < count && !known; j++) {
      known = text_equal(node->keys[i], allowed[j]);
    }
    if (known) {
      continue;
    }
    const char *near = text_nearest(node->keys[i], allowed, count);
    struct text list = {0};
    for (size_t j = 0; j < count; j++) {
      text_format(&list, "%s%s", j == 0 ? "" : ", ", allowed[j]);
    }
    assay_status status = yaml_error(file, node->key_marks[i], "%s has no key '%.60s'%s%s%s; its keys are %s", what,
                                     node->keys[i], near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                                     near != NULL ? "'" : "", text_string(&list));
    text_free(&list);
    return status;
  }
  return status_ok();
}

assay_status yaml_require(const struct yaml_file *file, const struct yaml *mapping, const char *key, const char *what,
                          const struct yaml **out) {
  TRY(yaml_expect(file, mapping, YAML_MAPPING, what));
  *out = yaml_get(mapping, key);
  return *out != NULL ? status_ok() : yaml_error(file, mapping->mark, "%s needs the key '%s'", what, key);
}

/* JSON's grammar of numbers. */
static bool is_json_number(const char *s, bool *whole) {
  *whole = true;
  s += *s == '-';
  if (*s == '0') {
    s++;
  } else if (is_digit(*s)) {
    s += strspn(s, "0123456789");
  } else {
    return false;
  }
  if (*s == '.') {
    *whole = false;
    size_t digits = strspn(s + 1, "0123456789");
    if (digits == 0) {
      return false;
    }
    s += 1 + digits;
  }
  if (*s == 'e' || *s == 'E') {
    *whole = false;
    s++;
    s += *s == '-' || *s == '+';
    size_t digits = strspn(s, "0123456789");
    if (digits == 0) {
      return false;
    }
    s += digits;
  }
  return *s == '\0';
}

/* Anything that some reader of YAML 1.1 or 1.2 takes for a number: signs, leading zeros, '_',
 * hexadecimal, octal, binary, base 60, infinities. */
static bool looks_like_number(const char *s) {
  s += *s == '-' || *s == '+';
  if (text_equal(s, ".inf") || text_equal(s, ".Inf") || text_equal(s, ".INF") || text_equal(s, ".nan") ||
      text_equal(s, ".NaN") || text_equal(s, ".NAN")) {
    return true;
  }
  if (s[0] == '0' && (s[1] == 'x' || s[1] == 'o' || s[1] == 'b')) {
    return s[2] != '\0' && s[2 + strspn(s + 2, "0123456789abcdefABCDEF_")] == '\0';
  }
  if (!is_digit(s[0]) && !(s[0] == '.' && is_digit(s[1]))) {
    return false;
  }
  const char *rest = s + strspn(s, "0123456789_.:");
  if (*rest == 'e' || *rest == 'E') {
    const char *exponent = rest + 1;
    exponent += *exponent == '-' || *exponent == '+';
    return is_digit(*exponent) && exponent[strspn(exponent, "0123456789")] == '\0';
  }
  if (*rest != '\0') {
    return false;
  }
  const char *first_dot = strchr(s, '.'); /* 1.13.1 is a version, no number */
  return first_dot == NULL || strchr(first_dot + 1, '.') == NULL;
}

static bool looks_like_bool(const char *s) {
  static const char *const words[] = {"true", "True", "TRUE", "false", "False", "FALSE", "yes", "Yes", "YES",
                                      "no",   "No",   "NO",   "on",    "On",    "ON",    "off", "Off", "OFF"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (text_equal(s, words[i])) {
      return true;
    }
  }
  return false;
}

/* A scalar that is neither TODO nor anything else. */
static assay_status expect_scalar(const struct yaml_file *file, const struct yaml *node, const char *what,
                                  const char *expected) {
  if (is_open(node)) {
    return open_question(file, node, what);
  }
  return node->kind == YAML_SCALAR ? status_ok() : wrong(file, node, what, expected);
}

assay_status yaml_string(const struct yaml_file *file, const struct yaml *node, const char *what, const char **out) {
  TRY(expect_scalar(file, node, what, "a word or text"));
  if (node->text[0] == '\0') {
    return yaml_error(file, node->mark, "%s is empty; write a word or text", what);
  }
  if (!node->quoted && (looks_like_number(node->text) || looks_like_bool(node->text))) {
    return yaml_error(file, node->mark,
                      "%s must be text, and '%.60s' without quotes is a number or a bool to many readers; "
                      "write \"%.60s\"",
                      what, node->text, node->text);
  }
  *out = node->text;
  return status_ok();
}

/* strtod wants the decimal point of the host program's locale. */
static double to_double(const char *text) {
  char copy[NUMBER_MAX + 16];
  const char *point = localeconv()->decimal_point;
  const char *dot = strchr(text, '.');
  if (dot == NULL || strlen(text) > NUMBER_MAX || strlen(point) > 8) {
    return strtod(text, NULL);
  }
  size_t before = (size_t)(dot - text), width = strlen(point);
  memcpy(copy, text, before);
  memcpy(copy + before, point, width);
  memcpy(copy + before + width, dot + 1, strlen(dot + 1) + 1);
  return strtod(copy, NULL);
}

/* Some digit other than 0 before the exponent. */
static bool has_digits(const char *s) {
  for (; *s != '\0' && *s != 'e' && *s != 'E'; s++) {
    if (*s >= '1' && *s <= '9') {
      return true;
    }
  }
  return false;
}

assay_status yaml_double(const struct yaml_file *file, const struct yaml *node, const char *what, bool finite,
                         double *out) {
  static const char expected[] = "a number such as 0.5, -3 or 1e-4";
  TRY(expect_scalar(file, node, what, expected));
  bool whole;
  if (node->quoted) {
    return wrong(file, node, what, "a number, without quotes");
  }
  if (text_equal(node->text, ".inf") || text_equal(node->text, "-.inf") || text_equal(node->text, ".nan")) {
    if (finite) {
      return wrong(file, node, what, "a finite number");
    }
    *out = node->text[1] == 'n' ? (double)NAN : node->text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    return status_ok();
  }
  if (!is_json_number(node->text, &whole) || strlen(node->text) > NUMBER_MAX) {
    return wrong(file, node, what,
                 looks_like_number(node->text)
                     ? "a number as JSON writes it (digits, one point, no leading '+', '0' or '.', no '_' or ':')"
                     : expected);
  }
  double value = to_double(node->text);
  if (isinf(value) || (value == 0 && has_digits(node->text))) {
    return wrong(file, node, what, "a number that a double can hold");
  }
  *out = value;
  return status_ok();
}

assay_status yaml_int(const struct yaml_file *file, const struct yaml *node, const char *what, int64_t min, int64_t max,
                      int64_t *out) {
  TRY(expect_scalar(file, node, what, "a whole number"));
  bool whole;
  if (node->quoted) {
    return wrong(file, node, what, "a whole number, without quotes");
  }
  if (!is_json_number(node->text, &whole) || !whole) {
    return wrong(file, node, what, "a whole number in plain digits");
  }
  errno = 0;
  long long value = strtoll(node->text, NULL, 10);
  if (errno == ERANGE || value < min || value > max) {
    struct text expected = {0};
    text_format(&expected, "a whole number from %" PRId64 " to %" PRId64, min, max);
    assay_status status = wrong(file, node, what, text_string(&expected));
    text_free(&expected);
    return status;
  }
  *out = value;
  return status_ok();
}

assay_status yaml_bool(const struct yaml_file *file, const struct yaml *node, const char *what, bool *out) {
  TRY(expect_scalar(file, node, what, "true or false"));
  bool yes = text_equal(node->text, "true");
  if (node->quoted || (!yes && !text_equal(node->text, "false"))) {
    return wrong(file, node, what, "true or false, in lower case and without quotes");
  }
  *out = yes;
  return status_ok();
}

assay_status yaml_choice(const struct yaml_file *file, const struct yaml *node, const char *what,
                         const char *const *words, size_t count, int32_t *out) {
  struct text expected = {0};
  for (size_t i = 0; i < count; i++) {
    text_format(&expected, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", words[i]);
  }
  assay_status status = expect_scalar(file, node, what, text_string(&expected));
  if (assay_status_ok(status)) {
    size_t found = 0;
    while (found < count && !text_equal(node->text, words[found])) {
      found++;
    }
    *out = (int32_t)found;
    status = found < count ? status_ok() : wrong(file, node, what, text_string(&expected));
  }
  text_free(&expected);
  return status;
}

void yaml_write_scalar(struct text *out, const char *text) {
  static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
  bool letter = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z') || text[0] == '_';
  bool plain = letter && text[strspn(text, safe)] == '\0' && !looks_like_bool(text) &&
               !text_starts_with(text, "TODO") && !text_equal(text, "null") && !text_equal(text, "Null") &&
               !text_equal(text, "NULL") && !text_equal(text, "y") && !text_equal(text, "n") &&
               !text_equal(text, "Y") && !text_equal(text, "N");
  if (plain) {
    text_add(out, text);
    return;
  }
  text_add_char(out, '"');
  for (const char *s = text; *s != '\0'; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\') {
      text_add_char(out, '\\');
      text_add_char(out, *s);
    } else if (c < 0x20 || c == 0x7F) {
      text_format(out, "\\x%02X", c);
    } else {
      text_add_char(out, *s);
    }
  }
  text_add_char(out, '"');
}

/* --- open questions ------------------------------------------------------ */

/* What the answer to a key looks like, for those that a draft leaves open. */
static const char *hint_for(const char *key) {
  static const char *const hints[][2] = {
      {"unit", "the physical unit (of an output after decoding), such as rad, m/s or score"},
      {"raw_unit", "the unit of the model's own number, before decoding"},
      {"tolerance", "how far a rung may drift, in the component's unit: {max: ...}"},
      {"max", "the largest value that the task can bear"},
      {"min", "the smallest value that the task can bear"},
      {"opt", "the size that is used most"},
      {"layout", "NCHW, NHWC, CHW or HWC"},
      {"color", "RGB, BGR or GRAY"},
      {"legal", "[lowest, highest] that may be fed; outside is refused; or take it out"},
      {"names", "the components in the order of the tensor"},
      {"name", "the component's name"},
      {"state", "the pairs of input and output that are carried to the next step, or take it out"},
      {"decode", "how the model's numbers become the unit: [{scale: ...}, {offset: ...}], or take it out"},
      {"kp", "the stiffness of each joint, above 0"},
      {"kd", "the damping of each joint, above 0"},
      {"components", "what each element of the output is, in the order of the tensor"},
      {"axes", "what each dimension is: batch, horizon, component, ..."},
      {"initial", "the value that the state starts from: zeros, a number, or a file"},
      {"reset", "when the state starts anew: episode or never"},
      {"period_ms", "the control period in milliseconds"},
      {"policy", "the policy's name"},
      {"corpus", "the folder of the golden corpus"},
      {"output", "the output that is fed back to this input at the next step"},
      {"shape", "the sizes, with {min: ..., opt: ..., max: ...} for a dynamic one"},
  };
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
    if (text_equal(hints[i][0], key)) {
      return hints[i][1];
    }
  }
  return NULL;
}

/* The search for plain TODOs: counting while `list` is NULL, then keeping. */
struct open_search {
  struct arena *arena;
  struct open_question *list;
  int32_t count;
};

/* "(no file says it)" after the TODO, without brackets and white space. */
static assay_status keep_reason(struct arena *arena, const char *rest, const char **out) {
  rest += strspn(rest, " :?");
  size_t length = strlen(rest);
  bool brackets = length > 1 && rest[0] == '(' && rest[length - 1] == ')';
  if (length == 0) {
    return status_ok();
  }
  *out = arena_copy(arena, rest + brackets, length - (brackets ? 2 : 0));
  return *out != NULL ? status_ok() : status_no_memory(length);
}

static assay_status keep_open(struct open_search *search, const struct yaml *node, const char *key,
                              const struct text *path) {
  if (search->list != NULL) {
    char *copy = arena_string(search->arena, text_string(path));
    if (copy == NULL) {
      return status_no_memory(path->length);
    }
    struct open_question *question = &search->list[search->count];
    *question = (struct open_question){node->mark, copy, hint_for(key), NULL};
    TRY(keep_reason(search->arena, node->text + 4, &question->reason));
  }
  search->count++;
  return status_ok();
}

static assay_status search_open(const struct yaml *node, const char *key, struct text *path,
                                struct open_search *search) {
  if (is_open(node)) {
    return keep_open(search, node, key, path);
  }
  size_t length = path->length;
  for (int32_t i = 0; i < node->count; i++) {
    bool mapping = node->kind == YAML_MAPPING;
    const struct yaml *name = mapping ? NULL : yaml_get(&node->items[i], "name");
    if (mapping) {
      text_format(path, "%s%s", length > 0 ? "." : "", node->keys[i]);
    } else if (name != NULL && name->kind == YAML_SCALAR && !is_open(name)) {
      text_format(path, "[%s]", name->text);
    } else {
      text_format(path, "[%d]", (int)i);
    }
    TRY(text_status(path));
    TRY(search_open(&node->items[i], mapping ? node->keys[i] : key, path, search));
    path->length = length;
    path->data[length] = '\0';
  }
  return status_ok();
}

assay_status yaml_open_questions(const struct yaml_file *file, struct arena *arena, struct open_question **out,
                                 int32_t *count) {
  struct open_search search = {.arena = arena};
  struct text path = {0};
  assay_status status = search_open(file->root, "", &path, &search);
  text_clear(&path);
  if (assay_status_ok(status)) {
    search.list = arena_alloc(arena, (size_t)search.count, sizeof *search.list);
    search.count = 0;
    status = search.list != NULL ? search_open(file->root, "", &path, &search) : status_no_memory(sizeof *search.list);
  }
  text_free(&path);
  *out = search.list;
  *count = search.count;
  return status;
}

/* "; 2 more open questions at lines 5, 6" */
static void describe_others(const struct open_question *questions, int32_t count, struct text *out) {
  if (count < 2) {
    return;
  }
  text_format(out, "; %d more open question%s at line%s ", (int)count - 1, count > 2 ? "s" : "", count > 2 ? "s" : "");
  for (int32_t i = 1; i < count && i <= 8; i++) {
    text_format(out, "%s%d", i > 1 ? ", " : "", (int)questions[i].mark.line);
  }
  text_add(out, count > 9 ? ", ..." : "");
}

assay_status yaml_no_open_questions(const struct yaml_file *file) {
  struct arena arena = {0};
  struct open_question *questions;
  int32_t count = 0;
  assay_status status = yaml_open_questions(file, &arena, &questions, &count);
  if (assay_status_ok(status) && count > 0) {
    struct yaml_file open = *file;
    open.code = ASSAY_OPEN_QUESTION;
    struct text more = {0};
    describe_others(questions, count, &more);
    status = yaml_error(&open, questions[0].mark, "'%s' is still TODO: write %s%s", questions[0].path,
                        questions[0].hint != NULL ? questions[0].hint : "what it is; assay does not guess",
                        text_string(&more));
    text_free(&more);
  }
  arena_free(&arena);
  return status;
}
