/* assay: everything that the library offers.
 *
 *   #include <assay/assay.h>
 *
 * Every function that can fail returns an assay_status, which must be looked at and ended
 * with assay_status_clear. The library never prints, exits, aborts or reads the environment.
 * Objects are opaque; each header says who owns what and which threads may use it.
 *
 * Copyright the assay authors. SPDX-License-Identifier: Apache-2.0
 */
#ifndef ASSAY_ASSAY_H
#define ASSAY_ASSAY_H

#include "assay/model.h"
#include "assay/session.h"
#include "assay/status.h"
#include "assay/tensor.h"
#include "assay/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, such as "0.1.0". */
ASSAY_API const char *assay_version(void);

#ifdef __cplusplus
}
#endif
#endif
