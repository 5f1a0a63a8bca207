/* HDF5 episodes: frames and sequences with their lineage, and the many ways in which an HDF5 file can
 * lead elsewhere or be broken. */
#include "support.h"

#ifdef ASSAY_HAVE_HDF5
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"
#include "corpus/hdf5_read.h"
#include "corpus/import.h"
#include "corpus_builder.h"

/* Closing such a file closes all that was opened in it. */
static hid_t create(const char *path) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  assert_true(file >= 0);
  return file;
}

/* A dataset of floats 0, 1, 2, ... of that shape. */
static void put_floats(hid_t at, const char *name, int rank, const hsize_t *dims, hid_t type, hid_t plist) {
  static float values[1 << 17];
  hsize_t count = 1;
  for (int d = 0; d < rank; d++) {
    count *= dims[d];
  }
  assert_true(count <= sizeof values / sizeof *values);
  for (hsize_t i = 0; i < count; i++) {
    values[i] = (float)i;
  }
  hid_t space = H5Screate_simple(rank, dims, NULL);
  hid_t set = H5Dcreate2(at, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  assert_true(set >= 0);
  assert_true(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(set);
  H5Sclose(space);
}

/* An episode as robots record them: 6 frames of joints, an image, gzipped actions, big-endian and half floats,
 * booleans; and everything that must be refused. */
static void make_file(const char *path) {
  hid_t file = create(path);
  hid_t group = H5Gcreate2(file, "observations", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put_floats(group, "qpos", 2, (const hsize_t[]){6, 2}, H5T_IEEE_F32LE, H5P_DEFAULT);
  put_floats(group, "image", 4, (const hsize_t[]){6, 2, 2, 3}, H5T_STD_U8LE, H5P_DEFAULT);
  put_floats(group, "big", 1, (const hsize_t[]){6}, H5T_IEEE_F64BE, H5P_DEFAULT);
  hid_t half = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(half, 15, 10, 5, 0, 10);
  H5Tset_size(half, 2);
  H5Tset_ebias(half, 15);
  put_floats(group, "half", 2, (const hsize_t[]){6, 1}, half, H5P_DEFAULT);
  hid_t odd = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(odd, 15, 9, 6, 0, 9);
  H5Tset_size(odd, 2);
  H5Tset_ebias(odd, 31);
  put_floats(group, "odd", 2, (const hsize_t[]){6, 1}, odd, H5P_DEFAULT);

  hid_t zipped = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(zipped, 2, (const hsize_t[]){4, 2});
  H5Pset_shuffle(zipped);
  H5Pset_deflate(zipped, 4);
  put_floats(file, "action", 2, (const hsize_t[]){6, 2}, H5T_IEEE_F32LE, zipped);
  hid_t scaled = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(scaled, 2, (const hsize_t[]){4, 2});
  H5Pset_scaleoffset(scaled, H5Z_SO_FLOAT_DSCALE, 1);
  put_floats(file, "scaled", 2, (const hsize_t[]){6, 2}, H5T_IEEE_F32LE, scaled);

  hid_t boolean = H5Tenum_create(H5T_STD_I8LE);
  H5Tenum_insert(boolean, "FALSE", (const int8_t[]){0});
  H5Tenum_insert(boolean, "TRUE", (const int8_t[]){1});
  hid_t six = H5Screate_simple(1, (const hsize_t[]){6}, NULL);
  hid_t flags = H5Dcreate2(file, "closed", boolean, six, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(flags, boolean, H5S_ALL, H5S_ALL, H5P_DEFAULT, (const int8_t[]){0, 1, 0, 1, 1, 0});
  H5Dclose(flags);
  flags = H5Dcreate2(file, "torn", boolean, six, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(flags, boolean, H5S_ALL, H5S_ALL, H5P_DEFAULT, (const int8_t[]){0, 1, 0, 7, 1, 0});
  H5Dclose(flags);

  hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 8);
  H5Dclose(H5Dcreate2(file, "text", text, six, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Dclose(H5Dcreate2(file, "unwritten", H5T_IEEE_F32LE, six, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  hid_t scalar = H5Screate(H5S_SCALAR);
  H5Dclose(H5Dcreate2(file, "scalar", H5T_IEEE_F32LE, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  hid_t empty = H5Screate_simple(2, (const hsize_t[]){0, 3}, (const hsize_t[]){H5S_UNLIMITED, 3});
  hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(chunked, 2, (const hsize_t[]){1, 3});
  H5Dclose(H5Dcreate2(file, "empty", H5T_IEEE_F32LE, empty, H5P_DEFAULT, chunked, H5P_DEFAULT));
  hid_t large = H5Screate_simple(3, (const hsize_t[]){6, 1000000, 1000000}, NULL);
  hid_t large_chunks = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(large_chunks, 3, (const hsize_t[]){1, 10, 10});
  H5Dclose(H5Dcreate2(file, "large", H5T_IEEE_F32LE, large, H5P_DEFAULT, large_chunks, H5P_DEFAULT));
  hid_t wide_chunks = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(wide_chunks, 1, (const hsize_t[]){500000000});
  hid_t growing = H5Screate_simple(1, (const hsize_t[]){6}, (const hsize_t[]){H5S_UNLIMITED});
  H5Dclose(H5Dcreate2(file, "wide", H5T_IEEE_F32LE, growing, H5P_DEFAULT, wide_chunks, H5P_DEFAULT));
  hid_t outside = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(outside, "/etc/hostname", 0, 24);
  H5Dclose(H5Dcreate2(file, "outside", H5T_IEEE_F32LE, six, H5P_DEFAULT, outside, H5P_DEFAULT));
  hid_t virtual = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_virtual(virtual, six, "other.h5", "x", six);
  H5Dclose(H5Dcreate2(file, "virtual", H5T_IEEE_F32LE, six, H5P_DEFAULT, virtual, H5P_DEFAULT));
  H5Lcreate_external("other.h5", "/x", file, "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/observations/qpos", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Fclose(file) >= 0);
}

/* Two episodes in one file. */
static void make_numbered(const char *path) {
  hid_t file = create(path);
  hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  for (int e = 0; e < 3; e += 2) {
    char name[64];
    snprintf(name, sizeof name, "data/demo_%d/obs", e);
    hid_t group = H5Gcreate2(file, name, links, H5P_DEFAULT, H5P_DEFAULT);
    put_floats(group, "q", 1, (const hsize_t[]){(hsize_t)(e + 1)}, H5T_IEEE_F32LE, H5P_DEFAULT);
    H5Gclose(group);
  }
  assert_true(H5Fclose(file) >= 0);
}

struct seen {
  int calls;
  int64_t frames[16];
  double last[16];
  char shape[64];
};

static assay_status note(void *user, int64_t frame, int32_t dataset, const assay_tensor *tensor) {
  struct seen *seen = user;
  (void)dataset;
  if (seen->calls < 16) {
    int64_t count = tensor_count(tensor);
    seen->frames[seen->calls] = frame;
    seen->last[seen->calls] = count > 0 ? tensor_get(tensor, count - 1) : -1;
  }
  struct text text = {0};
  tensor_describe(tensor, &text);
  snprintf(seen->shape, sizeof seen->shape, "%s", text_string(&text));
  text_free(&text);
  seen->calls++;
  return status_ok();
}

static assay_status read_one(const char *path, const char *dataset, bool whole, struct seen *seen) {
  const struct hdf5_request request = {.path = path,
                                       .n_datasets = 1,
                                       .datasets = &dataset,
                                       .to = -1,
                                       .stride = 1,
                                       .whole = whole,
                                       .bytes_max = 1 << 20,
                                       .seconds = 20};
  *seen = (struct seen){0};
  return hdf5_read(&request, note, seen);
}

static void every_type_reads_as_itself(void **state) {
  (void)state;
  char *folder = temp_folder();
  const char *path = temp_path(folder, "ep.h5");
  make_file(path);
  static const struct {
    const char *name, *shape;
    double last;
  } types[] = {
      {"observations/qpos", "float32[6,2]", 11},
      {"/observations/qpos", "float32[6,2]", 11},
      {"observations/big", "float64[6]", 5},
      {"observations/half", "float16[6,1]", 5},
      {"action", "float32[6,2]", 11},
      {"closed", "bool[6]", 0},
      {"empty", "float32[0,3]", -1},
      {"observations/image", "uint8[6,2,2,3]", 71},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    struct seen seen;
    ASSERT_OK(read_one(path, types[i].name, true, &seen));
    assert_int_equal(seen.calls, 1);
    assert_string_equal(seen.shape, types[i].shape);
    assert_true(seen.last[0] == types[i].last);
  }
  temp_free(folder);
}

static void what_leads_elsewhere_or_is_not_there_is_refused(void **state) {
  (void)state;
  char *folder = temp_folder();
  const char *path = temp_path(folder, "ep.h5");
  make_file(path);
  static const struct {
    const char *name, *part;
    assay_code code;
  } wrong[] = {
      {"elsewhere", "link to another file", ASSAY_HDF5_INVALID},
      {"soft", "soft link", ASSAY_HDF5_INVALID},
      {"virtual", "virtual", ASSAY_HDF5_INVALID},
      {"outside", "another file", ASSAY_HDF5_INVALID},
      {"scaled", "filter", ASSAY_HDF5_INVALID},
      {"unwritten", "never written", ASSAY_HDF5_INVALID},
      {"text", "type", ASSAY_HDF5_INVALID},
      {"observations/odd", "type", ASSAY_HDF5_INVALID},
      {"torn", "neither true nor false", ASSAY_HDF5_INVALID},
      {"scalar", "leading axis", ASSAY_HDF5_INVALID},
      {"observations", "no dataset", ASSAY_HDF5_INVALID},
      {"observations/none", "no 'none'", ASSAY_HDF5_INVALID},
      {"action/x", "", ASSAY_HDF5_INVALID},
      {"./action", "'.'", ASSAY_HDF5_INVALID},
      {"", "no dataset", ASSAY_HDF5_INVALID},
      {"large", "limit", ASSAY_LIMIT_EXCEEDED},
      {"wide", "chunks", ASSAY_LIMIT_EXCEEDED},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct seen seen;
    ASSERT_FAILS(read_one(path, wrong[i].name, true, &seen), wrong[i].code, wrong[i].part);
    assert_int_equal(seen.calls, 0);
  }
  struct seen seen;
  temp_write(folder, "text.h5", "this is no HDF5 file");
  ASSERT_FAILS(read_one(temp_path(folder, "text.h5"), "x", true, &seen), ASSAY_HDF5_INVALID, "no HDF5 file");
  ASSERT_FAILS(read_one(temp_path(folder, "none.h5"), "x", true, &seen), ASSAY_HDF5_INVALID, "no HDF5 file");
  temp_free(folder);
}

static void ranges_and_strides_choose_frames(void **state) {
  (void)state;
  char *folder = temp_folder();
  const char *path = temp_path(folder, "ep.h5"), *names[] = {"observations/qpos", "action"};
  make_file(path);
  struct seen seen = {0};
  struct hdf5_request request = {.path = path, .n_datasets = 1, .datasets = names, .from = 1, .to = 6, .stride = 2};
  ASSERT_OK(hdf5_read(&request, note, &seen));
  assert_int_equal(seen.calls, 3);
  assert_int_equal(seen.frames[2], 5);
  assert_true(seen.last[0] == 3 && seen.last[1] == 7 && seen.last[2] == 11);
  assert_string_equal(seen.shape, "float32[2]");
  request.whole = true;
  request.n_datasets = 2;
  seen = (struct seen){0};
  ASSERT_OK(hdf5_read(&request, note, &seen));
  assert_int_equal(seen.calls, 2);
  assert_string_equal(seen.shape, "float32[3,2]");
  assert_true(seen.last[1] == 11);
  request.to = 1; /* no frame */
  seen = (struct seen){0};
  ASSERT_OK(hdf5_read(&request, note, &seen));
  assert_string_equal(seen.shape, "float32[0,2]");
  request.to = 7;
  ASSERT_FAILS(hdf5_read(&request, note, &seen), ASSAY_HDF5_INVALID, "has 6");
  request.from = 9;
  request.to = -1;
  ASSERT_FAILS(hdf5_read(&request, note, &seen), ASSAY_HDF5_INVALID, "has 6");
  request.from = -1;
  ASSERT_FAILS(hdf5_read(&request, note, &seen), ASSAY_USAGE, "frame 0 or later");
  const char *uneven[] = {"action", "empty"};
  request.from = 0;
  request.datasets = uneven;
  ASSERT_FAILS(hdf5_read(&request, note, &seen), ASSAY_HDF5_INVALID, "'empty' has 0 frames but 'action' has 6");
  temp_free(folder);
}

/* Imports into a fresh calibration corpus and opens it. */
static assay_status import(const char *folder, const char *source, const struct hdf5_import *how, bool sequence,
                           struct corpus **corpus) {
  struct corpus_editor *editor;
  const char *place = temp_path(folder, sequence ? "sequences" : "frames");
  *corpus = NULL;
  ASSERT_OK(corpus_new(place, &(struct corpus_head){.role = CORPUS_CALIBRATION}));
  ASSERT_OK(corpus_edit(place, &editor));
  assay_status status = import_hdf5(editor, &(struct corpus_case){.sequence = sequence}, how, source);
  if (assay_status_ok(status)) {
    status = corpus_edit_commit(editor);
  } else {
    corpus_edit_abandon(editor);
  }
  if (assay_status_ok(status)) {
    ASSERT_OK(corpus_open(place, corpus));
  }
  return status;
}

static void episodes_become_cases_with_lineage(void **state) {
  (void)state;
  char *folder = temp_folder();
  const char *path = temp_path(folder, "episode_12.hdf5");
  char digest[HASH_TEXT_SIZE];
  make_file(path);
  ASSERT_OK(hash_file(path, digest));
  const struct hdf5_map maps[] = {{"observations/qpos", "inputs/qpos"}, {"observations/image", "raw/front"}};
  const struct hdf5_import how = {.n_maps = 2, .maps = maps, .from = 0, .to = 5, .stride = 2, .batch = true};
  struct corpus *corpus;
  struct case_data *data;
  ASSERT_OK(import(folder, path, &how, false, &corpus));
  assert_int_equal(corpus->n_cases, 3);
  const struct corpus_case *entry = &corpus->cases[1];
  assert_string_equal(entry->id, "episode_12_f000002");
  assert_string_equal(entry->origin.file, "episode_12.hdf5");
  assert_string_equal(entry->origin.digest, digest);
  assert_int_equal(entry->origin.episode, 12);
  assert_int_equal(entry->origin.frame, 2);
  ASSERT_OK(case_load(corpus, 1, &data));
  const assay_tensor *qpos = case_input(data, "qpos"), *front = case_raw(data, "front");
  assert_int_equal(qpos->rank, 2);
  assert_int_equal(qpos->dims[0], 1); /* the batch */
  assert_true(tensor_get(qpos, 0) == 4 && tensor_get(qpos, 1) == 5);
  assert_int_equal(front->rank, 3);
  case_data_free(data);
  corpus_close(corpus);

  ASSERT_OK(import(folder, path, &how, true, &corpus));
  assert_int_equal(corpus->n_cases, 1);
  entry = &corpus->cases[0];
  assert_string_equal(entry->id, "episode_12");
  assert_true(entry->sequence);
  assert_int_equal(entry->origin.frames, 3);
  assert_int_equal(entry->origin.stride, 2);
  ASSERT_OK(case_load(corpus, 0, &data));
  assert_int_equal(data->steps, 3);
  qpos = case_input(data, "qpos");
  assert_int_equal(qpos->rank, 3);
  assert_int_equal(qpos->dims[1], 1);
  case_data_free(data);
  corpus_close(corpus);
  temp_free(folder);
}

static void numbered_episodes_are_found_by_number(void **state) {
  (void)state;
  char *folder = temp_folder();
  const char *path = temp_path(folder, "demos.hdf5");
  make_numbered(path);
  const struct hdf5_map map = {"data/demo_{episode}/obs/q", "inputs/q"};
  struct hdf5_import how = {
      .n_maps = 1, .maps = &map, .n_episodes = 2, .episodes = (const int64_t[]){0, 2}, .to = -1, .stride = 1};
  struct corpus *corpus;
  ASSERT_OK(import(folder, path, &how, false, &corpus));
  assert_int_equal(corpus->n_cases, 4);
  assert_string_equal(corpus->cases[0].id, "demos_e000_f000000");
  assert_string_equal(corpus->cases[3].id, "demos_e002_f000002");
  assert_int_equal(corpus->cases[3].origin.episode, 2);
  corpus_close(corpus);
  how.episodes = (const int64_t[]){0, 1};
  ASSERT_FAILS(import(folder, path, &how, true, &corpus), ASSAY_HDF5_INVALID, "demo_1");
  /* An import is there as a whole or not at all. */
  struct arena arena = {0};
  char **names;
  size_t count;
  ASSERT_OK(folder_list(temp_path(folder, "sequences"), &arena, &names, &count));
  assert_int_equal(count, 1);
  arena_free(&arena);
  temp_free(folder);
}

static void maps_must_name_arrays(void **state) {
  (void)state;
  char *folder = temp_folder();
  const char *path = temp_path(folder, "ep.h5");
  make_file(path);
  struct corpus *corpus;
  struct corpus_editor *editor;
  ASSERT_OK(corpus_new(temp_path(folder, "c"), &(struct corpus_head){.role = CORPUS_CALIBRATION}));
  ASSERT_OK(corpus_edit(temp_path(folder, "c"), &editor));
  const struct corpus_case like = {0};
  const struct hdf5_map wrong[] = {{"action", "qpos"}}, twice[] = {{"action", "inputs/a"}, {"action", "inputs/a"}},
                        numbered[] = {{"demo_{episode}", "inputs/a"}};
  struct hdf5_import how = {.n_maps = 0, .to = -1, .stride = 1};
  ASSERT_FAILS(import_hdf5(editor, &like, &how, path), ASSAY_USAGE, "--map");
  how.maps = wrong, how.n_maps = 1;
  ASSERT_FAILS(import_hdf5(editor, &like, &how, path), ASSAY_USAGE, "'qpos'");
  how.maps = twice, how.n_maps = 2;
  ASSERT_FAILS(import_hdf5(editor, &like, &how, path), ASSAY_USAGE, "two datasets");
  how.maps = numbered, how.n_maps = 1;
  ASSERT_FAILS(import_hdf5(editor, &like, &how, path), ASSAY_USAGE, "--episodes");
  how.maps = twice, how.n_maps = 1, how.n_episodes = 1, how.episodes = (const int64_t[]){1};
  ASSERT_FAILS(import_hdf5(editor, &like, &how, path), ASSAY_USAGE, "{episode}");
  corpus_edit_abandon(editor);
  ASSERT_OK(corpus_open(temp_path(folder, "c"), &corpus));
  assert_int_equal(corpus->n_cases, 0);
  corpus_close(corpus);
  temp_free(folder);
}

/* Cut short and with flipped bits: frames or a refusal, never a crash, never a hang. */
static void damaged_files_do_no_harm(void **state) {
  (void)state;
  char *folder = temp_folder(), *bytes;
  size_t size;
  static const char *const names[] = {"observations/qpos", "action", "observations/half"};
  make_file(temp_path(folder, "ep.h5"));
  ASSERT_OK(file_read(temp_path(folder, "ep.h5"), 1 << 24, &bytes, &size));
  uint64_t random = 88172645463325252U;
  for (int round = 0; round < 150; round++) {
    char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    size_t at = 0;
    for (int flips = 0; flips < 1 + round % 8; flips++) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      at = (size_t)(random >> 8) % size;
      copy[at] = (char)(copy[at] ^ 1 << (random & 7));
    }
    temp_write_bytes(folder, "bad.h5", copy, round % 5 == 0 ? at : size);
    free(copy);
    struct seen seen = {0};
    const struct hdf5_request request = {.path = temp_path(folder, "bad.h5"),
                                         .n_datasets = 3,
                                         .datasets = names,
                                         .to = -1,
                                         .stride = 1,
                                         .bytes_max = 1 << 20,
                                         .seconds = 5};
    assay_status status = hdf5_read(&request, note, &seen);
    assert_int_not_equal(assay_code_kind_of(status.code), ASSAY_KIND_INTERNAL);
    assay_status_clear(&status);
  }
  memory_free(bytes);
  temp_free(folder);
}

static assay_status crash(void *user, int64_t frame, int32_t dataset, const assay_tensor *tensor) {
  (void)frame;
  (void)dataset;
  (void)tensor;
  return status_make(ASSAY_CORPUS_INVALID, NULL, "the sink says no %s", (const char *)user);
}

static void a_sink_that_fails_ends_the_reading(void **state) {
  (void)state;
  char *folder = temp_folder();
  const char *path = temp_path(folder, "ep.h5"), *name = "action";
  make_file(path);
  const struct hdf5_request request = {.path = path, .n_datasets = 1, .datasets = &name, .to = -1, .stride = 1};
  ASSERT_FAILS(hdf5_read(&request, crash, "more"), ASSAY_CORPUS_INVALID, "no more");
  temp_free(folder);
}

/* Sends the child that reads a signal, as a fault of the library would. */
static assay_status strike(void *user, int64_t frame, int32_t dataset, const assay_tensor *tensor) {
  (void)frame;
  (void)dataset;
  (void)tensor;
  char path[64];
  int child = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *children = fopen(path, "re");
  if (children != NULL && fscanf(children, "%d", &child) == 1 && child > 0) {
    kill(child, *(int *)user);
  }
  if (children != NULL) {
    fclose(children);
  }
  return child > 0 ? status_ok() : status_make(ASSAY_INTERNAL, NULL, "the child cannot be found");
}

static void a_child_that_falls_or_falls_silent_is_an_answer(void **state) {
  (void)state;
  char *folder = temp_folder();
  const char *path = temp_path(folder, "long.h5"), *name = "long";
  hid_t file = create(path);
  put_floats(file, "long", 2, (const hsize_t[]){8, 16384}, H5T_IEEE_F32LE, H5P_DEFAULT); /* more than a pipe holds */
  assert_true(H5Fclose(file) >= 0);
  const struct hdf5_request request = {
      .path = path, .n_datasets = 1, .datasets = &name, .to = -1, .stride = 1, .seconds = 1};
  if (access("/proc/self/task", R_OK) == 0) {
    ASSERT_FAILS(hdf5_read(&request, strike, &(int){SIGSEGV}), ASSAY_HDF5_INVALID, "the HDF5 library failed");
    ASSERT_FAILS(hdf5_read(&request, strike, &(int){SIGSTOP}), ASSAY_HDF5_INVALID, "did not answer within 1 seconds");
  }
  temp_free(folder);
}

int main(void) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_reads_as_itself),
      cmocka_unit_test(what_leads_elsewhere_or_is_not_there_is_refused),
      cmocka_unit_test(ranges_and_strides_choose_frames),
      cmocka_unit_test(episodes_become_cases_with_lineage),
      cmocka_unit_test(numbered_episodes_are_found_by_number),
      cmocka_unit_test(maps_must_name_arrays),
      cmocka_unit_test(damaged_files_do_no_harm),
      cmocka_unit_test(a_sink_that_fails_ends_the_reading),
      cmocka_unit_test(a_child_that_falls_or_falls_silent_is_an_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
  printf("skipped: this build has no HDF5\n");
  return 77;
}
#endif
