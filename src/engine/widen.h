/* The graph of an fp64 session: a copy in which every attribute that makes a float32 tensor makes a
 * float64 one. Weights and declared types are widened where they are read; attributes that are plain numbers stay
 * the float32 number. */
#ifndef ENGINE_WIDEN_H
#define ENGINE_WIDEN_H

#include "core/arena.h"
#include "model/graph.h"

/* The copy lives in `arena` and leans on `graph`, which must outlive it. */
ASSAY_MUST_CHECK assay_status graph_widen(const struct graph *graph, struct arena *arena, struct graph **out);
/* The values alone; any alignment of `from`. */
void floats_widen(const void *from, double *to, int64_t count);

#endif
