/* The door to PyTorch as a rung: which Python, and what is refused before one is started. What the worker itself does
 * is tested in tests/python/test_worker.py. */
#include <string.h>

#include "rung/rung.h"
#include "support.h"

static void a_python_that_is_not_there_is_said(void **state) {
  (void)state;
  const char *const bad[][2] = {{"/nowhere/python3", "no such Python"}, {"true", "cannot"}, {"false", "assay_capture"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const struct rung_setting settings[] = {{"python", bad[i][0]}, {"module", "/nowhere.py:Net"}};
    struct rung_request request = {
        .name = "source", .engine = "pytorch", .settings = settings, .n_settings = 2, .time_limit_s = 5};
    struct rung *rung;
    if (strcmp(bad[i][0], "true") == 0) { /* it takes the import for granted, and then says nothing */
      ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_CRASHED, "source");
    } else {
      ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNTIME_MISSING, bad[i][1]);
    }
  }
}

static void what_it_does_not_have_is_refused(void **state) {
  (void)state;
  const char *const keep[] = {"Add_0"};
  struct rung_request request = {.name = "source", .engine = "pytorch", .provider = "cuda"};
  struct rung *rung;
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_SETTING, "a provider");
  request.provider = NULL;
  request.keep = keep;
  request.n_keep = 1;
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_SETTING, "kept nodes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_python_that_is_not_there_is_said),
      cmocka_unit_test(what_it_does_not_have_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
