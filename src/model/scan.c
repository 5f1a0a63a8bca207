/* The pass over an ONNX file's wire bytes; see scan.h. Must never trust a length before it
 * was compared with what is left, nor recurse deeper than it was told. */
#include "model/scan.h"

#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "model/scan_schema.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
/* Lengths inside the copy are written with this many bytes, to be filled in afterwards. */
enum { LENGTH_BYTES = 5 };
enum { FIELD_LIFTED = 1000, COST_LIFTED = 64 };

struct scanner {
  const uint8_t *bytes;
  size_t size;
  const char *where;
  uint64_t max_bytes; /* 0: in proportion to what was scanned */
  int32_t max_depth;
  size_t at;           /* of the field in hand */
  size_t lifted_bytes; /* before it */
  struct scan *out;
};

/* One message: where it ends, and which fields were seen. */
struct frame {
  const struct scan_schema *schema;
  enum scan_message message;
  size_t end;
  int32_t depth;
  uint64_t seen; /* by place in the schema's table; oneofs by 63 - group */
};

/* A field's tag and extent. */
struct field_head {
  uint32_t number, wire;
  size_t at;           /* of the tag */
  size_t begin, end;   /* of the content */
  const uint8_t *data; /* at begin */
};

/* --- reading ------------------------------------------------------------- */

static assay_status malformed(const struct scanner *scanner, size_t at, const struct frame *frame, const char *what) {
  return status_make(ASSAY_MODEL_INVALID, scanner->where, "byte %zu, in %s: %s; export the model again", at,
                     frame->schema->name, what);
}

static assay_status cut_short(const struct scanner *scanner, size_t at, const struct frame *frame) {
  if (frame->end < scanner->size) {
    return malformed(scanner, at, frame, "a field reaches beyond the message that holds it");
  }
  return status_make(ASSAY_MODEL_TRUNCATED, scanner->where,
                     "the file ends at byte %zu in the middle of the field of %s that begins at byte %zu; copy or "
                     "export it again",
                     scanner->size, frame->schema->name, at);
}

/* Reads a varint at *at, which moves behind it. The field that it belongs to begins at `field`. */
static assay_status read_varint(const struct scanner *scanner, const struct frame *frame, size_t field, size_t *at,
                                uint64_t *value) {
  uint64_t result = 0;
  for (size_t i = 0; i < 10; i++) {
    if (*at + i >= frame->end) {
      return cut_short(scanner, field, frame);
    }
    uint8_t byte = scanner->bytes[*at + i];
    if (i == 9 && byte > 1) {
      break;
    }
    result |= (uint64_t)(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *at += i + 1;
      *value = result;
      return status_ok();
    }
  }
  return malformed(scanner, *at, frame, "a number has more than 64 bits");
}

/* Reads the tag at *at and finds the extent of the content; *at moves behind the field. */
static assay_status read_head(const struct scanner *scanner, const struct frame *frame, size_t *at,
                              struct field_head *head) {
  uint64_t tag, length;
  head->at = *at;
  TRY(read_varint(scanner, frame, head->at, at, &tag));
  head->number = (uint32_t)(tag >> 3);
  head->wire = (uint32_t)(tag & 7);
  if (tag > UINT32_MAX || head->number == 0) {
    return malformed(scanner, head->at, frame, "there is no field of that number");
  }
  head->begin = *at;
  switch (head->wire) {
    case WIRE_VARINT:
      TRY(read_varint(scanner, frame, head->at, at, &length));
      break;
    case WIRE_FIXED64:
    case WIRE_FIXED32:
      length = head->wire == WIRE_FIXED64 ? 8 : 4;
      if (length > frame->end - *at) {
        return cut_short(scanner, head->at, frame);
      }
      *at += (size_t)length;
      break;
    case WIRE_BYTES:
      TRY(read_varint(scanner, frame, head->at, at, &length));
      if (length > frame->end - *at) {
        return cut_short(scanner, head->at, frame);
      }
      head->begin = *at;
      *at += (size_t)length;
      break;
    default:
      return malformed(scanner, head->at, frame, "groups and unknown wire types have no place in ONNX");
  }
  head->end = *at;
  head->data = scanner->bytes + head->begin;
  return status_ok();
}

/* --- the copy -------------------------------------------------------------- */

static assay_status slim_reserve(struct scan *scan, size_t more) {
  size_t needed, capacity = scan->slim_capacity;
  if (!size_add(scan->slim_size, more, &needed)) {
    return status_no_memory(SIZE_MAX);
  }
  if (needed <= capacity) {
    return status_ok();
  }
  capacity = needed > SIZE_MAX / 2 ? needed : needed * 2;
  capacity = capacity < 4096 ? 4096 : capacity;
  uint8_t *grown = memory_resize(scan->slim, capacity, 1);
  if (grown == NULL) {
    return status_no_memory(capacity);
  }
  scan->slim = grown;
  scan->slim_capacity = capacity;
  return status_ok();
}

static assay_status slim_add(struct scan *scan, const void *bytes, size_t size) {
  TRY(slim_reserve(scan, size));
  memcpy(scan->slim + scan->slim_size, bytes, size);
  scan->slim_size += size;
  return status_ok();
}

static void put_length(uint8_t *at, size_t length) {
  for (int i = 0; i < LENGTH_BYTES; i++) {
    at[i] = (uint8_t)((length >> (7 * i)) & 0x7f) | (uint8_t)(i < LENGTH_BYTES - 1 ? 0x80 : 0);
  }
}

/* A tag of up to five bytes; answers how many. */
static size_t put_tag(uint8_t *at, uint32_t number, uint32_t wire) {
  uint32_t tag = number << 3 | wire;
  size_t n = 0;
  do {
    at[n] = (uint8_t)(tag & 0x7f) | (uint8_t)(tag > 0x7f ? 0x80 : 0);
    tag >>= 7;
    n++;
  } while (tag != 0);
  return n;
}

static assay_status lift(struct scan *scan, const struct field_head *head) {
  if (scan->n_lifted == scan->lifted_capacity) {
    size_t capacity = scan->lifted_capacity == 0 ? 64 : scan->lifted_capacity * 2;
    struct lifted *grown = memory_resize(scan->lifted, capacity, sizeof *grown);
    if (grown == NULL) {
      return status_no_memory(capacity * sizeof *grown);
    }
    scan->lifted = grown;
    scan->lifted_capacity = capacity;
  }
  scan->lifted[scan->n_lifted++] = (struct lifted){head->begin, head->end - head->begin, head->number};
  uint8_t bytes[5 + LENGTH_BYTES];
  size_t n = put_tag(bytes, FIELD_LIFTED, WIRE_VARINT);
  put_length(bytes + n, scan->n_lifted);
  return slim_add(scan, bytes, n + LENGTH_BYTES);
}

/* --- checking ---------------------------------------------------------------- */

static assay_status add_cost(struct scanner *scanner, uint64_t bytes) {
  struct scan *out = scanner->out;
  uint64_t limit = scanner->max_bytes;
  if (limit == 0) {
    limit = SCAN_BASE + SCAN_FACTOR * (uint64_t)(scanner->at - scanner->lifted_bytes);
  }
  if (__builtin_add_overflow(out->decoded, bytes, &out->decoded) || out->decoded > limit) {
    return status_make(
        ASSAY_LIMIT_EXCEEDED, scanner->where,
        "up to byte %zu it would take more than %llu bytes of memory, weights not counted, which is more "
        "than a real model of its size needs; make sure that it is one, or raise max_bytes",
        scanner->at, (unsigned long long)limit);
  }
  return status_ok();
}

/* Each field at most once unless it repeats; of a oneof, one. */
static assay_status check_repetition(const struct scanner *scanner, struct frame *frame, const struct scan_field *field,
                                     size_t at) {
  if (field->repeated) {
    return status_ok();
  }
  int bit = field->one_of != 0 ? 63 - field->one_of : (int)(field - frame->schema->fields);
  if ((frame->seen >> bit & 1) != 0) {
    return malformed(scanner, at, frame, "a field that may stand once stands twice");
  }
  frame->seen |= (uint64_t)1 << bit;
  return status_ok();
}

static uint32_t wire_of(enum scan_kind kind) {
  switch (kind) {
    case SCAN_VARINT:
      return WIRE_VARINT;
    case SCAN_FIXED32:
      return WIRE_FIXED32;
    case SCAN_FIXED64:
      return WIRE_FIXED64;
    case SCAN_TEXT:
    case SCAN_BYTES:
    case SCAN_MESSAGE:
      break;
  }
  return WIRE_BYTES;
}

/* A packed array: whole elements, counted. */
static assay_status check_packed(struct scanner *scanner, const struct frame *frame, const struct scan_field *field,
                                 const struct field_head *head) {
  size_t length = head->end - head->begin, count = 0;
  if (field->kind == SCAN_VARINT) {
    struct frame inside = *frame;
    inside.end = head->end;
    for (size_t at = head->begin; at < head->end; count++) {
      uint64_t value;
      if (scanner->bytes[at] < 0x80) { /* most are one byte */
        at++;
        continue;
      }
      TRY(read_varint(scanner, &inside, head->at, &at, &value));
    }
  } else {
    size_t size = field->kind == SCAN_FIXED32 ? 4 : 8;
    if (length % size != 0) {
      return malformed(scanner, head->at, frame, "a packed array ends in the middle of an element");
    }
    count = length / size;
  }
  return add_cost(scanner, (uint64_t)count * field->cost);
}

static assay_status check_text(const struct scanner *scanner, const struct frame *frame,
                               const struct field_head *head) {
  size_t length = head->end - head->begin;
  if (memchr(head->data, 0, length) != NULL) {
    return status_make(ASSAY_NAME_INVALID, scanner->where,
                       "byte %zu: a text of %s (field %u) holds a zero byte; export the model again", head->at,
                       frame->schema->name, head->number);
  }
  if (!text_is_utf8((const char *)head->data, length)) {
    return status_make(ASSAY_NAME_INVALID, scanner->where,
                       "byte %zu: a text of %s (field %u) is not UTF-8; export the model again", head->at,
                       frame->schema->name, head->number);
  }
  return status_ok();
}

/* --- tensors -------------------------------------------------------------------- */

enum { TENSOR_NAME = 8, TENSOR_RAW = 9, TENSOR_FLOATS = 4, TENSOR_DOUBLES = 10, TENSOR_SEGMENT = 3 };

static bool is_data_field(uint32_t number) {
  return number == TENSOR_FLOATS || (number >= 5 && number <= 7) || (number >= 9 && number <= 11);
}

/* Looks at a tensor before it is copied: which member holds the data, in one piece or several. *lifted is the
 * member that can stay in the file, 0 for none. */
static assay_status survey_tensor(const struct scanner *scanner, const struct frame *frame, size_t begin,
                                  uint32_t *lifted) {
  uint32_t holder = 0;
  size_t pieces = 0, name_length = 0;
  const uint8_t *name = NULL;
  bool liftable = false, twice = false, segmented = false;
  for (size_t at = begin; at < frame->end;) {
    struct field_head head;
    TRY(read_head(scanner, frame, &at, &head));
    if (head.number == TENSOR_NAME && head.wire == WIRE_BYTES) {
      name = head.data;
      name_length = head.end - head.begin;
    } else if (head.number == TENSOR_SEGMENT) {
      segmented = true;
    } else if (is_data_field(head.number)) {
      twice = twice || (holder != 0 && holder != head.number);
      holder = head.number;
      pieces++;
      liftable = head.wire == WIRE_BYTES && head.end - head.begin >= SCAN_LIFT_BYTES;
    }
  }
  int shown = name_length > 200 ? 200 : (int)name_length;
  if (twice) {
    return status_make(ASSAY_TENSOR_DATA_TWICE, scanner->where,
                       "tensor '%.*s' (byte %zu) holds data in two members of TensorProto; keep one of them", shown,
                       name == NULL ? "" : (const char *)name, begin);
  }
  if (segmented) {
    return status_make(ASSAY_TENSOR_SEGMENTED, scanner->where,
                       "tensor '%.*s' (byte %zu) is stored in segments; store it whole", shown,
                       name == NULL ? "" : (const char *)name, begin);
  }
  bool fits = holder == TENSOR_RAW || holder == TENSOR_FLOATS || holder == TENSOR_DOUBLES;
  *lifted = fits && pieces == 1 && liftable ? holder : 0;
  return status_ok();
}

/* --- the walk -------------------------------------------------------------------- */

static assay_status scan_message(struct scanner *scanner, struct frame *frame, size_t begin);

static assay_status scan_child(struct scanner *scanner, const struct frame *frame, const struct scan_field *field,
                               const struct field_head *head) {
  if (frame->depth >= scanner->max_depth) {
    return status_make(ASSAY_LIMIT_EXCEEDED, scanner->where,
                       "byte %zu: messages are nested more than %d deep; make sure that it is a real model, or raise "
                       "max_depth",
                       head->at, scanner->max_depth);
  }
  struct scan *out = scanner->out;
  uint8_t bytes[5 + LENGTH_BYTES] = {0};
  size_t n = put_tag(bytes, head->number, WIRE_BYTES);
  TRY(slim_add(out, bytes, n + LENGTH_BYTES));
  size_t content = out->slim_size;
  struct frame child = {scan_schema_of(field->message), field->message, head->end, frame->depth + 1, 0};
  TRY(scan_message(scanner, &child, head->begin));
  put_length(out->slim + content - LENGTH_BYTES, out->slim_size - content);
  return status_ok();
}

static assay_status scan_field(struct scanner *scanner, struct frame *frame, const struct field_head *head,
                               uint32_t lifted) {
  struct scan *out = scanner->out;
  scanner->at = head->end;
  const struct scan_field *field = scan_field_of(frame->schema, head->number);
  if (field == NULL) {
    out->has_unknown = true;
    return status_ok();
  }
  bool number = field->kind == SCAN_VARINT || field->kind == SCAN_FIXED32 || field->kind == SCAN_FIXED64;
  bool packed = number && field->repeated && head->wire == WIRE_BYTES;
  if (head->wire != wire_of(field->kind) && !packed) {
    return malformed(scanner, head->at, frame, "a field has another wire type than ONNX gives it");
  }
  TRY(check_repetition(scanner, frame, field, head->at));
  if (field->dropped) {
    out->has_training = out->has_training || (frame->message == SCAN_MODEL && head->number == 20);
    return status_ok();
  }
  if (head->number == lifted && frame->message == SCAN_TENSOR) {
    size_t element = lifted == TENSOR_FLOATS ? 4 : lifted == TENSOR_DOUBLES ? 8 : 1;
    if ((head->end - head->begin) % element != 0) {
      return malformed(scanner, head->at, frame, "a packed array ends in the middle of an element");
    }
    scanner->lifted_bytes += head->end - head->begin;
    TRY(add_cost(scanner, COST_LIFTED));
    return lift(out, head);
  }
  if (packed) {
    TRY(check_packed(scanner, frame, field, head));
  } else {
    TRY(add_cost(scanner, field->cost));
  }
  if (field->kind == SCAN_TEXT) {
    TRY(check_text(scanner, frame, head));
  }
  if (field->kind == SCAN_MESSAGE) {
    return scan_child(scanner, frame, field, head);
  }
  if (head->wire == WIRE_BYTES && !packed) {
    TRY(add_cost(scanner, 2 * (uint64_t)(head->end - head->begin)));
  }
  return slim_add(out, scanner->bytes + head->at, head->end - head->at);
}

/* A node without an operator is refused here already: two bytes of file make one. */
static assay_status check_node(const struct scanner *scanner, const struct frame *frame, size_t begin, bool has_type) {
  if (frame->message == SCAN_NODE && !has_type) {
    return status_make(ASSAY_NODE_NO_OPERATOR, scanner->where,
                       "the node at byte %zu has no op_type, so that it is not known what it computes; export the "
                       "model again",
                       begin);
  }
  return status_ok();
}

static assay_status scan_message(struct scanner *scanner, struct frame *frame, size_t begin) {
  uint32_t lifted = 0;
  bool has_type = false;
  if (frame->message == SCAN_TENSOR) {
    TRY(survey_tensor(scanner, frame, begin, &lifted));
  }
  for (size_t at = begin; at < frame->end;) {
    struct field_head head;
    TRY(read_head(scanner, frame, &at, &head));
    TRY(scan_field(scanner, frame, &head, lifted));
    has_type = has_type || (head.number == 4 && head.end > head.begin);
  }
  return check_node(scanner, frame, begin, has_type);
}

/* --- versions first ----------------------------------------------------------------- */

/* What the file may be when it is no ONNX model. */
static const char *guess_kind(const uint8_t *bytes, size_t size) {
  static const struct {
    const char *magic, *kind;
  } known[] = {{"PK\3\4", "a ZIP archive (a PyTorch checkpoint?)"},
               {"version https://git-lfs", "a Git LFS pointer; fetch the file that it stands for"},
               {"\211HDF", "an HDF5 file"},
               {"{", "JSON"},
               {"<", "HTML or XML"},
               {"ORTM", "an ORT-format model"},
               {"\x93NUMPY", "a NumPy array"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    size_t length = strlen(known[i].magic);
    if (size >= length && memcmp(bytes, known[i].magic, length) == 0) {
      return known[i].kind;
    }
  }
  return NULL;
}

/* The IR version decides how all the rest is to be read, wherever in the file it stands. */
static assay_status check_version(const struct scanner *scanner, const struct frame *frame) {
  uint64_t version = 0;
  for (size_t at = 0; at < frame->end;) {
    struct field_head head;
    TRY(read_head(scanner, frame, &at, &head));
    if (head.number == 1 && head.wire == WIRE_VARINT) {
      size_t value_at = head.begin;
      TRY(read_varint(scanner, frame, head.at, &value_at, &version));
      break;
    }
  }
  if (version == 0) {
    return status_make(ASSAY_MODEL_VERSION, scanner->where,
                       "there is no IR version in it; an ONNX model has one from 1 to %d", MODEL_IR_MAX);
  }
  if (version > MODEL_IR_MAX) {
    return status_make(ASSAY_MODEL_VERSION, scanner->where,
                       "its IR version is %lld; assay knows 1 to %d, so export with one of these", (long long)version,
                       MODEL_IR_MAX);
  }
  return status_ok();
}

static assay_status scan_all(struct scanner *scanner) {
  if (scanner->size == 0) {
    return status_make(ASSAY_MODEL_TRUNCATED, scanner->where, "the file is empty; copy or export it again");
  }
  if (scanner->size > INT32_MAX) {
    return status_make(ASSAY_MODEL_TOO_LARGE, scanner->where,
                       "the model has %zu bytes and one message of protobuf may have 2147483647; export with external "
                       "data",
                       scanner->size);
  }
  const char *kind = guess_kind(scanner->bytes, scanner->size);
  if (kind != NULL) {
    return status_make(ASSAY_MODEL_INVALID, scanner->where, "this is not an ONNX model but %s", kind);
  }
  struct frame frame = {scan_schema_of(SCAN_MODEL), SCAN_MODEL, scanner->size, 1, 0};
  TRY(check_version(scanner, &frame));
  return scan_message(scanner, &frame, 0);
}

assay_status scan_model(const uint8_t *bytes, size_t size, const char *where, const struct scan_limits *limits,
                        struct scan *out) {
  *out = (struct scan){0};
  int32_t depth = limits->max_depth > 0 ? limits->max_depth : SCAN_DEPTH;
  struct scanner scanner = {bytes, size, where, limits->max_bytes, depth, 0, 0, out};
  assay_status status = scan_all(&scanner);
  if (!assay_status_ok(status)) {
    scan_free(out);
  }
  return status;
}

void scan_free(struct scan *scan) {
  memory_free(scan->slim);
  memory_free(scan->lifted);
  *scan = (struct scan){0};
}
