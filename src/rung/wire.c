/* Rungs across a process boundary: see wire.h. It must never read past what was sent. */
#include "rung/wire.h"

#include <string.h>

#include "tensor/tensor.h"

enum { LIST_MAX = 1 << 20 };

void wire_put_int(struct text *out, int64_t value) { text_add_bytes(out, (const char *)&value, sizeof value); }

void wire_put_string(struct text *out, const char *string) {
  if (string == NULL) {
    wire_put_int(out, -1);
    return;
  }
  size_t length = strlen(string);
  wire_put_int(out, (int64_t)length);
  text_add_bytes(out, string, length + 1);
}

void wire_put_tensor(struct text *out, const char *name, const assay_tensor *tensor) {
  wire_put_string(out, name);
  wire_put_int(out, (int64_t)tensor->dtype);
  wire_put_int(out, tensor->rank);
  for (int32_t d = 0; d < tensor->rank; d++) {
    wire_put_int(out, tensor->dims[d]);
  }
  wire_put_int(out, (int64_t)tensor->bytes);
  text_add_bytes(out, tensor->data != NULL ? tensor->data : "", tensor->bytes);
}

void wire_put_status(struct text *out, assay_status status) {
  wire_put_string(out, assay_code_name(status.code)); /* numbers differ between versions */
  wire_put_string(out, assay_status_where(status));
  wire_put_string(out, assay_status_sentence(status));
}

void wire_put_actual(struct text *out, const struct rung_actual *actual) {
  const char *const strings[] = {actual->engine,    actual->version,     actual->provider,
                                 actual->precision, actual->accumulator, actual->device,
                                 actual->tf32,      actual->note,        actual->model_precision};
  for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
    wire_put_string(out, strings[i]);
  }
  wire_put_int(out, actual->threads);
  wire_put_int(out, actual->emulated);
  wire_put_int(out, actual->n_placement);
  for (int32_t i = 0; i < actual->n_placement; i++) {
    wire_put_string(out, actual->placement[i].node);
    wire_put_string(out, actual->placement[i].provider);
    wire_put_string(out, actual->placement[i].precision);
  }
  wire_put_int(out, actual->n_facts);
  for (int32_t i = 0; i < actual->n_facts; i++) {
    wire_put_string(out, actual->facts[i].key);
    wire_put_string(out, actual->facts[i].value);
  }
}

/* `size` bytes, or NULL and a failed reader. */
static const char *take(struct wire_reader *in, size_t size) {
  if (in->failed || in->size - in->place < size) {
    in->failed = true;
    return NULL;
  }
  const char *bytes = in->data + in->place;
  in->place += size;
  return bytes;
}

int64_t wire_get_int(struct wire_reader *in) {
  int64_t value = 0;
  const char *bytes = take(in, sizeof value);
  if (bytes != NULL) {
    memcpy(&value, bytes, sizeof value);
  }
  return value;
}

/* A count or size from 0 to `max`. */
static size_t get_count(struct wire_reader *in, size_t max) {
  int64_t value = wire_get_int(in);
  if (value < 0 || (uint64_t)value > max) {
    in->failed = true;
    return 0;
  }
  return (size_t)value;
}

const char *wire_get_string(struct wire_reader *in) {
  int64_t length = wire_get_int(in);
  if (length == -1 || in->failed) {
    return NULL;
  }
  if (length < 0 || (uint64_t)length >= in->size) {
    in->failed = true;
    return NULL;
  }
  const char *string = take(in, (size_t)length + 1);
  if (string != NULL && string[length] != '\0') {
    in->failed = true;
    return NULL;
  }
  return string;
}

assay_status wire_malformed(void) {
  return status_make(ASSAY_RUNG_CRASHED, NULL, "the process in which the runtime ran sent an answer that is malformed");
}

assay_status wire_get_tensor(struct wire_reader *in, struct arena *arena, struct rung_tensor *out) {
  assay_tensor *tensor = &out->tensor;
  size_t expected = 0;
  int64_t count = 0;
  *out = (struct rung_tensor){.name = wire_get_string(in)};
  tensor->dtype = (assay_dtype)get_count(in, ASSAY_DTYPE_COUNT - 1);
  tensor->rank = (int32_t)get_count(in, ASSAY_RANK_MAX);
  for (int32_t d = 0; d < tensor->rank; d++) {
    tensor->dims[d] = wire_get_int(in);
  }
  tensor->bytes = get_count(in, in->size);
  const char *bytes = take(in, tensor->bytes);
  if (in->failed || out->name == NULL || !shape_count(tensor->dims, tensor->rank, &count) ||
      !dtype_bytes(tensor->dtype, count, &expected) || expected != tensor->bytes || tensor->dtype == ASSAY_STRING) {
    in->failed = true;
    return wire_malformed();
  }
  assay_tensor copy;
  TRY(tensor_new_in(arena, tensor->dtype, tensor->dims, tensor->rank, &copy));
  if (copy.bytes > 0) {
    memcpy(copy.data, bytes, copy.bytes);
  }
  *tensor = copy;
  return status_ok();
}

void wire_put_tensors(struct text *out, const struct rung_tensor *tensors, int32_t count) {
  wire_put_int(out, count);
  for (int32_t i = 0; i < count; i++) {
    wire_put_tensor(out, tensors[i].name, &tensors[i].tensor);
  }
}

assay_status wire_get_tensors(struct wire_reader *in, struct arena *arena, const struct rung_tensor **out,
                              int32_t *count) {
  int64_t n = wire_get_int(in);
  struct rung_tensor *tensors;
  if (in->failed || n < 0 || n > INT32_MAX || (uint64_t)n > in->size) {
    return wire_malformed();
  }
  ARENA_NEW(arena, tensors, n + 1);
  for (int64_t i = 0; i < n; i++) {
    TRY(wire_get_tensor(in, arena, &tensors[i]));
  }
  *out = tensors;
  *count = (int32_t)n;
  return status_ok();
}

static assay_status get_copy(struct wire_reader *in, struct arena *arena, const char **out) {
  const char *string = wire_get_string(in);
  *out = NULL;
  if (string == NULL) {
    return status_ok();
  }
  *out = rung_word(arena, string);
  return *out != NULL ? status_ok() : status_no_memory(strlen(string));
}

assay_status wire_get_actual(struct wire_reader *in, struct arena *arena, struct rung_actual *out) {
  const char **const strings[] = {&out->engine, &out->version, &out->provider, &out->precision,      &out->accumulator,
                                  &out->device, &out->tf32,    &out->note,     &out->model_precision};
  for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
    TRY(get_copy(in, arena, strings[i]));
  }
  out->threads = (int)wire_get_int(in);
  out->emulated = wire_get_int(in) != 0;
  size_t n_placement = get_count(in, LIST_MAX);
  struct rung_placement *placement;
  ARENA_NEW(arena, placement, n_placement + 1);
  for (size_t i = 0; i < n_placement && !in->failed; i++) {
    TRY(get_copy(in, arena, &placement[i].node));
    TRY(get_copy(in, arena, &placement[i].provider));
    TRY(get_copy(in, arena, &placement[i].precision));
  }
  size_t n_facts = get_count(in, LIST_MAX);
  struct rung_setting *facts;
  ARENA_NEW(arena, facts, n_facts + 1);
  for (size_t i = 0; i < n_facts && !in->failed; i++) {
    TRY(get_copy(in, arena, &facts[i].key));
    TRY(get_copy(in, arena, &facts[i].value));
  }
  out->placement = placement;
  out->n_placement = (int32_t)n_placement;
  out->facts = facts;
  out->n_facts = (int32_t)n_facts;
  return in->failed ? wire_malformed() : status_ok();
}

assay_status wire_get_status(struct wire_reader *in) {
  const char *name = wire_get_string(in), *where = wire_get_string(in), *sentence = wire_get_string(in);
  assay_code code = name != NULL ? assay_code_find(name) : ASSAY_CODE_COUNT;
  if (in->failed || name == NULL || sentence == NULL) {
    return wire_malformed();
  }
  if (code == ASSAY_CODE_COUNT) { /* of another version of assay */
    return status_make(ASSAY_RUNG_FAILED, where, "%s: %s", name, sentence);
  }
  return code == ASSAY_OK ? status_ok() : status_make(code, where, "%s", sentence);
}
