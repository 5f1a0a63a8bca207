/* Corpora: what is written reads back, and nothing wrong in corpus.yaml or in a case's file is let through. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"
#include "corpus_builder.h"
#include "support.h"

static const char zeros[] = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/* A corpus of one sequence with tags, ages and lineage, and one invalid case. */
static char *make_corpus(void) {
  char *folder = temp_folder();
  struct corpus_builder *builder = build_corpus(folder, CORPUS_GOLDEN);
  build_f32(builder, "inputs/x", "3,1", (const float[]){1, 2, 3});
  build_f32(builder, "inputs/a b/c:0", "3", (const float[]){4, 5, 6});
  build_f32(builder, "outputs/y", "3,1,2", (const float[]){1, 2, 3, 4, 5, NAN});
  build_f32(builder, "repeats/10/y", "3,1,2", (const float[]){1, 2, 3, 4, 5, 7});
  build_f32(builder, "repeats/2/y", "3,1,2", (const float[]){1, 2, 3, 4, 5, 8});
  build_f64(builder, "outputs64/y", "3,1,2", (const double[]){1, 2, 3, 4, 5, 6});
  build_u8(builder, "raw/front", "3,2", (const uint8_t[]){1, 2, 3, 4, 5, 6});
  const struct case_tag tags[] = {{"light", "dark"}, {"block", "yes"}};
  const struct case_age ages[] = {{"x", 20.1}};
  const struct case_guard guard = {-1, ASSAY_OK};
  build_case(builder, &(struct corpus_case){.id = "ep 1/α",
                                            .sequence = true,
                                            .forced = true,
                                            .n_tags = 2,
                                            .tags = tags,
                                            .n_ages = 1,
                                            .ages = ages,
                                            .origin = {.file = "ep.h5",
                                                       .digest = zeros,
                                                       .decoder = "PyAV 14.0.1, libavcodec 61 (h264)",
                                                       .episode = 3,
                                                       .frame = 120,
                                                       .frames = 3,
                                                       .stride = 2},
                                            .n_guard = 1,
                                            .guard = &guard});
  build_i64(builder, "inputs/x", "", (const int64_t[]){7});
  build_case(builder, &(struct corpus_case){.id = "wrong", .refuse = true, .refusal = ASSAY_INPUT_SHAPE});
  build_done(builder);
  return folder;
}

static void what_is_written_reads_back(void **state) {
  (void)state;
  char *folder = make_corpus();
  struct corpus *corpus;
  ASSERT_OK(corpus_open(folder, &corpus));
  assert_int_equal(corpus->role, CORPUS_GOLDEN);
  assert_string_equal(corpus->policy, "test");
  assert_int_equal(corpus->n_cases, 2);
  const struct corpus_case *entry = &corpus->cases[0];
  assert_string_equal(entry->id, "ep 1/α");
  assert_string_equal(entry->file, "ep%201%2F%CE%B1.npz");
  assert_true(entry->sequence && entry->forced && !entry->refuse);
  assert_int_equal(entry->n_tags, 2);
  assert_string_equal(entry->tags[0].key, "block");
  assert_string_equal(entry->tags[0].value, "yes");
  assert_true(case_age(entry, "x") == 20.1);
  assert_true(isnan(case_age(entry, "y")));
  assert_string_equal(entry->origin.file, "ep.h5");
  assert_string_equal(entry->origin.digest, zeros);
  assert_string_equal(entry->origin.decoder, "PyAV 14.0.1, libavcodec 61 (h264)");
  assert_int_equal(entry->origin.episode, 3);
  assert_int_equal(entry->origin.frame, 120);
  assert_int_equal(entry->origin.frames, 3);
  assert_int_equal(entry->origin.stride, 2);
  assert_int_equal(entry->n_guard, 1);
  assert_int_equal(entry->guard[0].step, -1);
  assert_int_equal(entry->guard[0].answer, ASSAY_OK);
  assert_true(corpus->cases[1].refuse);
  assert_int_equal(corpus->cases[1].refusal, ASSAY_INPUT_SHAPE);
  assert_int_equal(corpus->cases[1].origin.frame, -1);
  assert_string_equal(corpus->cases[1].id, "wrong");
  corpus_close(corpus);
  temp_free(folder);
}

static void arrays_are_found_by_name_and_step(void **state) {
  (void)state;
  char *folder = make_corpus();
  struct corpus *corpus;
  struct case_data *data;
  ASSERT_OK(corpus_open(folder, &corpus));
  ASSERT_OK(case_load(corpus, 0, &data));
  assert_int_equal(data->steps, 3);
  assert_int_equal(data->n_inputs, 2);
  assert_string_equal(data->inputs[0].name, "a b/c:0");
  assert_non_null(case_raw(data, "front"));
  assert_null(case_input(data, "front"));
  assert_int_equal(data->outputs64[0].tensor.dtype, ASSAY_FLOAT64);
  const assay_tensor *y = case_output(data, "y");
  assert_true(isnan(((const float *)y->data)[5])); /* kept: the gate judges it */
  assay_tensor step = case_step(data, &corpus->cases[0], y, 1);
  assert_int_equal(step.rank, 2);
  assert_int_equal(step.dims[0], 1);
  assert_int_equal(step.dims[1], 2);
  assert_int_equal(step.bytes, 8);
  assert_true(((const float *)step.data)[0] == 3 && ((const float *)step.data)[1] == 4);
  assert_int_equal(data->n_repeats, 2); /* 2 before 10 */
  assert_true(((const float *)data->repeats[0][0].tensor.data)[5] == 8);
  assert_true(((const float *)data->repeats[1][0].tensor.data)[5] == 7);
  case_data_free(data);
  ASSERT_OK(case_load(corpus, 1, &data));
  assert_int_equal(data->steps, 1);
  assay_tensor whole = case_step(data, &corpus->cases[1], case_input(data, "x"), 0);
  assert_int_equal(whole.rank, 0);
  assert_int_equal(*(const int64_t *)whole.data, 7);
  case_data_free(data);
  corpus_close(corpus);
  temp_free(folder);
}

static void types_that_numpy_lacks_come_back(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct corpus_builder *builder = build_corpus(folder, CORPUS_CALIBRATION);
  build_array(builder, "inputs/b", ASSAY_BFLOAT16, "2", (const uint16_t[]){0x3F80, 0x4000});
  build_array(builder, "inputs/q", ASSAY_INT4, "3", (const uint8_t[]){0x8F, 0x07}); /* -1, -8, 7 */
  build_array(builder, "inputs/flag", ASSAY_BOOL, "2", (const uint8_t[]){1, 0});
  build_f32(builder, "inputs/none", "0,4", NULL);
  build_case(builder, &(struct corpus_case){.id = "one"});
  build_done(builder);
  struct corpus *corpus;
  struct case_data *data;
  ASSERT_OK(corpus_open(folder, &corpus));
  assert_int_equal(corpus->n_dtypes, 2);
  ASSERT_OK(case_load(corpus, 0, &data));
  const assay_tensor *b = case_input(data, "b"), *q = case_input(data, "q");
  assert_int_equal(b->dtype, ASSAY_BFLOAT16);
  assert_true(tensor_get(b, 0) == 1 && tensor_get(b, 1) == 2);
  assert_int_equal(q->dtype, ASSAY_INT4);
  assert_int_equal(q->bytes, 2);
  assert_true(tensor_get(q, 0) == -1 && tensor_get(q, 1) == -8 && tensor_get(q, 2) == 7);
  assert_int_equal(case_input(data, "flag")->dtype, ASSAY_BOOL);
  assert_int_equal(case_input(data, "none")->dims[1], 4);
  case_data_free(data);
  corpus_close(corpus);
  /* The same array with another type would be read as bfloat16 bits. */
  struct corpus_editor *editor;
  ASSERT_OK(corpus_edit(folder, &editor));
  assay_tensor plain = test_tensor(ASSAY_UINT16, "2", (const uint16_t[]){1, 2});
  const struct npz_entry array = {"inputs/b", &plain};
  const struct corpus_case two = {.id = "two", .origin = CASE_ORIGIN_NONE};
  ASSERT_FAILS(corpus_edit_add(editor, &two, &array, 1), ASSAY_CORPUS_INVALID, "bfloat16");
  const struct npz_entry other = {"inputs/none", &plain};
  plain.dtype = ASSAY_FLOAT16;
  assay_tensor late = plain;
  late.dtype = ASSAY_BFLOAT16;
  const struct npz_entry clash = {"inputs/flag", &late};
  ASSERT_FAILS(corpus_edit_add(editor, &two, &clash, 1), ASSAY_CORPUS_INVALID, "'one' holds it with another type");
  ASSERT_OK(corpus_edit_add(editor, &two, &other, 1));
  corpus_edit_abandon(editor);
  assert_false(file_exists(temp_path(folder, "two.npz"))); /* taken back */
  tensor_free(&plain);
  temp_free(folder);
}

static void the_version_is_over_the_meaning(void **state) {
  (void)state;
  char *folder = temp_folder();
  char first[HASH_TEXT_SIZE];
  struct corpus *corpus;
  temp_write(folder, "a.npz", "x");
  const char *const texts[] = {
      /* the same corpus twice, in other words */
      "assay: 1\nrole: golden\npolicy: p\ncases:\n  - {id: a, file: a.npz, digest: \"%s\", expect: answer,\n"
      "     tags: {u: '1', v: w}, ages_ms: {x: 20}}\n",
      "# a comment\ncases:\n- expect: answer\n  tags:\n    v: 'w'\n    u: \"1\"\n  ages_ms: {x: 2.0e1}\n  digest: %s\n"
      "  file: a.npz\n  sequence: false\n  id: \"a\"\npolicy: p\nrole: golden\nassay: 1\n",
      /* others */
      "assay: 1\nrole: calibration\npolicy: p\ncases:\n  - {id: a, file: a.npz, digest: \"%s\", expect: answer,\n"
      "     tags: {u: '1', v: w}, ages_ms: {x: 20}}\n",
      "assay: 1\nrole: golden\npolicy: p\ncases:\n  - {id: a, file: a.npz, digest: \"%s\", expect: answer,\n"
      "     tags: {u: '1', v: x}, ages_ms: {x: 20}}\n",
      "assay: 1\nrole: golden\npolicy: p\ncases:\n  - {id: a, file: a.npz, digest: \"%s\", expect: {refuse: "
      "INPUT_NAN},\n"
      "     tags: {u: '1', v: w}, ages_ms: {x: 20}}\n",
      "assay: 1\nrole: golden\npolicy: p\ncases:\n  - {id: a, file: a.npz, digest: \"%s\", expect: answer,\n"
      "     tags: {u: '1', v: w}, ages_ms: {x: 21}}\n",
      "assay: 1\nrole: golden\npolicy: p\ncases:\n  - {id: a, file: a.npz, digest: \"%s\", expect: answer,\n"
      "     tags: {u: '1', v: w}, ages_ms: {x: 20}, guard: accept}\n",
      "assay: 1\nrole: golden\npolicy: p\ndtypes: {inputs/x: int4}\ncases:\n  - {id: a, file: a.npz, digest: \"%s\",\n"
      "     expect: answer, tags: {u: '1', v: w}, ages_ms: {x: 20}}\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct text text = {0};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    text_format(&text, texts[i], zeros);
#pragma GCC diagnostic pop
    temp_write(folder, "corpus.yaml", text_string(&text));
    text_free(&text);
    ASSERT_OK(corpus_open(folder, &corpus));
    if (i == 0) {
      memcpy(first, corpus->digest, sizeof first);
    } else if (i == 1) {
      assert_string_equal(corpus->digest, first);
    } else {
      assert_string_not_equal(corpus->digest, first);
    }
    corpus_close(corpus);
  }
  temp_free(folder);
}

/* Opens a corpus whose corpus.yaml is "assay: 1\nrole: golden\n" and the rest. */
static assay_status open_text(const char *folder, const char *rest) {
  char text[2048];
  struct corpus *corpus;
  snprintf(text, sizeof text, "assay: 1\nrole: golden\n%s", rest);
  temp_write(folder, "corpus.yaml", text);
  assay_status status = corpus_open(folder, &corpus);
  corpus_close(corpus);
  return status;
}

#define DIGEST "digest: \"sha256:0000000000000000000000000000000000000000000000000000000000000000\""

static void what_is_wrong_in_the_index_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } wrong[] = {
      {"cases:\n- {id: a, file: a.npz, " DIGEST ", expect: answer, colour: red}\n", "colour"},
      {"case: []\ncases: []\n", "case"},
      {"cases: 3\n", "list"},
      {"{", ""},
      {"cases:\n- {file: a.npz, " DIGEST ", expect: answer}\n", "id"},
      {"cases:\n- {id: '', file: a.npz, " DIGEST ", expect: answer}\n", "id"},
      {"cases:\n- {id: a, file: a.npz, expect: answer}\n", "digest"},
      {"cases:\n- {id: a, file: a.npz, digest: md5, expect: answer}\n", "sha256"},
      {"cases:\n- {id: a, file: a.npz, " DIGEST ", expect: maybe}\n", "answer"},
      {"cases:\n- {id: a, file: a.npz, " DIGEST "}\n", "expect"},
      {"cases:\n- {id: a, file: a.npz, " DIGEST ", expect: {refuse: DRIFT_MAX}}\n", "DRIFT_MAX"},
      {"cases:\n- {id: a, file: a.npz, " DIGEST ", expect: {refuse: INPUT_BAD}}\n", "INPUT_BAD"},
      {"cases:\n- {id: a, file: a.npz, " DIGEST ", expect: {refuse: INPUT_TWICE}}\n", "INPUT_TWICE"},
      {"cases:\n- {id: a, file: a.npz, " DIGEST ", expect: answer, forced: true}\n", "forced"},
      {"cases:\n- {id: a, file: a.npz, " DIGEST ", expect: answer, ages_ms: {x: old}}\n", ""},
      {"cases:\n- {id: a, file: a.npz, " DIGEST ", expect: answer, ages_ms: {x: .inf}}\n", ""},
      {"cases:\n- {id: a, file: a.npz, " DIGEST ", expect: answer, tags: [x]}\n", "tags"},
      {"cases:\n- {id: a, file: a.npz, " DIGEST ", expect: answer, origin: {file: b, frame: -2}}\n", "frame"},
      {"cases:\n- {id: a, file: a.npz, " DIGEST ", expect: answer}\n- {id: a, file: a.npz, " DIGEST
       ", expect: answer}\n",
       "stands already in line 4"},
      {"dtypes: {inputs/x: float32}\ncases: []\n", "NumPy lacks"},
      {"dtypes: {x: bfloat16}\ncases: []\n", "inputs/NAME"},
      {"source: {framework: torch, build: 3}\ncases: []\n", "build"},
      {"source: {weights: abc}\ncases: []\n", "sha256"},
      {"cases:\n- {id: a, file: b.npz, " DIGEST ", expect: answer}\n", "b.npz"},
      {"cases:\n- {id: a, file: ../a.npz, " DIGEST ", expect: answer}\n", "../a.npz"},
      {"cases:\n- {id: a, file: sub/../../a.npz, " DIGEST ", expect: answer}\n", ".."},
      {"cases:\n- {id: a, file: /etc/hostname, " DIGEST ", expect: answer}\n", "/etc/hostname"},
      {"cases:\n- {id: a, file: link.npz, " DIGEST ", expect: answer}\n", "link.npz"},
      {"cases:\n- {id: a, file: \"a.npz\\x01\", " DIGEST ", expect: answer}\n", ""},
      {"cases:\n- {id: a, file: ., " DIGEST ", expect: answer}\n", ""},
  };
  char *folder = temp_folder();
  temp_write(folder, "a.npz", "x");
  assert_int_equal(symlink("/etc/hostname", temp_path(folder, "link.npz")), 0);
  ASSERT_OK(open_text(folder, "cases: []\n"));
  ASSERT_OK(open_text(folder, "cases:\n- {id: a, file: a.npz, " DIGEST ", expect: answer}\n"));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assay_status status = open_text(folder, wrong[i].text);
    if (assay_code_kind_of(status.code) != ASSAY_KIND_INPUT ||
        strstr(assay_status_sentence(status), wrong[i].part) == NULL) {
      print_error("for %s: expected a refusal with \"%s\", got %s: %s\n", wrong[i].text, wrong[i].part,
                  assay_code_name(status.code), assay_status_sentence(status));
      fail();
    }
    assert_non_null(strstr(assay_status_where(status), "corpus.yaml")); /* it says where */
    assay_status_clear(&status);
  }
  struct corpus *corpus;
  temp_write(folder, "corpus.yaml", "assay: 2\nrole: golden\ncases: []\n");
  ASSERT_FAILS(corpus_open(folder, &corpus), ASSAY_CORPUS_INVALID, "1");
  temp_write(folder, "corpus.yaml", "assay: 1\nrole: silver\ncases: []\n");
  ASSERT_FAILS(corpus_open(folder, &corpus), ASSAY_CORPUS_INVALID, "silver");
  ASSERT_FAILS(corpus_open(temp_path(folder, "none"), &corpus), ASSAY_FILE_MISSING, "no such folder");
  temp_free(folder);
}

static void a_sealed_corpus_is_not_opened(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct corpus_builder *builder = build_corpus(folder, CORPUS_SEALED);
  build_f32(builder, "inputs/x", "1", (const float[]){1});
  build_f32(builder, "outputs/y", "1", (const float[]){1});
  build_case(builder, &(struct corpus_case){.id = "a"});
  build_done(builder);
  struct corpus *corpus;
  ASSERT_FAILS(corpus_open(folder, &corpus), ASSAY_CORPUS_SEALED, "final evaluation");
  assert_null(corpus);
  ASSERT_OK(corpus_open_to_write(folder, &corpus));
  corpus_close(corpus);
  temp_free(folder);
}

/* One case of these arrays, written by hand and vouched for, then loaded. */
static assay_status load_arrays(const struct npz_entry *arrays, size_t count, const char *more) {
  char *folder = temp_folder();
  char digest[HASH_TEXT_SIZE], text[1024];
  struct corpus *corpus;
  struct case_data *data;
  ASSERT_OK(npz_write(temp_path(folder, "a.npz"), arrays, count));
  ASSERT_OK(hash_file(temp_path(folder, "a.npz"), digest));
  snprintf(text, sizeof text,
           "assay: 1\nrole: golden\ndtypes: {inputs/b: bfloat16, inputs/i: uint4}\n"
           "cases:\n- {id: a, file: a.npz, digest: \"%s\", %s}\n",
           digest, more);
  temp_write(folder, "corpus.yaml", text);
  ASSERT_OK(corpus_open(folder, &corpus));
  assay_status status = case_load(corpus, 0, &data);
  case_data_free(data);
  corpus_close(corpus);
  temp_free(folder);
  return status;
}

static void what_is_wrong_in_a_case_is_refused(void **state) {
  (void)state;
  assay_tensor one = test_tensor(ASSAY_FLOAT32, "1", (const float[]){1});
  assay_tensor three = test_tensor(ASSAY_FLOAT32, "3,1", (const float[]){1, 2, 3});
  assay_tensor two = test_tensor(ASSAY_FLOAT32, "2,1", (const float[]){1, 2});
  assay_tensor none = test_tensor(ASSAY_FLOAT32, "0,1", NULL);
  assay_tensor scalar = test_tensor(ASSAY_FLOAT32, "", (const float[]){1});
  assay_tensor sixteen = test_tensor(ASSAY_UINT8, "1", (const uint8_t[]){16});
  const char *const answer = "expect: answer", *const sequence = "expect: answer, sequence: true";
  const char *const refuse = "expect: {refuse: INPUT_DTYPE}";
  const struct {
    struct npz_entry arrays[3];
    size_t count;
    const char *more, *part; /* NULL: loads */
  } cases[] = {
      {{{"inputs/x", &one}, {"outputs/y", &one}}, 2, answer, NULL},
      {{{"inputs/x", &one}}, 1, answer, "expects an answer but stores none"},
      {{{"outputs/y", &one}}, 1, answer, "neither inputs/ nor raw/"},
      {{{"raw/x", &one}, {"outputs/y", &one}}, 2, answer, NULL},
      {{{"inputs/x", &one}}, 1, refuse, NULL},
      {{{NULL, NULL}}, 0, refuse, NULL},
      {{{"input/x", &one}, {"outputs/y", &one}}, 2, answer, "'input/x'"},
      {{{"inputs/x", &one}, {"outputs/y", &one}, {"taps/latent", &one}}, 3, answer, NULL},
      {{{"x", &one}, {"outputs/y", &one}}, 2, answer, "'x'"},
      {{{"inputs/", &one}, {"outputs/y", &one}}, 2, answer, "'inputs/'"},
      {{{"inputs/x", &one}, {"outputs/y", &one}, {"repeats/y", &one}}, 3, answer, "repeats/N/OUTPUT"},
      {{{"inputs/x", &one}, {"outputs/y", &one}, {"repeats/00/y", &one}}, 3, answer, "repeats/N/OUTPUT"},
      {{{"inputs/x", &one}, {"outputs/y", &one}, {"repeats/99999999999999999999/y", &one}}, 3, answer, "repeats/N/OUT"},
      {{{"inputs/x", &one}, {"outputs/y", &one}, {"repeats/0/z", &one}}, 3, answer, "no 'outputs/z'"},
      {{{"inputs/x", &one}, {"outputs/y", &one}, {"repeats/0/y", &two}}, 3, answer, "a repeat has the type and shape"},
      {{{"inputs/x", &three}, {"outputs/y", &three}}, 2, sequence, NULL},
      {{{"inputs/x", &three}, {"outputs/y", &two}}, 2, sequence, "2 steps"},
      {{{"inputs/x", &three}, {"outputs/y", &scalar}}, 2, sequence, "is a scalar"},
      {{{"inputs/x", &none}, {"outputs/y", &none}}, 2, sequence, NULL}, /* no steps: nothing will be compared */
      {{{"inputs/b", &one}, {"outputs/y", &one}}, 2, answer, "stored as float32"},
      {{{"inputs/b", &one}}, 1, refuse, NULL},
      {{{"inputs/i", &sixteen}, {"outputs/y", &one}}, 2, answer, "is 16"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (cases[i].part == NULL) {
      ASSERT_OK(load_arrays(cases[i].arrays, cases[i].count, cases[i].more));
    } else {
      ASSERT_FAILS(load_arrays(cases[i].arrays, cases[i].count, cases[i].more), ASSAY_CORPUS_INVALID, cases[i].part);
    }
  }
  tensor_free(&one);
  tensor_free(&three);
  tensor_free(&two);
  tensor_free(&none);
  tensor_free(&scalar);
  tensor_free(&sixteen);
}

static void the_writer_keeps_what_is_there(void **state) {
  (void)state;
  char *folder = make_corpus();
  struct corpus *corpus;
  struct corpus_editor *editor;
  char before[HASH_TEXT_SIZE];
  ASSERT_OK(corpus_open(folder, &corpus));
  memcpy(before, corpus->digest, sizeof before);
  corpus_close(corpus);
  /* Writing it again changes nothing. */
  ASSERT_OK(corpus_edit(folder, &editor));
  ASSERT_OK(corpus_edit_commit(editor));
  ASSERT_OK(corpus_open(folder, &corpus));
  assert_string_equal(corpus->digest, before);
  corpus_close(corpus);

  assay_tensor one = test_tensor(ASSAY_FLOAT32, "1", (const float[]){1});
  const struct npz_entry arrays[] = {{"inputs/x", &one}, {"outputs/y", &one}};
  struct corpus_case entry = {.id = "wrong", .origin = CASE_ORIGIN_NONE};
  ASSERT_OK(corpus_edit(folder, &editor));
  ASSERT_FAILS(corpus_edit_add(editor, &entry, arrays, 2), ASSAY_CORPUS_INVALID, "already");
  entry.id = "";
  ASSERT_FAILS(corpus_edit_add(editor, &entry, arrays, 2), ASSAY_USAGE, "id");
  entry.id = "in the way";
  temp_write(folder, "in%20the%20way.npz", "precious");
  ASSERT_FAILS(corpus_edit_add(editor, &entry, arrays, 2), ASSAY_CORPUS_INVALID, "not ours to replace");
  entry.id = "no answer";
  ASSERT_FAILS(corpus_edit_add(editor, &entry, arrays, 1), ASSAY_CORPUS_INVALID, "expects an answer");
  assert_false(file_exists(temp_path(folder, "no%20answer.npz")));
  entry.id = "hand";
  entry.file = "../hand.npz";
  ASSERT_FAILS(corpus_edit_adopt(editor, &entry), ASSAY_CORPUS_INVALID, "..");
  ASSERT_OK(npz_write(temp_path(folder, "hand.npz"), arrays, 2));
  entry.file = "hand.npz";
  ASSERT_OK(corpus_edit_adopt(editor, &entry));
  entry.id = "again";
  ASSERT_FAILS(corpus_edit_adopt(editor, &entry), ASSAY_CORPUS_INVALID, "'hand' already");
  ASSERT_OK(corpus_edit_commit(editor));
  ASSERT_OK(corpus_open(folder, &corpus));
  assert_int_equal(corpus->n_cases, 3);
  assert_string_equal(corpus->cases[2].file, "hand.npz");
  corpus_close(corpus);
  ASSERT_FAILS(corpus_new(folder, &(struct corpus_head){0}), ASSAY_USAGE, "there is a corpus here already");
  tensor_free(&one);
  temp_free(folder);
}

static void two_editors_do_not_lose_cases(void **state) {
  (void)state;
  char *folder = make_corpus();
  struct corpus_editor *one, *two;
  struct corpus *corpus;
  assay_tensor x = test_tensor(ASSAY_FLOAT32, "1", (const float[]){1});
  const struct npz_entry arrays[] = {{"inputs/x", &x}, {"outputs/y", &x}};
  struct corpus_case entry = {.id = "from one", .origin = CASE_ORIGIN_NONE};
  ASSERT_OK(corpus_edit(folder, &one));
  ASSERT_OK(corpus_edit(folder, &two));
  ASSERT_OK(corpus_edit_add(one, &entry, arrays, 2));
  entry.id = "from two";
  ASSERT_OK(corpus_edit_add(two, &entry, arrays, 2));
  ASSERT_OK(corpus_edit_commit(one));
  ASSERT_FAILS(corpus_edit_commit(two), ASSAY_CORPUS_INVALID, "somebody else");
  assert_false(file_exists(temp_path(folder, "from%20two.npz")));
  ASSERT_OK(corpus_open(folder, &corpus));
  assert_int_equal(corpus->n_cases, 3);
  corpus_close(corpus);
  tensor_free(&x);
  temp_free(folder);
}

/* Names with everything that YAML gives a meaning to come back; what YAML cannot carry is refused. */
static void strange_names_survive_or_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {"- x", ": ", "#c", "a: b", "{",  "\"",   "'",    "true", "~",    "1e3",
                                      "..",  "!x", "&a", " b",   "b ", "a\\b", "TODO", "<<",   "日本", "="};
  enum { COUNT = sizeof names / sizeof *names };
  char *folder = temp_folder();
  struct corpus_editor *editor;
  struct corpus *corpus;
  assay_tensor x = test_tensor(ASSAY_FLOAT32, "1", (const float[]){1});
  const struct npz_entry arrays[] = {{"inputs/x", &x}, {"outputs/y", &x}};
  ASSERT_FAILS(corpus_new(folder, &(struct corpus_head){.role = CORPUS_GOLDEN, .policy = "\xFF"}), ASSAY_YAML_SYNTAX,
               "cannot be written");
  ASSERT_OK(corpus_new(folder, &(struct corpus_head){.role = CORPUS_GOLDEN, .policy = "#"}));
  ASSERT_OK(corpus_edit(folder, &editor));
  for (int i = 0; i < COUNT; i++) {
    const struct case_tag tag = {names[i], names[i]};
    ASSERT_OK(corpus_edit_add(
        editor,
        &(struct corpus_case){.id = names[i],
                              .n_tags = 1,
                              .tags = &tag,
                              .origin = {.file = names[i], .episode = -1, .frame = -1, .frames = -1, .stride = -1}},
        arrays, 2));
  }
  ASSERT_OK(corpus_edit_commit(editor));
  ASSERT_OK(corpus_open(folder, &corpus));
  assert_string_equal(corpus->policy, "#");
  assert_int_equal(corpus->n_cases, COUNT);
  for (int i = 0; i < COUNT; i++) {
    assert_string_equal(corpus->cases[i].id, names[i]);
    assert_string_equal(corpus->cases[i].tags[0].key, names[i]);
    assert_string_equal(corpus->cases[i].tags[0].value, names[i]);
    assert_string_equal(corpus->cases[i].origin.file, names[i]);
  }
  corpus_close(corpus);
  ASSERT_OK(corpus_edit(folder, &editor));
  ASSERT_OK(corpus_edit_add(editor, &(struct corpus_case){.id = "\xFF", .origin = CASE_ORIGIN_NONE}, arrays, 2));
  assay_status status = corpus_edit_commit(editor);
  assert_int_equal(assay_code_kind_of(status.code), ASSAY_KIND_INPUT);
  assay_status_clear(&status);
  ASSERT_OK(corpus_open(folder, &corpus)); /* still the one before */
  assert_int_equal(corpus->n_cases, COUNT);
  corpus_close(corpus);
  tensor_free(&x);
  temp_free(folder);
}

static void a_changed_file_is_not_believed(void **state) {
  (void)state;
  char *folder = make_corpus();
  struct corpus *corpus;
  struct case_data *data;
  ASSERT_OK(corpus_open(folder, &corpus));
  char *bytes;
  size_t size;
  ASSERT_OK(file_read(temp_path(folder, "wrong.npz"), 1 << 20, &bytes, &size));
  bytes[size / 2] ^= 1;
  temp_write_bytes(folder, "wrong.npz", bytes, size);
  ASSERT_FAILS(case_load(corpus, 1, &data), ASSAY_CORPUS_DIGEST, "vouches for");
  assert_null(data);
  assert_int_equal(unlink(temp_path(folder, "wrong.npz")), 0);
  ASSERT_FAILS(case_load(corpus, 1, &data), ASSAY_FILE_MISSING, "");
  assert_int_equal(symlink("/etc/hostname", temp_path(folder, "wrong.npz")), 0);
  ASSERT_FAILS(case_load(corpus, 1, &data), ASSAY_CORPUS_INVALID, "");
  memory_free(bytes);
  corpus_close(corpus);
  temp_free(folder);
}

/* Files cut short and with flipped bits, under a digest that vouches for them: any answer but a crash. */
static void damaged_files_do_no_harm(void **state) {
  (void)state;
  char *folder = make_corpus();
  char *bytes, *index;
  size_t size, index_size;
  uint64_t random = 88172645463325252U;
  ASSERT_OK(file_read(temp_path(folder, "ep%201%2F%CE%B1.npz"), 1 << 20, &bytes, &size));
  ASSERT_OK(file_read(temp_path(folder, "corpus.yaml"), 1 << 20, &index, &index_size));
  for (int round = 0; round < 400; round++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    size_t at = (size_t)(random >> 8) % size;
    char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    copy[at] = (char)(copy[at] ^ 1 << (random & 7));
    temp_write_bytes(folder, "a.npz", copy, round % 4 == 0 ? at : size);
    free(copy);
    char digest[HASH_TEXT_SIZE], text[512];
    ASSERT_OK(hash_file(temp_path(folder, "a.npz"), digest));
    snprintf(text, sizeof text,
             "assay: 1\nrole: golden\ncases:\n- {id: a, file: a.npz, digest: \"%s\", expect: answer, sequence: true}\n",
             digest);
    temp_write(folder, "corpus.yaml", text);
    struct corpus *corpus;
    struct case_data *data;
    ASSERT_OK(corpus_open(folder, &corpus));
    assay_status status = case_load(corpus, 0, &data);
    assert_int_not_equal(assay_code_kind_of(status.code), ASSAY_KIND_INTERNAL);
    assay_status_clear(&status);
    case_data_free(data);
    corpus_close(corpus);
  }
  for (int round = 0; round < 1000; round++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    size_t at = (size_t)(random >> 8) % index_size;
    char *copy = malloc(index_size);
    assert_non_null(copy);
    memcpy(copy, index, index_size);
    copy[at] = (char)(copy[at] ^ 1 << (random & 7));
    temp_write_bytes(folder, "corpus.yaml", copy, round % 4 == 0 ? at : index_size);
    free(copy);
    struct corpus *corpus;
    assay_status status = corpus_open(folder, &corpus);
    assert_int_not_equal(assay_code_kind_of(status.code), ASSAY_KIND_INTERNAL);
    assay_status_clear(&status);
    corpus_close(corpus);
  }
  memory_free(bytes);
  memory_free(index);
  temp_free(folder);
}

static void every_failed_allocation_is_an_answer(void **state) {
  (void)state;
  char *folder = make_corpus();
  assay_tensor one = test_tensor(ASSAY_BFLOAT16, "1", (const uint16_t[]){1});
  const struct npz_entry arrays[] = {{"inputs/n", &one}, {"outputs/n", &one}};
  const struct case_tag tag = {"k", "v"};
  const struct corpus_case entry = {.id = "n", .n_tags = 1, .tags = &tag, .origin = CASE_ORIGIN_NONE};
  for (int64_t n = 0;; n++) {
    struct corpus *corpus = NULL;
    struct case_data *data = NULL;
    struct corpus_editor *editor = NULL;
    (void)memory_fail_at(n);
    assay_status status = corpus_open(folder, &corpus);
    if (assay_status_ok(status)) {
      status = case_load(corpus, 0, &data);
    }
    if (assay_status_ok(status)) {
      status = corpus_edit(folder, &editor);
    }
    if (assay_status_ok(status)) {
      status = corpus_edit_add(editor, &entry, arrays, 2);
    }
    bool reached = memory_fail_at(-1) > n;
    case_data_free(data);
    corpus_close(corpus);
    corpus_edit_abandon(editor);
    assert_false(file_exists(temp_path(folder, "n.npz")));
    if (!reached) {
      ASSERT_OK(status);
      break;
    }
    /* A sentence that was composed and not needed may fail without harm. */
    assert_true(status.code == ASSAY_OUT_OF_MEMORY || assay_status_ok(status));
    assay_status_clear(&status);
  }
  tensor_free(&one);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_reads_back),
      cmocka_unit_test(arrays_are_found_by_name_and_step),
      cmocka_unit_test(types_that_numpy_lacks_come_back),
      cmocka_unit_test(the_version_is_over_the_meaning),
      cmocka_unit_test(what_is_wrong_in_the_index_is_refused),
      cmocka_unit_test(a_sealed_corpus_is_not_opened),
      cmocka_unit_test(what_is_wrong_in_a_case_is_refused),
      cmocka_unit_test(the_writer_keeps_what_is_there),
      cmocka_unit_test(two_editors_do_not_lose_cases),
      cmocka_unit_test(strange_names_survive_or_are_refused),
      cmocka_unit_test(a_changed_file_is_not_believed),
      cmocka_unit_test(damaged_files_do_no_harm),
      cmocka_unit_test(every_failed_allocation_is_an_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
