/* Cases that store several seeds: each is read by its own name beside what all share, and nothing uneven is let in. */
#include <string.h>

#include "corpus/case_seeds.h"
#include "corpus/coverage.h"
#include "corpus_builder.h"
#include "failing_memory.h"
#include "support.h"

static void names_of_seeds(void **state) {
  (void)state;
  static const struct {
    const char *name, *rest;
    int32_t seed;
  } names[] = {{"seeds/0/inputs/z", "inputs/z", 0},
               {"seeds/12/outputs/a/b", "outputs/a/b", 12},
               {"inputs/z", "inputs/z", -1},
               {"seeds/01/inputs/z", "seeds/01/inputs/z", -1},
               {"seeds/-1/inputs/z", "seeds/-1/inputs/z", -1},
               {"seeds/1/", "seeds/1/", -1},
               {"seeds/1", "seeds/1", -1},
               {"seeds/99999999999/x", "seeds/99999999999/x", -1}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    int32_t seed = 7;
    assert_string_equal(array_unseeded(names[i].name, &seed), names[i].rest);
    assert_int_equal(seed, names[i].seed);
  }
}

static char *folder;
static struct corpus_builder *builder;
static const float one[] = {1}, two[] = {2}, three[] = {3};

static void begin(void) {
  folder = temp_folder();
  builder = build_corpus(folder, CORPUS_GOLDEN);
}

static void every_seed_has_its_own_noise_and_answer(void **state) {
  (void)state;
  struct corpus *corpus;
  struct case_data *data;
  begin();
  build_f32(builder, "inputs/x", "1", three);
  build_f32(builder, "seeds/1/inputs/z", "1", two);
  build_f32(builder, "seeds/0/inputs/z", "1", one);
  build_f32(builder, "seeds/0/outputs/y", "1", one);
  build_f32(builder, "seeds/1/outputs/y", "1", two);
  build_f32(builder, "seeds/1/repeats/0/y", "1", three);
  build_f32(builder, "seeds/0/repeats/0/y", "1", one);
  build_case(builder, &(struct corpus_case){.id = "a"});
  build_f32(builder, "inputs/x", "1", one);
  build_f32(builder, "inputs/z", "1", one);
  build_f32(builder, "outputs/y", "1", one);
  build_case(builder, &(struct corpus_case){.id = "plain"});
  build_done(builder);
  ASSERT_OK(corpus_open(folder, &corpus));
  for (int32_t seed = 0; seed < 2; seed++) {
    float expected = seed == 0 ? 1 : 2;
    ASSERT_OK(case_load_seed(corpus, 0, seed, &data));
    assert_int_equal(data->n_seeds, 2);
    assert_int_equal(data->n_inputs, 2);
    assert_int_equal(data->n_outputs, 1);
    assert_int_equal(data->n_repeats, 1);
    assert_true(*(float *)case_input(data, "x")->data == 3);
    assert_true(*(float *)case_input(data, "z")->data == expected);
    assert_true(*(float *)case_output(data, "y")->data == expected);
    assert_true(*(float *)data->repeats[0][0].tensor.data == (seed == 0 ? 1 : 3));
    assert_false(data->inputs[0].seeded);
    assert_true(data->inputs[1].seeded);
    case_data_free(data);
  }
  ASSERT_FAILS(case_load_seed(corpus, 0, 2, &data), ASSAY_CORPUS_INVALID, "no seed 2");
  ASSERT_OK(case_load(corpus, 1, &data));
  assert_int_equal(data->n_seeds, 0);
  case_data_free(data);
  struct coverage *coverage;
  ASSERT_OK(coverage_make(corpus, NULL, NULL, &coverage));
  assert_int_equal(coverage->n_samples, 3);
  assert_int_equal(coverage->n_with_seeds, 1);
  assert_int_equal(coverage->n_with_repeats, 1);
  coverage_free(coverage);
  corpus_close(corpus);
  temp_free(folder);
}

static void a_sequence_of_seeds_has_its_steps_in_every_seed(void **state) {
  (void)state;
  struct corpus *corpus;
  struct case_data *data;
  begin();
  build_f32(builder, "inputs/x", "2,1", (const float[]){1, 2});
  build_f32(builder, "seeds/0/inputs/z", "2,1", (const float[]){3, 4});
  build_f32(builder, "seeds/0/outputs/y", "2,1", (const float[]){5, 6});
  build_case(builder, &(struct corpus_case){.id = "a", .sequence = true});
  build_done(builder);
  ASSERT_OK(corpus_open(folder, &corpus));
  ASSERT_OK(case_load(corpus, 0, &data));
  assert_int_equal(data->steps, 2);
  assay_tensor view = case_step(data, &corpus->cases[0], case_input(data, "z"), 1);
  assert_true(*(float *)view.data == 4);
  case_data_free(data);
  corpus_close(corpus);
  temp_free(folder);
}

/* The case of these arrays cannot be added, with this sentence. */
static void refused(const char *const *names, bool sequence, const char *part) {
  struct corpus_editor *editor;
  float values[2] = {1, 2};
  char *place = temp_folder();
  ASSERT_OK(corpus_new(place, &(struct corpus_head){.role = CORPUS_GOLDEN}));
  ASSERT_OK(corpus_edit(place, &editor));
  struct npz_entry entries[8];
  assay_tensor tensors[8];
  size_t n = 0;
  for (; names[n] != NULL; n++) {
    tensors[n] = (assay_tensor){.dtype = ASSAY_FLOAT32, .rank = 1, .data = values};
    tensors[n].dims[0] = sequence && strchr(names[n], '1') != NULL ? 1 : 2;
    tensors[n].bytes = (size_t)tensors[n].dims[0] * sizeof *values;
    entries[n] = (struct npz_entry){names[n], &tensors[n]};
  }
  ASSERT_FAILS(corpus_edit_add(editor, &(struct corpus_case){.id = "a", .sequence = sequence}, entries, n),
               ASSAY_CORPUS_INVALID, part);
  corpus_edit_abandon(editor);
  temp_free(place);
}
#define REFUSED(part, ...) refused((const char *const[]){__VA_ARGS__, NULL}, false, (part))

static void uneven_seeds_are_refused(void **state) {
  (void)state;
  REFUSED("no 'seeds/0/", "inputs/x", "seeds/1/inputs/z", "seeds/1/outputs/y");
  REFUSED("no 'seeds/1/inputs/z'", "seeds/0/inputs/z", "seeds/2/inputs/z", "seeds/0/outputs/y", "seeds/1/outputs/y",
          "seeds/2/outputs/y");
  REFUSED("no 'seeds/1/outputs/y'", "seeds/0/inputs/z", "seeds/1/inputs/z", "seeds/0/outputs/y");
  REFUSED("no 'seeds/1/inputs/z'", "seeds/0/inputs/z", "seeds/9999/outputs/y");
  REFUSED("shared by all seeds", "inputs/z", "seeds/0/inputs/z", "seeds/0/outputs/y");
  REFUSED("beside the seeds", "seeds/0/inputs/z", "outputs/y");
  REFUSED("the rest is shared", "seeds/0/raw/z", "seeds/0/outputs/y");
  REFUSED("seeds/x/inputs/z", "seeds/x/inputs/z", "inputs/z", "outputs/y");
  refused((const char *const[]){"inputs/x", "seeds/0/inputs/z", "seeds/0/outputs/y", "seeds/1/inputs/z",
                                "seeds/1/outputs/y", NULL},
          true, "steps along its leading axis");
}

static void coverage_asks_for_the_draws_of_the_contract(void **state) {
  (void)state;
  static const char text[] =
      "assay: 1\npolicy: p\nmodel: m.onnx\n"
      "inputs: [{name: z, role: noise, distribution: normal, seeds: 3, dtype: float32, shape: [1]}]\n"
      "outputs: [{name: y, dtype: float32, shape: [1], components: [{name: a, unit: rad}]}]\n";
  struct corpus *corpus;
  struct contract *contract;
  struct coverage *coverage;
  begin();
  build_f32(builder, "inputs/z", "1", one);
  build_f32(builder, "outputs/y", "1", one);
  build_case(builder, &(struct corpus_case){.id = "a"});
  build_done(builder);
  ASSERT_OK(contract_parse(text, sizeof text - 1, "c.yaml", ".", &contract));
  ASSERT_OK(corpus_open(folder, &corpus));
  ASSERT_OK(coverage_make(corpus, contract, NULL, &coverage));
  assert_int_equal(coverage->n_notes, 1);
  assert_non_null(strstr(coverage->notes[0], "case 'a' stores 1 of the 3 draws of 'z'"));
  coverage_free(coverage);
  corpus_close(corpus);
  contract_free(contract);
  temp_free(folder);
}

static assay_status load_second_seed(void *argument) {
  struct case_data *data = NULL;
  assay_status status = case_load_seed(argument, 0, 1, &data);
  case_data_free(data);
  return status;
}

static void reading_survives_every_failed_allocation(void **state) {
  (void)state;
  struct corpus *corpus;
  begin();
  for (int seed = 0; seed < 2; seed++) {
    build_f32(builder, seed == 0 ? "seeds/0/inputs/z" : "seeds/1/inputs/z", "1", seed == 0 ? one : two);
    build_f32(builder, seed == 0 ? "seeds/0/outputs/y" : "seeds/1/outputs/y", "1", one);
    build_f32(builder, seed == 0 ? "seeds/0/repeats/0/y" : "seeds/1/repeats/0/y", "1", one);
  }
  build_case(builder, &(struct corpus_case){.id = "a"});
  build_done(builder);
  ASSERT_OK(corpus_open(folder, &corpus));
  fail_every_allocation(load_second_seed, corpus);
  corpus_close(corpus);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_of_seeds),
      cmocka_unit_test(every_seed_has_its_own_noise_and_answer),
      cmocka_unit_test(a_sequence_of_seeds_has_its_steps_in_every_seed),
      cmocka_unit_test(uneven_seeds_are_refused),
      cmocka_unit_test(coverage_asks_for_the_draws_of_the_contract),
      cmocka_unit_test(reading_survives_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
