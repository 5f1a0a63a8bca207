/* Gathering detections, case by case: see detection_list.h. It must never match what is not a number, nor leave out a
 * box that one side has. */
#include "gate/detection_list.h"

#include <math.h>
#include <string.h>

#include "core/list.h"
#include "core/memory.h"

assay_status detections_open(const struct plan *plan, struct arena *arena, struct detection_list **out,
                             int32_t *count) {
  struct detection_list *lists;
  ARENA_NEW(arena, lists, plan->n_outputs + 1);
  *count = 0;
  for (int32_t o = 0; o < plan->n_outputs; o++) {
    if (plan->outputs[o].output->detections != NULL) {
      lists[(*count)++] = (struct detection_list){.output = &plan->outputs[o]};
    }
  }
  *out = lists;
  return status_ok();
}

void detections_close(struct detection_list *lists, int32_t count) {
  for (int32_t d = 0; d < count; d++) {
    memory_free(lists[d].records);
    memory_free(lists[d].images);
  }
}

bool detections_seen(const struct detection_list *lists, int32_t count) {
  for (int32_t d = 0; d < count; d++) {
    if (lists[d].n_images > 0) {
      return true;
    }
  }
  return false;
}

static assay_status push_record(struct detection_list *list, const struct detection_record *record) {
  LIST_ROOM(list->records, list->n_records, list->records_capacity);
  list->records[list->n_records++] = *record;
  return status_ok();
}

static assay_status push_image(struct detection_list *list, const struct detection_image *image) {
  LIST_ROOM(list->images, list->n_images, list->images_capacity);
  list->images[list->n_images++] = *image;
  return status_ok();
}

/* --- one side ------------------------------------------------------------------------------- */

struct side {
  const assay_tensor *boxes, *scores, *count;
  double *values[3];
  struct detect_view view;
};

static void side_free(struct side *side) {
  for (int i = 0; i < 3; i++) {
    memory_free(side->values[i]);
  }
}

static assay_status decode(const struct contract_output *output, const assay_tensor *tensor,
                           const struct fed_inputs *measured, double **out) {
  *out = memory_alloc((size_t)tensor_count(tensor) + 1, sizeof **out);
  if (*out == NULL) {
    return status_no_memory((size_t)tensor_count(tensor) * sizeof **out);
  }
  contract_decode(output, tensor, measured, *out);
  return status_ok();
}

/* Which tensors there are; false where one is missing. */
static bool side_find(const struct contract_detections *spec, const struct answer *answer, int64_t step,
                      struct side *out) {
  *out = (struct side){.boxes = answer_find(answer, step, spec->boxes.output->name),
                       .scores = answer_find(answer, step, spec->scores.output->name),
                       .count = spec->count != NULL ? answer_find(answer, step, spec->count->name) : NULL};
  return out->boxes != NULL && out->scores != NULL && (spec->count == NULL || out->count != NULL);
}

static assay_status side_read(const struct contract_detections *spec, const struct fed_inputs *measured,
                              struct side *side) {
  TRY(decode(spec->boxes.output, side->boxes, measured, &side->values[0]));
  TRY(decode(spec->scores.output, side->scores, measured, &side->values[1]));
  if (side->count != NULL) {
    TRY(decode(spec->count, side->count, measured, &side->values[2]));
  }
  side->view = (struct detect_view){.boxes = side->values[0],
                                    .scores = side->values[1],
                                    .count = side->values[2],
                                    .boxes_rank = side->boxes->rank,
                                    .scores_rank = side->scores->rank,
                                    .boxes_dims = side->boxes->dims,
                                    .scores_dims = side->scores->dims,
                                    .n_count = side->count != NULL ? tensor_count(side->count) : 0};
  return status_ok();
}

static bool is_plain_float(assay_dtype dtype) { return dtype == ASSAY_FLOAT32 || dtype == ASSAY_FLOAT64; }

bool detections_rows_fit(const struct contract_output *output, const assay_tensor *expected, const assay_tensor *actual,
                         bool wide) {
  bool typed =
      expected->dtype == actual->dtype || (wide && is_plain_float(expected->dtype) && is_plain_float(actual->dtype));
  bool fits = output->rows_vary && typed && expected->rank == actual->rank && expected->rank == output->rank;
  for (int32_t d = 0; fits && d < expected->rank; d++) {
    fits = d == output->object_axis ? actual->dims[d] >= output->dims[d].min && actual->dims[d] <= output->dims[d].max
                                    : actual->dims[d] == expected->dims[d];
  }
  return fits;
}

static bool tensors_fit(const struct contract_output *output, const assay_tensor *expected,
                        const assay_tensor *actual) {
  bool ranked = expected->rank == output->rank && actual->rank == output->rank;
  return ranked &&
         (output->rows_vary ? detections_rows_fit(output, expected, actual, true) : shape_equal(expected, actual));
}

/* --- one image ---------------------------------------------------------------------------------- */

static void compare(struct detection_record *record) {
  const struct detection *a = &record->expected, *b = &record->actual;
  record->center = hypot(a->x - b->x, a->y - b->y);
  record->size = fmax(fabs(a->w - b->w), fabs(a->h - b->h));
  if (isnan(a->w - b->w) || isnan(a->h - b->h)) { /* fmax leaves NaN out */
    record->size = NAN;
  }
  record->iou = detection_iou(a, b);
  record->score = fabs(a->score - b->score);
  record->distance = fabs(a->distance - b->distance);
  record->has_actual = true;
}

/* What one image of both sides is made of, while it is compared. */
struct pairing {
  const struct contract_detections *spec;
  const struct side *expected_side, *actual_side;
  struct detection_set expected, actual;
  int64_t *partner;
  bool *taken;
  struct detection_record blank; /* case, step, image */
};

/* A missed one is held against the box that stands in its place, where places stay what they are. */
static assay_status record_expected(struct detection_list *list, const struct pairing *pairing, size_t i) {
  const struct contract_detections *spec = pairing->spec;
  struct detection_record record = pairing->blank;
  int64_t partner = pairing->partner[i];
  record.expected = pairing->expected.items[i];
  record.fate = partner >= 0 ? DETECTION_FOUND : DETECTION_MISSED;
  if (partner >= 0) {
    record.actual = pairing->actual.items[partner];
    compare(&record);
  } else if (!spec->boxes.output->rows_vary && spec->count == NULL) {
    record.actual = detect_at(spec, &pairing->actual_side->view, record.image, record.expected.object);
    compare(&record);
  }
  return push_record(list, &record);
}

static assay_status record_all(struct detection_list *list, const struct pairing *pairing) {
  for (size_t i = 0; i < pairing->expected.n; i++) {
    TRY(record_expected(list, pairing, i));
  }
  for (size_t j = 0; j < pairing->actual.n; j++) {
    if (!pairing->taken[j]) {
      struct detection_record record = pairing->blank;
      record.fate = DETECTION_FALSE;
      record.actual = pairing->actual.items[j];
      TRY(push_record(list, &record));
    }
  }
  return status_ok();
}

/* Oldest input that the case states the age of, and how long a call may take. */
static double age_of(const struct plan *plan, const struct fed_case *fed) {
  double age = NAN;
  for (int32_t i = 0; i < fed->entry->n_ages; i++) {
    age = isnan(age) || fed->entry->ages[i].ms > age ? fed->entry->ages[i].ms : age;
  }
  return age + plan->contract->p99_ms;
}

static assay_status record_image(struct detection_list *list, const struct plan *plan, const struct fed_case *fed,
                                 const struct pairing *pairing) {
  const struct detection_set *expected = &pairing->expected, *actual = &pairing->actual;
  enum detection_target kind = pairing->spec->target;
  int64_t from = kind != TARGET_NONE ? detections_target(kind, expected->items, expected->n) : -1;
  int64_t to = kind != TARGET_NONE ? detections_target(kind, actual->items, actual->n) : -1;
  struct detection_image image = {.case_index = pairing->blank.case_index,
                                  .step = pairing->blank.step,
                                  .image = pairing->blank.image,
                                  .nonfinite = actual->nonfinite,
                                  .abstained = expected->n == 0,
                                  .abstention_changed = (expected->n == 0) != (actual->n == 0),
                                  .target_expected = from >= 0 ? expected->items[from].object : -1,
                                  .target_actual = to >= 0 ? actual->items[to].object : -1,
                                  .margin = expected->margin,
                                  .age_ms = age_of(plan, fed)};
  image.target_changed = from >= 0 && to >= 0 && pairing->partner[from] != to;
  return push_image(list, &image);
}

static assay_status take_image(struct detection_list *list, const struct plan *plan, const struct fed_case *fed,
                               struct pairing *pairing) {
  const struct contract_detections *spec = pairing->spec;
  int64_t image = pairing->blank.image;
  TRY(detect(spec, &pairing->expected_side->view, image, &pairing->expected));
  TRY(detect(spec, &pairing->actual_side->view, image, &pairing->actual));
  pairing->partner = memory_alloc(pairing->expected.n + 1, sizeof *pairing->partner);
  pairing->taken = memory_alloc(pairing->actual.n + 1, sizeof *pairing->taken);
  if (pairing->partner == NULL || pairing->taken == NULL) {
    return status_no_memory(pairing->expected.n * sizeof *pairing->partner);
  }
  detections_match(pairing->expected.items, pairing->expected.n, pairing->actual.items, pairing->actual.n, spec->match,
                   pairing->partner, pairing->taken);
  TRY(record_all(list, pairing));
  return record_image(list, plan, fed, pairing);
}

static assay_status take_images(struct detection_list *list, const struct plan *plan, const struct fed_case *fed,
                                const struct side *expected, const struct side *actual, int64_t step) {
  const struct contract_detections *spec = list->output->output->detections;
  int64_t images = detect_images(&spec->boxes, expected->boxes->dims, expected->boxes->rank);
  int64_t scored = detect_images(&spec->scores, expected->scores->dims, expected->scores->rank);
  assay_status status = status_ok();
  for (int64_t image = 0; image < images && image < scored && assay_status_ok(status); image++) {
    struct pairing pairing = {.spec = spec,
                              .expected_side = expected,
                              .actual_side = actual,
                              .blank = {.case_index = fed->index,
                                        .step = fed->entry->sequence ? (int32_t)step : -1,
                                        .image = image,
                                        .center = NAN,
                                        .size = NAN,
                                        .iou = NAN,
                                        .score = NAN,
                                        .distance = NAN}};
    status = take_image(list, plan, fed, &pairing);
    memory_free(pairing.expected.items);
    memory_free(pairing.actual.items);
    memory_free(pairing.partner);
    memory_free(pairing.taken);
  }
  return status;
}

static assay_status take(struct detection_list *list, const struct plan *plan, const struct fed_case *fed,
                         const struct answer *expected, const struct answer *actual, int64_t step) {
  const struct contract_detections *spec = list->output->output->detections;
  const struct fed_inputs *measured = fed_case_measured(fed, step);
  struct side from, to;
  bool there = side_find(spec, expected, step, &from) && side_find(spec, actual, step, &to);
  if (!there || !tensors_fit(spec->boxes.output, from.boxes, to.boxes) ||
      !tensors_fit(spec->scores.output, from.scores, to.scores)) {
    return status_ok();
  }
  assay_status status = side_read(spec, measured, &from);
  if (assay_status_ok(status)) {
    status = side_read(spec, measured, &to);
  }
  if (assay_status_ok(status)) {
    status = take_images(list, plan, fed, &from, &to, step);
  }
  side_free(&from);
  side_free(&to);
  return status;
}

assay_status detections_take(struct detection_list *lists, int32_t count, const struct plan *plan,
                             const struct fed_case *fed, const struct answer *expected, const struct answer *actual,
                             int64_t step) {
  for (int32_t d = 0; d < count; d++) {
    TRY(take(&lists[d], plan, fed, expected, actual, step));
  }
  return status_ok();
}
