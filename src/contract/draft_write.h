/* Private to the drafts: how values, their sources and open questions are written. What a file
 * says is never written so that it reads as anything but a value or a comment. */
#ifndef CONTRACT_DRAFT_WRITE_H
#define CONTRACT_DRAFT_WRITE_H

#include "contract/draft.h"

/* Text from a file in a comment: one line, bounded. */
void write_remark(struct text *out, const char *text);
/* An open question, with the reason in brackets: what stands in it can't end the value. */
void write_todo(struct text *out, const char *reason);
/* The shortest digits that give back the number. */
void write_number(struct text *out, double value);
/* Ends a text that went into `out`, to which it hands on a failure. */
void write_part_free(struct text *part, struct text *out);
/* [a, b, c], broken into lines that are indented by `indent`. */
void write_numbers(struct text *out, const double *values, int32_t count, int indent);
void write_words(struct text *out, const char *const *words, int32_t count, int indent);
/* Whether all numbers are the same one. */
bool numbers_alike(const double *values, int32_t count);
/* Whether a column has numbers, and all are this one. */
bool all_are(const struct fact_numbers *column, double value);
/* One number where all are alike, otherwise the list. */
void write_column(struct text *out, const double *values, int32_t count, int indent);

/* Around a value: `{value: ` and `, source: PLACE}`, or nothing when the value stands at the place `base` already
 * (base.file NULL: never). */
void write_value_begin(struct text *out, struct place place, struct place base);
void write_value_end(struct text *out, struct place place, struct place base);
/* One pair [lowest, highest], or one for each element where they differ. */
void write_clip(struct text *out, const struct fact_numbers *low, const struct fact_numbers *high, struct place base);
/* PLACE as a scalar. */
void write_place(struct text *out, struct place place);

/* How many elements a tensor has but for leading dimensions of 1 and dynamic ones; 0 when unknown. */
int64_t draft_size(const struct signature_tensor *tensor);

/* The parts of a draft. `draft_plan` says which facts are about which tensor. */
struct draft_plan {
  const struct facts *facts; /* never NULL */
  const struct signature *signature;
  const char *model_name;           /* for messages */
  const struct fact_input **inputs; /* of each input of the signature; NULL: nothing is known of it */
  const struct fact_output **outputs;
  bool has_joints_group;
  int32_t n_joints; /* 0: not known */
};
ASSAY_MUST_CHECK assay_status draft_input(const struct draft_plan *plan, struct arena *arena, int32_t i,
                                          struct text *out);
ASSAY_MUST_CHECK assay_status draft_output(const struct draft_plan *plan, struct arena *arena, int32_t i,
                                           struct text *out);
/* The joints' default positions times `sign`, of all joints or of those that are named; count 0 when no file says
 * them. */
ASSAY_MUST_CHECK assay_status draft_default(const struct draft_plan *plan, struct arena *arena, double sign,
                                            const struct fact_words *named, struct fact_numbers *out);
void draft_head(const struct signature_tensor *tensor, struct text *out);
/* The output that a term with `output: NAME` (or NULL: the only one) is fed from; -1 when it can't be told. */
int32_t draft_find_output(const struct draft_plan *plan, const char *name);

#endif
