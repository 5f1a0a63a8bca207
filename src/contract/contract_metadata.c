/* Compares the joints of a model's metadata with the components of the contract: by name, and in
 * order. Values stand beside names in metadata, so a list in another order than its names (gains in
 * actuator order) shows as a wrong value of a named joint. */
#include "contract/contract_metadata.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

assay_status contract_fault(const struct contract *contract, struct mark mark, assay_code code, const char *format,
                            ...) {
  struct text where = {0};
  text_format(&where, "%s:%d:%d", contract->path, (int)mark.line, (int)mark.column);
  va_list arguments;
  va_start(arguments, format);
  assay_status status = status_make_va(code, text_string(&where), format, arguments);
  va_end(arguments);
  text_free(&where);
  return status;
}

enum { WORDS_MAX = 4096 };

static assay_status keep_word(struct arena *arena, struct metadata_list *list, const char *word, size_t length) {
  while (length > 0 && (*word == ' ' || *word == '\t' || *word == '\n')) {
    word++, length--;
  }
  while (length > 0 && (word[length - 1] == ' ' || word[length - 1] == '\t' || word[length - 1] == '\n')) {
    length--;
  }
  char *copy = arena_copy(arena, word, length);
  if (copy == NULL) {
    return status_no_memory(length);
  }
  list->words[list->count++] = copy;
  return status_ok();
}

/* A JSON array of strings and numbers; false when it is something else. */
static assay_status from_json(struct arena *arena, const char *value, struct metadata_list *list, bool *is_list) {
  json_t *root = json_loads(value, 0, NULL);
  *is_list = json_is_array(root) && json_array_size(root) <= WORDS_MAX;
  assay_status status = status_ok();
  for (size_t i = 0; *is_list && assay_status_ok(status) && i < json_array_size(root); i++) {
    const json_t *item = json_array_get(root, i);
    char number[64];
    if (json_is_string(item)) {
      status = keep_word(arena, list, json_string_value(item), json_string_length(item));
    } else if (json_is_number(item)) {
      snprintf(number, sizeof number, "%.17g", json_number_value(item));
      status = keep_word(arena, list, number, strlen(number));
    } else {
      *is_list = false;
      list->count = 0;
    }
  }
  json_decref(root);
  return status;
}

assay_status metadata_list(struct arena *arena, const char *value, struct metadata_list *out) {
  size_t commas = 0;
  for (const char *s = value; *s != '\0'; s++) {
    commas += *s == ',';
  }
  *out = (struct metadata_list){0};
  if (commas >= WORDS_MAX) {
    return status_ok(); /* no list of joints; taken for an empty one */
  }
  ARENA_NEW(arena, out->words, commas + 1 > WORDS_MAX ? WORDS_MAX : commas + 1);
  if (value[strspn(value, " \t\n")] == '[') {
    bool is_list = false;
    TRY(from_json(arena, value, out, &is_list));
    if (is_list) {
      return status_ok();
    }
  }
  for (const char *word = value;; word++) {
    size_t length = strcspn(word, ",");
    TRY(keep_word(arena, out, word, length));
    word += length;
    if (*word == '\0') {
      return status_ok();
    }
  }
}

const char *metadata_find(const struct signature *signature, const char *key) {
  for (int32_t i = 0; i < signature->n_metadata; i++) {
    if (text_equal(signature->metadata[i].key, key)) {
      return signature->metadata[i].value;
    }
  }
  return NULL;
}

static int32_t find_word(const struct metadata_list *list, const char *word) {
  for (int32_t i = 0; i < list->count; i++) {
    if (text_equal(list->words[i], word)) {
      return i;
    }
  }
  return -1;
}

/* The components of an output are exactly these names, in whatever order. */
static bool same_names(const struct contract_output *output, const struct metadata_list *names) {
  bool same = output->n_components == names->count && names->count > 1;
  for (int32_t i = 0; same && i < output->n_components; i++) {
    same = find_word(names, output->components[i].name) >= 0;
  }
  return same;
}

/* The names stand in the order of the motors. */
static bool in_hardware_order(const struct contract_output *output, const struct metadata_list *names) {
  bool same = output->hardware_order != NULL;
  for (int32_t k = 0; same && k < output->n_components; k++) {
    same = text_equal(output->components[output->hardware_order[k]].name, names->words[k]);
  }
  return same;
}

static assay_status check_order(const struct contract *contract, const struct contract_output *output,
                                const struct metadata_list *names, const char *model_path) {
  if (in_hardware_order(output, names)) {
    return status_ok(); /* values are found by name */
  }
  for (int32_t i = 0; i < output->n_components; i++) {
    const struct contract_component *component = &output->components[i];
    if (!text_equal(component->name, names->words[i])) {
      return contract_fault(contract, component->mark, ASSAY_METADATA_MISMATCH,
                            "component %d of output '%s' is '%s', but 'joint_names' in the metadata of %s has '%s' "
                            "there; the same joints stand in another order",
                            (int)i + 1, output->name, component->name, model_path, names->words[i]);
    }
  }
  return status_ok();
}

/* The one step of a kind; NAN when there is none or more than one. */
static double only_step(const struct contract_component *component, enum decode_kind kind) {
  double value = (double)NAN;
  int32_t count = 0;
  for (int32_t i = 0; i < component->n_decode; i++) {
    if (component->decode[i].kind == kind) {
      value = component->decode[i].a;
      count++;
    }
  }
  return count == 1 ? value : (double)NAN;
}

static double own_kp(const struct contract_component *c) { return c->has_pd ? c->kp : (double)NAN; }
static double own_kd(const struct contract_component *c) { return c->has_pd ? c->kd : (double)NAN; }
static double own_scale(const struct contract_component *c) { return only_step(c, DECODE_SCALE); }
static double own_offset(const struct contract_component *c) { return only_step(c, DECODE_OFFSET); }

/* Keys of metadata that hold one number a joint, beside joint_names. */
static const struct joint_key {
  const char *key, *what;
  double (*own)(const struct contract_component *component);
  bool positive; /* a joint without damping swings, so 0 or -0 is a fault of the export */
} joint_keys[] = {
    {"joint_stiffness", "kp", own_kp, false},
    {"joint_damping", "kd", own_kd, true},
    {"action_scale", "scale", own_scale, false},
    {"default_joint_pos", "offset", own_offset, false},
};

/* By jansson, since strtod depends on the locale. */
bool metadata_number(const char *word, double *out) {
  json_t *value = json_loads(word, JSON_DECODE_ANY, NULL);
  bool number = json_is_number(value);
  *out = number ? json_number_value(value) : 0;
  json_decref(value);
  return number;
}

/* Exporters write three decimals. */
static bool nearly(double a, double b) { return fabs(a - b) <= 5.1e-4 + 1e-6 * fabs(b); }

static assay_status check_value(const struct contract *contract, const struct contract_output *output, int32_t i,
                                const struct joint_key *key, const char *word, const char *model_path) {
  const struct contract_component *component = &output->components[i];
  double own = key->own(component), stated = 0;
  bool number = metadata_number(word, &stated);
  if (number && key->positive && !(stated > 0)) {
    return contract_fault(contract, component->mark, ASSAY_METADATA_MISMATCH,
                          "'%s' in the metadata of %s is %s for '%s'; a gain must be above 0, export the model again",
                          key->key, model_path, word, component->name);
  }
  if (isnan(own)) {
    return status_ok();
  }
  if (!number) {
    return contract_fault(contract, component->mark, ASSAY_METADATA_MISMATCH,
                          "'%s' in the metadata of %s holds '%.60s' for '%s', which is no number", key->key, model_path,
                          word, component->name);
  }
  if (nearly(own, stated)) {
    return status_ok();
  }
  return contract_fault(contract, component->mark, ASSAY_METADATA_MISMATCH,
                        "'%s' of '%s' is %.9g here, but '%s' in the metadata of %s, read beside its 'joint_names', "
                        "says %.9g",
                        key->what, component->name, own, key->key, model_path, stated);
}

/* Every faulty joint in one answer: the first by its value, the others by name. */
static assay_status check_values(const struct contract *contract, const struct contract_output *output,
                                 const struct metadata_list *names, const struct joint_key *key,
                                 const struct metadata_list *values, const char *model_path) {
  if (values->count != names->count && values->count != 1) {
    return contract_fault(contract, output->mark, ASSAY_METADATA_MISMATCH,
                          "'%s' in the metadata of %s has %d numbers for %d 'joint_names'", key->key, model_path,
                          (int)values->count, (int)names->count);
  }
  assay_status first = status_ok();
  struct text others = {0};
  for (int32_t i = 0; i < output->n_components; i++) {
    int32_t at = find_word(names, output->components[i].name);
    if (at < 0) {
      continue;
    }
    const char *word = values->words[values->count == 1 ? 0 : at];
    assay_status status = check_value(contract, output, i, key, word, model_path);
    if (assay_status_ok(first)) {
      first = status;
    } else if (!assay_status_ok(status)) {
      text_format(&others, "%s'%s'", others.length == 0 ? "" : ", ", output->components[i].name);
      assay_status_clear(&status);
    }
  }
  if (others.length > 0) {
    struct text sentence = {0}, where = {0};
    text_format(&sentence, "%s; also wrong: %s", assay_status_sentence(first), text_string(&others));
    text_add(&where, assay_status_where(first));
    assay_status_clear(&first);
    first = status_make(ASSAY_METADATA_MISMATCH, text_string(&where), "%s", text_string(&sentence));
    text_free(&sentence);
    text_free(&where);
  }
  text_free(&others);
  return first;
}

static assay_status check_output(const struct contract *contract, const struct signature *signature,
                                 const struct contract_output *output, const struct metadata_list *names,
                                 struct arena *arena, const char *model_path) {
  if (same_names(output, names)) {
    TRY(check_order(contract, output, names, model_path));
  }
  for (size_t i = 0; i < sizeof joint_keys / sizeof *joint_keys; i++) {
    const char *value = metadata_find(signature, joint_keys[i].key);
    if (value != NULL) {
      struct metadata_list values;
      TRY(metadata_list(arena, value, &values));
      TRY(check_values(contract, output, names, &joint_keys[i], &values, model_path));
    }
  }
  return status_ok();
}

assay_status metadata_check(const struct contract *contract, const struct signature *signature,
                            const char *model_path) {
  const char *value = metadata_find(signature, "joint_names");
  if (value == NULL) {
    return status_ok();
  }
  struct arena arena = {0};
  struct metadata_list names;
  assay_status status = metadata_list(&arena, value, &names);
  for (int32_t i = 0; assay_status_ok(status) && i < contract->n_outputs; i++) {
    status = check_output(contract, signature, &contract->outputs[i], &names, &arena, model_path);
  }
  arena_free(&arena);
  return status;
}
