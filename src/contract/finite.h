/* Finiteness by the bits of a number, tested before anything compares or clamps it: comparisons with NaN are false, and
 * isnan and isfinite may be compiled away where somebody asks for fast arithmetic. */
#ifndef CONTRACT_FINITE_H
#define CONTRACT_FINITE_H

#include <stdbool.h>

bool value_is_finite(double value);
bool value_is_nan(double value);
bool value_is_inf(double value);

#endif
