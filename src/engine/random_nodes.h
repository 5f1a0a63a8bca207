/* Nodes of a model that draw random numbers: with one of them the model has no one answer, whichever runtime runs it.
 * Found in the file, subgraphs and functions included; nothing is run. */
#ifndef ENGINE_RANDOM_NODES_H
#define ENGINE_RANDOM_NODES_H

#include "model/model.h"

struct random_node {
  const char *label, *op; /* of the node; op: its type */
  const char *tensor;     /* what it draws */
  const char *sentence;   /* what it does, and how to make it an input, with the lines for a contract */
};

/* In the order of the graph, in `arena`. A Dropout counts unless it is plain that it drops nothing: not in training
 * mode, or with a ratio of 0. A node without a use counts too. The attribute `seed` changes nothing. */
ASSAY_MUST_CHECK assay_status random_nodes_find(const struct model *model, struct arena *arena,
                                                const struct random_node **out, int32_t *count);

/* By type alone: RandomNormal, RandomUniform, their Like forms, Bernoulli, Multinomial. */
bool node_draws(const struct node *node);

#endif
