/* What a gate found: everything that a report shows. A report computes nothing,
 * so every figure, verdict and sentence is made here. A result lives in one
 * arena and is constant once gate_run has returned it. */
#ifndef GATE_RESULT_H
#define GATE_RESULT_H

#include "contract/compare.h"
#include "core/hash.h"
#include "gate/decisions.h"
#include "gate/detection_result.h"
#include "gate/drift.h"
#include "gate/ledger.h"
#include "rung/rung.h"

enum verdict { VERDICT_PASS, VERDICT_REJECT, VERDICT_BLOCKED };
const char *verdict_name(enum verdict verdict); /* "PASS", ... */

/* A value with the precision it is to be printed in: fp32 or fp64. */
struct gate_value {
  double value;
  bool single;
};

/* Why a verdict is what it is. Strings are NULL, numbers -1 or NAN, where they do not apply. */
struct gate_reason {
  assay_code code;
  const char *sentence;
  const char *output, *component, *case_id;
  int64_t step, element;
  struct gate_value expected, actual; /* on the two sides of the worst case */
  double measured, tolerance;         /* the figure that decided, and what it may be */
  const char *unit;
};

struct gate_reasons {
  struct gate_reason *items;
  int32_t count, capacity;
};

/* Noise floor of one component in one space; NAN: not measured. */
struct noise_figures {
  double self, rounding, floor; /* floor: the larger of what was measured */
};

/* Drift of one set of elements in both spaces. */
struct space_drift {
  struct drift raw, physical;
};

struct drift_group {
  const char *by;    /* "magnitude", or the tag's key */
  const char *value; /* "0.1 to 1", or the tag's value */
  struct space_drift drift;
};

/* Drift as the joint's controller turns it into a torque, or a force. */
struct torque_result {
  const char *gain, *unit; /* "kp" of a position or "kd" of a velocity, "N·m" or "N"; NULL without pd */
  double max, p99, mean;   /* NAN without pd */
};

/* One component of one output, on one rung. */
struct component_result {
  const char *output, *name, *unit, *raw_unit; /* units NULL when the contract has none */
  bool single;                                 /* the tensor is fp32 or narrower */
  bool decides;                                /* false: shown only (a state output without a tolerance) */
  bool raw_decides;                            /* the tolerance is in raw space */
  enum verdict verdict;
  struct tolerance tolerance;                     /* in force: the contract's, or the rung's own */
  const char *tolerance_reason;                   /* of a tolerance that the rung loosens; else NULL */
  struct space_drift drift;                       /* of what the robot executes; decides */
  struct space_drift rest;                        /* of the steps it does not; n == 0 when there are none */
  struct noise_figures raw_noise, physical_noise; /* of the reference */
  bool raw_distinguishable, physical_distinguishable;
  enum compare_kind compare;
  enum compared compared;                      /* what it stands for where components are compared together */
  double deviation_expected, deviation_actual; /* how far either side was from numbers of a rotation */
  struct torque_result torque;
  int32_t motor;          /* that receives it, by hardware_order; -1: the contract has none */
  double rung_self_noise; /* in the deciding space; NAN: not measured */
  int32_t n_groups;
  const struct drift_group *groups;
};

/* All components of one output together, before decoding. */
struct output_result {
  const char *name;
  const char *type; /* "float32[1,3]" of the first answer */
  struct drift raw;
  bool single;
};

/* One case whose decision could change, or did. */
struct decision_case {
  const char *case_id;
  int64_t step, element;
  bool flipped;
  const char *expected_label, *actual_label;
  struct gate_value expected, actual;
  double margin; /* of the reference */
};

struct decision_result {
  const char *output, *component, *what; /* component NULL for a decision over the output */
  enum verdict verdict;
  int64_t n, flips, low_margin;
  double smallest_margin, drift; /* drift: what low margins are measured against */
  int32_t n_cases;
  const struct decision_case *cases; /* flips first, then margins below the drift */
};

/* One component over the seeds of all cases that store several: the largest drift of each draw, in the deciding
 * space, and how far the reference's own answers to one case lie apart from seed to seed. NAN: not known. */
struct seed_spread {
  const struct component_result *component;
  int32_t n_cases, n_draws; /* cases with several seeds; their seeds together */
  double max, min, median, deviation;
  const char *worst;                           /* the draw of max: "edge_0#3" */
  double reference_range, reference_deviation; /* the largest range of one element; root mean square deviation */
};

/* One answer of the guard: how often the reference got it, and how often the rung. */
struct guard_tally {
  const char *answer; /* "accept", or a code */
  int64_t expected, actual;
};

/* One step whose answer changed, or could have. */
struct guard_case {
  const char *case_id;
  int64_t step; /* -1: the case is no sequence */
  bool flipped;
  bool stated; /* the case states the expected answer */
  const char *expected, *actual;
  const char *output, *component, *unit; /* where the reference is nearest to another answer; NULL: no value decides */
  double margin;                         /* how far from it; NAN: no value decides */
  const char *sentence;                  /* the refusal of a flip; else NULL */
};

/* What the guard answers to the reference and to a rung. */
struct guard_result {
  bool asked;  /* false: no output goes to a motor, or nothing was answered */
  bool guards; /* the contract gives limits, ages or monitors */
  enum verdict verdict;
  int64_t n, stated, flips, low_margin; /* steps; low_margin: not flipped, but nearer than the drift */
  int64_t n_monitors, without_monitors; /* of the contract; steps of cases that say nothing of monitors */
  double smallest_margin;
  int32_t n_tally, n_cases;
  const struct guard_tally *tally;
  const struct guard_case *cases; /* flips first */
};

/* What was done to learn a runtime's own noise, and what came out. */
struct noise_result {
  bool self_measured, rounding_measured;
  const char *self_how;                          /* one sentence: what was repeated, or why it was not measured */
  const char *rounding_how;                      /* the same for fp32 against fp64 */
  int64_t repeats, sessions, processes, threads; /* done, not asked for */
  bool history_checked;
  double history_max; /* largest change with order or repeats, raw; NAN: not measured */
};

/* What a stage gives, on the two sides; largest differences, raw. NAN: not measured. */
struct stage_result {
  const char *stage, *value;
  int32_t turn;        /* of a loop, from 1; 0 where nothing turns */
  bool is_output;      /* among the contract's outputs */
  int64_t n;           /* elements compared, as it ran */
  double ran;          /* as the rung ran */
  double alone;        /* with the stage, and the turn, fed what the reference gave before it */
  double reach;        /* largest magnitude on the reference's side */
  const char *case_id; /* of `ran`; NULL where nothing was compared */
  int64_t step, element;
  bool single;
};
/* A loop over its turns. */
struct loop_result {
  const char *stage, *value, *input; /* what is carried, and the tensor of the file that it feeds */
  int32_t turns, first_beyond;       /* first_beyond: the turn after which the tolerance is exceeded; 0: none */
  double tolerance;                  /* of the carried value, raw; NAN: none */
  double first, last;                /* drift after the first and the last turn */
  double alone;                      /* the largest of one turn alone */
};

struct rung_result {
  const char *name, *engine;
  const char *model; /* as it reads from the folder; NULL for a recorded rung */
  bool required, is_reference;
  bool is_same_as_reference; /* it ran what the reference ran: agreement says nothing */
  enum verdict verdict;
  struct rung_request request;
  bool has_actual;
  struct rung_actual actual;
  struct gate_reasons reasons;
  int32_t n_components, n_outputs, n_decisions;
  struct component_result *components; /* worst first */
  struct output_result *outputs;
  struct decision_result *decisions;
  int32_t n_detections; /* one an output with detections */
  struct detection_result *detections;
  int32_t n_seed_spreads; /* one a component, in their order; 0 where no case stores several seeds */
  const struct seed_spread *seed_spreads;
  int32_t n_stages, n_loops; /* of a policy of stages, in the order of the stages */
  const struct stage_result *stages;
  const struct loop_result *loops;
  const char
      *alone_how; /* one sentence: what the stages were fed to answer alone, or why they were not; NULL: no stages */
  struct guard_result guard;
  struct noise_result noise;
  int64_t cases_run, steps_run, elements; /* elements: compared, of what decides */
  int64_t time_ns;                        /* of running all cases once */
};

struct invalid_case_result {
  const char *case_id, *expected, *actual; /* codes; actual is NULL when the inputs were accepted */
  const char *sentence;
  enum verdict verdict;
};

struct file_digest {
  const char *role; /* "contract", "gate", "corpus", "model" */
  const char *path; /* relative to the folder, as the user wrote it */
  const char *digest;
};

/* Answers about other things than parity: never one for another. */
struct other_answer {
  const char *name, *sentence; /* "package", "task" */
  enum verdict verdict;
};

struct gate_file;
struct corpus;
struct gate_result {
  struct arena arena;
  /* Kept alive for the names and units that the result shows; NULL where there is none. */
  struct gate_file *gate;
  struct contract *contract;
  struct corpus *corpus;
  const char *heading; /* NULL, or what stands above: "no contract, no verdict" */
  const char *folder, *policy, *corpus_digest;
  const char *reference; /* "recorded" or the name of a rung */
  const char *claim;     /* what a PASS says, and what it does not */
  enum verdict verdict;
  int exit_code;               /* 2 wrong input before 1 REJECT before 3 BLOCKED before 0 */
  struct gate_reasons reasons; /* of the gate as a whole */
  int32_t n_notes;             /* what decides nothing, and must be said beside every verdict */
  const char *const *notes;
  int32_t n_rungs, n_invalid, n_files, n_others;
  struct rung_result *rungs;
  struct invalid_case_result *invalid;
  struct file_digest *files;
  struct other_answer *others;
  struct noise_result reference_noise;
  struct ledger_result ledger;
  int64_t n_cases;             /* with an answer */
  const char *const *case_ids; /* of drift_pair.case_index */
  const char *version;
  /* Kept apart in every report: what differs from run to run. */
  char date[24];
  const char *host, *kernels;
  int64_t time_ns;
};

void gate_result_free(struct gate_result *result);

/* Adds a sentence to the notes. */
ASSAY_MUST_CHECK assay_status gate_result_note(struct gate_result *result, const char *format, ...) PRINTF_LIKE(2, 3);

/* Appends; fails with OUT_OF_MEMORY. What the reason points to must live as long as the arena. */
ASSAY_MUST_CHECK assay_status gate_reason_add(struct arena *arena, struct gate_reasons *reasons,
                                              const struct gate_reason *reason);
/* A reason that has a code and a sentence alone. */
ASSAY_MUST_CHECK assay_status gate_reason_say(struct arena *arena, struct gate_reasons *reasons, assay_code code,
                                              const char *format, ...) PRINTF_LIKE(4, 5);
/* An empty reason: every field absent. */
struct gate_reason gate_reason_of(assay_code code);

#endif
