/* The floating-point environment that the arithmetic needs: round to nearest
 * even, no flush to zero, no denormals-are-zero, no trap (MXCSR, FPCR). Entry
 * points set it and restore what they found, since loaded runtimes change it. */
#ifndef CORE_FPENV_H
#define CORE_FPENV_H

#include <stdint.h>

struct fpenv {
  uint64_t control;
};
struct fpenv fpenv_enter(void);
void fpenv_leave(struct fpenv saved);

#endif
