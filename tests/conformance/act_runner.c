/* Runs an exported ACT policy: act_runner MODEL CASES_FOLDER PRECISION, and compares with what PyTorch
 * answered: fp32 within 1e-5 of the largest magnitude of `outputs`, fp64 within 1e-9 of that of `outputs64`. Where a
 * case holds `exported64`, the exporter has rounded constants to float32, and the graph is no longer the
 * network of `outputs64`: then fp64 must agree within 1e-9 with `exported64`, and with `outputs64` to within
 * that rounding, 5e-7. In fp32 it also holds the promises on speed and memory: the model opens in 0.5 s, the fastest
 * case takes at most 3 s on one core, and the process never holds more than 2.2 times the model's size. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/file.h"
#include "engine/engine.h"
#include "tensor/npz.h"

static const double fp32_tolerance = 1e-5, fp64_tolerance = 1e-9, rounded_constants = 5e-7;
static const double open_limit_s = 0.5, case_limit_s = 3, memory_limit = 2.2;

struct act {
  struct model *model;
  struct session *session;
  struct session_options options;
  bool wide, agrees;
  double fastest_s;
};

/* Peak resident memory of this process in bytes, touched pages of files included. */
static double peak_memory(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  double kilobytes = NAN;
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmHWM: %lf kB", &kilobytes) == 1) {
      break;
    }
  }
  if (status != NULL) {
    fclose(status);
  }
  return kilobytes * 1024;
}

static double seconds_since(int64_t start) { return (double)(clock_now_ns() - start) * 1e-9; }

static assay_status read_array(struct npz *npz, const char *name, assay_tensor *out) {
  size_t i = npz_find(npz, name);
  if (i == npz_count(npz)) {
    return status_make(ASSAY_NPZ_INVALID, NULL, "there is no array '%s'", name);
  }
  return npz_read(npz, i, out);
}

/* Largest |found - expected| over the largest |expected|; infinite where they cannot be compared. */
static double distance(const assay_tensor *found, const assay_tensor *expected) {
  double scale = 0, worst = 0;
  if (!shape_equal(found, expected) || found->dtype != expected->dtype) {
    return INFINITY;
  }
  for (int64_t i = 0; i < tensor_count(expected); i++) {
    scale = fmax(scale, fabs(tensor_get(expected, i)));
  }
  for (int64_t i = 0; i < tensor_count(expected); i++) {
    double far = fabs(tensor_get(found, i) - tensor_get(expected, i)) / scale;
    worst = far <= worst ? worst : (isnan(far) ? INFINITY : far);
  }
  return worst;
}

/* Compares with one array of the case, when it is there. */
static assay_status compare(struct act *act, struct npz *npz, const char *name, double tolerance,
                            const assay_tensor *found) {
  assay_tensor expected;
  TRY(read_array(npz, name, &expected));
  double far = distance(found, &expected);
  printf("  %s: off by %.2g of scale, allowed %.2g\n", name, far, tolerance);
  act->agrees = act->agrees && far <= tolerance;
  tensor_free(&expected);
  return status_ok();
}

static assay_status compare_all(struct act *act, struct npz *npz, const assay_tensor *found) {
  if (!act->wide) {
    return compare(act, npz, "outputs/actions", fp32_tolerance, found);
  }
  bool rounded = npz_find(npz, "exported64/actions") != npz_count(npz);
  if (rounded) {
    TRY(compare(act, npz, "exported64/actions", fp64_tolerance, found));
  }
  return compare(act, npz, "outputs64/actions", rounded ? rounded_constants : fp64_tolerance, found);
}

static assay_status run_npz(struct act *act, struct npz *npz, const char *name) {
  assay_tensor image = {0}, prop = {0};
  const struct named_tensor feeds[] = {{"image", &image}, {"prop", &prop}}, *outputs;
  const struct session_run run = {.inputs = feeds, .n_inputs = 2};
  size_t n_outputs;
  assay_status status = read_array(npz, "inputs/image", &image);
  if (assay_status_ok(status)) {
    status = read_array(npz, "inputs/prop", &prop);
  }
  int64_t start = clock_now_ns();
  if (assay_status_ok(status)) {
    status = session_run(act->session, &run, &outputs, &n_outputs);
  }
  if (assay_status_ok(status)) {
    double took = seconds_since(start);
    printf("%s: %.2f s\n", name, took);
    act->fastest_s = fmin(act->fastest_s, took);
    status = compare_all(act, npz, outputs[0].tensor);
  }
  tensor_free(&image);
  tensor_free(&prop);
  return status;
}

static assay_status run_case(struct act *act, const char *path) {
  struct npz *npz;
  TRY(npz_open(path, &npz));
  assay_status status = run_npz(act, npz, path_name(path));
  npz_close(npz);
  return status;
}

static assay_status run_cases(struct act *act, const char *folder) {
  struct arena arena = {0};
  char **names;
  size_t count = 0;
  assay_status status = folder_list(folder, &arena, &names, &count);
  for (size_t i = 0; assay_status_ok(status) && i < count; i++) {
    status = run_case(act, path_join(&arena, folder, names[i]));
  }
  arena_free(&arena);
  if (assay_status_ok(status) && count == 0) {
    status = status_make(ASSAY_FILE_MISSING, folder, "there is no case");
  }
  return status;
}

static assay_status run_all(struct act *act, const char *model, const char *cases, bool *good) {
  int64_t start = clock_now_ns();
  TRY(model_open(model, NULL, &act->model));
  double opened = seconds_since(start);
  start = clock_now_ns();
  TRY(session_open(act->model, &act->options, &act->session));
  double planned = seconds_since(start);
  TRY(run_cases(act, cases));
  uint64_t size;
  TRY(file_size(model, &size));
  double memory = peak_memory() / (double)size;
  struct session_info info;
  session_describe(act->session, &info);
  printf(
      "%s: opened in %.3f s, planned in %.3f s, %d nodes, values %.1f MB, weights %.1f MB, peak memory %.2f times the "
      "file\n",
      precision_name(info.precision), opened, planned, info.n_nodes, (double)info.arena_bytes * 1e-6,
      (double)info.weight_bytes * 1e-6, memory);
  *good = act->agrees;
  if (!act->wide && !(opened <= open_limit_s && act->fastest_s <= case_limit_s && memory <= memory_limit)) {
    printf(
        "opened in %.3f s (allowed %.1f), fastest case %.2f s (allowed %.1f), memory %.2f times the file (allowed "
        "%.1f)\n",
        opened, open_limit_s, act->fastest_s, case_limit_s, memory, memory_limit);
    *good = false;
  }
  return status_ok();
}

int main(int argc, char **argv) {
  struct act act = {.options = {.kernel_level = -1, .threads = 1}, .fastest_s = INFINITY, .agrees = true};
  if (argc != 4 || !precision_find(argv[3], &act.options.precision)) {
    fprintf(stderr, "usage: act_runner MODEL CASES_FOLDER PRECISION\n");
    return 2;
  }
  act.wide = act.options.precision == PRECISION_FP64;
  bool good = false;
  assay_status status = run_all(&act, argv[1], argv[2], &good);
  if (!assay_status_ok(status)) {
    printf("%s: %s [%s]\n", assay_status_where(status), assay_status_sentence(status), assay_code_name(status.code));
  }
  assay_status_clear(&status);
  session_close(act.session);
  model_close(act.model);
  return good ? 0 : 1;
}
