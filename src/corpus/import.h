/* Importers: what others have recorded, as cases of a corpus. Each adds through an editor
 * (corpus_write.h), so that an import is there as a whole or not at all, and keeps the lineage: the
 * origin's name, its digest, episode and frame. */
#ifndef CORPUS_IMPORT_H
#define CORPUS_IMPORT_H

#include "corpus/corpus_write.h"

/* In every function `like` says what all cases get: tags, ages, expectation, sequence, forced, guard. Its
 * id, when there is one, takes the place of the source's name; several cases of one source get a number
 * behind it. Its file, digest and origin are not looked at. */

/* NAME=F.npy: `array` with its prefix ("inputs/obs"). One case; like->id is needed. */
struct import_array {
  const char *array, *path;
};
ASSAY_MUST_CHECK assay_status import_npy(struct corpus_editor *editor, const struct corpus_case *like,
                                         const struct import_array *arrays, size_t count);

/* One .npz is one case. A file that lies in the corpus folder already stays as it is. */
ASSAY_MUST_CHECK assay_status import_npz(struct corpus_editor *editor, const struct corpus_case *like,
                                         const char *path);

/* A folder: of .npz files (a case each), or with inputs/NAME.npy, outputs/NAME.npy, ... (one case; names
 * percent-encoded), or of such folders (a case each). */
ASSAY_MUST_CHECK assay_status import_folder(struct corpus_editor *editor, const struct corpus_case *like,
                                            const char *path);

/* ONNX's test_data_set_N with input_N.pb and output_N.pb, or a folder of those. The numbers are positions
 * among the model's inputs and outputs; a name inside must agree with them. `model` NULL: model.onnx in
 * or beside the folder. */
ASSAY_MUST_CHECK assay_status import_onnx(struct corpus_editor *editor, const struct corpus_case *like,
                                          const char *path, const char *model);

/* DATASET=ARRAY, such as observations/qpos=inputs/qpos. "{episode}" in the dataset stands for the number. */
struct hdf5_map {
  const char *dataset, *array;
};
struct hdf5_import {
  int32_t n_maps;
  const struct hdf5_map *maps;
  int32_t n_episodes; /* for "{episode}"; without it a file is one episode */
  const int64_t *episodes;
  int64_t from, to, stride; /* frames; to < 0: to the end */
  bool batch;               /* puts a leading axis of 1 before every frame of inputs/ and outputs/ */
  uint64_t bytes_max;       /* of one array; 0: the default of hdf5_read.h */
  int seconds;              /* likewise */
};
/* One case per frame, or per episode when like->sequence. */
ASSAY_MUST_CHECK assay_status import_hdf5(struct corpus_editor *editor, const struct corpus_case *like,
                                          const struct hdf5_import *import, const char *path);

enum import_kind { IMPORT_NPZ, IMPORT_FOLDER, IMPORT_ONNX, IMPORT_HDF5, IMPORT_KIND_COUNT };
/* What a source is, by its name and, for folders, by what lies in it. */
ASSAY_MUST_CHECK assay_status import_kind_of(const char *path, enum import_kind *out);

#endif
