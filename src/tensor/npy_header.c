/* The header of a .npy file: magic, version, and a Python dictionary of three
 * keys. Accepts what NumPy writes and nothing looser; in particular it never
 * reads past the length that the file states. */
#include "tensor/npy_header.h"

#include <string.h>

enum { HEADER_LONGEST = 65536, ITEM_LONGEST = 1 << 28 };

struct cursor {
  const char *at, *end;
};

static void skip_spaces(struct cursor *in) {
  while (in->at < in->end && *in->at == ' ') {
    in->at++;
  }
}

/* Takes one character, spaces around it allowed. */
static bool take(struct cursor *in, char c) {
  skip_spaces(in);
  if (in->at == in->end || *in->at != c) {
    return false;
  }
  in->at++;
  skip_spaces(in);
  return true;
}

static bool take_word(struct cursor *in, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0) {
    return false;
  }
  in->at += length;
  return true;
}

/* A quoted string without escapes; shorter than 32 bytes. */
static bool take_string(struct cursor *in, char out[32]) {
  if (in->at == in->end || (*in->at != '\'' && *in->at != '"')) {
    return false;
  }
  char quote = *in->at++;
  for (size_t length = 0; in->at < in->end && length < 31; length++) {
    char c = *in->at++;
    if (c == quote) {
      out[length] = '\0';
      return true;
    }
    if (c == '\\' || c < 0x20 || c > 0x7e) {
      return false;
    }
    out[length] = c;
  }
  return false;
}

static bool take_number(struct cursor *in, int64_t *out) {
  const char *first = in->at;
  int64_t value = 0;
  while (in->at < in->end && *in->at >= '0' && *in->at <= '9') {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *in->at - '0', &value)) {
      return false;
    }
    in->at++;
  }
  *out = value;
  return in->at > first && (*first != '0' || in->at == first + 1);
}

/* "()", "(3,)", "(3, 4)": a tuple, so that one element needs its comma. */
static bool take_shape(struct cursor *in, struct npy_header *out, const char **why) {
  *why = "its shape is not a tuple of whole numbers";
  if (!take(in, '(')) {
    return false;
  }
  bool comma = true;
  while (!take(in, ')')) {
    if (out->rank == ASSAY_RANK_MAX) {
      *why = "it has more than 16 dimensions";
      return false;
    }
    if (!comma || !take_number(in, &out->dims[out->rank])) {
      return false;
    }
    out->rank++;
    comma = take(in, ',');
  }
  return out->rank != 1 || comma;
}

struct plain_type {
  const char *name;
  assay_dtype dtype;
  size_t item;
};

static const struct plain_type plain_types[] = {
    {"b1", ASSAY_BOOL, 1},      {"i1", ASSAY_INT8, 1},         {"i2", ASSAY_INT16, 2},   {"i4", ASSAY_INT32, 4},
    {"i8", ASSAY_INT64, 8},     {"u1", ASSAY_UINT8, 1},        {"u2", ASSAY_UINT16, 2},  {"u4", ASSAY_UINT32, 4},
    {"u8", ASSAY_UINT64, 8},    {"f2", ASSAY_FLOAT16, 2},      {"f4", ASSAY_FLOAT32, 4}, {"f8", ASSAY_FLOAT64, 8},
    {"c8", ASSAY_COMPLEX64, 8}, {"c16", ASSAY_COMPLEX128, 16},
};

/* "S12" is 12 bytes, "U12" is 12 code points of 4 bytes. */
static bool set_string_type(const char *type, struct npy_header *out) {
  struct cursor digits = {type + 1, type + strlen(type)};
  int64_t length;
  if (!take_number(&digits, &length) || digits.at != digits.end || length < 1 || length > ITEM_LONGEST) {
    return false;
  }
  out->dtype = ASSAY_STRING;
  out->wide = type[0] == 'U';
  out->item = (size_t)length * (out->wide ? 4 : 1);
  out->swap = out->wide ? 4 : 0;
  return true;
}

static bool set_type(const char *descr, struct npy_header *out, const char **why) {
  static const uint16_t probe = 1;
  const bool little = *(const uint8_t *)&probe == 1;
  bool foreign = descr[0] == (little ? '>' : '<');
  if (strchr("<>=|", descr[0]) == NULL || descr[0] == '\0') {
    *why = "its type states no byte order";
    return false;
  }
  const char *type = descr + 1;
  for (size_t i = 0; i < sizeof plain_types / sizeof plain_types[0]; i++) {
    if (strcmp(plain_types[i].name, type) != 0) {
      continue;
    }
    bool complex = type[0] == 'c';
    out->dtype = plain_types[i].dtype;
    out->item = plain_types[i].item;
    out->swap = complex ? out->item / 2 : out->item;
    out->swap = foreign && out->swap > 1 ? out->swap : 0;
    if (descr[0] == '|' && out->item > 1) {
      *why = "its type states no byte order";
      return false;
    }
    return true;
  }
  if ((type[0] == 'S' || type[0] == 'U') && set_string_type(type, out)) {
    out->swap = foreign ? out->swap : 0;
    return true;
  }
  *why = type[0] == 'O' ? "it holds pickled Python objects"
                        : "its type is none of bool, integer, float16 to float64, complex, or fixed-length string";
  return false;
}

static bool take_descr(struct cursor *in, struct npy_header *out, const char **why) {
  char descr[32];
  if (in->at < in->end && *in->at == '[') {
    *why = "its type is a structured one";
    return false;
  }
  if (!take_string(in, descr)) {
    *why = "its type is not a string";
    return false;
  }
  return set_type(descr, out, why);
}

static bool take_order(struct cursor *in, struct npy_header *out, const char **why) {
  *why = "its fortran_order is neither True nor False";
  out->fortran = take_word(in, "True");
  return out->fortran || take_word(in, "False");
}

static bool parse_dictionary(struct cursor *in, struct npy_header *out, const char **why) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  static bool (*const take_value[])(struct cursor *, struct npy_header *, const char **) = {take_descr, take_order,
                                                                                            take_shape};
  bool seen[3] = {false, false, false};
  *why = "its header is not the dictionary that NumPy writes";
  if (!take(in, '{')) {
    return false;
  }
  bool comma = true;
  while (!take(in, '}')) {
    char key[32];
    if (!comma || !take_string(in, key) || !take(in, ':')) {
      return false;
    }
    int k = 0;
    while (k < 3 && strcmp(keys[k], key) != 0) {
      k++;
    }
    if (k == 3 || seen[k]) {
      *why = "its header has a key twice, or one that NumPy does not write";
      return false;
    }
    seen[k] = true;
    if (!take_value[k](in, out, why)) {
      return false;
    }
    *why = "its header is not the dictionary that NumPy writes";
    comma = take(in, ',');
  }
  if (!seen[0] || !seen[1] || !seen[2]) {
    *why = "its header lacks descr, fortran_order or shape";
    return false;
  }
  return in->end - in->at == 1 && *in->at == '\n';
}

bool npy_header_parse(const uint8_t *bytes, size_t size, struct npy_header *out, const char **why) {
  *out = (struct npy_header){0};
  if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0) {
    *why = "it does not begin as a .npy file does";
    return false;
  }
  if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) {
    *why = "its format version is none of 1.0, 2.0 and 3.0";
    return false;
  }
  size_t prefix = bytes[6] == 1 ? 10 : 12;
  if (size < prefix) {
    *why = "it is cut short";
    return false;
  }
  size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
  if (prefix == 12) {
    length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  }
  if (length > HEADER_LONGEST) {
    *why = "its header is longer than 65536 bytes";
    return false;
  }
  if (length > size - prefix) {
    *why = "it is cut short";
    return false;
  }
  out->data_offset = prefix + length;
  struct cursor in = {(const char *)bytes + prefix, (const char *)bytes + prefix + length};
  return parse_dictionary(&in, out, why);
}
