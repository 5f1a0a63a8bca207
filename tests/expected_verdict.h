/* A whole verdict against the one that is committed, tests/examples/NAME.verdict.json: every byte but the
 * environment and the version of assay. */
#ifndef TESTS_EXPECTED_VERDICT_H
#define TESTS_EXPECTED_VERDICT_H

#include "gate/result.h"

/* Fails at the first line that differs, and leaves what was got beside the build as NAME.verdict.json, to be
 * read and, when it is right, committed. */
void expect_whole_verdict(const struct gate_result *result, const char *name);

#endif
