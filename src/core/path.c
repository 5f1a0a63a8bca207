/* Names of files: joining, splitting, and names that came from a file's content,
 * which must never lead out of their folder. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "core/text.h"

char *path_join(struct arena *arena, const char *folder, const char *name) {
  if (name[0] == '/' || folder[0] == '\0') {
    return arena_string(arena, name);
  }
  bool slash = text_ends_with(folder, "/");
  return arena_format(arena, "%s%s%s", folder, slash ? "" : "/", name);
}

char *path_folder(struct arena *arena, const char *path) {
  const char *last = strrchr(path, '/');
  if (last == NULL) {
    return arena_string(arena, ".");
  }
  return arena_copy(arena, path, last == path ? 1 : (size_t)(last - path));
}

const char *path_name(const char *path) {
  const char *last = strrchr(path, '/');
  return last == NULL ? path : last + 1;
}

bool path_same(const char *a, const char *b) {
  char real_a[PATH_MAX], real_b[PATH_MAX];
  return realpath(a, real_a) != NULL && realpath(b, real_b) != NULL && strcmp(real_a, real_b) == 0;
}

/* Why a name may not be joined; NULL when its text is harmless. */
static const char *bad_name(const char *name) {
  if (name[0] == '\0') {
    return "it is empty";
  }
  if (name[0] == '/') {
    return "it is absolute";
  }
  for (const char *c = name; *c != '\0'; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) {
      return "it holds a control character";
    }
  }
  for (const char *part = name; part != NULL; part = strchr(part, '/')) {
    part += *part == '/';
    size_t length = strcspn(part, "/");
    if (length == 2 && part[0] == '.' && part[1] == '.') {
      return "it leads out of the folder by '..'";
    }
  }
  return NULL;
}

/* A name for messages: control characters are shown as '?'. */
static char *printable(struct arena *arena, const char *name) {
  char *copy = arena_copy(arena, name, strnlen(name, 200));
  for (char *c = copy; c != NULL && *c != '\0'; c++) {
    *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
  }
  return copy;
}

static bool is_inside(const char *root, const char *path) {
  size_t length = strlen(root);
  return strcmp(root, "/") == 0 || (strncmp(root, path, length) == 0 && (path[length] == '/' || path[length] == '\0'));
}

/* True unless what exists of `joined` is, or passes, a link out of `folder`. */
static bool stays_inside(const char *folder, char *joined) {
  char root[PATH_MAX], found[PATH_MAX];
  if (realpath(folder[0] == '\0' ? "." : folder, root) == NULL) {
    return true; /* nothing there to be led out of */
  }
  size_t keep = strlen(folder);
  for (;;) {
    if (realpath(joined, found) != NULL) {
      return is_inside(root, found);
    }
    struct stat info;
    if (errno != ENOENT || lstat(joined, &info) == 0) {
      return false; /* a dangling or circular link, or a file used as a folder */
    }
    char *slash = strrchr(joined, '/');
    if (slash == NULL || (size_t)(slash - joined) <= keep) {
      return true;
    }
    *slash = '\0';
  }
}

assay_status path_join_inside(struct arena *arena, const char *folder, const char *name, assay_code code, char **out) {
  *out = NULL;
  const char *why = bad_name(name);
  char *joined = why == NULL ? path_join(arena, folder, name) : NULL;
  char *probe = joined == NULL ? NULL : arena_string(arena, joined);
  char *shown = printable(arena, name);
  if (shown == NULL || (why == NULL && probe == NULL)) {
    return status_no_memory(strlen(name));
  }
  if (why == NULL && strlen(joined) >= PATH_MAX) {
    why = "it is too long";
  }
  if (why == NULL && !stays_inside(folder, probe)) {
    why = "a link leads out of the folder";
  }
  if (why != NULL) {
    return status_make(code, folder, "the file name '%s' is refused because %s; use a plain relative name", shown, why);
  }
  *out = joined;
  return status_ok();
}

static bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

char *path_encode(struct arena *arena, const char *name) {
  static const char digits[] = "0123456789ABCDEF";
  if (name[0] == '\0') {
    return arena_string(arena, "%"); /* so that no file name is empty */
  }
  bool all = is_dots(name);
  char *out = arena_alloc(arena, strlen(name) * 3 + 1, 1), *next = out;
  if (out == NULL) {
    return NULL;
  }
  for (const char *c = name; *c != '\0'; c++) {
    if (is_plain(*c) && !all) {
      *next++ = *c;
    } else {
      *next++ = '%';
      *next++ = digits[(unsigned char)*c >> 4];
      *next++ = digits[(unsigned char)*c & 15];
    }
  }
  *next = '\0';
  return out;
}

static int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char *path_decode(struct arena *arena, const char *encoded) {
  if (strcmp(encoded, "%") == 0) {
    return arena_string(arena, "");
  }
  char *out = arena_alloc(arena, strlen(encoded) + 1, 1), *next = out;
  if (out == NULL || encoded[0] == '\0') {
    return NULL;
  }
  for (const char *c = encoded; *c != '\0'; c++) {
    if (is_plain(*c)) {
      *next++ = *c;
      continue;
    }
    int high = *c == '%' ? hex_value(c[1]) : -1;
    int low = high >= 0 ? hex_value(c[2]) : -1;
    if (low < 0 || (high == 0 && low == 0)) {
      return NULL;
    }
    *next++ = (char)(high * 16 + low);
    c += 2;
  }
  *next = '\0';
  /* Only what path_encode writes is accepted, so that one name has one file. */
  char *again = path_encode(arena, out);
  return again != NULL && strcmp(again, encoded) == 0 ? out : NULL;
}
