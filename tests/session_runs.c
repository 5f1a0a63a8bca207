/* See session_runs.h. */
#include "session_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "support.h"

void runs_open_model(struct runs *runs, struct proto *proto) {
  *runs = (struct runs){.proto = proto, .model = onnx_open(proto)};
}

void runs_open(struct runs *runs, struct proto *proto, struct session_options options) {
  runs_open_model(runs, proto);
  ASSERT_OK(session_open(runs->model, &options, &runs->session));
}

void runs_close(struct runs *runs) {
  session_close(runs->session);
  model_close(runs->model);
  proto_free(runs->proto);
}

void runs_feed(struct runs *runs, const char *name, assay_dtype dtype, const char *shape, const void *data) {
  size_t i = 0;
  while (i < runs->n_feeds && !text_equal(runs->feeds[i].name, name)) {
    i++;
  }
  assert_true(i < FEEDS_MAX);
  runs->n_feeds = i == runs->n_feeds ? i + 1 : runs->n_feeds;
  assay_tensor *tensor = &runs->tensors[i];
  *tensor = (assay_tensor){.dtype = dtype, .data = (void *)(uintptr_t)data};
  for (const char *at = shape; *at != '\0'; at += *at == ',' ? 1 : 0) {
    tensor->dims[tensor->rank++] = strtoll(at, (char **)(uintptr_t)&at, 10);
  }
  tensor->bytes = (size_t)tensor_count(tensor) * assay_dtype_bits(dtype) / 8;
  runs->feeds[i] = (struct named_tensor){name, tensor};
}

assay_status runs_try(struct runs *runs) {
  struct session_run run = {.inputs = runs->feeds, .n_inputs = runs->n_feeds};
  return session_run(runs->session, &run, &runs->outputs, &runs->n_outputs);
}

void runs_run(struct runs *runs) { ASSERT_OK(runs_try(runs)); }

const float *runs_floats(const struct runs *runs, size_t output) {
  assert_true(output < runs->n_outputs);
  assert_int_equal(runs->outputs[output].tensor->dtype, ASSAY_FLOAT32);
  return runs->outputs[output].tensor->data;
}

void runs_expect_floats(const struct runs *runs, size_t output, const float *values, size_t count) {
  const float *found = runs_floats(runs, output);
  assert_int_equal(tensor_count(runs->outputs[output].tensor), count);
  for (size_t i = 0; i < count; i++) {
    bool equal = isnan(values[i]) ? isnan(found[i]) : memcmp(&found[i], &values[i], sizeof *found) == 0;
    if (!equal) {
      print_error("output %zu, element %zu: found %.9g, expected %.9g\n", output, i, (double)found[i],
                  (double)values[i]);
      fail();
    }
  }
}
