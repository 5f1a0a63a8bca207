/* Memory for what a plan cannot know: values whose shape depends on data. It is bounded, handed out
 * in 64-byte steps, and taken back all at once; after the first run of a binding it asks the system for
 * nothing more, unless the data grow. */
#ifndef ENGINE_SCRATCH_H
#define ENGINE_SCRATCH_H

#include <stddef.h>

#include "core/status.h"

/* Bytes that a session may hold, in plans and scratch together. */
struct budget {
  size_t used, limit;
};
/* LIMIT_EXCEEDED when it would pass the limit; `what` names the use. */
ASSAY_MUST_CHECK assay_status budget_take(struct budget *budget, size_t bytes, const char *what);
void budget_give(struct budget *budget, size_t bytes);

struct scratch_block;
struct scratch {
  struct budget *budget;
  struct scratch_block *blocks; /* newest first */
};

/* A zeroed scratch with a budget is valid and empty. Memory is not cleared. */
ASSAY_MUST_CHECK assay_status scratch_take(struct scratch *scratch, size_t bytes, void **out);
/* Ends everything taken. Blocks are kept, joined into one when there were several. */
ASSAY_MUST_CHECK assay_status scratch_reset(struct scratch *scratch);
void scratch_free(struct scratch *scratch);

#endif
