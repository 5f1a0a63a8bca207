/* agent.yaml, which Isaac Lab writes beside env.yaml for RSL-RL: little of it is the policy's meaning, namely what the
 * runner is called and how it clips the model's answer. */
#include <math.h>

#include "contract/importer.h"
#include "core/text.h"

int isaac_agent_recognise(const struct import_file *file) {
  const struct foreign *root = file->is_text ? &file->yaml.documents[0] : NULL;
  bool runner = foreign_get(root, "num_steps_per_env") != NULL && foreign_get(root, "algorithm") != NULL;
  return runner ? IMPORT_SURE : IMPORT_NO;
}

assay_status isaac_agent_read(struct import *import) {
  const struct foreign *root = import->file->is_text ? &import->file->yaml.documents[0] : NULL, *name, *clip, *normal;
  struct facts *facts = import->facts;
  TRY(import_get(import, root, "experiment_name", &name));
  if (foreign_text(name) != NULL && foreign_text(name)[0] != '\0') {
    TRY(facts_text(facts, &facts->policy, "the policy's name", import_place(import, name), foreign_text(name)));
  }
  TRY(import_get(import, root, "empirical_normalization", &normal));
  bool flag = false;
  if (foreign_flag(normal, &flag) && flag) {
    TRY(facts_remark(facts, import_place(import, normal),
                     "observations are normalized; RSL-RL's exporter puts the normalizer into the model"));
  }
  TRY(import_get(import, root, "clip_actions", &clip));
  if (clip == NULL) {
    return status_ok();
  }
  double bound = 0;
  struct fact_output *output;
  TRY(import_number(import, clip, "clip_actions", &bound));
  struct place place = import_place(import, clip);
  double low = -fabs(bound), high = fabs(bound);
  TRY(facts_output(facts, place, NULL, &output));
  TRY(facts_numbers(facts, &output->clip_raw_low, "the clip of the model's answer", place, &low, 1, FACT_EXACT));
  return facts_numbers(facts, &output->clip_raw_high, "the clip of the model's answer", place, &high, 1, FACT_EXACT);
}
