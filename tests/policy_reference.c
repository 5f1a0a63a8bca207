/* See policy_reference.h. */
#include "policy_reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "shared_files.h"
#include "support.h"
#include "tensor/tensor.h"

json_t *policy_reference_load(const char **folder) {
  static char copy[4096], file[4200];
  const char *path = shared_path("policies");
  if (path == NULL) {
    skip();
  }
  snprintf(copy, sizeof copy, "%s", path);
  snprintf(file, sizeof file, "%s/REFERENCE.jsonl", copy);
  *folder = copy;
  FILE *stream = fopen(file, "r");
  assert_non_null(stream);
  json_t *all = json_array();
  json_error_t error;
  json_t *line;
  while ((line = json_loadf(stream, JSON_DISABLE_EOF_CHECK, &error)) != NULL) {
    json_array_append_new(all, line);
  }
  fclose(stream);
  assert_int_equal(json_array_size(all), 23);
  return all;
}

/* The README's formula: element j of input k. */
static double ramp(int64_t j, int64_t k) { return (double)((j * 37 + 11 * (k + 1)) % 101 - 50) / 64; }

void policy_reference_fill(assay_tensor *tensor, bool zeros, int64_t k) {
  for (int64_t j = 0; j < tensor_count(tensor); j++) {
    double value = zeros ? 0 : ramp(j, k);
    if (tensor->dtype == ASSAY_BOOL) {
      value = !zeros && ((j * 37 + 11 * (k + 1)) % 101 - 50) % 3 == 0 ? 1 : 0;
    }
    tensor_set(tensor, j, tensor->dtype == ASSAY_FLOAT32 ? value : trunc(value));
  }
}

double policy_reference_distance(const assay_tensor *found, json_t *values, double scale) {
  double worst = 0;
  for (size_t i = 0; i < json_array_size(values); i++) {
    double difference = fabs(tensor_get(found, (int64_t)i) - json_number_value(json_array_get(values, i))) / scale;
    worst = difference <= worst ? worst : (isnan(difference) ? INFINITY : difference);
  }
  return worst;
}
