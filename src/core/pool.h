/* A pool of threads that share loops by static partition: which thread
 * computes what depends on the counts alone, and no result depends on it.
 * Pool threads set the floating-point environment (core/fpenv.h). One loop at
 * a time per pool; the caller takes part as worker 0. */
#ifndef CORE_POOL_H
#define CORE_POOL_H

#include <stdint.h>

#include "core/status.h"

struct pool;

/* threads >= 1; 1 makes a pool without threads. */
ASSAY_MUST_CHECK assay_status pool_new(int threads, struct pool **out);
void pool_free(struct pool *pool);
int pool_threads(const struct pool *pool); /* NULL counts as 1 */

/* Calls work(argument, begin, end, worker) on disjoint ranges that cover
 * [0, count). Ranges are multiples of `grain` but the last; when count <= grain
 * everything runs on the caller. `pool` may be NULL: all on the caller.
 * Allocates nothing and takes no lock when single-threaded. */
typedef void pool_work(void *argument, int64_t begin, int64_t end, int worker);
void pool_for(struct pool *pool, int64_t count, int64_t grain, pool_work *work, void *argument);

#endif
