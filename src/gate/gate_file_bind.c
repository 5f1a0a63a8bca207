/* gate.yaml held against the contract: see gate_file.h. A tolerance that is looser needs a reason; models belong to
 * stages that there are. */
#include <math.h>
#include <string.h>

#include "contract/compare.h"
#include "contract/stages.h"
#include "contract/yaml.h"
#include "gate/gate_file.h"
#include "gate/judge.h"

/* "wrist", or "action/wrist" where two outputs have a wrist. */
static bool names(const char *written, const struct contract_output *output,
                  const struct contract_component *component) {
  size_t length = strlen(output->name);
  if (written == NULL) {
    return component_compared(component) != COMPARED_WITHIN;
  }
  bool whole = strncmp(written, output->name, length) == 0 && written[length] == '/';
  return strcmp(written, component_title(component)) == 0 ||
         (whole && strcmp(written + length + 1, component_title(component)) == 0);
}

static struct tolerance merge(const struct tolerance *declared, const struct gate_tolerance *own) {
  struct tolerance merged = *declared;
  if (!merged.given) {
    merged = (struct tolerance){.given = true, .max = NAN, .mean = NAN, .p99 = NAN, .rms = NAN};
  }
  merged.max = isnan(own->max) ? merged.max : own->max;
  merged.mean = isnan(own->mean) ? merged.mean : own->mean;
  merged.p99 = isnan(own->p99) ? merged.p99 : own->p99;
  merged.rms = isnan(own->rms) ? merged.rms : own->rms;
  merged.sign_flips = own->sign_flips < 0 ? merged.sign_flips : own->sign_flips;
  merged.saturation = own->saturation < 0 ? merged.saturation : own->saturation;
  merged.raw = own->space < 0 ? merged.raw : own->space == 1;
  return merged;
}

struct tolerance gate_tolerance_of(const struct gate_rung *rung, const struct contract_output *output,
                                   const struct contract_component *component, const char **reason) {
  struct tolerance tolerance = component->tolerance;
  *reason = NULL;
  for (int32_t i = 0; i < rung->n_tolerances; i++) {
    const struct gate_tolerance *own = &rung->tolerances[i];
    if (names(own->component, output, component)) {
      struct tolerance merged = merge(&tolerance, own);
      *reason = tolerance_is_looser(&component->tolerance, &merged) ? own->reason : *reason;
      tolerance = merged;
    }
  }
  return tolerance;
}

static assay_status check_tolerance(const struct yaml_file *file, const struct gate_rung *rung,
                                    const struct gate_tolerance *own, const struct contract *contract) {
  bool found = false;
  for (int32_t o = 0; o < contract->n_outputs; o++) {
    const struct contract_output *output = &contract->outputs[o];
    for (int32_t c = 0; c < output->n_components; c++) {
      const struct contract_component *component = &output->components[c];
      if (!names(own->component, output, component)) {
        continue;
      }
      found = true;
      struct tolerance merged = merge(&component->tolerance, own);
      if (merged.raw && component->compare != COMPARE_DIFFERENCE) {
        return yaml_error(
            file, own->mark,
            "rung '%s' has a tolerance in raw space for '%s', which is compared as an angle, a rotation or "
            "a pose; raw numbers are none",
            rung->request.name, component_title(component));
      }
      if (own->reason == NULL && tolerance_is_looser(&component->tolerance, &merged)) {
        return yaml_error(file, own->mark,
                          "rung '%s' loosens the tolerance of '%s' that the contract declares; give a `reason:` "
                          "beside it, within the tolerance, which stays in the report, or make it tighter",
                          rung->request.name, component_title(component));
      }
    }
  }
  return found
             ? status_ok()
             : yaml_error(file, own->mark, "rung '%s' has a tolerance for '%s', which is no component of the contract",
                          rung->request.name, own->component != NULL ? own->component : "every component");
}

/* A policy of one file has `model`, one of stages `models`. */
static assay_status check_models(const struct yaml_file *file, const struct gate_rung *rung,
                                 const struct contract *contract) {
  const struct contract_stages *stages = contract->stages;
  if (stages != NULL && rung->own_model) {
    return yaml_error(file, rung->mark,
                      "rung '%s' names one model, but the policy has %d stages; name the files that differ, as in "
                      "`models: {%s: FILE}`",
                      rung->request.name, (int)stages->count, stages->items[0].name);
  }
  for (int32_t i = 0; i < rung->n_models; i++) {
    if (stages == NULL) {
      return yaml_error(file, rung->models[i].mark,
                        "rung '%s' names models of stages, but the policy is one file; write `model: FILE`",
                        rung->request.name);
    }
    if (stage_find(stages, rung->models[i].stage) < 0) {
      struct text names = {0};
      for (int32_t s = 0; s < stages->count; s++) {
        text_format(&names, "%s%s", s > 0 ? ", " : "", stages->items[s].name);
      }
      assay_status status =
          yaml_error(file, rung->models[i].mark, "rung '%s' names a model for '%s', which is no stage; stages are %s",
                     rung->request.name, rung->models[i].stage, text_string(&names));
      text_free(&names);
      return status;
    }
  }
  return status_ok();
}

assay_status gate_file_bind(const struct gate_file *gate, const struct contract *contract) {
  struct yaml_file file = {.path = gate->path, .code = ASSAY_GATE_INVALID};
  for (int32_t r = 0; r < gate->n_rungs; r++) {
    TRY(check_models(&file, &gate->rungs[r], contract));
    for (int32_t i = 0; i < gate->rungs[r].n_tolerances; i++) {
      TRY(check_tolerance(&file, &gate->rungs[r], &gate->rungs[r].tolerances[i], contract));
    }
  }
  return status_ok();
}
