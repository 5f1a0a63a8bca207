/* What corpus.yaml alone tells about coverage: tags, refusals, lineage. */
#include <stdlib.h>
#include <string.h>

#include "contract/apply.h"
#include "corpus/coverage_watch.h"

static int compare_tags(const void *a, const void *b) {
  const struct coverage_tag *x = a, *y = b;
  int order = strcmp(x->key, y->key);
  return order != 0 ? order : strcmp(x->value, y->value);
}

assay_status coverage_count_tags(struct coverage *coverage) {
  const struct corpus *corpus = coverage->corpus;
  size_t most = 0;
  for (int32_t i = 0; i < corpus->n_cases; i++) {
    most += (size_t)corpus->cases[i].n_tags;
  }
  struct coverage_tag *tags;
  ARENA_NEW(&coverage->arena, tags, most);
  size_t n = 0;
  for (int32_t i = 0; i < corpus->n_cases; i++) {
    for (int32_t t = 0; t < corpus->cases[i].n_tags; t++) {
      tags[n++] = (struct coverage_tag){corpus->cases[i].tags[t].key, corpus->cases[i].tags[t].value, 1};
    }
  }
  qsort(tags, n, sizeof *tags, compare_tags);
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (kept > 0 && compare_tags(&tags[kept - 1], &tags[i]) == 0) {
      tags[kept - 1].n_cases++;
    } else {
      tags[kept++] = tags[i];
    }
  }
  coverage->tags = tags;
  coverage->n_tags = (int32_t)kept;
  return status_ok();
}

/* Whether a contract says what the refusal is about. */
static bool refusal_applies(const struct contract *contract, assay_code code) {
  if (contract == NULL) {
    return true;
  }
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_input *input = &contract->inputs[i];
    bool timed = input->max_age_ms > 0 || contract->max_skew_ms > 0;
    if ((code == ASSAY_INPUT_STALE && input->max_age_ms > 0) ||
        (code == ASSAY_INPUT_HISTORY && input->history_max > 0) || (code == ASSAY_INPUT_RANGE && input->has_legal) ||
        (code == ASSAY_INPUT_TOKENS && input->tokens != NULL) ||
        (code == ASSAY_INPUT_COLOR && input->has_legal && input->color != NULL) ||
        (code == ASSAY_INPUT_FROZEN && input->frozen_after > 0) ||
        ((code == ASSAY_INPUT_FUTURE || code == ASSAY_INPUT_BACKWARDS) && timed) ||
        (code == ASSAY_INPUT_SKEW && contract->max_skew_ms > 0)) {
      return true;
    }
  }
  return code != ASSAY_INPUT_STALE && code != ASSAY_INPUT_HISTORY && code != ASSAY_INPUT_RANGE &&
         code != ASSAY_INPUT_COLOR && code != ASSAY_INPUT_TOKENS && code != ASSAY_INPUT_FROZEN &&
         code != ASSAY_INPUT_FUTURE && code != ASSAY_INPUT_BACKWARDS && code != ASSAY_INPUT_SKEW;
}

assay_status coverage_count_refusals(struct coverage *coverage) {
  struct coverage_refusal *refusals;
  ARENA_NEW(&coverage->arena, refusals, REFUSAL_COUNT);
  coverage->refusals = refusals;
  for (int r = 0; r < REFUSAL_COUNT; r++) {
    struct coverage_refusal *refusal = &refusals[coverage->n_refusals++];
    *refusal =
        (struct coverage_refusal){contract_refusals[r], 0, refusal_applies(coverage->contract, contract_refusals[r])};
    for (int32_t i = 0; i < coverage->corpus->n_cases; i++) {
      const struct corpus_case *entry = &coverage->corpus->cases[i];
      refusal->n_cases += entry->refuse && entry->refusal == refusal->code;
    }
  }
  return status_ok();
}

static int compare_strings(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many different strings stand in a list that is sorted here. */
static int32_t count_different(const char **list, int32_t n) {
  if (n == 0) {
    return 0;
  }
  qsort(list, (size_t)n, sizeof *list, compare_strings);
  int32_t different = 1;
  for (int32_t i = 1; i < n; i++) {
    different += strcmp(list[i], list[i - 1]) != 0;
  }
  return different;
}

assay_status coverage_count_lineage(struct coverage *coverage) {
  const struct corpus *corpus = coverage->corpus;
  const char **list;
  ARENA_NEW(&coverage->arena, list, corpus->n_cases);
  for (int32_t i = 0; i < corpus->n_cases; i++) {
    const struct corpus_case *entry = &corpus->cases[i];
    coverage->n_refused += entry->refuse;
    coverage->n_answered += !entry->refuse;
    coverage->n_forced += entry->forced;
    coverage->n_with_guard += entry->n_guard > 0;
    if (entry->origin.file != NULL) {
      list[coverage->n_with_origin++] = entry->origin.digest != NULL ? entry->origin.digest : entry->origin.file;
    }
  }
  coverage->n_origins = count_different(list, coverage->n_with_origin);
  for (int32_t i = 0; i < corpus->n_cases; i++) {
    list[i] = corpus->cases[i].digest;
  }
  coverage->n_duplicates = corpus->n_cases - count_different(list, corpus->n_cases);
  return status_ok();
}
