/* The whole of a worker: one greeting, one rung, until the other side ends. Files of the model lie in a folder of its
 * own, which is gone afterwards. */
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "rung/frames.h"
#include "rung/greeting.h"
#include "rung/serve.h"

static assay_status serve_one(int in, int out, const char *folder, struct arena *arena) {
  struct text message = {0};
  struct rung_request request;
  struct rung *rung = NULL;
  if (frame_receive(in, &message, 0) != 1) {
    text_free(&message);
    return status_make(ASSAY_RUNG_FAILED, "standard input",
                       "no greeting came; a worker is started by a rung with `engine: remote`");
  }
  assay_status status = greeting_read(&message, folder, arena, &request);
  if (assay_status_ok(status)) {
    status = rung_open(&request, &rung);
  }
  rung_serve(in, out, rung, status);
  rung_close(rung);
  text_free(&message);
  return status;
}

assay_status rung_worker(int in, int out) {
  char folder[] = "/tmp/assay-worker-XXXXXX";
  struct arena arena = {0};
  if (mkdtemp(folder) == NULL) {
    return status_make(ASSAY_FILE_UNWRITABLE, folder, "no folder could be made for the model");
  }
  assay_status status = serve_one(in, out, folder, &arena);
  assay_status removed = folder_remove(folder);
  assay_status_clear(&removed);
  arena_free(&arena);
  return status;
}
