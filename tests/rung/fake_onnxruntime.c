/* A library that looks like ONNX Runtime from outside and goes wrong in one way, which FAKE_FAULT names: what a rung
 * must survive. Every function that the fault does not need does nothing and succeeds. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum { TOO_OLD = 1, CRASHES_ON_THE_MODEL, HANGS, GIVES_NONSENSE, OTHER_PLACE };
enum { TABLE = 420 };

static void *succeed(void) { return NULL; }

static void *list_providers(char ***names, int *count) {
  static char cpu[] = "CPUExecutionProvider";
  static char *all[] = {cpu};
  *names = all;
  *count = 1;
  return NULL;
}

static void *count_outputs(const void *session, size_t *count) {
  (void)session;
  *count = 1;
  return NULL;
}

static void *name_output(const void *session, size_t index, void *allocator, char **name) {
  static char y[] = "y";
  (void)session, (void)index, (void)allocator;
  *name = y;
  return NULL;
}

static int value; /* stands for the session and the output */

static void *create_session(const void *env, const char *path, const void *options, void **session) {
  (void)env, (void)path, (void)options;
  if (FAKE_FAULT == CRASHES_ON_THE_MODEL) {
    raise(SIGSEGV);
  }
  *session = &value;
  return NULL;
}

static void *run(void *session, const void *options, const char *const *names, const void *const *inputs, size_t n,
                 const char *const *output_names, size_t n_outputs, void **outputs) {
  (void)session, (void)options, (void)names, (void)inputs, (void)n, (void)output_names, (void)n_outputs;
  while (FAKE_FAULT == HANGS) {
    pause();
  }
  outputs[0] = &value;
  return NULL;
}

static void *say_tensor(const void *of, int *out) {
  (void)of;
  *out = 1;
  return NULL;
}

static void *say_rank(const void *shape, size_t *rank) {
  (void)shape;
  *rank = FAKE_FAULT == GIVES_NONSENSE ? 1000000 : 1;
  return NULL;
}

static void *say_type(const void *shape, int *type) {
  (void)shape;
  *type = 1;
  return NULL;
}

static void *say_dimensions(const void *shape, int64_t *dims, size_t rank) {
  (void)shape;
  for (size_t i = 0; i < rank && i < 1; i++) {
    dims[i] = 1;
  }
  return NULL;
}

static void *say_data(void *of, void **data) {
  static float answer = 1;
  (void)of;
  *data = &answer;
  return NULL;
}

/* One node, which went to another provider than the one that was asked for. */
static int thing;
static void *assignment(const void *session, const void *const **subgraphs, size_t *count) {
  static const void *const all[] = {&thing};
  (void)session;
  *subgraphs = all;
  *count = 1;
  return NULL;
}
static void *subgraph_provider(const void *subgraph, const char **name) {
  (void)subgraph;
  *name = FAKE_FAULT == OTHER_PLACE ? "XnnpackExecutionProvider" : "CPUExecutionProvider";
  return NULL;
}
static void *node_name(const void *node, const char **name) {
  (void)node;
  *name = "Add_0";
  return NULL;
}

typedef void function(void);
static function *table[TABLE];

static const void *get_table(uint32_t version) {
  if (FAKE_FAULT == TOO_OLD && version > 10) {
    return NULL;
  }
  for (int i = 0; i < TABLE; i++) {
    table[i] = (function *)succeed;
  }
  table[7] = (function *)create_session;
  table[9] = (function *)run;
  table[31] = (function *)count_outputs;
  table[37] = (function *)name_output;
  table[50] = (function *)say_tensor;
  table[51] = (function *)say_data;
  table[60] = (function *)say_type;
  table[61] = (function *)say_rank;
  table[62] = (function *)say_dimensions;
  table[125] = (function *)list_providers;
  table[407] = (function *)assignment;
  table[408] = (function *)subgraph_provider;
  table[409] = (function *)assignment;
  table[410] = (function *)node_name;
  table[412] = (function *)node_name;
  return table;
}

static const char *get_version(void) { return FAKE_FAULT == TOO_OLD ? "1.11.0" : "1.99.0"; }

struct base {
  const void *(*table)(uint32_t);
  const char *(*version)(void);
};

__attribute__((visibility("default"))) const struct base *OrtGetApiBase(void);
const struct base *OrtGetApiBase(void) {
  static const struct base base = {get_table, get_version};
  return &base;
}
