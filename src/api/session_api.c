/* The public functions on sessions, over engine/. The arrays of names and views are kept from run
 * to run, so that a run allocates nothing once they are large enough. */
#include "assay/session.h"

#include "api/model_handle.h"
#include "core/memory.h"
#include "engine/engine.h"

struct assay_session {
  struct session *session;
  struct named_tensor *inputs;
  assay_named_tensor *outputs;
  size_t inputs_capacity, outputs_capacity;
};

_Static_assert((int)ASSAY_FP64 == (int)PRECISION_FP64 && (int)ASSAY_TF32 == (int)PRECISION_TF32 &&
                   (int)ASSAY_BF16 == (int)PRECISION_BF16 && (int)ASSAY_FP16 == (int)PRECISION_FP16,
               "the public numbers are the engine's");

assay_status assay_session_open(const assay_model *model, const assay_session_options *options, assay_session **out) {
  *out = NULL;
  struct session_options inner = {.threads = 1, .kernel_level = -1};
  if (options != NULL) {
    if ((unsigned)options->precision > ASSAY_FP16 || options->threads < 0) {
      return status_make(ASSAY_USAGE, NULL, "precision %d or %d threads is no option of a session; see assay/session.h",
                         (int)options->precision, options->threads);
    }
    inner.precision = (enum precision_kind)options->precision;
    inner.threads = options->threads;
    inner.max_bytes = options->max_bytes;
  }
  assay_session *session = memory_alloc(1, sizeof *session);
  if (session == NULL) {
    return status_no_memory(sizeof *session);
  }
  assay_status status = session_open(model->model, &inner, &session->session);
  if (!assay_status_ok(status)) {
    memory_free(session);
    return status;
  }
  *out = session;
  return status_ok();
}

void assay_session_close(assay_session *session) {
  if (session != NULL) {
    session_close(session->session);
    memory_free(session->inputs);
    memory_free(session->outputs);
    memory_free(session);
  }
}

static assay_status reserve_inputs(assay_session *session, size_t count) {
  if (count > session->inputs_capacity) {
    struct named_tensor *larger = memory_resize(session->inputs, count, sizeof *larger);
    if (larger == NULL) {
      return status_no_memory(count * sizeof *larger);
    }
    session->inputs = larger;
    session->inputs_capacity = count;
  }
  return status_ok();
}

static assay_status reserve_outputs(assay_session *session, size_t count) {
  if (count > session->outputs_capacity) {
    assay_named_tensor *larger = memory_resize(session->outputs, count, sizeof *larger);
    if (larger == NULL) {
      return status_no_memory(count * sizeof *larger);
    }
    session->outputs = larger;
    session->outputs_capacity = count;
  }
  return status_ok();
}

assay_status assay_session_run(assay_session *session, const assay_named_tensor *inputs, size_t n_inputs,
                               const assay_named_tensor **outputs, size_t *n_outputs) {
  *outputs = NULL;
  *n_outputs = 0;
  TRY(reserve_inputs(session, n_inputs));
  for (size_t i = 0; i < n_inputs; i++) {
    session->inputs[i] = (struct named_tensor){inputs[i].name, inputs[i].tensor};
  }
  const struct named_tensor *views;
  size_t count;
  const struct session_run run = {.inputs = session->inputs, .n_inputs = n_inputs};
  TRY(session_run(session->session, &run, &views, &count));
  TRY(reserve_outputs(session, count));
  for (size_t i = 0; i < count; i++) {
    session->outputs[i] = (assay_named_tensor){views[i].name, views[i].tensor};
  }
  *outputs = session->outputs;
  *n_outputs = count;
  return status_ok();
}
