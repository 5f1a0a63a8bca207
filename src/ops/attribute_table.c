/* Which attributes an operator has at which opset, and of what kind. An attribute that the operator does not have
 * is an error, never skipped: whoever wrote it meant something by it. */
#include <string.h>

#include "ops/ops.h"

struct attribute_row {
  const char *op_type, *name;
  enum attribute_kind kind;
  int32_t since, until;
};

static const struct attribute_row rows[] = {
#define ATTRIBUTE(op_type, name, kind, since, until) {#op_type, #name, ATTRIBUTE_##kind, since, until},
#include "ops/attributes.inc"
#undef ATTRIBUTE
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* The first row that is not before the operator. */
static int32_t first_row(const char *op_type) {
  int32_t low = 0, high = ROW_COUNT;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (strcmp(rows[middle].op_type, op_type) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static assay_status wrong_attribute(const struct node *node, const struct attribute *attribute, bool known) {
  return status_make(ASSAY_NODE_INVALID, node->label,
                     "node '%s' has attribute '%s', which operator '%s' %s at opset %lld; export the model again",
                     node->label, attribute->name, node->op_type, known ? "takes in another type" : "does not have",
                     (long long)node->opset);
}

static assay_status check_attribute(const struct node *node, int32_t first, const struct attribute *attribute) {
  bool known = false;
  for (int32_t i = first; i < ROW_COUNT && strcmp(rows[i].op_type, node->op_type) == 0; i++) {
    const struct attribute_row *row = &rows[i];
    if (strcmp(row->name, attribute->name) != 0 || node->opset < row->since || node->opset > row->until) {
      continue;
    }
    if (row->kind == attribute->kind) {
      return status_ok();
    }
    known = true;
  }
  return wrong_attribute(node, attribute, known);
}

assay_status op_check_attributes(const struct node *node) {
  if (node->domain[0] != '\0') {
    return status_ok(); /* the table of operators has none of another domain */
  }
  int32_t first = first_row(node->op_type);
  for (int32_t i = 0; i < node->n_attributes; i++) {
    TRY(check_attribute(node, first, &node->attributes[i]));
  }
  return status_ok();
}
