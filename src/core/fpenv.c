/* The processor's floating-point control word. Must leave exactly what it found
 * when asked to, so that a caller's own settings survive a call into assay. */
#include "core/fpenv.h"

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>

/* All exceptions masked, no flag raised, round to nearest even, no flush to
 * zero, no denormals-are-zero (Intel SDM, MXCSR at power-up). */
enum { MXCSR_PLAIN = 0x1F80 };

struct fpenv fpenv_enter(void) {
  struct fpenv saved = {_mm_getcsr()};
  if (saved.control != MXCSR_PLAIN) {
    _mm_setcsr(MXCSR_PLAIN);
  }
  return saved;
}

void fpenv_leave(struct fpenv saved) { _mm_setcsr((unsigned)saved.control); }

#elif defined(__aarch64__)
/* FPCR = 0: round to nearest even, FZ, FZ16, FIZ, AH and DN clear, no trap. */
struct fpenv fpenv_enter(void) {
  struct fpenv saved;
  __asm__ volatile("mrs %0, fpcr" : "=r"(saved.control) : : "memory");
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0) : "memory");
  return saved;
}

void fpenv_leave(struct fpenv saved) { __asm__ volatile("msr fpcr, %0" : : "r"(saved.control) : "memory"); }

#else
#include <fenv.h>

struct fpenv fpenv_enter(void) {
  struct fpenv saved = {(uint64_t)fegetround()};
  fesetround(FE_TONEAREST);
  return saved;
}

void fpenv_leave(struct fpenv saved) { fesetround((int)saved.control); }
#endif
