/* Queues and temporal ensembles: NaN first, then a blend worked out by hand, and what must hold for every chunk. */
#include "contract/executed.h"

#include <math.h>
#include <string.h>

#include "support.h"

static void near(double actual, double expected) {
  if (!(fabs(actual - expected) <= 1e-15 * (1 + fabs(expected)))) {
    print_error("expected %.17g, got %.17g\n", expected, actual);
    fail();
  }
}

/* Chunks of 3: the answer at step s for moment s + h. */
static const double chunks[4][3] = {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}, {1000, 2000, 3000}};
static const struct chunk_lane lane = {&chunks[0][0], 3, 1};

static void a_nan_in_one_chunk_is_nan_in_what_it_reaches(void **state) {
  (void)state;
  double with[4][3];
  memcpy(with, chunks, sizeof with);
  with[1][1] = NAN; /* about moment 2 */
  const struct chunk_lane broken = {&with[0][0], 3, 1};
  assert_true(isfinite(executed_ensemble(&broken, 0.01, 3, 1)));
  assert_true(isnan(executed_ensemble(&broken, 0.01, 3, 2)));
  assert_true(isfinite(executed_ensemble(&broken, 0.01, 3, 3)));
  with[1][1] = INFINITY;
  assert_true(isinf(executed_ensemble(&broken, 0.01, 3, 2)));
}

static void the_oldest_chunk_weighs_most(void **state) {
  (void)state;
  const double w1 = exp(-0.5), w2 = exp(-1.0);
  near(executed_ensemble(&lane, 0.5, 3, 0), 1);
  near(executed_ensemble(&lane, 0.5, 3, 1), (2 + 10 * w1) / (1 + w1));
  near(executed_ensemble(&lane, 0.5, 3, 2), (3 + 20 * w1 + 100 * w2) / (1 + w1 + w2));
  near(executed_ensemble(&lane, 0.5, 3, 3),
       (30 + 200 * w1 + 1000 * w2) / (1 + w1 + w2)); /* the first no longer reaches it */
  near(executed_ensemble(&lane, 0.5, 2, 2), (20 + 100 * w1) / (1 + w1));
  near(executed_ensemble(&lane, 0, 3, 2), 41);
}

static void equal_answers_blend_to_themselves(void **state) {
  (void)state;
  double same[8 * 5];
  for (int i = 0; i < 8 * 5; i++) {
    same[i] = 0.7;
  }
  const struct chunk_lane constant = {same, 5, 1};
  static const double ms[] = {0, 0.01, 0.1, 3, 50};
  for (int64_t t = 0; t < 8; t++) {
    for (size_t k = 0; k < sizeof ms / sizeof *ms; k++) {
      near(executed_ensemble(&constant, ms[k], 5, t), 0.7);
      near(executed_ensemble(&constant, ms[k], 1, t), 0.7);
    }
  }
}

static void an_ensemble_of_one_step_is_the_first_step(void **state) {
  (void)state;
  for (int64_t t = 0; t < 4; t++) {
    assert_true(executed_ensemble(&lane, 0.01, 1, t) == chunks[t][0]);
  }
}

static void a_queue_uses_every_nth_answer(void **state) {
  (void)state;
  const struct contract_output queue = {.execute_steps = 3, .queue = 3}, first = {.execute_steps = 1, .queue = 1};
  const struct contract_output plain = {.execute_steps = 2}, all = {0}, blend = {.ensemble = true, .execute_steps = 2};
  for (int64_t step = 0; step < 7; step++) {
    for (int64_t h = 0; h < 5; h++) {
      assert_int_equal(executed_as_is(&queue, step, h), step % 3 == 0 && h < 3);
      assert_int_equal(executed_as_is(&first, step, h), h == 0);
      assert_int_equal(executed_as_is(&plain, step, h), h < 2);
      assert_true(executed_as_is(&all, step, h));
      assert_false(executed_as_is(&blend, step, h));
    }
  }
  assert_true(executed_as_is(&queue, -1, 2)); /* a case that is no sequence */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_nan_in_one_chunk_is_nan_in_what_it_reaches),
      cmocka_unit_test(the_oldest_chunk_weighs_most),
      cmocka_unit_test(equal_answers_blend_to_themselves),
      cmocka_unit_test(an_ensemble_of_one_step_is_the_first_step),
      cmocka_unit_test(a_queue_uses_every_nth_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
