/* A model without a contract: drift between precisions on declared synthetic inputs. It never gives a
 * verdict, since nothing says what the numbers mean. */
#include <math.h>
#include <string.h>

#include "contract/model_signature.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/memory.h"
#include "gate/gate.h"
#include "gate/judge.h"
#include "gate/made_contract.h"

static const char *const case_names[] = {"zeros", "ramp", "normal-1", "normal-2"};
enum { CASES = sizeof case_names / sizeof case_names[0], ELEMENTS_MAX = 1 << 26 };

/* --- synthetic inputs -------------------------------------------------------------- */

/* splitmix64: the same numbers everywhere. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Nearly normal, and exact on every machine: twelve uniforms less six. */
static double next_normal(uint64_t *state) {
  double sum = -6.0;
  for (int i = 0; i < 12; i++) {
    sum += (double)(next_random(state) >> 11) * 0x1p-53;
  }
  return sum;
}

/* Element j of input k. Integers stay at 0 but for what the ramp truncates to, since they are often indices. */
static double synthetic(int which, int32_t k, int64_t j, assay_dtype dtype, uint64_t *state) {
  int64_t step = (j % 101 * 37 + 11 * (k + 1)) % 101;
  if (which == 0) {
    return 0.0;
  }
  if (dtype == ASSAY_BOOL) {
    return step % 3 == 0 ? 1.0 : 0.0;
  }
  double ramp = (double)(step - 50) / 64.0;
  return which == 1 || dtype_is_integer(dtype) ? ramp : next_normal(state);
}

static assay_status make_input(const struct contract_input *input, int which, int32_t k, struct case_array *out) {
  int64_t dims[ASSAY_RANK_MAX], count = 0;
  for (int32_t d = 0; d < input->rank; d++) {
    dims[d] = input->dims[d].opt;
  }
  if (!shape_count(dims, input->rank, &count) || count > ELEMENTS_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, input->name,
                       "input '%s' has more than %d elements; write a contract to say what it is fed", input->name,
                       ELEMENTS_MAX);
  }
  if (input->dtype == ASSAY_STRING || input->dtype == ASSAY_COMPLEX64 || input->dtype == ASSAY_COMPLEX128 ||
      input->dtype == ASSAY_UNDEFINED) {
    return status_make(ASSAY_NO_CONTRACT, input->name,
                       "input '%s' is %s, for which no synthetic values are made; write a contract", input->name,
                       assay_dtype_name(input->dtype));
  }
  uint64_t state = (uint64_t)(which * 1000 + k);
  out->name = input->name;
  TRY(tensor_new(input->dtype, dims, input->rank, &out->tensor));
  for (int64_t j = 0; j < count; j++) {
    double value = synthetic(which, k, j, input->dtype, &state);
    tensor_set(&out->tensor, j, dtype_is_integer(input->dtype) ? trunc(value) : value);
  }
  return status_ok();
}

static assay_status make_case(const struct contract *contract, int which, struct case_data *data) {
  data->steps = 1;
  ARENA_NEW(&data->arena, data->inputs, contract->n_inputs + 1);
  for (int32_t k = 0; k < contract->n_inputs; k++) {
    TRY(make_input(&contract->inputs[k], which, k, &data->inputs[k]));
    data->n_inputs++;
  }
  return status_ok();
}

static assay_status make_cases(const struct contract *contract, struct arena *arena, struct case_store *out) {
  struct corpus_case *entries;
  ARENA_NEW(arena, entries, CASES);
  out->data = memory_alloc(CASES, sizeof(struct case_data *));
  if (out->data == NULL) {
    return status_no_memory(CASES * sizeof(struct case_data *));
  }
  out->entries = entries;
  out->n = CASES;
  for (int i = 0; i < CASES; i++) {
    entries[i].id = case_names[i];
    entries[i].file = entries[i].digest = "";
    out->data[i] = memory_alloc(1, sizeof(struct case_data));
    if (out->data[i] == NULL) {
      return status_no_memory(sizeof(struct case_data));
    }
    TRY(make_case(contract, i, out->data[i]));
  }
  return status_ok();
}

/* --- the contract that is none ---------------------------------------------------------- */

static assay_status fill_contract(const struct signature *signature, struct contract *contract) {
  for (int32_t i = 0; i < signature->n_inputs; i++) {
    const struct signature_tensor *input = &signature->inputs[i];
    int64_t dims[ASSAY_RANK_MAX];
    if (input->has_default) {
      continue;
    }
    if (input->rank < 0) {
      return status_make(ASSAY_NO_CONTRACT, input->name,
                         "input '%s' declares no shape, so nothing can be fed; write a contract", input->name);
    }
    for (int32_t d = 0; d < input->rank; d++) {
      dims[d] = input->dims[d] < 0 ? 1 : input->dims[d]; /* a size that is free is 1 */
    }
    TRY(made_contract_input(contract, input->name, input->dtype, input->rank, dims));
  }
  for (int32_t i = 0; i < signature->n_outputs; i++) {
    TRY(made_contract_output(contract, signature->outputs[i].name, signature->outputs[i].dtype, false));
  }
  return status_ok();
}

static assay_status describe(const char *model_path, struct gate_result *result) {
  struct model *model;
  struct arena scratch = {0};
  struct signature signature;
  TRY(model_open(model_path, NULL, &model));
  assay_status status = model_signature(model, &scratch, &signature);
  if (assay_status_ok(status)) {
    status = made_contract_new(path_name(model_path), signature.n_inputs, signature.n_outputs, &result->contract);
  }
  if (assay_status_ok(status)) {
    status = fill_contract(&signature, result->contract);
  }
  arena_free(&scratch);
  model_close(model);
  return status;
}

/* --- the rungs ----------------------------------------------------------------------------- */

static assay_status run(const char *model_path, int threads, const struct progress *progress,
                        struct gate_result *result, struct case_store *cases) {
  static const char *const precisions[] = {"fp64", "fp32", "tf32", "bf16", "fp16"};
  enum { RUNGS = sizeof precisions / sizeof precisions[0] };
  static const struct gate_noise noise = {.cases = 1, .repeats = 1, .rebuild = 1};
  struct gate_rung *rungs;
  TRY(describe(model_path, result));
  TRY(gate_result_file(result, "model", model_path, path_name(model_path)));
  TRY(make_cases(result->contract, &result->arena, cases));
  ARENA_NEW(&result->arena, rungs, RUNGS);
  const char *path = arena_string(&result->arena, model_path);
  if (path == NULL) {
    return status_no_memory(strlen(model_path));
  }
  for (int i = 0; i < RUNGS; i++) {
    rungs[i].required = true;
    rungs[i].request.name = rungs[i].request.precision = precisions[i];
    rungs[i].request.engine = "assay";
    rungs[i].request.model_path = path;
    rungs[i].required = i < 2; /* the others are emulations */
  }
  result->heading = "no contract, no verdict";
  result->policy = result->contract->policy;
  result->folder = path;
  struct gate_work work = {.contract = result->contract,
                           .cases = *cases,
                           .rungs = rungs,
                           .n_rungs = RUNGS,
                           .reference_rung = 0,
                           .reference = precisions[0],
                           .noise = &noise,
                           .no_model = "the rung fp32 shows it: the reference here is fp64",
                           .no_verdict = true,
                           .threads = threads > 0 ? threads : 1,
                           .progress = progress};
  *cases = (struct case_store){0}; /* the work's now */
  TRY(gate_reason_say(
      &result->arena, &result->reasons, ASSAY_NO_CONTRACT,
      "drift is shown on the synthetic inputs zeros, ramp and normal (seeded); nothing says which drift "
      "is too much. `assay init %s` drafts a contract",
      path_name(model_path)));
  return gate_measure(&work, result);
}

assay_status gate_run_bare(const char *model_path, int threads, const struct progress *progress,
                           struct gate_result **out) {
  int64_t begin = clock_now_ns();
  struct case_store cases = {0};
  struct gate_result *result = NULL;
  *out = NULL;
  TRY(gate_result_new(&result));
  assay_status status = run(model_path, threads, progress, result, &cases);
  for (int32_t i = 0; cases.data != NULL && i < cases.n; i++) {
    case_data_free(cases.data[i]);
  }
  memory_free(cases.data);
  if (!assay_status_ok(status)) {
    gate_result_free(result);
    return status;
  }
  for (int32_t r = 0; r < result->n_rungs; r++) {
    result->rungs[r].model = path_name(result->folder);
    if (result->rungs[r].verdict == VERDICT_PASS) {
      result->rungs[r].verdict = VERDICT_BLOCKED; /* it was not judged */
    }
  }
  judge_gate(result);
  result->time_ns = clock_now_ns() - begin;
  *out = result;
  return status;
}
