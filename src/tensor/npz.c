/* Reading .npz archives through libzip. Everything that the archive says of itself
 * is checked before it costs memory; a name is only ever compared. */
#include "tensor/npz.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"
#include "tensor/npy.h"

/* Limits of what is read: entries, name, one decoded entry, all compressed
 * entries together, and the archive. Stored entries are bounded by the archive. */
enum { ENTRIES_MAX = 65535, NAME_LONGEST = 4096 };
static const uint64_t deflated_largest = UINT64_C(1) << 29, archive_largest = UINT64_C(1) << 32;

struct entry {
  char *name; /* without ".npy" */
  uint64_t index, size;
};

struct npz {
  struct arena arena;
  zip_t *zip;
  char *path;
  struct entry *entries; /* sorted by name */
  size_t count;
};

static assay_status refuse(const char *path, const char *why) {
  return status_make(ASSAY_NPZ_INVALID, path, "the archive is refused because %s; write it again with numpy.savez",
                     why);
}

/* Every entry that libzip can find begins with this signature in the archive's
 * directory, so that counting it bounds what opening costs. */
static assay_status check_entry_count(const char *path) {
  static const char signature[] = {'P', 'K', 1, 2};
  struct file_map map;
  TRY(file_map_open(path, &map));
  size_t found = 0;
  const uint8_t *at = map.data, *end = map.data == NULL ? NULL : map.data + map.size;
  while (found <= ENTRIES_MAX && at != NULL &&
         (at = memmem(at, (size_t)(end - at), signature, sizeof signature)) != NULL) {
    found++;
    at += sizeof signature;
  }
  uint64_t size = map.size;
  file_map_close(&map);
  if (found > ENTRIES_MAX || size > archive_largest) {
    return status_make(
        ASSAY_LIMIT_EXCEEDED, path,
        "the archive has more than %d entries or 4 GiB; split it, or make sure that it is the right file", ENTRIES_MAX);
  }
  return status_ok();
}

static assay_status open_zip(const char *path, zip_t **out) {
  int fd, error = 0;
  uint64_t size;
  TRY(file_open_plain(path, &fd, &size));
  *out = zip_fdopen(fd, ZIP_CHECKCONS, &error); /* takes over fd unless it fails */
  if (*out != NULL) {
    return status_ok();
  }
  close(fd);
  if (error == ZIP_ER_MEMORY) {
    return status_no_memory((size_t)size);
  }
  return refuse(path, error == ZIP_ER_NOZIP ? "it is not a whole zip archive"
                                            : "it is damaged, or two of its entries are of one name");
}

/* NULL when the raw name is one that numpy.savez writes. */
static const char *bad_name(const char *name) {
  size_t length = strnlen(name, NAME_LONGEST + 1);
  if (length > NAME_LONGEST || !text_ends_with(name, ".npy")) {
    return "it holds something that is not a .npy array";
  }
  if (length == 4 || name[0] == '/' || !text_is_utf8(name, length)) {
    return "the name of an array is empty, absolute or not UTF-8";
  }
  for (const char *c = name; *c != '\0'; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) {
      return "the name of an array holds a control character";
    }
  }
  for (const char *part = name; part != NULL; part = strchr(part, '/')) {
    part += *part == '/';
    if (strncmp(part, "../", 3) == 0) {
      return "the name of an array holds '..'";
    }
  }
  return NULL;
}

/* NULL when the entry may be read; adds to the decoded total. */
static const char *bad_entry(const zip_stat_t *entry, uint64_t *deflated) {
  const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((entry->valid & needed) != needed) {
    return "an entry lacks its name, size or method";
  }
  if ((entry->valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && entry->encryption_method != ZIP_EM_NONE) {
    return "an entry is encrypted";
  }
  if (entry->comp_method == ZIP_CM_STORE) {
    return entry->size != entry->comp_size || entry->size > archive_largest ? "an entry lies about its size" : NULL;
  }
  if (entry->comp_method != ZIP_CM_DEFLATE) {
    return "an entry is compressed by another method than deflate";
  }
  if (entry->size > deflated_largest || (*deflated += entry->size) > deflated_largest) {
    return "its compressed arrays take more than 512 MiB when decoded";
  }
  return NULL;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static assay_status list_entries(struct npz *npz) {
  zip_int64_t count = zip_get_num_entries(npz->zip, ZIP_FL_UNCHANGED);
  if (count < 0 || count > ENTRIES_MAX) {
    return refuse(npz->path, "it has too many entries");
  }
  ARENA_NEW(&npz->arena, npz->entries, count);
  uint64_t deflated = 0;
  for (zip_int64_t i = 0; i < count; i++) {
    zip_stat_t entry;
    if (zip_stat_index(npz->zip, (zip_uint64_t)i, ZIP_FL_UNCHANGED | ZIP_FL_ENC_RAW, &entry) != 0) {
      return refuse(npz->path, "an entry of its directory is damaged");
    }
    const char *why = bad_entry(&entry, &deflated);
    why = why == NULL ? bad_name(entry.name) : why;
    if (why != NULL) {
      return refuse(npz->path, why);
    }
    char *name = arena_copy(&npz->arena, entry.name, strlen(entry.name) - 4);
    if (name == NULL) {
      return status_no_memory(strlen(entry.name));
    }
    npz->entries[npz->count++] = (struct entry){name, (uint64_t)i, entry.size};
  }
  if (npz->count > 1) {
    qsort(npz->entries, npz->count, sizeof *npz->entries, by_name);
  }
  for (size_t i = 1; i < npz->count; i++) {
    if (text_equal(npz->entries[i - 1].name, npz->entries[i].name)) {
      return status_make(ASSAY_NPZ_INVALID, npz->path,
                         "the archive holds two arrays of one name, '%s'; write it again with numpy.savez",
                         npz->entries[i].name);
    }
  }
  return status_ok();
}

assay_status npz_open(const char *path, struct npz **out) {
  *out = NULL;
  TRY(check_entry_count(path));
  struct npz *npz = memory_alloc(1, sizeof *npz);
  if (npz == NULL) {
    return status_no_memory(sizeof *npz);
  }
  npz->path = arena_string(&npz->arena, path);
  assay_status status = npz->path == NULL ? status_no_memory(strlen(path)) : open_zip(path, &npz->zip);
  if (assay_status_ok(status)) {
    status = list_entries(npz);
  }
  if (!assay_status_ok(status)) {
    npz_close(npz);
    return status;
  }
  *out = npz;
  return status_ok();
}

void npz_close(struct npz *npz) {
  if (npz == NULL) {
    return;
  }
  if (npz->zip != NULL) {
    zip_discard(npz->zip);
  }
  arena_free(&npz->arena);
  memory_free(npz);
}

size_t npz_count(const struct npz *npz) { return npz->count; }
const char *npz_name(const struct npz *npz, size_t i) { return npz->entries[i].name; }

size_t npz_find(const struct npz *npz, const char *name) {
  size_t low = 0, high = npz->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(npz->entries[middle].name, name);
    if (order == 0) {
      return middle;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return npz->count;
}

/* Decodes the whole entry. One byte more than it should have is asked for, which
 * makes libzip reach the end and compare the checksum. */
static bool decode(zip_file_t *file, char *bytes, uint64_t size) {
  uint64_t done = 0;
  for (;;) {
    zip_int64_t got = zip_fread(file, bytes + done, size + 1 - done);
    if (got < 0 || (uint64_t)got > size - done) {
      return false;
    }
    if (got == 0) {
      return done == size;
    }
    done += (uint64_t)got;
  }
}

assay_status npz_read(struct npz *npz, size_t i, assay_tensor *out) {
  *out = (assay_tensor){0};
  const struct entry *entry = &npz->entries[i];
  struct arena names = {0};
  const char *where = arena_format(&names, "%s:%s", npz->path, entry->name);
  char *bytes = memory_alloc((size_t)entry->size + 1, 1);
  zip_file_t *file = NULL;
  assay_status status = status_ok();
  if (bytes == NULL || where == NULL) {
    status = status_no_memory((size_t)entry->size + 1);
    goto done;
  }
  file = zip_fopen_index(npz->zip, entry->index, ZIP_FL_UNCHANGED);
  if (file == NULL || !decode(file, bytes, entry->size)) {
    status = status_make(ASSAY_NPZ_INVALID, where,
                         "the array is damaged: it does not decode to the %" PRIu64
                         " bytes and the checksum that the archive states; write it again with numpy.savez",
                         entry->size);
    goto done;
  }
  status = npy_parse(bytes, (size_t)entry->size, where, out);
done:
  if (file != NULL) {
    zip_fclose(file);
  }
  memory_free(bytes);
  arena_free(&names);
  return status;
}
