/* The half of a rung that runs it, in a child process or on another machine. */
#ifndef RUNG_SERVE_H
#define RUNG_SERVE_H

#include "rung/rung.h"

/* What a message asks for, or is. */
enum message {
  MESSAGE_RUN = 1,
  MESSAGE_RENEW,
  MESSAGE_DESCRIBE,
  MESSAGE_CLOSE,
  MESSAGE_TAP,
  MESSAGE_DONE,
  MESSAGE_HELLO
};

/* Says how opening went, then answers messages from `in` to `out` until one ends it or the other side is gone. The rung
 * (NULL when it did not open) and the status stay the caller's. */
void rung_serve(int in, int out, struct rung *rung, assay_status opened);

/* A whole worker: takes the greeting of a `remote` rung, which brings the model, opens the rung it asks for, and serves
 * it. Nothing else may write to `out`. Fails where the greeting was not understood or the rung did not open; the other
 * side was told then. */
ASSAY_MUST_CHECK assay_status rung_worker(int in, int out);

#endif
