/* `assay corpus new | add | import | show | seal`: makes and examines corpora. Here: finding the subcommand, `new`,
 * and what the subcommands share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/corpus_cli.h"
#include "contract/apply.h"
#include "core/text.h"

static const struct cli_subcommand subcommands[] = {
    {"new", "corpus new", "make an empty corpus", corpus_new_command},
    {"add", "corpus add", "add cases: .npz files, or one case of .npy files", corpus_add_command},
    {"import", "corpus import", "add recordings: folders, ONNX test data, HDF5 episodes", corpus_import_command},
    {"show", "corpus show", "show what a corpus covers and what it cannot tell", corpus_show_command},
    {"seal", "corpus seal", "write the digests of a sealed corpus into the register", corpus_seal_command},
};

int command_corpus(struct cli *cli, int argc, char **argv) {
  return cli_subcommand(
      cli, argc, argv, subcommands, sizeof subcommands / sizeof subcommands[0],
      "usage: assay corpus new|add|import|show|seal FOLDER [options]\n\nMakes and examines corpora.\n");
}

/* --- new --------------------------------------------------------------- */

/* --weights takes a digest, or a file whose digest is meant. */
static assay_status weights_digest(const char *given, char digest[HASH_TEXT_SIZE]) {
  if (text_starts_with(given, "sha256:")) {
    if (strlen(given) != HASH_TEXT_SIZE - 1 || strspn(given + 7, "0123456789abcdef") != 64) {
      return status_make(ASSAY_USAGE, NULL, "--weights is '%s'; a digest is sha256: and 64 hexadecimal digits", given);
    }
    memcpy(digest, given, HASH_TEXT_SIZE);
    return status_ok();
  }
  return hash_file(given, digest);
}

static assay_status make_corpus(const char *folder, const char *role, const char *weights, struct corpus_head *head) {
  char digest[HASH_TEXT_SIZE];
  head->role = role == NULL ? CORPUS_GOLDEN : corpus_role_find(role);
  if (head->role == CORPUS_ROLE_COUNT) {
    return status_make(ASSAY_USAGE, NULL, "--role is '%s'; it must be golden, calibration or sealed", role);
  }
  if (weights != NULL) {
    TRY(weights_digest(weights, digest));
    head->weights_digest = digest;
  }
  return corpus_new(folder, head);
}

int corpus_new_command(struct cli *cli, int argc, char **argv) {
  struct corpus_head head = {0};
  const char *role = NULL, *weights = NULL;
  const struct cli_option options[] = {
      {"role", 0, "ROLE", "golden (the default), calibration or sealed", NULL, &role, NULL, NULL, 0},
      {"policy", 0, "NAME", "the policy that the corpus is for", NULL, &head.policy, NULL, NULL, 0},
      {"framework", 0, "NAME", "what gave the answers, such as pytorch", NULL, &head.framework, NULL, NULL, 0},
      {"framework-version", 0, "V", "its version", NULL, &head.framework_version, NULL, NULL, 0},
      {"weights", 0, "DIGEST|FILE", "digest of the source's weights, or the file", NULL, &weights, NULL, NULL, 0},
  };
  int n = 0;
  bool done = false;
  assay_status status = cli_options(cli, argc, argv, options, sizeof options / sizeof *options,
                                    "corpus new FOLDER [options]", "Makes an empty corpus.", &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 1) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "corpus new takes one folder"));
  }
  status = make_corpus(argv[0], role, weights, &head);
  if (assay_status_ok(status) && !cli->quiet && !cli->json) {
    printf("made %s (%s)\n", argv[0], corpus_role_name(head.role));
  }
  return cli_finish(status);
}

/* --- what add and import share ----------------------------------------- */

assay_status split_pair(struct arena *arena, const char *text, const char *what, bool first, const char **name,
                        const char **value) {
  const char *equals = first ? strchr(text, '=') : strrchr(text, '=');
  if (equals == NULL || equals == text || equals[1] == '\0') {
    return status_make(ASSAY_USAGE, NULL, "--%s is '%s'; both sides of the '=' must be given", what, text);
  }
  *name = arena_copy(arena, text, (size_t)(equals - text));
  *value = equals + 1;
  return *name == NULL ? status_no_memory(strlen(text)) : status_ok();
}

static assay_status parse_tags(const struct case_options *options, struct arena *arena, struct corpus_case *out) {
  struct case_tag *tags;
  ARENA_NEW(arena, tags, options->n_tags);
  for (int i = 0; i < options->n_tags; i++) {
    TRY(split_pair(arena, options->tags[i], "tag", true, &tags[i].key, &tags[i].value));
  }
  out->tags = tags;
  out->n_tags = options->n_tags;
  return status_ok();
}

static assay_status parse_ages(const struct case_options *options, struct arena *arena, struct corpus_case *out) {
  struct case_age *ages;
  ARENA_NEW(arena, ages, options->n_ages);
  for (int i = 0; i < options->n_ages; i++) {
    const char *number;
    char *end;
    TRY(split_pair(arena, options->ages[i], "age", false, &ages[i].input, &number));
    ages[i].ms = strtod(number, &end);
    if (*end != '\0' || !isfinite(ages[i].ms)) {
      return status_make(ASSAY_USAGE, NULL, "--age is '%s'; an age is a number of milliseconds", options->ages[i]);
    }
  }
  out->ages = ages;
  out->n_ages = options->n_ages;
  return status_ok();
}

assay_status case_from_options(const struct case_options *options, struct arena *arena, struct corpus_case *out) {
  *out = (struct corpus_case){
      .id = options->id, .sequence = options->sequence, .forced = options->forced, .origin = CASE_ORIGIN_NONE};
  if (options->forced && !options->sequence) {
    return status_make(ASSAY_USAGE, NULL, "--forced is for sequences; give --sequence too");
  }
  if (options->refuse != NULL) {
    out->refuse = true;
    out->refusal = assay_code_find(options->refuse);
    if (!contract_is_refusal(out->refusal)) {
      return status_make(ASSAY_USAGE, NULL,
                         "--refuse is '%s', which is not a code that an invalid input can get, such as INPUT_SHAPE",
                         options->refuse);
    }
  }
  TRY(parse_tags(options, arena, out));
  TRY(parse_ages(options, arena, out));
  return times_from_options(options, arena, out);
}

assay_status declare_dtypes(const struct case_options *options, struct arena *arena, struct corpus_editor *editor) {
  for (int i = 0; i < options->n_dtypes; i++) {
    const char *array, *name;
    TRY(split_pair(arena, options->dtypes[i], "dtype", false, &array, &name));
    assay_dtype dtype = assay_dtype_find(name);
    if (dtype == ASSAY_UNDEFINED) {
      return status_make(ASSAY_USAGE, NULL, "--dtype is '%s', but there is no type '%s'", options->dtypes[i], name);
    }
    TRY(corpus_edit_dtype(editor, array, dtype));
  }
  return status_ok();
}

static assay_status tell(const struct cli *cli, const char *folder, int32_t added) {
  struct corpus *corpus;
  TRY(corpus_open_to_write(folder, &corpus));
  if (cli->json) {
    printf("{\"added\": %d, \"cases\": %d, \"digest\": \"%s\"}\n", added, corpus->n_cases, corpus->digest);
  } else if (!cli->quiet) {
    printf("added %d case%s: %d in all, version %s\n", added, added == 1 ? "" : "s", corpus->n_cases, corpus->digest);
  }
  corpus_close(corpus);
  return status_ok();
}

int finish_edit(struct cli *cli, assay_status status, struct corpus_editor *editor, const char *folder) {
  if (!assay_status_ok(status)) {
    corpus_edit_abandon(editor);
    return cli_finish(status);
  }
  int32_t added = corpus_edit_count(editor);
  status = corpus_edit_commit(editor);
  if (assay_status_ok(status)) {
    status = tell(cli, folder, added);
  }
  return cli_finish(status);
}
