/* Ages, skew, and inputs that stand still or run back: see freshness.h. An age that is not known is never taken for one
 * that is fine; it is not looked at, and the report says how many were. */
#include "contract/freshness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contract/finite.h"

enum { PLACE_SIZE = 160 };
static void place_of(char out[PLACE_SIZE], const char *name) { snprintf(out, PLACE_SIZE, "input '%.120s'", name); }

/* --- one step ---------------------------------------------------------------- */

static assay_status check_future(const struct contract *contract, const struct fed_input *inputs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!value_is_nan(inputs[i].age_ms) && inputs[i].age_ms < -contract->future_ms) {
      char place[PLACE_SIZE];
      place_of(place, inputs[i].name);
      return status_make(ASSAY_INPUT_FUTURE, place,
                         "the stamp of input '%s' lies %.9g ms in the future; the contract allows %.9g ms",
                         inputs[i].name, -inputs[i].age_ms, contract->future_ms);
    }
  }
  return status_ok();
}

static assay_status check_skew(const struct contract *contract, const struct fed_input *inputs, size_t count) {
  const struct fed_input *oldest = NULL, *youngest = NULL;
  for (size_t i = 0; i < count && contract->max_skew_ms > 0; i++) {
    if (!value_is_nan(inputs[i].age_ms)) {
      oldest = oldest == NULL || inputs[i].age_ms > oldest->age_ms ? &inputs[i] : oldest;
      youngest = youngest == NULL || inputs[i].age_ms < youngest->age_ms ? &inputs[i] : youngest;
    }
  }
  if (oldest == NULL || oldest->age_ms - youngest->age_ms <= contract->max_skew_ms) {
    return status_ok();
  }
  char place[PLACE_SIZE];
  place_of(place, oldest->name);
  return status_make(ASSAY_INPUT_SKEW, place,
                     "input '%s' was measured %.9g ms before input '%s'; the contract allows %.9g ms between inputs",
                     oldest->name, oldest->age_ms - youngest->age_ms, youngest->name, contract->max_skew_ms);
}

assay_status contract_check_ages(const struct contract *contract, const struct fed_input *inputs, size_t count) {
  TRY(check_future(contract, inputs, count));
  return check_skew(contract, inputs, count);
}

double fed_oldest_ms(const struct fed_input *inputs, size_t count) {
  double oldest = (double)NAN;
  for (size_t i = 0; i < count; i++) {
    if (!value_is_nan(inputs[i].age_ms) && (value_is_nan(oldest) || inputs[i].age_ms > oldest)) {
      oldest = inputs[i].age_ms;
    }
  }
  return oldest;
}

/* --- step after step --------------------------------------------------------- */

/* FNV-1a over words of eight bytes, then over the rest. */
static uint64_t digest_of(const assay_tensor *tensor) {
  static const uint64_t prime = UINT64_C(0x100000001B3);
  uint64_t digest = UINT64_C(0xCBF29CE484222325) ^ (uint64_t)tensor->bytes;
  const unsigned char *bytes = tensor->data;
  size_t i = 0;
  for (; i + 8 <= tensor->bytes; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, sizeof word);
    digest = (digest ^ word) * prime;
    digest ^= digest >> 32; /* a product carries upwards alone */
  }
  for (; i < tensor->bytes; i++) {
    digest = (digest ^ bytes[i]) * prime;
  }
  return digest;
}

static double now_of(const struct fed_times *times) { return times != NULL ? times->now_ms : (double)NAN; }

static double time_of(const struct fed_times *times, int32_t i) {
  return times != NULL && times->times_ms != NULL ? times->times_ms[i] : (double)NAN;
}

const struct fed_input *find_fed(const struct fed_input *inputs, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (text_equal(inputs[i].name, name)) {
      return &inputs[i];
    }
  }
  return NULL;
}

static assay_status check_backwards(const struct contract_input *input, const struct input_watch *watch, double time_ms,
                                    double now_ms) {
  char place[PLACE_SIZE];
  place_of(place, input->name);
  if (watch->timed && time_ms < watch->time_ms) {
    return status_make(ASSAY_INPUT_BACKWARDS, place,
                       "the stamp of input '%s' is %.17g ms, before the %.17g ms of an earlier step", input->name,
                       time_ms, watch->time_ms);
  }
  if (watch->clocked && now_ms < watch->now_ms) {
    return status_make(ASSAY_INPUT_BACKWARDS, place, "the clock reads %.17g ms, before the %.17g ms of an earlier step",
                       now_ms, watch->now_ms);
  }
  return status_ok();
}

static void take_up(struct input_watch *watch, const assay_tensor *tensor, double time_ms, double now_ms) {
  uint64_t bytes = digest_of(tensor);
  watch->same_bytes = watch->seen && bytes == watch->bytes ? watch->same_bytes + 1 : 0;
  watch->bytes = bytes;
  watch->seen = true;
  if (!value_is_nan(time_ms)) {
    watch->same_time = watch->timed && time_ms == watch->time_ms ? watch->same_time + 1 : 0;
    watch->time_ms = time_ms;
    watch->timed = true;
  }
  if (!value_is_nan(now_ms)) {
    watch->now_ms = now_ms;
    watch->clocked = true;
  }
}

static assay_status check_frozen(const struct contract_input *input, const struct input_watch *watch) {
  bool by_time = watch->same_time >= input->frozen_after;
  if (input->frozen_after == 0 || (!by_time && watch->same_bytes < input->frozen_after)) {
    return status_ok();
  }
  char place[PLACE_SIZE];
  place_of(place, input->name);
  return status_make(ASSAY_INPUT_FROZEN, place,
                     "the %s of input '%s' %s not changed for %lld steps; the contract takes it for frozen after %d",
                     by_time ? "stamp" : "bytes", input->name, by_time ? "has" : "have",
                     (long long)(by_time ? watch->same_time : watch->same_bytes), (int)input->frozen_after);
}

assay_status contract_watch(const struct contract *contract, const struct fed_input *inputs, size_t count,
                            const struct fed_times *times, struct input_watch *watches) {
  assay_status refusal = status_ok();
  double now_ms = now_of(times);
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    if (assay_status_ok(refusal)) {
      refusal = check_backwards(&contract->inputs[i], &watches[i], time_of(times, i), now_ms);
    }
  }
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct fed_input *fed = find_fed(inputs, count, contract->inputs[i].name);
    if (fed == NULL) {
      continue; /* a state that is not fed */
    }
    take_up(&watches[i], fed->tensor, time_of(times, i), now_ms);
    if (assay_status_ok(refusal)) {
      refusal = check_frozen(&contract->inputs[i], &watches[i]);
    }
  }
  return refusal;
}
