/* Short ways to run a small model in a test: one session, a few float inputs, outputs by index. */
#ifndef TESTS_SESSION_RUNS_H
#define TESTS_SESSION_RUNS_H

#include "engine/engine.h"
#include "model_builder.h"

enum { FEEDS_MAX = 16 };

/* A model made by model_builder, opened and planned. */
struct runs {
  struct proto *proto;
  struct model *model;
  struct session *session;
  struct named_tensor feeds[FEEDS_MAX];
  assay_tensor tensors[FEEDS_MAX];
  size_t n_feeds;
  const struct named_tensor *outputs;
  size_t n_outputs;
};

/* Opens a session; fails the test when it does not open. Takes over `proto`. */
void runs_open(struct runs *runs, struct proto *proto, struct session_options options);
/* Opens the model alone, for tests of what session_open refuses. */
void runs_open_model(struct runs *runs, struct proto *proto);
void runs_close(struct runs *runs);
/* Sets the feed of that name, or adds it; the data are not copied. shape: "2,3", "" for a scalar. */
void runs_feed(struct runs *runs, const char *name, assay_dtype dtype, const char *shape, const void *data);
/* Runs with what is fed; fails the test when it fails. */
void runs_run(struct runs *runs);
assay_status runs_try(struct runs *runs);
/* Values of an output. */
const float *runs_floats(const struct runs *runs, size_t output);
/* The output has exactly these values (bits, but for NaN). */
void runs_expect_floats(const struct runs *runs, size_t output, const float *values, size_t count);

#endif
