/* The report's folder: staged whole, then put in place, so that an interrupted run or a full disk leaves
 * the old report as it was. */
#include "core/file.h"
#include "report/report.h"

static assay_status write_one(const struct gate_result *result, const char *folder, const char *name,
                              assay_status (*make)(const struct gate_result *result, struct text *out),
                              struct arena *arena) {
  struct text text = {0};
  const char *path = path_join(arena, folder, name);
  assay_status status = path != NULL ? make(result, &text) : status_no_memory(0);
  if (assay_status_ok(status)) {
    status = file_replace(path, text.data, text.length);
  }
  text_free(&text);
  return status;
}

assay_status report_write(const struct gate_result *result, const char *folder) {
  struct arena arena = {0};
  char *staging = NULL;
  assay_status status = folder_stage(folder, "verdict.json", &arena, &staging);
  if (!assay_status_ok(status)) {
    arena_free(&arena);
    return status;
  }
  status = write_one(result, staging, "verdict.json", report_json, &arena);
  if (assay_status_ok(status)) {
    status = write_one(result, staging, "junit.xml", report_junit, &arena);
  }
  if (assay_status_ok(status)) {
    status = folder_commit(staging, folder);
  }
  if (!assay_status_ok(status)) {
    folder_abandon(staging);
  }
  arena_free(&arena);
  return status;
}
