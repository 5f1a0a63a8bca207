/* Stored draws against the contract: see noise_check.h. It must never take one draw, stored twice, for two. */
#include "gate/noise_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract/noise.h"
#include "core/hash.h"
#include "core/memory.h"
#include "gate/drift.h"
#include "gate/golden.h"

/* Values that are looked at together; and how far off is too far: by chance once in 10^8 gates or less. */
enum { VALUES_MAX = 1 << 20, CONSTANT_AT_LEAST = 4 };
static const double deviations_max = 6.0, kolmogorov_max = 3.0;

/* One input of role noise. */
struct noise_sample {
  const struct contract_input *input;
  double *values; /* of different draws, as they came; VALUES_MAX at most */
  size_t count, capacity;
  int64_t draws; /* different ones */
};

/* Digests of draws seen, to know one that comes again. */
struct digest_set {
  uint64_t *slots; /* 0: free */
  size_t count, capacity;
};

struct noise_check {
  const struct plan *plan;
  int32_t n_samples;
  struct noise_sample *samples;
  struct digest_set seen;        /* of all cases */
  uint64_t *case_digests;        /* of the seeds of one case */
  int32_t n_digests, n_capacity; /* of case_digests */
  struct arena arena;
};

/* --- draws that come again ---------------------------------------------------------------- */

static uint64_t digest_of(const struct contract_input *input, const assay_tensor *tensor) {
  char text[HASH_TEXT_SIZE], first[17] = {0};
  struct hash hash;
  hash_begin(&hash);
  hash_add(&hash, input->name, strlen(input->name));
  hash_add(&hash, tensor->data, tensor->bytes);
  hash_end(&hash, text);
  memcpy(first, text + sizeof "sha256:" - 1, sizeof first - 1);
  return strtoull(first, NULL, 16) | 1; /* 0 is a free slot */
}

/* Adds; *added is false for one that was there. */
static void put(uint64_t *slots, size_t capacity, uint64_t digest, bool *added) {
  size_t at = (size_t)((digest * 0x9E3779B97F4A7C15u) >> 32) & (capacity - 1);
  while (slots[at] != 0 && slots[at] != digest) {
    at = (at + 1) & (capacity - 1);
  }
  *added = slots[at] == 0;
  slots[at] = digest;
}

static assay_status digest_add(struct digest_set *set, uint64_t digest, bool *added) {
  if (set->count * 2 >= set->capacity) {
    size_t larger = set->capacity == 0 ? 256 : set->capacity * 2;
    uint64_t *slots = memory_alloc(larger, sizeof *slots);
    if (slots == NULL) {
      return status_no_memory(larger * sizeof *slots);
    }
    for (size_t i = 0; i < set->capacity; i++) {
      bool moved;
      if (set->slots[i] != 0) {
        put(slots, larger, set->slots[i], &moved);
      }
    }
    memory_free(set->slots);
    set->slots = slots;
    set->capacity = larger;
  }
  put(set->slots, set->capacity, digest, added);
  set->count += *added;
  return status_ok();
}

/* --- opening ---------------------------------------------------------------------------------- */

assay_status noise_check_open(const struct plan *plan, struct noise_check **out) {
  *out = NULL;
  struct noise_check *check = memory_alloc(1, sizeof *check);
  if (check == NULL) {
    return status_no_memory(sizeof *check);
  }
  check->plan = plan;
  check->samples = arena_alloc(&check->arena, (size_t)plan->contract->n_inputs + 1, sizeof *check->samples);
  if (check->samples == NULL) {
    noise_check_close(check);
    return status_no_memory(sizeof *check->samples);
  }
  for (int32_t i = 0; i < plan->contract->n_inputs; i++) {
    if (plan->contract->inputs[i].noise != NULL) {
      check->samples[check->n_samples++].input = &plan->contract->inputs[i];
    }
  }
  *out = check;
  return status_ok();
}

void noise_check_close(struct noise_check *check) {
  if (check == NULL) {
    return;
  }
  for (int32_t s = 0; s < check->n_samples; s++) {
    memory_free(check->samples[s].values);
  }
  memory_free(check->seen.slots);
  memory_free(check->case_digests);
  arena_free(&check->arena);
  memory_free(check);
}

/* --- a case -------------------------------------------------------------------------------------- */

static const struct case_array *find_array(const struct case_data *data, const char *name) {
  for (int32_t i = 0; i < data->n_inputs; i++) {
    if (strcmp(data->inputs[i].name, name) == 0) {
      return &data->inputs[i];
    }
  }
  return NULL;
}

/* How many seeds there are, and that they are seeds of noise. Said once a case, at its first. */
static assay_status check_seeds(const struct noise_check *check, const struct fed_case *fed, struct arena *arena,
                                struct gate_reasons *reasons) {
  for (int32_t i = 0; i < fed->data->n_inputs; i++) {
    const struct case_array *array = &fed->data->inputs[i];
    const struct contract_input *input = contract_find_input(check->plan->contract, array->name);
    if (array->seeded && (input == NULL || input->noise == NULL)) {
      TRY(golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, -1,
                     "case '%s' has another inputs/%s for each seed, but it is no input of role noise; only noise "
                     "differs from seed to seed",
                     fed->entry->id, array->name));
    }
  }
  for (int32_t s = 0; s < check->n_samples; s++) {
    const struct contract_input *input = check->samples[s].input;
    const struct case_array *array = find_array(fed->data, input->name);
    int32_t stored = array == NULL ? 0 : array->seeded ? fed->data->n_seeds : 1;
    if (stored > 0 && stored < input->noise->seeds) { /* 0: said where inputs are made ready */
      TRY(golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, -1,
                     "case '%s' stores %d draw%s of the noise '%s', but the contract asks for %" PRId64
                     " seeds (line %d); store them as seeds/N/inputs/%s with seeds/N/outputs/...",
                     fed->entry->id, (int)stored, stored == 1 ? "" : "s", input->name, input->noise->seeds,
                     (int)input->mark.line, input->name));
    }
  }
  return status_ok();
}

static assay_status keep_values(struct noise_sample *sample, const assay_tensor *tensor) {
  size_t n = (size_t)tensor_count(tensor), room = VALUES_MAX - sample->count;
  n = n < room ? n : room;
  if (sample->count + n > sample->capacity) {
    size_t larger = sample->capacity * 2 > sample->count + n ? sample->capacity * 2 : sample->count + n;
    double *values = memory_resize(sample->values, larger, sizeof *values);
    if (values == NULL) {
      return status_no_memory(larger * sizeof *values);
    }
    sample->values = values;
    sample->capacity = larger;
  }
  for (size_t i = 0; i < n; i++) {
    sample->values[sample->count++] = tensor_get(tensor, (int64_t)i);
  }
  return status_ok();
}

static assay_status say_constant(const struct noise_sample *sample, const struct fed_case *fed, int64_t step,
                                 const assay_tensor *tensor, struct arena *arena, struct gate_reasons *reasons) {
  int64_t n = tensor_count(tensor);
  double first = n > 0 ? tensor_get(tensor, 0) : NAN;
  for (int64_t i = 1; i < n; i++) {
    if (tensor_get(tensor, i) != first) {
      return status_ok();
    }
  }
  return n < CONSTANT_AT_LEAST
             ? status_ok()
             : golden_say(arena, reasons, gate_reason_of(ASSAY_NOISE_UNLIKELY), fed, step,
                          "case '%s': all %" PRId64 " values of the noise '%s' are %.9g; no draw is constant",
                          fed->entry->id, n, sample->input->name, first);
}

/* The draws of one input in one case; one a step. */
static assay_status see_draws(struct noise_check *check, struct noise_sample *sample, const struct fed_case *fed,
                              struct arena *arena, struct gate_reasons *reasons) {
  const assay_tensor *whole = case_input(fed->data, sample->input->name);
  int32_t before = reasons->count;
  for (int64_t step = 0; whole != NULL && step < fed->steps; step++) {
    assay_tensor draw = case_step(fed->data, fed->entry, whole, step);
    bool added = false;
    TRY(digest_add(&check->seen, digest_of(sample->input, &draw), &added));
    if (!added) {
      continue;
    }
    sample->draws++;
    TRY(keep_values(sample, &draw));
    if (reasons->count == before) { /* one step of a case is enough */
      TRY(say_constant(sample, fed, step, &draw, arena, reasons));
    }
  }
  return status_ok();
}

static assay_status note_digest(struct noise_check *check, uint64_t digest) {
  if (check->n_digests == check->n_capacity) {
    int32_t larger = check->n_capacity == 0 ? 16 : check->n_capacity * 2;
    uint64_t *digests = memory_resize(check->case_digests, (size_t)larger, sizeof *digests);
    if (digests == NULL) {
      return status_no_memory((size_t)larger * sizeof *digests);
    }
    check->case_digests = digests;
    check->n_capacity = larger;
  }
  check->case_digests[check->n_digests++] = digest;
  return status_ok();
}

/* The same values under two seeds of one case are one draw. */
static assay_status check_different(struct noise_check *check, const struct fed_case *fed, int32_t seed,
                                    struct arena *arena, struct gate_reasons *reasons) {
  uint64_t digest = 0;
  for (int32_t s = 0; s < check->n_samples; s++) {
    const struct case_array *array = find_array(fed->data, check->samples[s].input->name);
    if (array != NULL && array->seeded) {
      digest = digest * 31 + digest_of(check->samples[s].input, &array->tensor);
    }
  }
  check->n_digests = seed == 0 ? 0 : check->n_digests;
  for (int32_t k = 0; k < check->n_digests && digest != 0; k++) {
    if (check->case_digests[k] == digest) {
      return golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, -1,
                        "case '%s' stores the same noise as seed %d of it; one draw stored twice is not two seeds",
                        fed->entry->id, (int)k);
    }
  }
  return note_digest(check, digest);
}

assay_status noise_check_case(struct noise_check *check, const struct fed_case *fed, struct arena *arena,
                              struct gate_reasons *reasons) {
  const struct seed_place *places = check->plan->cases.places;
  int32_t seed = places != NULL ? places[fed->index].seed : 0;
  if (seed == 0) {
    TRY(check_seeds(check, fed, arena, reasons));
  }
  if (fed->data->n_seeds > 1) {
    TRY(check_different(check, fed, seed, arena, reasons));
  }
  for (int32_t s = 0; s < check->n_samples; s++) {
    TRY(see_draws(check, &check->samples[s], fed, arena, reasons));
  }
  return status_ok();
}

/* --- all of them ----------------------------------------------------------------------------------- */

struct moments {
  double mean, deviation, low, high, kolmogorov; /* kolmogorov: the largest distance of the two shares */
};

static struct moments moments_of(const struct contract_noise *noise, double *values, size_t n) {
  struct moments m = {0};
  double squares = 0;
  drift_sort(values, n);
  for (size_t i = 0; i < n; i++) {
    m.mean += values[i] / (double)n;
  }
  for (size_t i = 0; i < n; i++) {
    double share = noise_share_below(noise, values[i]);
    double above = (double)(i + 1) / (double)n - share, below = share - (double)i / (double)n;
    squares += (values[i] - m.mean) * (values[i] - m.mean);
    m.kolmogorov = fmax(m.kolmogorov, fmax(above, below));
  }
  m.deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
  m.low = values[0];
  m.high = values[n - 1];
  return m;
}

static const char *describe(const struct contract_noise *noise, struct arena *arena) {
  return noise->distribution == NOISE_NORMAL
             ? arena_format(arena, "normal with mean %.6g and standard deviation %.6g", noise->a, noise->b)
             : arena_format(arena, "uniform from %.6g to %.6g", noise->a, noise->b);
}

assay_status noise_judge(const struct contract_noise *noise, double *values, size_t n, struct arena *arena,
                         const char **sentence) {
  *sentence = NULL;
  if (n == 0) {
    return status_ok();
  }
  const char *said = NULL, *declared = describe(noise, arena);
  struct moments m = moments_of(noise, values, n);
  double mean = noise_mean(noise), deviation = noise_deviation(noise), root = sqrt((double)n);
  double slack = noise->distribution == NOISE_UNIFORM ? (noise->b - noise->a) * 0x1p-10 : INFINITY;
  bool off = true;
  if (declared == NULL) {
    return status_no_memory(0);
  }
  if (m.low == m.high && (n >= CONSTANT_AT_LEAST || m.low == 0.0)) {
    said = arena_format(arena, "all %zu values are %.9g", n, m.low);
  } else if (noise->distribution == NOISE_UNIFORM && !(m.low >= noise->a - slack && m.high <= noise->b + slack)) {
    said = arena_format(arena, "values lie between %.9g and %.9g", m.low, m.high);
  } else if (!(fabs(m.mean - mean) <= deviations_max * deviation / root)) {
    said = arena_format(arena, "the mean of %zu values is %.6g, more than %.0f standard errors (%.3g each) off", n,
                        m.mean, deviations_max, deviation / root);
  } else if (n > 1 && !(fabs(m.deviation / deviation - 1) <= deviations_max / sqrt(2.0 * (double)n))) {
    said = arena_format(arena,
                        "the standard deviation of %zu values is %.6g, more than %.0f standard errors (%.3g each) off",
                        n, m.deviation, deviations_max, deviation / sqrt(2.0 * (double)n));
  } else if (!(root * m.kolmogorov <= kolmogorov_max)) {
    said = arena_format(arena,
                        "their distribution is not that one: Kolmogorov-Smirnov distance %.3g over %zu values, %.3g "
                        "times 1/sqrt(n), where chance stays below %.0f",
                        m.kolmogorov, n, root * m.kolmogorov, kolmogorov_max);
  } else {
    off = false;
  }
  if (!off) {
    return status_ok();
  }
  *sentence = said != NULL ? arena_format(arena, "declared %s, but %s", declared, said) : NULL;
  return *sentence != NULL ? status_ok() : status_no_memory(0);
}

assay_status noise_check_end(struct noise_check *check, struct arena *arena, struct gate_reasons *reasons) {
  for (int32_t s = 0; s < check->n_samples; s++) {
    struct noise_sample *sample = &check->samples[s];
    const char *sentence = NULL;
    TRY(noise_judge(sample->input->noise, sample->values, sample->count, arena, &sentence));
    if (sentence != NULL) {
      TRY(gate_reason_say(arena, reasons, ASSAY_NOISE_UNLIKELY, "noise '%s' (%" PRId64 " different draws): %s",
                          sample->input->name, sample->draws, sentence));
    }
  }
  return status_ok();
}
