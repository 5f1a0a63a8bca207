/* Where runtimes that are loaded at run time are looked for. Folders are given by whoever knows the user's environment
 * (the program); nothing here reads it. */
#ifndef RUNG_RUNTIME_SEARCH_H
#define RUNG_RUNTIME_SEARCH_H

#include "core/arena.h"
#include "core/status.h"
#include "core/text.h"

/* Adds the root of a Python installation or virtual environment, such as /usr/local or ./venv: wheels are looked for in
 * its site-packages. Not thread-safe: before the first rung is opened. At most 16; more are ignored. */
void runtime_search_add(const char *root);

/* The newest file that matches, by name and version: `inside` is a path below site-packages that ends in a prefix, as
 * "onnxruntime/capi/libonnxruntime.so". NULL when there is none. `tried` gets the folders that were looked into. */
ASSAY_MUST_CHECK assay_status runtime_find_wheel(const char *inside, struct arena *arena, struct text *tried,
                                                 const char **out);

/* That a library which is named by a path is a plain file: opening a FIFO would wait for ever. RUNTIME_MISSING
 * otherwise. */
ASSAY_MUST_CHECK assay_status runtime_check_file(const char *path);
/* The Python of the first root that has one (an active virtual environment comes first), else "python3". In the arena.
 */
const char *runtime_python(struct arena *arena);

#endif
