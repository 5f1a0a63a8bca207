/* What is checked of a model before anything is planned: that every node, dead ones and those of subgraphs
 * included, has an operator in the table, and that no node draws random numbers. */
#ifndef ENGINE_LOAD_CHECK_H
#define ENGINE_LOAD_CHECK_H

#include "engine/engine.h"

ASSAY_MUST_CHECK assay_status load_check(const struct graph *graph);
/* Every label of the options' `keep` is a node's; NODE_UNKNOWN with the nearest one otherwise. */
ASSAY_MUST_CHECK assay_status load_check_keep(const struct graph *graph, const struct session_options *options);
/* Does the graph, or a subgraph of it, have a value of this name? */
bool graph_has_value(const struct graph *graph, const char *name);

#endif
