/* SHA-256 through libsodium. The state is kept in our own struct, so that no
 * header but this file's depends on libsodium. */
#include "core/hash.h"

#include <errno.h>
#include <sodium/crypto_hash_sha256.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"

_Static_assert(sizeof(crypto_hash_sha256_state) <= sizeof(struct hash), "struct hash holds libsodium's state");
_Static_assert(_Alignof(crypto_hash_sha256_state) <= _Alignof(struct hash), "struct hash is aligned for it");

static crypto_hash_sha256_state *inner(struct hash *hash) { return (crypto_hash_sha256_state *)(void *)hash->state; }

void hash_begin(struct hash *hash) { crypto_hash_sha256_init(inner(hash)); }

void hash_add(struct hash *hash, const void *bytes, size_t size) {
  if (size > 0) {
    crypto_hash_sha256_update(inner(hash), bytes, size);
  }
}

void hash_end(struct hash *hash, char out[HASH_TEXT_SIZE]) {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(inner(hash), digest);
  memcpy(out, "sha256:", 7);
  for (size_t i = 0; i < sizeof digest; i++) {
    out[7 + 2 * i] = "0123456789abcdef"[digest[i] >> 4];
    out[8 + 2 * i] = "0123456789abcdef"[digest[i] & 15];
  }
  out[HASH_TEXT_SIZE - 1] = '\0';
}

/* Read and not mapped: a mapped file would count as memory of the process, all of it. */
assay_status hash_file(const char *path, char out[HASH_TEXT_SIZE]) {
  enum { CHUNK = 1 << 16 };
  int fd;
  uint64_t size;
  struct hash hash;
  unsigned char chunk[CHUNK];
  TRY(file_open_plain(path, &fd, &size));
  hash_begin(&hash);
  for (;;) {
    ssize_t got = read(fd, chunk, CHUNK);
    if (got > 0) {
      hash_add(&hash, chunk, (size_t)got);
    } else if (got == 0) {
      break;
    } else if (errno != EINTR) {
      int error = errno;
      close(fd);
      return status_make(ASSAY_FILE_UNREADABLE, path, "the file cannot be read: %s", strerror(error));
    }
  }
  close(fd);
  hash_end(&hash, out);
  return status_ok();
}
