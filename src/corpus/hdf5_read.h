/* Reading frames of HDF5 datasets. The HDF5 library is not safe on damaged files, so it runs in a child
 * process of its own, bounded in memory and time; what comes back is checked again. A file that the
 * library cannot survive is an error like any other. Only in builds with ASSAY_HAVE_HDF5. */
#ifndef CORPUS_HDF5_READ_H
#define CORPUS_HDF5_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "tensor/tensor.h"

enum { HDF5_DATASETS_MAX = 64 };

struct hdf5_request {
  const char *path;
  int32_t n_datasets;
  const char *const *datasets; /* "observations/qpos", from the root */
  int64_t from, to, stride;    /* frames from, from + stride, ... below `to`; to < 0: to the end */
  bool whole;                  /* all chosen frames of a dataset as one array; otherwise frame by frame */
  uint64_t bytes_max;          /* of one array; 0: HDF5_BYTES_DEFAULT */
  int seconds;                 /* of silence before reading is given up; 0: HDF5_SECONDS_DEFAULT */
};
#define HDF5_BYTES_DEFAULT ((uint64_t)1 << 30)
enum { HDF5_SECONDS_DEFAULT = 120, HDF5_FRAMES_MAX = 1000000 };

/* Gets every array in turn: frame by frame, datasets in the order asked for. `frame` is the number in
 * the file (the first one of a whole array). The tensor is valid during the call. */
typedef assay_status hdf5_sink(void *user, int64_t frame, int32_t dataset, const assay_tensor *tensor);

/* All datasets must have the same number of frames along their leading axis. Refused, each with a
 * sentence: links out of the file or within it, virtual datasets, external storage, filters other than
 * deflate, shuffle and fletcher32, parts never written, types other than integers, IEEE floats,
 * bfloat16 and booleans, and extents beyond the limits. */
ASSAY_MUST_CHECK assay_status hdf5_read(const struct hdf5_request *request, hdf5_sink *sink, void *user);

/* The part that calls the library; hdf5_read runs it in the child. */
ASSAY_MUST_CHECK assay_status hdf5_read_here(const struct hdf5_request *request, hdf5_sink *sink, void *user);

#endif
