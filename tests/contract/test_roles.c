/* Inputs of role noise and role tokens: what their keys mean, what is refused, and the tokens that may be fed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract/noise.h"
#include "contract/tokens.h"
#include "core/hash.h"
#include "core/memory.h"
#include "corpus_builder.h"
#include "support.h"

static char *folder;
static char digest[HASH_TEXT_SIZE];
static const char tokenizer[] =
    "{\"padding\": {\"pad_id\": 2}, \"model\": {\"vocab\": {\"a\": 0, \"b\": 9}}, \"added_tokens\": [{\"id\": 11}]}";

static void digest_of(const void *bytes, size_t size, char out[HASH_TEXT_SIZE]) {
  struct hash hash;
  hash_begin(&hash);
  hash_add(&hash, bytes, size);
  hash_end(&hash, out);
}

static int make_folder(void **state) {
  (void)state;
  folder = temp_folder();
  temp_write(folder, "tokenizer.json", tokenizer);
  temp_write(folder, "spm.model", "\1\2\3");
  digest_of(tokenizer, sizeof tokenizer - 1, digest);
  return 0;
}
static int remove_folder(void **state) {
  (void)state;
  temp_free(folder);
  return 0;
}

/* A contract with these inputs, one a line from line 5 on. DIGEST stands for that of tokenizer.json. */
static assay_status parse(const char *inputs, struct contract **out) {
  char text[4096], filled[4096];
  snprintf(text, sizeof text,
           "assay: 1\npolicy: p\nmodel: m.onnx\ninputs:\n%s\n"
           "outputs: [{name: y, dtype: float32, shape: [1], components: [{name: a, unit: rad}]}]\n",
           inputs);
  const char *at = strstr(text, "DIGEST");
  if (at != NULL) {
    snprintf(filled, sizeof filled, "%.*s%s%s", (int)(at - text), text, digest, at + 6);
  } else {
    memcpy(filled, text, sizeof filled);
  }
  return contract_parse(filled, strlen(filled), "c.yaml", folder, out);
}

#define READS(inputs, contract) ASSERT_OK(parse((inputs), (contract)))
#define REFUSES(inputs, part)                                               \
  do {                                                                      \
    struct contract *unread = NULL;                                         \
    ASSERT_FAILS(parse((inputs), &unread), ASSAY_CONTRACT_INVALID, (part)); \
  } while (0)

/* --- noise ------------------------------------------------------------------------- */

static void noise_says_its_distribution_and_seeds(void **state) {
  (void)state;
  struct contract *contract;
  READS(
      "  - {name: z, role: noise, distribution: normal, seeds: 8, dtype: float32, shape: [1, 16, 7]}\n"
      "  - {name: u, role: noise, distribution: {uniform: [-1, 3]}, seeds: 1, dtype: float64, shape: [2]}\n"
      "  - {name: n, role: noise, distribution: {normal: {mean: 2, std: 0.5}}, seeds: 2, dtype: float16, shape: [2]}\n"
      "  - {name: v, role: noise, distribution: uniform, seeds: 2, dtype: float32, shape: [2]}",
      &contract);
  assert_int_equal(contract->inputs[0].role, INPUT_NOISE);
  const struct contract_noise *z = contract->inputs[0].noise, *u = contract->inputs[1].noise,
                              *n = contract->inputs[2].noise, *v = contract->inputs[3].noise;
  assert_int_equal(z->seeds, 8);
  assert_true(noise_mean(z) == 0.0 && noise_deviation(z) == 1.0);
  assert_true(fabs(noise_share_below(z, 1.96) - 0.9750021) < 1e-6);
  assert_true(isnan(noise_share_below(z, NAN)));
  assert_true(noise_mean(u) == 1.0 && fabs(noise_deviation(u) - 4 / sqrt(12)) < 1e-15);
  assert_true(noise_share_below(u, -2) == 0.0 && noise_share_below(u, 0) == 0.25 && noise_share_below(u, 4) == 1.0);
  assert_true(noise_mean(n) == 2.0 && noise_deviation(n) == 0.5 && noise_share_below(n, 2) == 0.5);
  assert_true(v->a == 0.0 && v->b == 1.0);
  contract_free(contract);
}

static void noise_that_says_too_little_or_too_much_is_refused(void **state) {
  (void)state;
  REFUSES("  - {name: z, role: noise, seeds: 8, dtype: float32, shape: [1]}", "'distribution'");
  REFUSES("  - {name: z, role: noise, distribution: normal, dtype: float32, shape: [1]}", "'seeds'");
  REFUSES("  - {name: z, role: noise, distribution: normal, seeds: 0, dtype: float32, shape: [1]}",
          "'seeds' of input 'z'");
  REFUSES("  - {name: z, role: noise, distribution: gauss, seeds: 1, dtype: float32, shape: [1]}", "normal");
  REFUSES("  - {name: z, role: noise, distribution: {uniform: [1, 1]}, seeds: 1, dtype: float32, shape: [1]}", "below");
  REFUSES("  - {name: z, role: noise, distribution: {normal: {mean: 0, std: 0}}, seeds: 1, dtype: float32, shape: [1]}",
          "above 0");
  REFUSES("  - {name: z, role: noise, distribution: normal, seeds: 1, dtype: int64, shape: [1]}", "noise is a float");
  REFUSES("  - {name: z, role: nois, distribution: normal, seeds: 1, dtype: float32, shape: [1]}", "noise");
  REFUSES("  - {name: z, distribution: normal, dtype: float32, shape: [1]}", "belongs to `role: noise`");
  REFUSES("  - {name: z, role: noise, distribution: normal, seeds: 1, pad_id: 0, dtype: float32, shape: [1]}",
          "belongs to `role: tokens`");
  REFUSES(
      "  - {name: z, role: noise, distribution: normal, seeds: 1, dtype: float32, shape: [1], preprocess: [{scale: "
      "2}]}",
      "drawn, not measured");
  REFUSES(
      "  - {name: z, role: noise, distribution: normal, seeds: 1, dtype: float32, shape: [1]}\n"
      "state: [{input: z, output: y, initial: zeros}]",
      "one or the other");
}

/* --- tokens: the contract -------------------------------------------------------------- */

#define TOKENS "role: tokens, dtype: int64, shape: [1, 4], tokenizer: {file: tokenizer.json, digest: \"DIGEST\"}"

static void tokens_say_length_padding_and_ids(void **state) {
  (void)state;
  struct contract *contract;
  READS("  - {name: t, " TOKENS
        ", max_length: 4, padding: left, pad_id: 0, vocab_size: 100, mask: m}\n"
        "  - {name: m, dtype: int64, shape: [1, 4]}",
        &contract);
  const struct contract_tokens *tokens = contract->inputs[0].tokens;
  assert_int_equal(contract->inputs[0].role, INPUT_TOKENS);
  assert_int_equal(tokens->max_length, 4);
  assert_int_equal(tokens->padding, TOKENS_PAD_LEFT);
  assert_int_equal(tokens->pad_id, 0);
  assert_int_equal(tokens->vocab_size, 100);
  assert_string_equal(tokens->mask, "m");
  assert_int_equal(contract->n_files, 1);
  assert_string_equal(contract->files[0].role, "tokenizer");
  assert_string_equal(contract->files[0].digest, digest);
  contract_free(contract);
}

static void what_is_left_out_comes_from_tokenizer_json(void **state) {
  (void)state;
  struct contract *contract;
  READS("  - {name: t, " TOKENS ", max_length: 4, padding: right}", &contract);
  assert_int_equal(contract->inputs[0].tokens->pad_id, 2);
  assert_int_equal(contract->inputs[0].tokens->vocab_size, 12);
  contract_free(contract);
}

#define ZEROS "sha256:0000000000000000000000000000000000000000000000000000000000000000"

static void tokens_that_cannot_be_checked_are_refused(void **state) {
  (void)state;
  struct contract *none = NULL;
  ASSERT_FAILS(
      parse("  - {name: t, role: tokens, dtype: int64, shape: [1, 4], max_length: 4, padding: right, pad_id: 0, "
            "tokenizer: {file: absent.json, digest: \"" ZEROS "\"}}",
            &none),
      ASSAY_STATISTICS_INVALID, "'absent.json', which is not beside the contract");
  ASSERT_FAILS(
      parse("  - {name: t, role: tokens, dtype: int64, shape: [1, 4], max_length: 4, padding: right, pad_id: 0, "
            "tokenizer: {file: tokenizer.json, digest: \"" ZEROS "\"}}",
            &none),
      ASSAY_STATISTICS_INVALID, "but the contract says " ZEROS);
  ASSERT_FAILS(
      parse("  - {name: t, role: tokens, dtype: int64, shape: [1, 4], max_length: 4, padding: right, pad_id: 0, "
            "tokenizer: {file: ../tokenizer.json, digest: \"" ZEROS "\"}}",
            &none),
      ASSAY_STATISTICS_INVALID, "");
  char spm[HASH_TEXT_SIZE], text[512];
  digest_of("\1\2\3", 3, spm);
  snprintf(text, sizeof text,
           "  - {name: t, role: tokens, dtype: int64, shape: [1, 4], max_length: 4, padding: right, "
           "tokenizer: {file: spm.model, digest: \"%s\"}}",
           spm);
  REFUSES(text, "needs the key 'pad_id'");
  REFUSES("  - {name: t, role: tokens, dtype: int64, shape: [1, 4], max_length: 4, padding: right}", "'tokenizer'");
  REFUSES(
      "  - {name: t, role: tokens, dtype: int64, shape: [1, 4], max_length: 4, padding: right, tokenizer: {file: "
      "tokenizer.json}}",
      "'digest'");
  REFUSES("  - {name: t, " TOKENS ", padding: right}", "'max_length'");
  REFUSES("  - {name: t, " TOKENS ", max_length: 4}", "'padding'");
  REFUSES("  - {name: t, " TOKENS ", max_length: 3, padding: right}", "holds up to 4 tokens");
  REFUSES("  - {name: t, " TOKENS ", max_length: 4, padding: centre}", "right");
  REFUSES("  - {name: t, " TOKENS ", max_length: 4, padding: none, pad_id: 1}", "neither pad_id nor mask");
  REFUSES("  - {name: t, " TOKENS ", max_length: 4, padding: right, pad_id: 7, vocab_size: 7}", "below the vocab_size");
  REFUSES("  - {name: t, " TOKENS ", max_length: 4, padding: right, mask: m}", "no other input");
  REFUSES("  - {name: t, " TOKENS ", max_length: 4, padding: right, mask: m}\n  - {name: m, dtype: int64, shape: [4]}",
          "same shape");
  REFUSES(
      "  - {name: t, role: tokens, dtype: float32, shape: [1, 4], max_length: 4, padding: right, pad_id: 0, "
      "tokenizer: {file: tokenizer.json, digest: \"DIGEST\"}}",
      "whole numbers");
  REFUSES("  - {name: t, max_length: 4, dtype: int64, shape: [1, 4]}", "belongs to `role: tokens`");
}

/* Told before the file is looked at, and at the key that is wrong. */
static void a_tokenizer_that_is_none_is_refused_unread(void **state) {
  (void)state;
  char path[512];
  REFUSES(
      "  - {name: t, role: tokens, dtype: int64, shape: [1, 4], max_length: 4, padding: right, pad_id: 0, "
      "tokenizer: {file: absent.json, digest: zz}}",
      "digest 'zz', which is none");
  snprintf(path, sizeof path, "%s/big.model", folder);
  temp_write(folder, "big.model", "");
  assert_int_equal(truncate(path, ((off_t)256 << 20) + 1), 0);
  REFUSES(
      "  - {name: t, role: tokens, dtype: int64, shape: [1, 4], max_length: 4, padding: right, pad_id: 0, "
      "tokenizer: {file: big.model, digest: \"" ZEROS "\"}}",
      "a tokenizer has at most 268435456");
}

static void points_at(const char *inputs, const char *where) {
  struct contract *none = NULL;
  assay_status status = parse(inputs, &none);
  assert_int_equal(status.code, ASSAY_CONTRACT_INVALID);
  assert_string_equal(assay_status_where(status), where);
  assay_status_clear(&status);
}

static void errors_of_tokens_point_at_the_key(void **state) {
  (void)state;
#define ON_LINES "  - {name: t, " TOKENS ",\n     "
  points_at(ON_LINES "max_length: 3, padding: right}", "c.yaml:6:18");
  points_at(ON_LINES "max_length: 4, padding: none, pad_id: 1}", "c.yaml:6:44");
  points_at(ON_LINES "max_length: 4, padding: none, mask: m}", "c.yaml:6:42");
  points_at(ON_LINES "max_length: 4, padding: right, pad_id: 7, vocab_size: 7}", "c.yaml:6:45");
#undef ON_LINES
}

/* --- tokens: what is fed ------------------------------------------------------------------ */

static assay_status feed(const char *padding, const int64_t *ids, const int64_t *mask) {
  struct contract *contract;
  char text[512];
  snprintf(text, sizeof text,
           "  - {name: t, " TOKENS
           ", max_length: 4, padding: %s, %s vocab_size: 100%s}\n"
           "  - {name: m, dtype: int64, shape: [1, 4]}",
           padding, strcmp(padding, "none") == 0 ? "" : "pad_id: 0,", strcmp(padding, "none") == 0 ? "" : ", mask: m");
  READS(text, &contract);
  const int64_t dims[] = {1, 4};
  assay_tensor tensors[2];
  const int64_t *values[] = {ids, mask};
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(tensor_new(ASSAY_INT64, dims, 2, &tensors[i]));
    memcpy(tensors[i].data, values[i], 4 * sizeof *values[i]);
  }
  const struct fed_input inputs[] = {{"t", &tensors[0], (double)NAN}, {"m", &tensors[1], (double)NAN}};
  assay_status status = contract_validate(contract, inputs, 2);
  tensor_free(&tensors[0]);
  tensor_free(&tensors[1]);
  contract_free(contract);
  return status;
}
#define IDS(...) ((const int64_t[4]){__VA_ARGS__})

static void ids_lie_in_the_vocabulary(void **state) {
  (void)state;
  ASSERT_OK(feed("none", IDS(0, 99, 0, 5), IDS(0, 0, 0, 0)));
  ASSERT_FAILS(feed("none", IDS(0, 100, 0, 5), IDS(0, 0, 0, 0)), ASSAY_INPUT_TOKENS, "token 1 is 100");
  ASSERT_FAILS(feed("none", IDS(0, 1, -1, 5), IDS(0, 0, 0, 0)), ASSAY_INPUT_TOKENS, "token 2 is -1");
  ASSERT_FAILS(feed("none", IDS(0, 1, INT64_MAX, 5), IDS(0, 0, 0, 0)), ASSAY_INPUT_TOKENS, "9223372036854775807");
}

static void padding_stands_on_its_side(void **state) {
  (void)state;
  ASSERT_OK(feed("right", IDS(7, 8, 0, 0), IDS(1, 1, 0, 0)));
  ASSERT_OK(feed("right", IDS(7, 8, 9, 9), IDS(1, 1, 1, 1)));
  ASSERT_OK(feed("left", IDS(0, 0, 7, 8), IDS(0, 0, 1, 1)));
  ASSERT_FAILS(feed("right", IDS(0, 0, 7, 8), IDS(0, 0, 1, 1)), ASSAY_INPUT_TOKENS, "padding is on the right");
  ASSERT_FAILS(feed("left", IDS(7, 8, 0, 0), IDS(1, 1, 0, 0)), ASSAY_INPUT_TOKENS, "padding is on the left");
  ASSERT_FAILS(feed("right", IDS(7, 0, 8, 0), IDS(1, 1, 1, 0)), ASSAY_INPUT_TOKENS, "token 2 is 8");
  ASSERT_FAILS(feed("right", IDS(0, 0, 0, 0), IDS(0, 0, 0, 0)), ASSAY_INPUT_TOKENS, "all 4 tokens are padding");
}

static void the_mask_agrees_with_the_padding(void **state) {
  (void)state;
  ASSERT_FAILS(feed("right", IDS(7, 8, 0, 0), IDS(1, 1, 1, 1)), ASSAY_INPUT_TOKENS, "mask 'm' is 1 at token 2");
  ASSERT_FAILS(feed("right", IDS(7, 8, 0, 0), IDS(0, 0, 1, 1)), ASSAY_INPUT_TOKENS, "mask 'm' is 0 at token 0");
  ASSERT_FAILS(feed("left", IDS(0, 7, 8, 9), IDS(0, 1, 0, 1)), ASSAY_INPUT_TOKENS, "mask 'm' is 0 at token 2");
  ASSERT_FAILS(feed("left", IDS(0, 7, 8, 9), IDS(0, 1, 2, 1)), ASSAY_INPUT_TOKENS, "mask 'm' is 2 at token 2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(noise_says_its_distribution_and_seeds),
      cmocka_unit_test(noise_that_says_too_little_or_too_much_is_refused),
      cmocka_unit_test(tokens_say_length_padding_and_ids),
      cmocka_unit_test(what_is_left_out_comes_from_tokenizer_json),
      cmocka_unit_test(tokens_that_cannot_be_checked_are_refused),
      cmocka_unit_test(a_tokenizer_that_is_none_is_refused_unread),
      cmocka_unit_test(errors_of_tokens_point_at_the_key),
      cmocka_unit_test(ids_lie_in_the_vocabulary),
      cmocka_unit_test(padding_stands_on_its_side),
      cmocka_unit_test(the_mask_agrees_with_the_padding),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
