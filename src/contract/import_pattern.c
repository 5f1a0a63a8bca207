/* Regular expressions as robot configurations use them to name joints. Matching is bounded by steps, whatever the
 * pattern; there are no references back and no look-around. */
#include <string.h>

#include "contract/importer.h"

/* A match in progress. */
struct matching {
  int64_t steps;
  int depth;
};
enum { STEPS_MAX = 200000, MATCH_DEPTH_MAX = 1000 };

/* What follows when a piece has matched: the rest of a pattern, and what comes after its group. */
struct rest {
  const char *pattern, *end;
  const struct rest *after;
};

static bool match_here(struct matching *matching, const char *pattern, const char *end, const struct rest *after,
                       const char *text);

/* End of the piece at `pattern`: one character, a class, or a group. NULL when it is not closed. */
static const char *piece_end(const char *pattern, const char *end) {
  if (*pattern == '\\') {
    return pattern + 1 < end ? pattern + 2 : NULL;
  }
  if (*pattern == '[') {
    const char *close = pattern + 1 < end ? memchr(pattern + 2, ']', (size_t)(end - pattern - 2)) : NULL;
    return close != NULL ? close + 1 : NULL;
  }
  if (*pattern != '(') {
    return pattern + 1;
  }
  int depth = 0;
  for (const char *s = pattern; s < end; s++) {
    s += *s == '\\' && s + 1 < end;
    depth += (*s == '(') - (*s == ')');
    if (depth == 0) {
      return s + 1;
    }
  }
  return NULL;
}

static bool in_class(const char *piece, const char *end, char c) {
  const char *s = piece + 1;
  bool negated = *s == '^', found = false;
  s += negated;
  for (; s < end - 1; s++) {
    if (s + 2 < end - 1 && s[1] == '-') {
      found = found || (c >= s[0] && c <= s[2]);
      s += 2;
    } else {
      found = found || c == *s;
    }
  }
  return found != negated;
}

/* A piece that takes one character. */
static bool takes(const char *piece, const char *end, char c) {
  if (c == '\0') {
    return false;
  }
  switch (*piece) {
    case '.':
      return true;
    case '[':
      return in_class(piece, end, c);
    case '\\':
      return piece[1] == 'd' ? c >= '0' && c <= '9' : piece[1] == c;
    default:
      return *piece == c;
  }
}

static bool match_after(struct matching *matching, const struct rest *after, const char *text) {
  return after == NULL ? *text == '\0' : match_here(matching, after->pattern, after->end, after->after, text);
}

/* The alternatives of a group, or of the whole pattern. */
static bool match_any(struct matching *matching, const char *pattern, const char *end, const struct rest *after,
                      const char *text) {
  const char *start = pattern;
  int depth = 0;
  for (const char *s = pattern; s <= end; s++) {
    if (s == end || (*s == '|' && depth == 0)) {
      if (match_here(matching, start, s, after, text)) {
        return true;
      }
      start = s + 1;
    } else {
      s += *s == '\\' && s + 1 < end;
      depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
    }
  }
  return false;
}

/* One piece once, then `after`. */
static bool match_piece(struct matching *matching, const char *piece, const char *end, const struct rest *after,
                        const char *text) {
  if (*piece == '(') {
    const char *inner = piece[1] == '?' && piece[2] == ':' ? piece + 3 : piece + 1;
    return match_any(matching, inner, end - 1, after, text);
  }
  return takes(piece, end, *text) && match_after(matching, after, text + 1);
}

static bool match_here(struct matching *matching, const char *pattern, const char *end, const struct rest *after,
                       const char *text) {
  if (++matching->steps > STEPS_MAX || matching->depth >= MATCH_DEPTH_MAX) {
    return false;
  }
  if (pattern >= end) {
    return match_after(matching, after, text);
  }
  const char *piece = piece_end(pattern, end);
  if (piece == NULL) {
    return false;
  }
  char repeat = piece < end ? *piece : '\0';
  bool repeats = repeat == '*' || repeat == '+' || repeat == '?';
  struct rest rest = {repeats ? piece + 1 : piece, end, after};
  matching->depth++;
  bool matched = false;
  if (!repeats || repeat == '?') {
    matched = match_piece(matching, pattern, piece, &rest, text);
  } else {
    /* once more, and then the same piece any number of times */
    struct rest again = {pattern, end, after};
    matched = *text != '\0' && match_piece(matching, pattern, piece, &again, text);
    if (!matched && repeat == '+') {
      matched = match_piece(matching, pattern, piece, &rest, text);
    }
  }
  if (!matched && (repeat == '*' || repeat == '?')) {
    matched = match_here(matching, rest.pattern, end, after, text);
  }
  matching->depth--;
  return matched;
}

bool import_matches(const char *pattern, const char *name) {
  struct matching matching = {0};
  size_t length = strlen(pattern);
  return length <= 1000 && strlen(name) <= 1000 && match_any(&matching, pattern, pattern + length, NULL, name);
}
