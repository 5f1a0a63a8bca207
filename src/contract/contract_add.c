/* `add` in the decoding of an output: the policy answers relative to what was measured, in a frame of an input's
 * history or by a sensor of a term. Which element goes to which component is settled here, never while decoding. */
#include <inttypes.h>
#include <string.h>

#include "contract/contract_reader.h"
#include "contract/terms.h"

/* What stands in the contract. */
struct add {
  const char *input;
  const struct yaml *frame, *elements;
  bool cumulative;
};

/* What may be added: so many elements a frame, and so many frames. */
struct measured {
  int64_t frame_size; /* 0: not known, the whole of a sensor */
  bool has_history;
  int64_t frames;  /* that are always there */
  int32_t n_names; /* elements of a term; 0: an input, whose elements have no names */
  const char *const *names;
  const int64_t *picks; /* where they stand in the sensor's array; NULL: in their order */
};

/* An input as one frame, or as frames along its history. */
static assay_status measure_input(const struct reader *reader, struct mark mark, const char *what,
                                  const struct contract_input *input, struct measured *out) {
  if (input->terms != NULL) {
    return yaml_error(&reader->file, mark,
                      "%s names '%.80s', whose elements are scaled terms; name the sensor of a term instead, such as "
                      "joint_pos",
                      what, input->name);
  }
  int32_t axis = input->history_max > 0 ? input->history_axis : -1;
  *out = (struct measured){.frame_size = 1, .has_history = axis >= 0, .frames = 1};
  for (int32_t d = 0; d < input->rank; d++) {
    const struct dim_range *dim = &input->dims[d];
    if (d == axis) {
      out->frames = dim->min;
      continue;
    }
    if (dim->min != dim->max || (d < axis && dim->max != 1)) {
      return yaml_error(
          &reader->file, mark,
          "%s names '%.80s', but dimension %d of it %s; only the axis of its history may vary, and nothing "
          "but a 1 may stand before that",
          what, input->name, (int)d, dim->min != dim->max ? "varies" : "stands before its history");
    }
    out->frame_size *= dim->max; /* the whole shape was checked not to overflow */
  }
  return status_ok();
}

static assay_status no_such_input(const struct reader *reader, struct mark mark, const char *what, const char *name) {
  const struct contract *contract = reader->contract;
  const char *names[64];
  size_t count = 0;
  struct text all = {0};
  for (int32_t i = 0; i < contract->n_inputs && count < 64; i++) {
    names[count++] = contract->inputs[i].name;
    text_format(&all, "%s%.60s", count == 1 ? "" : ", ", contract->inputs[i].name);
  }
  const char *near = text_nearest(name, names, count);
  assay_status status = yaml_error(
      &reader->file, mark, "%s is '%.80s', which is neither an input nor a sensor of a term%s%s%s; the inputs are %s",
      what, name, near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'" : "",
      text_string(&all));
  text_free(&all);
  return status;
}

static assay_status find_measured(const struct reader *reader, struct mark mark, const char *what, const char *name,
                                  struct measured *out) {
  const struct contract_term *term = NULL;
  const struct contract_input *input = contract_find_input(reader->contract, name);
  if (input != NULL) {
    return measure_input(reader, mark, what, input, out);
  }
  if (terms_find_sensor(reader->contract, name, &term) == NULL) {
    return no_such_input(reader, mark, what, name);
  }
  *out = (struct measured){.frame_size = term->picks == NULL ? term->n_elements : 0,
                           .frames = 1,
                           .n_names = term->n_elements,
                           .names = term->elements,
                           .picks = term->picks};
  return status_ok();
}

/* first, last, or a number from 0. */
static assay_status read_frame(const struct reader *reader, const struct yaml *node, const char *what,
                               const struct add *add, const struct measured *measured, int64_t *out) {
  *out = -1;
  if (!measured->has_history) {
    return add->frame == NULL
               ? status_ok()
               : yaml_error(&reader->file, add->frame->mark,
                            "%s has a 'frame', but '%.80s' has no 'history' to choose one from", what, add->input);
  }
  if (add->frame == NULL) {
    return yaml_error(
        &reader->file, node->mark,
        "%s needs 'frame': last, first, or a number from 0; '%.80s' has a history, and an action anchored "
        "on another frame is another action",
        what, add->input);
  }
  if (measured->frames < 1) {
    return yaml_error(&reader->file, add->frame->mark, "%s adds a frame of '%.80s', whose history may be empty", what,
                      add->input);
  }
  bool word = add->frame->kind == YAML_SCALAR &&
              (text_equal(add->frame->text, "first") || text_equal(add->frame->text, "last"));
  if (word) {
    *out = text_equal(add->frame->text, "first") ? 0 : -1;
    return status_ok();
  }
  char member[WHAT_SIZE];
  what_format(member, "'frame' of %s", what);
  if (add->frame->kind == YAML_SCALAR && strspn(add->frame->text, "0123456789") == 0) {
    return yaml_error(&reader->file, add->frame->mark,
                      "%s must be first, last or a whole number from 0 to %" PRId64 "; '%.80s' stands here", member,
                      measured->frames - 1, add->frame->text);
  }
  return yaml_int(&reader->file, add->frame, member, 0, measured->frames - 1, out);
}

/* Element of a frame that one item of `elements` names. */
static assay_status read_element(const struct reader *reader, const struct yaml *node, const char *what,
                                 const struct add *add, const struct measured *measured, int64_t *out) {
  for (int32_t i = 0; node->kind == YAML_SCALAR && i < measured->n_names; i++) {
    if (text_equal(node->text, measured->names[i])) {
      *out = measured->picks != NULL ? measured->picks[i] : i;
      return status_ok();
    }
  }
  bool number = node->kind == YAML_SCALAR && node->text[0] >= '0' && node->text[0] <= '9';
  if (measured->n_names > 0 && !number) {
    const char *near =
        node->kind == YAML_SCALAR ? text_nearest(node->text, measured->names, (size_t)measured->n_names) : NULL;
    return yaml_error(&reader->file, node->mark, "%s names '%.80s', which is no element of '%.80s'%s%s%s", what,
                      node->kind == YAML_SCALAR ? node->text : "a list", add->input,
                      near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'" : "");
  }
  int64_t most = measured->frame_size > 0 ? measured->frame_size : measured->n_names;
  TRY(yaml_int(&reader->file, node, what, 0, most - 1, out));
  *out = measured->picks != NULL ? measured->picks[*out] : *out;
  return status_ok();
}

/* Element c goes to component c where there are as many; otherwise `elements` says which. */
static assay_status read_elements(struct reader *reader, const struct yaml *node, const char *what,
                                  const struct add *add, const struct measured *measured, int32_t count, int64_t *out) {
  int64_t there = measured->n_names > 0 ? measured->n_names : measured->frame_size;
  char member[WHAT_SIZE];
  what_format(member, "'elements' of %s", what);
  if (add->elements == NULL && there != count) {
    return yaml_error(&reader->file, node->mark,
                      "%s adds '%.80s', which has %lld elements%s, to %d components; say in 'elements' which goes to "
                      "each of them",
                      what, add->input, (long long)there, measured->has_history ? " a frame" : "", (int)count);
  }
  if (add->elements != NULL && add->elements->kind == YAML_SCALAR && measured->n_names > 0) {
    const char *const *names = NULL; /* the name of a group */
    int32_t n = 0;
    TRY(read_names(reader, add->elements, member, &names, &n));
    for (int32_t c = 0; c < n && n == count; c++) {
      struct yaml item = *add->elements;
      item.text = names[c];
      TRY(read_element(reader, &item, member, add, measured, &out[c]));
    }
    return n == count ? status_ok()
                      : yaml_error(&reader->file, add->elements->mark, "%s has %d names for %d components", member,
                                   (int)n, (int)count);
  }
  const struct yaml *items = add->elements;
  if (items != NULL && items->kind == YAML_SEQUENCE) {
    if (items->count != count) {
      return yaml_error(&reader->file, items->mark, "%s has %d elements for %d components", member, (int)items->count,
                        (int)count);
    }
    items = items->items;
  } else if (items != NULL && count != 1) {
    return yaml_error(&reader->file, items->mark, "%s is one element for %d components; write a list", member,
                      (int)count);
  }
  for (int32_t c = 0; c < count; c++) {
    out[c] = measured->picks != NULL && c < measured->n_names ? measured->picks[c] : c;
    if (items != NULL) {
      TRY(read_element(reader, &items[c], member, add, measured, &out[c]));
    }
    for (int32_t other = 0; other < c; other++) {
      if (out[other] == out[c]) {
        return yaml_error(&reader->file, add->elements != NULL ? add->elements->mark : node->mark,
                          "%s gives element %lld to two components; each is measured by an element of its own", member,
                          (long long)out[c]);
      }
    }
  }
  return status_ok();
}

assay_status read_add(struct reader *reader, const struct yaml *node, const char *what,
                      const struct contract_output *output, struct decode_rows *rows, int32_t at) {
  static const struct field fields[] = {
      {"input", read_text, offsetof(struct add, input), FIELD_REQUIRED},
      {"frame", keep_node, offsetof(struct add, frame), FIELD_OPTIONAL},
      {"elements", keep_node, offsetof(struct add, elements), FIELD_OPTIONAL},
      {"cumulative", read_flag, offsetof(struct add, cumulative), FIELD_OPTIONAL},
  };
  struct add add = {0};
  struct measured measured;
  int64_t frame = -1, *elements;
  char member[WHAT_SIZE];
  TRY(FIELDS_READ(reader, node, fields, what, &add));
  what_format(member, "'input' of %s", what);
  TRY(find_measured(reader, yaml_get(node, "input")->mark, member, add.input, &measured));
  TRY(read_frame(reader, node, what, &add, &measured, &frame));
  if (add.cumulative && output->horizon_axis < 0) {
    return yaml_error(&reader->file, yaml_get(node, "cumulative")->mark,
                      "%s is cumulative over the steps of a chunk, but 'axes' names no horizon", what);
  }
  ARENA_NEW(reader->arena, elements, rows->count);
  TRY(read_elements(reader, node, what, &add, &measured, rows->count, elements));
  for (int32_t c = 0; c < rows->count; c++) {
    rows->steps[c][at] = (struct decode_step){.kind = DECODE_ADD,
                                              .input = add.input,
                                              .element = elements[c],
                                              .frame = frame,
                                              .frame_size = measured.frame_size,
                                              .cumulative = add.cumulative};
  }
  return status_ok();
}

static const char *why_not(const struct contract_input *input) {
  return input->is_state              ? "is the policy's own state, which nobody measures"
         : input->role != INPUT_PLAIN ? "is noise or tokens, which nobody measures"
                                      : NULL;
}

assay_status check_added(const struct reader *reader) {
  const struct contract *contract = reader->contract;
  for (int32_t o = 0; o < contract->n_outputs; o++) {
    for (int32_t c = 0; c < contract->outputs[o].n_components; c++) {
      const struct contract_component *component = &contract->outputs[o].components[c];
      for (int32_t s = 0; s < component->n_decode; s++) {
        bool adds = component->decode[s].kind == DECODE_ADD;
        const struct contract_input *input = adds ? contract_find_input(contract, component->decode[s].input) : NULL;
        const char *why = input != NULL ? why_not(input) : NULL;
        if (why != NULL) {
          return yaml_error(&reader->file, component->mark, "the decoding of '%s' adds '%.80s', which %s",
                            component->name, input->name, why);
        }
      }
    }
  }
  return status_ok();
}
