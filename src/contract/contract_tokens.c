/* `role: tokens`: the tokenizer's file and digest, length, padding, ids. What the contract leaves out is taken from a
 * tokenizer.json that says it; nothing is made up. */
#include <jansson.h>
#include <string.h>

#include "contract/contract_role.h"
#include "contract/tokens.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/memory.h"

enum { TOKENIZER_BYTES_MAX = 256 << 20, JSON_READ_MAX = 64 << 20 };

struct tokenizer_member {
  const char *file, *digest;
};

/* As read; -1: not given. */
struct tokens_member {
  int64_t max_length, pad_id, vocab_size;
  int32_t padding;
  const char *mask;
};

static assay_status tokens_padding(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"right", "left", "none"};
  return yaml_choice(&reader->file, node, what, words, 3, (int32_t *)member);
}

static assay_status read_count(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  return yaml_int(&reader->file, node, what, 1, INT32_MAX, (int64_t *)member);
}

/* --- what a tokenizer.json says ---------------------------------------------------------- */

static int64_t larger(int64_t a, const json_t *id) {
  int64_t value = json_is_integer(id) ? (int64_t)json_integer_value(id) + 1 : 0;
  return value > a ? value : a;
}

/* One more than the largest id of the vocabulary and the added tokens; 0 where neither is there. */
static int64_t vocabulary_size(const json_t *root) {
  const json_t *vocab = json_object_get(json_object_get(root, "model"), "vocab");
  const json_t *added = json_object_get(root, "added_tokens");
  int64_t size = json_is_array(vocab) ? (int64_t)json_array_size(vocab) : 0;
  for (void *i = json_object_iter((json_t *)vocab); i != NULL; i = json_object_iter_next((json_t *)vocab, i)) {
    size = larger(size, json_object_iter_value(i));
  }
  for (size_t i = 0; i < json_array_size(added); i++) {
    size = larger(size, json_object_get(json_array_get(added, i), "id"));
  }
  return size;
}

/* Takes up what the contract leaves out. A file of another format says nothing. */
static assay_status ask_tokenizer(const char *path, struct tokens_member *read) {
  char *text = NULL;
  size_t size = 0;
  bool asked = read->pad_id < 0 || read->vocab_size < 0;
  if (!asked || !text_ends_with(path, ".json")) {
    return status_ok();
  }
  TRY(file_read(path, JSON_READ_MAX, &text, &size));
  json_t *root = json_loadb(text, size, 0, NULL);
  memory_free(text);
  if (json_is_object(root)) {
    const json_t *pad = json_object_get(json_object_get(root, "padding"), "pad_id");
    int64_t vocab = vocabulary_size(root);
    if (read->pad_id < 0 && json_is_integer(pad) && json_integer_value(pad) >= 0) {
      read->pad_id = (int64_t)json_integer_value(pad);
    }
    read->vocab_size = read->vocab_size < 0 && vocab > 0 ? vocab : read->vocab_size;
  }
  json_decref(root);
  return status_ok();
}

/* --- the contract ---------------------------------------------------------------------------- */

static assay_status check_digest(struct reader *reader, const struct yaml *node, const char *what, const char *digest) {
  static const char start[] = "sha256:";
  const size_t length = sizeof start - 1;
  bool well = text_starts_with(digest, start) && strlen(digest) == HASH_TEXT_SIZE - 1 &&
              strspn(digest + length, "0123456789abcdef") == HASH_TEXT_SIZE - 1 - length;
  return well ? status_ok()
              : yaml_error(&reader->file, node->mark,
                           "%s has the digest '%.80s', which is none; a digest is sha256: and 64 small hexadecimal "
                           "digits",
                           what, digest);
}

/* Before anything of it is read. What is wrong with its name is told where it is taken. */
static assay_status check_file_size(struct reader *reader, const struct yaml *node, const char *what,
                                    const char *file) {
  char *path = NULL;
  uint64_t size = 0;
  assay_status status = path_join_inside(reader->arena, reader->folder, file, ASSAY_CONTRACT_INVALID, &path);
  bool placed = assay_status_ok(status) && file_exists(path);
  assay_status_clear(&status);
  if (!placed) {
    return status_ok();
  }
  TRY(file_size(path, &size));
  return size <= TOKENIZER_BYTES_MAX
             ? status_ok()
             : yaml_error(&reader->file, node->mark, "%s names '%.200s' of %llu bytes; a tokenizer has at most %d",
                          what, file, (unsigned long long)size, (int)TOKENIZER_BYTES_MAX);
}

static assay_status read_tokenizer(struct reader *reader, const struct yaml *node, const char *what,
                                   struct contract_tokens *out, char **path) {
  static const struct field fields[] = {
      {"file", read_text, offsetof(struct tokenizer_member, file), FIELD_REQUIRED},
      {"digest", read_text, offsetof(struct tokenizer_member, digest), FIELD_REQUIRED},
  };
  struct tokenizer_member tokenizer = {0};
  TRY(FIELDS_READ(reader, node, fields, what, &tokenizer));
  TRY(check_digest(reader, yaml_get(node, "digest"), what, tokenizer.digest));
  TRY(check_file_size(reader, yaml_get(node, "file"), what, tokenizer.file));
  out->tokenizer = tokenizer.file;
  out->digest = tokenizer.digest;
  return contract_file_take(reader, node->mark, what, "tokenizer", tokenizer.file, tokenizer.digest, path);
}

/* Of the key's value where it is given. */
static struct mark mark_of(const struct yaml *node, const char *key) {
  const struct yaml *value = yaml_get(node, key);
  return value != NULL ? value->mark : node->mark;
}

static assay_status check_padding(struct reader *reader, const struct yaml *node, const char *what,
                                  const struct tokens_member *read) {
  bool padded = read->padding != TOKENS_PAD_NONE;
  if (padded && read->pad_id < 0) {
    return yaml_error(&reader->file, mark_of(node, "padding"),
                      "%s is padded, but needs the key 'pad_id': nothing says which id stands for padding (a "
                      "tokenizer.json says it under padding.pad_id)",
                      what);
  }
  if (padded && read->vocab_size > 0 && read->pad_id >= read->vocab_size) {
    return yaml_error(&reader->file, mark_of(node, "pad_id"),
                      "%s has the pad_id %lld, but ids end below the vocab_size of %lld", what, (long long)read->pad_id,
                      (long long)read->vocab_size);
  }
  return status_ok();
}

/* The last axis holds the tokens. */
static assay_status check_length(struct reader *reader, const struct yaml *node, const char *what,
                                 const struct contract_input *input, int64_t max_length) {
  if (input->rank == 0 || !dtype_is_integer(input->dtype)) {
    return yaml_error(&reader->file, node->mark,
                      "%s has the role tokens, but is %s with %d dimensions; tokens are whole numbers along the last "
                      "dimension",
                      what, assay_dtype_name(input->dtype), (int)input->rank);
  }
  int64_t most = input->dims[input->rank - 1].max;
  if (most != max_length) {
    return yaml_error(&reader->file, mark_of(node, "max_length"),
                      "%s has max_length %lld, but its shape holds up to %lld tokens; the two must be equal", what,
                      (long long)max_length, (long long)most);
  }
  return status_ok();
}

assay_status read_tokens(struct reader *reader, const struct yaml *node, const char *what,
                         struct contract_input *input) {
  static const struct {
    const char *key;
    field_read *read;
    size_t offset;
    bool required;
  } keys[] = {
      {"max_length", read_count, offsetof(struct tokens_member, max_length), true},
      {"padding", tokens_padding, offsetof(struct tokens_member, padding), true},
      {"pad_id", read_whole, offsetof(struct tokens_member, pad_id), false},
      {"vocab_size", read_count, offsetof(struct tokens_member, vocab_size), false},
      {"mask", read_text, offsetof(struct tokens_member, mask), false},
  };
  struct contract_tokens *tokens;
  struct tokens_member read = {.pad_id = -1, .vocab_size = -1};
  const struct yaml *tokenizer;
  char *path = NULL, member[WHAT_SIZE];
  ARENA_NEW(reader->arena, tokens, 1);
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const struct yaml *value = yaml_get(node, keys[k].key);
    if (keys[k].required) {
      TRY(yaml_require(&reader->file, node, keys[k].key, what, &value));
    }
    if (value != NULL) {
      what_format(member, "'%s' of %s", keys[k].key, what);
      TRY(keys[k].read(reader, value, member, (char *)&read + keys[k].offset));
    }
  }
  TRY(yaml_require(&reader->file, node, "tokenizer", what, &tokenizer));
  what_format(member, "'tokenizer' of %s", what);
  TRY(read_tokenizer(reader, tokenizer, member, tokens, &path));
  if (read.padding == TOKENS_PAD_NONE && (read.pad_id >= 0 || read.mask != NULL)) {
    return yaml_error(&reader->file, mark_of(node, read.pad_id >= 0 ? "pad_id" : "mask"),
                      "%s says `padding: none`, so it has neither pad_id nor mask", what);
  }
  TRY(ask_tokenizer(path, &read));
  TRY(check_padding(reader, node, what, &read));
  TRY(check_length(reader, node, what, input, read.max_length));
  tokens->max_length = read.max_length;
  tokens->padding = (enum tokens_padding)read.padding;
  tokens->pad_id = read.padding == TOKENS_PAD_NONE ? -1 : read.pad_id;
  tokens->vocab_size = read.vocab_size > 0 ? read.vocab_size : 0;
  tokens->mask = read.mask;
  input->tokens = tokens;
  return status_ok();
}
