/* SHA-256, of bytes and of files, by libsodium. Thread-safe. */
#ifndef CORE_HASH_H
#define CORE_HASH_H

#include <stddef.h>

#include "core/status.h"

enum { HASH_TEXT_SIZE = 7 + 64 + 1 }; /* "sha256:" + hexadecimal + zero */

struct hash {
  _Alignas(16) unsigned char state[112]; /* libsodium's state; see hash.c */
};
void hash_begin(struct hash *hash);
void hash_add(struct hash *hash, const void *bytes, size_t size);
/* Writes "sha256:<64 hexadecimal digits>". */
void hash_end(struct hash *hash, char out[HASH_TEXT_SIZE]);
ASSAY_MUST_CHECK assay_status hash_file(const char *path, char out[HASH_TEXT_SIZE]);

#endif
