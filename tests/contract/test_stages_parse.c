/* Stages of a contract: what is read, how it is wired to files by name, and every misfit refused at its place. */
#include <string.h>

#include "contract/contract_diff.h"
#include "contract/stages.h"
#include "failing_memory.h"
#include "support.h"

#define HEAD                                                                                                    \
  "assay: 1\npolicy: p\n"                                                                                       \
  "inputs:\n"                                                                                                   \
  "  - {name: history, dtype: float32, shape: [6]}\n"                                                           \
  "  - {name: obs, dtype: float32, shape: [2]}\n"                                                               \
  "outputs:\n"                                                                                                  \
  "  - {name: action, dtype: float32, shape: [1], components: [{name: hip, unit: rad, tolerance: {max: 1}}]}\n" \
  "stages:\n"
/* The stages begin in line 9. */
static const char two[] = HEAD
    "  - {name: encoder, model: e.onnx, inputs: {in: history}, outputs: {out: latent}}\n"
    "  - {name: actor, model: a.onnx, inputs: {z: latent}, outputs: {out: action}}\n";

static const int64_t six[] = {6}, three[] = {3}, couple[] = {2}, one[] = {1}, free_size[] = {-1};
static const char *const paths[] = {"e.onnx", "a.onnx"};

static assay_status parse(const char *text, struct contract **out) {
  return contract_parse(text, strlen(text), "c.yaml", ".", out);
}

static void refused(const char *text, const char *place, const char *part) {
  struct contract *contract = NULL;
  assay_status status = parse(text, &contract);
  assert_string_equal(assay_status_where(status), place);
  ASSERT_FAILS(status, ASSAY_CONTRACT_INVALID, part);
}

static void reads_stages_loops_and_times(void **state) {
  (void)state;
  struct contract *contract;
  ASSERT_OK(
      parse("assay: 1\npolicy: p\n"
            "inputs: [{name: front, dtype: float32, shape: [1]}, {name: noise, dtype: float32, shape: [4]}]\n"
            "outputs: [{name: x, dtype: float32, shape: [4], components: [{name: j, count: 4, unit: rad}]}]\n"
            "stages:\n"
            "  - {name: vision, model: v.onnx, for_each: [front], outputs: {f: feature}, join: {concat: 0}}\n"
            "  - name: expert\n    model: m/e.onnx\n    inputs: {x_t: noise}\n    outputs: {x_next: x}\n"
            "    repeat: 10\n    carry: {x_t: x_next}\n    time: {input: t, from: 1, step: -0.1}\n",
            &contract));
  const struct contract_stages *stages = contract->stages;
  assert_int_equal(stages->count, 2);
  assert_null(contract->model);
  assert_string_equal(stages->items[0].each[0].value, "front");
  assert_int_equal(stages->items[0].join, STAGE_CONCAT);
  const struct contract_stage *expert = &stages->items[1];
  assert_string_equal(expert->model, "m/e.onnx");
  assert_int_equal(expert->repeat, 10);
  assert_string_equal(expert->carry[0].tensor, "x_t");
  assert_string_equal(expert->carry[0].value, "x_next");
  assert_true(stage_time_at(&expert->time, 0) == 1.0);
  assert_true(stage_time_at(&expert->time, 3) == 1.0 + 3 * -0.1);
  assert_int_equal(stage_find(stages, "expert"), 1);
  assert_int_equal(stage_find(stages, "experts"), -1);
  contract_free(contract);
}

static void refuses_what_is_wrong_without_the_files(void **state) {
  (void)state;
  refused(HEAD "  - {name: a, model: a.onnx}\nmodel: m.onnx\n", "c.yaml:9:3", "'stages' stands beside 'model'");
  refused(
      "assay: 1\npolicy: p\ninputs: [{name: x, dtype: float32, shape: [1]}]\n"
      "outputs: [{name: y, dtype: float32, shape: [1], components: [{name: a, unit: m}]}]\n",
      "c.yaml:1:1", "needs the key 'model', or 'stages'");
  refused(HEAD "  []\n", "c.yaml:9:3", "'stages' has 0 entries");
  refused(HEAD "  - {name: a/b, model: a.onnx}\n", "c.yaml:9:12", "holds no '/'");
  refused(HEAD "  - {name: a, model: a.onnx}\n  - {name: a, model: b.onnx}\n", "c.yaml:10:5",
          "stage 'a' stands here again; it was given at line 9");
  refused(HEAD "  - {name: a, model: a.onnx, outputs: {y: v}}\n  - {name: b, model: b.onnx, outputs: {q: v}}\n",
          "c.yaml:10:40", "gives 'v', which stage 'a' gives already (line 9)");
  refused(HEAD "  - {name: a, model: a.onnx, outputs: {y: obs}}\n", "c.yaml:9:40", "which is an input of the contract");
  refused(HEAD "  - {name: a, model: a.onnx, inputs: {x: v}}\n  - {name: b, model: b.onnx, outputs: {q: v}}\n",
          "c.yaml:9:39", "which the later stage 'b' gives (line 10)");
  refused(HEAD "  - {name: a, model: a.onnx, inputs: {x: v}, outputs: {q: v}}\n", "c.yaml:9:39",
          "takes 'v', which it gives itself; a loop is 'carry'");
  refused(HEAD "  - {name: a, model: a.onnx, repeat: 3}\n", "c.yaml:9:38", "carries nothing");
  refused(HEAD "  - {name: a, model: a.onnx, carry: {x: y}}\n", "c.yaml:9:37", "belongs to a loop");
  refused(HEAD "  - {name: a, model: a.onnx, time: {input: t, from: 0, step: 1}}\n", "c.yaml:9:36",
          "belongs to a loop");
  refused(HEAD "  - {name: a, model: a.onnx, repeat: 3, carry: {x: y}, time: {input: t, values: [1, 2]}}\n",
          "c.yaml:9:62", "repeats 3 times, but 'time' has 2 values");
  refused(HEAD "  - {name: a, model: a.onnx, repeat: 3, carry: {x: y}, time: {input: t, values: [1], from: 1}}\n",
          "c.yaml:9:62", "give one of the two");
  refused(HEAD "  - {name: a, model: a.onnx, repeat: 3, carry: {x: y}, time: {input: x, from: 1, step: 1}}\n",
          "c.yaml:9:62", "the time and something else");
  refused(HEAD "  - {name: a, model: a.onnx, repeat: 3, carry: {x: y, z: y}}\n", "c.yaml:9:55", "to two inputs");
  refused(HEAD "  - {name: a, model: a.onnx, repeat: 0, carry: {x: y}}\n", "c.yaml:9:38", "");
  refused(HEAD "  - {name: a, model: a.onnx, for_each: [obs, obs]}\n", "c.yaml:9:46", "names 'obs' twice");
  refused(HEAD "  - {name: a, model: a.onnx, for_each: [obs], repeat: 2, carry: {x: y}}\n", "c.yaml:9:5",
          "both 'repeat' and 'for_each'");
  refused(HEAD "  - {name: a, model: a.onnx, join: {concat: 0}}\n", "c.yaml:9:36", "belongs to 'for_each'");
  refused(HEAD "  - {name: a, model: a.onnx, for_each: [obs], join: {glue: 0}}\n", "c.yaml:9:54", "'glue'");
  refused(HEAD "  - {name: a, model: a.onnx, carries: 1}\n", "c.yaml:9:30", "did you mean 'carry'");
}

/* --- wiring ------------------------------------------------------------------------- */

struct files {
  struct signature_tensor e_in[2], e_out[2], a_in[3], a_out[2];
  struct signature signatures[2];
};

static struct files files_new(void) {
  struct files files = {
      .e_in = {{"in", ASSAY_FLOAT32, 1, six, false}},
      .e_out = {{"out", ASSAY_FLOAT32, 1, three, false}},
      .a_in = {{"z", ASSAY_FLOAT32, 1, three, false}, {"obs", ASSAY_FLOAT32, 1, couple, false}},
      .a_out = {{"out", ASSAY_FLOAT32, 1, one, false}},
      .signatures = {{.n_inputs = 1, .n_outputs = 1}, {.n_inputs = 2, .n_outputs = 1}},
  };
  return files;
}

static assay_status bind_text(const char *text, struct files *files, struct arena *arena, struct contract **contract,
                              struct bound_stages **bound) {
  files->signatures[0].inputs = files->e_in;
  files->signatures[0].outputs = files->e_out;
  files->signatures[1].inputs = files->a_in;
  files->signatures[1].outputs = files->a_out;
  TRY(parse(text, contract));
  return stages_bind(*contract, files->signatures, paths, arena, bound);
}

static void mismatch(const char *text, struct files files, const char *place, const char *part) {
  struct arena arena = {0};
  struct contract *contract = NULL;
  struct bound_stages *bound;
  assay_status status = bind_text(text, &files, &arena, &contract, &bound);
  if (strcmp(assay_status_where(status), place) != 0) {
    print_error("expected the place %s, got %s: %s\n", place, assay_status_where(status),
                assay_status_sentence(status));
  }
  assert_string_equal(assay_status_where(status), place);
  ASSERT_FAILS(status, ASSAY_CONTRACT_MISMATCH, part);
  contract_free(contract);
  arena_free(&arena);
}

static void wires_by_name(void **state) {
  (void)state;
  struct files files = files_new();
  struct signature_tensor swap = files.a_in[0];
  files.a_in[0] = files.a_in[1]; /* the order in the file means nothing */
  files.a_in[1] = swap;
  struct arena arena = {0};
  struct contract *contract;
  struct bound_stages *bound;
  ASSERT_OK(bind_text(two, &files, &arena, &contract, &bound));
  assert_int_equal(bound->n_values, 2);
  assert_string_equal(bound->values[0].name, "latent");
  assert_true(bound->values[0].taken);
  assert_int_equal(bound->values[0].output, -1);
  assert_int_equal(bound->values[1].output, 0);
  assert_false(bound->inner[0]);
  const struct bound_stage *actor = &bound->stages[1];
  assert_string_equal(actor->feeds[0].tensor, "obs");
  assert_int_equal(actor->feeds[0].source, STAGE_FROM_INPUT);
  assert_int_equal(actor->feeds[1].source, STAGE_FROM_VALUE);
  assert_int_equal(actor->feeds[1].index, 0);
  contract_free(contract);
  arena_free(&arena);
}

static void refuses_what_does_not_fit_the_files(void **state) {
  (void)state;
  struct files files = files_new();
  files.e_in[0].name = "inn";
  mismatch(two, files, "c.yaml:9:45", "e.onnx has no input 'in' (stage 'encoder'); did you mean 'inn'");
  files = files_new();
  files.e_out[0].name = "y";
  mismatch(two, files, "c.yaml:9:69", "e.onnx has no output 'out'");
  files = files_new();
  files.e_in[0].dims = three;
  mismatch(two, files, "c.yaml:4:5", "input 'history' has shape [6] here, but [3] in e.onnx");
  files = files_new();
  files.a_in[0].dims = couple;
  mismatch(two, files, "c.yaml:10:43", "takes 'latent' as float32[3], but its file a.onnx wants float32[2] for 'z'");
  files = files_new();
  files.a_in[0].dtype = ASSAY_FLOAT16;
  mismatch(two, files, "c.yaml:10:43", "wants float16[3]");
  files = files_new();
  files.a_out[0].dims = couple;
  mismatch(two, files, "c.yaml:7:5", "output 'action' has shape [1] here, but [2] in a.onnx");
  files = files_new();
  files.a_in[2] = (struct signature_tensor){"extra", ASSAY_FLOAT32, 1, one, false};
  files.signatures[1].n_inputs = 3;
  mismatch(two, files, "c.yaml:10:5", "takes an input 'extra', which nothing feeds");
  files = files_new();
  files.signatures[1].n_inputs = 1;
  mismatch(two, files, "c.yaml:5:5", "no stage takes the input 'obs'");
  files = files_new();
  files.e_out[1] = (struct signature_tensor){"spare", ASSAY_FLOAT32, 1, one, false};
  files.signatures[0].n_outputs = 2;
  mismatch(two, files, "c.yaml:9:5", "gives 'spare', which no later stage takes");
  files.e_out[1].name = "action"; /* the same name as the actor's, left out of `outputs` */
  mismatch(two, files, "c.yaml:10:65", "gives 'action', which stage 'encoder' gives already");
  files = files_new();
  mismatch(HEAD
           "  - {name: encoder, model: e.onnx, inputs: {in: history}, outputs: {out: latent}}\n"
           "  - {name: actor, model: a.onnx, inputs: {z: latnet}, outputs: {out: action}}\n",
           files, "c.yaml:10:43", "takes 'latnet', which is neither an input of the contract nor given");
  mismatch(HEAD
           "  - {name: encoder, model: e.onnx, inputs: {in: history}, outputs: {out: z}}\n"
           "  - {name: actor, model: a.onnx}\n",
           files, "c.yaml:7:5", "no stage gives the output 'action'");
  mismatch(HEAD
           "  - {name: encoder, model: e.onnx, inputs: {in: history}, outputs: {out: latent}, repeat: 2, "
           "carry: {in: out}}\n"
           "  - {name: actor, model: a.onnx, inputs: {z: latent}, outputs: {out: action}}\n",
           files, "c.yaml:9:102", "takes 'out' as float32[3], but its file e.onnx wants float32[6] for 'in'");
  mismatch(HEAD
           "  - {name: encoder, model: e.onnx, inputs: {in: history}, outputs: {out: latent}, repeat: 2, "
           "carry: {inn: out}}\n"
           "  - {name: actor, model: a.onnx, inputs: {z: latent}, outputs: {out: action}}\n",
           files, "c.yaml:9:102", "'carry' of stage 'encoder' names the input 'inn'");
}

static void an_inner_output_without_components_must_be_taken(void **state) {
  (void)state;
  static const char listed[] =
      "assay: 1\npolicy: p\ninputs:\n  - {name: history, dtype: float32, shape: [6]}\n"
      "  - {name: obs, dtype: float32, shape: [2]}\noutputs:\n"
      "  - {name: action, dtype: float32, shape: [1], components: [{name: hip, unit: rad}]}\n"
      "  - {name: z, dtype: float32, shape: [3]}\nstages:\n"
      "  - {name: encoder, model: e.onnx, inputs: {in: history}, outputs: {out: z}}\n"
      "  - {name: actor, model: a.onnx, outputs: {out: action}}\n";
  struct files files = files_new();
  struct arena arena = {0};
  struct contract *contract;
  struct bound_stages *bound;
  ASSERT_OK(bind_text(listed, &files, &arena, &contract, &bound));
  assert_true(contract->outputs[1].is_inner);
  assert_true(bound->inner[1]);
  assert_false(bound->inner[0]);
  contract_free(contract);
  arena_free(&arena);
  files.a_in[0].name = "history"; /* nothing takes z now */
  files.a_in[0].dims = six;
  mismatch(listed, files, "c.yaml:8:5", "output 'z' needs the key 'components', since no later stage takes it");
}

/* An observation may have the answer of an earlier stage among its terms. */
static void a_term_may_take_what_a_stage_gives(void **state) {
  (void)state;
#define OBSERVED                                                                           \
  "assay: 1\npolicy: p\ninputs:\n  - {name: history, dtype: float32, shape: [6]}\n"        \
  "  - {name: seen, dtype: float32, shape: [3], terms: [{name: latent, from: {output: z, " \
  "lag: 0}}]}\n  - {name: obs, dtype: float32, shape: [2]}\noutputs:\n"                    \
  "  - {name: action, dtype: float32, shape: [1], components: [{name: hip, unit: rad}]}\n" \
  "  - {name: z, dtype: float32, shape: [3]}\nstages:\n"
#define ENCODER "  - {name: encoder, model: e.onnx, inputs: {in: history}, outputs: {out: z}}\n"
#define ACTOR "  - {name: actor, model: a.onnx, inputs: {z: seen}, outputs: {out: action}}\n"
  struct files files = files_new();
  struct arena arena = {0};
  struct contract *contract;
  struct bound_stages *bound;
  ASSERT_OK(bind_text(OBSERVED ENCODER ACTOR, &files, &arena, &contract, &bound));
  assert_true(bound->inner[1]);
  assert_true(bound->values[0].taken);
  contract_free(contract);
  arena_free(&arena);
  files.e_in[0].dims = three; /* the encoder is fed what it gives itself */
  mismatch(OBSERVED "  - {name: encoder, model: e.onnx, inputs: {in: seen}, outputs: {out: z}}\n" ACTOR, files,
           "c.yaml:5:54",
           "term 'latent' of input 'seen' is the 'z' of the same step, which no stage before 'encoder' gives");
}

/* Two cameras through one file: apart, and joined. */
static void for_each_runs_over_named_values(void **state) {
  (void)state;
#define CAMERAS                                                                   \
  "assay: 1\npolicy: p\ninputs:\n  - {name: front, dtype: float32, shape: [6]}\n" \
  "  - {name: wrist, dtype: float32, shape: [6]}\noutputs:\n"                     \
  "  - {name: action, dtype: float32, shape: [1], components: [{name: hip, unit: rad}]}\nstages:\n"
  static const char apart[] = CAMERAS
      "  - {name: vision, model: e.onnx, for_each: [front, wrist], outputs: {out: f}}\n"
      "  - {name: actor, model: a.onnx, inputs: {z: f_front, obs: f_wrist}, outputs: {out: action}}\n";
  static const char joined[] = CAMERAS
      "  - {name: vision, model: e.onnx, for_each: [front, wrist], outputs: {out: f}, join: {stack: 0}}\n"
      "  - {name: actor, model: a.onnx, inputs: {z: f}, outputs: {out: action}}\n";
  static const int64_t stacked[] = {2, 3};
  struct files files = files_new();
  files.a_in[1].dims = three;
  files.e_in[0].name = "front"; /* named like an item: still the free one */
  struct arena arena = {0};
  struct contract *contract;
  struct bound_stages *bound;
  ASSERT_OK(bind_text(apart, &files, &arena, &contract, &bound));
  assert_int_equal(bound->n_values, 3);
  assert_string_equal(bound->values[1].name, "f_wrist");
  assert_int_equal(bound->values[1].item, 1);
  assert_int_equal(bound->stages[0].n_items, 2);
  contract_free(contract);
  files = files_new();
  files.signatures[1].n_inputs = 1;
  files.a_in[0].rank = 2;
  files.a_in[0].dims = stacked;
  ASSERT_OK(bind_text(joined, &files, &arena, &contract, &bound));
  assert_int_equal(bound->n_values, 2);
  assert_int_equal(bound->values[0].rank, 2);
  assert_int_equal(bound->values[0].dims[0], 2);
  contract_free(contract);
  arena_free(&arena);
  files.e_in[1] = (struct signature_tensor){"second", ASSAY_FLOAT32, 1, six, false};
  files.signatures[0].n_inputs = 2;
  mismatch(joined, files, "c.yaml:9:46", "needs one input of e.onnx that nothing else feeds, but there are 2");
}

static void the_time_needs_a_shape(void **state) {
  (void)state;
#define LOOP(time)                                                                                           \
  HEAD "  - {name: encoder, model: e.onnx, inputs: {in: history}, outputs: {out: latent}}\n"                 \
       "  - {name: actor, model: a.onnx, inputs: {z: latent, obs: obs}, outputs: {out: action}, repeat: 2, " \
       "carry: {z: out}, time: " time "}\n"
  struct files files = files_new();
  files.a_in[2] = (struct signature_tensor){"t", ASSAY_FLOAT32, 1, free_size, false};
  files.signatures[1].n_inputs = 3;
  files.e_out[0].dims = files.a_in[0].dims = one;
  mismatch(LOOP("{input: t, from: 0, step: 1}"), files, "c.yaml:10:123", "has no fixed shape; say it");
  mismatch(LOOP("{input: tt, from: 0, step: 1}"), files, "c.yaml:10:123", "a.onnx has no input 'tt'");
  struct arena arena = {0};
  struct contract *contract;
  struct bound_stages *bound;
  ASSERT_OK(bind_text(LOOP("{input: t, from: 0, step: 1, shape: [1]}"), &files, &arena, &contract, &bound));
  assert_int_equal(bound->stages[1].feeds[0].carry, 0);
  assert_true(bound->stages[1].gifts[0].carried);
  contract_free(contract);
  arena_free(&arena);
}

/* What `contract diff` says of two contracts. */
static void changes(const char *from, const char *to, const char *sentence) {
  struct arena arena = {0};
  struct statements a = {.arena = &arena}, b = {.arena = &arena};
  struct contract *first, *second;
  struct contract_changes found = {0};
  ASSERT_OK(parse(from, &first));
  ASSERT_OK(parse(to, &second));
  ASSERT_OK(contract_describe(first, &a));
  ASSERT_OK(contract_describe(second, &b));
  ASSERT_OK(contract_diff(&a, &b, &arena, &found));
  if (sentence == NULL) {
    assert_int_equal(found.count, 0);
  } else {
    assert_int_equal(found.count, 1);
    assert_string_equal(found.items[0].sentence, sentence);
  }
  contract_free(first);
  contract_free(second);
  arena_free(&arena);
}

static void a_change_of_wiring_is_told(void **state) {
  (void)state;
  static const char loop[] = HEAD
      "  - {name: l, model: l.onnx, inputs: {x: obs, h: history}, repeat: 2, carry: {x: y}, "
      "time: {input: t, from: 0, step: 0.5}}\n";
  changes(two,
          HEAD
          "  - {outputs: {out: latent}, name: encoder, inputs: {in: history}, model: ./e.onnx}\n"
          "  - {name: actor, model: a.onnx, inputs: {z: latent}, outputs: {out: action}}\n",
          NULL);
  changes(two,
          HEAD
          "  - {name: encoder, model: e.onnx, inputs: {in: obs}, outputs: {out: latent}}\n"
          "  - {name: actor, model: a.onnx, inputs: {z: latent}, outputs: {out: action}}\n",
          "stage encoder: input in history -> obs (changed)");
  changes(loop,
          HEAD
          "  - {name: l, model: l.onnx, inputs: {x: obs, h: history}, repeat: 2, carry: {x: y}, time: {input: t, "
          "values: [0, 0.5]}}\n",
          NULL);
  changes(loop,
          HEAD
          "  - {name: l, model: l.onnx, inputs: {x: obs, h: history}, repeat: 2, carry: {x: y}, time: {input: t, "
          "values: [0, 0.25]}}\n",
          "stage l: time of turn 2 0.5 -> 0.25 (changed)");
}

static assay_status attempt(void *argument) {
  (void)argument;
  struct files files = files_new();
  struct arena arena = {0};
  struct contract *contract = NULL;
  struct bound_stages *bound;
  assay_status status = bind_text(two, &files, &arena, &contract, &bound);
  contract_free(contract);
  arena_free(&arena);
  return status;
}

static void survives_lack_of_memory(void **state) {
  (void)state;
  fail_every_allocation(attempt, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_stages_loops_and_times),
      cmocka_unit_test(refuses_what_is_wrong_without_the_files),
      cmocka_unit_test(wires_by_name),
      cmocka_unit_test(refuses_what_does_not_fit_the_files),
      cmocka_unit_test(an_inner_output_without_components_must_be_taken),
      cmocka_unit_test(a_term_may_take_what_a_stage_gives),
      cmocka_unit_test(for_each_runs_over_named_values),
      cmocka_unit_test(the_time_needs_a_shape),
      cmocka_unit_test(a_change_of_wiring_is_told),
      cmocka_unit_test(survives_lack_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
