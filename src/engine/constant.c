/* Constants of a plan: weights straight from the mapped file where they can be used as they lie,
 * otherwise aligned, widened or rounded copies; and their end once they are packed. */
#include <string.h>

#include "core/memory.h"
#include "engine/graph_plan.h"
#include "engine/widen.h"

/* Constants that inference may look at are made ready at once. */
enum { SMALL_BYTES = 1 << 18 };

static size_t alignment_of(assay_dtype dtype) {
  size_t bits = assay_dtype_bits(dtype);
  return dtype == ASSAY_STRING || bits >= 64 ? 8 : (bits <= 8 ? 1 : bits / 8);
}

static bool is_aligned(const assay_tensor *tensor) {
  return (uintptr_t)tensor->data % alignment_of(tensor->dtype) == 0;
}

static bool is_widened(const struct graph_plan *plan, assay_dtype dtype) {
  return plan->engine->policy.precision == PRECISION_FP64 && dtype == ASSAY_FLOAT32;
}

static assay_status take_memory(struct graph_plan *plan, size_t bytes, void **out) {
  TRY(budget_take(&plan->engine->budget, bytes, "a copy of a weight"));
  *out = memory_alloc_aligned(bytes);
  if (*out == NULL) {
    budget_give(&plan->engine->budget, bytes);
    return status_no_memory(bytes);
  }
  return status_ok();
}

static void give_memory(struct graph_plan *plan, void **memory, size_t *bytes) {
  if (*memory != NULL) {
    budget_give(&plan->engine->budget, *bytes);
    memory_free(*memory);
  }
  *memory = NULL;
  *bytes = 0;
}

/* Makes slot->tensor usable: aligned, and float64 in an fp64 session. */
static assay_status make_ready(struct graph_plan *plan, struct slot *slot) {
  if (slot->ready) {
    return status_ok();
  }
  assay_tensor *tensor = &slot->tensor;
  bool widen = is_widened(plan, tensor->dtype);
  if (widen || !is_aligned(tensor)) {
    size_t bytes = tensor->bytes;
    if (widen && !size_mul(bytes, 2, &bytes)) {
      return status_no_memory(SIZE_MAX);
    }
    void *memory;
    TRY(take_memory(plan, bytes, &memory));
    if (widen) {
      floats_widen(tensor->data, memory, tensor_count(tensor));
    } else {
      memcpy(memory, tensor->data, bytes);
    }
    model_release_pages(plan->engine->model, tensor);
    tensor->dtype = widen ? ASSAY_FLOAT64 : tensor->dtype;
    tensor->data = memory;
    tensor->bytes = bytes;
    slot->owned = memory;
    slot->owned_bytes = bytes;
  }
  slot->ready = true;
  return status_ok();
}

static assay_status make_copy(struct graph_plan *plan, struct slot *slot) {
  if (slot->copy_owned != NULL) {
    return status_ok();
  }
  TRY(take_memory(plan, slot->tensor.bytes, &slot->copy_owned));
  slot->copy_bytes = slot->tensor.bytes;
  slot->copy = slot->tensor;
  slot->copy.data = slot->copy_owned;
  policy_round(&plan->engine->policy, slot->tensor.data, slot->copy.data, tensor_count(&slot->tensor));
  return status_ok();
}

assay_status slot_constant(struct graph_plan *plan, int32_t value, bool rounded, const assay_tensor **out) {
  struct slot *slot = &plan->slots[value];
  if (slot->from_outer) {
    return slot_constant(plan->parent, plan->graph->values[value].outer, rounded, out);
  }
  if (slot->released) {
    return status_make(ASSAY_INTERNAL, plan->graph->values[value].name, "a constant is used after its last use");
  }
  TRY(make_ready(plan, slot));
  if (rounded && !slot->rounded && slot->tensor.dtype == ASSAY_FLOAT32) {
    TRY(make_copy(plan, slot));
    *out = &slot->copy;
  } else {
    *out = &slot->tensor;
  }
  return status_ok();
}

assay_status slot_set_constant(struct graph_plan *plan, int32_t value, const assay_tensor *tensor) {
  struct slot *slot = &plan->slots[value];
  slot->home = SLOT_CONSTANT;
  slot->fixed = true;
  slot->ready = false;
  slot->tensor = *tensor;
  slot->known.type = type_of_tensor(tensor);
  if (is_widened(plan, tensor->dtype)) {
    slot->known.type.dtype = ASSAY_FLOAT64;
  }
  bool as_it_lies = is_aligned(tensor) && !is_widened(plan, tensor->dtype);
  if (as_it_lies || tensor->bytes <= SMALL_BYTES) {
    TRY(make_ready(plan, slot));
    slot->known.constant = &slot->tensor;
  }
  return status_ok();
}

assay_status slot_keep_constant(struct graph_plan *plan, int32_t value) {
  struct slot *slot = &plan->slots[value];
  void *memory;
  TRY(take_memory(plan, slot->tensor.bytes, &memory));
  if (slot->tensor.bytes > 0) {
    memcpy(memory, slot->tensor.data, slot->tensor.bytes);
  }
  slot->owned = memory;
  slot->owned_bytes = slot->tensor.bytes;
  slot->tensor.data = memory;
  slot->home = SLOT_CONSTANT;
  slot->fixed = true;
  slot->ready = true;
  slot->known.type = type_of_tensor(&slot->tensor);
  slot->known.constant = &slot->tensor;
  return status_ok();
}

static void release(struct graph_plan *plan, int32_t value) {
  struct slot *slot = &plan->slots[value];
  if (slot->owned == NULL && plan->graph->values[value].initializer >= 0 && slot->tensor.data != NULL) {
    model_release_pages(plan->engine->model, &slot->tensor);
  }
  slot_free(plan, slot);
  slot->tensor.data = NULL;
  slot->copy.data = NULL;
  slot->known.constant = NULL;
  slot->released = true;
}

void slot_unuse(struct graph_plan *plan, int32_t value) {
  struct slot *slot = &plan->slots[value];
  slot->uses = slot->uses > 0 ? slot->uses - 1 : 0;
  if (slot->uses == 0 && slot->home == SLOT_CONSTANT && !slot->from_outer && !slot->released &&
      !plan->engine->keep_dead) {
    release(plan, value);
  }
}

void slot_free(struct graph_plan *plan, struct slot *slot) {
  give_memory(plan, &slot->owned, &slot->owned_bytes);
  give_memory(plan, &slot->copy_owned, &slot->copy_bytes);
}
