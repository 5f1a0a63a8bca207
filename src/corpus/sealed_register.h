/* The sealed register: digests of what the sealed set holds, by which an overlap with other corpora is found without
 * having the sealed data. A file sealed.json in the policy folder; docs/corpus.md is the format. It tells nothing of a
 * case but whether one has it already. */
#ifndef CORPUS_SEALED_REGISTER_H
#define CORPUS_SEALED_REGISTER_H

#include "corpus/corpus.h"

struct sealed_register;
#define SEALED_REGISTER_NAME "sealed.json"

/* An empty one, and one from a file. A file that is not there: *out is NULL. CORPUS_INVALID. */
ASSAY_MUST_CHECK assay_status sealed_register_new(struct sealed_register **out);
ASSAY_MUST_CHECK assay_status sealed_register_read(const char *path, struct sealed_register **out);
ASSAY_MUST_CHECK assay_status sealed_register_parse(const char *text, size_t size, const char *path,
                                                    struct sealed_register **out);
/* The one of the policy folder that a corpus lies in: beside the corpus' folder. */
ASSAY_MUST_CHECK assay_status sealed_register_beside(const char *corpus_folder, struct sealed_register **out);
void sealed_register_free(struct sealed_register *sealed); /* NULL is harmless */

ASSAY_MUST_CHECK assay_status sealed_register_add(struct sealed_register *sealed, const struct corpus_case *entry,
                                                  const struct case_data *data);
/* Names the corpus whose cases were added. */
ASSAY_MUST_CHECK assay_status sealed_register_name(struct sealed_register *sealed, const struct corpus *corpus);
/* Sorted, so that the same cases give the same bytes. */
ASSAY_MUST_CHECK assay_status sealed_register_write(struct sealed_register *sealed, const char *path);
int64_t sealed_register_size(const struct sealed_register *sealed); /* digests in it */

/* Does the case overlap with what is sealed? SEALED_OVERLAP, placed at `where`, names the array. NULL registers hold
 * nothing. */
ASSAY_MUST_CHECK assay_status sealed_register_check(struct sealed_register *sealed, const char *where,
                                                    const struct corpus_case *entry, const struct case_data *data);

#endif
