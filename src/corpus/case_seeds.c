/* Seeds of a case: see case_seeds.h. */
#include "corpus/case_seeds.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"

static const char prefix[] = "seeds/";
enum { SEED_LARGEST = 9999 };

const char *array_unseeded(const char *name, int32_t *seed) {
  *seed = -1;
  if (!text_starts_with(name, prefix)) {
    return name;
  }
  const char *digits = name + sizeof prefix - 1;
  char *end;
  if (digits[0] < '0' || digits[0] > '9' || (digits[0] == '0' && digits[1] != '/')) {
    return name;
  }
  long value = strtol(digits, &end, 10);
  if (value > SEED_LARGEST || *end != '/' || end[1] == '\0') {
    return name;
  }
  *seed = (int32_t)value;
  return end + 1;
}

/* One array of the archive; seed -1: shared. */
struct seeded_name {
  const char *name;
  int32_t seed;
};

/* By name, then by seed. */
static int compare_names(const void *left, const void *right) {
  const struct seeded_name *a = left, *b = right;
  int order = strcmp(a->name, b->name);
  return order != 0 ? order : (a->seed > b->seed) - (a->seed < b->seed);
}

static bool may_be_seeded(const char *name) {
  static const char *const groups[] = {"inputs/", "outputs/", "outputs64/", "decoded/", "repeats/"};
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
    if (text_starts_with(name, groups[g])) {
      return true;
    }
  }
  return false;
}

/* The run of names[0..] that are alike must be all seeds, or shared by all of them. */
static assay_status check_run(const struct seeded_name *names, size_t n, int32_t n_seeds, const char *path,
                              assay_code code) {
  const char *name = names[0].name;
  if (names[0].seed < 0) {
    if (n > 1) {
      return status_make(code, path,
                         "there is '%s' and 'seeds/%d/%s'; an array is shared by all seeds, or each has one", name,
                         (int)names[1].seed, name);
    }
    if (text_starts_with(name, "outputs/") || text_starts_with(name, "repeats/")) {
      return status_make(code, path,
                         "there is '%s' beside the seeds of this case; store what each seed was answered as "
                         "seeds/N/%s",
                         name, name);
    }
    return status_ok();
  }
  if (!may_be_seeded(name)) {
    return status_make(code, path,
                       "there is an array 'seeds/%d/%s', but a seed has inputs/, outputs/, outputs64/, decoded/ and "
                       "repeats/ of its own; the rest is shared",
                       (int)names[0].seed, name);
  }
  for (int32_t k = 0; k < n_seeds; k++) {
    if ((size_t)k >= n || names[k].seed != k) {
      return status_make(code, path,
                         "there is 'seeds/%d/%s' but no 'seeds/%d/%s'; seeds are numbered from 0, and each has the "
                         "same arrays",
                         (int)names[(size_t)k >= n ? n - 1 : (size_t)k].seed, name, (int)k, name);
    }
  }
  return status_ok();
}

static assay_status check_names(struct seeded_name *names, size_t n, int32_t n_seeds, const char *path,
                                assay_code code) {
  qsort(names, n, sizeof *names, compare_names);
  for (size_t begin = 0, end; begin < n; begin = end) {
    for (end = begin + 1; end < n && strcmp(names[end].name, names[begin].name) == 0; end++) {
    }
    TRY(check_run(names + begin, end - begin, n_seeds, path, code));
  }
  return status_ok();
}

assay_status case_seeds_count(const struct npz *npz, const char *path, assay_code code, int32_t *out) {
  size_t n = npz_count(npz);
  struct seeded_name *names = memory_alloc(n + 1, sizeof *names);
  if (names == NULL) {
    return status_no_memory(n * sizeof *names);
  }
  *out = 0;
  for (size_t i = 0; i < n; i++) {
    names[i].name = array_unseeded(npz_name(npz, i), &names[i].seed);
    *out = names[i].seed >= *out ? names[i].seed + 1 : *out;
  }
  assay_status status = *out > 0 ? check_names(names, n, *out, path, code) : status_ok();
  memory_free(names);
  return status;
}
