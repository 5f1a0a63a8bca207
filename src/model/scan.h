/* The first look at an ONNX file, before any parser: one pass over the wire bytes that
 * checks every tag and length, bounds nesting and decoded size, and makes the short
 * copy that protobuf-c parses. Data of 4 KiB and more stay in the file: the copy
 * holds their place alone, and their bytes are not touched. Must never read outside the bytes given. */
#ifndef MODEL_SCAN_H
#define MODEL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum { SCAN_LIFT_BYTES = 4096 };

struct scan_limits {
  /* Decoded size of everything but lifted data; 0: SCAN_BASE + SCAN_FACTOR x the bytes scanned, lifted data not
   * counted. */
  uint64_t max_bytes;
  int32_t max_depth; /* nesting of messages */
};
/* What well-formed models need stays far below: their decoded form is 3 to 6 times their wire form. */
#define SCAN_BASE ((uint64_t)64 << 20)
enum { SCAN_FACTOR = 16, SCAN_DEPTH = 100 };

/* Data of one tensor that stayed in the file. */
struct lifted {
  size_t offset, length;
  uint32_t field; /* of TensorProto: raw_data, float_data or double_data */
};

struct scan {
  uint8_t *slim; /* what protobuf-c parses */
  size_t slim_size, slim_capacity;
  struct lifted *lifted; /* TensorProto.lifted is a 1-based index here */
  size_t n_lifted, lifted_capacity;
  uint64_t decoded; /* estimate of what the model takes in memory, lifted data not counted */
  bool has_training, has_unknown;
};

/* `where` is the file's name for messages. On failure *out is empty. */
ASSAY_MUST_CHECK assay_status scan_model(const uint8_t *bytes, size_t size, const char *where,
                                         const struct scan_limits *limits, struct scan *out);
void scan_free(struct scan *scan);

/* The versions that assay knows. */
enum { MODEL_IR_MAX = 14, MODEL_OPSET_MAX = 28, MODEL_OPSET_ML_MAX = 5 };

#endif
