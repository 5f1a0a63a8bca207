/* Private to rung/: rungs in other processes. The half that runs is serve.h's. */
#ifndef RUNG_ISOLATED_H
#define RUNG_ISOLATED_H

#include <sys/types.h>

#include "core/text.h"
#include "rung/rung.h"

/* Opens the rung in a forked child, with the request's time limit, or ten minutes without one. */
ASSAY_MUST_CHECK assay_status isolated_open(const struct rung_kind *kind, const struct rung_request *request,
                                            struct rung **out);

/* Starts the request's command (a list that ends with NULL) with one socket as its standard input and output. */
ASSAY_MUST_CHECK assay_status isolated_spawn(const struct rung_request *request, pid_t *child, int *socket);
/* A rung over a process that answers messages; sends the greeting (NULL: none) and waits for how opening went. Takes
 * the process and the socket over, also when it fails. */
ASSAY_MUST_CHECK assay_status isolated_adopt(const struct rung_kind *kind, const struct rung_request *request,
                                             pid_t child, int socket, const struct text *greeting, struct rung **out);

#endif
