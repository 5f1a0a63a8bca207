/* Runtimes that tests load: wheels in the virtual environment of scripts/python-extras.sh. A test that needs one skips,
 * by name, where it is not there. */
#ifndef TESTS_RUNTIME_FILES_H
#define TESTS_RUNTIME_FILES_H

/* The library of ONNX Runtime: the newest that is tested with, or the oldest that assay takes. NULL when it is not
 * there, with a line that says so. Valid until the next call. */
const char *onnxruntime_library(void);
const char *onnxruntime_oldest_library(void);
const char *openvino_library(void);

#endif
