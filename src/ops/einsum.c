/* Einsum: each output element is one chain of fused multiply-adds over the summed labels, in the order in which they
 * first stand in the equation. Of more than two inputs the first ones are multiplied, each product rounded; of one, the
 * elements are added. Labels are letters; "..." stands for any further dimensions, which broadcast. */
#include <string.h>

#include "ops/elementwise.h"
#include "ops/infer_help.h"

enum { LETTERS = 52, LABELS = LETTERS + ASSAY_RANK_MAX, OPERANDS = 8 };

/* Labels of one operand or of the output. */
struct term {
  int count, ellipsis; /* ellipsis: labels before it, or -1 when there is none */
  int8_t labels[ASSAY_RANK_MAX];
};

struct equation {
  int operands;
  struct term inputs[OPERANDS], output;
};

static int label_of(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' : (c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1); }

static assay_status bad_equation(const struct attribute *equation, const char *why) {
  return status_make(ASSAY_NODE_INVALID, NULL, "equation '%.*s' of Einsum: %s", (int)equation->s.length,
                     equation->s.data, why);
}

/* Reads labels up to ',' or '-' or the end. */
static assay_status read_term(const struct attribute *equation, size_t *at, struct term *term) {
  *term = (struct term){.ellipsis = -1};
  const char *text = equation->s.data;
  for (; *at < equation->s.length && text[*at] != ',' && text[*at] != '-'; (*at)++) {
    char c = text[*at];
    if (c == ' ') {
      continue;
    }
    if (c == '.' && term->ellipsis < 0 && *at + 2 < equation->s.length && text[*at + 1] == '.' &&
        text[*at + 2] == '.') {
      term->ellipsis = term->count;
      *at += 2;
      continue;
    }
    if (label_of(c) < 0) {
      return bad_equation(equation, "a label is not a letter");
    }
    if (term->count == ASSAY_RANK_MAX) {
      return bad_equation(equation, "too many labels");
    }
    term->labels[term->count++] = (int8_t)label_of(c);
  }
  return status_ok();
}

/* Without "->" the output holds the labels that stand once, in alphabetical order, after the ellipsis. */
static void implied_output(struct equation *out) {
  int seen[LETTERS] = {0};
  bool ellipsis = false;
  for (int i = 0; i < out->operands; i++) {
    ellipsis = ellipsis || out->inputs[i].ellipsis >= 0;
    for (int k = 0; k < out->inputs[i].count; k++) {
      seen[out->inputs[i].labels[k]]++;
    }
  }
  out->output = (struct term){.ellipsis = ellipsis ? 0 : -1};
  for (int label = 0; label < LETTERS; label++) {
    if (seen[label] == 1 && out->output.count < ASSAY_RANK_MAX) {
      out->output.labels[out->output.count++] = (int8_t)label;
    }
  }
}

static assay_status read_equation(const struct node *node, struct equation *out) {
  const struct attribute *equation = node_attribute(node, "equation");
  *out = (struct equation){.operands = 0};
  if (equation == NULL || equation->kind != ATTRIBUTE_STRING) {
    return status_make(ASSAY_NODE_INVALID, NULL, "Einsum has no equation");
  }
  size_t at = 0, length = equation->s.length;
  for (;;) {
    if (out->operands == OPERANDS) {
      return bad_equation(equation, "more inputs than 8");
    }
    TRY(read_term(equation, &at, &out->inputs[out->operands++]));
    if (at >= length || equation->s.data[at] != ',') {
      break;
    }
    at++;
  }
  if (out->operands != node->n_inputs) {
    return bad_equation(equation, "it names another number of inputs than the node has");
  }
  if (at == length) {
    implied_output(out);
    return status_ok();
  }
  if (at + 1 >= length || equation->s.data[at + 1] != '>') {
    return bad_equation(equation, "'-' without '>'");
  }
  at += 2;
  TRY(read_term(equation, &at, &out->output));
  return at == length ? status_ok() : bad_equation(equation, "something stands after the output");
}

/* --- dimensions of labels ---------------------------------------------------------- */

/* The label of dimension d of a tensor of this rank. Ellipsis dimensions are numbered from the right, the last
 * one being LETTERS. */
static int label_at(const struct term *term, int rank, int d) {
  int extra = rank - term->count;
  if (term->ellipsis < 0 || d < term->ellipsis) {
    return term->labels[d];
  }
  return d < term->ellipsis + extra ? LETTERS + (term->ellipsis + extra - 1 - d) : term->labels[d - extra];
}

static assay_status want_rank(const struct term *term, int rank, int input) {
  bool fits = term->ellipsis < 0 ? rank == term->count : rank >= term->count;
  return fits ? status_ok()
              : status_make(ASSAY_SHAPE_CONFLICT, NULL,
                            "input %d of Einsum has rank %d, and the equation has %d labels", input, rank, term->count);
}

/* Labels of the output in order; the number of them. */
static int output_labels(const struct equation *equation, int ellipsis_rank, int *labels) {
  int n = 0;
  const struct term *term = &equation->output;
  for (int k = 0; k <= term->count; k++) {
    for (int e = 0; k == term->ellipsis && e < ellipsis_rank; e++) {
      labels[n++] = LETTERS + ellipsis_rank - 1 - e;
    }
    if (k < term->count) {
      labels[n++] = term->labels[k];
    }
  }
  return n;
}

assay_status infer_einsum(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, OPERANDS, 1, 1));
  struct equation equation;
  TRY(read_equation(infer->node, &equation));
  struct dim dims[LABELS];
  bool seen[LABELS] = {false}, known = true;
  int ellipsis_rank = 0;
  for (int i = 0; i < equation.operands; i++) {
    TRY(infer_want(infer, i, 0, ASSAY_RANK_MAX));
    TRY(infer_want_same_dtype(infer, 0, i));
    const struct value_type *type = &infer->inputs[i]->type;
    if (type->kind != TYPE_TENSOR || type->rank < 0) {
      known = false;
      continue;
    }
    TRY(want_rank(&equation.inputs[i], type->rank, i));
    int extra = equation.inputs[i].ellipsis >= 0 ? type->rank - equation.inputs[i].count : 0;
    ellipsis_rank = extra > ellipsis_rank ? extra : ellipsis_rank;
    for (int d = 0; d < type->rank; d++) {
      int label = label_at(&equation.inputs[i], type->rank, d);
      struct dim dim = type->dims[d];
      if (!seen[label] || (label >= LETTERS && dims[label].value == 1)) {
        dims[label] = dim;
      } else if ((label < LETTERS || dim.value != 1) && !dim_merge(dims[label], dim, &dims[label])) {
        return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                           "a label of Einsum is %lld long in one place and %lld in another",
                           (long long)dims[label].value, (long long)dim.value);
      }
      seen[label] = true;
    }
  }
  int labels[LABELS], n = output_labels(&equation, ellipsis_rank, labels);
  struct dim out[ASSAY_RANK_MAX];
  if (n > ASSAY_RANK_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "the result of Einsum has more than %d dimensions", ASSAY_RANK_MAX);
  }
  for (int k = 0; k < n && known; k++) {
    if (!seen[labels[k]]) {
      return status_make(ASSAY_NODE_INVALID, NULL, "a label of Einsum's output stands in no input");
    }
    for (int j = 0; j < k; j++) {
      if (labels[j] == labels[k]) {
        return status_make(ASSAY_NODE_INVALID, NULL, "a label stands twice in Einsum's output");
      }
    }
    out[k] = dims[labels[k]];
  }
  infer_set(infer, 0, infer->inputs[0]->type.dtype, known ? n : RANK_UNKNOWN, out);
  return status_ok();
}

/* --- computing ------------------------------------------------------------------------ */

struct einsum_walk {
  const struct kernels *kernels;
  enum number_kind kind;
  int operands, n_out, n_sum;
  int64_t out_dims[ASSAY_RANK_MAX], sum_dims[LABELS];
  int64_t out_strides[OPERANDS][ASSAY_RANK_MAX], sum_strides[OPERANDS][LABELS];
  const void *data[OPERANDS];
  assay_tensor *y;
};

/* acc over n terms whose operands start at `offsets` and step by the last summed label. */
#define ACCUMULATE(type, chain)                                                                    \
  do {                                                                                             \
    const type one = 1;                                                                            \
    const type *last = (const type *)walk->data[walk->operands - 1] + offsets[walk->operands - 1]; \
    if (walk->operands <= 2) {                                                                     \
      const type *other = walk->operands == 2 ? (const type *)walk->data[0] + offsets[0] : &one;   \
      chain(other, walk->operands == 2 ? steps[0] : 0, last, steps[walk->operands - 1], n, acc);   \
      break;                                                                                       \
    }                                                                                              \
    for (int64_t i = 0; i < n; i++) {                                                              \
      type product = ((const type *)walk->data[0])[offsets[0] + i * steps[0]];                     \
      for (int o = 1; o < walk->operands - 1; o++) {                                               \
        product = product * ((const type *)walk->data[o])[offsets[o] + i * steps[o]];              \
      }                                                                                            \
      chain(&product, 0, last + i * steps[walk->operands - 1], 0, 1, acc);                         \
    }                                                                                              \
  } while (0)

static void u64_chain(const uint64_t *a, int64_t sa, const uint64_t *b, int64_t sb, int64_t n, uint64_t *acc) {
  for (int64_t i = 0; i < n; i++) {
    *acc += a[i * sa] * b[i * sb];
  }
}

static void accumulate(const struct einsum_walk *walk, const int64_t *offsets, const int64_t *steps, int64_t n,
                       void *acc) {
  if (walk->kind == NUMBER_F32) {
    ACCUMULATE(float, walk->kernels->f32_fma_chain);
  } else if (walk->kind == NUMBER_F64) {
    ACCUMULATE(double, walk->kernels->f64_fma_chain);
  } else {
    ACCUMULATE(uint64_t, u64_chain);
  }
}

static void einsum_range(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct einsum_walk *walk = argument;
  int last = walk->n_sum - 1;
  for (int64_t y = begin; y < end; y++) {
    int64_t offsets[OPERANDS] = {0}, steps[OPERANDS] = {0}, index[LABELS] = {0}, rest = y, terms = 1;
    for (int d = walk->n_out - 1; d >= 0; d--) {
      for (int o = 0; o < walk->operands; o++) {
        offsets[o] += rest % walk->out_dims[d] * walk->out_strides[o][d];
      }
      rest /= walk->out_dims[d];
    }
    for (int s = 0; s < walk->n_sum; s++) {
      terms *= walk->sum_dims[s];
    }
    int64_t n = last >= 0 ? walk->sum_dims[last] : 1;
    for (int o = 0; o < walk->operands && last >= 0; o++) {
      steps[o] = walk->sum_strides[o][last];
    }
    uint64_t acc = 0; /* +0 of every kind */
    for (int64_t done = 0; done < terms; done += n) {
      accumulate(walk, offsets, steps, n, &acc);
      for (int s = last - 1; s >= 0; s--) {
        bool wraps = ++index[s] == walk->sum_dims[s];
        for (int o = 0; o < walk->operands; o++) {
          offsets[o] += walk->sum_strides[o][s] * (wraps ? 1 - walk->sum_dims[s] : 1);
        }
        if (!wraps) {
          break;
        }
        index[s] = 0;
      }
    }
    numbers_store(walk->y->dtype, walk->y->data, y, 1, walk->kind, &acc);
  }
}

/* Sizes and strides of all labels; summed labels in the order of their first standing. */
static assay_status lay_out(struct op_run *run, const struct equation *equation, struct einsum_walk *walk) {
  int64_t sizes[LABELS];
  int64_t strides[OPERANDS][LABELS] = {{0}};
  int order[LABELS], n_order = 0, ellipsis_rank = 0;
  bool seen[LABELS] = {false};
  for (int i = 0; i < equation->operands; i++) {
    const assay_tensor *x = run->inputs[i];
    TRY(want_rank(&equation->inputs[i], x->rank, i));
    int extra = equation->inputs[i].ellipsis >= 0 ? x->rank - equation->inputs[i].count : 0;
    ellipsis_rank = extra > ellipsis_rank ? extra : ellipsis_rank;
    int64_t stride = tensor_count(x);
    for (int d = 0; d < x->rank; d++) {
      int label = label_at(&equation->inputs[i], x->rank, d);
      stride = x->dims[d] > 0 ? stride / x->dims[d] : 0;
      if (!seen[label]) {
        order[n_order++] = label;
        seen[label] = true;
        sizes[label] = x->dims[d];
      } else if (label >= LETTERS && sizes[label] == 1) {
        sizes[label] = x->dims[d];
      } else if (sizes[label] != x->dims[d] && (label < LETTERS || x->dims[d] != 1)) {
        return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                           "a label of Einsum is %lld long in one place and %lld in another", (long long)sizes[label],
                           (long long)x->dims[d]);
      }
      strides[i][label] += label >= LETTERS && x->dims[d] == 1 ? 0 : stride;
    }
  }
  int labels[LABELS];
  walk->n_out = output_labels(equation, ellipsis_rank, labels);
  if (walk->n_out > ASSAY_RANK_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "the result of Einsum has more than %d dimensions", ASSAY_RANK_MAX);
  }
  bool kept[LABELS] = {false};
  for (int d = 0; d < walk->n_out; d++) {
    kept[labels[d]] = true;
    walk->out_dims[d] = sizes[labels[d]];
    for (int o = 0; o < equation->operands; o++) {
      walk->out_strides[o][d] = strides[o][labels[d]];
    }
  }
  for (int k = 0; k < n_order; k++) {
    if (kept[order[k]]) {
      continue;
    }
    walk->sum_dims[walk->n_sum] = sizes[order[k]];
    for (int o = 0; o < equation->operands; o++) {
      walk->sum_strides[o][walk->n_sum] = strides[o][order[k]];
    }
    walk->n_sum++;
  }
  return status_ok();
}

assay_status run_einsum(struct op_run *run) {
  struct equation equation;
  TRY(read_equation(run->node, &equation));
  struct einsum_walk walk = {
      .kernels = run->kernels, .kind = number_kind_of(run->inputs[0]->dtype), .operands = equation.operands};
  TRY(lay_out(run, &equation, &walk));
  TRY(output_shape(run, 0, walk.out_dims, walk.n_out));
  for (int i = 0; i < walk.operands; i++) {
    const assay_tensor *x = run->inputs[i];
    walk.data[i] = x->data;
    if (!number_is_native(x->dtype, walk.kind)) {
      void *converted;
      TRY(run->scratch(run, (size_t)tensor_count(x) * number_size(walk.kind) + 1, &converted));
      numbers_load(x->dtype, x->data, 0, 1, tensor_count(x), walk.kind, converted);
      walk.data[i] = converted;
    }
  }
  walk.y = run->outputs[0];
  pool_for(run->pool, tensor_count(walk.y), 64, einsum_range, &walk);
  return status_ok();
}
