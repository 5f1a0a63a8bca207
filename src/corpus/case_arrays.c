/* One .npz into the arrays of a case. An array whose group is unknown, a repeat that does not match its
 * output and bits that are none of the declared type are errors; nothing is skipped. */
#include "corpus/case_arrays.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "corpus/case_seeds.h"
#include "tensor/npz.h"

enum { REPEAT_LARGEST = 9999 };

static const char *const group_prefixes[GROUP_COUNT] = {"inputs/",  "outputs/", "outputs64/", "raw/",
                                                        "decoded/", "taps/",    "repeats/"};
static const char *const group_names[GROUP_COUNT] = {"inputs",  "outputs", "outputs64", "raw",
                                                     "decoded", "taps",    "repeats"};

enum array_group array_group_of(const char *name, const char **rest) {
  for (int g = 0; g < GROUP_COUNT; g++) {
    if (text_starts_with(name, group_prefixes[g])) {
      *rest = name + strlen(group_prefixes[g]);
      return (enum array_group)g;
    }
  }
  *rest = name;
  return GROUP_COUNT;
}

const char *array_group_name(enum array_group group) { return group_names[group]; }

bool dtype_is_stored_as_bits(assay_dtype dtype) {
  switch (dtype) {
    case ASSAY_BFLOAT16:
    case ASSAY_FLOAT8E4M3FN:
    case ASSAY_FLOAT8E4M3FNUZ:
    case ASSAY_FLOAT8E5M2:
    case ASSAY_FLOAT8E5M2FNUZ:
    case ASSAY_FLOAT8E8M0:
    case ASSAY_UINT4:
    case ASSAY_INT4:
    case ASSAY_FLOAT4E2M1:
    case ASSAY_UINT2:
    case ASSAY_INT2:
      return true;
    default:
      return false;
  }
}

static int compare_dtypes(const void *a, const void *b) {
  return strcmp(((const struct corpus_dtype *)a)->array, ((const struct corpus_dtype *)b)->array);
}

assay_status dtypes_parse(const struct yaml_file *file, const struct yaml *node, struct arena *arena,
                          const struct corpus_dtype **dtypes, int32_t *count) {
  *dtypes = NULL;
  *count = 0;
  if (node == NULL) {
    return status_ok();
  }
  if (node->kind != YAML_MAPPING) {
    return yaml_error(file, node->mark, "dtypes must be a mapping of arrays to types, such as {inputs/x: bfloat16}");
  }
  struct corpus_dtype *list;
  ARENA_NEW(arena, list, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    const char *rest, *name;
    enum array_group group = array_group_of(node->keys[i], &rest);
    if (group == GROUP_COUNT || group == GROUP_OUTPUTS64 || group == GROUP_REPEATS || *rest == '\0') {
      return yaml_error(file, node->key_marks[i],
                        "dtypes names '%s'; an array is inputs/NAME, outputs/NAME, raw/NAME or decoded/NAME (repeats "
                        "have the type of their output)",
                        node->keys[i]);
    }
    TRY(yaml_string(file, &node->items[i], "a dtype", &name));
    list[i] = (struct corpus_dtype){node->keys[i], assay_dtype_find(name)};
    if (!dtype_is_stored_as_bits(list[i].dtype)) {
      return yaml_error(
          file, node->items[i].mark,
          "the dtype of '%s' is '%s'; dtypes is for types that NumPy lacks, such as bfloat16, float8e4m3fn "
          "or int4, and every other array carries its own type",
          node->keys[i], name);
    }
  }
  qsort(list, (size_t)node->count, sizeof *list, compare_dtypes);
  *dtypes = list;
  *count = node->count;
  return status_ok();
}

void dtypes_write(struct text *out, struct corpus_dtype *dtypes, int32_t count) {
  bool first = true;
  if (count == 0) {
    return;
  }
  qsort(dtypes, (size_t)count, sizeof *dtypes, compare_dtypes);
  for (int32_t i = 0; i < count; i++) {
    if (dtype_is_stored_as_bits(dtypes[i].dtype)) {
      text_add(out, first ? "dtypes: {" : ", ");
      yaml_write_scalar(out, dtypes[i].array);
      text_format(out, ": %s", assay_dtype_name(dtypes[i].dtype));
      first = false;
    }
  }
  text_add(out, first ? "" : "}\n");
}

/* Packs one unsigned byte an element into a 4-bit or 2-bit tensor. */
static assay_status pack_bits(assay_code code, const char *path, const char *array, assay_dtype dtype,
                              assay_tensor *tensor) {
  size_t bits = assay_dtype_bits(dtype), per_byte = 8 / bits;
  assay_tensor packed;
  TRY(tensor_new(dtype, tensor->dims, tensor->rank, &packed));
  const uint8_t *from = tensor->data;
  uint8_t *to = packed.data;
  int64_t count = tensor_count(tensor);
  for (int64_t i = 0; i < count; i++) {
    if (from[i] >> bits != 0) {
      tensor_free(&packed);
      return status_make(code, path,
                         "element %" PRId64 " of '%s' is %u, but %s has %zu bits; store one unsigned byte an element",
                         i, array, from[i], assay_dtype_name(dtype), bits);
    }
    size_t place = (size_t)i / per_byte, shift = bits * ((size_t)i % per_byte);
    to[place] = (uint8_t)(to[place] | (unsigned)from[i] << shift);
  }
  tensor_free(tensor);
  *tensor = packed;
  return status_ok();
}

/* Gives the stored bits their declared type. */
static assay_status apply_dtype(const char *path, const char *array, assay_dtype dtype, const struct array_rules *rules,
                                assay_tensor *tensor) {
  size_t bits = assay_dtype_bits(dtype);
  assay_dtype carrier = bits == 16 ? ASSAY_UINT16 : ASSAY_UINT8;
  if (tensor->dtype != carrier) {
    if (rules->any_dtype) {
      return status_ok();
    }
    return status_make(rules->code, path,
                       "'%s' is stored as %s, but dtypes says %s, which is stored as %s bits; correct one of the two",
                       array, assay_dtype_name(tensor->dtype), assay_dtype_name(dtype), assay_dtype_name(carrier));
  }
  if (bits < 8) {
    return pack_bits(rules->code, path, array, dtype, tensor);
  }
  tensor->dtype = dtype;
  return status_ok();
}

/* A repeat has the type of its output; an answer in fp64 is fp64. */
static assay_dtype declared_dtype(const struct array_rules *rules, enum array_group group, const char *name) {
  group = group == GROUP_REPEATS ? GROUP_OUTPUTS : group;
  for (int32_t i = 0; i < rules->n_dtypes; i++) {
    const char *rest;
    if (array_group_of(rules->dtypes[i].array, &rest) == group && strcmp(rest, name) == 0) {
      return rules->dtypes[i].dtype;
    }
  }
  return ASSAY_UNDEFINED;
}

/* "3/action": number 3, name "action". */
static bool parse_repeat(const char *rest, int32_t *number, const char **name) {
  char *end;
  if (rest[0] < '0' || rest[0] > '9' || (rest[0] == '0' && rest[1] != '/')) {
    return false;
  }
  long value = strtol(rest, &end, 10);
  if (value > REPEAT_LARGEST || *end != '/' || end[1] == '\0') {
    return false;
  }
  *number = (int32_t)value;
  *name = end + 1;
  return true;
}

assay_status case_arrays_retype(const char *path, const char *array, const struct array_rules *rules,
                                assay_tensor *tensor) {
  const char *name;
  int32_t number;
  enum array_group group = array_group_of(array_unseeded(array, &number), &name);
  if (group == GROUP_REPEATS && !parse_repeat(name, &number, &name)) {
    return status_ok();
  }
  assay_dtype dtype = declared_dtype(rules, group, name);
  return dtype == ASSAY_UNDEFINED ? status_ok() : apply_dtype(path, array, dtype, rules, tensor);
}

/* One archive while it is read. */
struct reading {
  const char *path;
  const struct array_rules *rules;
  struct case_data *data;
  struct npz *npz;
  int32_t n_numbers; /* of repeats, ascending; numbers[r] is what the archive calls repeat r */
  int32_t *numbers;
};

/* Array i by the name it has for the seed that is read; NULL: it is another seed's. */
static const char *name_in_seed(const struct reading *reading, size_t i) {
  int32_t seed;
  const char *name = npz_name(reading->npz, i);
  if (!reading->rules->seeds) {
    return name;
  }
  name = array_unseeded(name, &seed);
  return seed < 0 || seed == reading->rules->seed ? name : NULL;
}

static void list_of_group(struct case_data *data, enum array_group group, struct case_array ***arrays,
                          int32_t **count) {
  switch (group) {
    case GROUP_INPUTS:
      *arrays = &data->inputs, *count = &data->n_inputs;
      break;
    case GROUP_OUTPUTS:
      *arrays = &data->outputs, *count = &data->n_outputs;
      break;
    case GROUP_OUTPUTS64:
      *arrays = &data->outputs64, *count = &data->n_outputs64;
      break;
    case GROUP_RAW:
      *arrays = &data->raw, *count = &data->n_raw;
      break;
    case GROUP_DECODED:
      *arrays = &data->decoded, *count = &data->n_decoded;
      break;
    default:
      *arrays = &data->taps, *count = &data->n_taps;
      break;
  }
}

/* Where repeat `number` stands, or belongs, in the ascending list. */
static int32_t repeat_place(const struct reading *reading, int32_t number) {
  int32_t r = 0;
  while (r < reading->n_numbers && reading->numbers[r] < number) {
    r++;
  }
  return r;
}

static void note_repeat(struct reading *reading, int32_t number) {
  int32_t place = repeat_place(reading, number);
  if (place < reading->n_numbers && reading->numbers[place] == number) {
    return;
  }
  memmove(&reading->numbers[place + 1], &reading->numbers[place],
          (size_t)(reading->n_numbers - place) * sizeof *reading->numbers);
  reading->numbers[place] = number;
  reading->n_numbers++;
}

/* Checks every name of the archive and counts the groups. */
static assay_status survey(struct reading *reading, int32_t counts[GROUP_COUNT]) {
  size_t n = npz_count(reading->npz);
  ARENA_NEW(&reading->data->arena, reading->numbers, n);
  for (size_t i = 0; i < n; i++) {
    const char *name = name_in_seed(reading, i), *rest;
    if (name == NULL) {
      continue;
    }
    enum array_group group = array_group_of(name, &rest);
    if (group == GROUP_COUNT || (reading->rules->groups & 1U << group) == 0 || *rest == '\0') {
      struct text allowed = {0};
      for (int g = 0; g < GROUP_COUNT; g++) {
        if ((reading->rules->groups & 1U << g) != 0) {
          text_format(&allowed, "%s%s%s", allowed.length > 0 ? ", " : "", group_prefixes[g],
                      g == GROUP_REPEATS ? "N/NAME" : "NAME");
        }
      }
      assay_status status =
          status_make(reading->rules->code, reading->path,
                      "there is an array '%s', but arrays here are named %s%s; rename it or leave it out",
                      npz_name(reading->npz, i), text_string(&allowed),
                      reading->rules->seeds ? ", or seeds/N/ before one of them" : "");
      text_free(&allowed);
      return status;
    }
    counts[group]++;
    int32_t number;
    if (group == GROUP_REPEATS) {
      if (!parse_repeat(rest, &number, &rest)) {
        return status_make(reading->rules->code, reading->path,
                           "there is an array '%s', but a repeat is named repeats/N/OUTPUT with N from 0 to %d",
                           npz_name(reading->npz, i), REPEAT_LARGEST);
      }
      note_repeat(reading, number);
    }
  }
  return status_ok();
}

static assay_status read_array(const struct reading *reading, size_t i, assay_tensor *out) {
  TRY(status_prefix(npz_read(reading->npz, i, out), "%s", reading->path));
  return case_arrays_retype(reading->path, npz_name(reading->npz, i), reading->rules, out);
}

static int32_t find_array(const struct case_array *arrays, int32_t count, const char *name) {
  for (int32_t i = 0; i < count; i++) {
    if (strcmp(arrays[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static assay_status read_group_array(struct reading *reading, size_t i, enum array_group group, const char *name) {
  struct case_array **arrays;
  int32_t *count;
  list_of_group(reading->data, group, &arrays, &count);
  struct case_array *array = &(*arrays)[*count];
  array->name = arena_string(&reading->data->arena, name);
  if (array->name == NULL) {
    return status_no_memory(strlen(name));
  }
  array->seeded = reading->rules->seeds && text_starts_with(npz_name(reading->npz, i), "seeds/");
  (*count)++; /* before reading, so that whatever is read is freed */
  return read_array(reading, i, &array->tensor);
}

static assay_status read_repeat(struct reading *reading, size_t i, const char *rest) {
  struct case_data *data = reading->data;
  const char *array = npz_name(reading->npz, i), *name = rest;
  int32_t number = 0;
  (void)parse_repeat(rest, &number, &name); /* survey saw that it parses */
  int32_t output = find_array(data->outputs, data->n_outputs, name);
  if (output < 0) {
    return status_make(reading->rules->code, reading->path,
                       "there is '%s' but no 'outputs/%s' that it would repeat; add the output or drop the repeat",
                       array, name);
  }
  assay_tensor *to = &data->repeats[repeat_place(reading, number)][output].tensor;
  const assay_tensor *first = &data->outputs[output].tensor;
  TRY(read_array(reading, i, to));
  if (to->dtype == first->dtype && shape_equal(to, first)) {
    return status_ok();
  }
  struct text text = {0};
  text_format(&text, "'%s' is ", array);
  tensor_describe(to, &text);
  text_format(&text, " but 'outputs/%s' is ", name);
  tensor_describe(first, &text);
  assay_status status = status_make(reading->rules->code, reading->path,
                                    "%s; a repeat has the type and shape of its output", text_string(&text));
  text_free(&text);
  return status;
}

static assay_status make_lists(struct reading *reading, const int32_t counts[GROUP_COUNT]) {
  for (int g = 0; g < GROUP_REPEATS; g++) {
    struct case_array **arrays;
    int32_t *count;
    list_of_group(reading->data, (enum array_group)g, &arrays, &count);
    ARENA_NEW(&reading->data->arena, *arrays, counts[g]);
  }
  return status_ok();
}

static assay_status make_repeats(struct reading *reading) {
  struct case_data *data = reading->data;
  ARENA_NEW(&data->arena, data->repeats, reading->n_numbers);
  for (int32_t r = 0; r < reading->n_numbers; r++) {
    ARENA_NEW(&data->arena, data->repeats[r], data->n_outputs);
    for (int32_t o = 0; o < data->n_outputs; o++) {
      data->repeats[r][o].name = data->outputs[o].name;
    }
    data->n_repeats = r + 1;
  }
  return status_ok();
}

/* A seed that is not there would leave a case of shared arrays alone. */
static assay_status check_seed(struct reading *reading) {
  const struct array_rules *rules = reading->rules;
  if (!rules->seeds) {
    return status_ok();
  }
  TRY(case_seeds_count(reading->npz, reading->path, rules->code, &reading->data->n_seeds));
  int32_t n = reading->data->n_seeds > 0 ? reading->data->n_seeds : 1;
  return rules->seed < n ? status_ok()
                         : status_make(rules->code, reading->path, "there is no seed %d here; the case holds %d",
                                       (int)rules->seed, (int)n);
}

static assay_status read_all(struct reading *reading) {
  int32_t counts[GROUP_COUNT] = {0};
  TRY(check_seed(reading));
  TRY(survey(reading, counts));
  TRY(make_lists(reading, counts));
  size_t n = npz_count(reading->npz);
  for (size_t i = 0; i < n; i++) {
    const char *name = name_in_seed(reading, i), *rest;
    enum array_group group = name != NULL ? array_group_of(name, &rest) : GROUP_REPEATS;
    if (group != GROUP_REPEATS) {
      TRY(read_group_array(reading, i, group, rest));
    }
  }
  TRY(make_repeats(reading));
  for (size_t i = 0; i < n; i++) {
    const char *name = name_in_seed(reading, i), *rest;
    if (name != NULL && array_group_of(name, &rest) == GROUP_REPEATS) {
      TRY(read_repeat(reading, i, rest));
    }
  }
  return status_ok();
}

assay_status case_arrays_read(const char *path, const struct array_rules *rules, struct case_data *data) {
  struct reading reading = {.path = path, .rules = rules, .data = data};
  data->steps = 1;
  TRY(npz_open(path, &reading.npz));
  assay_status status = read_all(&reading);
  npz_close(reading.npz);
  return status;
}
