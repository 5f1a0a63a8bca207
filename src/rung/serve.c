/* The half of a rung that runs it: answers messages until it is told to end. It must never believe the size of anything
 * that was sent. */
#include "rung/serve.h"

#include <unistd.h>

#include "rung/frames.h"
#include "rung/wire.h"

struct child {
  int in, out;
  struct rung *rung;
  struct text received, sent;
  struct arena arena; /* of one call */
};

static void send_tap(void *user, const char *value, const assay_tensor *tensor) {
  struct child *child = user;
  text_clear(&child->sent);
  wire_put_int(&child->sent, MESSAGE_TAP);
  wire_put_tensor(&child->sent, value, tensor);
  if (frame_send(child->out, &child->sent, 0) != 1) {
    _exit(1);
  }
}

static assay_status child_call(struct child *child, struct wire_reader *in, struct rung_answer *answer) {
  struct rung_call call = {.case_id = wire_get_string(in)};
  call.step = wire_get_int(in);
  call.steps = wire_get_int(in);
  int64_t n_taps = wire_get_int(in);
  const char **taps;
  ARENA_NEW(&child->arena, taps, n_taps + 1);
  for (int64_t i = 0; i < n_taps; i++) {
    taps[i] = wire_get_string(in);
  }
  TRY(wire_get_tensors(in, &child->arena, &call.inputs, &call.n_inputs));
  TRY(wire_get_tensors(in, &child->arena, &call.given, &call.n_given));
  call.taps = taps;
  call.n_taps = (int32_t)n_taps;
  call.tap = n_taps > 0 ? send_tap : NULL;
  call.tap_user = child;
  return rung_run(child->rung, &call, answer);
}

/* Answers one message; false when the child is to end. */
static bool child_serve(struct child *child) {
  struct wire_reader in = {.data = child->received.data, .size = child->received.length};
  struct rung_answer answer = {0};
  assay_status status = status_ok();
  int64_t what = wire_get_int(&in);
  arena_free(&child->arena);
  child->arena = (struct arena){0};
  if (what == MESSAGE_CLOSE) {
    return false;
  }
  if (what == MESSAGE_RUN) {
    status = child_call(child, &in, &answer);
  } else if (what == MESSAGE_RENEW) {
    status = rung_renew(child->rung);
  }
  text_clear(&child->sent);
  wire_put_int(&child->sent, MESSAGE_DONE);
  wire_put_status(&child->sent, status);
  if (assay_status_ok(status) && what == MESSAGE_DESCRIBE) {
    struct rung_actual actual;
    rung_describe(child->rung, &actual);
    wire_put_actual(&child->sent, &actual);
  } else if (assay_status_ok(status)) {
    wire_put_tensors(&child->sent, answer.outputs, answer.n_outputs);
    wire_put_tensors(&child->sent, answer.inner, answer.n_inner);
  }
  assay_status_clear(&status);
  return frame_send(child->out, &child->sent, 0) == 1;
}

void rung_serve(int in, int out, struct rung *rung, assay_status opened) {
  struct child child = {.in = in, .out = out, .rung = rung};
  wire_put_int(&child.sent, MESSAGE_DONE);
  wire_put_status(&child.sent, opened);
  bool alive = frame_send(out, &child.sent, 0) == 1 && assay_status_ok(opened);
  while (alive && frame_receive(in, &child.received, 0) == 1) {
    alive = child_serve(&child);
  }
  arena_free(&child.arena);
  text_free(&child.received);
  text_free(&child.sent);
}
