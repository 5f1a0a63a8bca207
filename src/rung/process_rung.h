/* Between the files of the process rung: what lies in the two folders that a program reads and writes. docs/rungs.md is
 * the format. */
#ifndef RUNG_PROCESS_RUNG_H
#define RUNG_PROCESS_RUNG_H

#include "rung/rung.h"

/* Writes call.json and one .npy an input into `folder`. */
ASSAY_MUST_CHECK assay_status process_call_write(const char *folder, const struct rung_request *request,
                                                 const struct rung_call *call);

/* What a program answered. Tensors are owned (tensor_free each); strings live in the arena. */
struct process_answer {
  struct arena arena;
  struct rung_tensor *outputs;
  int32_t n_outputs;
  struct rung_actual actual; /* what it says it ran; fields that it leaves out are NULL */
};
/* Reads answer.json and the arrays that it names, which must lie inside `folder`. RUNG_FAILED with what is wrong. */
ASSAY_MUST_CHECK assay_status process_answer_read(const char *folder, struct process_answer *out);
void process_answer_free(struct process_answer *answer);

#endif
