/* Makes small policy folders for tests of the gate: a linear policy, its contract, a
 * golden corpus and a gate, each of which a test can replace. Every failure fails the test.
 *
 *   char *folder = policy_folder();            // obs [1,3] -> action [1,3], y = x
 *   policy_case(folder, ...);                  // see below
 *   struct gate_result *result = policy_verify(folder);
 */
#ifndef TESTS_POLICY_BUILDER_H
#define TESTS_POLICY_BUILDER_H

#include "corpus_builder.h"
#include "gate/gate.h"

/* contract.yaml of the toy policy: shoulder and wrist in rad with a tolerance of 0.002, a gripper score that
 * closes at or above 0.5. */
extern const char policy_contract[];
/* gate.yaml with one required rung: assay in fp32. */
extern const char policy_gate[];

/* A folder with contract.yaml, gate.yaml and policy.onnx (action = obs), without a corpus. temp_free ends it. */
char *policy_folder(void);
/* A model action = obs * scale + offset, element by element. */
void policy_model(const char *folder, const char *file, const float scale[3], const float offset[3]);
/* golden/ with one case for each of n rows: obs and action are the row; ids "c0", "c1", … */
void policy_golden(const char *folder, const float (*rows)[3], int n);
/* A run folder with one case for each row, named as in policy_golden. */
void policy_run(const char *folder, const char *name, const float (*rows)[3], int n);
/* gate.yaml with one required recorded rung that reads this run folder. */
extern const char policy_recorded_gate[];

struct gate_result *policy_verify(const char *folder);
/* The rung of that name. */
const struct rung_result *result_rung(const struct gate_result *result, const char *name);
const struct component_result *rung_component(const struct rung_result *rung, const char *name);
/* How many reasons have that code; for the second, in the gate as a whole. */
int rung_reasons(const struct rung_result *rung, assay_code code);
int gate_reasons(const struct gate_result *result, assay_code code);
/* Verdict and exit code; prints the reasons when they are others. */
void expect_verdict(const struct gate_result *result, enum verdict verdict, int exit_code);

#endif
