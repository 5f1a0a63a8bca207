/* ONNX's messages as the scan sees them: which fields there are, how they are coded, and
 * what each costs once decoded. The same fields as onnx.proto, and those that assay drops. */
#ifndef MODEL_SCAN_SCHEMA_H
#define MODEL_SCAN_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

enum scan_message {
  SCAN_NONE = 0, /* a message whose inside is not looked at */
  SCAN_MODEL,
  SCAN_OPSET,
  SCAN_ENTRY,
  SCAN_GRAPH,
  SCAN_NODE,
  SCAN_ATTRIBUTE,
  SCAN_FUNCTION,
  SCAN_VALUE_INFO,
  SCAN_TYPE,
  SCAN_TYPE_TENSOR,
  SCAN_TYPE_ELEMENT, /* Sequence and Optional */
  SCAN_TYPE_MAP,
  SCAN_TYPE_OPAQUE,
  SCAN_SHAPE,
  SCAN_DIMENSION,
  SCAN_TENSOR,
  SCAN_SPARSE,
  SCAN_MESSAGE_COUNT
};

enum scan_kind { SCAN_VARINT, SCAN_FIXED32, SCAN_FIXED64, SCAN_TEXT, SCAN_BYTES, SCAN_MESSAGE };

struct scan_field {
  uint32_t number;
  enum scan_kind kind;
  bool repeated;
  bool dropped;              /* not copied: assay has no use for it */
  uint8_t one_of;            /* fields of one message with the same number here exclude each other; 0: none */
  enum scan_message message; /* for SCAN_MESSAGE */
  uint16_t cost;             /* bytes that one of it takes once decoded, its text or data not counted */
};

struct scan_schema {
  const char *name;
  int32_t n_fields;
  const struct scan_field *fields;
};

const struct scan_schema *scan_schema_of(enum scan_message message);
/* The field of that number, or NULL. */
const struct scan_field *scan_field_of(const struct scan_schema *schema, uint32_t number);

#endif
