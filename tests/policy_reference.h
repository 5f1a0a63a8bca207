/* The policies that others deploy, and what ONNX Runtime answered to them: ../shared/policies/REFERENCE.jsonl, whose
 * README says what its runs are. */
#ifndef TESTS_POLICY_REFERENCE_H
#define TESTS_POLICY_REFERENCE_H

#include <jansson.h>
#include <stdbool.h>

#include "assay/tensor.h"

/* All 23 models, and the folder that they lie in. Skips the test where they are not at hand. */
json_t *policy_reference_load(const char **folder);
/* Fills input `k` of a run: zeros, or the README's ramp. */
void policy_reference_fill(assay_tensor *tensor, bool zeros, int64_t k);
/* Largest |found - expected| / scale of one output; NaN anywhere makes it infinite. */
double policy_reference_distance(const assay_tensor *found, json_t *values, double scale);

#endif
