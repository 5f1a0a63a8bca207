/* The memory plan: living blocks never share a byte, dead ones lend theirs, and nothing overflows. */
#include <stdlib.h>
#include <string.h>

#include "engine/memory_plan.h"
#include "support.h"

enum { BLOCKS = 200, STEPS = 60 };

/* A small generator, so that the test is the same everywhere. */
static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static int by_begin(const void *a, const void *b) {
  const struct memory_block *left = a, *right = b;
  return left->begin < right->begin ? -1 : (left->begin > right->begin ? 1 : 0);
}

static void make_blocks(struct memory_block *blocks, uint32_t seed) {
  for (int i = 0; i < BLOCKS; i++) {
    int32_t begin = (int32_t)(next_random(&seed) % STEPS);
    int32_t end = begin + (int32_t)(next_random(&seed) % 10);
    blocks[i] = (struct memory_block){next_random(&seed) % 5000, begin, end < STEPS ? end : STEPS - 1, 0};
  }
  qsort(blocks, BLOCKS, sizeof *blocks, by_begin);
}

static void test_living_blocks_never_overlap(void **state) {
  (void)state;
  for (uint32_t seed = 1; seed <= 50; seed++) {
    struct memory_block blocks[BLOCKS];
    size_t total = 0, apart = 0;
    make_blocks(blocks, seed);
    ASSERT_OK(memory_plan(blocks, BLOCKS, STEPS, true, &total));
    for (int i = 0; i < BLOCKS; i++) {
      assert_int_equal(blocks[i].offset % MEMORY_ALIGNMENT, 0);
      assert_true(blocks[i].offset + (blocks[i].bytes == 0 ? 1 : blocks[i].bytes) <= total);
      for (int j = 0; j < i; j++) {
        bool together = blocks[i].begin <= blocks[j].end && blocks[j].begin <= blocks[i].end;
        size_t a = blocks[i].bytes == 0 ? 1 : blocks[i].bytes, b = blocks[j].bytes == 0 ? 1 : blocks[j].bytes;
        bool overlap = blocks[i].offset < blocks[j].offset + b && blocks[j].offset < blocks[i].offset + a;
        assert_false(together && overlap);
      }
    }
    ASSERT_OK(memory_plan(blocks, BLOCKS, STEPS, false, &apart));
    assert_true(total < apart / 2); /* lives of about 10 of 60 steps: reuse must show */
  }
}

static void test_a_chain_needs_two_places(void **state) {
  (void)state;
  struct memory_block blocks[10];
  size_t total;
  for (int32_t i = 0; i < 10; i++) {
    blocks[i] = (struct memory_block){1024, i, i + 1, 0};
  }
  blocks[9].end = 9;
  ASSERT_OK(memory_plan(blocks, 10, 10, true, &total));
  assert_int_equal(total, 2 * 1024);
}

static void test_nothing_to_place(void **state) {
  (void)state;
  size_t total = 1;
  ASSERT_OK(memory_plan(NULL, 0, 0, true, &total));
  assert_int_equal(total, 0);
}

static void test_sizes_that_overflow_are_refused(void **state) {
  (void)state;
  struct memory_block blocks[2] = {{SIZE_MAX, 0, 1, 0}, {64, 0, 1, 0}};
  size_t total;
  ASSERT_FAILS(memory_plan(blocks, 2, 2, true, &total), ASSAY_LIMIT_EXCEEDED, "more bytes than can be counted");
  blocks[0].bytes = SIZE_MAX - 200;
  blocks[1].bytes = 4096;
  ASSERT_FAILS(memory_plan(blocks, 2, 2, true, &total), ASSAY_LIMIT_EXCEEDED, "more bytes than can be counted");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_living_blocks_never_overlap),
      cmocka_unit_test(test_a_chain_needs_two_places),
      cmocka_unit_test(test_nothing_to_place),
      cmocka_unit_test(test_sizes_that_overflow_are_refused),
  };
  return cmocka_run_group_tests_name("memory_plan", tests, NULL, NULL);
}
