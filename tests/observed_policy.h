/* A policy with an observation of terms, for tests of closed loops and of rebuilt observations: what its source would
 * record, computed here independently of assay, with one thing done wrong where a test asks for it.
 *
 * obs[1,20]: joint_pos 3 x 2 ((x + offset) * scale, clipped), cmd 2 x 2, last_action 3 x 2 (raw, lag 1), phase sin cos
 * 2 x 2; action[1,3] = obs * W, decoded by 0.5 and offsets. */
#ifndef TESTS_OBSERVED_POLICY_H
#define TESTS_OBSERVED_POLICY_H

#include "policy_builder.h"

enum { JOINTS = 3, OBS = 20, STEPS_MOST = 64 };

/* What the source does otherwise than the contract says. */
enum source_fault {
  SOURCE_RIGHT,
  SOURCE_SCALE_LOST,
  SOURCE_SCALE_TWICE,
  SOURCE_OFFSET_LOST,
  SOURCE_OFFSET_SIGN,
  SOURCE_CLIP_LOST,
  SOURCE_DEGREES,
  SOURCE_ORDER_REVERSED,
  SOURCE_TIME_MAJOR,
  SOURCE_TERMS_EXCHANGED,
  SOURCE_DECODED_ACTION,
  SOURCE_LAG_TWO,
  SOURCE_CLOCK_AHEAD,
  SOURCE_SIN_COS,
  SOURCE_ZERO_HISTORY,
  SOURCE_PERMUTED,
  SOURCE_ONE_WRONG /* a value that no hypothesis explains */
};
enum case_form { CASE_STORES_BOTH, CASE_STORES_SENSORS, CASE_STORES_OBSERVATION };

/* A folder with contract, gate, a model whose weights are `model_factor` times the source's, and a sequence of `steps`.
 * temp_free ends it. */
char *observed_folder(enum source_fault fault, enum case_form form, int steps, float model_factor, bool forced);
/* The same, where the caller writes the contract: obs and action have the source's shapes. */
extern const char observed_contract[];

#endif
