/* `assay corpus seal FOLDER`: writes the digests of a sealed corpus into the register of the policy folder, by which
 * overlap is refused where the sealed data is not. It prints nothing of the cases. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/corpus_cli.h"
#include "core/file.h"
#include "core/text.h"
#include "corpus/sealed_register.h"

static assay_status add_cases(const struct cli *cli, const struct corpus *corpus, struct sealed_register *sealed) {
  for (int32_t i = 0; i < corpus->n_cases; i++) {
    int32_t n_seeds = 1;
    progress_step(&cli->progress, "sealing cases", (size_t)i, (size_t)corpus->n_cases);
    for (int32_t seed = 0; seed < n_seeds; seed++) {
      struct case_data *data = NULL;
      assay_status status = case_load_seed(corpus, i, seed, &data);
      if (assay_status_ok(status)) {
        n_seeds = data->n_seeds > 0 ? data->n_seeds : 1;
        status = sealed_register_add(sealed, &corpus->cases[i], data);
      }
      case_data_free(data);
      TRY(status);
    }
  }
  progress_step(&cli->progress, "sealing cases", (size_t)corpus->n_cases, (size_t)corpus->n_cases);
  return sealed_register_name(sealed, corpus);
}

/* The register beside the corpus' folder, links followed. */
static assay_status default_path(const char *folder, struct arena *arena, const char **out) {
  char resolved[PATH_MAX];
  if (realpath(folder, resolved) == NULL) {
    return status_make(ASSAY_FILE_MISSING, folder, "there is no such folder; name the folder of a sealed corpus");
  }
  const char *above = path_folder(arena, resolved);
  *out = above != NULL ? path_join(arena, above, SEALED_REGISTER_NAME) : NULL;
  return *out != NULL ? status_ok() : status_no_memory(strlen(folder));
}

static assay_status seal(const struct cli *cli, const char *folder, const char *path) {
  struct corpus *corpus = NULL;
  struct sealed_register *sealed = NULL;
  assay_status status = corpus_open_sealed(folder, &corpus);
  if (assay_status_ok(status)) {
    status = sealed_register_read(path, &sealed);
  }
  if (assay_status_ok(status) && sealed == NULL) {
    status = sealed_register_new(&sealed);
  }
  if (assay_status_ok(status)) {
    status = add_cases(cli, corpus, sealed);
  }
  if (assay_status_ok(status)) {
    status = sealed_register_write(sealed, path);
  }
  if (assay_status_ok(status) && cli->json) {
    printf("{\"cases\": %d, \"digests\": %lld, \"corpus\": \"%s\"}\n", (int)corpus->n_cases,
           (long long)sealed_register_size(sealed), corpus->digest);
  } else if (assay_status_ok(status) && !cli->quiet) {
    struct text shown = {0};
    text_add_shown(&shown, path);
    printf("sealed %d case%s: %lld digests in %s\n", (int)corpus->n_cases, corpus->n_cases == 1 ? "" : "s",
           (long long)sealed_register_size(sealed), text_string(&shown));
    text_free(&shown);
  }
  sealed_register_free(sealed);
  corpus_close(corpus);
  return status;
}

int corpus_seal_command(struct cli *cli, int argc, char **argv) {
  const char *path = NULL;
  const struct cli_option options[] = {
      {"register", 0, "FILE", "where the digests go; sealed.json beside FOLDER otherwise", NULL, &path, NULL, NULL, 0},
  };
  int n = 0;
  bool done = false;
  assay_status status = cli_options(
      cli, argc, argv, options, sizeof options / sizeof *options, "corpus seal FOLDER [--register FILE]",
      "Adds the digests of a sealed corpus to the register of the policy folder. With the register there, a "
      "case\nthat the sealed set holds already is refused in every other corpus (SEALED_OVERLAP).",
      &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 1) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "corpus seal takes the folder of a sealed corpus"));
  }
  struct arena arena = {0};
  status = path != NULL ? status_ok() : default_path(argv[0], &arena, &path);
  if (assay_status_ok(status)) {
    status = seal(cli, argv[0], path);
  }
  arena_free(&arena);
  return cli_finish(status);
}
