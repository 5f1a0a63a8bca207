/* Whether token ids may be fed: see tokens.h. Nothing is tokenized, and nothing allocated unless something is
 * refused. */
#include "contract/tokens.h"

#include <stdio.h>

#include "contract/freshness.h"

static int64_t id_at(const assay_tensor *tensor, int64_t i) { return tensor_get_int(tensor, i); }

/* One row of tokens, with its mask. */
struct row {
  const struct contract_input *input;
  const assay_tensor *ids, *mask; /* mask NULL: none */
  int64_t first, length, number;  /* of its first element; number among the rows */
};

static assay_status refuse(const struct row *row, const char *format, ...) PRINTF_LIKE(2, 3);
static assay_status refuse(const struct row *row, const char *format, ...) {
  char place[160];
  struct text sentence = {0};
  va_list arguments;
  snprintf(place, sizeof place, "input '%.120s'", row->input->name);
  text_format(&sentence, "input '%s', row %lld: ", row->input->name, (long long)row->number);
  va_start(arguments, format);
  text_format_va(&sentence, format, arguments);
  va_end(arguments);
  assay_status status = status_make(ASSAY_INPUT_TOKENS, place, "%s", text_string(&sentence));
  text_free(&sentence);
  return status;
}

static assay_status check_ids(const struct row *row) {
  const struct contract_tokens *tokens = row->input->tokens;
  for (int64_t i = 0; i < row->length; i++) {
    int64_t id = id_at(row->ids, row->first + i);
    if (id < 0) {
      return refuse(row, "token %lld is %lld, but ids are 0 or more", (long long)i, (long long)id);
    }
    if (tokens->vocab_size > 0 && id >= tokens->vocab_size) {
      return refuse(row, "token %lld is %lld, but the vocabulary has %lld ids, 0 to %lld", (long long)i, (long long)id,
                    (long long)tokens->vocab_size, (long long)tokens->vocab_size - 1);
    }
  }
  return status_ok();
}

/* Position i counted from the side where tokens begin: padding stands behind them. */
static int64_t place(const struct row *row, int64_t i) {
  return row->input->tokens->padding == TOKENS_PAD_LEFT ? row->length - 1 - i : i;
}

static bool is_pad(const struct row *row, int64_t i) {
  return id_at(row->ids, row->first + place(row, i)) == row->input->tokens->pad_id;
}

static const char *side(const struct row *row) {
  return row->input->tokens->padding == TOKENS_PAD_LEFT ? "left" : "right";
}

/* Tokens from one side, padding from the other, and nothing mixed. *count: how many tokens. */
static assay_status check_padding(const struct row *row, int64_t *count) {
  *count = 0;
  while (*count < row->length && !is_pad(row, *count)) {
    ++*count;
  }
  for (int64_t i = *count; i < row->length; i++) {
    if (!is_pad(row, i)) {
      return refuse(row,
                    "token %lld is %lld, but it stands beyond padding (id %lld at token %lld); padding is on the %s",
                    (long long)place(row, i), (long long)id_at(row->ids, row->first + place(row, i)),
                    (long long)row->input->tokens->pad_id, (long long)place(row, *count), side(row));
    }
  }
  return *count > 0 || row->length == 0 ? status_ok()
                                        : refuse(row, "all %lld tokens are padding (id %lld)", (long long)row->length,
                                                 (long long)row->input->tokens->pad_id);
}

static assay_status check_mask(const struct row *row, int64_t count) {
  for (int64_t i = 0; i < row->length; i++) {
    int64_t at = place(row, i);
    double expected = i < count ? 1.0 : 0.0, found = tensor_get(row->mask, row->first + at);
    if (!(found == expected)) {
      return refuse(row, "the mask '%s' is %.9g at token %lld, but a %s stands there (id %lld), which asks for %.0f",
                    row->input->tokens->mask, found, (long long)at, i < count ? "token" : "padding",
                    (long long)id_at(row->ids, row->first + at), expected);
    }
  }
  return status_ok();
}

static assay_status check_row(const struct row *row) {
  int64_t count = 0;
  TRY(check_ids(row));
  if (row->input->tokens->padding == TOKENS_PAD_NONE) {
    return status_ok();
  }
  TRY(check_padding(row, &count));
  return row->mask != NULL ? check_mask(row, count) : status_ok();
}

static assay_status check_input(const struct contract_input *input, const assay_tensor *ids, const assay_tensor *mask) {
  int64_t all = tensor_count(ids), length = ids->dims[ids->rank - 1];
  struct row row = {.input = input, .ids = ids, .mask = mask, .length = length};
  if (mask != NULL && !shape_equal(ids, mask)) {
    struct text shape = {0};
    shape_describe(mask->dims, mask->rank, &shape);
    assay_status status = refuse(&row, "the mask '%s' has shape %s, which is not that of the tokens",
                                 input->tokens->mask, text_string(&shape));
    text_free(&shape);
    return status;
  }
  for (; row.first < all; row.first += length, row.number++) {
    TRY(check_row(&row));
  }
  return status_ok();
}

assay_status tokens_validate(const struct contract *contract, const struct fed_input *inputs, size_t n_inputs) {
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_input *input = &contract->inputs[i];
    const struct fed_input *ids = input->tokens != NULL ? find_fed(inputs, n_inputs, input->name) : NULL;
    if (ids != NULL && ids->tensor->rank > 0) {
      const char *name = input->tokens->mask;
      const struct fed_input *mask = name != NULL ? find_fed(inputs, n_inputs, name) : NULL;
      TRY(check_input(input, ids->tensor, mask != NULL ? mask->tensor : NULL));
    }
  }
  return status_ok();
}
