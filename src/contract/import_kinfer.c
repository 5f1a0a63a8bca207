/* K-Scale's kinfer archives: a gzipped tar of metadata.json, init_fn.onnx and step_fn.onnx. The metadata names the
 * joints and sizes the carry; what each input of step_fn.onnx is, its name says. Only metadata.json is unpacked, into
 * memory; nothing of an archive is ever written to a file. */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "contract/importer.h"
#include "core/text.h"

enum { ENTRIES_MAX = 16, METADATA_BYTES_MAX = 1 << 20, UNPACKED_BYTES_MAX = 512 << 20 };
static const char *const members[] = {"metadata.json", "init_fn.onnx", "step_fn.onnx"};
enum { METADATA, INIT, STEP, MEMBERS };

int kinfer_recognise(const struct import_file *file) {
  bool gzip = file->size > 2 && (unsigned char)file->data[0] == 0x1F && (unsigned char)file->data[1] == 0x8B;
  return gzip ? IMPORT_LIKELY : IMPORT_NO;
}

/* --- the archive ----------------------------------------------------------------------------------- */

static assay_status archive_error(const struct import *import, struct archive *archive) {
  const char *why = archive_error_string(archive);
  return import_error(import, NULL, "the archive can't be read: %.200s", why != NULL ? why : "it is damaged");
}

static int find_member(const char *path) {
  for (int i = 0; path != NULL && i < MEMBERS; i++) {
    if (strcmp(path, members[i]) == 0) {
      return i;
    }
  }
  return -1;
}

/* What is in the entry, up to a limit, with a zero byte behind it. */
static assay_status read_metadata(const struct import *import, struct archive *archive, struct text *out) {
  char block[4096];
  for (;;) {
    la_ssize_t n = archive_read_data(archive, block, sizeof block);
    if (n < 0) {
      return archive_error(import, archive);
    }
    if (n == 0) {
      return text_status(out);
    }
    if (out->length + (size_t)n > METADATA_BYTES_MAX || memchr(block, '\0', (size_t)n) != NULL) {
      return import_error(import, NULL, "metadata.json is no text of at most %d bytes", (int)METADATA_BYTES_MAX);
    }
    text_add_bytes(out, block, (size_t)n);
  }
}

/* Whether an entry may be here; marks it as seen. */
static assay_status check_entry(const struct import *import, struct archive_entry *entry, bool seen[MEMBERS],
                                bool *is_metadata) {
  const char *path = archive_entry_pathname(entry);
  int which = find_member(path);
  if (which < 0) {
    return import_error(import, NULL,
                        "the archive holds '%.80s'; only metadata.json, init_fn.onnx and step_fn.onnx may be",
                        path != NULL ? path : "a name that is no text");
  }
  if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != NULL ||
      archive_entry_symlink(entry) != NULL) {
    return import_error(import, NULL, "'%s' in the archive is a link or something else that is no file", path);
  }
  if (seen[which]) {
    return import_error(import, NULL, "'%s' stands twice in the archive", path);
  }
  if (!archive_entry_size_is_set(entry) || archive_entry_size(entry) < 0 ||
      archive_entry_size(entry) > UNPACKED_BYTES_MAX) {
    return import_error(import, NULL, "'%s' in the archive is larger than %d bytes", path, (int)UNPACKED_BYTES_MAX);
  }
  seen[which] = true;
  *is_metadata = which == METADATA;
  return status_ok();
}

static assay_status read_entries(const struct import *import, struct archive *archive, struct text *metadata) {
  bool seen[MEMBERS] = {false}, is_metadata = false;
  struct archive_entry *entry;
  int code;
  for (int n = 0; (code = archive_read_next_header(archive, &entry)) == ARCHIVE_OK; n++) {
    if (n == ENTRIES_MAX) {
      return import_error(import, NULL, "the archive holds more than %d files", (int)ENTRIES_MAX);
    }
    TRY(check_entry(import, entry, seen, &is_metadata));
    if (is_metadata) {
      TRY(read_metadata(import, archive, metadata));
    }
  }
  if (code != ARCHIVE_EOF) {
    return archive_error(import, archive);
  }
  for (int i = 0; i < MEMBERS; i++) {
    if (!seen[i]) {
      return import_error(import, NULL, "the archive has no '%s'", members[i]);
    }
  }
  return status_ok();
}

static assay_status unpack(const struct import *import, struct text *metadata) {
  struct archive *archive = archive_read_new();
  if (archive == NULL) {
    return status_no_memory(sizeof(void *));
  }
  bool opened = archive_read_support_filter_gzip(archive) == ARCHIVE_OK &&
                archive_read_support_format_tar(archive) == ARCHIVE_OK &&
                archive_read_open_memory(archive, import->file->data, import->file->size) == ARCHIVE_OK;
  assay_status status = opened ? read_entries(import, archive, metadata) : archive_error(import, archive);
  archive_read_free(archive);
  return status;
}

/* --- what the inputs of step_fn.onnx are ------------------------------------------------------------- */

static const struct known_term inputs[] = {
    {"joint_angles", "rad", "*", FACT_SENSOR},
    {"joint_angular_velocities", "rad/s", "*", FACT_SENSOR},
    {"initial_heading", "rad", "yaw", FACT_SENSOR},
    {"quaternion", NULL, "w x y z", FACT_SENSOR},
    {"projected_gravity", NULL, "x y z", FACT_SENSOR},
    {"accelerometer", "m/s²", "x y z", FACT_SENSOR},
    {"gyroscope", "rad/s", "x y z", FACT_SENSOR},
    {"command", NULL, "", FACT_SENSOR},
    {"time", "s", "t", FACT_SENSOR},
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

static bool is_sensor(const char *name) {
  for (int32_t i = 0; i < INPUTS; i++) {
    if (strcmp(inputs[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

static assay_status give_input(struct import *import, const char *name, struct place place) {
  struct fact_input *input;
  TRY(facts_input(import->facts, place, name, &input));
  TRY(facts_terms(import->facts, input, place, &name, &place, 1));
  bool known;
  return import_known_term(import, inputs, INPUTS, name, place, &input->terms[0], &known);
}

/* The second output is the carry of the next step; at the start it is what init_fn.onnx gives. */
static assay_status give_tensors(struct import *import, struct place place) {
  const struct signature *signature = import->models->signatures[0];
  bool carries = false;
  for (int32_t i = 0; i < signature->n_inputs; i++) {
    const char *name = signature->inputs[i].name;
    if (strcmp(name, "carry") == 0) {
      carries = true;
    } else if (is_sensor(name)) {
      TRY(give_input(import, name, place));
    } else {
      return import_error(import, NULL, "the model has an input '%.80s', which no step_fn.onnx has", name);
    }
  }
  if (signature->n_outputs != 2) {
    return import_error(import, NULL, "the model has %d outputs, and step_fn.onnx has an action and a carry",
                        (int)signature->n_outputs);
  }
  struct fact_output *output;
  TRY(facts_output(import->facts, place, signature->outputs[0].name, &output));
  TRY(facts_remark(import->facts, place, "the carry starts with what init_fn.onnx answers: run it, and name a file"));
  return carries ? facts_state(import->facts, place, "carry", signature->outputs[1].name, NULL) : status_ok();
}

static assay_status give_metadata(struct import *import, const struct foreign *root, struct place place) {
  const struct foreign *names;
  TRY(import_get(import, root, "joint_names", &names));
  if (names == NULL) {
    return import_error(import, NULL, "metadata.json has no 'joint_names'");
  }
  const char *const *joints;
  int32_t count;
  TRY(import_words(import, names, "joint_names", &joints, &count));
  TRY(facts_joints(import->facts, place, joints, count));
  return give_tensors(import, place);
}

assay_status kinfer_read(struct import *import) {
  struct text metadata = {0};
  assay_status status = unpack(import, &metadata);
  struct foreign_file json;
  if (assay_status_ok(status)) {
    status = foreign_parse(text_string(&metadata), metadata.length, "metadata.json", import->arena, &json);
  }
  if (assay_status_ok(status)) {
    struct place place = {.file = import->file->name, .key = "metadata.json"};
    status = json.n_documents == 1 && json.documents->kind == FOREIGN_MAP
                 ? give_metadata(import, json.documents, place)
                 : import_error(import, NULL, "metadata.json is no object");
  }
  text_free(&metadata);
  return status;
}
