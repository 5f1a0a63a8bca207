/* LeRobot's policy folder and data set: config.json (features, normalization, chunks), policy_preprocessor.json and
 * policy_postprocessor.json (steps, and the safetensors files of their statistics), meta/info.json (motors, fps) and
 * meta/stats.json. The processors stand outside the policy, so that a model takes what the first leave and gives what
 * the second take. No step's class is ever loaded: a name that is not known here is an open question. */
#include <string.h>

#include "contract/import_beside.h"
#include "contract/yaml.h"

enum role { ROLE_NONE, ROLE_CONFIG, ROLE_BEFORE, ROLE_AFTER, ROLE_INFO, ROLE_STATS, ROLE_TENSORS, N_ROLES };
static const char *const role_names[N_ROLES] = {
    "", "policy's config.json", "preprocessor", "postprocessor", "data set's info.json", "data set's stats.json", ""};

static bool has(const struct foreign *map, const char *key) { return foreign_get(map, key) != NULL; }

static bool has_step(const struct foreign *root, const char *name) {
  const struct foreign *steps = foreign_get(root, "steps");
  for (int32_t i = 0; steps != NULL && steps->kind == FOREIGN_LIST && i < steps->count; i++) {
    const char *step = foreign_text(foreign_get(&steps->items[i], "registry_name"));
    if (step != NULL && strcmp(step, name) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_stats(const struct foreign *root) {
  bool any = root->kind == FOREIGN_MAP && root->count > 0;
  for (int32_t i = 0; any && i < root->count; i++) {
    any = has(&root->items[i], "mean") && has(&root->items[i], "std") && has(&root->items[i], "min");
  }
  return any;
}

/* A safetensors file opens with the length of its header, and the header with a brace. */
static bool is_tensors(const struct import_file *file) {
  return file->size > 9 && file->data[8] == '{' && memcmp(file->data + 4, "\0\0\0\0", 4) == 0;
}

static enum role role_of(const struct import_file *file) {
  if (!file->is_text) {
    return is_tensors(file) ? ROLE_TENSORS : ROLE_NONE;
  }
  const struct foreign *root = file->yaml.documents;
  if (has(root, "input_features") && has(root, "output_features")) {
    return ROLE_CONFIG;
  }
  const char *name = foreign_text(foreign_get(root, "name"));
  if (has(root, "steps") && name != NULL) {
    bool after = has_step(root, "unnormalizer_processor") || strstr(name, "postprocessor") != NULL;
    bool before = has_step(root, "normalizer_processor") || strstr(name, "preprocessor") != NULL;
    return before == after ? ROLE_NONE : before ? ROLE_BEFORE : ROLE_AFTER;
  }
  if (has(root, "features") && has(root, "fps")) {
    return ROLE_INFO;
  }
  return is_stats(root) ? ROLE_STATS : ROLE_NONE;
}

int lerobot_recognise(const struct import_file *file) {
  enum role role = role_of(file);
  return role == ROLE_NONE ? IMPORT_NO : role == ROLE_STATS || role == ROLE_TENSORS ? IMPORT_MAYBE : IMPORT_SURE;
}

/* What is read before it becomes facts. */
struct lerobot {
  struct import *import;
  const struct import_file *files[N_ROLES]; /* NULL: not given */
};

static const struct foreign *root_of(const struct lerobot *l, enum role role) {
  return l->files[role] != NULL ? l->files[role]->yaml.documents : NULL;
}

/* The step of a processor; NULL when there is none. */
static const struct foreign *find_step(const struct lerobot *l, enum role role, const char *name) {
  const struct foreign *steps = foreign_get(root_of(l, role), "steps");
  for (int32_t i = 0; steps != NULL && steps->kind == FOREIGN_LIST && i < steps->count; i++) {
    const char *step = foreign_text(foreign_get(&steps->items[i], "registry_name"));
    if (step != NULL && strcmp(step, name) == 0) {
      return &steps->items[i];
    }
  }
  return NULL;
}

/* --- normalization -------------------------------------------------------------------------------------- */

/* How features of a type are normalized: the processor says, or else the policy. *out is NULL where neither does. */
static assay_status find_mode(struct lerobot *l, enum role role, const char *step_name, const char *type,
                              const char **out) {
  const struct foreign *step = find_step(l, role, step_name);
  const struct foreign *by_step = foreign_get(foreign_at(step, "config/norm_map"), type);
  const struct foreign *by_policy = foreign_get(foreign_get(root_of(l, ROLE_CONFIG), "normalization_mapping"), type);
  const char *a = by_step != NULL ? foreign_text(by_step) : NULL;
  const char *b = by_policy != NULL ? foreign_text(by_policy) : NULL;
  *out = a != NULL ? a : b;
  if (a != NULL && b != NULL && strcmp(a, b) != 0) {
    l->import->file = l->files[role];
    return import_error(l->import, by_step, "%s is normalized by %.40s here, and by %.40s in %s", type, a, b,
                        l->files[ROLE_CONFIG]->name);
  }
  return status_ok();
}

/* The two statistics of a mode, and whether they are mapped to [-1, 1]. */
struct mode {
  const char *name, *low, *high;
};
static const struct mode modes[] = {
    {"MEAN_STD", "mean", "std"},
    {"MIN_MAX", "min", "max"},
    {"QUANTILES", "q01", "q99"},
    {"QUANTILE10", "q10", "q90"},
};

static const struct mode *find_mode_row(const char *name) {
  for (size_t i = 0; name != NULL && i < sizeof modes / sizeof *modes; i++) {
    if (strcmp(modes[i].name, name) == 0) {
      return &modes[i];
    }
  }
  return NULL;
}

static void add_statistic(struct text *out, const char *which, const char *key, const char *statistic) {
  struct text name = {0};
  text_format(&name, "%s.%s", key, statistic);
  text_format(out, ", %s: ", which);
  yaml_write_scalar(out, text_string(&name));
  out->failed = out->failed || name.failed;
  text_free(&name);
}

/* The file of the statistics: the processor's own, or the data set's. */
static assay_status find_statistics(struct lerobot *l, enum role role, const char *step_name, const struct foreign **at,
                                    const char **path) {
  const struct foreign *step = find_step(l, role, step_name), *state;
  TRY(import_get(l->import, step, "state_file", &state));
  if (state != NULL) {
    l->import->file = l->files[role];
    *at = state;
    *path = foreign_text(state);
    return *path != NULL ? status_ok() : import_error(l->import, state, "'state_file' is no name of a file");
  }
  l->import->file = l->files[ROLE_STATS];
  *at = root_of(l, ROLE_STATS);
  *path = l->files[ROLE_STATS] != NULL ? l->files[ROLE_STATS]->name : NULL;
  return status_ok();
}

/* "statistics: {file: .., mean: .., std: ..}" into the arena; NULL where the feature is left as it is, or where no
 * file has its statistics. */
static assay_status statistics_text(struct lerobot *l, enum role role, const char *step_name, const char *key,
                                    const char *type, const char **out, struct place *place) {
  const char *mode_name, *path;
  const struct foreign *at;
  *out = NULL;
  TRY(find_mode(l, role, step_name, type, &mode_name));
  const struct mode *mode = find_mode_row(mode_name);
  if (mode == NULL) {
    return status_ok();
  }
  TRY(find_statistics(l, role, step_name, &at, &path));
  if (path == NULL) {
    return status_ok();
  }
  *place = import_place(l->import, at);
  bool mean = strcmp(mode->name, "MEAN_STD") == 0;
  struct text text = {0};
  text_add(&text, "statistics: ");
  assay_status status = import_file_beside(l->import, at, path, &text);
  add_statistic(&text, mean ? "mean" : "min", key, mode->low);
  add_statistic(&text, mean ? "std" : "max", key, mode->high);
  text_add(&text, mean ? "" : ", range: [-1, 1]");
  text_add(&text, l->files[role] != NULL ? ", provenance: original}" : "}");
  *out = arena_string(l->import->arena, text_string(&text));
  if (assay_status_ok(status) && (text.failed || *out == NULL)) {
    status = status_no_memory(text.length);
  }
  text_free(&text);
  return status;
}

/* --- features and tensors --------------------------------------------------------------------------------- */

/* A tensor is named after its feature, whole or by its end, with dots as they are or as underlines. */
static bool is_named_after(const char *tensor, const char *feature) {
  for (const char *part = feature; part != NULL; part = strchr(part, '.') != NULL ? strchr(part, '.') + 1 : NULL) {
    bool same = strlen(tensor) == strlen(part);
    for (size_t i = 0; same && part[i] != '\0'; i++) {
      same = tensor[i] == part[i] || (part[i] == '.' && tensor[i] == '_');
    }
    if (same) {
      return true;
    }
  }
  return false;
}

static const char *find_tensor(const struct signature_tensor *tensors, int32_t count, const char *feature) {
  for (int32_t i = 0; i < count; i++) {
    if (is_named_after(tensors[i].name, feature)) {
      return tensors[i].name;
    }
  }
  return NULL;
}

/* Names of a feature's elements, from the data set: a list, or a mapping with one list in it. */
static const struct foreign *feature_names(const struct lerobot *l, const char *feature) {
  const struct foreign *names =
      foreign_get(foreign_get(foreign_get(root_of(l, ROLE_INFO), "features"), feature), "names");
  if (names != NULL && names->kind == FOREIGN_MAP) {
    names = names->count == 1 ? &names->items[0] : NULL;
  }
  return names != NULL && names->kind == FOREIGN_LIST && names->count > 0 ? names : NULL;
}

static assay_status give_preprocess(struct lerobot *l, const char *feature, const char *type, bool visual,
                                    struct fact_input *input) {
  const char *steps[3];
  char *line = NULL;
  int32_t count = 0;
  if (visual) {
    steps[count++] = "divide: 255";
    steps[count++] = "layout: {from: HWC, to: NCHW}";
  }
  const char *statistics;
  struct place place = input->place;
  TRY(statistics_text(l, ROLE_BEFORE, "normalizer_processor", feature, type, &statistics, &place));
  if (statistics != NULL) {
    struct text text = {0};
    text_format(&text, "normalize: {%s}", statistics);
    line = arena_string(l->import->arena, text_string(&text));
    bool failed = text.failed || line == NULL;
    text_free(&text);
    if (failed) {
      return status_no_memory(strlen(statistics));
    }
    steps[count++] = line;
  }
  return count > 0 ? facts_words(l->import->facts, &input->preprocess, "the preprocessing", place, steps, count)
                   : status_ok();
}

static assay_status give_input(struct lerobot *l, const char *feature, const struct foreign *node, struct place place) {
  struct import *import = l->import;
  const struct signature *signature = import->models->signatures[0];
  const char *tensor = find_tensor(signature->inputs, signature->n_inputs, feature);
  if (tensor == NULL) {
    return facts_remark(import->facts, place, "no input of the model is named after the feature '%.80s'", feature);
  }
  const char *type = foreign_text(foreign_get(node, "type"));
  if (type == NULL) {
    return import_error(import, node, "the feature '%.80s' has no type", feature);
  }
  struct fact_input *input;
  TRY(facts_input(import->facts, place, tensor, &input));
  bool visual = strcmp(type, "VISUAL") == 0;
  if (visual) {
    TRY(facts_text(import->facts, &input->image_layout, "the layout", place, "NCHW"));
    TRY(facts_text(import->facts, &input->color, "the colours", place, "RGB"));
  }
  return give_preprocess(l, feature, type, visual, input);
}

static assay_status give_inputs(struct lerobot *l) {
  l->import->file = l->files[ROLE_CONFIG];
  const struct foreign *features = foreign_get(root_of(l, ROLE_CONFIG), "input_features");
  for (int32_t i = 0; features != NULL && features->kind == FOREIGN_MAP && i < features->count; i++) {
    l->import->file = l->files[ROLE_CONFIG];
    TRY(give_input(l, features->keys[i], &features->items[i], import_place_at(l->import, features->key_marks[i])));
  }
  return status_ok();
}

/* --- the action -------------------------------------------------------------------------------------------- */

static assay_status give_components(struct lerobot *l, struct fact_output *output) {
  const struct foreign *list = feature_names(l, "action");
  const struct foreign *by_step =
      foreign_at(find_step(l, ROLE_BEFORE, "relative_actions_processor"), "config/action_names");
  struct import *import = l->import;
  const char *const *names;
  int32_t count;
  if (list != NULL) {
    import->file = l->files[ROLE_INFO];
    TRY(import_words(import, list, "names", &names, &count));
    TRY(facts_words(import->facts, &output->components, "the components", import_place(import, list), names, count));
  }
  if (by_step != NULL && by_step->kind == FOREIGN_LIST && by_step->count > 0) {
    import->file = l->files[ROLE_BEFORE];
    TRY(import_words(import, by_step, "action_names", &names, &count));
    TRY(facts_words(import->facts, &output->components, "the components", import_place(import, by_step), names, count));
  }
  return status_ok();
}

/* A chunk: [batch, horizon, component], and how many of its steps are sent. */
static assay_status give_chunk(struct lerobot *l, struct fact_output *output, const struct signature_tensor *tensor) {
  struct import *import = l->import;
  import->file = l->files[ROLE_CONFIG];
  const struct foreign *root = root_of(l, ROLE_CONFIG), *steps, *coefficient;
  TRY(import_get(import, root, "n_action_steps", &steps));
  TRY(import_get(import, root, "temporal_ensemble_coeff", &coefficient));
  if (tensor->rank != 3) {
    return status_ok();
  }
  static const char *const axes[] = {"batch", "horizon", "component"};
  TRY(facts_words(import->facts, &output->axes, "the axes", import_place(import, root), axes, 3));
  if (coefficient != NULL) {
    double m;
    TRY(import_number(import, coefficient, "temporal_ensemble_coeff", &m));
    return facts_number(import->facts, &output->ensemble, "the weights of temporal ensembling",
                        import_place(import, coefficient), m);
  }
  int64_t n;
  if (steps == NULL) {
    return status_ok();
  }
  TRY(import_whole(import, steps, "n_action_steps", 1, 65536, &n));
  return facts_number(import->facts, &output->execute_steps, "the steps that are sent", import_place(import, steps),
                      (double)n);
}

/* Relative actions: the state is added, but for the joints that are left out. */
static assay_status relative_text(struct lerobot *l, const char **out) {
  *out = NULL;
  const struct foreign *after = find_step(l, ROLE_AFTER, "absolute_actions_processor");
  const struct foreign *before = find_step(l, ROLE_BEFORE, "relative_actions_processor");
  bool enabled = false;
  if (after == NULL || !foreign_flag(foreign_at(after, "config/enabled"), &enabled) || !enabled) {
    return status_ok();
  }
  struct import *import = l->import;
  const struct signature *signature = import->models->signatures[0];
  const struct foreign *excluded = foreign_at(before, "config/exclude_joints");
  import->file = l->files[ROLE_AFTER];
  const char *tensor = find_tensor(signature->inputs, signature->n_inputs, "observation.state");
  if (tensor == NULL) {
    *out = "add: TODO (the measured state; no input of the model is named after it)";
    return status_ok();
  }
  if (excluded != NULL && excluded->kind == FOREIGN_LIST && excluded->count > 0) {
    *out = "add: TODO (the measured state; not to the joints in exclude_joints so write it at each of the others)";
    return status_ok();
  }
  const char *normalized;
  struct place place;
  TRY(statistics_text(l, ROLE_BEFORE, "normalizer_processor", "observation.state", "STATE", &normalized, &place));
  if (normalized != NULL) {
    *out =
        "add: TODO (the state as it was measured; the model is fed it normalized so give the input a term and add "
        "its sensor)";
    import->file = l->files[ROLE_AFTER];
    return status_ok();
  }
  struct text text = {0};
  text_add(&text, "add: {input: ");
  yaml_write_scalar(&text, tensor);
  text_add(&text, "}");
  *out = arena_string(import->arena, text_string(&text));
  bool failed = text.failed || *out == NULL;
  text_free(&text);
  return failed ? status_no_memory(strlen(tensor)) : status_ok();
}

/* Whether a step does what a draft can say, or nothing to the numbers. */
static bool step_known(const struct foreign *step) {
  static const char *const known[] = {
      "rename_observations_processor", "to_batch_processor",     "device_processor",
      "normalizer_processor",          "unnormalizer_processor", "relative_actions_processor",
      "absolute_actions_processor",    "tokenizer_processor"};
  const char *name = foreign_text(foreign_get(step, "registry_name"));
  const struct foreign *renames = foreign_at(step, "config/rename_map");
  bool found = false;
  for (size_t k = 0; name != NULL && k < sizeof known / sizeof *known; k++) {
    found = found || strcmp(name, known[k]) == 0;
  }
  return found && (renames == NULL || renames->kind != FOREIGN_MAP || renames->count == 0);
}

/* Steps whose work a contract would have to say, and which are not known here. After the model they make its decoding a
 * question: what they do to the action stands nowhere else. */
static assay_status check_steps(struct lerobot *l, enum role role, struct fact_output *output) {
  const struct foreign *steps = foreign_get(root_of(l, role), "steps");
  l->import->file = l->files[role];
  for (int32_t i = 0; steps != NULL && steps->kind == FOREIGN_LIST && i < steps->count; i++) {
    const struct foreign *step = &steps->items[i];
    const char *name = foreign_text(foreign_get(step, "registry_name"));
    if (step_known(step)) {
      continue;
    }
    name = name != NULL ? name : "without a registry_name";
    TRY(facts_remark(
        l->import->facts, import_place(l->import, step),
        "what the step '%.60s' does is not in this draft; say it in the contract or take it into the model", name));
    if (output != NULL) {
      TRY(facts_ask(l->import->facts, &output->open, "decode", "what the step '%.60s' after the model does", name));
    }
  }
  return status_ok();
}

static assay_status give_action(struct lerobot *l) {
  struct import *import = l->import;
  const struct signature *signature = import->models->signatures[0];
  const char *name = find_tensor(signature->outputs, signature->n_outputs, "action");
  name = name == NULL && signature->n_outputs == 1 ? signature->outputs[0].name : name;
  name = name == NULL ? find_tensor(signature->outputs, signature->n_outputs, "actions") : name;
  import->file = l->files[ROLE_CONFIG];
  const struct foreign *features = foreign_get(root_of(l, ROLE_CONFIG), "output_features");
  struct place place = import_place(import, features);
  if (name == NULL) {
    return facts_remark(import->facts, place, "no output of the model is named after the feature 'action'");
  }
  const struct signature_tensor *tensor = signature->outputs;
  while (strcmp(tensor->name, name) != 0) {
    tensor++;
  }
  struct fact_output *output;
  TRY(facts_output(import->facts, place, name, &output));
  TRY(check_steps(l, ROLE_AFTER, output));
  import->file = l->files[ROLE_CONFIG];
  const char *steps[2] = {NULL};
  TRY(statistics_text(l, ROLE_AFTER, "unnormalizer_processor", "action", "ACTION", &steps[0], &place));
  TRY(relative_text(l, &steps[steps[0] != NULL]));
  int32_t count = (steps[0] != NULL) + (steps[1] != NULL);
  if (count > 0) {
    TRY(facts_words(import->facts, &output->decode, "the decoding", place, steps, count));
  }
  TRY(give_components(l, output));
  return give_chunk(l, output, tensor);
}

static assay_status give_period(struct lerobot *l) {
  const struct foreign *fps = foreign_get(root_of(l, ROLE_INFO), "fps");
  if (fps == NULL) {
    return status_ok();
  }
  double hertz;
  l->import->file = l->files[ROLE_INFO];
  TRY(import_number(l->import, fps, "fps", &hertz));
  if (!(hertz > 0)) {
    return import_error(l->import, fps, "'fps' is %g, which is no rate", hertz);
  }
  return facts_number(l->import->facts, &l->import->facts->period_ms, "the control period",
                      import_place(l->import, fps), 1000 / hertz);
}

assay_status lerobot_finish(struct import *import, const struct import_file *const *files, int32_t count) {
  struct lerobot l = {.import = import};
  for (int32_t i = 0; i < count; i++) {
    enum role role = role_of(files[i]);
    import->file = files[i];
    if (role == ROLE_NONE) {
      return import_error(import, NULL, "this is none of LeRobot's files that are known here");
    }
    if (role != ROLE_TENSORS && l.files[role] != NULL) {
      return import_error(import, NULL, "%s is a %s too; give one", l.files[role]->path, role_names[role]);
    }
    l.files[role] = files[i];
  }
  if (l.files[ROLE_CONFIG] == NULL) {
    return import_error(import, NULL, "the policy's config.json is needed beside this file, for its features");
  }
  TRY(check_steps(&l, ROLE_BEFORE, NULL));
  TRY(give_period(&l));
  TRY(give_inputs(&l));
  return give_action(&l);
}
