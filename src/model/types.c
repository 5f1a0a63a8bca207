/* See types.h. Pure functions. */
#include "model/types.h"

#include <inttypes.h>

enum type_fit type_merge(const struct value_type *from, struct value_type *into) {
  if (from->kind == TYPE_UNKNOWN) {
    return TYPE_FITS;
  }
  if (into->kind == TYPE_UNKNOWN) {
    *into = *from;
    return TYPE_FITS;
  }
  bool dtypes_differ = from->dtype != into->dtype && from->dtype != ASSAY_UNDEFINED && into->dtype != ASSAY_UNDEFINED;
  if (from->kind != into->kind || dtypes_differ) {
    return TYPE_KIND_DIFFERS;
  }
  struct value_type merged = *into;
  merged.dtype = merged.dtype == ASSAY_UNDEFINED ? from->dtype : merged.dtype;
  if (merged.rank == RANK_UNKNOWN) {
    merged.rank = from->rank;
    for (int32_t i = 0; i < from->rank; i++) {
      merged.dims[i] = from->dims[i];
    }
  } else if (from->rank != RANK_UNKNOWN && from->rank != merged.rank) {
    return TYPE_SHAPE_DIFFERS;
  }
  for (int32_t i = 0; from->rank != RANK_UNKNOWN && i < from->rank; i++) {
    struct dim *dim = &merged.dims[i];
    if (from->dims[i].value >= 0) {
      if (dim->value >= 0 && dim->value != from->dims[i].value) {
        return TYPE_SHAPE_DIFFERS;
      }
      *dim = from->dims[i];
    } else if (dim->value < 0 && dim->symbol == NULL) {
      *dim = from->dims[i];
    }
  }
  *into = merged;
  return TYPE_FITS;
}

static void describe_shape(const struct value_type *type, struct text *out) {
  if (type->rank == RANK_UNKNOWN) {
    text_add(out, "[...]");
    return;
  }
  text_add_char(out, '[');
  for (int32_t i = 0; i < type->rank; i++) {
    const struct dim *dim = &type->dims[i];
    text_add(out, i > 0 ? "," : "");
    if (dim->value >= 0) {
      text_format(out, "%" PRId64, dim->value);
    } else {
      text_add_shown(out, dim->symbol != NULL ? dim->symbol : "?");
    }
  }
  text_add_char(out, ']');
}

void type_describe(const struct value_type *type, struct text *out) {
  static const char *const wrappers[] = {
      [TYPE_UNKNOWN] = "unknown",   [TYPE_TENSOR] = "", [TYPE_SEQUENCE] = "sequence",
      [TYPE_OPTIONAL] = "optional", [TYPE_MAP] = "map", [TYPE_SPARSE_TENSOR] = "sparse"};
  text_add(out, wrappers[type->kind]);
  if (type->kind == TYPE_UNKNOWN) {
    return;
  }
  text_add(out, type->kind != TYPE_TENSOR ? "(" : "");
  text_add(out, assay_dtype_name(type->dtype));
  describe_shape(type, out);
  text_add(out, type->kind != TYPE_TENSOR ? ")" : "");
}

struct value_type type_of_tensor(const assay_tensor *tensor) {
  struct value_type type = {.kind = TYPE_TENSOR, .dtype = tensor->dtype, .rank = tensor->rank};
  for (int32_t i = 0; i < tensor->rank; i++) {
    type.dims[i] = (struct dim){tensor->dims[i], NULL};
  }
  return type;
}
