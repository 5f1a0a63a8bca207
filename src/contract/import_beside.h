/* Files that a configuration names and that lie beside it: statistics, values at the start. They are not opened by
 * importers; the contract names them, and `init` puts a copy beside the contract. */
#ifndef CONTRACT_IMPORT_BESIDE_H
#define CONTRACT_IMPORT_BESIDE_H

#include "contract/importer.h"
#include "core/text.h"

/* Adds "{file: NAME" to `out`, and keeps the file among the facts. `name` is what the file in hand says at `at`: a
 * plain name, of a file in the same folder. */
ASSAY_MUST_CHECK assay_status import_file_beside(struct import *import, const struct foreign *at, const char *name,
                                                 struct text *out);

#endif
