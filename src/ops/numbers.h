/* Elements of any dtype as one of four kinds of number that operators compute with, and back. The narrow floats are
 * widened to float and rounded once on the way back, half to even; integers wrap. Loops over blocks of elements; must
 * never be asked for strings or complex numbers. */
#ifndef OPS_NUMBERS_H
#define OPS_NUMBERS_H

#include "ops/ops.h"

enum number_kind { NUMBER_NONE = 0, NUMBER_F32, NUMBER_F64, NUMBER_I64, NUMBER_U64 };

/* What a dtype is computed as: float for itself and everything narrower, double, unsigned for uint64, signed 64-bit
 * integers for all other integers and bool; NONE for strings and complex. */
enum number_kind number_kind_of(assay_dtype dtype);
size_t number_size(enum number_kind kind); /* 4 or 8 bytes */
/* The dtype's elements lie in memory as the kind has them. */
bool number_is_native(assay_dtype dtype, enum number_kind kind);

/* n elements from element `start`, `stride` apart, as numbers of `kind`. From floats to integers as numbers_store. */
void numbers_load(assay_dtype dtype, const void *data, int64_t start, int64_t stride, int64_t n, enum number_kind kind,
                  void *out);
/* n numbers into elements start, start + 1, ...: floats round half to even (8-bit floats saturate), integers keep their
 * low bits, bool is "not zero"; a float goes to an integer truncated and saturated (of less than a byte: to its low
 * bits), NaN as 0. Elements narrower than a byte share one: they are stored in order, and two threads must not meet in
 * a byte. */
void numbers_store(assay_dtype dtype, void *data, int64_t start, int64_t n, enum number_kind kind, const void *in);
/* The same with ONNX's `saturate` attribute for the 8-bit floats. */
void numbers_store_saturating(assay_dtype dtype, void *data, int64_t start, int64_t n, enum number_kind kind,
                              const void *in, bool saturate);

/* One element, for small things. */
double number_get_f64(const assay_tensor *tensor, int64_t i);
float number_get_f32(const assay_tensor *tensor, int64_t i);
int64_t number_get_i64(const assay_tensor *tensor, int64_t i);

#endif
