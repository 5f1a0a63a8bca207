/* A rung: one runtime at one precision, behind one interface. A rung knows
 * nothing of verdicts; it runs identical bytes and states what truly ran.
 *
 * Adding a runtime: one file here with a `const struct rung_kind`, and one row
 * in rung_kinds.inc. */
#ifndef RUNG_RUNG_H
#define RUNG_RUNG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/status.h"
#include "core/text.h"
#include "tensor/tensor.h"

/* What was asked for. Strings are NULL when the gate did not say. */
struct rung_setting {
  const char *key, *value;
};
struct rung_kind;
struct bound_stages; /* contract/stages.h */
struct rung_request {
  const char *name;
  const struct rung_kind *kind; /* a runtime that the caller brings; NULL: the table's, by engine */
  const char *engine;           /* "assay", "recorded", "onnxruntime", ... */
  const char *precision;        /* "fp32" when not said */
  const char *provider, *model_path, *outputs_folder;
  int threads;
  int32_t n_settings; /* everything else, for the engine to accept or refuse */
  const struct rung_setting *settings;
  int32_t n_keep;
  const char *const *keep;
  int32_t n_command; /* of a program that is the runtime, with its arguments */
  const char *const *command;
  double time_limit_s; /* 0: none. Of one run */
  /* A policy of several files: how they are wired, and the file of each stage, instead of model_path. Both
   * outlive the rung. NULL for a policy of one file. */
  const struct bound_stages *stages;
  const char *const *stage_models;
};

/* What really ran, as the runtime itself reports it. */
struct rung_placement {
  const char *node, *provider, *precision;
};
struct rung_actual {
  const char *engine, *version, *provider, *precision, *accumulator, *device; /* NULL: not known */
  const char *model_precision; /* what the model's own types state; NULL: the runtime does not follow them */
  const char *tf32;            /* "on", "off", or NULL when it does not apply */
  int threads;
  bool emulated;    /* an emulation of the precision, never enough for a release */
  const char *note; /* one sentence or NULL */
  int32_t n_placement;
  const struct rung_placement *placement;
  int32_t n_facts;
  const struct rung_setting *facts; /* further key/value pairs for the report */
};

struct rung_tensor {
  const char *name;
  assay_tensor tensor;
};
typedef void rung_tap(void *user, const char *value, const assay_tensor *tensor);

/* One case, or one step of one, to be answered. */
struct rung_call {
  const char *case_id;
  int64_t step, steps;              /* steps: how many a sequence has; 0 for a case that is none */
  const struct rung_tensor *inputs; /* views; by name */
  int32_t n_inputs;
  /* What later stages, and later turns of a loop, are fed in place of what the rung gave under that name:
   * so each stage answers alone. Named as in rung_answer.inner. Only a policy of stages looks at it. */
  const struct rung_tensor *given;
  int32_t n_given;
  const char *const *taps; /* inner values to hand over, in a policy of stages STAGE/VALUE; NULL for none */
  int32_t n_taps;
  rung_tap *tap;
  void *tap_user;
};
/* Views, valid until the next call or close; in the rung's own order. */
struct rung_answer {
  const struct rung_tensor *outputs;
  int32_t n_outputs;
  /* Of a policy of stages: everything that a stage gave, under its name in the contract, and what a loop carried after
   * each turn but the last, as NAME@1, NAME@2, ... */
  const struct rung_tensor *inner;
  int32_t n_inner;
};

struct rung;
struct rung_kind {
  const char *engine;
  bool replays;    /* answers are read, not computed: repeating and reordering runs says nothing */
  bool keeps_time; /* run() itself ends at the time limit, with RUNG_TIMEOUT */
  bool foreign;    /* somebody else's code is loaded: always in a child process, whose end ends the rung alone */
  /* True when what is asked for answers for a policy of stages as a whole, so that it is opened once. NULL: never. */
  bool (*is_whole)(const struct rung_request *request);
  /* Fails with a code of kind BLOCKED (RUNTIME_MISSING, ...) when the runtime is not to be had: the
   * rung is then BLOCKED with that sentence, the gate goes on. */
  assay_status (*open)(const struct rung_request *request, struct rung **out);
  /* Fixes the shapes of the inputs. Optional (NULL): run() takes what comes. */
  assay_status (*bind)(struct rung *rung, const struct rung_tensor *inputs, int32_t n_inputs);
  assay_status (*run)(struct rung *rung, const struct rung_call *call, struct rung_answer *out);
  /* Forgets everything that earlier calls could have left (a fresh session); optional. */
  assay_status (*renew)(struct rung *rung);
  void (*describe)(struct rung *rung, struct rung_actual *out); /* strings live as long as the rung */
  void (*close)(struct rung *rung);
};
/* Every rung begins with this. */
struct rung {
  const struct rung_kind *kind;
};

/* Finds the kind and opens, in a child process when the request has a time limit. With stages one rung of the
 * kind is opened for each and they answer as one; a kind that replays answers for the whole anyway. An engine that no
 * row has is an input error naming the engines there are; one that this build lacks is RUNTIME_MISSING. */
ASSAY_MUST_CHECK assay_status rung_open(const struct rung_request *request, struct rung **out);
/* The same in a fresh child process, always: nothing that earlier runs left can reach it. */
ASSAY_MUST_CHECK assay_status rung_open_isolated(const struct rung_request *request, struct rung **out);
ASSAY_MUST_CHECK assay_status rung_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out);
/* Forgets everything that earlier calls could have left. */
ASSAY_MUST_CHECK assay_status rung_renew(struct rung *rung);
void rung_describe(struct rung *rung, struct rung_actual *out);
bool rung_replays(const struct rung *rung);
void rung_close(struct rung *rung); /* NULL is harmless */

/* True when assay knows of the engine, whether this build has it or not. */
bool rung_engine_is_known(const char *engine);
/* "assay, recorded, onnxruntime, ...": appended. */
void rung_engines_list(struct text *out);
/* What a runtime says of itself, as reports may show it: on one line, without control characters, at most 200 bytes. In
 * the arena; NULL without memory. */
const char *rung_word(struct arena *arena, const char *said);

/* Settings that say what must be found running and that rung_check_actual holds against what did;
 * every engine takes them: device, version, tf32, accumulator, allow_fallback. */
bool rung_setting_is_expectation(const char *key);
/* Settings of runtimes that may stand beside a rung's name in gate.yaml, as well as under `settings`: library,
 * optimization, execution, plugin, provider_options, config, runtime, module, checkpoint, python, arguments, results,
 * deterministic. Each engine still takes or refuses them. */
bool rung_setting_is_common(const char *key);
/* Those whose value names a file: relative to gate.yaml's folder where it has a slash, and `module` and `checkpoint`
 * always. */
bool rung_setting_is_path(const char *key);
const char *rung_setting_find(const struct rung_request *request, const char *key); /* NULL when absent */
/* Fails with RUNG_SETTING on a setting that is neither an expectation nor in `allowed`. */
ASSAY_MUST_CHECK assay_status rung_settings_check(const struct rung_request *request, const char *const *allowed,
                                                  size_t count);

/* Asked for one thing and got another: RUNG_INVALID with what differs; ok otherwise. */
ASSAY_MUST_CHECK assay_status rung_check_actual(const struct rung_request *request, const struct rung_actual *actual);

#endif
