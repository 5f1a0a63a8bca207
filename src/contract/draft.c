/* Writes the drafts. Every answer that a draft gives is a fact of the model; every TODO is a question
 * that `verify` refuses with its line until a person answers it. */
#include "contract/draft.h"

#include <string.h>

#include "contract/contract_metadata.h"
#include "contract/yaml.h"

/* Text from a model in a comment: one line, bounded. */
static void add_remark(struct text *out, const char *text) {
  enum { SHOWN = 200 };
  size_t shown = 0;
  for (const char *s = text; *s != '\0' && shown < SHOWN; s++, shown++) {
    bool control = (unsigned char)*s < 0x20 || *s == 0x7F;
    text_add_char(out, control ? ' ' : *s);
  }
  while (shown == SHOWN && out->length > 0 && !text_is_utf8(text_string(out), out->length)) {
    out->data[--out->length] = '\0'; /* never half a character */
  }
  text_add(out, shown == SHOWN ? "..." : "");
}

static void add_shape(struct text *out, const struct signature_tensor *tensor) {
  if (tensor->rank < 0) {
    text_add(out, "    shape: TODO                   # the model does not say; [sizes], {min: .., opt: .., max: ..}\n");
    return;
  }
  text_add(out, "    shape: [");
  bool dynamic = false;
  for (int32_t i = 0; i < tensor->rank; i++) {
    text_add(out, i == 0 ? "" : ", ");
    if (tensor->dims[i] < 0) {
      text_add(out, "TODO");
      dynamic = true;
    } else {
      text_format(out, "%lld", (long long)tensor->dims[i]);
    }
  }
  text_add(out, dynamic ? "]   # TODO: a size, or {min: 1, opt: 2, max: 4} where it may vary\n" : "]\n");
}

static bool looks_like_image(const struct signature_tensor *tensor) {
  if (tensor->rank != 4) {
    return false;
  }
  int64_t first = tensor->dims[1], last = tensor->dims[3];
  return first == 1 || first == 3 || last == 1 || last == 3;
}

static bool is_float(const struct signature_tensor *tensor) { return dtype_is_float(tensor->dtype); }

static void add_head(struct text *out, const struct signature_tensor *tensor) {
  text_add(out, "  - name: ");
  yaml_write_scalar(out, tensor->name);
  text_format(out, "\n    dtype: %s\n", tensor->dtype != ASSAY_UNDEFINED ? assay_dtype_name(tensor->dtype) : "TODO");
  add_shape(out, tensor);
}

static void add_input(struct text *out, const struct signature_tensor *tensor) {
  add_head(out, tensor);
  if (looks_like_image(tensor)) {
    text_add(out,
             "    layout: TODO                  # an image? NCHW or NHWC; otherwise take this line and 'color' out\n"
             "    color: TODO                   # RGB, BGR or GRAY\n");
  } else if (is_float(tensor)) {
    text_add(out, "    unit: TODO                    # of its elements; take the line out where they differ\n");
  }
  if (is_float(tensor)) {
    text_add(out,
             "    legal: TODO                   # [lowest, highest] after preprocessing; outside is refused. Or take "
             "it out\n");
  }
}

/* --- state ------------------------------------------------------------------ */

static bool same_type(const struct signature_tensor *a, const struct signature_tensor *b) {
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (int32_t i = 0; same && i < a->rank; i++) {
    same = a->dims[i] == b->dims[i];
  }
  return same;
}

/* Pairs of equal dtype and shape may be state; which are, the model does not say. */
static void add_state(struct text *out, const struct signature *signature) {
  bool any = false;
  for (int32_t i = 0; i < signature->n_inputs; i++) {
    for (int32_t o = 0; o < signature->n_outputs; o++) {
      if (!same_type(&signature->inputs[i], &signature->outputs[o])) {
        continue;
      }
      if (!any) {
        text_add(out,
                 "state: TODO                       # which outputs are fed back at the next step? of equal dtype and "
                 "shape are:\n");
        any = true;
      }
      struct text pair = {0};
      text_add(&pair, "{input: ");
      yaml_write_scalar(&pair, signature->inputs[i].name);
      text_add(&pair, ", output: ");
      yaml_write_scalar(&pair, signature->outputs[o].name);
      text_add(out, "#  - ");
      text_add(out, text_string(&pair));
      text_add(out, ", initial: zeros, reset: episode}\n");
      out->failed = out->failed || pair.failed;
      text_free(&pair);
    }
  }
  if (any) {
    text_add(out, "# Take 'state' out when none is; an output that is only state needs no 'components'.\n");
  }
}

/* --- outputs ----------------------------------------------------------------- */

static bool any_value(const struct signature *signature, const char *key, struct text *remark) {
  const char *value = metadata_find(signature, key);
  if (value == NULL) {
    return false;
  }
  text_format(remark, "%s'%s' is ", remark->length > 0 ? ", " : "", key);
  add_remark(remark, value);
  return true;
}

/* What the metadata says about joints, beside the question how an output is decoded. */
static void add_decode(struct text *out, const struct signature *signature) {
  struct text remark = {0};
  bool any = any_value(signature, "action_scale", &remark);
  any = any_value(signature, "default_joint_pos", &remark) || any;
  if (any) {
    text_add(
        out,
        "    decode: TODO                  # [{scale: ..}, {offset: ..}] where the robot's program does so, or take\n"
        "                                  # the line out. In the metadata ");
    text_add(out, text_string(&remark));
    text_add_char(out, '\n');
  }
  out->failed = out->failed || remark.failed;
  text_free(&remark);
}

static void add_names(struct text *out, const struct metadata_list *names) {
  text_add(out, "      - names: [");
  for (int32_t i = 0; i < names->count; i++) {
    text_add(out, i == 0 ? "" : ", ");
    yaml_write_scalar(out, names->words[i]);
  }
  text_add(out, "]   # from 'joint_names' in the model's metadata\n");
}

/* One number a joint, or one for all. */
static bool is_column(const struct metadata_list *list, int32_t count) {
  bool numbers = list->count == 1 || list->count == count;
  for (int32_t i = 0; numbers && i < list->count; i++) {
    double number;
    numbers = metadata_number(list->words[i], &number);
  }
  return numbers;
}

static assay_status add_gain(struct text *out, const struct signature *signature, struct arena *arena, const char *key,
                             const char *name, int32_t count) {
  const char *value = metadata_find(signature, key);
  struct metadata_list list = {0};
  if (value != NULL) {
    TRY(metadata_list(arena, value, &list));
  }
  if (!is_column(&list, count)) {
    text_format(out, "%s: TODO", name);
    return status_ok();
  }
  text_format(out, "%s: [", name);
  for (int32_t i = 0; i < count; i++) {
    text_format(out, "%s%s", i == 0 ? "" : ", ", list.words[list.count == 1 ? 0 : i]);
  }
  text_add(out, "]");
  return status_ok();
}

static assay_status add_gains(struct text *out, const struct signature *signature, struct arena *arena, int32_t count) {
  if (metadata_find(signature, "joint_stiffness") == NULL && metadata_find(signature, "joint_damping") == NULL) {
    return status_ok();
  }
  text_add(out, "        pd: {");
  TRY(add_gain(out, signature, arena, "joint_stiffness", "kp", count));
  text_add(out, ", ");
  TRY(add_gain(out, signature, arena, "joint_damping", "kd", count));
  text_add(out, "}   # from 'joint_stiffness' and 'joint_damping' in the model's metadata\n");
  return status_ok();
}

static assay_status add_output(struct text *out, const struct signature *signature, struct arena *arena,
                               const struct signature_tensor *tensor) {
  add_head(out, tensor);
  if (tensor->rank > 2) {
    text_format(out,
                "    axes: TODO                    # what the %d dimensions are: [batch, horizon, component], ...\n",
                (int)tensor->rank);
  }
  struct metadata_list names = {0};
  const char *value = metadata_find(signature, "joint_names");
  if (value != NULL) {
    TRY(metadata_list(arena, value, &names));
  }
  int64_t last = tensor->rank > 0 ? tensor->dims[tensor->rank - 1] : 1;
  bool named = names.count > 0 && names.count == last;
  if (named) {
    add_decode(out, signature);
  }
  text_add(out, "    components:\n");
  if (named) {
    add_names(out, &names);
  } else if (last == 1) {
    text_add(out, "      - name: TODO                # what this number is\n");
  } else {
    text_format(out, "      - names: TODO               # the %lld of the last dimension, in order: [hip, knee, ...]\n",
                (long long)last);
  }
  text_add(out, "        unit: TODO                # after decoding: rad, m/s, score, ...\n");
  if (named) {
    TRY(add_gains(out, signature, arena, names.count));
  }
  text_add(out, "        tolerance: {max: TODO}    # how far a rung may drift, in that unit\n");
  return status_ok();
}

static void add_metadata(struct text *out, const struct signature *signature) {
  for (int32_t i = 0; i < signature->n_metadata; i++) {
    text_add(out, i == 0 ? "# The model's metadata:\n#   " : "#   ");
    add_remark(out, signature->metadata[i].key);
    text_add(out, ": ");
    add_remark(out, signature->metadata[i].value);
    text_add_char(out, '\n');
  }
}

assay_status draft_contract(const struct signature *signature, const char *policy, const char *model_path,
                            struct text *out) {
  text_add(out,
           "# Drafted by `assay init`. Every TODO is a question that the model cannot answer; `assay verify` refuses\n"
           "# this file until each is answered. docs/contract.md describes every key.\n");
  add_metadata(out, signature);
  text_add(out, "assay: 1\npolicy: ");
  yaml_write_scalar(out, policy);
  text_add(out, "\nmodel: ");
  yaml_write_scalar(out, model_path);
  text_add(out, "\ninputs:\n");
  for (int32_t i = 0; i < signature->n_inputs; i++) {
    if (!signature->inputs[i].has_default) {
      add_input(out, &signature->inputs[i]);
    }
  }
  add_state(out, signature);
  text_add(out, "outputs:\n");
  struct arena arena = {0};
  assay_status status = status_ok();
  for (int32_t i = 0; i < signature->n_outputs && assay_status_ok(status); i++) {
    status = add_output(out, signature, &arena, &signature->outputs[i]);
  }
  arena_free(&arena);
  TRY(status);
  return text_status(out);
}

assay_status draft_gate(const char *policy, struct text *out) {
  text_add(out, "# Drafted by `assay init`: the ladder of ");
  add_remark(out, policy);
  text_add(out,
           ", against what the source framework answered.\n"
           "assay: 1\n"
           "contract: contract.yaml\n"
           "corpus: golden                    # `assay corpus new golden` starts one\n"
           "reference: {rung: recorded}\n"
           "rungs:\n"
           "  - {name: fp32, engine: assay}\n");
  return text_status(out);
}
