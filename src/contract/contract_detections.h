/* Private to contract/: how the decision `detections` is read, and tied to its outputs once all of them are known. */
#ifndef CONTRACT_CONTRACT_DETECTIONS_H
#define CONTRACT_CONTRACT_DETECTIONS_H

#include "contract/contract_reader.h"
#include "contract/detections.h"

/* Takes up a decision that is `detections`; *taken is false for any other. */
ASSAY_MUST_CHECK assay_status read_detections(struct reader *reader, const struct yaml *node, const char *what,
                                              struct contract_output *output, bool *taken);
/* Reads what was taken up, after all outputs have their components. */
ASSAY_MUST_CHECK assay_status resolve_detections(struct reader *reader);

#endif
