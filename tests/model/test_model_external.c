/* External data: read where they belong, refused where they escape. No byte of an outside file is read. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "model/model.h"
#include "model_builder.h"
#include "support.h"
#include "tensor/tensor.h"

static char folder[64]; /* holds secret.bin and the model's folder "m" */

static const char *path_of(const char *name) {
  static char path[2][160];
  static int turn;
  turn = !turn;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static int make_folder(void **state) {
  (void)state;
  static const float seven = 7;
  strcpy(folder, "/tmp/assay-external-XXXXXX");
  if (mkdtemp(folder) == NULL) {
    return -1;
  }
  ASSERT_OK(folder_make(path_of("m/sub")));
  ASSERT_OK(file_replace(path_of("secret.bin"), &seven, sizeof seven));
  ASSERT_OK(file_replace(path_of("m/w.bin"), &seven, sizeof seven));
  ASSERT_OK(file_replace(path_of("m/sub/w.bin"), &seven, sizeof seven));
  ASSERT_OK(file_replace(path_of("m/empty.bin"), "", 0));
  int failed = symlink("../secret.bin", path_of("m/link.bin"));
  failed |= symlink("..", path_of("m/up"));
  failed |= symlink("w.bin", path_of("m/inside.bin"));
  failed |= mkfifo(path_of("m/fifo.bin"), 0600);
  return failed;
}

static int drop_folder(void **state) {
  (void)state;
  ASSERT_OK(folder_remove(folder));
  return 0;
}

static struct proto *with_external(const char *shape, const char *location, const char *offset, const char *length) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_external(graph, "w", ASSAY_FLOAT32, shape, location, offset, length);
  onnx_node(graph, "Identity", "w", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, shape);
  return model;
}

static void data_beside_the_model_are_read(void **state) {
  (void)state;
  static const struct {
    const char *location, *offset, *length;
  } cases[] = {{"w.bin", NULL, NULL},
               {"w.bin", "0", "4"},
               {"sub/w.bin", "0", NULL},
               {"./w.bin", "0", "4"},
               {"inside.bin", NULL, "4"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct proto *proto = with_external("1", cases[i].location, cases[i].offset, cases[i].length);
    onnx_external(onnx_graph(proto), "again", ASSAY_FLOAT32, "1", cases[i].location, NULL, NULL);
    onnx_write(proto, path_of("m/model.onnx"));
    struct model *model;
    ASSERT_OK(model_open(path_of("m/model.onnx"), NULL, &model));
    const struct initializer *w = graph_initializer(model->graph, graph_find_value(model->graph, "w"));
    assert_true(tensor_get(&w->tensor, 0) == 7);
    assert_string_equal(w->external_location, cases[i].location);
    assert_int_equal(model->n_external, 1); /* one mapping for both tensors */
    model_release_pages(model, &w->tensor);
    assert_true(tensor_get(&w->tensor, 0) == 7);
    model_close(model);
    proto_free(proto);
  }
}

static void each_way_to_escape_has_its_code(void **state) {
  (void)state;
  static const struct {
    const char *shape, *location, *offset, *length;
    assay_code code;
  } cases[] = {{"1", "../secret.bin", NULL, NULL, ASSAY_EXTERNAL_ESCAPES},
               {"1", "sub/../../secret.bin", NULL, NULL, ASSAY_EXTERNAL_ESCAPES},
               {"1", "..", NULL, NULL, ASSAY_EXTERNAL_ESCAPES},
               {"1", "/etc/hostname", NULL, NULL, ASSAY_EXTERNAL_ABSOLUTE},
               {"1", "C:\\secret.bin", NULL, NULL, ASSAY_EXTERNAL_ABSOLUTE},
               {"1", "link.bin", NULL, NULL, ASSAY_EXTERNAL_LINK},
               {"1", "up/secret.bin", NULL, NULL, ASSAY_EXTERNAL_LINK},
               {"1", "nowhere.bin", NULL, NULL, ASSAY_EXTERNAL_MISSING},
               {"1", "sub", NULL, NULL, ASSAY_EXTERNAL_MISSING},
               {"1", "fifo.bin", NULL, NULL, ASSAY_EXTERNAL_MISSING},
               {"1", "", NULL, NULL, ASSAY_EXTERNAL_LOCATION},
               {"1", NULL, "0", "4", ASSAY_EXTERNAL_LOCATION},
               {"1", "w.bin", "-4", NULL, ASSAY_EXTERNAL_OFFSET},
               {"1", "w.bin", "5", NULL, ASSAY_EXTERNAL_OFFSET},
               {"1", "w.bin", "x", NULL, ASSAY_EXTERNAL_OFFSET},
               {"1", "w.bin", "99999999999999999999", NULL, ASSAY_EXTERNAL_OFFSET},
               {"1", "w.bin", "0", "0", ASSAY_EXTERNAL_LENGTH},
               {"1", "w.bin", "0", "-1", ASSAY_EXTERNAL_LENGTH},
               {"1", "w.bin", "0", "four", ASSAY_EXTERNAL_LENGTH},
               {"100", "w.bin", "0", "400", ASSAY_EXTERNAL_BEYOND_END},
               {"100", "w.bin", "0", NULL, ASSAY_EXTERNAL_BEYOND_END},
               {"1", "empty.bin", NULL, NULL, ASSAY_EXTERNAL_BEYOND_END},
               {"1", "w.bin", "1", NULL, ASSAY_EXTERNAL_BEYOND_END},
               {"1", "w.bin", "0", "3", ASSAY_TENSOR_BYTES_SHORT},
               {"0", "w.bin", "0", "4", ASSAY_TENSOR_BYTES_LONG}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct proto *proto = with_external(cases[i].shape, cases[i].location, cases[i].offset, cases[i].length);
    onnx_write(proto, path_of("m/model.onnx"));
    struct model *model;
    ASSERT_FAILS(model_open(path_of("m/model.onnx"), NULL, &model), cases[i].code, "'w'");
    proto_free(proto);
  }
}

static void data_in_two_places_are_refused(void **state) {
  (void)state;
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  struct proto *tensor = onnx_external(graph, "w", ASSAY_FLOAT32, "1", "w.bin", NULL, NULL);
  proto_float(tensor, 4, 1);
  onnx_node(graph, "Identity", "w", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  onnx_write(proto, path_of("m/model.onnx"));
  struct model *model;
  ASSERT_FAILS(model_open(path_of("m/model.onnx"), NULL, &model), ASSAY_TENSOR_DATA_TWICE, "'w'");
  proto_free(proto);
}

static void bytes_without_a_place_have_no_external_data(void **state) {
  (void)state;
  struct proto *proto = with_external("1", "w.bin", NULL, NULL);
  size_t size;
  uint8_t *bytes = onnx_bytes(proto, &size);
  struct model *model;
  ASSERT_FAILS(model_parse(bytes, size, NULL, NULL, &model), ASSAY_EXTERNAL_NO_FOLDER, "'w'");
  free(bytes);
  proto_free(proto);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(data_beside_the_model_are_read),
      cmocka_unit_test(each_way_to_escape_has_its_code),
      cmocka_unit_test(data_in_two_places_are_refused),
      cmocka_unit_test(bytes_without_a_place_have_no_external_data),
  };
  return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
