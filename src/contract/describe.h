/* What a contract says, as an ordered list of statements: one thing, one value. Two contracts that mean the same give
 * the same list, whatever their text looks like: keys in another order, groups or lists, defaults written out.
 * Everything that compares declarations (contract diff, the ledger) goes by this list and by nothing else. */
#ifndef CONTRACT_DESCRIBE_H
#define CONTRACT_DESCRIBE_H

#include "contract/contract.h"

enum statement_kind {
  STATEMENT_FACT,    /* another value means another thing */
  STATEMENT_CEILING, /* a number that must not be exceeded: a larger one asks less; without one nothing is asked */
  STATEMENT_FLOOR,   /* a number that must be reached: a smaller one asks less; without one nothing is asked */
  STATEMENT_ORDER,   /* names, in an order that counts; joined by ", " */
  STATEMENT_KIND_COUNT
};

struct statement {
  const char *root; /* "output action" */
  const char *part; /* "component wrist", or NULL: of the root as a whole */
  const char *what; /* "tolerance max" */
  const char *value;
  const char *unit; /* NULL: none */
  enum statement_kind kind;
  /* A verdict is judged by it, or the guard refuses by it: after a REJECT, its change is remembered for good. */
  bool judges;
  double number; /* of a ceiling or a floor */
};

/* A list that grows in an arena. After an allocation failed, `failed` is set and nothing more is added. */
struct statements {
  struct arena *arena;
  struct statement *items;
  int32_t count, capacity;
  const char *root, *part; /* of what is added next */
  bool failed;
};

ASSAY_MUST_CHECK assay_status contract_describe(const struct contract *contract, struct statements *out);

/* For those who describe: everything that is added belongs to this root and part until the next call. */
void describe_root(struct statements *out, const char *format, ...) PRINTF_LIKE(2, 3);
void describe_part(struct statements *out, const char *format, ...) PRINTF_LIKE(2, 3); /* NULL: the root itself */
/* A fact. `judges` as in struct statement. */
void describe_fact(struct statements *out, bool judges, const char *what, const char *format, ...) PRINTF_LIKE(4, 5);
/* The same for a text that may be absent: NULL adds nothing. */
void describe_text(struct statements *out, bool judges, const char *what, const char *value);
void describe_fact_number(struct statements *out, bool judges, const char *what, double value, const char *unit);
/* A ceiling or a floor that judges; NaN adds nothing. */
void describe_bound(struct statements *out, enum statement_kind kind, const char *what, double value, const char *unit);
/* Any statement, copied. */
void describe_add(struct statements *out, const struct statement *statement);
/* OUT_OF_MEMORY when anything could not be added. */
ASSAY_MUST_CHECK assay_status describe_status(const struct statements *out);

/* The shortest decimal that reads back as the same number. */
enum { NUMBER_SIZE = 32 };
void number_text(char out[NUMBER_SIZE], double value);
/* One number where all are alike, otherwise the list. */
void numbers_text(struct text *out, const double *values, int32_t n);

/* The parts of a contract that have files of their own. */
void describe_role(struct statements *out, const struct contract_input *input); /* noise, tokens */
void describe_detections(struct statements *out, const struct contract_output *output);
void describe_checks(struct statements *out, const struct contract *contract); /* freshness and monitors */
void describe_tolerance(struct statements *out, const struct tolerance *tolerance, const char *unit,
                        const char *raw_unit);
void describe_terms(struct statements *out, const struct contract_terms *terms); /* NULL is harmless */
void describe_preprocess(struct statements *out, const struct contract_input *input);
void describe_decode(struct statements *out, const struct contract_component *component);
void describe_stages(struct statements *out, const struct contract_stages *stages);
const char *describe_path(const char *path); /* "./policy.onnx" and "policy.onnx" are one file */

/* How two statements of one thing differ. */
enum change_mark { CHANGE_NONE, CHANGE_LOOSER, CHANGE_TIGHTER, CHANGE_OTHER, CHANGE_ADDED, CHANGE_REMOVED };
const char *change_mark_name(enum change_mark mark); /* "looser", "tighter", "changed", "added", "removed" */
/* NULL: not said there. Both are about the same root, part and what. */
enum change_mark statement_compare(const struct statement *from, const struct statement *to);
/* By root, part and what; 0 when both are about the same thing. */
int statement_order(const struct statement *a, const struct statement *b);

#endif
