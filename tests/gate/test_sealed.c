/* The sealed set: run once and on record, closed to everything else, and without overlap with what the policy was
 * judged by. */
#include <math.h>
#include <string.h>

#include "contract/sealed_path.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"
#include "corpus/corpus_write.h"
#include "corpus/image_print.h"
#include "corpus/sealed_register.h"
#include "policy_builder.h"
#include "support.h"

static const float golden_rows[2][3] = {{0.1F, 0.2F, 0.9F}, {0.3F, 0.4F, 0.1F}};
static const float sealed_rows[2][3] = {{0.15F, 0.25F, 0.8F}, {0.35F, 0.45F, 0.2F}};

static void put_corpus(const char *folder, const char *name, enum corpus_role role, const float (*rows)[3], int n) {
  struct corpus_builder *builder = build_corpus(temp_path(folder, name), role);
  for (int i = 0; i < n; i++) {
    char id[16];
    snprintf(id, sizeof id, "c%d", i);
    build_f32(builder, "inputs/obs", "1,3", rows[i]);
    build_f32(builder, "outputs/action", "1,3", rows[i]);
    build_case(builder, &(struct corpus_case){.id = id});
  }
  build_done(builder);
}

static char *sealed_policy(void) {
  char *folder = policy_folder();
  struct text gate = {0};
  policy_golden(folder, golden_rows, 2);
  put_corpus(folder, "sealed", CORPUS_SEALED, sealed_rows, 2);
  text_format(&gate, "%ssealed: sealed\n", policy_gate);
  temp_write(folder, "gate.yaml", text_string(&gate));
  text_free(&gate);
  return folder;
}

static assay_status look(const char *folder, const char *reason, struct gate_result **out) {
  const struct gate_final final = {.again = reason != NULL, .reason = reason};
  return gate_run(&(struct gate_options){.folder = folder, .final = &final}, out);
}

static void the_first_look_is_on_record(void **state) {
  (void)state;
  char *folder = sealed_policy();
  struct gate_result *result;
  ASSERT_OK(look(folder, NULL, &result));
  expect_verdict(result, VERDICT_PASS, 0);
  assert_int_equal(result->ledger.n_looks, 1);
  assert_null(result->ledger.looks[0].verdict); /* it is on record before it is taken */
  assert_int_equal(result->n_cases, 2);
  bool frozen = false;
  for (int32_t i = 0; i < result->n_files; i++) {
    frozen |= strcmp(result->files[i].role, "sealed") == 0;
  }
  assert_true(frozen);
  gate_result_free(result);
  /* Every later report tells of it. */
  ASSERT_OK(gate_run(&(struct gate_options){.folder = folder, .ledger = LEDGER_KEEP}, &result));
  assert_int_equal(result->ledger.n_looks, 1);
  assert_string_equal(result->ledger.looks[0].verdict, "PASS");
  assert_int_equal(result->ledger.n_changes, 0); /* sealed cases are no golden ones that were dropped */
  gate_result_free(result);
  temp_free(folder);
}

static void a_second_look_must_be_asked_for(void **state) {
  (void)state;
  char *folder = sealed_policy();
  struct gate_result *result;
  ASSERT_OK(look(folder, NULL, &result));
  gate_result_free(result);
  ASSERT_FAILS(look(folder, NULL, &result), ASSAY_SEALED_LOOKED, "changed since then: nothing");
  policy_model(folder, "policy.onnx", (const float[]){1, 1, 1}, (const float[]){0.0001F, 0, 0});
  ASSERT_FAILS(look(folder, NULL, &result), ASSAY_SEALED_LOOKED, "changed since then: model policy.onnx;");
  ASSERT_OK(look(folder, "the export was repaired", &result));
  assert_int_equal(result->ledger.n_looks, 2);
  assert_string_equal(result->ledger.looks[1].reason, "the export was repaired");
  assert_int_equal(gate_reasons(result, ASSAY_SEALED_AGAIN), 1);
  assert_int_equal(result->verdict, VERDICT_PASS);
  gate_result_free(result);
  temp_free(folder);
}

/* Without a record there is no look; a gate without a sealed set, or with another corpus as one, has none. */
static void a_look_without_a_record_is_refused(void **state) {
  (void)state;
  char *folder = sealed_policy();
  struct gate_result *result;
  temp_write(folder, "ledger", "not a folder");
  ASSERT_FAILS(look(folder, NULL, &result), ASSAY_LEDGER_BROKEN, "something other than a folder");
  temp_write(folder, "gate.yaml", policy_gate);
  ASSERT_FAILS(look(folder, NULL, &result), ASSAY_GATE_INVALID, "names no sealed set");
  struct text gate = {0};
  text_format(&gate, "%ssealed: golden\n", policy_gate);
  temp_write(folder, "gate.yaml", text_string(&gate));
  text_free(&gate);
  ASSERT_FAILS(look(folder, NULL, &result), ASSAY_CORPUS_ROLE, "has the role golden");
  temp_free(folder);
}

static void seal(const char *folder) {
  struct corpus *corpus;
  struct sealed_register *sealed;
  ASSERT_OK(corpus_open_sealed(temp_path(folder, "sealed"), &corpus));
  ASSERT_OK(sealed_register_new(&sealed));
  for (int32_t i = 0; i < corpus->n_cases; i++) {
    struct case_data *data;
    ASSERT_OK(case_load(corpus, i, &data));
    ASSERT_OK(sealed_register_add(sealed, &corpus->cases[i], data));
    case_data_free(data);
  }
  ASSERT_OK(sealed_register_name(sealed, corpus));
  ASSERT_OK(sealed_register_write(sealed, temp_path(folder, "sealed.json")));
  sealed_register_free(sealed);
  corpus_close(corpus);
}

/* The register alone is enough: the sealed data need not be there. */
static void overlap_is_refused_by_the_register(void **state) {
  (void)state;
  static const float overlapping[2][3] = {{0.1F, 0.2F, 0.9F}, {0.35F, 0.45F, 0.2F}};
  char *folder = sealed_policy();
  struct gate_result *result;
  seal(folder);
  ASSERT_OK(folder_remove(temp_path(folder, "sealed")));
  ASSERT_OK(gate_run(&(struct gate_options){.folder = folder}, &result)); /* nothing in common */
  expect_verdict(result, VERDICT_PASS, 0);
  gate_result_free(result);
  ASSERT_OK(folder_remove(temp_path(folder, "golden")));
  ASSERT_OK(file_replace(temp_path(folder, "kept"), "", 0));
  struct corpus_editor *editor;
  ASSERT_OK(corpus_new(temp_path(folder, "calibration"), &(struct corpus_head){.role = CORPUS_CALIBRATION}));
  ASSERT_OK(corpus_edit(temp_path(folder, "calibration"), &editor));
  assay_tensor obs = test_tensor(ASSAY_FLOAT32, "1,3", overlapping[1]);
  ASSERT_FAILS(corpus_edit_add(editor, &(struct corpus_case){.id = "same"}, &(struct npz_entry){"inputs/obs", &obs}, 1),
               ASSAY_SEALED_OVERLAP, "case 'same' overlaps");
  tensor_free(&obs);
  corpus_edit_abandon(editor);
  /* A corpus that stood there before the register did is found by verify. */
  ASSERT_OK(folder_make(temp_path(folder, "elsewhere")));
  put_corpus(folder, "elsewhere/golden", CORPUS_GOLDEN, overlapping, 2);
  struct text gate = {0};
  text_add(&gate,
           "assay: 1\ncontract: contract.yaml\ncorpus: elsewhere/golden\nrungs:\n  - {name: fp32, engine: assay}\n");
  temp_write(folder, "gate.yaml", text_string(&gate));
  text_free(&gate);
  ASSERT_FAILS(gate_run(&(struct gate_options){.folder = folder}, &result), ASSAY_SEALED_OVERLAP, "case 'c1' overlaps");
  temp_free(folder);
}

/* Final finds the overlap by the data itself, before anything is on record. */
static void final_refuses_overlap(void **state) {
  (void)state;
  char *folder = sealed_policy();
  struct gate_result *result;
  ASSERT_OK(folder_remove(temp_path(folder, "sealed")));
  put_corpus(folder, "sealed", CORPUS_SEALED, golden_rows, 1);
  ASSERT_FAILS(look(folder, NULL, &result), ASSAY_SEALED_OVERLAP, "case 'c0' overlaps");
  assert_false(file_exists(temp_path(folder, "ledger")));
  temp_free(folder);
}

static void a_sealed_corpus_is_closed_to_the_rest(void **state) {
  (void)state;
  char *folder = sealed_policy();
  struct corpus *corpus;
  struct gate_result *result;
  ASSERT_FAILS(corpus_open(temp_path(folder, "sealed"), &corpus), ASSAY_CORPUS_SEALED, "only the final evaluation");
  ASSERT_FAILS(sealed_path_check(temp_path(folder, "sealed/c0.npz")), ASSAY_CORPUS_SEALED,
               "belongs to a sealed corpus");
  ASSERT_OK(sealed_path_check(temp_path(folder, "golden/c0.npz")));
  ASSERT_OK(sealed_path_check("/nonexistent/x.npy"));
  temp_write(folder, "gate.yaml",
             "assay: 1\ncontract: contract.yaml\ncorpus: sealed\nrungs:\n  - {name: fp32, engine: assay}\n");
  ASSERT_FAILS(gate_run(&(struct gate_options){.folder = folder}, &result), ASSAY_CORPUS_SEALED, "is sealed");
  temp_free(folder);
}

/* The contract is a way in, too: statistics, and what a message says of them. */
static void a_contract_takes_nothing_out_of_a_sealed_corpus(void **state) {
  (void)state;
  char *folder = sealed_policy();
  struct contract *contract = NULL;
  temp_write(
      folder, "contract.yaml",
      "assay: 1\npolicy: p\nmodel: policy.onnx\ninputs: [{name: obs, dtype: float32, shape: [1, 3]}]\noutputs:\n"
      "  - {name: action, dtype: float32, shape: [1, 3], decode: [{statistics: {file: sealed/c0.npz, mean: "
      "inputs/obs, std: outputs/action}}], components: [{name: a, count: 3, unit: rad, tolerance: {max: 1}}]}\n");
  ASSERT_FAILS(contract_read(temp_path(folder, "contract.yaml"), &contract), ASSAY_CORPUS_SEALED,
               "only the final evaluation may read it");
  temp_free(folder);
}

static void hostile_registers_are_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "[]",
      "{\"assay\": 2, \"bytes\": \"sha256\", \"images\": \"dhash-256\", \"corpora\": [], \"arrays\": [], \"prints\": "
      "[]}",
      "{\"assay\": 1, \"bytes\": \"md5\", \"images\": \"dhash-256\", \"corpora\": [], \"arrays\": [], \"prints\": []}",
      "{\"assay\": 1, \"bytes\": \"sha256\", \"images\": \"dhash-256\", \"corpora\": [], \"arrays\": [\"x\"], "
      "\"prints\": []}",
      "{\"assay\": 1, \"bytes\": \"sha256\", \"images\": \"dhash-256\", \"corpora\": [], \"arrays\": [], \"prints\": "
      "[\"0f\"]}",
      "{\"assay\": 1, \"bytes\": \"sha256\", \"images\": \"dhash-256\", \"corpora\": [], \"arrays\": []}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    struct sealed_register *sealed;
    ASSERT_FAILS(sealed_register_parse(texts[i], strlen(texts[i]), "sealed.json", &sealed), ASSAY_CORPUS_INVALID,
                 "no sealed register");
    assert_null(sealed);
  }
}

/* A picture of waves that begin at (x, y), in any size and layout. */
static void draw(float *pixels, int height, int width, bool first, float x, float y, float scale) {
  for (int r = 0; r < height; r++) {
    for (int c = 0; c < width; c++) {
      float across = ((float)c + 0.5F) / (float)width * 16 + x, down = ((float)r + 0.5F) / (float)height * 16 + y;
      for (int k = 0; k < 3; k++) {
        pixels[first ? (k * height + r) * width + c : (r * width + c) * 3 + k] =
            scale * (2 + sinf(0.5F * across + 0.2F * down) + sinf(0.3F * across * 0.9F - 0.4F * down));
      }
    }
  }
}

static void prints_are_near_for_what_looks_alike(void **state) {
  (void)state;
  static float small[3 * 32 * 32], large[64 * 80 * 3], moved[3 * 32 * 32], flat[3 * 32 * 32];
  draw(small, 32, 32, true, 5, 6, 1);
  draw(large, 64, 80, false, 5, 6, 200);
  draw(moved, 32, 32, true, 9, 6, 1);
  assay_tensor a = test_tensor(ASSAY_FLOAT32, "1,3,32,32", small), b = test_tensor(ASSAY_FLOAT32, "64,80,3", large);
  assay_tensor c = test_tensor(ASSAY_FLOAT32, "3,32,32", moved), d = test_tensor(ASSAY_FLOAT32, "3,32,32", flat);
  struct image_print of_a, of_b, of_c, of_d;
  assert_int_equal(image_count(&a), 1);
  assert_int_equal(image_count(&b), 1);
  assert_true(image_print_make(&a, 0, &of_a) && image_print_make(&b, 0, &of_b) && image_print_make(&c, 0, &of_c));
  assert_false(image_print_make(&d, 0, &of_d));
  assert_false(image_print_make(&a, 1, &of_d));
  assert_in_range(image_print_distance(&of_a, &of_b), 0, 8);
  assert_in_range(image_print_distance(&of_a, &of_c), 40, 256);
  small[7] = NAN;
  tensor_free(&a);
  a = test_tensor(ASSAY_FLOAT32, "1,3,32,32", small);
  assert_false(image_print_make(&a, 0, &of_a));
  tensor_free(&a);
  tensor_free(&b);
  tensor_free(&c);
  tensor_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_look_is_on_record),
      cmocka_unit_test(a_second_look_must_be_asked_for),
      cmocka_unit_test(a_look_without_a_record_is_refused),
      cmocka_unit_test(overlap_is_refused_by_the_register),
      cmocka_unit_test(final_refuses_overlap),
      cmocka_unit_test(a_sealed_corpus_is_closed_to_the_rest),
      cmocka_unit_test(a_contract_takes_nothing_out_of_a_sealed_corpus),
      cmocka_unit_test(hostile_registers_are_refused),
      cmocka_unit_test(prints_are_near_for_what_looks_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
