/* `assay version [--json]`: the version and what this build can do. */
#include "cli/cli.h"
#include "kernels/kernels.h"

#ifdef ASSAY_HAVE_HDF5
static const bool have_hdf5 = true;
#else
static const bool have_hdf5 = false;
#endif

int command_version(struct cli *cli, int argc, char **argv) {
  int n = 0;
  bool done = false;
  assay_status status = cli_options(cli, argc, argv, NULL, 0, "version [--json]",
                                    "Shows the version and the parts of this build.", &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  const char *level = kernel_level_name(kernels_best()->level);
  if (cli->json) {
    printf("{\"version\": \"%s\", \"kernels\": \"%s\", \"hdf5\": %s, \"engines\": [\"assay\", \"recorded\"]}\n",
           ASSAY_VERSION, level, have_hdf5 ? "true" : "false");
  } else {
    printf("assay %s\nkernels: %s\nHDF5: %s\nengines: assay, recorded\n", ASSAY_VERSION, level,
           have_hdf5 ? "yes" : "no");
  }
  return EXIT_PASS;
}
