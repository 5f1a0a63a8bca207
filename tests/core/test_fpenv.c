/* The floating-point environment: what is set inside, and that the caller's own comes back. */
#include "core/fpenv.h"

#include <fenv.h>

#include "support.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static volatile float third = 1.0F / 3, one = 1, three = 3, smallest = 1.17549435e-38F, half = 0.5F;

static void rounding_is_to_nearest_inside(void **state) {
  (void)state;
  assert_int_equal(fesetround(FE_UPWARD), 0);
  volatile float up = one / three;
  struct fpenv saved = fpenv_enter();
  volatile float nearest = one / three;
  fpenv_leave(saved);
  volatile float up_again = one / three;
  fesetround(FE_TONEAREST);
  third = one / three;
  assert_true(nearest == third);
  assert_true(up_again == up);
}

static void subnormals_are_kept_inside(void **state) {
  (void)state;
#if defined(__x86_64__)
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040); /* flush to zero, denormals are zero */
  volatile float flushed = smallest * half;
  struct fpenv saved = fpenv_enter();
  volatile float kept = smallest * half;
  fpenv_leave(saved);
  volatile float flushed_again = smallest * half;
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  assert_true(flushed == 0 && flushed_again == 0);
  assert_true(kept > 0);
  assert_int_equal(after & 0x8040, 0x8040);
#else
  struct fpenv saved = fpenv_enter();
  volatile float kept = smallest * half;
  fpenv_leave(saved);
  assert_true(kept > 0);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rounding_is_to_nearest_inside),
                                     cmocka_unit_test(subnormals_are_kept_inside)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
