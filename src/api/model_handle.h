/* What a public assay_model is inside; shared by the files of api/ alone. */
#ifndef API_MODEL_HANDLE_H
#define API_MODEL_HANDLE_H

#include "model/model.h"

struct assay_model {
  struct model *model;
};

#endif
