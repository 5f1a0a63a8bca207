/* What an input is for: `role: noise` and `role: tokens`, and the keys that belong to each. A key of a role that
 * the input does not have is an error, never ignored. */
#include "contract/contract_role.h"
#include "contract/noise.h"
#include "contract/tokens.h"

static const char *const noise_keys[] = {"distribution", "seeds"};
static const char *const token_keys[] = {"tokenizer", "max_length", "padding", "pad_id", "vocab_size", "mask"};
static const char *const sensor_keys[] = {"layout", "color", "raw", "preprocess", "terms", "from", "history"};

/* --- noise ---------------------------------------------------------------------- */

static assay_status normal_distribution(struct reader *reader, const struct yaml *node, const char *what,
                                        struct contract_noise *noise) {
  static const struct field fields[] = {
      {"mean", read_number, offsetof(struct contract_noise, a), FIELD_REQUIRED},
      {"std", read_positive, offsetof(struct contract_noise, b), FIELD_REQUIRED},
  };
  return FIELDS_READ(reader, node, fields, what, noise);
}

static assay_status read_distribution(struct reader *reader, const struct yaml *node, const char *what,
                                      struct contract_noise *noise) {
  static const char *const names[] = {"normal", "uniform"};
  int32_t which = 0;
  if (node->kind != YAML_MAPPING) {
    TRY(yaml_choice(&reader->file, node, what, names, 2, &which));
    noise->distribution = which == 0 ? NOISE_NORMAL : NOISE_UNIFORM;
    noise->a = 0.0;
    noise->b = 1.0; /* of both: N(0, 1), and from 0 to 1 */
    return status_ok();
  }
  const struct yaml *value = NULL;
  char member[WHAT_SIZE];
  TRY(read_step_key(reader, node, what, names, 2, &which, &value));
  what_format(member, "'%s' of %s", names[which], what);
  noise->distribution = which == 0 ? NOISE_NORMAL : NOISE_UNIFORM;
  return which == 0 ? normal_distribution(reader, value, member, noise)
                    : read_range(reader, value, member, &noise->a, &noise->b);
}

static assay_status read_noise(struct reader *reader, const struct yaml *node, const char *what,
                               struct contract_input *input) {
  struct contract_noise *noise;
  const struct yaml *distribution, *seeds;
  char member[WHAT_SIZE];
  ARENA_NEW(reader->arena, noise, 1);
  TRY(yaml_require(&reader->file, node, "distribution", what, &distribution));
  TRY(yaml_require(&reader->file, node, "seeds", what, &seeds));
  what_format(member, "'distribution' of %s", what);
  TRY(read_distribution(reader, distribution, member, noise));
  what_format(member, "'seeds' of %s", what);
  TRY(yaml_int(&reader->file, seeds, member, 1, CASE_SEEDS_MAX, &noise->seeds));
  if (!dtype_is_float(input->dtype)) {
    return yaml_error(&reader->file, node->mark, "%s has the role noise, but its dtype is %s; noise is a float", what,
                      assay_dtype_name(input->dtype));
  }
  input->noise = noise;
  return status_ok();
}

/* --- roles ------------------------------------------------------------------------ */

/* A key that only another role has. */
static assay_status refuse_keys(struct reader *reader, const struct yaml *node, const char *what,
                                const char *const *keys, size_t count, const char *why) {
  for (size_t k = 0; k < count; k++) {
    if (yaml_get(node, keys[k]) != NULL) {
      int32_t at = 0;
      while (!text_equal(node->keys[at], keys[k])) {
        at++;
      }
      return yaml_error(&reader->file, node->key_marks[at], "%s has the key '%s', %s", what, keys[k], why);
    }
  }
  return status_ok();
}
#define REFUSE_KEYS(reader, node, what, keys, why) \
  refuse_keys((reader), (node), (what), (keys), sizeof(keys) / sizeof *(keys), (why))

assay_status read_input_role(struct reader *reader, const struct yaml *node, const char *what,
                             struct contract_input *input) {
  static const char *const roles[] = {"noise", "tokens"};
  const struct yaml *role = yaml_get(node, "role");
  int32_t which = 0;
  if (role == NULL) {
    TRY(REFUSE_KEYS(reader, node, what, noise_keys, "which belongs to `role: noise`; give the role, or take it out"));
    return REFUSE_KEYS(reader, node, what, token_keys,
                       "which belongs to `role: tokens`; give the role, or take it out");
  }
  char member[WHAT_SIZE];
  what_format(member, "'role' of %s", what);
  TRY(yaml_choice(&reader->file, role, member, roles, 2, &which));
  if (which == 0) {
    input->role = INPUT_NOISE;
    TRY(REFUSE_KEYS(reader, node, what, token_keys, "which belongs to `role: tokens`, but its role is noise"));
    TRY(REFUSE_KEYS(reader, node, what, sensor_keys,
                    "but noise is drawn, not measured; its values stand in the cases"));
    return read_noise(reader, node, what, input);
  }
  input->role = INPUT_TOKENS;
  TRY(REFUSE_KEYS(reader, node, what, noise_keys, "which belongs to `role: noise`, but its role is tokens"));
  TRY(REFUSE_KEYS(reader, node, what, sensor_keys, "but tokens come from a tokenizer, not from a sensor"));
  return read_tokens(reader, node, what, input);
}

static assay_status check_mask(const struct reader *reader, const struct contract_input *input) {
  const struct contract_input *mask = contract_find_input(reader->contract, input->tokens->mask);
  if (mask == NULL || mask == input) {
    return yaml_error(&reader->file, input->mark,
                      "'mask' of input '%s' names '%s', which is no other input of the contract", input->name,
                      input->tokens->mask);
  }
  bool same = mask->rank == input->rank;
  for (int32_t d = 0; same && d < input->rank; d++) {
    same = mask->dims[d].min == input->dims[d].min && mask->dims[d].max == input->dims[d].max;
  }
  if (!same || mask->role != INPUT_PLAIN) {
    return yaml_error(&reader->file, mask->mark,
                      "input '%s' is the mask of '%s', line %d, so it must be a plain input of the same shape",
                      mask->name, input->name, (int)input->mark.line);
  }
  return status_ok();
}

assay_status check_input_roles(const struct reader *reader) {
  for (int32_t i = 0; i < reader->contract->n_inputs; i++) {
    const struct contract_input *input = &reader->contract->inputs[i];
    if (input->role != INPUT_PLAIN && input->is_state) {
      return yaml_error(&reader->file, input->mark,
                        "input '%s' has the role %s, but 'state' feeds it from an output; it is one or the other",
                        input->name, input->role == INPUT_NOISE ? "noise" : "tokens");
    }
    if (input->tokens != NULL && input->tokens->mask != NULL) {
      TRY(check_mask(reader, input));
    }
  }
  return status_ok();
}
