/* The contract: what every input and output of a policy means. Parsed from
 * contract.yaml, strictly: an unknown key, a missing unit or a duplicate name
 * is an error with line and column. Constant after parsing; lives in one arena. */
#ifndef CONTRACT_CONTRACT_H
#define CONTRACT_CONTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/status.h"
#include "tensor/tensor.h"

/* Where a value stands in its file; 1-based. */
struct mark {
  int32_t line, column;
};

/* One dimension of an input: fixed (min = opt = max), or a range. */
struct dim_range {
  int64_t min, opt, max;
};

enum preprocess_kind {
  PREPROCESS_RESIZE,    /* height, width, filter, antialias, coordinates, rounding */
  PREPROCESS_CROP,      /* height, width; top and left, or center */
  PREPROCESS_PAD,       /* top, bottom, left, right, or height and width with center; fill */
  PREPROCESS_COLOR,     /* from, to: RGB, BGR, GRAY */
  PREPROCESS_LAYOUT,    /* from, to: NHWC, NCHW, HWC, CHW */
  PREPROCESS_SCALE,     /* x * a, per channel or whole */
  PREPROCESS_DIVIDE,    /* x / a, per channel or whole */
  PREPROCESS_NORMALIZE, /* (x - a) / b, per channel or whole */
  PREPROCESS_CAST       /* dtype */
};
enum resize_filter { RESIZE_NEAREST, RESIZE_BILINEAR, RESIZE_BICUBIC, RESIZE_AREA };
enum resize_coordinates { RESIZE_HALF_PIXEL, RESIZE_ALIGN_CORNERS, RESIZE_ASYMMETRIC };
enum resize_rounding {
  RESIZE_ROUND_DEFAULT,   /* half to even for integer arrays, none for float arrays */
  RESIZE_ROUND_NONE,      /* integer arrays become float32 */
  RESIZE_ROUND_HALF_EVEN, /* one rounding at the end */
  RESIZE_ROUND_HALF_UP,
  RESIZE_ROUND_PILLOW, /* as Pillow computes 8-bit images, bit for bit */
  RESIZE_ROUND_OPENCV  /* as OpenCV computes INTER_LINEAR on 8-bit images, bit for bit */
};

struct preprocess_step {
  enum preprocess_kind kind;
  struct mark mark;
  int64_t height, width, top, left, bottom, right; /* height 0: a pad by its four sides */
  bool center, antialias;
  double fill; /* pad */
  enum resize_filter filter;
  enum resize_coordinates coordinates;
  enum resize_rounding rounding;
  const char *from, *to; /* colour or layout */
  int32_t n;             /* elements of a and b: 1 or one per channel */
  const double *a, *b;
  assay_dtype dtype;
};

/* Each is described in the header of its own part of the contract. */
struct contract_terms;      /* contract/terms.h */
struct contract_noise;      /* contract/noise.h */
struct contract_tokens;     /* contract/tokens.h */
struct contract_group;      /* contract/compare.h */
struct contract_detections; /* contract/detections.h */
struct contract_stages;     /* contract/stages.h */
struct contract_monitor;    /* contract/monitors.h */

/* What a tensor is for. */
enum input_role { INPUT_PLAIN, INPUT_NOISE, INPUT_TOKENS };

/* One input tensor. */
struct contract_input {
  const char *name;
  struct mark mark;
  enum input_role role;
  const struct contract_noise *noise;   /* role noise; else NULL */
  const struct contract_tokens *tokens; /* role tokens; else NULL */
  const struct contract_terms *terms;   /* a flat observation made of named terms; else NULL */
  assay_dtype dtype;
  int32_t rank;
  struct dim_range dims[ASSAY_RANK_MAX];
  const char *layout, *color; /* NULL when not given */
  const char *raw;            /* name of the raw/<sensor> array that feeds it; the input's name when not given */
  bool has_legal, has_typical;
  double legal_min, legal_max;     /* after preprocessing; outside is refused */
  double typical_min, typical_max; /* serves coverage */
  double max_age_ms;               /* 0: not limited */
  int32_t frozen_after;            /* steps without a change after which it is taken for frozen; 0: not watched */
  int32_t history_max;             /* 0: not given; steps of an input that carries history along axis history_axis */
  int32_t history_axis;
  const char *unit; /* NULL when not given */
  bool refuse;      /* on_invalid: refuse */
  bool is_state;    /* the input of a state pair; it need not be fed */
  int32_t n_preprocess;
  const struct preprocess_step *preprocess;
};

/* A state tensor: output fed back to input at the next step. Both are among the contract's inputs
 * and outputs, with equal dtype and shape. */
struct contract_state {
  const char *input, *output;
  struct mark mark;
  const assay_tensor *initial; /* NULL: zeros */
  bool reset_episode;
  bool has_tolerance;
  double tolerance_max;
};

/* Done in double, one rounding a step. */
enum decode_kind {
  DECODE_CLIP,   /* to [a, b] */
  DECODE_SCALE,  /* x * a */
  DECODE_OFFSET, /* x + a */
  DECODE_ADD     /* x + element `element` of frame `frame` of what was measured as `input` */
};
struct decode_step {
  enum decode_kind kind;
  double a, b;
  int32_t n_each;     /* 0: `a` at every step of the horizon; otherwise how many steps `each` has a number for */
  const double *each; /* scale and offset: [n_each], in place of `a` */
  const char *input;  /* an input of the contract, or the sensor of a term */
  int64_t element;    /* within a frame */
  int64_t frame;      /* along the input's history, from 0; -1: the last */
  int64_t frame_size; /* elements of a frame; 0: the whole of what was measured */
  bool cumulative;    /* from the second step of the horizon on: x + what this step made of the step before */
  const struct decode_origin *origin; /* the statistics that the numbers come from; NULL: none */
};
/* Where the numbers of statistics were drawn from; the same for the two or three steps that they make. */
struct decode_origin {
  const char *file, *a, *b; /* the file, and its two arrays: mean and std, or min and max */
  bool min_max;
  double low, high;
};

/* How far a component may drift. A NAN means: not declared. */
struct tolerance {
  bool given;
  bool raw; /* space: raw; otherwise physical, after decoding */
  double max, mean, p99, rms;
  int64_t sign_flips, saturation; /* default 0 */
  struct mark mark;
};

enum decision_kind { DECISION_THRESHOLD, DECISION_ARGMAX, DECISION_TOPK, DECISION_ORDER };
struct decision {
  enum decision_kind kind;
  struct mark mark;
  bool raw; /* space: raw, the model's own number; otherwise the decoded one */
  double threshold;
  bool at_or_above; /* >= on the positive side; otherwise strictly above */
  const char *label_positive, *label_negative;
  int32_t axis, k;     /* axis is not negative */
  bool ascending;      /* order: {by: ascending}, nearest-first */
  double hysteresis;   /* 0: none */
  int32_t consecutive; /* 0: none */
};

/* How two decoded values are compared: contract/compare.h. */
enum compare_kind { COMPARE_DIFFERENCE, COMPARE_ANGLE, COMPARE_QUATERNION, COMPARE_ROT6D, COMPARE_POSE };

/* One element along the component axis of an output. */
struct contract_component {
  const char *name;
  struct mark mark;
  const char *unit, *raw_unit;
  int32_t n_decode;
  const struct decode_step *decode; /* output-wide steps first, then its own */
  struct tolerance tolerance;
  bool has_limits;
  double limit_min, limit_max, limit_rate; /* NAN where not given */
  bool has_pd;
  double kp, kd; /* kp 0 or more, kd above 0 */
  bool has_decision;
  struct decision decision; /* a threshold */
  bool allow_inf;
  enum compare_kind compare;
  bool degrees;                       /* of an angle */
  const struct contract_group *group; /* what it is a part of; NULL: nothing */
  int32_t in_group;                   /* which part, from 0 */
  const char *title;                  /* in reports, of a part that stands for the whole; NULL: its name */
};

struct contract_output {
  const char *name;
  struct mark mark;
  assay_dtype dtype;
  int32_t rank;
  struct dim_range dims[ASSAY_RANK_MAX];
  const char *axes[ASSAY_RANK_MAX];            /* "batch", "horizon", "component", ... */
  int32_t component_axis, horizon_axis;        /* -1: none */
  int64_t execute_steps;                       /* 0: all steps decide */
  int64_t queue;                               /* of a sequence every queue-th answer is used; 0: each */
  bool ensemble;                               /* answers about one moment are blended: contract/executed.h */
  double ensemble_m;                           /* execute_steps is then how many steps old the oldest may be, plus 1 */
  double max_age_ms;                           /* of the result since its observation; 0: not limited */
  int32_t n_components;                        /* == dim of component_axis; 1 without one */
  const struct contract_component *components; /* in the order of the tensor */
  const int32_t *hardware_order;               /* the component that motor k receives; NULL: the tensor's order */
  int32_t n_decisions;                         /* decisions over the whole output: argmax, topk, order */
  const struct decision *decisions;
  int32_t n_groups; /* components that are compared together: a quaternion, a pose */
  const struct contract_group *groups;
  const struct contract_detections *detections; /* NULL: none */
  bool detected;       /* detections are read from it, by this output or another: they are its decision */
  bool rows_vary;      /* and it has as many rows as the policy chose: elements are not paired */
  int32_t object_axis; /* of one with rows_vary */
  /* The output of a state pair. One that no `components` describe has a single component, named like
   * the output, with the tolerance of the state. */
  bool is_state;
  /* What one stage gives and a later one takes; it decides only where its components say how. */
  bool is_inner;
  bool bare; /* inner, and no `components` describe it */
};

/* Names that the contract lists once, `groups: {joints: [...]}`, and refers to by `joints`. */
struct name_group {
  const char *name;
  struct mark mark;
  int32_t count;
  const char *const *names;
};

/* Where a value was imported from: `source: file:line`. */
struct contract_source {
  struct mark mark;
  const char *source;
};
/* A file that the contract drew on. */
struct contract_file {
  const char *role; /* "statistics", "tokenizer" */
  const char *path, *digest;
  const char *provenance; /* "original", "recomputed", or NULL when not given */
};

struct contract {
  struct arena arena;
  const char *path;
  const char *policy, *model; /* model: path relative to the contract's folder; NULL for a policy of stages */
  struct mark model_mark;
  int32_t n_groups;
  const struct name_group *groups;
  int32_t n_inputs, n_outputs, n_states;
  const struct contract_input *inputs;
  const struct contract_output *outputs;
  const struct contract_state *states;
  double period_ms, p99_ms;               /* timing; 0: not given */
  int64_t deadline_misses;                /* -1: not given */
  double budget_ram_mb, budget_engine_mb; /* 0: not given */
  const struct contract_stages *stages;   /* NULL: the policy is the one file `model` */
  double max_skew_ms, future_ms;          /* freshness; max_skew_ms 0: not limited */
  int32_t n_monitors;
  const struct contract_monitor *monitors; /* external monitors that the guard asks */
  int32_t n_sources, n_files;
  const struct contract_source *sources;
  const struct contract_file *files; /* each file once */
};

ASSAY_MUST_CHECK assay_status contract_read(const char *path, struct contract **out);
/* The same from text; statistics files are looked for in `folder`. */
ASSAY_MUST_CHECK assay_status contract_parse(const char *text, size_t size, const char *path, const char *folder,
                                             struct contract **out);
void contract_free(struct contract *contract);
const struct contract_input *contract_find_input(const struct contract *contract, const char *name);
const struct contract_output *contract_find_output(const struct contract *contract, const char *name);

/* A tensor as a model declares it, for binding; dims < 0 are dynamic. */
struct signature_tensor {
  const char *name;
  assay_dtype dtype;
  int32_t rank;
  const int64_t *dims;
  bool has_default; /* an initializer that may be fed */
};
struct signature_metadata {
  const char *key, *value;
};
struct signature {
  int32_t n_inputs, n_outputs, n_metadata;
  const struct signature_tensor *inputs, *outputs;
  const struct signature_metadata *metadata; /* the model's metadata_props */
};
/* Binds by name: every model input without a default is in the contract and the other way
 * round; dtypes and shapes agree; state pairs fit; joint names, stiffness and damping in the model's
 * metadata agree with the components by name and order. The first fault is the error:
 * CONTRACT_MISMATCH or METADATA_MISMATCH, placed in the contract. */
ASSAY_MUST_CHECK assay_status contract_bind(const struct contract *contract, const struct signature *signature,
                                            const char *model_path);
/* The part of it without which nothing can be carried from step to step: the model has the output of every state pair.
 */
ASSAY_MUST_CHECK assay_status contract_bind_states(const struct contract *contract, const struct signature *signature,
                                                   const char *model_path);

#endif
