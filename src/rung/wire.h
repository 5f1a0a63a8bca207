/* Rungs across a process boundary: calls, answers and what really ran as bytes.
 * Both ends are one program, but the child may have been damaged by the runtime
 * it holds, so that everything read is checked against its size. */
#ifndef RUNG_WIRE_H
#define RUNG_WIRE_H

#include "core/text.h"
#include "rung/rung.h"

/* Writing appends to a text; a failed allocation shows in text_status. */
void wire_put_int(struct text *out, int64_t value);
void wire_put_string(struct text *out, const char *string); /* NULL is kept */
void wire_put_tensor(struct text *out, const char *name, const assay_tensor *tensor);
void wire_put_tensors(struct text *out, const struct rung_tensor *tensors, int32_t count);
void wire_put_actual(struct text *out, const struct rung_actual *actual);
void wire_put_status(struct text *out, assay_status status); /* does not clear it */

struct wire_reader {
  const char *data;
  size_t size, place;
  bool failed; /* something was malformed; what was read since is zero */
};
int64_t wire_get_int(struct wire_reader *in);
const char *wire_get_string(struct wire_reader *in); /* view; NULL as written, or on failure */
/* A view into the reader's bytes, copied to 64-byte alignment in the arena. */
ASSAY_MUST_CHECK assay_status wire_get_tensor(struct wire_reader *in, struct arena *arena, struct rung_tensor *out);
ASSAY_MUST_CHECK assay_status wire_get_tensors(struct wire_reader *in, struct arena *arena,
                                               const struct rung_tensor **out, int32_t *count);
ASSAY_MUST_CHECK assay_status wire_get_actual(struct wire_reader *in, struct arena *arena, struct rung_actual *out);
/* The status that was sent; RUNG_CRASHED when it was malformed. */
ASSAY_MUST_CHECK assay_status wire_get_status(struct wire_reader *in);
ASSAY_MUST_CHECK assay_status wire_malformed(void);

#endif
