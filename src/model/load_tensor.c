/* Tensors as a model stores them: raw, in a typed member, in the mapped file, or outside it. A shape and
 * its data must agree exactly, in both directions. Data that stay in a file must not be read here. */
#include <inttypes.h>
#include <string.h>

#include "model/load.h"
#include "tensor/tensor.h"

/* --- shape ---------------------------------------------------------------- */

static assay_status load_shape(struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                               assay_tensor *out, int64_t *count) {
  if (proto->data_type <= ASSAY_UNDEFINED || proto->data_type >= ASSAY_DTYPE_COUNT) {
    return load_fail(loader, ASSAY_TENSOR_TYPE_UNSUPPORTED,
                     "tensor '%s' has element type %d, which assay does not know; export with one of the types from "
                     "1 to %d",
                     name, proto->data_type, ASSAY_DTYPE_COUNT - 1);
  }
  out->dtype = (assay_dtype)proto->data_type;
  if (proto->n_dims > ASSAY_RANK_MAX) {
    return load_fail(loader, ASSAY_TENSOR_RANK, "tensor '%s' has %zu dimensions; assay takes up to %d", name,
                     proto->n_dims, ASSAY_RANK_MAX);
  }
  out->rank = (int32_t)proto->n_dims;
  for (size_t i = 0; i < proto->n_dims; i++) {
    out->dims[i] = proto->dims[i];
    if (proto->dims[i] < 0) {
      return load_fail(loader, ASSAY_TENSOR_DIMS_NEGATIVE,
                       "tensor '%s' has dimension %" PRId64
                       " at axis %zu; a stored tensor has dimensions of 0 and more",
                       name, proto->dims[i], i);
    }
  }
  if (!shape_count(out->dims, out->rank, count) || !dtype_bytes(out->dtype, *count, &out->bytes)) {
    return load_fail(loader, ASSAY_TENSOR_DIMS_OVERFLOW,
                     "the dimensions of tensor '%s' multiply to more than can be addressed; export the model again",
                     name);
  }
  return status_ok();
}

static assay_status check_bytes(const struct loader *loader, const char *name, const assay_tensor *tensor,
                                size_t found) {
  if (found == tensor->bytes) {
    return status_ok();
  }
  struct text text = {0};
  tensor_describe(tensor, &text);
  assay_status status = text_status(&text);
  if (assay_status_ok(status)) {
    status = load_fail(loader, found < tensor->bytes ? ASSAY_TENSOR_BYTES_SHORT : ASSAY_TENSOR_BYTES_LONG,
                       "tensor '%s' is %s and needs %zu bytes, but %zu are there; export the model again", name,
                       text_string(&text), tensor->bytes, found);
  }
  text_free(&text);
  return status;
}

static assay_status check_count(const struct loader *loader, const char *name, const assay_tensor *tensor,
                                size_t expected, size_t found) {
  if (found == expected) {
    return status_ok();
  }
  struct text text = {0};
  tensor_describe(tensor, &text);
  assay_status status = text_status(&text);
  if (assay_status_ok(status)) {
    status = load_fail(loader, ASSAY_TENSOR_COUNT_MISMATCH,
                       "tensor '%s' is %s and needs %zu stored numbers, but %zu are there; export the model again",
                       name, text_string(&text), expected, found);
  }
  text_free(&text);
  return status;
}

/* --- typed members ----------------------------------------------------------- */

/* Smallest and largest that int32_data may hold for a dtype. fp16, bf16 and the narrow floats are stored as
 * their bits, types below 8 bits as packed bytes. */
static void int32_range(assay_dtype dtype, int32_t *low, int32_t *high) {
  *low = 0;
  *high = UINT8_MAX;
  switch (dtype) {
    case ASSAY_INT32:
      *low = INT32_MIN;
      *high = INT32_MAX;
      break;
    case ASSAY_INT16:
      *low = INT16_MIN;
      *high = INT16_MAX;
      break;
    case ASSAY_UINT16:
    case ASSAY_FLOAT16:
    case ASSAY_BFLOAT16:
      *high = UINT16_MAX;
      break;
    case ASSAY_INT8:
      *low = INT8_MIN;
      *high = INT8_MAX;
      break;
    case ASSAY_BOOL:
      *high = 1;
      break;
    case ASSAY_INT4:
    case ASSAY_INT2:
      *low = INT8_MIN; /* a packed byte, which some write with its sign */
      break;
    default:
      break;
  }
}

static assay_status from_int32(struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                               assay_tensor *out) {
  size_t bits = assay_dtype_bits(out->dtype);
  int32_t low, high;
  int32_range(out->dtype, &low, &high);
  for (size_t i = 0; i < proto->n_int32_data; i++) {
    int32_t value = proto->int32_data[i];
    if (value < low || value > high) {
      return load_fail(loader, ASSAY_TENSOR_VALUE_RANGE,
                       "number %zu of tensor '%s' is %d, which a %s cannot hold (%d to %d)", i, name, value,
                       assay_dtype_name(out->dtype), low, high);
    }
    if (bits <= 8) {
      ((uint8_t *)out->data)[i] = (uint8_t)value;
    } else if (bits == 16) {
      ((uint16_t *)out->data)[i] = (uint16_t)value;
    } else {
      ((int32_t *)out->data)[i] = value;
    }
  }
  return status_ok();
}

static assay_status from_uint64(struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                                assay_tensor *out) {
  for (size_t i = 0; i < proto->n_uint64_data; i++) {
    uint64_t value = proto->uint64_data[i];
    if (out->dtype == ASSAY_UINT64) {
      ((uint64_t *)out->data)[i] = value;
    } else if (value <= UINT32_MAX) {
      ((uint32_t *)out->data)[i] = (uint32_t)value;
    } else {
      return load_fail(loader, ASSAY_TENSOR_VALUE_RANGE,
                       "number %zu of tensor '%s' is %" PRIu64 ", which a uint32 cannot hold", i, name, value);
    }
  }
  return status_ok();
}

static assay_status from_strings(struct loader *loader, const Onnx__TensorProto *proto, assay_tensor *out) {
  assay_text *texts = out->data;
  for (size_t i = 0; i < proto->n_string_data; i++) {
    const ProtobufCBinaryData *bytes = &proto->string_data[i];
    const char *copy = arena_copy(loader->arena, (const char *)bytes->data, bytes->len);
    if (copy == NULL) {
      return status_no_memory(bytes->len);
    }
    texts[i] = (assay_text){copy, bytes->len};
  }
  return status_ok();
}

/* Numbers that are stored as they are: floats, doubles (complex ones as pairs) and int64. */
static assay_status from_plain(assay_tensor *out, const void *data, size_t n) {
  if (n > 0) {
    memcpy(out->data, data, out->bytes);
  }
  return status_ok();
}

/* The member of TensorProto that a dtype uses when it does not use raw_data. */
static uint32_t typed_member(assay_dtype dtype) {
  switch (dtype) {
    case ASSAY_FLOAT32:
    case ASSAY_COMPLEX64:
      return 4;
    case ASSAY_STRING:
      return 6;
    case ASSAY_INT64:
      return 7;
    case ASSAY_FLOAT64:
    case ASSAY_COMPLEX128:
      return 10;
    case ASSAY_UINT32:
    case ASSAY_UINT64:
      return 11;
    default:
      return 5;
  }
}

/* The typed member that holds something; 0 for none. The scan made sure that it is one at most. */
static uint32_t filled_member(const Onnx__TensorProto *proto) {
  if (proto->n_float_data > 0) {
    return 4;
  }
  if (proto->n_int32_data > 0) {
    return 5;
  }
  if (proto->n_string_data > 0) {
    return 6;
  }
  if (proto->n_int64_data > 0) {
    return 7;
  }
  if (proto->n_double_data > 0) {
    return 10;
  }
  return proto->n_uint64_data > 0 ? 11 : 0;
}

static const char *member_name(uint32_t field) {
  static const char *const names[] = {[4] = "float_data", [5] = "int32_data",   [6] = "string_data", [7] = "int64_data",
                                      [9] = "raw_data",   [10] = "double_data", [11] = "uint64_data"};
  return names[field];
}

static assay_status wrong_member(const struct loader *loader, const char *name, assay_dtype dtype, uint32_t field) {
  return load_fail(loader, ASSAY_TENSOR_DATA_KIND,
                   "tensor '%s' is of %s but keeps its data in %s; such a tensor uses %s%s", name,
                   assay_dtype_name(dtype), member_name(field), dtype != ASSAY_STRING ? "raw_data or " : "",
                   member_name(typed_member(dtype)));
}

/* The typed member holds exactly the numbers that the shape asks for: a byte of packed ones, two of complex ones. */
static assay_status check_stored(const struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                                 const assay_tensor *tensor, int64_t count) {
  switch (typed_member(tensor->dtype)) {
    case 4:
      return check_count(loader, name, tensor, tensor->bytes / sizeof(float), proto->n_float_data);
    case 5:
      return check_count(loader, name, tensor, assay_dtype_bits(tensor->dtype) < 8 ? tensor->bytes : (size_t)count,
                         proto->n_int32_data);
    case 6:
      return check_count(loader, name, tensor, (size_t)count, proto->n_string_data);
    case 7:
      return check_count(loader, name, tensor, (size_t)count, proto->n_int64_data);
    case 10:
      return check_count(loader, name, tensor, tensor->bytes / sizeof(double), proto->n_double_data);
    default:
      return check_count(loader, name, tensor, (size_t)count, proto->n_uint64_data);
  }
}

static assay_status from_typed(struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                               assay_tensor *out, int64_t count) {
  uint32_t filled = filled_member(proto);
  if (filled != 0 && filled != typed_member(out->dtype)) {
    return wrong_member(loader, name, out->dtype, filled);
  }
  if (filled == 0 && count > 0) {
    return check_bytes(loader, name, out, 0);
  }
  TRY(check_stored(loader, proto, name, out, count)); /* before a shape that lies can cost memory */
  out->data = arena_alloc(loader->arena, out->bytes, 1);
  if (out->data == NULL) {
    return status_no_memory(out->bytes);
  }
  switch (typed_member(out->dtype)) {
    case 4:
      return from_plain(out, proto->float_data, proto->n_float_data);
    case 5:
      return from_int32(loader, proto, name, out);
    case 6:
      return from_strings(loader, proto, out);
    case 7:
      return from_plain(out, proto->int64_data, proto->n_int64_data);
    case 10:
      return from_plain(out, proto->double_data, proto->n_double_data);
    default:
      return from_uint64(loader, proto, name, out);
  }
}

/* --- raw and mapped data -------------------------------------------------------- */

/* A bool is the byte 0 or 1; C would not survive another. */
static assay_status check_bools(const struct loader *loader, const char *name, const assay_tensor *tensor) {
  const uint8_t *bytes = tensor->data;
  for (size_t i = 0; tensor->dtype == ASSAY_BOOL && i < tensor->bytes; i++) {
    if (bytes[i] > 1) {
      return load_fail(loader, ASSAY_TENSOR_VALUE_RANGE, "element %zu of tensor '%s' is the byte %d; a bool is 0 or 1",
                       i, name, bytes[i]);
    }
  }
  return status_ok();
}

static assay_status from_lifted(struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                                assay_tensor *out) {
  if (proto->lifted == 0 || proto->lifted > loader->scan->n_lifted) {
    return load_fail(loader, ASSAY_INTERNAL, "tensor '%s' refers to data %u of %zu", name, proto->lifted,
                     loader->scan->n_lifted);
  }
  const struct lifted *place = &loader->scan->lifted[proto->lifted - 1];
  if (place->field != 9 && place->field != typed_member(out->dtype)) {
    return wrong_member(loader, name, out->dtype, place->field);
  }
  if (out->dtype == ASSAY_STRING) {
    return wrong_member(loader, name, out->dtype, place->field);
  }
  TRY(check_bytes(loader, name, out, place->length));
  out->data = (void *)(uintptr_t)(loader->bytes + place->offset);
  return check_bools(loader, name, out);
}

static assay_status from_raw(struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                             assay_tensor *out) {
  if (out->dtype == ASSAY_STRING) {
    return wrong_member(loader, name, out->dtype, 9);
  }
  TRY(check_bytes(loader, name, out, proto->raw_data.len));
  out->data = arena_alloc(loader->arena, out->bytes, 1);
  if (out->data == NULL) {
    return status_no_memory(out->bytes);
  }
  if (out->bytes > 0) {
    memcpy(out->data, proto->raw_data.data, out->bytes);
  }
  return check_bools(loader, name, out);
}

assay_status load_tensor(struct loader *loader, const Onnx__TensorProto *proto, const char *name, assay_tensor *out,
                         const char **location) {
  int64_t count;
  *out = (assay_tensor){0};
  *location = NULL;
  TRY(load_shape(loader, proto, name, out, &count));
  bool has_data = proto->has_lifted || proto->has_raw_data || filled_member(proto) != 0;
  if (proto->data_location == 1) {
    if (has_data) {
      return load_fail(loader, ASSAY_TENSOR_DATA_TWICE,
                       "tensor '%s' says that its data are external, but also holds data; keep one of the two", name);
    }
    if (out->dtype == ASSAY_STRING) {
      return load_fail(loader, ASSAY_TENSOR_DATA_KIND, "tensor '%s' is of strings, which cannot be external data",
                       name);
    }
    TRY(load_external(loader, proto, name, out, location));
    return check_bools(loader, name, out);
  }
  if (proto->data_location != 0) {
    return load_fail(loader, ASSAY_TENSOR_DATA_KIND, "tensor '%s' keeps its data at location kind %d; ONNX has 0 and 1",
                     name, proto->data_location);
  }
  if (proto->has_lifted) {
    return from_lifted(loader, proto, name, out);
  }
  if (proto->has_raw_data) {
    return from_raw(loader, proto, name, out);
  }
  return from_typed(loader, proto, name, out, count);
}
