/* What a program of somebody else's looks like: ten lines against the installed library. */
#include <assay/assay.h>
#include <stdio.h>

int session_close = 10; /* a name that the library uses inside must stay free */

int main(int argc, char **argv) {
  assay_model *model;
  assay_status status = assay_model_open(argc > 1 ? argv[1] : "policy.onnx", &model);
  printf("assay %s: %s\n", assay_version(), assay_status_ok(status) ? "opened" : assay_code_name(status.code));
  assay_status_clear(&status);
  assay_model_close(model);
  return session_close - 10;
}
