/* Declarations of every function that the table of operators names, so that each
 * definition is checked against its row, and the sets of dtypes that rows state.
 * Included by the files of the families; others want ops/ops.h alone. */
#ifndef OPS_OPERATORS_H
#define OPS_OPERATORS_H

#include "ops/ops.h"

#define DTYPE_BIT(dtype) (UINT32_C(1) << (dtype))
#define DTYPES_F32_F64 (DTYPE_BIT(ASSAY_FLOAT32) | DTYPE_BIT(ASSAY_FLOAT64))
#define DTYPES_I32_I64 (DTYPE_BIT(ASSAY_INT32) | DTYPE_BIT(ASSAY_INT64))
#define DTYPES_I8_U8 (DTYPE_BIT(ASSAY_INT8) | DTYPE_BIT(ASSAY_UINT8))
#define DTYPES_SIGNED (DTYPES_I32_I64 | DTYPE_BIT(ASSAY_INT8) | DTYPE_BIT(ASSAY_INT16))
#define DTYPES_UNSIGNED \
  (DTYPE_BIT(ASSAY_UINT8) | DTYPE_BIT(ASSAY_UINT16) | DTYPE_BIT(ASSAY_UINT32) | DTYPE_BIT(ASSAY_UINT64))
#define DTYPES_INTEGER (DTYPES_SIGNED | DTYPES_UNSIGNED)
#define DTYPES_NUMBER (DTYPES_F32_F64 | DTYPES_INTEGER)
#define DTYPES_BOOL DTYPE_BIT(ASSAY_BOOL)
/* The floats that operators compute with; the 16-bit ones are widened to float and rounded once at the end. */
#define DTYPES_FLOAT (DTYPES_F32_F64 | DTYPE_BIT(ASSAY_FLOAT16) | DTYPE_BIT(ASSAY_BFLOAT16))
#define DTYPES_FLOAT8                                                                              \
  (DTYPE_BIT(ASSAY_FLOAT8E4M3FN) | DTYPE_BIT(ASSAY_FLOAT8E4M3FNUZ) | DTYPE_BIT(ASSAY_FLOAT8E5M2) | \
   DTYPE_BIT(ASSAY_FLOAT8E5M2FNUZ) | DTYPE_BIT(ASSAY_FLOAT8E8M0))
#define DTYPES_ARITHMETIC (DTYPES_FLOAT | DTYPES_INTEGER)
#define DTYPES_STRING DTYPE_BIT(ASSAY_STRING)
/* Whatever has elements of whole bytes: what data movement takes. */
#define DTYPES_BYTES                                                                                                 \
  (DTYPES_NUMBER | DTYPES_BOOL | DTYPE_BIT(ASSAY_FLOAT16) | DTYPE_BIT(ASSAY_BFLOAT16) | DTYPE_BIT(ASSAY_COMPLEX64) | \
   DTYPE_BIT(ASSAY_COMPLEX128) | DTYPE_BIT(ASSAY_FLOAT8E4M3FN) | DTYPE_BIT(ASSAY_FLOAT8E4M3FNUZ) |                   \
   DTYPE_BIT(ASSAY_FLOAT8E5M2) | DTYPE_BIT(ASSAY_FLOAT8E5M2FNUZ) | DTYPE_BIT(ASSAY_FLOAT8E8M0))

#define DTYPES_MOVABLE (DTYPES_BYTES | DTYPES_STRING)
/* Elements of less than a byte. */
#define DTYPES_PACKED                                                                                \
  (DTYPE_BIT(ASSAY_INT4) | DTYPE_BIT(ASSAY_UINT4) | DTYPE_BIT(ASSAY_INT2) | DTYPE_BIT(ASSAY_UINT2) | \
   DTYPE_BIT(ASSAY_FLOAT4E2M1))
#define DTYPES_ANY (DTYPES_MOVABLE | DTYPES_PACKED)

typedef assay_status op_prepare_function(struct op_prepare *prepare);
typedef assay_status op_run_function(struct op_run *run);

/* For rows that have nothing to prepare. */
op_prepare_function op_prepare_nothing;

#define OPERATOR(name, domain, since, until, arithmetic, dtypes, dot_operands, infer, prepare, run) \
  extern infer_function infer;                                                                      \
  extern op_prepare_function prepare;                                                               \
  extern op_run_function run;
#include "ops/operators.inc"
#undef OPERATOR

#endif
