/* assay's own runtime: the yardstick. A session is a graph planned for one
 * precision and one set of input shapes; it answers the same bits for every thread
 * count and instruction set. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "core/pool.h"
#include "core/progress.h"
#include "model/model.h"

/* What floats are stored and multiplied as. fp32 and fp64 compute in that
 * type. bf16 and fp16 round every stored value (inputs, weights, outputs of nodes), tf32 the operands
 * of dot products; all three accumulate in fp32. engine/precision.h says exactly what is done. */
enum precision_kind { PRECISION_FP32 = 0, PRECISION_FP64, PRECISION_TF32, PRECISION_BF16, PRECISION_FP16 };

const char *precision_name(enum precision_kind kind); /* "fp32", ... */
bool precision_find(const char *name, enum precision_kind *out);
/* One phrase that says what is rounded, for reports: "operands of dot products to tf32", ... */
const char *precision_rounding(enum precision_kind kind);

/* For tests: every value has memory of its own; what is dead or not yet written holds a pattern of NaN. */
enum session_debug { SESSION_NO_REUSE = 1, SESSION_POISON = 2 };

struct session_options {
  enum precision_kind precision;
  int threads;             /* 0 and 1: the caller's thread alone */
  int kernel_level;        /* -1: the best of the processor; otherwise enum kernel_level (for tests) */
  size_t max_bytes;        /* bound on planned and dynamic memory; 0: the default of 8 GiB */
  bool keep_dead;          /* run nodes that no output needs (for taps) */
  const char *const *keep; /* labels of nodes that stay in fp32 under an emulated precision */
  int32_t n_keep;
  unsigned debug; /* enum session_debug, added */
};

struct session;

/* Plans the model for the shapes it declares; dimensions that are not known
 * until a run are planned at that run and remembered (a binding). The model must outlive
 * the session. An operator outside the table fails here, naming the node. */
ASSAY_MUST_CHECK assay_status session_open(const struct model *model, const struct session_options *options,
                                           struct session **out);
void session_close(struct session *session);

/* A named tensor view. */
struct named_tensor {
  const char *name;
  const assay_tensor *tensor;
};

/* Called with each tapped tensor, valid during the call, in the order of computation. */
typedef void tap_function(void *user, const struct node *node, const char *value, const assay_tensor *tensor);

struct session_run {
  const struct named_tensor *inputs; /* every graph input once, by name; extra and missing ones are errors */
  size_t n_inputs;
  const char *const *taps; /* names of inner values; NULL for none; one "*" for all */
  size_t n_taps;
  tap_function *tap;
  void *tap_user;
};

/* Runs once. *outputs are views into the session, in the graph's order, valid until the next run, to which
 * they may be fed as they lie; fp64
 * sessions take and give float64 where the graph says float32 (float32 feeds are widened). A
 * binding seen before allocates nothing. One run at a time per session. */
ASSAY_MUST_CHECK assay_status session_run(struct session *session, const struct session_run *run,
                                          const struct named_tensor **outputs, size_t *n_outputs);

/* The plan in figures, for reports. */
struct session_info {
  enum precision_kind precision;
  const char *rounding;    /* what is rounded (precision_rounding) */
  const char *accumulator; /* of dot products and sums: "fp32" or "fp64" */
  int32_t n_kept;          /* nodes that stay in fp32 under an emulated precision */
  int threads;
  const char *kernels; /* "base", "avx2", "avx512" */
  size_t arena_bytes, weight_bytes;
  int32_t n_nodes, n_folded;
};
void session_describe(const struct session *session, struct session_info *out);

#endif
