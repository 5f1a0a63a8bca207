/* Models that mean harm: cut, flipped, nested, inflated, or made while memory runs out. None may crash, hang,
 * or take memory out of proportion. */
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "model/model.h"
#include "model/schema.h"
#include "model/summary.h"
#include "model_builder.h"
#include "support.h"

/* A little of everything that a parser has to walk through; a weight that stays in the file, if wanted. */
static uint8_t *small_model(bool with_weight, size_t *size) {
  struct proto *model = onnx_model(10, 21);
  static const float big[1100] = {1};
  onnx_opset(model, "mine", 1);
  onnx_metadata(model, "key", "value");
  struct proto *function = onnx_function(model, "mine", "F", "a,b", "c");
  onnx_function_opset(function, "", 20);
  onnx_function_attribute(function, "alpha");
  onnx_function_default(function, "axis", 1);
  onnx_reference(onnx_node(function, "Elu", "a", "t"), "alpha", "alpha", ATTRIBUTE_FLOAT);
  onnx_node(function, "Add", "t,b", "c");
  struct proto *graph = onnx_graph(model); /* last, so that no cut leaves a whole model */
  onnx_input(graph, "x", ASSAY_FLOAT32, "batch,3");
  onnx_input(graph, "cond", ASSAY_BOOL, "");
  if (with_weight) {
    onnx_raw(graph, "w", ASSAY_FLOAT32, "1100", big, sizeof big);
  }
  proto_packed(onnx_tensor(graph, "i", ASSAY_INT64, "2"), 7, (const int64_t[]){1, 300}, 2);
  proto_string(onnx_tensor(graph, "s", ASSAY_STRING, "1"), 6, "grip");
  onnx_float(onnx_node_of(graph, "mine", "F", "call", "x,x", "u"), "alpha", 0.5f);
  struct proto *branch = onnx_node(graph, "If", "cond", "v");
  for (int i = 0; i < 2; i++) {
    struct proto *inner = onnx_graph_attribute(branch, i == 0 ? "then_branch" : "else_branch");
    onnx_node(inner, i == 0 ? "Neg" : "Abs", "u", i == 0 ? "t" : "e");
    onnx_output(inner, i == 0 ? "t" : "e", ASSAY_FLOAT32, NULL);
  }
  onnx_ints(onnx_node(graph, "Transpose", "v", "y"), "perm", (const int64_t[]){1, 0}, 2);
  onnx_output(graph, "y", ASSAY_FLOAT32, "3,batch");
  uint8_t *bytes = onnx_bytes(model, size);
  proto_free(model);
  return bytes;
}

/* Opens, and goes through what follows opening; answers what opening said. */
static assay_code try_model(const uint8_t *bytes, size_t size) {
  struct model *model, *flat;
  assay_status status = model_parse(bytes, size, NULL, NULL, &model);
  assay_code code = status.code;
  if (!assay_status_ok(status)) {
    assert_null(model);
    assert_true(assay_status_sentence(status)[0] != '\0');
    assay_status_clear(&status);
    return code;
  }
  status = model_inline(model, &flat);
  if (assay_status_ok(status)) {
    char digest[GRAPH_DIGEST_SIZE];
    status = model_digest(flat, digest);
    model_close(flat);
  }
  assay_status_clear(&status);
  model_close(model);
  return code;
}

static void a_model_cut_at_any_byte_is_refused(void **state) {
  (void)state;
  size_t size;
  uint8_t *whole = small_model(true, &size);
  assert_int_equal(try_model(whole, size), ASSAY_OK);
  for (size_t cut = 0; cut < size; cut++) {
    uint8_t *part = malloc(cut + 1); /* of its own, so that a read past the end is seen */
    assert_non_null(part);
    memcpy(part, whole, cut);
    assay_code code = try_model(part, cut);
    if (code == ASSAY_OK) {
      print_error("cut at byte %zu of %zu, the model opened\n", cut, size);
      fail();
    }
    free(part);
  }
  free(whole);
}

/* xorshift; the seed is part of the test. */
static uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static void flipped_bits_are_survived(void **state) {
  (void)state;
  enum { ROUNDS = 4000 };
  size_t size;
  uint8_t *whole = small_model(false, &size), *copy = malloc(size);
  uint32_t random = 20260112;
  int opened = 0;
  assert_non_null(copy);
  for (int round = 0; round < ROUNDS; round++) {
    memcpy(copy, whole, size);
    for (uint32_t flips = 1 + next_random(&random) % 4; flips > 0; flips--) {
      size_t at = next_random(&random) % size;
      copy[at] ^= (uint8_t)(1u << next_random(&random) % 8);
    }
    opened += try_model(copy, size) == ASSAY_OK;
  }
  assert_in_range(opened, ROUNDS / 100, ROUNDS / 2); /* a flip in a name or a number leaves a model */
  free(copy);
  free(whole);
}

/* Everything from opening to writing; `argument` is the bytes. */
struct bytes {
  const uint8_t *data;
  size_t size;
};

/* Operators that say nothing. */
static assay_status find_silent(const void *user, const struct node *node, const struct schema **out) {
  static const struct schema silent = {NULL};
  (void)user;
  (void)node;
  *out = &silent;
  return status_ok();
}

static assay_status use_model(const struct model *model, const struct model *flat) {
  static const struct schema_source source = {.find = find_silent};
  char digest[GRAPH_DIGEST_SIZE];
  struct arena arena = {0};
  struct shapes shapes;
  struct model_summary summary;
  TRY(model_digest(model, digest));
  assay_status status = shapes_infer(flat->graph, &source, NULL, &arena, &shapes);
  if (assay_status_ok(status)) {
    status = model_summarize(flat, 2, &arena, &summary);
  }
  arena_free(&arena);
  return status;
}

static assay_status open_and_use(void *argument) {
  const struct bytes *bytes = argument;
  struct model *model, *flat;
  TRY(model_parse(bytes->data, bytes->size, NULL, NULL, &model));
  assay_status status = model_inline(model, &flat);
  if (assay_status_ok(status)) {
    status = use_model(model, flat);
    model_close(flat);
  }
  model_close(model);
  return status;
}

static void each_allocation_may_fail(void **state) {
  (void)state;
  size_t size;
  uint8_t *data = small_model(true, &size);
  struct bytes bytes = {data, size};
  fail_every_allocation(open_and_use, &bytes);
  free(data);
}

/* --- inflation ----------------------------------------------------------------------- */

static void expect_bytes(const uint8_t *bytes, size_t size, assay_code code, const char *part) {
  struct model *model;
  ASSERT_FAILS(model_parse(bytes, size, NULL, NULL, &model), code, part);
}

static void expect(struct proto *proto, assay_code code, const char *part) {
  size_t size;
  uint8_t *bytes = onnx_bytes(proto, &size);
  expect_bytes(bytes, size, code, part);
  free(bytes);
  proto_free(proto);
}

/* A graph of `n` copies of a node's bytes. */
static struct proto *many_nodes(const char *node, size_t length, size_t n) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  char *all = malloc(length * n);
  assert_non_null(all);
  for (size_t i = 0; i < n; i++) {
    memcpy(all + i * length, node, length);
  }
  proto_wire(graph, all, length * n);
  free(all);
  return model;
}

static void ten_megabytes_of_nodes_take_no_gigabyte(void **state) {
  (void)state;
  expect(many_nodes("\x0a\x00", 2, 5000000), ASSAY_NODE_NO_OPERATOR, "no op_type");
  expect(many_nodes("\x0a\x03\x22\x01N", 5, 2000000), ASSAY_LIMIT_EXCEEDED, "memory");
  expect(many_nodes("\x0a\x06\x12\x01u\x22\x01N", 8, 1250000), ASSAY_LIMIT_EXCEEDED, "memory");
  expect(many_nodes("\x2a\x00", 2, 5000000), ASSAY_LIMIT_EXCEEDED, "memory"); /* empty tensors */
  expect(many_nodes("\x6a\x00", 2, 5000000), ASSAY_LIMIT_EXCEEDED, "memory"); /* empty value_infos */
}

static void limits_can_be_set(void **state) {
  (void)state;
  size_t size;
  uint8_t *bytes = small_model(true, &size);
  struct model *model;
  struct model_options options = {.max_bytes = 4000};
  ASSERT_FAILS(model_parse(bytes, size, NULL, &options, &model), ASSAY_LIMIT_EXCEEDED, "4000");
  options = (struct model_options){.max_depth = 3};
  ASSERT_FAILS(model_parse(bytes, size, NULL, &options, &model), ASSAY_LIMIT_EXCEEDED, "nested");
  free(bytes);
}

/* Graphs in attributes in nodes in graphs. */
static struct proto *nested(int levels) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  for (int i = 0; i < levels; i++) {
    char name[16];
    snprintf(name, sizeof name, "y%d", i);
    struct proto *node = onnx_node(graph, "Body", "x", name);
    onnx_output(graph, name, ASSAY_FLOAT32, "1");
    graph = onnx_graph_attribute(node, "body");
  }
  onnx_node(graph, "Neg", "x", "z");
  onnx_output(graph, "z", ASSAY_FLOAT32, "1");
  return model;
}

static void nesting_is_bounded(void **state) {
  (void)state;
  struct proto *proto = nested(20);
  struct model *model = onnx_open(proto);
  model_close(model);
  proto_free(proto);
  expect(nested(40), ASSAY_LIMIT_EXCEEDED, "nested");
  expect(nested(2000), ASSAY_LIMIT_EXCEEDED, "nested");
  /* Types nest, too: a sequence of a sequence of ... */
  proto = onnx_model(8, 17);
  struct proto *value = proto_child(onnx_graph(proto), 11);
  proto_string(value, 1, "x");
  struct proto *type = proto_child(value, 2);
  for (int i = 0; i < 1000; i++) {
    type = proto_child(proto_child(type, 4), 1);
  }
  expect(proto, ASSAY_LIMIT_EXCEEDED, "nested");
}

/* --- wire faults ------------------------------------------------------------------------ */

static void malformed_bytes_are_told_by_their_place(void **state) {
  (void)state;
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
  expect_bytes(BYTES(""), ASSAY_MODEL_TRUNCATED, "empty");
  expect_bytes(BYTES("\x08"), ASSAY_MODEL_TRUNCATED, "byte 0");
  expect_bytes(BYTES("\x08\x08\x3a"), ASSAY_MODEL_TRUNCATED, "begins at byte 2");
  expect_bytes(BYTES("\x08\x08\x3a\x05\x0a"), ASSAY_MODEL_TRUNCATED, "begins at byte 2");
  expect_bytes(BYTES("\x08\x08\x3a\x02\x0a\x05\x12\x00"), ASSAY_MODEL_INVALID, "beyond the message");
  expect_bytes(BYTES("\x08\x08\x08\x08"), ASSAY_MODEL_INVALID, "twice");
  expect_bytes(BYTES("\x08\x08\x3a\x00\x3a\x00"), ASSAY_MODEL_INVALID, "byte 4");
  expect_bytes(BYTES("\x08\x08\x38\x01"), ASSAY_MODEL_INVALID, "wire type");
  expect_bytes(BYTES("\x08\x08\x3b\x3c"), ASSAY_MODEL_INVALID, "groups");
  expect_bytes(BYTES("\x08\x08\x00\x00"), ASSAY_MODEL_INVALID, "no field");
  expect_bytes(BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), ASSAY_MODEL_INVALID, "64 bits");
  expect_bytes(BYTES("\x3a\x00"), ASSAY_MODEL_VERSION, "no IR version");
  expect_bytes(BYTES("\x08\x0f"), ASSAY_MODEL_VERSION, "15");
  expect_bytes(BYTES("PK\x03\x04zip"), ASSAY_MODEL_INVALID, "ZIP");
  expect_bytes(BYTES("version https://git-lfs.github.com/spec/v1"), ASSAY_MODEL_INVALID, "LFS");
#undef BYTES
}

static void names_are_text(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17);
  proto_bytes(onnx_node(onnx_graph(model), "Neg", "x", "y"), 3, "a\0b", 3);
  expect(model, ASSAY_NAME_INVALID, "zero byte");
  model = onnx_model(8, 17);
  proto_bytes(onnx_node(onnx_graph(model), "Neg", "x", "y"), 3, "\xff\xfe", 2);
  expect(model, ASSAY_NAME_INVALID, "UTF-8");
}

static void unknown_fields_are_passed_over_with_a_note(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  proto_string(onnx_node(graph, "Neg", "x", "y"), 777, "news");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  proto_int(onnx_raw(graph, "w", ASSAY_FLOAT32, "1", "\0\0\0\0", 4), 1000, 1); /* the scan's own field */
  proto_child(model, 20);
  struct model *opened = onnx_open(model);
  assert_int_equal(model_warning_count(opened), 2);
  assert_int_equal(model_warning_at(opened, 0)->code, ASSAY_MODEL_TRAINING_IGNORED);
  assert_int_equal(model_warning_at(opened, 1)->code, ASSAY_MODEL_UNKNOWN_FIELDS);
  model_close(opened);
  proto_free(model);
}

static void versions_and_imports_are_checked(void **state) {
  (void)state;
  struct proto *model = onnx_model(15, 17);
  onnx_graph(model);
  expect(model, ASSAY_MODEL_VERSION, "1 to 14");
  model = onnx_model(14, 29);
  onnx_node(onnx_graph(model), "Neg", "x", "y");
  expect(model, ASSAY_OPSET_UNSUPPORTED, "1 to 28");
  model = onnx_model(8, 0);
  onnx_node(onnx_graph(model), "Neg", "x", "y");
  expect(model, ASSAY_OPSET_MISSING, "imports no operator set");
  model = onnx_model(8, 17);
  expect(model, ASSAY_GRAPH_EMPTY, "no graph");
  model = onnx_model(8, 17);
  onnx_graph(model);
  expect(model, ASSAY_GRAPH_EMPTY, "neither nodes nor outputs");
  model = onnx_model(8, 17);
  onnx_node(onnx_graph(model), "Neg", "", "y");
  expect(model, ASSAY_GRAPH_NO_OUTPUTS, "no outputs");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_model_cut_at_any_byte_is_refused),
      cmocka_unit_test(flipped_bits_are_survived),
      cmocka_unit_test(each_allocation_may_fail),
      cmocka_unit_test(ten_megabytes_of_nodes_take_no_gigabyte),
      cmocka_unit_test(limits_can_be_set),
      cmocka_unit_test(nesting_is_bounded),
      cmocka_unit_test(malformed_bytes_are_told_by_their_place),
      cmocka_unit_test(names_are_text),
      cmocka_unit_test(unknown_fields_are_passed_over_with_a_note),
      cmocka_unit_test(versions_and_imports_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
