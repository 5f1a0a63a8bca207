/* What gate.yaml hands to a runtime: its settings, and the program that it is. It knows no engine: each takes or
 * refuses what it is handed. */
#include <string.h>

#include "core/file.h"
#include "gate/gate_reader.h"

assay_status gate_joined(struct gate_reader *reader, const char *name, const char **out) {
  *out = path_join(&reader->gate->arena, reader->gate->folder, name);
  return *out != NULL ? status_ok() : status_no_memory(strlen(name));
}

assay_status gate_expect_kind(struct gate_reader *reader, const struct yaml *node, enum yaml_kind kind,
                              const char *what) {
  if (node->kind == kind) {
    return status_ok();
  }
  return yaml_error(&reader->file, node->mark, "%s must be a %s", what,
                    kind == YAML_SEQUENCE ? "list, one entry after each '- '" : "mapping of 'key: value'");
}

static assay_status scalar_text(struct gate_reader *reader, const struct yaml *node, const char *what,
                                const char **out) {
  if (node->kind != YAML_SCALAR) {
    return yaml_error(&reader->file, node->mark, "%s must be a single value", what);
  }
  *out = node->text;
  return status_ok();
}

static int32_t count_settings(const struct yaml *node) {
  int32_t count = 0;
  for (int32_t i = 0; node != NULL && i < node->count; i++) {
    count += node->items[i].kind != YAML_SCALAR ? node->items[i].count : 1;
  }
  return count;
}

/* The value of one setting. A file is meant relative to the gate's folder, as everywhere in gate.yaml. */
static assay_status parse_value(struct gate_reader *reader, const struct yaml *node, struct rung_setting *setting) {
  TRY(scalar_text(reader, node, setting->key, &setting->value));
  bool always = strcmp(setting->key, "module") == 0 || strcmp(setting->key, "checkpoint") == 0;
  bool relative = setting->value[0] != '/' && (always || strchr(setting->value, '/') != NULL);
  return rung_setting_is_path(setting->key) && relative ? gate_joined(reader, setting->value, &setting->value)
                                                        : status_ok();
}

/* One setting, or a mapping of them, whose keys become "provider_options.device_id", or a list: "arguments.0". */
static assay_status parse_setting(struct gate_reader *reader, const char *key, const struct yaml *node,
                                  struct rung_setting *settings, int32_t *count) {
  if (node->kind == YAML_SCALAR) {
    settings[*count].key = key;
    return parse_value(reader, node, &settings[(*count)++]);
  }
  for (int32_t i = 0; i < node->count; i++) {
    struct rung_setting *setting = &settings[(*count)++];
    setting->key = node->kind == YAML_MAPPING ? arena_format(&reader->gate->arena, "%s.%s", key, node->keys[i])
                                              : arena_format(&reader->gate->arena, "%s.%d", key, (int)i);
    if (setting->key == NULL) {
      return status_no_memory(strlen(key));
    }
    TRY(scalar_text(reader, &node->items[i], key, &setting->value));
  }
  return status_ok();
}

assay_status gate_settings_parse(struct gate_reader *reader, const struct yaml *rung, struct rung_request *request) {
  const struct yaml *node = yaml_get(rung, "settings");
  int32_t inner = 0;
  if (node != NULL) {
    TRY(gate_expect_kind(reader, node, YAML_MAPPING, "settings"));
  }
  struct rung_setting *settings;
  ARENA_NEW(&reader->gate->arena, settings, count_settings(node) + count_settings(rung) + 1);
  inner = 0;
  for (int32_t i = 0; node != NULL && i < node->count; i++) {
    TRY(parse_setting(reader, node->keys[i], &node->items[i], settings, &inner));
  }
  for (int32_t i = 0; i < rung->count; i++) {
    if (!rung_setting_is_expectation(rung->keys[i]) && !rung_setting_is_common(rung->keys[i])) {
      continue;
    }
    if (node != NULL && yaml_get(node, rung->keys[i]) != NULL) {
      return yaml_error(&reader->file, rung->key_marks[i], "'%s' stands here and under settings; say it once",
                        rung->keys[i]);
    }
    TRY(parse_setting(reader, rung->keys[i], &rung->items[i], settings, &inner));
  }
  request->settings = settings;
  request->n_settings = inner;
  return status_ok();
}

/* A path with a slash is relative to the gate's folder. */
assay_status gate_command_parse(struct gate_reader *reader, const struct yaml *node, struct rung_request *request) {
  bool process = strcmp(request->engine, "process") == 0, remote = strcmp(request->engine, "remote") == 0;
  if (node == NULL) {
    return status_ok(); /* the engine says that it needs one */
  }
  if (!process && !remote) {
    return yaml_error(&reader->file, node->mark,
                      "rung '%s' names a command, which belongs to `engine: process` and `engine: remote`",
                      request->name);
  }
  const struct yaml *words = node->kind == YAML_SEQUENCE ? node->items : node;
  int32_t count = node->kind == YAML_SEQUENCE ? node->count : 1;
  const char **command;
  ARENA_NEW(&reader->gate->arena, command, count + 1);
  for (int32_t i = 0; i < count; i++) {
    TRY(yaml_string(&reader->file, &words[i], "a word of the command", &command[i]));
  }
  bool has_path = count > 0 && strchr(command[0], '/') != NULL;
  if (count == 0 || (process && !has_path)) {
    return yaml_error(&reader->file, node->mark,
                      "the command of rung '%s' must begin with the path of a program, such as ./run_on_board.sh",
                      request->name);
  }
  if (has_path && command[0][0] != '/') {
    TRY(gate_joined(reader, command[0], &command[0]));
  }
  request->command = command;
  request->n_command = count;
  return status_ok();
}
