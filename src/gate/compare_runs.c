/* Two run folders against each other: the first becomes the cases' own answers, the second a recorded
 * rung, and the gate does the rest. It reads no model and runs nothing. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "core/file.h"
#include "core/memory.h"
#include "corpus/run_folder.h"
#include "gate/gate.h"
#include "gate/judge.h"
#include "gate/made_contract.h"

struct comparison {
  const char *reference, *candidate, *contract_path;
  struct run_folder *from, *to;
  struct case_store cases;
};

/* Loads every case of the reference; with a contract, one axis more than it says makes a sequence. */
static bool is_sequence(const struct contract *contract, const struct case_data *data) {
  for (int32_t i = 0; contract != NULL && i < data->n_outputs; i++) {
    const struct contract_output *output = contract_find_output(contract, data->outputs[i].name);
    if (output != NULL && data->outputs[i].tensor.rank == output->rank + 1) {
      return true;
    }
  }
  return false;
}

static assay_status load_cases(struct comparison *comparison, const struct contract *contract, struct arena *arena) {
  const struct run_folder *from = comparison->from;
  struct corpus_case *entries;
  ARENA_NEW(arena, entries, from->n_cases + 1);
  comparison->cases.data = memory_alloc((size_t)from->n_cases + 1, sizeof *comparison->cases.data);
  if (comparison->cases.data == NULL) {
    return status_no_memory((size_t)from->n_cases * sizeof *comparison->cases.data);
  }
  comparison->cases.entries = entries;
  comparison->cases.n = from->n_cases;
  for (int32_t i = 0; i < from->n_cases; i++) {
    struct case_data *data;
    TRY(run_folder_load(from, i, &data));
    comparison->cases.data[i] = data;
    entries[i].id = arena_string(arena, from->ids[i]);
    entries[i].file = entries[i].digest = "";
    entries[i].sequence = is_sequence(contract, data);
    data->steps = 1;
    for (int32_t o = 0; o < data->n_outputs && entries[i].sequence; o++) {
      bool same = data->outputs[o].tensor.rank > 0 && (o == 0 || data->outputs[o].tensor.dims[0] == data->steps);
      if (!same) {
        return status_make(ASSAY_RUN_INVALID, from->folder,
                           "case '%s' is a sequence by the contract, but its outputs do not have the same number of "
                           "steps",
                           from->ids[i]);
      }
      data->steps = data->outputs[o].tensor.dims[0];
    }
    if (entries[i].id == NULL) {
      return status_no_memory(strlen(from->ids[i]));
    }
  }
  return status_ok();
}

/* What was measured is in a corpus, not in a run folder. */
static assay_status check_decodable(const struct contract *contract) {
  for (int32_t o = 0; o < contract->n_outputs; o++) {
    for (int32_t c = 0; c < contract->outputs[o].n_components; c++) {
      const struct contract_component *component = &contract->outputs[o].components[c];
      for (int32_t s = 0; s < component->n_decode; s++) {
        if (component->decode[s].kind == DECODE_ADD) {
          return status_make(ASSAY_CONTRACT_UNSUPPORTED, contract->path,
                             "'%s' is decoded by adding '%s', which run folders do not store; compare them without a "
                             "contract, or make the run a recorded rung and use `assay verify`",
                             component->name, component->decode[s].input);
        }
      }
    }
  }
  return status_ok();
}

static bool is_known(const struct contract *contract, const char *name) {
  return contract_find_output(contract, name) != NULL;
}

/* Every output that any case of the reference has, to be equal. */
static assay_status make_contract(const struct comparison *comparison, struct contract **out) {
  int32_t most = 0;
  for (int32_t i = 0; i < comparison->cases.n; i++) {
    most += comparison->cases.data[i]->n_outputs;
  }
  TRY(made_contract_new(path_name(comparison->candidate), 0, most, out));
  for (int32_t i = 0; i < comparison->cases.n; i++) {
    const struct case_data *data = comparison->cases.data[i];
    for (int32_t o = 0; o < data->n_outputs; o++) {
      if (!is_known(*out, data->outputs[o].name)) {
        TRY(made_contract_output(*out, data->outputs[o].name, data->outputs[o].tensor.dtype, true));
      }
    }
  }
  return status_ok();
}

/* Cases that the candidate alone has. */
static assay_status find_extra(const struct comparison *comparison, struct gate_result *result) {
  struct rung_result *rung = &result->rungs[0];
  for (int32_t i = 0; i < comparison->to->n_cases; i++) {
    if (run_folder_find(comparison->from, comparison->to->ids[i]) < 0) {
      TRY(gate_reason_say(&result->arena, &rung->reasons, ASSAY_RUN_CASE_EXTRA,
                          "'%s' answers the case '%s', which '%s' does not have", comparison->candidate,
                          comparison->to->ids[i], comparison->reference));
    }
  }
  rung->verdict = verdict_of_reasons(&rung->reasons);
  judge_gate(result);
  return status_ok();
}

static assay_status note_run(struct gate_result *result, const char *role, const char *folder) {
  const char *index = path_join(&result->arena, folder, "run.yaml");
  return index != NULL ? gate_result_file(result, role, index, index) : status_no_memory(strlen(folder));
}

static assay_status compare(struct comparison *comparison, struct gate_result *result) {
  static const struct gate_noise noise = {.repeats = 0};
  TRY(run_folder_open(comparison->reference, &comparison->from));
  TRY(run_folder_open(comparison->candidate, &comparison->to));
  if (comparison->contract_path != NULL) {
    TRY(contract_read(comparison->contract_path, &result->contract));
    TRY(gate_result_file(result, "contract", comparison->contract_path, comparison->contract_path));
    TRY(check_decodable(result->contract));
  }
  TRY(load_cases(comparison, result->contract, &result->arena));
  if (result->contract == NULL) {
    TRY(make_contract(comparison, &result->contract));
    result->heading = "no contract: compared exactly, without units";
  }
  TRY(note_run(result, "reference", comparison->reference));
  TRY(note_run(result, "candidate", comparison->candidate));
  struct gate_rung *rung;
  ARENA_NEW(&result->arena, rung, 1);
  rung->required = true;
  rung->request.name = arena_string(&result->arena, comparison->candidate);
  rung->request.outputs_folder = rung->request.name;
  rung->request.engine = "recorded";
  result->folder = arena_string(&result->arena, comparison->reference);
  result->policy = result->contract->policy;
  if (rung->request.name == NULL || result->folder == NULL) {
    return status_no_memory(strlen(comparison->candidate));
  }
  struct gate_work work = {.contract = result->contract,
                           .cases = comparison->cases,
                           .rungs = rung,
                           .n_rungs = 1,
                           .reference_rung = -1,
                           .reference = result->folder,
                           .noise = &noise,
                           .no_model = "not measured: recorded runs have no model",
                           .outputs_only = true,
                           .threads = 1};
  comparison->cases.data = NULL; /* the work's now */
  TRY(gate_measure(&work, result));
  return find_extra(comparison, result);
}

assay_status gate_compare(const char *reference, const char *candidate, const char *contract_path,
                          struct gate_result **out) {
  int64_t begin = clock_now_ns();
  struct comparison comparison = {.reference = reference, .candidate = candidate, .contract_path = contract_path};
  struct gate_result *result = NULL;
  *out = NULL;
  TRY(gate_result_new(&result));
  assay_status status = compare(&comparison, result);
  for (int32_t i = 0; comparison.cases.data != NULL && i < comparison.cases.n; i++) {
    case_data_free(comparison.cases.data[i]);
  }
  memory_free(comparison.cases.data);
  run_folder_close(comparison.from);
  run_folder_close(comparison.to);
  if (!assay_status_ok(status)) {
    gate_result_free(result);
    return status;
  }
  result->time_ns = clock_now_ns() - begin;
  *out = result;
  return status;
}
