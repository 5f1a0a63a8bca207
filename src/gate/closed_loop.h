/* The loop that a case closes: observations built from its sensors and the answers of the rung itself, so that an error
 * is fed back as it is on the robot. What a case stores under inputs/ is never rebuilt here. */
#ifndef GATE_CLOSED_LOOP_H
#define GATE_CLOSED_LOOP_H

#include "contract/observe.h"
#include "gate/plan.h"

/* The observations of a case that has none of its own, made of its recorded answers: what the source saw. They stand in
 * fed->inputs. INVALID_GOLDEN when they cannot be made. */
ASSAY_MUST_CHECK assay_status fed_case_observe(const struct contract *contract, struct fed_case *fed);

struct loop_item {
  struct observer *observer;
  int32_t slot; /* among the inputs of a step */
};
struct closed_loop {
  struct arena arena;
  const struct fed_case *fed;
  int32_t n_items; /* 0: nothing is fed back */
  struct loop_item *items;
  struct fed_input *answers; /* [most outputs of a step] */
  int32_t room;
};
ASSAY_MUST_CHECK assay_status closed_loop_open(const struct plan *plan, const struct fed_case *fed,
                                               struct closed_loop *out);
/* Puts the observations of `step` in the place of those in `inputs`. */
ASSAY_MUST_CHECK assay_status closed_loop_feed(struct closed_loop *loop, int64_t step, struct rung_tensor *inputs);
ASSAY_MUST_CHECK assay_status closed_loop_answer(struct closed_loop *loop, int64_t step,
                                                 const struct answer_step *answer);
void closed_loop_close(struct closed_loop *loop);

#endif
