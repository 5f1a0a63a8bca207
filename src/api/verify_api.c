/* The public gate, over gate/ and report/. It shows what the gate found and adds nothing. */
#include "assay/verify.h"

#include <math.h>

#include "core/memory.h"
#include "gate/gate.h"
#include "report/report.h"

struct assay_report {
  struct gate_result *result;
  struct text json;
};

_Static_assert((int)ASSAY_VERDICT_REJECT == (int)VERDICT_REJECT && (int)ASSAY_VERDICT_BLOCKED == (int)VERDICT_BLOCKED,
               "the public numbers are the gate's");

assay_status assay_verify(const char *folder, const assay_verify_options *options, assay_report **out) {
  *out = NULL;
  assay_report *report = memory_alloc(1, sizeof *report);
  if (report == NULL) {
    return status_no_memory(sizeof *report);
  }
  struct gate_options inner = {
      .folder = folder, .ledger = LEDGER_READ, .no_ledger = "assay_verify writes nothing into the policy folder"};
  if (options != NULL) {
    inner.gate_path = options->gate;
    inner.threads = options->threads;
  }
  assay_status status = gate_run(&inner, &report->result);
  if (assay_status_ok(status)) {
    status = report_json(report->result, &report->json);
  }
  if (!assay_status_ok(status)) {
    assay_report_free(report);
    return status;
  }
  *out = report;
  return status_ok();
}

void assay_report_free(assay_report *report) {
  if (report == NULL) {
    return;
  }
  if (report->result != NULL) {
    gate_result_free(report->result);
  }
  text_free(&report->json);
  memory_free(report);
}

assay_verdict assay_report_verdict(const assay_report *report) { return (assay_verdict)report->result->verdict; }
int assay_report_exit_code(const assay_report *report) { return report->result->exit_code; }

size_t assay_report_reason_count(const assay_report *report) {
  size_t count = (size_t)report->result->reasons.count;
  for (int32_t r = 0; r < report->result->n_rungs; r++) {
    count += (size_t)report->result->rungs[r].reasons.count;
  }
  return count;
}

static assay_reason reason_of(const struct gate_reason *reason, const char *rung) {
  return (assay_reason){.code = reason->code,
                        .sentence = reason->sentence,
                        .rung = rung,
                        .output = reason->output,
                        .component = reason->component,
                        .case_id = reason->case_id,
                        .unit = reason->unit,
                        .step = reason->step,
                        .expected = reason->expected.value,
                        .actual = reason->actual.value,
                        .tolerance = reason->tolerance};
}

assay_reason assay_report_reason(const assay_report *report, size_t i) {
  const struct gate_result *result = report->result;
  if (i < (size_t)result->reasons.count) {
    return reason_of(&result->reasons.items[i], NULL);
  }
  i -= (size_t)result->reasons.count;
  for (int32_t r = 0; r < result->n_rungs; r++) {
    const struct rung_result *rung = &result->rungs[r];
    if (i < (size_t)rung->reasons.count) {
      return reason_of(&rung->reasons.items[i], rung->name);
    }
    i -= (size_t)rung->reasons.count;
  }
  return (assay_reason){.sentence = "", .step = -1, .expected = NAN, .actual = NAN, .tolerance = NAN};
}

const char *assay_report_json(const assay_report *report) { return text_string(&report->json); }

assay_status assay_report_write(const assay_report *report, const char *folder) {
  return report_write(report->result, folder);
}
