/* Random nodes of a rung's model: see random_rung.h. */
#include "gate/random_rung.h"

#include <string.h>

#include "contract/stages.h"
#include "engine/random_nodes.h"

enum { SAID_MAX = 8 }; /* nodes that are named; more would be no news */

static assay_status say_file(const char *path, struct arena *arena, struct gate_reasons *reasons, bool *random) {
  struct model *model = NULL;
  const struct random_node *nodes = NULL;
  int32_t count = 0;
  assay_status opened = model_open(path, NULL, &model);
  if (!assay_status_ok(opened)) {
    if (assay_code_kind_of(opened.code) == ASSAY_KIND_INTERNAL) {
      return opened;
    }
    assay_status_clear(&opened);
    return status_ok();
  }
  assay_status status = random_nodes_find(model, arena, &nodes, &count);
  for (int32_t i = 0; i < count && i < SAID_MAX && assay_status_ok(status); i++) {
    *random = true;
    status = gate_reason_say(arena, reasons, ASSAY_UNSTABLE_RUNG, "%s", nodes[i].sentence);
  }
  model_close(model);
  if (assay_code_kind_of(status.code) == ASSAY_KIND_INTERNAL) {
    return status;
  }
  assay_status_clear(&status); /* functions that cannot be written out: opening says so */
  return status_ok();
}

assay_status random_rung_say(const struct rung_request *request, struct arena *arena, struct gate_reasons *reasons,
                             bool *random) {
  *random = false;
  if (strcmp(request->engine, "recorded") == 0) {
    return status_ok(); /* its answers are what they are */
  }
  for (int32_t s = 0; request->stages != NULL && s < request->stages->n_stages; s++) {
    TRY(say_file(request->stage_models[s], arena, reasons, random));
  }
  return request->model_path != NULL ? say_file(request->model_path, arena, reasons, random) : status_ok();
}
