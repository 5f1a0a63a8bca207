/* The thread pool: every index once, the same ranges every time, the right arithmetic. */
#include "core/pool.h"

#include <stdatomic.h>
#include <string.h>

#include "core/fpenv.h"
#include "core/memory.h"
#include "failing_memory.h"

enum { MOST = 5000, WORKERS = 8 };

struct record {
  _Atomic int seen[MOST];
  int64_t begin[WORKERS], end[WORKERS];
};

static void note(void *argument, int64_t begin, int64_t end, int worker) {
  struct record *record = argument;
  record->begin[worker] = begin;
  record->end[worker] = end;
  for (int64_t i = begin; i < end; i++) {
    atomic_fetch_add(&record->seen[i], 1);
  }
}

static const int thread_counts[] = {1, 2, 3, 7};

static void check_loop(struct pool *pool, int64_t count, int64_t grain) {
  static struct record record, again;
  memset((void *)&record, 0, sizeof record);
  memset((void *)&again, 0, sizeof again);
  pool_for(pool, count, grain, note, &record);
  pool_for(pool, count, grain, note, &again);
  for (int i = 0; i < count; i++) {
    assert_int_equal(record.seen[i], 1);
  }
  assert_memory_equal(record.begin, again.begin, sizeof record.begin);
  assert_memory_equal(record.end, again.end, sizeof record.end);
  for (int w = 0; w < WORKERS; w++) {
    if (record.end[w] != record.begin[w] && record.end[w] != count) {
      assert_int_equal(record.begin[w] % grain, 0);
      assert_int_equal(record.end[w] % grain, 0);
    }
  }
  if (count <= grain) {
    assert_int_equal(record.end[0], count);
  }
}

static void every_index_once_in_the_same_ranges(void **state) {
  (void)state;
  static const int64_t counts[] = {0, 1, 2, 3, 6, 7, 8, 64, 65, 1000, MOST}, grains[] = {1, 2, 16, 100};
  check_loop(NULL, 100, 10);
  for (size_t t = 0; t < 4; t++) {
    struct pool *pool;
    ASSERT_OK(pool_new(thread_counts[t], &pool));
    assert_int_equal(pool_threads(pool), thread_counts[t]);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
      for (size_t g = 0; g < sizeof grains / sizeof grains[0]; g++) {
        check_loop(pool, counts[c], grains[g]);
      }
    }
    pool_free(pool);
  }
  assert_int_equal(pool_threads(NULL), 1);
}

static void shares_are_even(void **state) {
  (void)state;
  static struct record record;
  struct pool *pool;
  ASSERT_OK(pool_new(3, &pool));
  pool_for(pool, 103, 10, note, &record); /* 11 units: 4, 4, 3 */
  assert_int_equal(record.begin[1], 40);
  assert_int_equal(record.begin[2], 80);
  assert_int_equal(record.end[2], 103);
  pool_free(pool);
}

static void huge_counts_do_not_overflow(void **state) {
  (void)state;
  struct pool *pool;
  ASSERT_OK(pool_new(2, &pool));
  static struct record record;
  /* The ranges alone matter: one unit each, of half of all numbers. */
  pool_for(pool, 5, INT64_MAX, note, &record);
  assert_int_equal(record.end[0], 5);
  pool_free(pool);
}

static void add_one(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  int *values = argument;
  for (int64_t i = begin; i < end; i++) {
    values[i]++;
  }
}

/* Many short loops, some after the workers went to sleep. */
static void many_loops_one_after_another(void **state) {
  (void)state;
  static int values[32];
  struct pool *pool;
  ASSERT_OK(pool_new(3, &pool));
  for (int i = 0; i < 3000; i++) {
    pool_for(pool, 32, 1, add_one, values);
  }
  for (int i = 0; i < 32; i++) {
    assert_int_equal(values[i], 3000);
  }
  pool_free(pool);
}

static void halve_smallest(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  volatile float *values = argument;
  for (int64_t i = begin; i < end; i++) {
    values[i] = values[i] * 0.5F; /* becomes a subnormal */
  }
}

static void threads_keep_subnormals(void **state) {
  (void)state;
  float values[64];
  for (int i = 0; i < 64; i++) {
    values[i] = 1.17549435e-38F;
  }
  struct fpenv saved = fpenv_enter();
  struct pool *pool;
  ASSERT_OK(pool_new(7, &pool));
  pool_for(pool, 64, 1, halve_smallest, values);
  pool_free(pool);
  fpenv_leave(saved);
  for (int i = 0; i < 64; i++) {
    assert_true(values[i] > 0);
  }
}

static void a_loop_allocates_nothing(void **state) {
  (void)state;
  static int values[100];
  struct pool *pool;
  ASSERT_OK(pool_new(2, &pool));
  memory_fail_at(-1);
  pool_for(pool, 100, 1, add_one, values);
  assert_int_equal(memory_fail_at(-1), 0);
  pool_free(pool);
}

static assay_status make_pool(void *argument) {
  (void)argument;
  struct pool *pool;
  TRY(pool_new(3, &pool));
  pool_free(pool);
  return status_ok();
}

static void pools_that_cannot_be(void **state) {
  (void)state;
  struct pool *pool;
  ASSERT_FAILS(pool_new(0, &pool), ASSAY_USAGE, "0 threads");
  ASSERT_FAILS(pool_new(-1, &pool), ASSAY_USAGE, "-1 threads");
  assert_null(pool);
  pool_free(NULL);
  fail_every_allocation(make_pool, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_index_once_in_the_same_ranges),
      cmocka_unit_test(shares_are_even),
      cmocka_unit_test(huge_counts_do_not_overflow),
      cmocka_unit_test(many_loops_one_after_another),
      cmocka_unit_test(threads_keep_subnormals),
      cmocka_unit_test(a_loop_allocates_nothing),
      cmocka_unit_test(pools_that_cannot_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
