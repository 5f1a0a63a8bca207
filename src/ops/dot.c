/* What the operators of class ARITHMETIC_DOT share. Which thread computes what must never change a bit. */
#include "ops/dot.h"

#include "core/memory.h"

/* Multiply-adds below which waking other threads costs more than it brings. */
enum { WORTH_SHARING = 1 << 18 };

bool dot_kernels_find(const struct kernels *kernels, assay_dtype dtype, struct dot_kernels *out) {
  switch (dtype) {
    case ASSAY_FLOAT32:
      *out = (struct dot_kernels){4, kernels->f32_pack_a, kernels->f32_pack_b, kernels->f32_gemm, kernels->f32_conv};
      return true;
    case ASSAY_FLOAT64:
      *out = (struct dot_kernels){8, kernels->f64_pack_a, kernels->f64_pack_b, kernels->f64_gemm, kernels->f64_conv};
      return true;
    case ASSAY_INT32:
    case ASSAY_UINT32:
      *out = (struct dot_kernels){4, kernels->u32_pack_a, kernels->u32_pack_b, kernels->u32_gemm, kernels->u32_conv};
      return true;
    default:
      return false;
  }
}

size_t dot_scratch_bytes(const struct dot_kernels *kernels) { return (size_t)gemm_scratch() * kernels->size; }

assay_status dot_bytes(int64_t a, int64_t b, size_t c, size_t *out) {
  size_t bytes = 0;
  if (!size_mul((size_t)a, (size_t)b, &bytes) || !size_mul(bytes, c, &bytes) || !size_add(bytes, 63, &bytes)) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "%lld x %lld elements are more than memory can hold", (long long)a,
                       (long long)b);
  }
  *out = bytes & ~(size_t)63;
  return status_ok();
}

assay_status dot_packed_b_bytes(const struct dot_kernels *kernels, int64_t k, int64_t n, size_t *out) {
  return dot_bytes(gemm_units(n), k, kernels->size * GEMM_UNIT, out);
}

assay_status dot_packed_a_bytes(const struct dot_kernels *kernels, int64_t m, int64_t k, size_t *out) {
  return dot_bytes(m / GEMM_ROW_UNIT + 1, k, kernels->size * GEMM_ROW_UNIT, out);
}

assay_status plan_alloc(struct op_prepare *prepare, size_t bytes, void **out) {
  char *block = bytes > SIZE_MAX - 64 ? NULL : arena_alloc(prepare->arena, bytes + 64, 1);
  if (block == NULL) {
    return status_no_memory(bytes);
  }
  *out = block + (64 - (uintptr_t)block % 64) % 64;
  return status_ok();
}

assay_status run_workspace(struct op_run *run, size_t bytes, void **out) {
  if (bytes <= run->workspace_bytes) {
    *out = run->workspace;
    return status_ok();
  }
  return run->scratch(run, bytes, out);
}

void dot_share(struct pool *pool, int64_t count, int64_t steps, pool_work *work, void *argument) {
  int64_t together = steps > 0 ? (WORTH_SHARING + steps - 1) / steps : count;
  /* Few tasks a range, so that the last thread does not wait long; all of it here when it is little. */
  pool_for(pool, count, count <= together ? count : 1, work, argument);
}

/* --- packing ------------------------------------------------------------- */

struct pack_job {
  const struct dot_kernels *kernels;
  const char *b;
  char *packed;
  int64_t row, column, k, n, units;
};

static void pack_some(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct pack_job *job = argument;
  size_t size = job->kernels->size;
  for (int64_t i = begin; i < end; i++) {
    int64_t matrix = i / job->units, unit = i % job->units;
    job->kernels->pack_b(job->b + (size_t)(matrix * job->k * job->n) * size, job->row, job->column, job->k, job->n,
                         unit, unit + 1, job->packed + (size_t)(matrix * gemm_packed_b(job->k, job->n)) * size);
  }
}

void dot_pack_b_all(const struct dot_kernels *kernels, struct pool *pool, const void *b, int64_t row, int64_t column,
                    int64_t k, int64_t n, int64_t count, void *packed) {
  if (k == 0 || n == 0) {
    return;
  }
  struct pack_job job = {kernels, b, packed, row, column, k, n, gemm_units(n)};
  dot_share(pool, count * job.units, k * GEMM_UNIT, pack_some, &job);
}

assay_status dot_pack_constant(struct op_prepare *prepare, const struct dot_kernels *kernels, const void *b,
                               int64_t row, int64_t column, int64_t k, int64_t n, int64_t count, const void **out) {
  size_t bytes = 0;
  void *packed = NULL;
  TRY(dot_packed_b_bytes(kernels, k, n, &bytes));
  TRY(dot_bytes((int64_t)bytes, count, 1, &bytes));
  TRY(plan_alloc(prepare, bytes, &packed));
  dot_pack_b_all(kernels, NULL, b, row, column, k, n, count, packed);
  *out = packed;
  return status_ok();
}

assay_status dot_workspace(const struct dot_kernels *kernels, int threads, bool packed, int64_t k, int64_t n,
                           int64_t count, size_t *scratch, size_t *bytes) {
  size_t matrix = 0;
  TRY(dot_bytes(threads, 1, dot_scratch_bytes(kernels), scratch));
  *bytes = *scratch;
  if (packed) {
    return status_ok();
  }
  TRY(dot_packed_b_bytes(kernels, k, n, &matrix));
  TRY(dot_bytes((int64_t)matrix, count, 1, &matrix));
  return dot_bytes((int64_t)*scratch + (int64_t)matrix, 1, 1, bytes);
}

/* --- products ------------------------------------------------------------ */

struct products_job {
  const struct dot_kernels *kernels;
  const struct dot_products *products;
  int64_t row_blocks, column_groups, units;
  char *scratch;
};

/* The i-th product of a batch. */
static struct gemm_arguments product_at(const struct products_job *job, int64_t i) {
  const struct dot_products *p = job->products;
  struct gemm_arguments g = p->g;
  int64_t rest = i, a = 0, b = 0;
  for (int axis = p->rank - 1; axis >= 0; axis--) {
    int64_t at = rest % p->dims[axis];
    rest /= p->dims[axis];
    a += at * p->a_stride[axis];
    b += at * p->b_stride[axis];
  }
  size_t size = job->kernels->size;
  g.a = (const char *)g.a + (size_t)a * size;
  g.packed_b = (const char *)g.packed_b + (size_t)(b * p->b_elements) * size;
  g.c = (char *)g.c + (size_t)(i * g.m * g.n) * size;
  return g;
}

static void multiply_some(void *argument, int64_t begin, int64_t end, int worker) {
  const struct products_job *job = argument;
  void *scratch = job->scratch + (size_t)worker * dot_scratch_bytes(job->kernels);
  int64_t tasks = job->row_blocks * job->column_groups;
  for (int64_t i = begin; i < end; i++) {
    struct gemm_arguments g = product_at(job, i / tasks);
    int64_t row = i % tasks / job->column_groups * GEMM_BLOCK_ROWS, group = i % tasks % job->column_groups;
    int64_t row_end = g.m - row < GEMM_BLOCK_ROWS ? g.m : row + GEMM_BLOCK_ROWS;
    job->kernels->gemm(&g, row, row_end, group * job->units / job->column_groups,
                       (group + 1) * job->units / job->column_groups, scratch);
  }
}

void dot_products_run(const struct dot_kernels *kernels, struct pool *pool, const struct dot_products *products,
                      void *scratch) {
  const struct gemm_arguments *g = &products->g;
  if (g->m == 0 || g->n == 0 || products->count == 0) {
    return;
  }
  struct products_job job = {.kernels = kernels, .products = products, .units = gemm_units(g->n), .scratch = scratch};
  job.row_blocks = (g->m + GEMM_BLOCK_ROWS - 1) / GEMM_BLOCK_ROWS;
  int64_t threads = pool_threads(pool),
          wanted = threads == 1 ? 1 : 4 * threads / (job.row_blocks * products->count) + 1;
  job.column_groups = wanted < job.units ? wanted : job.units;
  int64_t tasks = products->count * job.row_blocks * job.column_groups;
  int64_t rows = g->m < GEMM_BLOCK_ROWS ? g->m : GEMM_BLOCK_ROWS;
  dot_share(pool, tasks, rows * (g->n / job.column_groups + 1) * (g->k + 1), multiply_some, &job);
}

void dot_matmul_sizes(const int64_t *a, int a_rank, const int64_t *b, int b_rank, struct dot_products *p) {
  struct gemm_arguments *g = &p->g;
  g->k = a[a_rank - 1];
  g->m = a_rank > 1 ? a[a_rank - 2] : 1;
  g->n = b_rank > 1 ? b[b_rank - 1] : 1;
  g->a_row = g->k, g->a_column = 1, g->c_row = g->n;
  p->b_elements = gemm_packed_b(g->k, g->n);
  int a_batch = a_rank > 2 ? a_rank - 2 : 0, b_batch = b_rank > 2 ? b_rank - 2 : 0;
  p->rank = a_batch > b_batch ? a_batch : b_batch;
  p->count = 1;
  int64_t a_at = g->m * g->k, b_at = 1;
  for (int i = 0; i < p->rank; i++) { /* from the last axis of the batch on */
    int axis = p->rank - 1 - i;
    int64_t da = i < a_batch ? a[a_batch - 1 - i] : 1, db = i < b_batch ? b[b_batch - 1 - i] : 1;
    p->dims[axis] = da == 1 ? db : da;
    p->a_stride[axis] = da == 1 ? 0 : a_at;
    p->b_stride[axis] = db == 1 ? 0 : b_at;
    a_at *= da;
    b_at *= db;
    p->count *= p->dims[axis];
  }
  if (b_at == 1 && a_at == p->count * g->m * g->k) {
    g->m *= p->count;
    p->count = 1;
    p->rank = 0;
  }
}

/* --- MatMul's shapes ------------------------------------------------------- */

assay_status dot_infer_matmul(struct infer *infer, int32_t left, int32_t right, assay_dtype dtype) {
  struct value_type a = infer->inputs[left]->type, b = infer->inputs[right]->type, batch;
  if (a.kind != TYPE_TENSOR || b.kind != TYPE_TENSOR || a.rank < 0 || b.rank < 0) {
    infer_set(infer, 0, dtype, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  struct dim inner_a = a.dims[a.rank - 1], inner_b = b.dims[b.rank == 1 ? 0 : b.rank - 2], inner;
  if (!dim_merge(inner_a, inner_b, &inner)) {
    return status_make(
        ASSAY_SHAPE_CONFLICT, NULL,
        "the last dimension of input %d is %lld and the matching one of input %d is %lld; they must be equal",
        (int)left, (long long)inner_a.value, (int)right, (long long)inner_b.value);
  }
  struct dim m = a.rank > 1 ? a.dims[a.rank - 2] : dim_unknown(), n = b.dims[b.rank - 1];
  bool has_m = a.rank > 1, has_n = b.rank > 1;
  a.rank = a.rank > 2 ? a.rank - 2 : 0;
  b.rank = b.rank > 2 ? b.rank - 2 : 0;
  TRY(type_broadcast(&a, &b, &batch));
  if (has_m) {
    batch.dims[batch.rank++] = m;
  }
  if (has_n) {
    batch.dims[batch.rank++] = n;
  }
  infer_set(infer, 0, dtype, batch.rank, batch.dims);
  return status_ok();
}
