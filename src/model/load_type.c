/* Types and shapes as a model declares them. Must never take a dimension for known that the
 * file does not give. */
#include <string.h>

#include "model/load.h"
#include "model/types.h"

static assay_status check_dtype(struct loader *loader, int32_t elem_type, const char *name, assay_dtype *out) {
  if (elem_type <= ASSAY_UNDEFINED || elem_type >= ASSAY_DTYPE_COUNT) {
    return load_fail(loader, ASSAY_TENSOR_TYPE_UNSUPPORTED,
                     "value '%s' declares element type %d, which assay does not know; export with one of the types "
                     "from 1 to %d",
                     name, elem_type, ASSAY_DTYPE_COUNT - 1);
  }
  *out = (assay_dtype)elem_type;
  return status_ok();
}

static assay_status load_dim(struct loader *loader, const Onnx__TensorShapeProto__Dimension *proto, const char *name,
                             struct dim *out) {
  *out = (struct dim){DIM_UNKNOWN, NULL};
  if (proto->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM) {
    if (proto->dim_param[0] != '\0') {
      TRY(load_text(loader, proto->dim_param, &out->symbol));
    }
  } else if (proto->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE) {
    if (proto->dim_value >= 0) {
      out->value = proto->dim_value;
    } else {
      TRY(load_warn(loader, ASSAY_DIM_NEGATIVE, "value '%s' declares a dimension of %lld; it is taken as unknown", name,
                    (long long)proto->dim_value));
    }
  }
  return status_ok();
}

static assay_status load_tensor_type(struct loader *loader, int32_t elem_type, const Onnx__TensorShapeProto *shape,
                                     const char *name, struct value_type *out) {
  TRY(check_dtype(loader, elem_type, name, &out->dtype));
  out->rank = RANK_UNKNOWN;
  if (shape == NULL) {
    return status_ok();
  }
  if (shape->n_dim > ASSAY_RANK_MAX) {
    return load_fail(loader, ASSAY_TENSOR_RANK, "value '%s' declares %zu dimensions; assay takes up to %d", name,
                     shape->n_dim, ASSAY_RANK_MAX);
  }
  out->rank = (int32_t)shape->n_dim;
  for (size_t i = 0; i < shape->n_dim; i++) {
    TRY(load_dim(loader, shape->dim[i], name, &out->dims[i]));
  }
  return status_ok();
}

/* Sequences and optionals carry the type of their elements; what lies deeper than that is not kept. */
static assay_status load_element_type(struct loader *loader, const Onnx__TypeProto *element, const char *name,
                                      struct value_type *out) {
  enum type_kind kind = out->kind;
  if (element != NULL) {
    TRY(load_type(loader, element, name, out));
  }
  out->deep = kind == TYPE_MAP || out->kind != TYPE_TENSOR;
  out->kind = kind;
  return status_ok();
}

assay_status load_type(struct loader *loader, const Onnx__TypeProto *proto, const char *name, struct value_type *out) {
  *out = (struct value_type){.kind = TYPE_UNKNOWN, .rank = RANK_UNKNOWN};
  if (proto == NULL) {
    return status_ok();
  }
  switch (proto->value_case) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
      out->kind = TYPE_TENSOR;
      return load_tensor_type(loader, proto->tensor_type->elem_type, proto->tensor_type->shape, name, out);
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
      out->kind = TYPE_SPARSE_TENSOR;
      return load_tensor_type(loader, proto->sparse_tensor_type->elem_type, proto->sparse_tensor_type->shape, name,
                              out);
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
      out->kind = TYPE_SEQUENCE;
      return load_element_type(loader, proto->sequence_type->elem_type, name, out);
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
      out->kind = TYPE_OPTIONAL;
      return load_element_type(loader, proto->optional_type->elem_type, name, out);
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
      out->kind = TYPE_MAP;
      return load_element_type(loader, proto->map_type->value_type, name, out);
    case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE:
      return load_fail(loader, ASSAY_TENSOR_TYPE_UNSUPPORTED,
                       "value '%s' has an opaque type, which says nothing about its content; export with tensors",
                       name);
    case ONNX__TYPE_PROTO__VALUE__NOT_SET:
    case _ONNX__TYPE_PROTO__VALUE__CASE_IS_INT_SIZE:
      break;
  }
  return status_ok();
}

assay_status load_merge_type(struct loader *loader, const char *name, const struct value_type *from,
                             struct value_type *into) {
  enum type_fit fit = type_merge(from, into);
  if (fit == TYPE_FITS) {
    return status_ok();
  }
  struct text text = {0};
  type_describe(into, &text);
  text_add(&text, " and as ");
  type_describe(from, &text);
  assay_status status = text_status(&text);
  if (assay_status_ok(status)) {
    assay_code code = fit == TYPE_KIND_DIFFERS ? ASSAY_TYPE_CONFLICT : ASSAY_SHAPE_CONFLICT;
    status = load_fail(loader, code, "value '%s' is declared as %s; the two contradict", name, text_string(&text));
  }
  text_free(&text);
  return status;
}
