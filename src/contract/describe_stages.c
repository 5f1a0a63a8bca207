/* What a contract says of its stages, as statements: see describe.h. Links are named by the file's tensor, so that
 * their order in the text means nothing; the order of stages does. */
#include <stdio.h>

#include "contract/describe.h"
#include "contract/stages.h"
#include "core/text.h"

static void describe_links(struct statements *out, const char *noun, const struct stage_link *links, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    char what[128];
    snprintf(what, sizeof what, "%s %.100s", noun, links[i].tensor);
    describe_text(out, false, what, links[i].value);
  }
}

static void describe_each(struct statements *out, const struct contract_stage *stage) {
  static const char *const joins[] = {"apart", "concat", "stack"};
  struct text names = {0};
  for (int32_t i = 0; i < stage->n_each; i++) {
    text_format(&names, "%s%s", i > 0 ? ", " : "", stage->each[i].value);
  }
  if (stage->n_each > 0) {
    describe_text(out, false, "for each", text_string(&names));
    describe_fact(out, false, "joined", "%s", joins[stage->join]);
  }
  if (stage->join != STAGE_APART) {
    describe_fact(out, false, "join axis", "%d", (int)stage->join_axis);
  }
  out->failed = out->failed || names.failed;
  text_free(&names);
}

static void describe_time(struct statements *out, const struct contract_stage *stage) {
  const struct stage_time *time = &stage->time;
  if (time->input == NULL) {
    return;
  }
  describe_text(out, false, "time input", time->input);
  for (int32_t turn = 0; turn < stage->repeat; turn++) { /* however it is written */
    char what[32];
    snprintf(what, sizeof what, "time of turn %d", (int)turn + 1);
    describe_fact_number(out, false, what, stage_time_at(time, turn), NULL);
  }
}

void describe_stages(struct statements *out, const struct contract_stages *stages) {
  for (int32_t s = 0; s < stages->count; s++) {
    const struct contract_stage *stage = &stages->items[s];
    describe_root(out, "stage %s", stage->name);
    describe_fact(out, false, "place", "%d", (int)s + 1);
    describe_text(out, false, "model", describe_path(stage->model));
    describe_links(out, "input", stage->inputs, stage->n_inputs);
    describe_links(out, "output", stage->outputs, stage->n_outputs);
    describe_each(out, stage);
    if (stage->repeat > 0) {
      describe_fact(out, false, "repeats", "%d", (int)stage->repeat);
    }
    describe_links(out, "carried input", stage->carry, stage->n_carry);
    describe_time(out, stage);
  }
}
