/* The joints' names in the order of the model's output, from a file that holds nothing else: `joint_names: [...]`. It
 * is for formats that count joints and don't name them. */
#include "contract/importer.h"
#include "core/text.h"

int joints_recognise(const struct import_file *file) {
  const struct foreign *root = file->is_text ? &file->yaml.documents[0] : NULL;
  bool only = root != NULL && root->kind == FOREIGN_MAP && root->count == 1;
  return only && foreign_get(root, "joint_names") != NULL ? IMPORT_SURE : IMPORT_NO;
}

assay_status joints_read(struct import *import) {
  const struct foreign *node = NULL;
  const char *const *names;
  int32_t count = 0;
  if (import->file->is_text) {
    TRY(import_get(import, &import->file->yaml.documents[0], "joint_names", &node));
  }
  if (node == NULL) {
    return import_error(import, NULL, "the file must hold joint_names: [...], in the order of the model's output");
  }
  TRY(import_words(import, node, "joint_names", &names, &count));
  return facts_joints(import->facts, import_place(import, node), names, count);
}
