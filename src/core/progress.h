/* Progress of long work, handed to whoever wants to show it. The library never
 * prints; the program installs a callback. A NULL progress is silent. */
#ifndef CORE_PROGRESS_H
#define CORE_PROGRESS_H

#include <stddef.h>

struct progress {
  void (*step)(void *user, const char *what, size_t done, size_t total);
  void *user;
};
static inline void progress_step(const struct progress *progress, const char *what, size_t done, size_t total) {
  if (progress != NULL && progress->step != NULL) {
    progress->step(progress->user, what, done, total);
  }
}

#endif
