/* The refusals of invalid inputs: each code, NaN and emptiness first, and the order among several. */
#include <math.h>
#include <string.h>

#include "contract/apply.h"
#include "support.h"

static const char text[] =
    "assay: 1\npolicy: p\nmodel: m.onnx\n"
    "inputs:\n"
    "  - {name: img, dtype: float32, shape: [1, 3, 2, 2], layout: NCHW, color: RGB, legal: [0, 1], max_age_ms: 100}\n"
    "  - {name: obs, dtype: float32, shape: [1, {min: 0, opt: 2, max: 4}, 2], legal: [-3, 3], history: {axis: 1, max: "
    "3}}\n"
    "  - {name: ids, dtype: int64, shape: [2]}\n"
    "state: [{input: h, output: h2, initial: zeros, reset: episode, dtype: float32, shape: [1]}]\n"
    "outputs: [{name: y, dtype: float32, shape: [1], components: [{name: a, unit: rad}]}]\n";

/* Valid inputs, to be spoilt one by one. */
struct feed {
  float img[12], obs[16], h[1];
  int64_t ids[2];
  assay_tensor tensors[4];
  struct fed_input inputs[5];
  size_t count;
};

static assay_tensor tensor_of(assay_dtype dtype, int32_t rank, const int64_t *dims, void *data) {
  assay_tensor tensor = {.dtype = dtype, .rank = rank, .data = data};
  for (int32_t i = 0; i < rank; i++) {
    tensor.dims[i] = dims[i];
  }
  return tensor;
}

static void fill(struct feed *feed) {
  *feed = (struct feed){.count = 3};
  feed->tensors[0] = tensor_of(ASSAY_FLOAT32, 4, (int64_t[]){1, 3, 2, 2}, feed->img);
  feed->tensors[1] = tensor_of(ASSAY_FLOAT32, 3, (int64_t[]){1, 2, 2}, feed->obs);
  feed->tensors[2] = tensor_of(ASSAY_INT64, 1, (int64_t[]){2}, feed->ids);
  feed->tensors[3] = tensor_of(ASSAY_FLOAT32, 1, (int64_t[]){1}, feed->h);
  feed->inputs[0] = (struct fed_input){"ids", &feed->tensors[2], (double)NAN};
  feed->inputs[1] = (struct fed_input){"img", &feed->tensors[0], 100};
  feed->inputs[2] = (struct fed_input){"obs", &feed->tensors[1], 1e9};
  feed->inputs[3] = (struct fed_input){"h", &feed->tensors[3], (double)NAN};
}

static struct contract *contract;
static struct feed feed;

static int setup(void **state) {
  (void)state;
  ASSERT_OK(contract_parse(text, sizeof text - 1, "c.yaml", ".", &contract));
  fill(&feed);
  return 0;
}
static int teardown(void **state) {
  (void)state;
  contract_free(contract);
  return 0;
}

#define VALID() ASSERT_OK(contract_validate(contract, feed.inputs, feed.count))
#define REFUSED(code, part)                                                             \
  do {                                                                                  \
    ASSERT_FAILS(contract_validate(contract, feed.inputs, feed.count), (code), (part)); \
    fill(&feed);                                                                        \
  } while (0)

static void refuses_nan_and_infinity_anywhere(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    feed.obs[i] = NAN;
    REFUSED(ASSAY_INPUT_NAN, "input 'obs' holds NaN at [0,");
    feed.obs[i] = -NAN;
    REFUSED(ASSAY_INPUT_NAN, "NaN");
    feed.obs[i] = INFINITY;
    REFUSED(ASSAY_INPUT_INF, "infinity");
    feed.obs[i] = -INFINITY;
    REFUSED(ASSAY_INPUT_INF, "infinity");
  }
  feed.obs[0] = INFINITY, feed.obs[3] = NAN;
  REFUSED(ASSAY_INPUT_NAN, "[0,1,1]");
  feed.count = 4;
  feed.h[0] = NAN;
  REFUSED(ASSAY_INPUT_NAN, "input 'h'");
}

static void takes_what_is_valid(void **state) {
  (void)state;
  VALID();
  feed.count = 4; /* a state may be fed */
  VALID();
  feed.tensors[1].dims[1] = 0; /* an empty history is within its bounds */
  VALID();
  feed.tensors[1].dims[1] = 3;
  feed.obs[5] = -3, feed.img[3] = 1; /* the bounds are legal */
  VALID();
  feed.inputs[1].age_ms = (double)NAN;
  VALID();
}

static void refuses_each_kind(void **state) {
  (void)state;
  feed.count = 2;
  REFUSED(ASSAY_INPUT_MISSING, "input 'obs' was not given");
  feed.inputs[3].name = "wrist", feed.count = 4;
  REFUSED(ASSAY_INPUT_EXTRA, "input 'wrist'");
  feed.inputs[3].name = "img", feed.count = 4;
  REFUSED(ASSAY_INPUT_EXTRA, "twice");
  feed.tensors[0].dtype = ASSAY_UINT8;
  REFUSED(ASSAY_INPUT_DTYPE, "is uint8, but the contract says float32");
  feed.tensors[0].dims[3] = 3;
  REFUSED(ASSAY_INPUT_SHAPE, "[1,3,2,3], but the contract says [1,3,2,2]");
  feed.tensors[0].rank = 3;
  REFUSED(ASSAY_INPUT_SHAPE, "[1,3,2]");
  feed.tensors[1].dims[2] = 3;
  REFUSED(ASSAY_INPUT_SHAPE, "[1,2,3], but the contract says [1,0..4,2]");
  feed.tensors[1].dims[1] = 4;
  REFUSED(ASSAY_INPUT_HISTORY, "carries 4 steps of history, but the contract says at most 3");
  feed.tensors[1].dims[1] = 5;
  REFUSED(ASSAY_INPUT_HISTORY, "carries 5 steps");
  feed.obs[1] = 3.0000002f;
  REFUSED(ASSAY_INPUT_RANGE, "3.00000024 at [0,0,1], outside the legal [-3, 3]");
  feed.img[0] = 1.5f;
  REFUSED(ASSAY_INPUT_RANGE, "1.5");
  feed.img[0] = -0.5f;
  REFUSED(ASSAY_INPUT_RANGE, "-0.5");
  feed.img[11] = 255;
  REFUSED(ASSAY_INPUT_COLOR, "255 at [0,2,1,1]");
  feed.img[0] = 1.5f, feed.img[11] = 255; /* one far value makes it a matter of scale */
  REFUSED(ASSAY_INPUT_COLOR, "another scale");
  feed.obs[0] = 255; /* no image */
  REFUSED(ASSAY_INPUT_RANGE, "255");
  feed.inputs[1].age_ms = 100.001;
  REFUSED(ASSAY_INPUT_STALE, "100.001 ms old, but the contract allows 100");
  feed.inputs[1].age_ms = (double)INFINITY;
  REFUSED(ASSAY_INPUT_STALE, "inf");
  feed.inputs[1].age_ms = -1;
  REFUSED(ASSAY_INPUT_FUTURE, "lies 1 ms in the future");
}

/* Several faults at once: the first kind in the documented order is the answer. */
static void answers_in_order(void **state) {
  (void)state;
  static const assay_code order[] = {ASSAY_INPUT_EXTRA,  ASSAY_INPUT_DTYPE, ASSAY_INPUT_SHAPE, ASSAY_INPUT_NAN,
                                     ASSAY_INPUT_INF,    ASSAY_INPUT_RANGE, ASSAY_INPUT_COLOR, ASSAY_INPUT_STALE,
                                     ASSAY_INPUT_FUTURE, ASSAY_INPUT_SKEW};
  for (size_t first = 0; first < sizeof order / sizeof *order; first++) {
    fill(&feed);
    for (size_t i = first; i < sizeof order / sizeof *order; i++) {
      switch (order[i]) {
        case ASSAY_INPUT_EXTRA:
          feed.inputs[3].name = "x", feed.count = 4;
          break;
        case ASSAY_INPUT_DTYPE:
          feed.tensors[2].dtype = ASSAY_INT32;
          break;
        case ASSAY_INPUT_SHAPE:
          feed.tensors[2].dims[0] = 1;
          break;
        case ASSAY_INPUT_NAN:
          feed.obs[0] = NAN;
          break;
        case ASSAY_INPUT_INF:
          feed.obs[1] = INFINITY;
          break;
        case ASSAY_INPUT_RANGE:
          feed.obs[2] = 4;
          break;
        case ASSAY_INPUT_COLOR:
          feed.img[0] = 200;
          break;
        case ASSAY_INPUT_FUTURE:
          feed.inputs[2].age_ms = -1;
          break;
        case ASSAY_INPUT_SKEW: /* obs is 1e9 ms old */
          contract->max_skew_ms = 30;
          break;
        default:
          feed.inputs[1].age_ms = 101;
          break;
      }
    }
    assay_status status = contract_validate(contract, feed.inputs, feed.count);
    assert_string_equal(assay_code_name(status.code), assay_code_name(order[first]));
    assay_status_clear(&status);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(refuses_nan_and_infinity_anywhere),
      TEST(takes_what_is_valid),
      TEST(refuses_each_kind),
      TEST(answers_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
