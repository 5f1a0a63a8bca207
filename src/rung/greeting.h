/* What a `remote` rung says first to the worker on the other machine: which protocol, what is to be opened, and the
 * files of the model, so that both sides run the same bytes. */
#ifndef RUNG_GREETING_H
#define RUNG_GREETING_H

#include "core/arena.h"
#include "core/text.h"
#include "rung/rung.h"

/* Of messages and of what they hold; raised with any change. A worker of another one says so and ends. */
enum { WORKER_PROTOCOL = 1 };

/* Appends the greeting: the request with `engine` in place of its own, and the model with its external data, if there
 * is one. */
ASSAY_MUST_CHECK assay_status greeting_write(const struct rung_request *request, const char *engine, struct text *out);
/* Reads a greeting and writes its files into `folder`, inside which they stay. The request lives in the arena.
 * RUNG_FAILED when it is of another protocol, or malformed. */
ASSAY_MUST_CHECK assay_status greeting_read(const struct text *message, const char *folder, struct arena *arena,
                                            struct rung_request *out);

#endif
