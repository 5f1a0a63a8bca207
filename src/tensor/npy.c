/* NumPy's .npy: elements in and out. The number of bytes must be exactly what the
 * shape says; nothing is allocated before that is known. */
#include "tensor/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "tensor/npy_header.h"

/* The .npy files that are read whole; larger data belong into several files. */
static const size_t npy_largest = (size_t)1 << 32;

static assay_status refuse(const char *where, const char *why) {
  return status_make(ASSAY_NPY_INVALID, where, "the array is refused because %s; write it again with numpy.save", why);
}

/* Elements in Fortran order come out in C order. */
static void copy_fortran(const struct npy_header *header, const uint8_t *from, uint8_t *to, size_t count) {
  size_t stride[ASSAY_RANK_MAX], next = header->item;
  for (int i = 0; i < header->rank; i++) {
    stride[i] = next;
    next *= (size_t)header->dims[i];
  }
  int64_t index[ASSAY_RANK_MAX] = {0};
  size_t offset = 0;
  for (size_t n = 0; n < count; n++) {
    memcpy(to + n * header->item, from + offset, header->item);
    for (int axis = header->rank - 1; axis >= 0; axis--) {
      offset += stride[axis];
      if (++index[axis] < header->dims[axis]) {
        break;
      }
      offset -= stride[axis] * (size_t)header->dims[axis];
      index[axis] = 0;
    }
  }
}

static void swap_bytes(uint8_t *bytes, size_t size, size_t width) {
  for (size_t i = 0; i + width <= size; i += width) {
    for (size_t k = 0; k < width / 2; k++) {
      uint8_t kept = bytes[i + k];
      bytes[i + k] = bytes[i + width - 1 - k];
      bytes[i + width - 1 - k] = kept;
    }
  }
}

/* The file's elements in C order and this machine's byte order. */
static void take_elements(const struct npy_header *header, const uint8_t *from, uint8_t *to, size_t count) {
  if (header->fortran && header->rank > 1) {
    copy_fortran(header, from, to, count);
  } else if (count > 0) {
    memcpy(to, from, count * header->item);
  }
  if (header->swap != 0) {
    swap_bytes(to, count * header->item, header->swap);
  }
}

/* One code point as UTF-8; the number of bytes, 0 when it is none. */
static size_t put_utf8(uint32_t c, char *out) {
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
    return 0;
  }
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned lead[] = {0, 0xC0, 0xE0, 0xF0};
  out[0] = (char)(lead[more] | c >> (6 * more));
  for (size_t i = 1; i <= more; i++) {
    out[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3F));
  }
  return more + 1;
}

/* A fixed-length string without the zeros that fill it up, as bytes at `out`. */
static bool put_string(const struct npy_header *header, const uint8_t *item, char *out, size_t *length) {
  size_t unit = header->wide ? 4 : 1, units = header->item / unit;
  static const uint8_t zeros[4] = {0};
  while (units > 0 && memcmp(item + (units - 1) * unit, zeros, unit) == 0) {
    units--;
  }
  if (!header->wide) {
    memcpy(out, item, units);
    *length = units;
    return true;
  }
  *length = 0;
  for (size_t i = 0; i < units; i++) {
    uint32_t c;
    memcpy(&c, item + 4 * i, 4);
    size_t bytes = put_utf8(c, out + *length);
    if (bytes == 0) {
      return false;
    }
    *length += bytes;
  }
  return true;
}

/* One block, as tensor_copy makes it: the elements, then their bytes, which take
 * at most what they take in the file. */
static assay_status take_strings(const struct npy_header *header, const uint8_t *data, size_t count, const char *where,
                                 assay_tensor *out) {
  size_t bytes = count * header->item, total;
  if (!size_mul(count, sizeof(assay_text), &total) || !size_add(total, bytes, &total)) {
    return status_no_memory(SIZE_MAX);
  }
  uint8_t *items = memory_alloc(bytes, 1);
  assay_text *elements = items == NULL ? NULL : memory_alloc_aligned(total);
  if (elements == NULL) {
    memory_free(items);
    return status_no_memory(total);
  }
  take_elements(header, data, items, count);
  char *next = (char *)(elements + count);
  bool good = true;
  for (size_t i = 0; i < count && good; i++) {
    elements[i].data = next;
    good = put_string(header, items + i * header->item, next, &elements[i].length);
    next += good ? elements[i].length : 0;
  }
  memory_free(items);
  if (!good) {
    memory_free(elements);
    return refuse(where, "one of its strings is not Unicode");
  }
  *out =
      (assay_tensor){.dtype = ASSAY_STRING, .rank = header->rank, .data = elements, .bytes = count * sizeof *elements};
  memcpy(out->dims, header->dims, sizeof out->dims);
  return status_ok();
}

static assay_status check_bools(const assay_tensor *tensor, const char *where) {
  const uint8_t *values = tensor->data;
  for (size_t i = 0; i < tensor->bytes; i++) {
    if (values[i] > 1) {
      return refuse(where, "one of its bools is neither 0 nor 1");
    }
  }
  return status_ok();
}

assay_status npy_parse(const void *bytes, size_t size, const char *where, assay_tensor *out) {
  *out = (assay_tensor){0};
  struct npy_header header;
  const char *why = NULL;
  if (!npy_header_parse(bytes, size, &header, &why)) {
    return refuse(where, why);
  }
  int64_t count;
  size_t needed, given = size - header.data_offset;
  if (!shape_count(header.dims, header.rank, &count) || !size_mul((size_t)count, header.item, &needed)) {
    return refuse(where, "its shape is too large to be represented");
  }
  if (needed != given) {
    return status_make(
        ASSAY_NPY_INVALID, where,
        "the array's shape needs %zu bytes, but the file holds %zu of them; write it again with numpy.save", needed,
        given);
  }
  const uint8_t *data = (const uint8_t *)bytes + header.data_offset;
  if (header.dtype == ASSAY_STRING) {
    return take_strings(&header, data, (size_t)count, where, out);
  }
  TRY(tensor_new(header.dtype, header.dims, header.rank, out));
  take_elements(&header, data, out->data, (size_t)count);
  assay_status status = header.dtype == ASSAY_BOOL ? check_bools(out, where) : status_ok();
  if (!assay_status_ok(status)) {
    tensor_free(out);
  }
  return status;
}

assay_status npy_read(const char *path, assay_tensor *out) {
  *out = (assay_tensor){0};
  char *bytes;
  size_t size;
  TRY(file_read(path, npy_largest, &bytes, &size));
  assay_status status = npy_parse(bytes, size, path, out);
  memory_free(bytes);
  return status;
}

/* --- writing ------------------------------------------------------------- */

/* The type that a tensor has in the file; NULL when it cannot be written. */
static const char *plain_descr(assay_dtype dtype) {
  switch (dtype) {
    case ASSAY_BOOL:
      return "|b1";
    case ASSAY_INT8:
      return "|i1";
    case ASSAY_INT4:
    case ASSAY_UINT4:
    case ASSAY_INT2:
    case ASSAY_UINT2:
    case ASSAY_FLOAT4E2M1:
    case ASSAY_FLOAT8E4M3FN:
    case ASSAY_FLOAT8E4M3FNUZ:
    case ASSAY_FLOAT8E5M2:
    case ASSAY_FLOAT8E5M2FNUZ:
    case ASSAY_FLOAT8E8M0:
    case ASSAY_UINT8:
      return "|u1";
    case ASSAY_INT16:
      return "<i2";
    case ASSAY_BFLOAT16:
    case ASSAY_UINT16:
      return "<u2";
    case ASSAY_INT32:
      return "<i4";
    case ASSAY_UINT32:
      return "<u4";
    case ASSAY_INT64:
      return "<i8";
    case ASSAY_UINT64:
      return "<u8";
    case ASSAY_FLOAT16:
      return "<f2";
    case ASSAY_FLOAT32:
      return "<f4";
    case ASSAY_FLOAT64:
      return "<f8";
    case ASSAY_COMPLEX64:
      return "<c8";
    case ASSAY_COMPLEX128:
      return "<c16";
    default:
      return NULL;
  }
}

/* Header of version 1.0, filled with spaces so that the data begin at a multiple
 * of 64 bytes, as NumPy writes it. */
static void put_header(const assay_tensor *tensor, const char *descr, struct text *out) {
  struct text dictionary = {0};
  text_format(&dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (int i = 0; i < tensor->rank; i++) {
    text_format(&dictionary, "%s%" PRId64, i > 0 ? ", " : "", tensor->dims[i]);
  }
  text_add(&dictionary, tensor->rank == 1 ? ",), }" : "), }");
  size_t length = dictionary.length + 1;
  length += (64 - (10 + length) % 64) % 64;
  text_add_bytes(out, "\x93NUMPY\x01\x00", 8);
  text_add_char(out, (char)(length & 255));
  text_add_char(out, (char)(length >> 8));
  text_add(out, text_string(&dictionary));
  for (size_t i = dictionary.length + 1; i < length; i++) {
    text_add_char(out, ' ');
  }
  text_add_char(out, '\n');
  out->failed = out->failed || dictionary.failed;
  text_free(&dictionary);
}

static void put_packed(const assay_tensor *tensor, struct text *out) {
  unsigned bits = (unsigned)assay_dtype_bits(tensor->dtype), per_byte = 8 / bits;
  int64_t count = tensor_count(tensor);
  for (int64_t i = 0; i < count; i++) {
    unsigned byte = ((const uint8_t *)tensor->data)[(uint64_t)i / per_byte];
    text_add_char(out, (char)(byte >> (uint64_t)i % per_byte * bits & ((1U << bits) - 1)));
  }
}

/* The code point at `bytes`, which is well-formed UTF-8, and its length. */
static uint32_t get_utf8(const char *bytes, size_t *length) {
  const unsigned char *b = (const unsigned char *)bytes;
  *length = b[0] < 0x80 ? 1 : b[0] < 0xE0 ? 2 : b[0] < 0xF0 ? 3 : 4;
  uint32_t c = *length == 1 ? b[0] : b[0] & (0x7FU >> *length);
  for (size_t i = 1; i < *length; i++) {
    c = c << 6 | (b[i] & 0x3F);
  }
  return c;
}

/* Code points of the longest string, or bytes when one of them is no UTF-8. */
static assay_status measure_strings(const assay_tensor *tensor, bool *wide, size_t *longest) {
  const assay_text *strings = tensor->data;
  size_t count = (size_t)tensor_count(tensor);
  *wide = true;
  for (size_t i = 0; i < count; i++) {
    *wide = *wide && text_is_utf8(strings[i].data, strings[i].length);
    if (strings[i].length > 0 && strings[i].data[strings[i].length - 1] == '\0') {
      return status_make(ASSAY_NPY_INVALID, NULL, "a string ends with a zero byte, which a .npy file cannot hold");
    }
  }
  *longest = 1;
  for (size_t i = 0; i < count; i++) {
    size_t units = 0, length = 1;
    for (size_t at = 0; at < strings[i].length; at += length, units++) {
      if (*wide) {
        get_utf8(strings[i].data + at, &length);
      }
    }
    *longest = units > *longest ? units : *longest;
  }
  return status_ok();
}

static void put_string_item(const assay_text *string, bool wide, size_t longest, struct text *out) {
  size_t at = 0, length = 1, units = 0;
  for (; at < string->length; at += length, units++) {
    if (!wide) {
      text_add_char(out, string->data[at]);
      continue;
    }
    uint32_t c = get_utf8(string->data + at, &length);
    for (int shift = 0; shift < 32; shift += 8) {
      text_add_char(out, (char)(c >> shift & 255));
    }
  }
  for (size_t fill = (longest - units) * (wide ? 4 : 1); fill > 0; fill--) {
    text_add_char(out, '\0');
  }
}

static assay_status put_strings(const assay_tensor *tensor, struct text *out) {
  bool wide = true;
  size_t longest = 1;
  TRY(measure_strings(tensor, &wide, &longest));
  char descr[32];
  snprintf(descr, sizeof descr, "%s%zu", wide ? "<U" : "|S", longest);
  put_header(tensor, descr, out);
  const assay_text *strings = tensor->data;
  int64_t count = tensor_count(tensor);
  for (int64_t i = 0; i < count && !out->failed; i++) {
    put_string_item(&strings[i], wide, longest, out);
  }
  return status_ok();
}

assay_status npy_format(const assay_tensor *tensor, struct text *out) {
  if (tensor->dtype == ASSAY_STRING) {
    TRY(put_strings(tensor, out));
    return text_status(out);
  }
  const char *descr = plain_descr(tensor->dtype);
  if (descr == NULL) {
    return status_make(ASSAY_NPY_INVALID, NULL, "a tensor of type %s cannot be written as .npy",
                       assay_dtype_name(tensor->dtype));
  }
  put_header(tensor, descr, out);
  if (assay_dtype_bits(tensor->dtype) < 8) {
    put_packed(tensor, out);
  } else {
    text_add_bytes(out, tensor->data, tensor->bytes);
  }
  return text_status(out);
}

assay_status npy_write(const char *path, const assay_tensor *tensor) {
  struct text bytes = {0};
  assay_status status = npy_format(tensor, &bytes);
  if (assay_status_ok(status)) {
    status = file_replace(path, bytes.data, bytes.length);
  }
  text_free(&bytes);
  return status;
}
