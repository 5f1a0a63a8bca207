/* Files of a sealed corpus, known by where they lie. */
#ifndef CONTRACT_SEALED_PATH_H
#define CONTRACT_SEALED_PATH_H

#include "core/status.h"

/* CORPUS_SEALED when a file that somebody is about to read lies in the folder of a sealed corpus. */
ASSAY_MUST_CHECK assay_status sealed_path_check(const char *path);

#endif
