/* The table of operators and the search in it. A node finds its operator by
 * domain, name and opset version, or there is an error; never the nearest one. */
#include <string.h>

#include "core/text.h"
#include "ops/operators.h"

/* The rows, and one empty row at the end that is never found. */
static const struct op operators[] = {
#define OPERATOR(name_, domain_, since_, until_, arithmetic_, dtypes_, dot_operands_, infer_, prepare_, run_) \
  {.schema = {.infer = infer_},                                                                               \
   .domain = domain_,                                                                                         \
   .name = #name_,                                                                                            \
   .since = since_,                                                                                           \
   .until = until_,                                                                                           \
   .arithmetic = arithmetic_,                                                                                 \
   .dtypes = dtypes_,                                                                                         \
   .dot_operands = dot_operands_,                                                                             \
   .prepare = prepare_,                                                                                       \
   .run = run_},
#include "ops/operators.inc"
#undef OPERATOR
    {.name = ""}};

enum { OPERATOR_COUNT = sizeof operators / sizeof *operators - 1 };

assay_status op_prepare_nothing(struct op_prepare *prepare) {
  (void)prepare;
  return status_ok();
}

int32_t op_count(void) { return OPERATOR_COUNT; }

const struct op *op_at(int32_t i) { return i >= 0 && i < OPERATOR_COUNT ? &operators[i] : NULL; }

/* The first row that is not before `name`. */
static int32_t first_row(const char *name) {
  int32_t low = 0, high = OPERATOR_COUNT;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (strcmp(operators[middle].name, name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Fails with what the table has instead. */
static assay_status unknown_operator(const struct node *node) {
  struct text versions = {0};
  const char *domain = node->domain[0] == '\0' ? "ai.onnx" : node->domain;
  for (int32_t i = first_row(node->op_type); i < OPERATOR_COUNT && strcmp(operators[i].name, node->op_type) == 0; i++) {
    if (strcmp(operators[i].domain, node->domain) == 0) {
      text_format(&versions, "%s%d to %d", versions.length == 0 ? "" : ", ", operators[i].since, operators[i].until);
    }
  }
  assay_status status =
      versions.length == 0
          ? status_make(ASSAY_OPERATOR_UNKNOWN, node->label,
                        "node '%s' uses operator '%s' of domain '%s' at opset %lld, and assay has no version of it; "
                        "export the model without this operator",
                        node->label, node->op_type, domain, (long long)node->opset)
          : status_make(ASSAY_OPERATOR_UNKNOWN, node->label,
                        "node '%s' uses operator '%s' of domain '%s' at opset %lld, and assay has it for opsets %s; "
                        "export the model with one of these",
                        node->label, node->op_type, domain, (long long)node->opset, text_string(&versions));
  text_free(&versions);
  return status;
}

assay_status op_find(const struct node *node, const struct op **out) {
  for (int32_t i = first_row(node->op_type); i < OPERATOR_COUNT && strcmp(operators[i].name, node->op_type) == 0; i++) {
    const struct op *op = &operators[i];
    if (strcmp(op->domain, node->domain) == 0 && node->opset >= op->since && node->opset <= op->until) {
      *out = op;
      return op_check_attributes(node);
    }
  }
  return unknown_operator(node);
}

static assay_status find_schema(const void *user, const struct node *node, const struct schema **out) {
  (void)user;
  const struct op *op = NULL;
  TRY(op_find(node, &op));
  *out = &op->schema;
  return status_ok();
}

const struct schema_source *op_schemas(void) {
  static const struct schema_source source = {.find = find_schema};
  return &source;
}
