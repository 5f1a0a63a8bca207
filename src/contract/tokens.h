/* An input of role `tokens`: ids that a tokenizer made of text. assay does not tokenize; it holds what is fed
 * against what the contract says of length, padding, ids and mask. Pure; thread-safe. */
#ifndef CONTRACT_TOKENS_H
#define CONTRACT_TOKENS_H

#include "contract/apply.h"

enum tokens_padding { TOKENS_PAD_RIGHT, TOKENS_PAD_LEFT, TOKENS_PAD_NONE };

struct contract_tokens {
  const char *tokenizer, *digest; /* the file beside the contract, and its digest, which was checked */
  int64_t max_length;             /* the last axis holds as many at most */
  enum tokens_padding padding;
  int64_t pad_id;     /* -1: nothing is padded */
  int64_t vocab_size; /* ids are below it; 0: not known, only negative ids are refused */
  const char *mask;   /* the input that is 1 where a token stands and 0 at padding; NULL: none */
};

/* INPUT_TOKENS where the ids, their padding or the mask are not as the contract says. Inputs have passed the checks of
 * dtype and shape. An input that was not fed is not looked at. */
ASSAY_MUST_CHECK assay_status tokens_validate(const struct contract *contract, const struct fed_input *inputs,
                                              size_t n_inputs);

#endif
