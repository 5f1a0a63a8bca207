/* The times of a case, the monitors beside it, and the answer expected of the guard: the keys times_ms, now_ms,
 * result_age_ms, monitors and guard of a case in corpus.yaml, read, written, and asked for. */
#ifndef CORPUS_CASE_TIMES_H
#define CORPUS_CASE_TIMES_H

#include "contract/yaml.h"
#include "core/hash.h"
#include "core/text.h"
#include "corpus/corpus.h"

/* Reads the keys of the mapping `node`, strictly; ages_ms was read before. */
ASSAY_MUST_CHECK assay_status case_times_parse(const struct yaml_file *file, const struct yaml *node,
                                               struct arena *arena, struct corpus_case *entry);
/* Lists of steps against a sequence of that many; CORPUS_INVALID, placed at `path`. */
ASSAY_MUST_CHECK assay_status case_times_check(const struct corpus_case *entry, int64_t steps, const char *path);
/* Whether a case that was made otherwise than by parsing says what corpus.yaml could say; USAGE. */
ASSAY_MUST_CHECK assay_status case_times_valid(const struct corpus_case *entry);
/* Answers of the guard in the order of their steps, as a case has them. */
void case_guards_sort(struct case_guard *guard, int32_t count);
/* Everything that they point to, copied into the arena. */
ASSAY_MUST_CHECK assay_status case_times_copy(struct arena *arena, struct corpus_case *entry);
void case_times_write(struct text *out, const struct corpus_case *entry);
/* Does any of them stand there that corpora could not say before? */
bool case_times_given(const struct corpus_case *entry);
/* Adds them to the corpus' version through `add`, which keeps strings apart. */
void case_times_hash(struct hash *hash, const struct corpus_case *entry,
                     void (*add)(struct hash *hash, const char *text));

/* The number at a step; NAN when not given. */
double case_series_at(const struct case_series *series, int64_t step);
/* When the input was measured; NAN when not given. */
double case_time_at(const struct corpus_case *entry, const char *input, int64_t step);
/* Age of the input at a step: ages_ms, or now_ms less times_ms; NAN when not given. */
double case_age_at(const struct corpus_case *entry, const char *input, int64_t step);
/* What the monitors answered at a step: entry->n_monitors readings. */
void case_monitors_at(const struct corpus_case *entry, int64_t step, struct monitor_reading *out);

#endif
