/* Tolerances and decisions: how far a component may drift, and what must not change at all. A
 * threshold always says to which side the exact value belongs. */
#include <math.h>
#include <string.h>

#include "contract/contract_reader.h"

static assay_status tolerance_space(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"physical", "raw"};
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 2, &which));
  *(bool *)member = which == 1;
  return status_ok();
}

assay_status read_tolerance(struct reader *reader, const struct yaml *node, const char *what, struct tolerance *out) {
  static const struct field fields[] = {
      {"max", read_not_negative, offsetof(struct tolerance, max), FIELD_OPTIONAL},
      {"mean", read_not_negative, offsetof(struct tolerance, mean), FIELD_OPTIONAL},
      {"p99", read_not_negative, offsetof(struct tolerance, p99), FIELD_OPTIONAL},
      {"rms", read_not_negative, offsetof(struct tolerance, rms), FIELD_OPTIONAL},
      {"sign_flips", read_whole, offsetof(struct tolerance, sign_flips), FIELD_OPTIONAL},
      {"saturation", read_whole, offsetof(struct tolerance, saturation), FIELD_OPTIONAL},
      {"space", tolerance_space, offsetof(struct tolerance, raw), FIELD_OPTIONAL},
  };
  *out = (struct tolerance){.given = true,
                            .max = (double)NAN,
                            .mean = (double)NAN,
                            .p99 = (double)NAN,
                            .rms = (double)NAN,
                            .mark = node->mark};
  TRY(FIELDS_READ(reader, node, fields, what, out));
  if (isnan(out->max) && isnan(out->p99)) {
    return yaml_error(&reader->file, node->mark, "%s needs 'max' or 'p99'; averages never decide alone", what);
  }
  return status_ok();
}

assay_status read_threshold(struct reader *reader, const struct yaml *node, const char *what, struct decision *out) {
  const char *at_or_above = NULL, *below = NULL, *above = NULL, *at_or_below = NULL;
  struct threshold {
    double threshold, hysteresis;
    const char *label[4];
    int64_t consecutive;
    bool raw;
  } read = {0};
  static const struct field fields[] = {
      {"threshold", read_number, offsetof(struct threshold, threshold), FIELD_REQUIRED},
      {"at_or_above", read_text, offsetof(struct threshold, label[0]), FIELD_OPTIONAL},
      {"below", read_text, offsetof(struct threshold, label[1]), FIELD_OPTIONAL},
      {"above", read_text, offsetof(struct threshold, label[2]), FIELD_OPTIONAL},
      {"at_or_below", read_text, offsetof(struct threshold, label[3]), FIELD_OPTIONAL},
      {"hysteresis", read_not_negative, offsetof(struct threshold, hysteresis), FIELD_OPTIONAL},
      {"consecutive", read_size, offsetof(struct threshold, consecutive), FIELD_OPTIONAL},
      {"space", tolerance_space, offsetof(struct threshold, raw), FIELD_OPTIONAL},
  };
  static const char *const others[] = {"argmax", "topk", "order"};
  for (int i = 0; i < 3; i++) {
    if (yaml_get(node, others[i]) != NULL) {
      return yaml_error(&reader->file, node->mark,
                        "%s is '%s', which decides over a whole output; write it as 'decision' of the output", what,
                        others[i]);
    }
  }
  TRY(FIELDS_READ(reader, node, fields, what, &read));
  at_or_above = read.label[0], below = read.label[1], above = read.label[2], at_or_below = read.label[3];
  bool inclusive = at_or_above != NULL && below != NULL && above == NULL && at_or_below == NULL;
  bool strict = above != NULL && at_or_below != NULL && at_or_above == NULL && below == NULL;
  if (!inclusive && !strict) {
    return yaml_error(&reader->file, node->mark,
                      "%s needs two labels, 'at_or_above' with 'below' or 'above' with 'at_or_below', so that it is "
                      "clear what exactly %.9g means",
                      what, read.threshold);
  }
  *out = (struct decision){.kind = DECISION_THRESHOLD,
                           .mark = node->mark,
                           .raw = read.raw,
                           .threshold = read.threshold,
                           .at_or_above = inclusive,
                           .label_positive = inclusive ? at_or_above : above,
                           .label_negative = inclusive ? below : at_or_below,
                           .hysteresis = read.hysteresis,
                           .consecutive = (int32_t)read.consecutive};
  if (text_equal(out->label_positive, out->label_negative)) {
    return yaml_error(&reader->file, node->mark, "%s calls both sides '%s'; give them different labels", what,
                      out->label_positive);
  }
  return status_ok();
}

assay_status read_axis(struct reader *reader, const struct yaml *node, const char *what,
                       const struct contract_output *output, int32_t *out) {
  for (int32_t i = 0; i < output->rank && node->kind == YAML_SCALAR; i++) {
    if (output->axes[i] != NULL && text_equal(node->text, output->axes[i])) {
      *out = i;
      return status_ok();
    }
  }
  if (output->rank == 0) {
    return yaml_error(&reader->file, node->mark, "%s: output '%s' is a single number without axes", what, output->name);
  }
  int64_t axis;
  if (node->kind == YAML_SCALAR && output->axes[0] != NULL && node->text[0] != '-' &&
      strspn(node->text, "0123456789") == 0) {
    return yaml_error(&reader->file, node->mark, "%s is '%.60s', which 'axes' of output '%s' does not name", what,
                      node->text, output->name);
  }
  TRY(yaml_int(&reader->file, node, what, -output->rank, output->rank - 1, &axis));
  *out = (int32_t)(axis < 0 ? axis + output->rank : axis);
  return status_ok();
}

static assay_status read_over_axis(struct reader *reader, const struct yaml *node, const char *what,
                                   const char *own_key, const struct contract_output *output, struct decision *out) {
  const char *keys[] = {"axis", own_key};
  TRY(yaml_keys(&reader->file, node, keys, own_key != NULL ? 2 : 1, what));
  const struct yaml *axis;
  TRY(yaml_require(&reader->file, node, "axis", what, &axis));
  char member[WHAT_SIZE];
  what_format(member, "'axis' of %s", what);
  TRY(read_axis(reader, axis, member, output, &out->axis));
  if (output->dims[out->axis].max < 2) {
    return yaml_error(&reader->file, axis->mark, "%s has one element only, so there is nothing to decide", member);
  }
  return status_ok();
}

static assay_status read_k(struct reader *reader, const struct yaml *node, const char *what,
                           const struct contract_output *output, struct decision *out) {
  const struct yaml *k;
  char member[WHAT_SIZE];
  int64_t value;
  what_format(member, "'k' of %s", what);
  TRY(yaml_require(&reader->file, node, "k", what, &k));
  TRY(yaml_int(&reader->file, k, member, 1, output->dims[out->axis].min, &value));
  out->k = (int32_t)value;
  return status_ok();
}

static assay_status read_by(struct reader *reader, const struct yaml *node, const char *what, struct decision *out) {
  static const char *const words[] = {"ascending", "descending"};
  const struct yaml *by;
  char member[WHAT_SIZE];
  int32_t which = 0;
  what_format(member, "'by' of %s", what);
  TRY(yaml_require(&reader->file, node, "by", what, &by));
  TRY(yaml_choice(&reader->file, by, member, words, 2, &which));
  out->ascending = which == 0;
  return status_ok();
}

assay_status read_output_decision(struct reader *reader, const struct yaml *node, const char *what,
                                  const struct contract_output *output, struct decision *out) {
  static const char *const keys[] = {"argmax", "topk", "order"}; /* detections: contract_detections.c */
  if (yaml_get(node, "threshold") != NULL) {
    return yaml_error(&reader->file, node->mark, "%s is a threshold, which belongs to a component; write it there",
                      what);
  }
  int32_t which = 0;
  const struct yaml *value = NULL;
  TRY(read_step_key(reader, node, what, keys, 3, &which, &value));
  char member[WHAT_SIZE];
  what_format(member, "'%s' in %s", keys[which], what);
  *out = (struct decision){.kind = (enum decision_kind)(which + 1), .mark = node->mark};
  static const char *const own_keys[] = {NULL, "k", "by"};
  TRY(read_over_axis(reader, value, member, own_keys[which], output, out));
  if (out->kind == DECISION_TOPK) {
    return read_k(reader, value, member, output, out);
  }
  return out->kind == DECISION_ORDER ? read_by(reader, value, member, out) : status_ok();
}
