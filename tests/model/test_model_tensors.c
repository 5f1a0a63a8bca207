/* Stored tensors: every element type in every place where ONNX keeps data, and data that lie about
 * their shape. */
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model_builder.h"
#include "support.h"
#include "tensor/tensor.h"

/* TensorProto's members. */
enum { FLOATS = 4, INT32S = 5, STRINGS = 6, INT64S = 7, RAW = 9, DOUBLES = 10, UINT64S = 11 };

/* A model that hands x on and has one initializer "w", which the test goes on to fill. */
static struct proto *with_tensor(assay_dtype dtype, const char *shape, struct proto **tensor) {
  struct proto *model = onnx_model(14, 28), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_node(graph, "Identity", "x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  *tensor = onnx_tensor(graph, "w", dtype, shape);
  return model;
}

static const assay_tensor *weight(const struct model *model) {
  return &graph_initializer(model->graph, graph_find_value(model->graph, "w"))->tensor;
}

static void expect_fault(struct proto *model, assay_code code, const char *part) {
  size_t size;
  uint8_t *bytes = onnx_bytes(model, &size);
  struct model *opened = NULL;
  ASSERT_FAILS(model_parse(bytes, size, NULL, NULL, &opened), code, part);
  assert_null(opened);
  free(bytes);
  proto_free(model);
}

/* --- what is right ----------------------------------------------------------------- */

/* Six elements, stored as integers that int32_data takes for the dtype; raw bytes must read the same. */
static void both_ways_of_storing_give_the_same_bytes(void **state) {
  (void)state;
  static const struct {
    assay_dtype dtype;
    int member;
    int64_t stored[6];
    size_t n; /* numbers stored */
    uint8_t raw[48];
    size_t bytes;
  } cases[] = {
      {ASSAY_UINT8, INT32S, {0, 1, 2, 253, 254, 255}, 6, {0, 1, 2, 253, 254, 255}, 6},
      {ASSAY_INT8, INT32S, {-128, -1, 0, 1, 2, 127}, 6, {128, 255, 0, 1, 2, 127}, 6},
      {ASSAY_BOOL, INT32S, {0, 1, 1, 0, 0, 1}, 6, {0, 1, 1, 0, 0, 1}, 6},
      {ASSAY_INT16, INT32S, {-1, 256, 0, 1, 2, 3}, 6, {255, 255, 0, 1, 0, 0, 1, 0, 2, 0, 3, 0}, 12},
      {ASSAY_UINT16, INT32S, {65535, 256, 0, 1, 2, 3}, 6, {255, 255, 0, 1, 0, 0, 1, 0, 2, 0, 3, 0}, 12},
      {ASSAY_FLOAT16, INT32S, {0x3c00, 0xbc00, 0, 1, 2, 3}, 6, {0, 0x3c, 0, 0xbc, 0, 0, 1, 0, 2, 0, 3, 0}, 12},
      {ASSAY_BFLOAT16, INT32S, {0x3f80, 0xbf80, 0, 1, 2, 3}, 6, {0x80, 0x3f, 0x80, 0xbf, 0, 0, 1, 0, 2, 0, 3, 0}, 12},
      {ASSAY_FLOAT8E4M3FN, INT32S, {1, 2, 3, 4, 5, 255}, 6, {1, 2, 3, 4, 5, 255}, 6},
      {ASSAY_FLOAT8E4M3FNUZ, INT32S, {1, 2, 3, 4, 5, 255}, 6, {1, 2, 3, 4, 5, 255}, 6},
      {ASSAY_FLOAT8E5M2, INT32S, {1, 2, 3, 4, 5, 255}, 6, {1, 2, 3, 4, 5, 255}, 6},
      {ASSAY_FLOAT8E5M2FNUZ, INT32S, {1, 2, 3, 4, 5, 255}, 6, {1, 2, 3, 4, 5, 255}, 6},
      {ASSAY_FLOAT8E8M0, INT32S, {1, 2, 3, 4, 5, 255}, 6, {1, 2, 3, 4, 5, 255}, 6},
      {ASSAY_INT32, INT32S, {-1, 1, 0, 0, 0, 0}, 6, {255, 255, 255, 255, 1}, 24},
      {ASSAY_INT64, INT64S, {-1, 1, 0, 0, 0, 0}, 6, {255, 255, 255, 255, 255, 255, 255, 255, 1}, 48},
      {ASSAY_UINT32, UINT64S, {4294967295, 1, 0, 0, 0, 0}, 6, {255, 255, 255, 255, 1}, 24},
      {ASSAY_UINT64, UINT64S, {-1, 1, 0, 0, 0, 0}, 6, {255, 255, 255, 255, 255, 255, 255, 255, 1}, 48},
      /* Two or four elements in each byte, the first in the low bits. */
      {ASSAY_UINT4, INT32S, {0x21, 0x43, 0x65}, 3, {0x21, 0x43, 0x65}, 3},
      {ASSAY_INT4, INT32S, {0x21, -1, 0x65}, 3, {0x21, 0xff, 0x65}, 3},
      {ASSAY_FLOAT4E2M1, INT32S, {0x21, 0x43, 0x65}, 3, {0x21, 0x43, 0x65}, 3},
      {ASSAY_UINT2, INT32S, {0x1b, 0x0e}, 2, {0x1b, 0x0e}, 2},
      {ASSAY_INT2, INT32S, {0x1b, 0x0e}, 2, {0x1b, 0x0e}, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int raw = 0; raw < 2; raw++) {
      struct proto *tensor, *model = with_tensor(cases[i].dtype, "2,3", &tensor);
      if (raw) {
        proto_bytes(tensor, RAW, cases[i].raw, cases[i].bytes);
      } else {
        proto_packed(tensor, cases[i].member, cases[i].stored, cases[i].n);
      }
      struct model *opened = onnx_open(model);
      const assay_tensor *found = weight(opened);
      assert_int_equal(found->dtype, cases[i].dtype);
      assert_int_equal(found->bytes, cases[i].bytes);
      assert_memory_equal(found->data, cases[i].raw, cases[i].bytes);
      model_close(opened);
      proto_free(model);
    }
  }
}

static void floats_doubles_and_complex_numbers_are_read(void **state) {
  (void)state;
  static const float floats[4] = {1.5f, -2, 3, -0.0f};
  static const double doubles[4] = {1.5, -2, 3, -0.0};
  static const struct {
    assay_dtype dtype;
    const char *shape;
    int member;
    const void *data;
    size_t bytes;
  } cases[] = {{ASSAY_FLOAT32, "4", FLOATS, floats, sizeof floats},
               {ASSAY_COMPLEX64, "2", FLOATS, floats, sizeof floats},
               {ASSAY_FLOAT64, "2,2", DOUBLES, doubles, sizeof doubles},
               {ASSAY_COMPLEX128, "2,1", DOUBLES, doubles, sizeof doubles}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct proto *tensor, *model = with_tensor(cases[i].dtype, cases[i].shape, &tensor);
    proto_bytes(tensor, cases[i].member, cases[i].data, cases[i].bytes);
    struct model *opened = onnx_open(model);
    assert_int_equal(weight(opened)->bytes, cases[i].bytes);
    assert_memory_equal(weight(opened)->data, cases[i].data, cases[i].bytes);
    model_close(opened);
    proto_free(model);
  }
}

static void numbers_need_not_be_packed(void **state) {
  (void)state;
  struct proto *tensor, *model = with_tensor(ASSAY_INT64, "3", &tensor);
  proto_int(tensor, INT64S, 7);
  proto_int(tensor, INT64S, -7);
  proto_packed(tensor, INT64S, (const int64_t[]){9}, 1);
  struct model *opened = onnx_open(model);
  assert_int_equal(tensor_get_int(weight(opened), 1), -7);
  assert_int_equal(tensor_get_int(weight(opened), 2), 9);
  model_close(opened);
  proto_free(model);
}

static void strings_keep_their_bytes(void **state) {
  (void)state;
  struct proto *tensor, *model = with_tensor(ASSAY_STRING, "2", &tensor);
  proto_bytes(tensor, STRINGS, "a\0b", 3);
  proto_bytes(tensor, STRINGS, "", 0);
  struct model *opened = onnx_open(model);
  const assay_text *texts = weight(opened)->data;
  assert_int_equal(texts[0].length, 3);
  assert_memory_equal(texts[0].data, "a\0b", 3);
  assert_int_equal(texts[1].length, 0);
  model_close(opened);
  proto_free(model);
}

static void large_data_stay_where_they_are(void **state) {
  (void)state;
  enum { COUNT = 5000 };
  static float values[COUNT];
  for (int i = 0; i < COUNT; i++) {
    values[i] = (float)i;
  }
  for (int member = FLOATS; member <= RAW; member += RAW - FLOATS) {
    struct proto *tensor, *model = with_tensor(ASSAY_FLOAT32, "5000", &tensor);
    proto_bytes(tensor, member, values, sizeof values);
    size_t size;
    uint8_t *bytes = onnx_bytes(model, &size);
    struct model *opened;
    ASSERT_OK(model_parse(bytes, size, NULL, NULL, &opened));
    const uint8_t *data = weight(opened)->data;
    assert_true(data > bytes && data + sizeof values <= bytes + size);
    assert_memory_equal(data, values, sizeof values);
    assert_true(opened->arena.used < sizeof values);
    model_release_pages(opened, weight(opened)); /* not mapped: harmless */
    assert_memory_equal(data, values, sizeof values);
    model_close(opened);
    free(bytes);
    proto_free(model);
  }
}

static void empty_tensors_and_scalars_open(void **state) {
  (void)state;
  struct proto *tensor, *model = with_tensor(ASSAY_FLOAT32, "0,3", &tensor);
  struct model *opened = onnx_open(model);
  assert_int_equal(weight(opened)->bytes, 0);
  model_close(opened);
  proto_free(model);
  model = with_tensor(ASSAY_FLOAT32, "", &tensor);
  proto_float(tensor, FLOATS, 7);
  opened = onnx_open(model);
  assert_int_equal(weight(opened)->rank, 0);
  assert_true(tensor_get(weight(opened), 0) == 7);
  model_close(opened);
  proto_free(model);
}

/* --- tensors that lie ---------------------------------------------------------------- */

static void raw_data_must_fit_the_shape(void **state) {
  (void)state;
  static const uint8_t zeros[8192];
  static const struct {
    const char *shape;
    size_t bytes;
    assay_code code;
  } cases[] = {{"1", 4096, ASSAY_TENSOR_BYTES_LONG},
               {"4", 4, ASSAY_TENSOR_BYTES_SHORT},
               {"1024", 8192, ASSAY_TENSOR_BYTES_LONG},
               {"4096", 8192, ASSAY_TENSOR_BYTES_SHORT},
               {"2", 0, ASSAY_TENSOR_BYTES_SHORT},
               {"0", 4, ASSAY_TENSOR_BYTES_LONG},
               {"-1", 4, ASSAY_TENSOR_DIMS_NEGATIVE},
               {"2,-2", 4, ASSAY_TENSOR_DIMS_NEGATIVE},
               {"4294967296,4294967296,4", 4, ASSAY_TENSOR_DIMS_OVERFLOW},
               {"4611686018427387904", 4, ASSAY_TENSOR_DIMS_OVERFLOW},
               {"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", 4, ASSAY_TENSOR_RANK}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct proto *tensor, *model = with_tensor(ASSAY_FLOAT32, cases[i].shape, &tensor);
    proto_bytes(tensor, RAW, zeros, cases[i].bytes);
    expect_fault(model, cases[i].code, "'w'");
  }
}

static void typed_data_must_fit_the_shape_and_the_type(void **state) {
  (void)state;
  struct proto *tensor, *model = with_tensor(ASSAY_BOOL, "32", &tensor);
  proto_packed(tensor, INT32S, (const int64_t[]){0, 1, 0, 1}, 4);
  expect_fault(model, ASSAY_TENSOR_COUNT_MISMATCH, "'w'");

  model = with_tensor(ASSAY_INT64, "1", &tensor);
  proto_packed(tensor, INT64S, (const int64_t[]){1, 2}, 2);
  expect_fault(model, ASSAY_TENSOR_COUNT_MISMATCH, "'w'");

  model = with_tensor(ASSAY_FLOAT32, "1", &tensor);
  proto_packed(tensor, INT64S, (const int64_t[]){1}, 1);
  expect_fault(model, ASSAY_TENSOR_DATA_KIND, "float_data");

  model = with_tensor(ASSAY_STRING, "1", &tensor);
  proto_bytes(tensor, RAW, "text", 4);
  expect_fault(model, ASSAY_TENSOR_DATA_KIND, "string_data");

  model = with_tensor(ASSAY_FLOAT32, "2", &tensor);
  expect_fault(model, ASSAY_TENSOR_BYTES_SHORT, "0 are there");

  model = with_tensor(ASSAY_FLOAT32, "1", &tensor);
  proto_float(tensor, FLOATS, 1);
  proto_bytes(tensor, RAW, "\0\0\0\0", 4);
  expect_fault(model, ASSAY_TENSOR_DATA_TWICE, "'w'");

  model = with_tensor(ASSAY_UNDEFINED, "1", &tensor);
  proto_bytes(tensor, RAW, "\0\0\0\0", 4);
  expect_fault(model, ASSAY_TENSOR_TYPE_UNSUPPORTED, "'w'");

  model = with_tensor((assay_dtype)99, "1", &tensor);
  proto_bytes(tensor, RAW, "\0\0\0\0", 4);
  expect_fault(model, ASSAY_TENSOR_TYPE_UNSUPPORTED, "99");

  model = with_tensor(ASSAY_FLOAT32, "1", &tensor);
  proto_bytes(tensor, RAW, "\0\0\0\0", 4);
  proto_child(tensor, 3);
  expect_fault(model, ASSAY_TENSOR_SEGMENTED, "'w'");

  model = with_tensor(ASSAY_FLOAT32, "1", &tensor);
  proto_bytes(tensor, RAW, "\0\0\0\0", 4);
  proto_int(tensor, 14, 7);
  expect_fault(model, ASSAY_TENSOR_DATA_KIND, "7");
}

static void stored_elements_must_fit_their_type(void **state) {
  (void)state;
  static const struct {
    assay_dtype dtype;
    int member;
    int64_t value;
  } cases[] = {{ASSAY_UINT8, INT32S, 256},    {ASSAY_UINT8, INT32S, -1},
               {ASSAY_INT8, INT32S, 128},     {ASSAY_INT16, INT32S, 32768},
               {ASSAY_UINT16, INT32S, 65536}, {ASSAY_FLOAT16, INT32S, -1},
               {ASSAY_BOOL, INT32S, 2},       {ASSAY_FLOAT8E5M2, INT32S, 256},
               {ASSAY_UINT4, INT32S, 256},    {ASSAY_UINT32, UINT64S, 4294967296}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct proto *tensor, *model = with_tensor(cases[i].dtype, "1", &tensor);
    proto_packed(tensor, cases[i].member, &cases[i].value, 1);
    expect_fault(model, ASSAY_TENSOR_VALUE_RANGE, "'w'");
  }
  struct proto *tensor, *model = with_tensor(ASSAY_BOOL, "2", &tensor);
  proto_bytes(tensor, RAW, "\1\2", 2);
  expect_fault(model, ASSAY_TENSOR_VALUE_RANGE, "a bool is 0 or 1");
}

static void attributes_hold_tensors_by_the_same_rules(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  struct proto *node = onnx_node(graph, "Constant", "", "y");
  onnx_tensor_attribute(node, "value", ASSAY_FLOAT32, "2", (const float[]){1, 2});
  onnx_output(graph, "y", ASSAY_FLOAT32, "2");
  struct model *opened = onnx_open(model);
  const struct attribute *value = node_attribute(&opened->graph->nodes[0], "value");
  assert_int_equal(value->kind, ATTRIBUTE_TENSOR);
  assert_true(tensor_get(&value->tensors[0], 1) == 2);
  model_close(opened);
  proto_free(model);

  model = onnx_model(8, 17);
  graph = onnx_graph(model);
  struct proto *attribute = proto_child(onnx_node(graph, "Constant", "", "y"), 5);
  proto_string(attribute, 1, "value");
  proto_int(attribute, 20, ATTRIBUTE_TENSOR);
  struct proto *tensor = proto_child(attribute, 5);
  proto_int(tensor, 1, 3);
  proto_int(tensor, 2, ASSAY_FLOAT32);
  proto_bytes(tensor, RAW, "\0\0\0\0", 4);
  onnx_output(graph, "y", ASSAY_FLOAT32, "2");
  expect_fault(model, ASSAY_TENSOR_BYTES_SHORT, "value of node Constant_0");
}

static void sparse_tensors_are_refused_by_name(void **state) {
  (void)state;
  struct proto *tensor, *model = with_tensor(ASSAY_FLOAT32, "0", &tensor);
  struct proto *values = proto_child(proto_child(onnx_graph(model), 15), 1);
  proto_string(values, 8, "thin");
  expect_fault(model, ASSAY_SPARSE_UNSUPPORTED, "'thin'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_ways_of_storing_give_the_same_bytes),
      cmocka_unit_test(floats_doubles_and_complex_numbers_are_read),
      cmocka_unit_test(numbers_need_not_be_packed),
      cmocka_unit_test(strings_keep_their_bytes),
      cmocka_unit_test(large_data_stay_where_they_are),
      cmocka_unit_test(empty_tensors_and_scalars_open),
      cmocka_unit_test(raw_data_must_fit_the_shape),
      cmocka_unit_test(typed_data_must_fit_the_shape_and_the_type),
      cmocka_unit_test(stored_elements_must_fit_their_type),
      cmocka_unit_test(attributes_hold_tensors_by_the_same_rules),
      cmocka_unit_test(sparse_tensors_are_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
