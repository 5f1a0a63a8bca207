/* Computes single nodes of constants for inference, by the kernels that a run would use. Must never turn a few
 * numbers into gigabytes, nor run a loop. */
#include "engine/fold.h"

#include <string.h>

#include "core/fpenv.h"
#include "ops/ops.h"

enum { FOLD_BYTES = 1 << 20, ALIGNMENT = 64 }; /* for outputs, and for scratch */

/* One node being computed. */
struct folding {
  const struct node *node;
  const struct op *op;
  struct arena *results; /* the caller's: outputs live there */
  struct arena scratch;
  assay_tensor *outputs;
  assay_tensor **wanted; /* NULL for outputs that are absent */
  struct infer_value *values;
  const struct infer_value **inputs;
  struct infer_value *inferred;
};

/* Memory that starts at a multiple of 64. */
static assay_status take(struct arena *arena, size_t bytes, void **out) {
  if (bytes > FOLD_BYTES) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "%zu bytes are too many to compute while inferring", bytes);
  }
  unsigned char *block = arena_alloc(arena, bytes + ALIGNMENT, 1);
  if (block == NULL) {
    return status_no_memory(bytes);
  }
  *out = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
  return status_ok();
}

static assay_status shape_output(struct folding *folding, int32_t output, assay_dtype dtype, const int64_t *dims,
                                 int32_t rank) {
  assay_tensor *tensor = &folding->outputs[output];
  int64_t count;
  *tensor = (assay_tensor){.dtype = dtype, .rank = rank};
  if (rank < 0 || rank > ASSAY_RANK_MAX || !shape_count(dims, rank, &count) ||
      !dtype_bytes(dtype, count, &tensor->bytes)) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "an output has more elements than can be counted");
  }
  memcpy(tensor->dims, dims, (size_t)rank * sizeof *dims);
  return take(folding->results, tensor->bytes, &tensor->data);
}

static assay_status fold_resize(struct op_run *run, int32_t output, assay_dtype dtype, const int64_t *dims, int rank) {
  struct folding *folding = run->engine;
  if (output < 0 || output >= folding->node->n_outputs || folding->wanted[output] == NULL) {
    return status_make(ASSAY_INTERNAL, NULL, "a shape is given to output %d, which nobody reads", output);
  }
  return folding->outputs[output].data != NULL ? status_ok() : shape_output(folding, output, dtype, dims, rank);
}

static assay_status fold_scratch(struct op_run *run, size_t bytes, void **out) {
  return take(&((struct folding *)run->engine)->scratch, bytes, out);
}

/* The operator's own words on the outputs, from the constants. */
static assay_status infer_again(struct folding *folding, const assay_tensor *const *inputs) {
  const struct node *node = folding->node;
  ARENA_NEW(&folding->scratch, folding->values, node->n_inputs);
  ARENA_NEW(&folding->scratch, folding->inputs, node->n_inputs);
  ARENA_NEW(&folding->scratch, folding->inferred, node->n_outputs);
  for (int32_t i = 0; i < node->n_inputs; i++) {
    if (inputs[i] != NULL) {
      struct value_type *type = &folding->values[i].type;
      *type = (struct value_type){.kind = TYPE_TENSOR, .dtype = inputs[i]->dtype, .rank = inputs[i]->rank};
      for (int32_t k = 0; k < inputs[i]->rank; k++) {
        type->dims[k].value = inputs[i]->dims[k];
      }
      folding->values[i].constant = inputs[i];
      folding->inputs[i] = &folding->values[i];
    }
  }
  for (int32_t i = 0; i < node->n_outputs; i++) {
    folding->inferred[i].type.rank = RANK_UNKNOWN;
  }
  struct infer infer = {.node = node,
                        .inputs = folding->inputs,
                        .outputs = folding->inferred,
                        .arena = &folding->scratch,
                        .user = folding};
  return folding->op->schema.infer(&infer);
}

/* Outputs whose shape is known get their memory; the others wait for fold_resize. */
static assay_status shape_outputs(struct folding *folding) {
  for (int32_t i = 0; i < folding->node->n_outputs; i++) {
    const struct value_type *type = &folding->inferred[i].type;
    int64_t dims[ASSAY_RANK_MAX];
    bool known = type->kind == TYPE_TENSOR && type->dtype != ASSAY_UNDEFINED && type->rank != RANK_UNKNOWN;
    for (int32_t k = 0; known && k < type->rank; k++) {
      dims[k] = type->dims[k].value;
      known = dims[k] >= 0;
    }
    folding->outputs[i] = (assay_tensor){.dtype = type->dtype};
    if (folding->node->outputs[i] >= 0) {
      folding->wanted[i] = &folding->outputs[i];
      if (known) {
        TRY(shape_output(folding, i, type->dtype, dims, type->rank));
      }
    }
  }
  return status_ok();
}

static assay_status compute(struct folding *folding, const assay_tensor *const *inputs) {
  const struct node *node = folding->node;
  const struct kernels *kernels = kernels_best();
  ARENA_NEW(&folding->scratch, folding->wanted, node->n_outputs);
  TRY(infer_again(folding, inputs));
  TRY(shape_outputs(folding));
  struct op_prepare prepare = {.op = folding->op,
                               .node = node,
                               .inputs = folding->inputs,
                               .outputs = folding->inferred,
                               .arena = &folding->scratch,
                               .kernels = kernels,
                               .threads = 1};
  if (folding->op->prepare != NULL) {
    TRY(folding->op->prepare(&prepare));
  }
  struct op_run run = {.op = folding->op,
                       .node = node,
                       .state = prepare.state,
                       .inputs = inputs,
                       .outputs = folding->wanted,
                       .workspace_bytes = prepare.workspace,
                       .kernels = kernels,
                       .engine = folding,
                       .resize = fold_resize,
                       .scratch = fold_scratch};
  TRY(take(&folding->scratch, prepare.workspace, &run.workspace));
  struct fpenv saved = fpenv_enter();
  assay_status status = folding->op->run(&run);
  fpenv_leave(saved);
  return status;
}

static bool has_subgraph(const struct node *node) {
  for (int32_t i = 0; i < node->n_attributes; i++) {
    if (node->attributes[i].graphs != NULL) {
      return true;
    }
  }
  return false;
}

/* run() takes the dtype of input 0, or of output 0 when there is no input. */
static bool takes_dtype(const struct op *op, const struct node *node, const assay_tensor *const *inputs) {
  for (int32_t i = 0; i < node->n_inputs; i++) {
    if (inputs[i] != NULL) {
      return (op->dtypes >> inputs[i]->dtype & 1u) != 0;
    }
  }
  return true;
}

static assay_status fold(const void *user, const struct node *node, const assay_tensor *const *inputs,
                         struct arena *arena, assay_tensor *outputs, bool *done) {
  (void)user;
  struct folding folding = {.node = node, .results = arena, .outputs = outputs};
  *done = false;
  assay_status status = op_find(node, &folding.op);
  if (assay_status_ok(status) && !has_subgraph(node) && takes_dtype(folding.op, node, inputs)) {
    status = compute(&folding, inputs);
    *done = assay_status_ok(status);
  }
  for (int32_t i = 0; *done && i < node->n_outputs; i++) {
    *done = folding.wanted[i] == NULL || outputs[i].data != NULL;
  }
  arena_free(&folding.scratch);
  bool no_memory = status.code == ASSAY_OUT_OF_MEMORY;
  if (!no_memory) {
    assay_status_clear(&status); /* what cannot be computed stays unknown; a run will say why */
  }
  return status;
}

static assay_status find(const void *user, const struct node *node, const struct schema **out) {
  (void)user;
  const struct schema_source *source = op_schemas();
  return source->find(source->user, node, out);
}

const struct schema_source *fold_schemas(void) {
  static const struct schema_source source = {.find = find, .fold = fold};
  return &source;
}
