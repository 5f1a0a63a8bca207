/* Test data that is too large or not ours to keep here: policies of others, ONNX's
 * backend tests. A test that needs it skips, by name, where it is absent. */
#ifndef TESTS_SHARED_FILES_H
#define TESTS_SHARED_FILES_H

/* The path of a file or folder of the shared test data: below $ASSAY_SHARED, or below
 * ../shared beside the source tree. NULL when it is not there, with a line
 * that says so. Valid until the next call. */
const char *shared_path(const char *relative);

#endif
