/* Building observations and taking them apart: against a second, plain way of doing it, over random layouts, orders and
 * sizes; and every element led back to where it comes from. */
#include <math.h>
#include <string.h>

#include "contract/observe.h"
#include "core/memory.h"
#include "core/text.h"
#include "support.h"

static uint64_t seed = 1;
static uint32_t next_random(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(seed >> 33);
}
static int between(int low, int high) { return low + (int)(next_random() % (uint32_t)(high - low + 1)); }

enum { TERMS = 5, MOST = 6, STEPS = 9 };

/* A random observation of sensors, with one term that is fed back. */
struct layout {
  int n_terms, sizes[TERMS], histories[TERMS], total;
  bool time_major, newest, zeros, narrow;
};

static struct layout random_layout(void) {
  struct layout l = {.n_terms = between(1, TERMS),
                     .time_major = between(0, 1),
                     .newest = between(0, 1),
                     .zeros = between(0, 1),
                     .narrow = between(0, 1)};
  int history = between(1, 4);
  for (int t = 0; t < l.n_terms; t++) {
    l.sizes[t] = between(1, MOST);
    l.histories[t] = l.time_major ? history : between(1, 4);
    l.total += l.sizes[t] * l.histories[t];
  }
  return l;
}

static struct contract *make_contract(const struct layout *l) {
  struct text text = {0};
  text_format(&text,
              "assay: 1\npolicy: p\nmodel: m.onnx\ninputs:\n  - name: obs\n    dtype: %s\n    shape: [%d]\n"
              "    history: {layout: %s, order: %s, initial: %s}\n    terms:\n",
              l->narrow ? "float16" : "float32", l->total, l->time_major ? "time_major" : "term_major",
              l->newest ? "newest_first" : "oldest_first", l->zeros ? "zeros" : "repeat_first");
  for (int t = 0; t < l->n_terms; t++) {
    text_format(&text, "      - {name: t%d, count: %d, history: %d, offset: 0.5, scale: 3, clip: [-4, 4]}\n", t,
                l->sizes[t], l->histories[t]);
  }
  text_add(&text, "outputs: [{name: y, dtype: float32, shape: [1], unit: m, components: [{name: a}]}]\n");
  struct contract *contract = NULL;
  ASSERT_OK(contract_parse(text_string(&text), strlen(text_string(&text)), "c.yaml", "/nonexistent", &contract));
  text_free(&text);
  return contract;
}

/* The plain way: for every place of the observation in order, which term, age and element stand there. */
static void observe_plainly(const struct layout *l, double sensors[STEPS][TERMS][MOST], int step, double *out) {
  int at = 0, most = l->time_major ? l->histories[0] : l->n_terms;
  for (int outer = 0; outer < most; outer++) {
    int inner_count = l->time_major ? l->n_terms : l->histories[outer];
    for (int inner = 0; inner < inner_count; inner++) {
      int t = l->time_major ? inner : outer, place = l->time_major ? outer : inner;
      int age = l->newest ? place : l->histories[t] - 1 - place, from = step - age;
      for (int e = 0; e < l->sizes[t]; e++) {
        double x = (sensors[from < 0 ? 0 : from][t][e] + 0.5) * 3;
        x = x < -4 ? -4 : x > 4 ? 4 : x;
        out[at++] = from < 0 && l->zeros ? 0 : x;
      }
    }
  }
}

static bool same_bits(const assay_tensor *a, const assay_tensor *b) {
  return a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

/* Every place in the observation leads back to the term, age and element that stand there. */
static void check_places(const struct contract_terms *terms) {
  for (int t = 0; t < terms->n_terms; t++) {
    for (int32_t age = 0; age < terms->terms[t].history; age++) {
      for (int32_t e = 0; e < terms->terms[t].n_elements; e++) {
        struct observed_element back = observed_at(terms, terms_position(terms, t, age) + e);
        assert_true(back.term == t && back.age == age && back.element == e);
      }
    }
  }
}

/* The property: an observation split into its terms' scaled values, by the place of each, and joined again by what
 * stands at each place is the same bits, every element once. Values that arithmetic would not keep go through it too.
 */
static void splits_and_joins_to_the_same_bits(const struct contract_terms *terms, const assay_tensor *observation) {
  static unsigned char split[TERMS][4][MOST][sizeof(double)], joined[TERMS * MOST * 4 * sizeof(double)];
  size_t size = observation->bytes / (size_t)terms->size, moved = 0;
  const unsigned char *from = observation->data;
  for (int t = 0; t < terms->n_terms; t++) {
    for (int32_t age = 0; age < terms->terms[t].history; age++) {
      for (int32_t e = 0; e < terms->terms[t].n_elements; e++, moved++) {
        memcpy(split[t][age][e], from + (size_t)(terms_position(terms, t, age) + e) * size, size);
      }
    }
  }
  assert_int_equal(moved, terms->size);
  for (int32_t i = 0; i < terms->size; i++) {
    struct observed_element back = observed_at(terms, i);
    memcpy(joined + (size_t)i * size, split[back.term][back.age][back.element], size);
  }
  assert_memory_equal(joined, observation->data, observation->bytes);
}

static void built_as_by_hand_to_the_same_bits(void **state) {
  (void)state;
  for (int round = 0; round < 300; round++) {
    struct layout l = random_layout();
    struct contract *contract = make_contract(&l);
    const struct contract_input *input = &contract->inputs[0];
    struct observer *observer;
    ASSERT_OK(observer_open(contract, input, input->terms, (struct observer_options){0}, &observer));
    double sensors[STEPS][TERMS][MOST], expected[TERMS * MOST * 4];
    for (int episode = 0; episode < 2; episode++) {
      observer_reset(observer);
      for (int step = 0; step < STEPS; step++) {
        struct fed_input items[TERMS];
        assay_tensor tensors[TERMS];
        char names[TERMS][16];
        for (int t = 0; t < l.n_terms; t++) {
          for (int e = 0; e < l.sizes[t]; e++) {
            sensors[step][t][e] = (double)between(-2000, 2000) / 700;
          }
          tensors[t] = (assay_tensor){.dtype = ASSAY_FLOAT64,
                                      .rank = 1,
                                      .dims = {l.sizes[t]},
                                      .data = sensors[step][t],
                                      .bytes = (size_t)l.sizes[t] * sizeof(double)};
          snprintf(names[t], sizeof names[t], "t%d", t);
          items[t] = (struct fed_input){.name = names[t], .tensor = &tensors[t]};
        }
        ASSERT_OK(observer_step(observer, &(struct fed_inputs){items, (size_t)l.n_terms}));
        const assay_tensor *made = observer_tensor(observer);
        observe_plainly(&l, sensors, step, expected);
        assay_tensor rounded = {0};
        ASSERT_OK(tensor_new(made->dtype, made->dims, made->rank, &rounded));
        for (int i = 0; i < l.total; i++) {
          tensor_set(&rounded, i, expected[i]);
        }
        assert_true(same_bits(made, &rounded));
        splits_and_joins_to_the_same_bits(input->terms, made);
        for (size_t byte = 0; byte < rounded.bytes; byte++) { /* NaN with payloads, infinities, -0, subnormals */
          ((unsigned char *)rounded.data)[byte] = (unsigned char)between(0, 255);
        }
        splits_and_joins_to_the_same_bits(input->terms, &rounded);
        tensor_free(&rounded);
      }
    }
    check_places(input->terms);
    observer_close(observer);
    contract_free(contract);
  }
}

static struct contract *parse(const char *text) {
  struct contract *contract = NULL;
  ASSERT_OK(contract_parse(text, strlen(text), "c.yaml", "/nonexistent", &contract));
  return contract;
}

static const char looped[] =
    "assay: 1\npolicy: p\nmodel: m.onnx\ninputs:\n  - name: obs\n    dtype: float32\n    shape: [4]\n"
    "    terms: [{name: q, count: 1}, {name: last, from: {output: y, space: decoded, lag: 2, initial: 9}, scale: 2}]\n"
    "outputs: [{name: y, dtype: float32, shape: [3], unit: m, decode: [{scale: 10}, {offset: 1}],\n"
    "  components: [{names: [a, b, c]}]}]\n";

static assay_tensor floats(float *values, int64_t n) {
  return (assay_tensor){
      .dtype = ASSAY_FLOAT32, .rank = 1, .dims = {n}, .data = values, .bytes = (size_t)n * sizeof *values};
}

static void an_answer_comes_back_after_its_lag(void **state) {
  (void)state;
  struct contract *contract = parse(looped);
  struct observer *observer;
  ASSERT_OK(observer_open(contract, &contract->inputs[0], contract->inputs[0].terms, (struct observer_options){0},
                          &observer));
  const float expected[] = {18, 18, 2 * (10 * 0 + 1), 2 * (10 * 1 + 1), 2 * (10 * 2 + 1)};
  for (int step = 0; step < 5; step++) {
    float q = 0.5F, y[3] = {(float)step, 0, 0};
    assay_tensor sensor = floats(&q, 1), answer = floats(y, 3);
    const struct fed_input fed = {.name = "q", .tensor = &sensor}, given = {.name = "y", .tensor = &answer};
    ASSERT_OK(observer_step(observer, &(struct fed_inputs){&fed, 1}));
    assert_true(tensor_get(observer_tensor(observer), 1) == (double)expected[step]);
    ASSERT_OK(observer_answer(observer, &(struct fed_inputs){&given, 1}, NULL));
  }
  observer_close(observer);
  contract_free(contract);
}

static void what_is_missing_or_misshapen_is_named(void **state) {
  (void)state;
  struct contract *contract = parse(looped);
  struct observer *observer;
  ASSERT_OK(observer_open(contract, &contract->inputs[0], contract->inputs[0].terms, (struct observer_options){0},
                          &observer));
  float values[3] = {1, 2, 3};
  assay_tensor one = floats(values, 1), two = floats(values, 2), text = {.dtype = ASSAY_STRING, .rank = 1, .dims = {1}};
  const struct fed_input right = {.name = "q", .tensor = &one}, long_one = {.name = "q", .tensor = &two};
  const struct fed_input words = {.name = "q", .tensor = &text}, other = {.name = "p", .tensor = &one};
  const struct fed_input short_answer = {.name = "y", .tensor = &two};
  ASSERT_FAILS(observer_step(observer, NULL), ASSAY_INPUT_MISSING, "raw/q");
  observer_reset(observer);
  ASSERT_FAILS(observer_step(observer, &(struct fed_inputs){&other, 1}), ASSAY_INPUT_MISSING, "the term 'q'");
  observer_reset(observer);
  ASSERT_FAILS(observer_step(observer, &(struct fed_inputs){&long_one, 1}), ASSAY_INPUT_SHAPE,
               "holds 2 float32 values");
  observer_reset(observer);
  ASSERT_FAILS(observer_step(observer, &(struct fed_inputs){&words, 1}), ASSAY_INPUT_SHAPE, "string");
  observer_reset(observer);
  ASSERT_OK(observer_step(observer, &(struct fed_inputs){&right, 1}));
  ASSERT_FAILS(observer_answer(observer, NULL, NULL), ASSAY_OUTPUT_MISSING, "the output 'y'");
  ASSERT_FAILS(observer_answer(observer, &(struct fed_inputs){&short_answer, 1}, NULL), ASSAY_OUTPUT_SHAPE, "'y'");
  ASSERT_OK(observer_step(observer, &(struct fed_inputs){&right, 1}));
  ASSERT_FAILS(observer_step(observer, &(struct fed_inputs){&right, 1}), ASSAY_OUTPUT_MISSING, "of step 0"); /* lag 2 */
  observer_close(observer);
  contract_free(contract);
}

/* NaN of a sensor comes through clip and history, so that it is refused and never clamped. */
static void nan_passes_through(void **state) {
  (void)state;
  struct layout l = {.n_terms = 1, .sizes = {1}, .histories = {2}, .total = 2};
  struct contract *contract = make_contract(&l);
  struct observer *observer;
  ASSERT_OK(observer_open(contract, &contract->inputs[0], contract->inputs[0].terms, (struct observer_options){0},
                          &observer));
  float value = NAN;
  assay_tensor sensor = floats(&value, 1);
  const struct fed_input fed = {.name = "t0", .tensor = &sensor};
  ASSERT_OK(observer_step(observer, &(struct fed_inputs){&fed, 1}));
  assert_true(isnan(tensor_get(observer_tensor(observer), 0)) && isnan(tensor_get(observer_tensor(observer), 1)));
  observer_close(observer);
  contract_free(contract);
}

static void a_clock_turns(void **state) {
  (void)state;
  struct contract *contract = parse(
      "assay: 1\npolicy: p\nmodel: m.onnx\ntiming: {period_ms: 25}\ninputs:\n  - {name: c, dtype: float64, shape: [3], "
      "from: {clock: {period_s: 0.1, start: 0.25, as: [sin, cos, phase]}}}\n"
      "outputs: [{name: y, dtype: float32, shape: [1], unit: m, components: [{name: a}]}]\n");
  struct observer *observer;
  ASSERT_OK(observer_open(contract, &contract->inputs[0], contract->inputs[0].terms, (struct observer_options){0},
                          &observer));
  const double expected[6][3] = {{1, 0, 0.25}, {0, -1, 0.5}, {-1, 0, 0.75}, {0, 1, 0}, {1, 0, 0.25}, {0, -1, 0.5}};
  for (int step = 0; step < 6; step++) {
    ASSERT_OK(observer_step(observer, NULL));
    for (int i = 0; i < 3; i++) {
      assert_true(fabs(tensor_get(observer_tensor(observer), i) - expected[step][i]) < 1e-15);
    }
  }
  observer_close(observer);
  contract_free(contract);
}

/* What rounding excuses of a value that the clip cut off is nothing, and never as much as the value is. */
static void nothing_far_off_is_excused(void **state) {
  (void)state;
  static const struct {
    const char *input, *term;
    double made, allowed; /* the most */
  } rows[] = {
      {"clip: [-100, 100],", "scale: 1e12", 100, 1e-4},
      {"clip: [-100, 100],", "scale: 1e300", 100, 1e-4},
      {"clip: [-100, 100],", "offset: 1e10", 100, 1e-4},
      {"", "scale: 1e9, clip: [-1, 1]", 1, 1e-6},
      {"clip: [0.25, 100],", "scale: 1", 0.5, 1e-6},
      {"", "offset: -0.5, scale: 1e12", 0, 1e-3},
      {"clip: [-100, 100],", "offset: -0.5, scale: 1e12", 0, 1e-3},
      {"", "scale: 1e12", 5e11, 5e8},
      {"", "apply: [{scale: 1e300}, {scale: 1e300}]", INFINITY, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct text text = {0};
    text_format(&text,
                "assay: 1\npolicy: p\nmodel: m.onnx\ninputs:\n  - {name: obs, dtype: float32, shape: [1], %s "
                "terms: [{name: v, count: 1, %s}]}\n"
                "outputs: [{name: y, dtype: float32, shape: [1], unit: m, components: [{name: a}]}]\n",
                rows[i].input, rows[i].term);
    struct contract *contract = parse(text_string(&text));
    struct observer *observer;
    float value = 0.5F;
    assay_tensor sensor = floats(&value, 1);
    const struct fed_input fed = {.name = "v", .tensor = &sensor};
    ASSERT_OK(observer_open(contract, &contract->inputs[0], contract->inputs[0].terms, (struct observer_options){0},
                            &observer));
    ASSERT_OK(observer_step(observer, &(struct fed_inputs){&fed, 1}));
    double made = tensor_get(observer_tensor(observer), 0), allowed = observer_allowed(observer)[0];
    if (!(made == rows[i].made || fabs(made / rows[i].made - 1) < 1e-6) || !(allowed <= rows[i].allowed)) {
      fail_msg("row %d: expected %g within %g, got %g within %g", (int)i, rows[i].made, rows[i].allowed, made, allowed);
    }
    assert_true(isinf(made) || allowed > 0); /* rounding is excused */
    observer_close(observer);
    contract_free(contract);
    text_free(&text);
  }
}

static void an_earlier_stage_fills_its_place(void **state) {
  (void)state;
  struct contract *contract = parse(
      "assay: 1\npolicy: p\nstages:\n  - {name: e, model: e.onnx}\n  - {name: a, model: a.onnx}\ninputs:\n"
      "  - {name: h, dtype: float32, shape: [2]}\n"
      "  - {name: obs, dtype: float32, shape: [3], clip: [-6, 6], terms: [{name: q, count: 1}, {name: z, scale: 2, "
      "from: {output: latent, lag: 0}}]}\n"
      "outputs:\n  - {name: latent, dtype: float32, shape: [2], unit: m, components: [{names: [u, v]}]}\n"
      "  - {name: y, dtype: float32, shape: [1], unit: m, components: [{name: a}]}\n");
  float values[3] = {5, 0, 0}, latent[2] = {1.5F, 4};
  assay_tensor observation = floats(values, 3), answer = floats(latent, 2), wrong = floats(latent, 1);
  const struct contract_input *input = &contract->inputs[1];
  ASSERT_OK(observe_fill(contract, input, "latent", &answer, NULL, &observation));
  assert_true(values[0] == 5 && values[1] == 3 && values[2] == 6);
  ASSERT_OK(observe_fill(contract, input, "y", &wrong, NULL, &observation)); /* no term of this input */
  ASSERT_FAILS(observe_fill(contract, input, "latent", &wrong, NULL, &observation), ASSAY_OUTPUT_SHAPE, "'z'");
  contract_free(contract);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(built_as_by_hand_to_the_same_bits),
      cmocka_unit_test(an_answer_comes_back_after_its_lag),
      cmocka_unit_test(what_is_missing_or_misshapen_is_named),
      cmocka_unit_test(nan_passes_through),
      cmocka_unit_test(a_clock_turns),
      cmocka_unit_test(nothing_far_off_is_excused),
      cmocka_unit_test(an_earlier_stage_fills_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
