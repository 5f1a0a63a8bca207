/* Writing .npz archives: stored entries of the zip format (APPNOTE 6.3), written
 * here rather than by libzip so that no clock, time zone or version of a library
 * shows in the bytes. Same arrays, same bytes. */
#include <inttypes.h>
#include <string.h>

#include "core/file.h"
#include "core/text.h"
#include "tensor/npy.h"
#include "tensor/npz.h"

/* 1980-01-01 00:00, the first date that a zip archive can state. */
enum { DOS_DATE = 0x21, DOS_TIME = 0, VERSION = 20, UTF8_NAMES = 0x800, ENTRIES_MAX = 65534 };

static uint32_t crc32_of(const char *bytes, size_t size) {
  static const uint32_t polynomial = 0xEDB88320;
  uint32_t table[256], crc = UINT32_MAX;
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) {
      c = (c & 1) != 0 ? polynomial ^ c >> 1 : c >> 1;
    }
    table[i] = c;
  }
  for (size_t i = 0; i < size; i++) {
    crc = table[(crc ^ (unsigned char)bytes[i]) & 255] ^ crc >> 8;
  }
  return ~crc;
}

static void put16(struct text *out, uint32_t value) {
  text_add_char(out, (char)(value & 255));
  text_add_char(out, (char)(value >> 8 & 255));
}

static void put32(struct text *out, uint32_t value) {
  put16(out, value & 0xFFFF);
  put16(out, value >> 16);
}

/* What the local header and the directory say alike. */
static void put_common(struct text *out, uint32_t crc, uint32_t size, uint32_t name_length) {
  put16(out, VERSION);
  put16(out, UTF8_NAMES);
  put16(out, 0); /* stored */
  put16(out, DOS_TIME);
  put16(out, DOS_DATE);
  put32(out, crc);
  put32(out, size);
  put32(out, size);
  put16(out, name_length);
  put16(out, 0); /* no extra field */
}

struct writing {
  struct file_writer *file;
  struct text header, data, directory;
  uint64_t offset;
};

static assay_status too_large(const char *path) {
  return status_make(ASSAY_LIMIT_EXCEEDED, path,
                     "the arrays take more than the 4 GiB or %d entries that an archive can hold; split them",
                     ENTRIES_MAX);
}

static assay_status write_entry(struct writing *w, const char *path, const struct npz_entry *entry) {
  text_clear(&w->data);
  text_clear(&w->header);
  assay_status status = npy_format(entry->tensor, &w->data);
  if (!assay_status_ok(status)) {
    return status_prefix(status, "array '%s'", entry->name);
  }
  size_t name_length = strlen(entry->name) + 4;
  if (name_length > 4096 || w->data.length > UINT32_MAX - 1 || w->offset + w->data.length + 8192 > UINT32_MAX - 1) {
    return too_large(path);
  }
  uint32_t crc = crc32_of(w->data.data, w->data.length), size = (uint32_t)w->data.length;
  text_add_bytes(&w->header, "PK\x03\x04", 4);
  put_common(&w->header, crc, size, (uint32_t)name_length);
  text_add(&w->header, entry->name);
  text_add(&w->header, ".npy");

  text_add_bytes(&w->directory, "PK\x01\x02", 4);
  put16(&w->directory, 3 << 8 | VERSION); /* made as on Unix */
  put_common(&w->directory, crc, size, (uint32_t)name_length);
  put16(&w->directory, 0);                       /* no comment */
  put16(&w->directory, 0);                       /* first disk */
  put16(&w->directory, 0);                       /* internal attributes */
  put32(&w->directory, UINT32_C(0100644) << 16); /* a plain file, rw-r--r-- */
  put32(&w->directory, (uint32_t)w->offset);
  text_add(&w->directory, entry->name);
  text_add(&w->directory, ".npy");
  TRY(text_status(&w->header));
  TRY(file_writer_write(w->file, w->header.data, w->header.length));
  TRY(file_writer_write(w->file, w->data.data, w->data.length));
  w->offset += w->header.length + w->data.length;
  return status_ok();
}

static assay_status write_directory(struct writing *w, const char *path, size_t count) {
  if (w->offset + w->directory.length > UINT32_MAX - 1) {
    return too_large(path);
  }
  uint32_t size = (uint32_t)w->directory.length, offset = (uint32_t)w->offset;
  text_add_bytes(&w->directory, "PK\x05\x06", 4);
  put32(&w->directory, 0); /* this disk, and the one with the directory */
  put16(&w->directory, (uint32_t)count);
  put16(&w->directory, (uint32_t)count);
  put32(&w->directory, size);
  put32(&w->directory, offset);
  put16(&w->directory, 0); /* no comment */
  TRY(text_status(&w->directory));
  return file_writer_write(w->file, w->directory.data, w->directory.length);
}

assay_status npz_write(const char *path, const struct npz_entry *entries, size_t count) {
  if (count > ENTRIES_MAX) {
    return too_large(path);
  }
  struct writing w = {0};
  TRY(file_writer_open(path, &w.file));
  assay_status status = status_ok();
  for (size_t i = 0; i < count && assay_status_ok(status); i++) {
    status = write_entry(&w, path, &entries[i]);
  }
  if (assay_status_ok(status)) {
    status = write_directory(&w, path, count);
  }
  text_free(&w.header);
  text_free(&w.data);
  text_free(&w.directory);
  if (!assay_status_ok(status)) {
    file_writer_abandon(w.file);
    return status;
  }
  return file_writer_commit(w.file);
}
