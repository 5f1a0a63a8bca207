/* Importers of formats that come from frameworks: NVIDIA LEAPP, LeRobot and K-Scale's kinfer. The files were written
 * after the formats' documentation (tests/importers). Damaged and hostile ones are refused; nothing that they name is
 * opened. */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "contract/apply.h"
#include "failing_memory.h"
#include "imported.h"

static const int64_t of_1_3[] = {1, 3}, of_1_7[] = {1, 7}, of_1_4[] = {1, 4}, of_4_3[] = {4, 3}, of_6[] = {6},
                     of_18[] = {18}, image[] = {1, 3, 48, 64}, chunk[] = {1, 10, 4}, of_4[] = {4}, of_3[] = {3},
                     of_8[] = {8};

/* --- LEAPP -------------------------------------------------------------------------------------------- */

static const struct signature_tensor reach_in[] = {{"joint_pos", ASSAY_FLOAT32, 2, of_1_3, false},
                                                   {"base_ang_vel", ASSAY_FLOAT32, 2, of_1_3, false},
                                                   {"target", ASSAY_FLOAT32, 2, of_1_7, false},
                                                   {"hidden", ASSAY_FLOAT32, 2, of_1_4, false}};
static const struct signature_tensor reach_out[] = {{"joint_targets", ASSAY_FLOAT32, 2, of_4_3, false},
                                                    {"hidden_out", ASSAY_FLOAT32, 2, of_1_4, false}};
static const struct signature reach = {4, 2, 0, reach_in, reach_out, NULL};

/* The values at the start, as safetensors: [1, 2, 3, 4]. */
static const char initial_values[] =
    "\x50\0\0\0\0\0\0\0"
    "{\"policy/hidden\":{\"dtype\":\"F32\",\"shape\":[1,4],\"data_offsets\":[0,16]}}            "
    "\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40";

static const char *leapp_folder(void) {
  const char *folder = scratch_folder("import_leapp");
  char *text = fixture("leapp/reach.yaml");
  write_file(in_folder(folder, "reach.yaml"), text, strlen(text));
  memory_free(text);
  return folder;
}

static void reads_a_graph_of_one_node(void **state) {
  (void)state;
  struct imported it;
  const char *folder = leapp_folder();
  write_file(in_folder(folder, "reach_initial_values.safetensors"), initial_values, sizeof initial_values - 1);
  imported_begin(&it, "policy.onnx", &reach);
  ASSERT_OK(import_read(in_folder(folder, "reach.yaml"), NULL, &it.models, it.facts));
  ASSERT_OK(imported_finish(&it));
  assert_int_equal(it.facts->n_files, 1);
  struct text draft = imported_draft(&it);
  assert_open(&draft,
              "inputs[joint_pos].terms[joint_pos].unit\n"
              "outputs[joint_targets].components[0].unit\n"
              "outputs[joint_targets].components[0].tolerance.max\n");
  assert_says(&draft, "{name: base_ang_vel, elements: [x, \"y\", z], unit: {value: rad/s, source: reach.yaml:16}");
  assert_says(&draft, "axes: {value: [horizon, component], source: reach.yaml:35}");
  assert_says(&draft, "names: {value: [shoulder, elbow, wrist], source: reach.yaml:36}");
  assert_says(&draft, "period_ms: {value: 20, source: reach.yaml:56}");
  assert_says(&draft,
              "{input: hidden, output: hidden_out, initial: {file: reach_initial_values.safetensors, key: "
              "policy/hidden}");
  text_free(&draft);
  imported_end(&it);
}

static const struct signature_tensor node_in[] = {{"joint_pos", ASSAY_FLOAT32, 1, of_6, false}};
static const struct signature_tensor node_out[] = {{"obs_features", ASSAY_FLOAT32, 1, of_18, false}};
static const struct signature_tensor head_in[] = {{"obs_features", ASSAY_FLOAT32, 1, of_18, false}};
static const struct signature_tensor head_out[] = {{"joint_targets", ASSAY_FLOAT32, 1, of_6, false}};
static const struct signature node = {1, 1, 0, node_in, node_out, NULL}, head = {1, 1, 0, head_in, head_out, NULL};

static void makes_stages_of_nodes(void **state) {
  (void)state;
  struct imported it;
  char *text = fixture("leapp/two_nodes.yaml");
  imported_begin(&it, "out/policy.onnx", &head);
  imported_model(&it, "out/obs_processor.onnx", &node);
  ASSERT_OK(imported_text(&it, "two_nodes.yaml", text));
  ASSERT_OK(imported_finish(&it));
  struct text draft = imported_draft(&it);
  assert_says(&draft, "stages:\n  - {name: obs_processor, model: out/obs_processor.onnx, source");
  assert_says(&draft, "  - {name: policy, model: out/policy.onnx, source");
  assert_null(strstr(text_string(&draft), "- name: obs_features\n    dtype: float32\n    shape: [18]\n    components"));
  assert_open(&draft,
              "inputs[joint_pos].terms[joint_pos].unit\n"
              "outputs[joint_targets].components[0].unit\n"
              "outputs[joint_targets].components[0].tolerance.max\n");
  text_free(&draft);
  memory_free(text);
  imported_end(&it);
}

static void refuses_a_graph_that_does_not_fit(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *sentence;
  } faults[] = {
      {"policy/hidden_out: [policy/hidden]", "other/hidden_out: [policy/hidden]",
       "'other/hidden_out' is no tensor of a node"},
      {"reach_initial_values.safetensors", "../secret.safetensors", "must be the name of a file in the same folder"},
      {"reach_initial_values.safetensors", "absent.safetensors", "does not lie beside this one"},
      {"frequency: 50", "frequency: -1", "which is no rate"},
      {"- name: joint_pos", "- nome: joint_pos", "a tensor has no 'name'"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct imported it;
    const char *folder = leapp_folder();
    write_file(in_folder(folder, "reach_initial_values.safetensors"), initial_values, sizeof initial_values - 1);
    char *text = fixture("leapp/reach.yaml"), *bad = replaced(text, faults[i].from, faults[i].to);
    write_file(in_folder(folder, "reach.yaml"), bad, strlen(bad));
    imported_begin(&it, "policy.onnx", &reach);
    ASSERT_FAILS(import_read(in_folder(folder, "reach.yaml"), NULL, &it.models, it.facts), ASSAY_IMPORT_INVALID,
                 faults[i].sentence);
    memory_free(text);
    memory_free(bad);
    imported_end(&it);
  }
}

/* --- LeRobot ---------------------------------------------------------------------------------------------- */

static const struct signature_tensor act_in[] = {{"observation_state", ASSAY_FLOAT32, 2, of_1_4, false},
                                                 {"front", ASSAY_FLOAT32, 4, image, false}};
static const struct signature_tensor act_out[] = {{"action", ASSAY_FLOAT32, 3, chunk, false}};
static const struct signature act = {2, 1, 0, act_in, act_out, NULL};
#define PRE_STATE "policy_preprocessor_step_3_normalizer_processor.safetensors"
#define POST_STATE "policy_postprocessor_step_0_unnormalizer_processor.safetensors"

static void copy_fixture(const char *folder, const char *name, const char *from, const char *to) {
  char path[64];
  snprintf(path, sizeof path, "lerobot/%s", name);
  char *original = fixture(path), *changed = replaced(original, from, to);
  write_file(in_folder(folder, name), changed, strlen(changed));
  memory_free(original);
  memory_free(changed);
}

/* The files of tests/importers/lerobot, one of them changed. */
static const char *lerobot_folder(const char *file, const char *from, const char *to) {
  static const char *const names[] = {"config.json", "policy_preprocessor.json", "policy_postprocessor.json",
                                      "info.json", "stats.json"};
  const char *folder = scratch_folder("import_lerobot");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    bool changes = text_equal(names[i], file);
    copy_fixture(folder, names[i], changes ? from : "{", changes ? to : "{");
  }
  static const char *const states[] = {PRE_STATE, POST_STATE};
  for (size_t i = 0; i < 2; i++) {
    char path[2048], *bytes = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, ASSAY_SOURCE_DIR "/tests/importers/lerobot/%s", states[i]);
    ASSERT_OK(file_read(path, 1 << 20, &bytes, &size));
    write_file(in_folder(folder, states[i]), bytes, size);
    memory_free(bytes);
  }
  return folder;
}

static assay_status read_lerobot(struct imported *it, const char *folder, const char *const *names) {
  imported_begin(it, "policy.onnx", &act);
  for (; *names != NULL; names++) {
    TRY(import_read(in_folder(folder, *names), NULL, &it->models, it->facts));
  }
  return imported_finish(it);
}

static const char *const policy_files[] = {"info.json", "policy_postprocessor.json", "policy_preprocessor.json",
                                           "config.json", NULL};
static const char *const data_files[] = {"config.json", "stats.json", "info.json", NULL};

static void check_action(const char *folder, const char *const *files, double raw, double expected) {
  struct imported it;
  ASSERT_OK(read_lerobot(&it, folder, files));
  struct text draft = imported_draft(&it);
  assert_open(&draft, "outputs[action].components[0].unit\noutputs[action].components[0].tolerance.max\n");
  static const char *const answers[] = {"degree", "0.5"};
  struct contract *contract = imported_contract(&draft, answers, 2, folder);
  ASSERT_OK(contract_bind(contract, &act, "policy.onnx"));
  const struct contract_output *action = &contract->outputs[0];
  assert_int_equal(action->execute_steps, 5);
  assert_int_equal(action->horizon_axis, 1);
  assert_string_equal(action->components[1].name, "shoulder_lift.pos");
  assert_true(contract->period_ms > 33.33 && contract->period_ms < 33.34);
  float numbers[40] = {0};
  numbers[4 * 2 + 1] = (float)raw; /* the second component in the third step */
  const assay_tensor tensor = {.dtype = ASSAY_FLOAT32, .rank = 3, .dims = {1, 10, 4}, .data = numbers};
  double decoded[40];
  contract_decode(action, &tensor, NULL, decoded);
  assert_true(decoded[4 * 2 + 1] == expected);
  contract_free(contract);
  text_free(&draft);
  imported_end(&it);
}

static void decodes_by_the_statistics_of_lerobot(void **state) {
  (void)state;
  const char *folder = lerobot_folder("", "", "");
  check_action(folder, policy_files, 2, 2 * 0.25 + 2); /* the processors' own */
  check_action(folder, data_files, 2, 2 * 0.25 + 2);   /* those of the data set */
}

static void decodes_by_the_range_of_lerobot(void **state) {
  (void)state;
  const char *folder = lerobot_folder("config.json", "\"ACTION\": \"MEAN_STD\"", "\"ACTION\": \"MIN_MAX\"");
  check_action(folder, data_files, 0.5, (0.5 + 1) * (3.0 - 1.0) / 2 + 1.0);
  folder = lerobot_folder("config.json", "\"ACTION\": \"MEAN_STD\"", "\"ACTION\": \"IDENTITY\"");
  check_action(folder, data_files, 0.5, 0.5);
}

/* (x - mean) / std with the state's own statistics; mapped to [-1, 1] by its range. */
static void normalizes_by_the_statistics_of_lerobot(void **state) {
  (void)state;
  static const double expected[2][4] = {{(3 - 0.5) / 1, (3 - 1.0) / 2, (3 - 1.5) / 4, (3 - 2) / 0.5},
                                        {(3 - 0.5) / 1.5, (3 - 1) / 4.0, (3 - 1.5) / 7.5, (3 - 2) / 1.0}};
  for (int by_range = 0; by_range < 2; by_range++) {
    const char *folder = lerobot_folder("config.json", "\"STATE\": \"MEAN_STD\"",
                                        by_range ? "\"STATE\": \"MIN_MAX\"" : "\"STATE\": \"MEAN_STD\"");
    struct imported it;
    ASSERT_OK(read_lerobot(&it, folder, data_files));
    struct text draft = imported_draft(&it);
    static const char *const answers[] = {"degree", "0.5"};
    struct contract *contract = imported_contract(&draft, answers, 2, folder);
    float values[] = {3, 3, 3, 3};
    const assay_tensor raw = {.dtype = ASSAY_FLOAT32, .rank = 2, .dims = {1, 4}, .data = values};
    assay_tensor out;
    ASSERT_OK(contract_preprocess(contract_find_input(contract, "observation_state"), &raw, &out));
    for (int64_t i = 0; i < 4; i++) {
      double difference = tensor_get(&out, i) - expected[by_range][i];
      assert_true(difference < 1e-6 && difference > -1e-6);
    }
    tensor_free(&out);
    contract_free(contract);
    text_free(&draft);
    imported_end(&it);
  }
}

/* Whichever joints it is added to, and whether or not the model is fed it: never a contract that adds nothing. */
static void add_state(const char *excluded, const char *reason) {
  char before[512];
  snprintf(before, sizeof before,
           "{\"registry_name\": \"relative_actions_processor\", \"config\": {\"enabled\": true, \"exclude_joints\": "
           "[%s], \"action_names\": null}},\n    {\"registry_name\": \"to_batch_processor\"",
           excluded);
  const char *folder = lerobot_folder("policy_preprocessor.json", "{\"registry_name\": \"to_batch_processor\"", before);
  char *text = fixture("lerobot/policy_postprocessor.json");
  char *after = replaced(text, "{\"registry_name\": \"device_processor\"",
                         "{\"registry_name\": \"absolute_actions_processor\", \"config\": {\"enabled\": true}},\n"
                         "    {\"registry_name\": \"device_processor\"");
  write_file(in_folder(folder, "policy_postprocessor.json"), after, strlen(after));
  struct imported it;
  ASSERT_OK(read_lerobot(&it, folder, policy_files));
  struct text draft = imported_draft(&it);
  assert_open(&draft,
              "outputs[action].decode[1].add\noutputs[action].components[0].unit\n"
              "outputs[action].components[0].tolerance.max\n");
  assert_non_null(strstr(text_string(&draft), reason));
  text_free(&draft);
  imported_end(&it);
  memory_free(text);
  memory_free(after);
}

static void adds_the_state_of_relative_actions(void **state) {
  (void)state;
  add_state("", "the model is fed it normalized"); /* which is not what is added */
  add_state("\"gripper\"", "not to the joints in exclude_joints");
}

static void joins_chunks_by_the_ensemble_of_lerobot(void **state) {
  (void)state;
  const char *folder =
      lerobot_folder("config.json", "\"temporal_ensemble_coeff\": null", "\"temporal_ensemble_coeff\": 0.01");
  struct imported it;
  ASSERT_OK(read_lerobot(&it, folder, policy_files));
  struct text draft = imported_draft(&it);
  static const char *const answers[] = {"degree", "0.5"};
  struct contract *contract = imported_contract(&draft, answers, 2, folder);
  assert_true(contract->outputs[0].ensemble);
  assert_true(contract->outputs[0].ensemble_m == 0.01);
  assert_int_equal(contract->outputs[0].execute_steps, 10); /* all of the chunk */
  contract_free(contract);
  text_free(&draft);
  imported_end(&it);
}

static void refuses_what_does_not_fit_in_lerobot(void **state) {
  (void)state;
  static const struct {
    const char *file, *from, *to, *sentence;
  } faults[] = {
      {"policy_postprocessor.json", "\"ACTION\": \"MEAN_STD\"", "\"ACTION\": \"MIN_MAX\"",
       "ACTION is normalized by MIN_MAX here, and by MEAN_STD in config.json"},
      {"policy_preprocessor.json", PRE_STATE, "absent.safetensors", "does not lie beside this one"},
      {"policy_preprocessor.json", PRE_STATE, "a/../b", "must be the name of a file in the same folder"},
      {"info.json", "\"fps\": 30", "\"fps\": 0", "which is no rate"},
      {"config.json", "\"n_action_steps\": 5", "\"n_action_steps\": 0", "'n_action_steps' must be a whole number"},
      {"config.json", "\"temporal_ensemble_coeff\": null", "\"temporal_ensemble_coeff\": \"x\"",
       "must be a finite number"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct imported it;
    const char *folder = lerobot_folder(faults[i].file, faults[i].from, faults[i].to);
    ASSERT_FAILS(read_lerobot(&it, folder, policy_files), ASSAY_IMPORT_INVALID, faults[i].sentence);
    imported_end(&it);
  }
  static const char *const alone[] = {"policy_preprocessor.json", NULL}, *const twice[] = {"config.json", "config.json",
                                                                                           NULL};
  struct imported it;
  const char *folder = lerobot_folder("", "", "");
  ASSERT_FAILS(read_lerobot(&it, folder, alone), ASSAY_IMPORT_INVALID, "the policy's config.json is needed");
  imported_end(&it);
  ASSERT_FAILS(read_lerobot(&it, folder, twice), ASSAY_IMPORT_INVALID, "is a policy's config.json too; give one");
  imported_end(&it);
}

static void names_steps_that_it_does_not_know(void **state) {
  (void)state;
  const char *folder = lerobot_folder("policy_preprocessor.json", "to_batch_processor", "clever_step");
  struct imported it;
  ASSERT_OK(read_lerobot(&it, folder, policy_files));
  assert_non_null(strstr(it.facts->remarks[0].text, "what the step 'clever_step' does is not in this draft"));
  imported_end(&it);
  folder = lerobot_folder("policy_postprocessor.json", "device_processor", "clever_step");
  ASSERT_OK(read_lerobot(&it, folder, policy_files));
  struct text draft = imported_draft(&it);
  assert_non_null(strstr(text_string(&draft), "decode: TODO (what the step 'clever_step' after the model does)"));
  text_free(&draft);
  imported_end(&it);
}

/* --- kinfer --------------------------------------------------------------------------------------------------- */

static const struct signature_tensor step_in[] = {{"joint_angles", ASSAY_FLOAT32, 1, of_4, false},
                                                  {"gyroscope", ASSAY_FLOAT32, 1, of_3, false},
                                                  {"command", ASSAY_FLOAT32, 1, of_3, false},
                                                  {"carry", ASSAY_FLOAT32, 1, of_8, false}};
static const struct signature_tensor step_out[] = {{"actions", ASSAY_FLOAT32, 1, of_4, false},
                                                   {"next_carry", ASSAY_FLOAT32, 1, of_8, false}};
static const struct signature step = {4, 2, 0, step_in, step_out, NULL};

struct member {
  const char *name, *bytes, *link; /* link: a symbolic one, instead of bytes */
};

/* A gzipped tar in memory; its size. */
static size_t pack(const struct member *members, char *out, size_t capacity) {
  struct archive *archive = archive_write_new();
  size_t used = 0;
  assert_int_equal(archive_write_add_filter_gzip(archive), ARCHIVE_OK);
  assert_int_equal(archive_write_set_format_ustar(archive), ARCHIVE_OK);
  assert_int_equal(archive_write_open_memory(archive, out, capacity, &used), ARCHIVE_OK);
  for (; members->name != NULL; members++) {
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, members->name);
    archive_entry_set_filetype(entry, members->link != NULL ? AE_IFLNK : AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, members->link != NULL ? 0 : (la_int64_t)strlen(members->bytes));
    if (members->link != NULL) {
      archive_entry_set_symlink(entry, members->link);
    }
    assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
    if (members->link == NULL) {
      assert_int_equal(archive_write_data(archive, members->bytes, strlen(members->bytes)), strlen(members->bytes));
    }
    archive_entry_free(entry);
  }
  archive_write_close(archive);
  archive_write_free(archive);
  return used;
}

#define METADATA "{\"joint_names\": [\"a\", \"b\", \"c\", \"d\"], \"num_commands\": 3, \"carry_size\": 8}"

static void opens_an_archive(void **state) {
  (void)state;
  static char bytes[1 << 16];
  size_t size = pack((const struct member[]){{"init_fn.onnx", "x", NULL},
                                             {"step_fn.onnx", "y", NULL},
                                             {"metadata.json", METADATA, NULL},
                                             {NULL, NULL, NULL}},
                     bytes, sizeof bytes);
  struct imported it;
  imported_begin(&it, "step_fn.onnx", &step);
  ASSERT_OK(import_bytes(bytes, size, "walk.kinfer", NULL, &it.models, it.facts));
  ASSERT_OK(imported_finish(&it));
  struct text draft = imported_draft(&it);
  assert_says(&draft, "joints: {value: [a, b, c, d], source: walk.kinfer:metadata.json}");
  assert_says(&draft, "{name: joint_angles, elements: joints, unit: rad");
  assert_says(&draft, "{name: command, count: 3");
  assert_open(&draft,
              "state[0].initial\noutputs[actions].components[0].unit\n"
              "outputs[actions].components[0].tolerance.max\n");
  text_free(&draft);
  imported_end(&it);
}

static void refuses_bad_archives(void **state) {
  (void)state;
  static char bytes[1 << 16];
  static const struct {
    struct member members[6];
    const char *sentence;
  } faults[] = {
      {{{"init_fn.onnx", "x", NULL}, {"metadata.json", METADATA, NULL}}, "the archive has no 'step_fn.onnx'"},
      {{{"../metadata.json", METADATA, NULL}}, "the archive holds '../metadata.json'"},
      {{{"metadata.json", METADATA, NULL}, {"metadata.json", METADATA, NULL}}, "'metadata.json' stands twice"},
      {{{"metadata.json", NULL, "/etc/passwd"}}, "is a link"},
      {{{"init_fn.onnx", "x", NULL}, {"step_fn.onnx", "y", NULL}, {"metadata.json", "[]", NULL}}, "is no object"},
      {{{"init_fn.onnx", "x", NULL}, {"step_fn.onnx", "y", NULL}, {"metadata.json", "{}", NULL}},
       "has no 'joint_names'"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct imported it;
    size_t size = pack(faults[i].members, bytes, sizeof bytes);
    imported_begin(&it, "step_fn.onnx", &step);
    ASSERT_FAILS(import_bytes(bytes, size, "walk.kinfer", NULL, &it.models, it.facts), ASSAY_IMPORT_INVALID,
                 faults[i].sentence);
    imported_end(&it);
  }
  /* cut short at every length, and with every byte changed: an error, or still the same archive */
  size_t size = pack((const struct member[]){{"init_fn.onnx", "x", NULL},
                                             {"step_fn.onnx", "y", NULL},
                                             {"metadata.json", METADATA, NULL},
                                             {NULL, NULL, NULL}},
                     bytes, sizeof bytes);
  for (size_t n = 3; n < size; n++) {
    struct imported it;
    imported_begin(&it, "step_fn.onnx", &step);
    assay_status status = import_bytes(bytes, n, "walk.kinfer", "kinfer", &it.models, it.facts);
    assay_status_clear(&status);
    bytes[n] = (char)(bytes[n] ^ 0x41);
    status = import_bytes(bytes, size, "walk.kinfer", "kinfer", &it.models, it.facts);
    assay_status_clear(&status);
    bytes[n] = (char)(bytes[n] ^ 0x41);
    imported_end(&it);
  }
}

/* --- memory --------------------------------------------------------------------------------------------------------
 */

struct attempted {
  const struct signature *signature;
  const char *folder, *const *names;
};

static assay_status attempt(void *argument) {
  const struct attempted *a = argument;
  struct imported it = {.n_models = 1, .names = {"p.onnx"}, .signatures = {a->signature}};
  it.models = (struct import_models){1, it.names, it.signatures};
  assay_status status = facts_new(&it.arena, &it.facts);
  for (int i = 0; a->names[i] != NULL && assay_status_ok(status); i++) {
    status = import_read(in_folder(a->folder, a->names[i]), NULL, &it.models, it.facts);
  }
  if (assay_status_ok(status)) {
    status = imported_finish(&it);
  }
  imported_end(&it);
  return status;
}

static void survives_failing_memory(void **state) {
  (void)state;
  struct attempted lerobot = {&act, lerobot_folder("", "", ""), policy_files};
  fail_every_allocation(attempt, &lerobot);
  static const char *const graph[] = {"reach.yaml", NULL};
  const char *folder = leapp_folder();
  write_file(in_folder(folder, "reach_initial_values.safetensors"), initial_values, sizeof initial_values - 1);
  struct attempted leapp = {&reach, folder, graph};
  fail_every_allocation(attempt, &leapp);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_a_graph_of_one_node),
      cmocka_unit_test(makes_stages_of_nodes),
      cmocka_unit_test(refuses_a_graph_that_does_not_fit),
      cmocka_unit_test(decodes_by_the_statistics_of_lerobot),
      cmocka_unit_test(decodes_by_the_range_of_lerobot),
      cmocka_unit_test(normalizes_by_the_statistics_of_lerobot),
      cmocka_unit_test(adds_the_state_of_relative_actions),
      cmocka_unit_test(joins_chunks_by_the_ensemble_of_lerobot),
      cmocka_unit_test(refuses_what_does_not_fit_in_lerobot),
      cmocka_unit_test(names_steps_that_it_does_not_know),
      cmocka_unit_test(opens_an_archive),
      cmocka_unit_test(refuses_bad_archives),
      cmocka_unit_test(survives_failing_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
