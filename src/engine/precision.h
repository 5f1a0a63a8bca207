/* The precision policy: which values are rounded to what, and when.
 *
 * fp32   every float32 tensor is computed as it stands in the file.
 * fp64   every float32 tensor, constant and declared type is float64 (widen.h); attributes that are
 *        plain numbers stay the float32 number.
 * bf16,  values stay in float32 memory and are rounded (half to even; beyond the largest finite value
 * fp16   to infinity) to the narrow format wherever a real runtime would store them: graph inputs, constants, and every
 *        float32 output of a node. Dot products therefore multiply rounded operands; products and sums
 *        inside one operator are float32.
 * tf32   nothing is rounded in storage; the operands of dot products (op.dot_operands) are rounded to
 *        10 fraction bits; products and sums are float32.
 *
 * A node named in `keep` computes from unrounded values and leaves its outputs unrounded; another node
 * that reads them sees them rounded. Only float32 tensors are touched: integers, booleans,
 * float64 and really narrow tensors are as the graph says, and so are the `scales` and `roi` of Resize and
 * Upsample, which decide shapes. */
#ifndef ENGINE_PRECISION_H
#define ENGINE_PRECISION_H

#include "engine/engine.h"

struct policy {
  enum precision_kind precision;
  assay_dtype storage; /* FLOAT16 or BFLOAT16; UNDEFINED: storage is not rounded */
  bool tf32_operands;
  const char *const *keep;
  int32_t n_keep;
};

struct policy policy_of(const struct session_options *options);
/* The node stands in `keep`. */
bool policy_keeps(const struct policy *policy, const struct node *node);
/* Does a node (not kept) want its input i rounded, when that is float32 and not rounded yet? */
bool policy_rounds_input(const struct policy *policy, const struct node *node, uint32_t dot_operands, int32_t input);

/* Rounds `count` floats as the policy stores or multiplies them; from and to may be the same. */
void policy_round(const struct policy *policy, const float *from, float *to, int64_t count);

/* Makes every NaN of a float tensor the canonical one (float32: 0x7FC00000). */
void nan_canonicalise(assay_tensor *tensor);
/* True when the tensor holds a NaN that is not canonical. */
bool nan_is_foreign(const assay_tensor *tensor);

/* float16 and bfloat16, which most operators compute in float32. */
bool dtype_is_narrow(assay_dtype dtype);
/* From narrow to float32 and back (one rounding); counts must be equal. */
void narrow_to_float(const assay_tensor *from, assay_tensor *to);
void narrow_from_float(const assay_tensor *from, assay_tensor *to);

#endif
