/* Values out of the tree of a foreign file: members, numbers, words. It reads what is written and supplies nothing. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract/foreign_yaml.h"
#include "core/text.h"

const struct foreign *foreign_get(const struct foreign *map, const char *key) {
  if (map == NULL || map->kind != FOREIGN_MAP) {
    return NULL;
  }
  for (int32_t i = 0; i < map->count; i++) {
    if (text_equal(map->keys[i], key)) {
      return &map->items[i];
    }
  }
  return NULL;
}

const struct foreign *foreign_at(const struct foreign *map, const char *path) {
  char key[64];
  while (map != NULL && *path != '\0') {
    size_t length = strcspn(path, "/");
    if (length >= sizeof key) {
      return NULL;
    }
    memcpy(key, path, length);
    key[length] = '\0';
    map = foreign_get(map, key);
    path += length + (path[length] == '/');
  }
  return map;
}

assay_status foreign_take(const char *path, const struct foreign *map, const char *key, const struct foreign **out) {
  *out = NULL;
  int32_t first = -1;
  for (int32_t i = 0; map != NULL && map->kind == FOREIGN_MAP && i < map->count; i++) {
    if (!text_equal(map->keys[i], key)) {
      continue;
    }
    if (first >= 0) {
      return foreign_error(path, map->key_marks[i],
                           "the key '%.60s' stands here again, after line %d; readers of YAML disagree about which of "
                           "the two holds, so take one out",
                           key, (int)map->key_marks[first].line);
    }
    first = i;
    *out = &map->items[i];
  }
  return status_ok();
}

/* [+-] digits with at most one point, and an exponent. */
static bool is_number(const char *s) {
  s += *s == '-' || *s == '+';
  size_t before = strspn(s, "0123456789");
  s += before;
  size_t after = 0;
  if (*s == '.') {
    after = strspn(s + 1, "0123456789");
    s += 1 + after;
  }
  if (before + after == 0) {
    return false;
  }
  if (*s == 'e' || *s == 'E') {
    s++;
    s += *s == '-' || *s == '+';
    size_t digits = strspn(s, "0123456789");
    return digits > 0 && s[digits] == '\0';
  }
  return *s == '\0';
}

bool foreign_number(const struct foreign *node, double *out) {
  enum { LONGEST = 400, POINT = 8 };
  if (node == NULL || node->kind != FOREIGN_SCALAR || node->quoted || !is_number(node->text) ||
      strlen(node->text) > LONGEST) {
    return false;
  }
  char copy[LONGEST + POINT + 1];
  const char *point = localeconv()->decimal_point, *dot = strchr(node->text, '.');
  size_t before = dot != NULL ? (size_t)(dot - node->text) : strlen(node->text);
  size_t width = dot != NULL ? strlen(point) : 0;
  if (width > POINT) {
    return false;
  }
  memcpy(copy, node->text, before);
  memcpy(copy + before, point, width);
  strcpy(copy + before + width, dot != NULL ? dot + 1 : "");
  *out = strtod(copy, NULL);
  return isfinite(*out);
}

bool foreign_whole(const struct foreign *node, int64_t *out) {
  if (node == NULL || node->kind != FOREIGN_SCALAR || node->quoted) {
    return false;
  }
  const char *digits = node->text + (*node->text == '-');
  if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0') {
    return false;
  }
  errno = 0;
  *out = strtoll(node->text, NULL, 10);
  return errno != ERANGE;
}

bool foreign_flag(const struct foreign *node, bool *out) {
  static const char *const words[] = {"true",  "True",  "TRUE",  "yes", "Yes", "on",  "On",
                                      "false", "False", "FALSE", "no",  "No",  "off", "Off"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (node != NULL && node->kind == FOREIGN_SCALAR && !node->quoted && text_equal(node->text, words[i])) {
      *out = i < 7;
      return true;
    }
  }
  return false;
}

const char *foreign_text(const struct foreign *node) {
  return node != NULL && node->kind == FOREIGN_SCALAR ? node->text : NULL;
}

bool foreign_has_tag(const struct foreign *node, const char *tag) {
  static const char standard[] = "tag:yaml.org,2002:";
  return node != NULL && node->tag != NULL && text_starts_with(node->tag, standard) &&
         text_equal(node->tag + strlen(standard), tag);
}
