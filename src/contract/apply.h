/* What a contract does to values: preprocessing of raw sensor data, validity of
 * inputs, decoding of outputs. Pure functions; thread-safe. */
#ifndef CONTRACT_APPLY_H
#define CONTRACT_APPLY_H

#include "contract/contract.h"
#include "core/text.h"

/* raw/<sensor> to the tensor that the model takes. The caller frees *out. */
ASSAY_MUST_CHECK assay_status contract_preprocess(const struct contract_input *input, const assay_tensor *raw,
                                                  assay_tensor *out);

/* What is fed: by name, with its age. */
struct fed_input {
  const char *name;
  const assay_tensor *tensor;
  double age_ms; /* NAN: not known */
};
struct fed_inputs {
  const struct fed_input *items;
  size_t count;
};
/* The refusal that these inputs must get: ASSAY_OK when they are valid, otherwise one of
 * INPUT_MISSING, INPUT_EXTRA, INPUT_DTYPE, INPUT_SHAPE, INPUT_HISTORY, INPUT_NAN, INPUT_INF,
 * INPUT_RANGE, INPUT_COLOR, INPUT_STALE, INPUT_TOKENS, INPUT_FUTURE, INPUT_SKEW as the status code, with a sentence.
 * Checked in that order, each kind over all inputs before the next. An image (an input with `color`) that lies outside
 * its legal range by more than the width of that range is INPUT_COLOR, everything else outside is INPUT_RANGE. A state
 * input need not be fed. An age that is not known (NAN) is not checked; one below 0 lies in the future. Allocates only
 * to make the sentence of a refusal. */
ASSAY_MUST_CHECK assay_status contract_validate(const struct contract *contract, const struct fed_input *inputs,
                                                size_t n_inputs);

/* The codes named above, in that order, then INPUT_BACKWARDS and INPUT_FROZEN, which take the steps before
 * (freshness.h). */
enum { REFUSAL_COUNT = 15 };
extern const assay_code contract_refusals[REFUSAL_COUNT];
bool contract_is_refusal(assay_code code);

/* "[1,2..8,4]", as messages show a shape of the contract. */
void contract_describe_dims(const struct dim_range *dims, int32_t rank, struct text *out);

/* Raw model output to physical units: out has tensor_count doubles, in the tensor's order. Each decode step is one
 * operation in double. `inputs` are those of the same step, for steps that add from one; NULL where nothing was fed.
 * NaN comes out where what is to be added is not there. A clip propagates NaN. */
void contract_decode(const struct contract_output *output, const assay_tensor *raw, const struct fed_inputs *inputs,
                     double *out);
/* The same of flat element i alone. */
double contract_decode_at(const struct contract_output *output, const assay_tensor *raw, int64_t i,
                          const struct fed_inputs *inputs);
/* Component of flat element i, and its step along the horizon axis (0 without one). */
int32_t contract_component_of(const struct contract_output *output, const assay_tensor *tensor, int64_t i,
                              int64_t *step);

/* The exact comparison of a threshold decision. Value and threshold are both rounded to the tensor's
 * type first, as the robot's own program holds them: in a float32 tensor a value of float32 0.1 is at
 * the threshold 0.1, not above it. `value` is the decoded one unless decision->raw. NaN is negative. */
bool decision_is_positive(const struct decision *decision, double value, assay_dtype dtype);

#endif
