/* The fixture of the operators' tests. It must not know any operator. */
#include "op_fixture.h"

#include <stdlib.h>

#include "core/memory.h"
#include "model/graph.h"
#include "tensor/floatfmt.h"

enum { MAX_INPUTS = 64, MAX_OUTPUTS = 32, MAX_ATTRIBUTES = 24 };

static const int thread_counts[] = {1, 2, 3, 7};

struct op_case {
  struct arena arena; /* of the case */
  struct node node;
  struct attribute attributes[MAX_ATTRIBUTES];
  int32_t input_numbers[MAX_INPUTS], output_numbers[MAX_OUTPUTS];
  assay_tensor inputs[MAX_INPUTS]; /* UNDEFINED where absent */
  bool computed, rounding;
  assay_tensor outputs[MAX_OUTPUTS];
};

/* One way of computing: where its memory lives. */
struct way {
  struct op_case *c;
  enum kernel_level level;
  int threads;
  bool constants;
  struct arena arena;
  assay_tensor outputs[MAX_OUTPUTS];
};

struct op_case *op_case_new(const char *op, const char *domain, int64_t opset) {
  struct op_case *c = memory_alloc(1, sizeof *c);
  assert_non_null(c);
  c->node = (struct node){.name = "",
                          .label = "node_under_test",
                          .op_type = op,
                          .domain = domain,
                          .overload = "",
                          .opset = opset,
                          .n_outputs = 1,
                          .inputs = c->input_numbers,
                          .outputs = c->output_numbers,
                          .attributes = c->attributes};
  for (int i = 0; i < MAX_OUTPUTS; i++) {
    c->output_numbers[i] = MAX_INPUTS + i;
  }
  return c;
}

void op_case_free(struct op_case *c) {
  arena_free(&c->arena);
  memory_free(c);
}

static void *copied(struct op_case *c, const void *bytes, size_t n) {
  void *copy = arena_alloc(&c->arena, n + 1, 1);
  assert_non_null(copy);
  if (n > 0) {
    memcpy(copy, bytes, n);
  }
  c->computed = false;
  return copy;
}

static int32_t next_input(struct op_case *c) {
  assert_true(c->node.n_inputs < MAX_INPUTS);
  int32_t i = c->node.n_inputs++;
  c->computed = false;
  c->input_numbers[i] = i;
  c->inputs[i] = (assay_tensor){.dtype = ASSAY_UNDEFINED};
  return i;
}

/* The tensor of these values; fails when their number does not fit. */
static assay_tensor made(struct op_case *c, assay_dtype dtype, const int64_t *dims, int rank, const void *values,
                         size_t bytes) {
  assay_tensor t = {.dtype = dtype, .rank = rank};
  int64_t count = 1;
  for (int i = 0; i < rank; i++) {
    t.dims[i] = dims[i];
    count *= dims[i];
  }
  size_t expected = ((size_t)count * assay_dtype_bits(dtype) + 7) / 8;
  if (expected != bytes) {
    print_error("the test gives %zu bytes for a tensor of %zu\n", bytes, expected);
    fail();
  }
  t.data = copied(c, values, bytes);
  t.bytes = bytes;
  return t;
}

void op_case_input(struct op_case *c, assay_dtype dtype, const int64_t *dims, int rank, const void *values,
                   size_t bytes) {
  int32_t i = next_input(c);
  c->inputs[i] = made(c, dtype, dims, rank, values, bytes);
}

void op_case_absent(struct op_case *c) { c->input_numbers[next_input(c)] = -1; }

void op_case_outputs(struct op_case *c, int n) {
  assert_true(n <= MAX_OUTPUTS);
  c->node.n_outputs = n;
  c->computed = false;
}

void op_case_clear_inputs(struct op_case *c) {
  c->node.n_inputs = 0;
  c->computed = false;
}

void op_case_round_operands(struct op_case *c) {
  c->rounding = true;
  c->computed = false;
}

static void round_to_tf32(struct op_run *run, float *values, int64_t count) {
  (void)run;
  for (int64_t i = 0; i < count; i++) {
    values[i] = tf32_round(values[i]);
  }
}

static struct attribute *next_attribute(struct op_case *c, const char *name, enum attribute_kind kind) {
  for (int32_t i = 0; i < c->node.n_attributes; i++) {
    if (strcmp(c->attributes[i].name, name) == 0) {
      c->attributes[i] = (struct attribute){.name = name, .kind = kind};
      c->computed = false;
      return &c->attributes[i];
    }
  }
  assert_true(c->node.n_attributes < MAX_ATTRIBUTES);
  struct attribute *a = &c->attributes[c->node.n_attributes++];
  *a = (struct attribute){.name = name, .kind = kind};
  c->computed = false;
  return a;
}

void op_case_int(struct op_case *c, const char *name, int64_t value) {
  next_attribute(c, name, ATTRIBUTE_INT)->i = value;
}

void op_case_float(struct op_case *c, const char *name, float value) {
  next_attribute(c, name, ATTRIBUTE_FLOAT)->f = value;
}

void op_case_string(struct op_case *c, const char *name, const char *value) {
  next_attribute(c, name, ATTRIBUTE_STRING)->s = (assay_text){value, strlen(value)};
}

void op_case_ints(struct op_case *c, const char *name, const int64_t *values, int n) {
  struct attribute *a = next_attribute(c, name, ATTRIBUTE_INTS);
  a->ints = copied(c, values, (size_t)n * sizeof *values);
  a->count = n;
}

void op_case_floats(struct op_case *c, const char *name, const float *values, int n) {
  struct attribute *a = next_attribute(c, name, ATTRIBUTE_FLOATS);
  a->floats = copied(c, values, (size_t)n * sizeof *values);
  a->count = n;
}

void op_case_strings(struct op_case *c, const char *name, const char *const *values, int n) {
  struct attribute *a = next_attribute(c, name, ATTRIBUTE_STRINGS);
  assay_text *texts = arena_alloc(&c->arena, (size_t)n + 1, sizeof *texts);
  assert_non_null(texts);
  for (int i = 0; i < n; i++) {
    texts[i] = (assay_text){values[i], strlen(values[i])};
  }
  a->strings = texts;
  a->count = n;
}

void op_case_tensor(struct op_case *c, const char *name, const assay_tensor *tensor) {
  struct attribute *a = next_attribute(c, name, ATTRIBUTE_TENSOR);
  assay_tensor *copy = copied(c, tensor, sizeof *tensor);
  copy->data = copied(c, tensor->data, tensor->bytes);
  a->tensors = copy;
  a->count = 1;
}

/* Memory of a way, full of bytes that are NaN in every float and large in every integer. */
static void *garbage(struct way *way, size_t bytes) {
  unsigned char *block = arena_alloc(&way->arena, bytes + 64, 1);
  if (block == NULL) {
    return NULL;
  }
  block += (64 - (uintptr_t)block % 64) % 64;
  memset(block, 0xFF, bytes);
  return block;
}

static assay_status shaped(struct way *way, int32_t output, assay_dtype dtype, const int64_t *dims, int rank) {
  assay_tensor *t = &way->outputs[output];
  int64_t count;
  size_t bytes;
  if (!shape_count(dims, rank, &count) || !dtype_bytes(dtype, count, &bytes)) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "output %d is too large", (int)output);
  }
  *t = (assay_tensor){.dtype = dtype, .rank = rank, .bytes = bytes, .data = garbage(way, bytes)};
  for (int i = 0; i < rank; i++) {
    t->dims[i] = dims[i];
  }
  return t->data == NULL ? status_no_memory(bytes) : status_ok();
}

static assay_status way_resize(struct op_run *run, int32_t output, assay_dtype dtype, const int64_t *dims, int rank) {
  return shaped(run->engine, output, dtype, dims, rank);
}

static assay_status way_scratch(struct op_run *run, size_t bytes, void **out) {
  *out = garbage(run->engine, bytes);
  return *out == NULL ? status_no_memory(bytes) : status_ok();
}

/* What inferring knows of the inputs. */
static void know_inputs(struct way *way, struct infer_value *values, const struct infer_value **known) {
  struct op_case *c = way->c;
  for (int32_t i = 0; i < c->node.n_inputs; i++) {
    const assay_tensor *t = &c->inputs[i];
    known[i] = NULL;
    if (c->input_numbers[i] < 0) {
      continue;
    }
    values[i] = (struct infer_value){.type = {.kind = TYPE_TENSOR, .dtype = t->dtype, .rank = t->rank}};
    for (int32_t d = 0; d < t->rank; d++) {
      values[i].type.dims[d].value = t->dims[d];
    }
    values[i].constant = way->constants ? t : NULL;
    known[i] = &values[i];
  }
}

static assay_status set_outputs(struct way *way, const struct infer_value *inferred) {
  for (int32_t i = 0; i < way->c->node.n_outputs; i++) {
    const struct value_type *type = &inferred[i].type;
    int64_t dims[ASSAY_RANK_MAX];
    bool known = type->kind == TYPE_TENSOR && type->dtype != ASSAY_UNDEFINED && type->rank >= 0;
    for (int32_t d = 0; known && d < type->rank; d++) {
      dims[d] = type->dims[d].value;
      known = dims[d] >= 0;
    }
    way->outputs[i] = (assay_tensor){.dtype = type->dtype};
    if (known) {
      TRY(shaped(way, i, type->dtype, dims, type->rank));
    }
  }
  return status_ok();
}

static assay_status compute(struct way *way, struct pool *pool) {
  struct op_case *c = way->c;
  const struct op *op;
  TRY(op_find(&c->node, &op));
  struct infer_value *values;
  ARENA_NEW(&way->arena, values, MAX_INPUTS);
  struct infer_value *inferred;
  ARENA_NEW(&way->arena, inferred, MAX_OUTPUTS);
  const struct infer_value *known[MAX_INPUTS];
  know_inputs(way, values, known);
  struct infer infer = {.node = &c->node, .inputs = known, .outputs = inferred, .arena = &way->arena};
  TRY(op->schema.infer(&infer));
  TRY(set_outputs(way, inferred));
  const struct kernels *kernels = kernels_at(way->level);
  struct op_prepare prepare = {.op = op,
                               .node = &c->node,
                               .inputs = known,
                               .outputs = inferred,
                               .arena = &way->arena,
                               .kernels = kernels,
                               .threads = way->threads};
  TRY(op->prepare(&prepare));
  const assay_tensor *inputs[MAX_INPUTS];
  assay_tensor *outputs[MAX_OUTPUTS];
  for (int32_t i = 0; i < c->node.n_inputs; i++) {
    bool packed = (prepare.packed >> i & 1) != 0;
    assert_false(packed && !way->constants);
    inputs[i] = c->input_numbers[i] < 0 ? NULL : &c->inputs[i];
    if (packed) { /* the plan may drop it: its type stays, its values go */
      assay_tensor *dropped = arena_alloc(&way->arena, 1, sizeof *dropped);
      assert_non_null(dropped);
      *dropped = c->inputs[i];
      dropped->data = NULL;
      inputs[i] = dropped;
    }
  }
  for (int32_t i = 0; i < c->node.n_outputs; i++) {
    outputs[i] = c->output_numbers[i] < 0 ? NULL : &way->outputs[i];
  }
  struct op_run run = {.op = op,
                       .node = &c->node,
                       .state = prepare.state,
                       .inputs = inputs,
                       .outputs = outputs,
                       .workspace = garbage(way, prepare.workspace),
                       .workspace_bytes = prepare.workspace,
                       .kernels = kernels,
                       .pool = pool,
                       .engine = way,
                       .resize = way_resize,
                       .scratch = way_scratch,
                       .round_operands = c->rounding ? round_to_tf32 : NULL};
  return op->run(&run);
}

static assay_status compute_with_pool(struct way *way) {
  struct pool *pool = NULL;
  TRY(pool_new(way->threads, &pool));
  assay_status status = compute(way, pool);
  pool_free(pool);
  return status;
}

static bool both_nan(const assay_tensor *a, const assay_tensor *b, int64_t i) {
  return dtype_is_float(a->dtype) && isnan(tensor_get(a, i)) && isnan(tensor_get(b, i));
}

/* The same bits; which NaN it is does not count, since it becomes one NaN where it leaves the engine. */
static void same_bits(const struct way *way, const assay_tensor *a, const assay_tensor *b, int output) {
  bool same = a->dtype == b->dtype && a->rank == b->rank && a->bytes == b->bytes &&
              memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
  if (!same) {
    print_error("output %d at level %s, %d threads, %s: another type or shape than at base with one thread\n", output,
                kernel_level_name(way->level), way->threads, way->constants ? "constants" : "no constants");
    fail();
  }
  for (size_t i = 0; i < a->bytes; i++) {
    if (((const unsigned char *)a->data)[i] != ((const unsigned char *)b->data)[i]) {
      int64_t element = (int64_t)(i * 8 / assay_dtype_bits(a->dtype));
      if (both_nan(a, b, element)) {
        continue;
      }
      print_error("output %d at level %s, %d threads, %s: element %lld is %.17g, at base with one thread %.17g\n",
                  output, kernel_level_name(way->level), way->threads, way->constants ? "constants" : "no constants",
                  (long long)element, tensor_get(b, element), tensor_get(a, element));
      fail();
    }
  }
}

/* Keeps the outputs of the first way; compares the others with them. */
static void keep_or_compare(struct way *way) {
  struct op_case *c = way->c;
  for (int32_t i = 0; i < c->node.n_outputs; i++) {
    if (c->output_numbers[i] < 0) {
      continue;
    }
    if (!c->computed) {
      c->outputs[i] = way->outputs[i];
      c->outputs[i].data = copied(c, way->outputs[i].data, way->outputs[i].bytes);
    } else {
      same_bits(way, &c->outputs[i], &way->outputs[i], i);
    }
  }
}

static void compute_all(struct op_case *c) {
  if (c->computed) {
    return;
  }
  for (int level = KERNEL_LEVEL_BASE; level < KERNEL_LEVEL_COUNT; level++) {
    if (kernels_at((enum kernel_level)level) == NULL) {
      continue;
    }
    for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
      for (int constants = 0; constants < 2; constants++) {
        struct way way = {
            .c = c, .level = (enum kernel_level)level, .threads = thread_counts[t], .constants = constants != 0};
        ASSERT_OK(compute_with_pool(&way));
        keep_or_compare(&way);
        arena_free(&way.arena);
        c->computed = true;
      }
    }
  }
}

const assay_tensor *op_case_output(struct op_case *c, int output) {
  compute_all(c);
  return &c->outputs[output];
}

static const assay_tensor *checked_shape(struct op_case *c, int output, const assay_tensor *expected) {
  const assay_tensor *actual = op_case_output(c, output);
  struct text a = {0}, e = {0};
  tensor_describe(actual, &a);
  tensor_describe(expected, &e);
  bool same = strcmp(text_string(&a), text_string(&e)) == 0;
  if (!same) {
    print_error("output %d is %s, expected %s\n", output, text_string(&a), text_string(&e));
  }
  text_free(&a);
  text_free(&e);
  assert_true(same);
  return actual;
}

void op_case_expect(struct op_case *c, int output, assay_dtype dtype, const int64_t *dims, int rank, const void *values,
                    size_t bytes) {
  compute_all(c);
  assay_tensor expected = {.dtype = dtype, .rank = rank, .bytes = bytes};
  for (int i = 0; i < rank; i++) {
    expected.dims[i] = dims[i];
  }
  expected.data = (void *)(uintptr_t)values;
  const assay_tensor *actual = checked_shape(c, output, &expected);
  assert_int_equal(actual->bytes, bytes);
  size_t bits = assay_dtype_bits(dtype), size = bits / 8;
  if (bits < 8) {
    assert_memory_equal(actual->data, values, bytes);
    return;
  }
  for (int64_t i = 0; i < (int64_t)(bytes / size); i++) {
    if (memcmp((const char *)actual->data + (size_t)i * size, (const char *)values + (size_t)i * size, size) != 0 &&
        !both_nan(actual, &expected, i)) {
      print_error("output %d, element %lld: expected %.17g, got %.17g\n", output, (long long)i,
                  tensor_get(&expected, i), tensor_get(actual, i));
      fail();
    }
  }
}

void op_case_expect_near(struct op_case *c, int output, assay_dtype dtype, const int64_t *dims, int rank,
                         const void *values, size_t bytes, double absolute, double relative) {
  assay_tensor expected = {.dtype = dtype, .rank = rank, .bytes = bytes, .data = (void *)(uintptr_t)values};
  for (int i = 0; i < rank; i++) {
    expected.dims[i] = dims[i];
  }
  const assay_tensor *actual = checked_shape(c, output, &expected);
  assert_int_equal(actual->bytes, bytes);
  for (int64_t i = 0; i < tensor_count(&expected); i++) {
    double e = tensor_get(&expected, i), a = tensor_get(actual, i);
    bool near = isnan(e) ? isnan(a) : e == a || fabs(a - e) <= absolute + relative * fabs(e);
    if (!near || (isinf(e) && e != a)) {
      print_error("output %d, element %lld: expected %.17g, got %.17g\n", output, (long long)i, e, a);
      fail();
    }
  }
}

void op_case_fails(struct op_case *c, assay_code code, const char *part) {
  for (int constants = 0; constants < 2; constants++) {
    struct way way = {.c = c, .level = KERNEL_LEVEL_BASE, .threads = 1, .constants = constants != 0};
    ASSERT_FAILS(compute_with_pool(&way), code, part);
    arena_free(&way.arena);
  }
}

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  uint32_t x = *seed;
  x ^= x >> 16;
  x *= 0x7feb352du;
  return x ^ x >> 15;
}

int64_t op_random_int(uint32_t *seed, int64_t low, int64_t high) {
  return low + (int64_t)(next_random(seed) % (uint64_t)(high - low + 1));
}

void op_fill_f64(double *values, int64_t n, uint32_t seed) {
  for (int64_t i = 0; i < n; i++) {
    values[i] = (double)((int32_t)(next_random(&seed) >> 11) - (1 << 20)) / (double)(1 << 20);
  }
}

void op_fill_f32(float *values, int64_t n, uint32_t seed) {
  for (int64_t i = 0; i < n; i++) {
    values[i] = (float)((int32_t)(next_random(&seed) >> 11) - (1 << 20)) / (float)(1 << 20);
  }
}
