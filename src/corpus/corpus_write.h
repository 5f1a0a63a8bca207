/* Making a corpus and adding cases to it. Deterministic: the same cases in the same order give the same
 * bytes. corpus.yaml is replaced as a whole at the end, so that a reader sees the corpus before or after,
 * never between; comments in it do not survive. One editor at a time per corpus. */
#ifndef CORPUS_CORPUS_WRITE_H
#define CORPUS_CORPUS_WRITE_H

#include "corpus/corpus.h"
#include "tensor/npz.h"

/* What a new corpus says of itself; strings may be NULL. */
struct corpus_head {
  enum corpus_role role;
  const char *policy, *framework, *framework_version, *weights_digest;
};
/* Makes the folder (with parents) and an empty corpus in it. A folder that holds a corpus is an error. */
ASSAY_MUST_CHECK assay_status corpus_new(const char *folder, const struct corpus_head *head);

struct corpus_editor;
/* Opens a corpus of any role to add to. */
ASSAY_MUST_CHECK assay_status corpus_edit(const char *folder, struct corpus_editor **out);
const struct corpus *corpus_edited(const struct corpus_editor *editor); /* as it stood when it was opened */
/* Writes the case's file and checks it as case_load would. entry->digest is not looked at;
 * entry->file is NULL, and the name is made of the id. Arrays are named with their prefix. */
ASSAY_MUST_CHECK assay_status corpus_edit_add(struct corpus_editor *editor, const struct corpus_case *entry,
                                              const struct npz_entry *arrays, size_t count);
/* CORPUS_SEALED when the file is a sealed corpus' and this corpus is not one: whoever reads a source asks first. */
ASSAY_MUST_CHECK assay_status corpus_edit_source(const struct corpus_editor *editor, const char *path);
/* Copies an .npz from elsewhere, byte for byte, and adds it as corpus_edit_add does. */
ASSAY_MUST_CHECK assay_status corpus_edit_copy(struct corpus_editor *editor, const struct corpus_case *entry,
                                               const char *path);
/* Adds a case whose file stands in the corpus folder already (entry->file); its bytes stay as they are. */
ASSAY_MUST_CHECK assay_status corpus_edit_adopt(struct corpus_editor *editor, const struct corpus_case *entry);
/* Declares the type of an array that files store as bits. */
ASSAY_MUST_CHECK assay_status corpus_edit_dtype(struct corpus_editor *editor, const char *array, assay_dtype dtype);
/* Gives bits that came from such a file (`path`, for messages) the type declared for the array, if one is. */
ASSAY_MUST_CHECK assay_status corpus_edit_retype(const struct corpus_editor *editor, const char *path,
                                                 const char *array, assay_tensor *tensor);
/* Cases added so far. */
int32_t corpus_edit_count(const struct corpus_editor *editor);
/* Replaces corpus.yaml and ends the editor, also when it fails: then nothing was added. */
ASSAY_MUST_CHECK assay_status corpus_edit_commit(struct corpus_editor *editor);
/* Takes back every file that was written and ends the editor; NULL is harmless. */
void corpus_edit_abandon(struct corpus_editor *editor);

#endif
