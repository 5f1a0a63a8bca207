/* The terms of an input: a flat observation as an ordered list of named parts, each measured by a sensor, taken from an
 * output of the policy, or made from a clock. Parsed with the contract and constant after it; nothing here builds an
 * observation (contract/observe.h does). */
#ifndef CONTRACT_TERMS_H
#define CONTRACT_TERMS_H

#include "contract/contract.h"

/* What a term does to its values: in double, one rounding a step, in the order of the list. */
enum term_step_kind {
  TERM_OFFSET, /* x + a */
  TERM_SCALE,  /* x * a */
  TERM_DIVIDE, /* x / a */
  TERM_CLIP    /* to [a, b] */
};
struct term_step {
  enum term_step_kind kind;
  int32_t n;           /* numbers in a and b: 1, or one for each element */
  const double *a, *b; /* b: clips alone */
};

enum term_source { TERM_SENSOR, TERM_OUTPUT, TERM_CLOCK };
enum clock_form { CLOCK_SIN, CLOCK_COS, CLOCK_PHASE };
enum { CLOCK_FORMS_MAX = 8 };

struct contract_term {
  const char *name; /* unique in its input */
  struct mark mark;
  enum term_source source;
  const char *unit; /* NULL when not given */
  int32_t n_elements;
  const char *const *elements; /* a name for each: given, the output's components, "sin", or "<term>[3]" */
  int32_t history;             /* steps in the observation, 1 when it has none */
  int32_t n_steps;
  const struct term_step *steps;

  const char *raw; /* a sensor's: the raw/<name> array that it is measured by; otherwise NULL */
  /* Element i is element picks[i] of the sensor's array or of the output; NULL for the sensor's own order. */
  const int64_t *picks;

  const char *output;    /* an output's: an output of the contract; otherwise NULL */
  bool decoded;          /* space: decoded, otherwise the model's own number */
  int32_t lag;           /* how many steps ago it was answered; 0: by an earlier stage in this step */
  const double *initial; /* [n_elements] what stands for answers before the first, in the term's space */

  double period_steps; /* a clock's: steps of the policy that one turn takes */
  double period_s;     /* the same in seconds, as it was given; 0 when it was given in steps */
  double start;        /* share of a turn at the first step */
  int32_t n_forms;     /* == n_elements */
  enum clock_form forms[CLOCK_FORMS_MAX];
};

enum history_layout { HISTORY_TERM_MAJOR, HISTORY_TIME_MAJOR };
enum history_order { HISTORY_OLDEST_FIRST, HISTORY_NEWEST_FIRST };
enum history_initial { HISTORY_REPEAT_FIRST, HISTORY_ZEROS };

struct contract_terms {
  int32_t n_terms;
  const struct contract_term *terms; /* in the order of the observation */
  bool whole;                        /* `from` at the input: one term, named as the input */
  int64_t size;                      /* elements of the observation: sum of elements x history */
  bool has_clip;                     /* of the whole observation, after the terms */
  double clip_min, clip_max;
  bool has_history; /* the three below were given; otherwise every term has a history of 1 */
  enum history_layout layout;
  enum history_order order;
  enum history_initial initial;
};

/* Where the values of term `term` that are `age` steps old begin in the observation. */
int64_t terms_position(const struct contract_terms *terms, int32_t term, int32_t age);
/* Whether the terms need more than this step's sensors: history, an earlier answer, or a clock. */
bool terms_have_past(const struct contract_terms *terms);
/* Whether an answer of an earlier step is fed back. */
bool terms_close_loop(const struct contract_terms *terms);
/* The first input of the contract whose term is measured by that sensor, with the term in *term; NULL when none is. */
const struct contract_input *terms_find_sensor(const struct contract *contract, const char *sensor,
                                               const struct contract_term **term);

#endif
