/* What is asked of libhdf5: open the datasets, look at everything about them before a byte is read, then
 * read frames. Runs in the child process that hdf5_child.c makes. It must never follow a link to another
 * file nor load a plug-in. */
#include "corpus/hdf5_read.h"

#ifdef ASSAY_HAVE_HDF5
#include <hdf5.h>
#include <inttypes.h>
#include <string.h>

#include "core/arena.h"
#include "core/memory.h"

enum { DEPTH_MAX = 64, NAME_LONGEST = 1024, CHUNK_SLOTS = 521, CHUNK_CACHE_BYTES = 64 << 20 };

struct dataset {
  const char *name;
  hid_t id, memory_type;
  assay_dtype dtype;
  size_t element; /* bytes */
  int rank;       /* of the dataset: frames, then the shape of one */
  hsize_t dims[ASSAY_RANK_MAX];
};

static assay_status wrong(const struct hdf5_request *request, const char *dataset, const char *what) {
  return status_make(ASSAY_HDF5_INVALID, request->path, "dataset '%s' %s", dataset, what);
}

/* Opens one step of a path: a hard link or nothing. */
static assay_status open_link(const struct hdf5_request *request, const char *dataset, hid_t at, const char *name,
                              hid_t *out) {
  H5L_info_t info;
  if (H5Lexists(at, name, H5P_DEFAULT) <= 0 || H5Lget_info(at, name, &info, H5P_DEFAULT) < 0) {
    return status_make(ASSAY_HDF5_INVALID, request->path,
                       "there is no '%s' on the way to '%s'; h5ls -r lists what there is", name, dataset);
  }
  if (info.type == H5L_TYPE_EXTERNAL) {
    return wrong(request, dataset, "is a link to another file, which assay does not follow; name the file itself");
  }
  if (info.type != H5L_TYPE_HARD) {
    return wrong(request, dataset, "is reached by a soft link, which assay does not follow; name the dataset itself");
  }
  *out = H5Oopen(at, name, H5P_DEFAULT);
  return *out >= 0 ? status_ok() : wrong(request, dataset, "cannot be opened: the file is damaged");
}

/* Walks the path by hand, so that no link leads astray. */
static assay_status open_path(const struct hdf5_request *request, hid_t file, const char *path, hid_t *out) {
  char name[NAME_LONGEST];
  hid_t at = file;
  int depth = 0;
  const char *rest = path + strspn(path, "/");
  while (*rest != '\0') {
    size_t length = strcspn(rest, "/");
    if (length >= sizeof name || ++depth > DEPTH_MAX) {
      return wrong(request, path, "has too long a name");
    }
    memcpy(name, rest, length);
    name[length] = '\0';
    hid_t next = -1;
    assay_status status = strcmp(name, ".") == 0 ? wrong(request, path, "has '.' in its name")
                                                 : open_link(request, path, at, name, &next);
    if (at != file) {
      H5Oclose(at);
    }
    TRY(status);
    at = next;
    rest += length;
    rest += strspn(rest, "/");
  }
  if (at == file || H5Iget_type(at) != H5I_DATASET) {
    if (at != file) {
      H5Oclose(at);
    }
    return wrong(request, path, "is no dataset");
  }
  *out = at;
  return status_ok();
}

/* h5py stores booleans as an enumeration of FALSE = 0 and TRUE = 1. */
static bool is_boolean(hid_t type) {
  int8_t value[2] = {-1, -1};
  if (H5Tget_class(type) != H5T_ENUM || H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2) {
    return false;
  }
  return H5Tenum_valueof(type, "FALSE", &value[0]) >= 0 && H5Tenum_valueof(type, "TRUE", &value[1]) >= 0 &&
         value[0] == 0 && value[1] == 1;
}

/* The 16-bit floats, which libhdf5 1.10 has no names for. */
static assay_dtype small_float(hid_t type) {
  size_t sign, exponent, exponent_bits, mantissa, mantissa_bits;
  if (H5Tget_class(type) != H5T_FLOAT || H5Tget_size(type) != 2 || H5Tget_precision(type) != 16 ||
      H5Tget_offset(type) != 0 || H5Tget_norm(type) != H5T_NORM_IMPLIED ||
      H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0 || sign != 15 ||
      mantissa != 0 || exponent != mantissa_bits || exponent_bits + mantissa_bits != 15) {
    return ASSAY_UNDEFINED;
  }
  if (exponent_bits == 5 && H5Tget_ebias(type) == 15) {
    return ASSAY_FLOAT16;
  }
  return exponent_bits == 8 && H5Tget_ebias(type) == 127 ? ASSAY_BFLOAT16 : ASSAY_UNDEFINED;
}

/* The dtype, and the type to read it as: the same in the order of this machine. */
static assay_status find_type(const struct hdf5_request *request, struct dataset *dataset, hid_t type) {
  const struct {
    hid_t little, big, memory;
    assay_dtype dtype;
  } known[] = {
      {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, ASSAY_FLOAT32},
      {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, ASSAY_FLOAT64},
      {H5T_STD_U8LE, H5T_STD_U8BE, H5T_NATIVE_UINT8, ASSAY_UINT8},
      {H5T_STD_U16LE, H5T_STD_U16BE, H5T_NATIVE_UINT16, ASSAY_UINT16},
      {H5T_STD_U32LE, H5T_STD_U32BE, H5T_NATIVE_UINT32, ASSAY_UINT32},
      {H5T_STD_U64LE, H5T_STD_U64BE, H5T_NATIVE_UINT64, ASSAY_UINT64},
      {H5T_STD_I8LE, H5T_STD_I8BE, H5T_NATIVE_INT8, ASSAY_INT8},
      {H5T_STD_I16LE, H5T_STD_I16BE, H5T_NATIVE_INT16, ASSAY_INT16},
      {H5T_STD_I32LE, H5T_STD_I32BE, H5T_NATIVE_INT32, ASSAY_INT32},
      {H5T_STD_I64LE, H5T_STD_I64BE, H5T_NATIVE_INT64, ASSAY_INT64},
  };
  dataset->memory_type = H5Tcopy(type);
  if (dataset->memory_type < 0) {
    return wrong(request, dataset->name, "has no readable type: the file is damaged");
  }
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (H5Tequal(type, known[i].little) > 0 || H5Tequal(type, known[i].big) > 0) {
      H5Tclose(dataset->memory_type);
      dataset->memory_type = H5Tcopy(known[i].memory);
      dataset->dtype = known[i].dtype;
      return status_ok();
    }
  }
  dataset->dtype = is_boolean(type) ? ASSAY_BOOL : small_float(type);
  if (dataset->dtype == ASSAY_UNDEFINED ||
      (dataset->dtype != ASSAY_BOOL && H5Tset_order(dataset->memory_type, H5Tget_order(H5T_NATIVE_INT)) < 0)) {
    return wrong(request, dataset->name,
                 "has a type that assay does not read; integers, floats of 16, 32 and 64 bits and booleans are");
  }
  return status_ok();
}

static assay_status check_filters(const struct hdf5_request *request, const char *name, hid_t plist) {
  int n = H5Pget_nfilters(plist);
  for (int i = 0; i < n; i++) {
    unsigned flags, config;
    size_t n_values = 0;
    char label[64] = "";
    H5Z_filter_t filter = H5Pget_filter2(plist, (unsigned)i, &flags, &n_values, NULL, sizeof label, label, &config);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32) {
      return status_make(
          ASSAY_HDF5_INVALID, request->path,
          "dataset '%s' is stored through filter %d, which assay does not read; write it again with gzip or "
          "without compression",
          name, (int)filter);
    }
  }
  return n >= 0 ? status_ok() : wrong(request, name, "has unreadable filters: the file is damaged");
}

/* a * b, at most `limit`. */
static bool within(uint64_t *product, uint64_t factor, uint64_t limit) {
  return !__builtin_mul_overflow(*product, factor, product) && *product <= limit;
}

static assay_status check_storage(const struct hdf5_request *request, const struct dataset *dataset, hid_t plist) {
  H5D_layout_t layout = H5Pget_layout(plist);
  if (layout == H5D_VIRTUAL) {
    return wrong(request, dataset->name, "is virtual: its values lie in other files, which assay does not open");
  }
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) {
    return wrong(request, dataset->name, "has an unknown layout");
  }
  if (H5Pget_external_count(plist) != 0) {
    return wrong(request, dataset->name, "keeps its values in another file, which assay does not open");
  }
  if (layout == H5D_CHUNKED) {
    hsize_t chunk[ASSAY_RANK_MAX + 1];
    uint64_t bytes = dataset->element;
    int rank = H5Pget_chunk(plist, ASSAY_RANK_MAX + 1, chunk);
    if (rank != dataset->rank) {
      return wrong(request, dataset->name, "has chunks of another rank: the file is damaged");
    }
    for (int d = 0; d < rank; d++) {
      if (!within(&bytes, chunk[d], request->bytes_max)) {
        return status_make(ASSAY_LIMIT_EXCEEDED, request->path,
                           "dataset '%s' has chunks of more than %" PRIu64 " bytes, the limit for one array",
                           dataset->name, request->bytes_max);
      }
    }
  }
  return check_filters(request, dataset->name, plist);
}

static assay_status find_shape(const struct hdf5_request *request, struct dataset *dataset, hid_t space) {
  int rank = H5Sget_simple_extent_ndims(space);
  if (rank > ASSAY_RANK_MAX) {
    return wrong(request, dataset->name, "has more axes than the 16 that assay reads");
  }
  if (rank < 1 || H5Sget_simple_extent_type(space) != H5S_SIMPLE ||
      H5Sget_simple_extent_dims(space, dataset->dims, NULL) != rank) {
    return wrong(request, dataset->name, "has no leading axis of frames");
  }
  dataset->rank = rank;
  if (dataset->dims[0] > INT64_MAX) {
    return wrong(request, dataset->name, "has an impossible number of frames: the file is damaged");
  }
  uint64_t bytes = dataset->element;
  for (int d = 1; d < rank; d++) {
    if (!within(&bytes, dataset->dims[d], request->bytes_max)) {
      return status_make(ASSAY_LIMIT_EXCEEDED, request->path,
                         "a frame of dataset '%s' has more than %" PRIu64 " bytes, the limit for one array",
                         dataset->name, request->bytes_max);
    }
  }
  return status_ok();
}

/* True when every chunk, or the one block, was written. */
static bool is_written(const struct dataset *dataset, hid_t plist, hid_t space) {
  if (H5Pget_layout(plist) != H5D_CHUNKED) {
    H5D_space_status_t written;
    return H5Dget_space_status(dataset->id, &written) >= 0 && written == H5D_SPACE_STATUS_ALLOCATED;
  }
  hsize_t chunk[ASSAY_RANK_MAX + 1], stored;
  uint64_t needed = 1;
  if (H5Pget_chunk(plist, ASSAY_RANK_MAX + 1, chunk) != dataset->rank ||
      H5Dget_num_chunks(dataset->id, space, &stored) < 0) {
    return false;
  }
  for (int d = 0; d < dataset->rank; d++) {
    if (chunk[d] == 0 || !within(&needed, (dataset->dims[d] - 1) / chunk[d] + 1, UINT64_MAX)) {
      return false;
    }
  }
  return stored == needed;
}

/* A dataset in parts of which nobody ever wrote would read as its fill value. */
static assay_status check_written(const struct hdf5_request *request, const struct dataset *dataset, hid_t plist,
                                  hid_t space) {
  for (int d = 0; d < dataset->rank; d++) {
    if (dataset->dims[d] == 0) {
      return status_ok();
    }
  }
  return is_written(dataset, plist, space)
             ? status_ok()
             : wrong(request, dataset->name,
                     "has parts that were never written; what was not recorded cannot be a case");
}

static assay_status look_at(const struct hdf5_request *request, struct dataset *dataset) {
  hid_t type = H5Dget_type(dataset->id), space = H5Dget_space(dataset->id), plist = H5Dget_create_plist(dataset->id);
  assay_status status = status_ok();
  if (type < 0 || space < 0 || plist < 0) {
    status = wrong(request, dataset->name, "cannot be described: the file is damaged");
  }
  if (assay_status_ok(status)) {
    status = find_type(request, dataset, type);
  }
  if (assay_status_ok(status)) {
    dataset->element = assay_dtype_bits(dataset->dtype) / 8;
    status = find_shape(request, dataset, space);
  }
  if (assay_status_ok(status)) {
    status = check_storage(request, dataset, plist);
  }
  if (assay_status_ok(status)) {
    status = check_written(request, dataset, plist, space);
  }
  H5Tclose(type);
  H5Sclose(space);
  H5Pclose(plist);
  return status;
}

/* Reads `count` frames from `first` on, `stride` apart, into one block. */
static assay_status read_frames(const struct hdf5_request *request, const struct dataset *dataset, int64_t first,
                                int64_t count, int64_t stride, void *block) {
  hsize_t start[ASSAY_RANK_MAX] = {(hsize_t)first}, step[ASSAY_RANK_MAX], counts[ASSAY_RANK_MAX];
  for (int d = 0; d < dataset->rank; d++) {
    step[d] = d == 0 ? (hsize_t)stride : 1;
    counts[d] = d == 0 ? (hsize_t)count : dataset->dims[d];
  }
  hid_t file_space = H5Dget_space(dataset->id), memory_space = H5Screate_simple(dataset->rank, counts, NULL);
  bool read = file_space >= 0 && memory_space >= 0 &&
              H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, step, counts, NULL) >= 0 &&
              H5Dread(dataset->id, dataset->memory_type, memory_space, file_space, H5P_DEFAULT, block) >= 0;
  H5Sclose(file_space);
  H5Sclose(memory_space);
  return read ? status_ok() : wrong(request, dataset->name, "cannot be read: the file is damaged");
}

/* Booleans that are neither 0 nor 1 are damage. */
static assay_status check_values(const struct hdf5_request *request, const struct dataset *dataset,
                                 const assay_tensor *tensor) {
  const uint8_t *bytes = tensor->data;
  if (dataset->dtype == ASSAY_BOOL) {
    for (size_t i = 0; i < tensor->bytes; i++) {
      if (bytes[i] > 1) {
        return wrong(request, dataset->name, "holds a boolean that is neither true nor false");
      }
    }
  }
  return status_ok();
}

static assay_status send_frames(const struct hdf5_request *request, const struct dataset *dataset, int32_t index,
                                int64_t first, int64_t count, hdf5_sink *sink, void *user) {
  int64_t dims[ASSAY_RANK_MAX];
  int rank = 0;
  if (request->whole) {
    dims[rank++] = count;
  }
  uint64_t bytes = dataset->element * (uint64_t)count;
  for (int d = 1; d < dataset->rank; d++) {
    dims[rank++] = (int64_t)dataset->dims[d];
    if (!within(&bytes, dataset->dims[d], request->bytes_max)) {
      return status_make(ASSAY_LIMIT_EXCEEDED, request->path,
                         "%" PRId64 " frames of dataset '%s' have more than %" PRIu64
                         " bytes, the limit for one array; take fewer frames",
                         count, dataset->name, request->bytes_max);
    }
  }
  assay_tensor tensor;
  TRY(tensor_new(dataset->dtype, dims, rank, &tensor));
  assay_status status = status_ok();
  if (tensor.bytes > 0) {
    status = read_frames(request, dataset, first, count, request->stride, tensor.data);
  }
  if (assay_status_ok(status)) {
    status = check_values(request, dataset, &tensor);
  }
  if (assay_status_ok(status)) {
    status = sink(user, first, index, &tensor);
  }
  tensor_free(&tensor);
  return status;
}

static assay_status read_all(const struct hdf5_request *request, const struct dataset *datasets, hdf5_sink *sink,
                             void *user) {
  int64_t frames = (int64_t)datasets[0].dims[0];
  for (int32_t i = 1; i < request->n_datasets; i++) {
    if ((int64_t)datasets[i].dims[0] != frames) {
      return status_make(ASSAY_HDF5_INVALID, request->path,
                         "dataset '%s' has %" PRId64 " frames but '%s' has %" PRId64
                         "; datasets of one episode have the same number",
                         datasets[i].name, (int64_t)datasets[i].dims[0], datasets[0].name, frames);
    }
  }
  int64_t to = request->to < 0 ? frames : request->to;
  if (to > frames || request->from > to) {
    return status_make(ASSAY_HDF5_INVALID, request->path,
                       "frames %" PRId64 " to %" PRId64 " were asked for, but '%s' has %" PRId64, request->from, to,
                       datasets[0].name, frames);
  }
  int64_t count = to == request->from ? 0 : (to - request->from - 1) / request->stride + 1;
  if (count > HDF5_FRAMES_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, request->path,
                       "%" PRId64 " frames were asked for; at most %d are read at once, so choose a range or a stride",
                       count, HDF5_FRAMES_MAX);
  }
  for (int64_t f = 0; f < (request->whole ? 1 : count); f++) {
    for (int32_t i = 0; i < request->n_datasets; i++) {
      TRY(send_frames(request, &datasets[i], i, request->from + f * request->stride, request->whole ? count : 1, sink,
                      user));
    }
  }
  return status_ok();
}

static assay_status open_file(const struct hdf5_request *request, hid_t *file) {
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  (void)H5PLset_loading_state(0);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  (void)H5Pset_cache(access, 0, CHUNK_SLOTS, CHUNK_CACHE_BYTES, 0.75); /* frames are read one by one */
#if H5_VERSION_GE(1, 10, 7)
  (void)H5Pset_file_locking(access, false, true);
#endif
  *file = H5Fopen(request->path, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  return *file >= 0 ? status_ok()
                    : status_make(ASSAY_HDF5_INVALID, request->path,
                                  "this is no HDF5 file, or a damaged one; h5ls shows whether it can be read");
}

assay_status hdf5_read_here(const struct hdf5_request *request, hdf5_sink *sink, void *user) {
  struct dataset datasets[HDF5_DATASETS_MAX];
  hid_t file;
  TRY(open_file(request, &file));
  assay_status status = status_ok();
  int32_t opened = 0;
  while (opened < request->n_datasets && assay_status_ok(status)) {
    struct dataset *dataset = &datasets[opened];
    *dataset = (struct dataset){.name = request->datasets[opened], .id = -1, .memory_type = -1};
    status = open_path(request, file, dataset->name, &dataset->id);
    opened++;
    if (assay_status_ok(status)) {
      status = look_at(request, dataset);
    }
  }
  if (assay_status_ok(status)) {
    status = read_all(request, datasets, sink, user);
  }
  for (int32_t i = 0; i < opened; i++) {
    if (datasets[i].id >= 0) {
      H5Dclose(datasets[i].id);
    }
    if (datasets[i].memory_type >= 0) {
      H5Tclose(datasets[i].memory_type);
    }
  }
  H5Fclose(file);
  return status;
}
#endif
