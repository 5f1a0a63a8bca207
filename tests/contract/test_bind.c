/* Binding a contract to a model: by name on both sides, and the joints of the metadata in order. */
#include <string.h>

#include "contract/contract.h"
#include "support.h"

static const char text[] =
    "assay: 1\npolicy: p\nmodel: m.onnx\n"
    "inputs:\n"
    "  - {name: a, dtype: float32, shape: [1]}\n"
    "  - {name: b, dtype: float32, shape: [{min: 1, opt: 1, max: 4}, 2]}\n"
    "state: [{input: h, output: h2, initial: zeros, reset: episode, dtype: float32, shape: [1]}]\n"
    "outputs:\n"
    "  - name: y\n"
    "    dtype: float32\n"
    "    shape: [1, 3]\n"
    "    decode: [{scale: 0.25}]\n"
    "    components:\n"
    "      - {name: hip, unit: rad, pd: {kp: 15, kd: 1}}\n"
    "      - {name: knee, unit: rad, pd: {kp: 40, kd: 1}}\n"
    "      - {name: ankle, unit: rad, pd: {kp: 80, kd: 1}}\n";

static const int64_t one[] = {1}, dynamic[] = {-1, 2}, action[] = {1, 3};
static struct signature_tensor inputs[5], outputs[4];
static struct signature_metadata metadata[4];
static struct signature signature;
static struct contract *contract;

static int setup(void **state) {
  (void)state;
  inputs[0] = (struct signature_tensor){"h", ASSAY_FLOAT32, 1, one, false};
  inputs[1] = (struct signature_tensor){"b", ASSAY_FLOAT32, 2, dynamic, false};
  inputs[2] = (struct signature_tensor){"a", ASSAY_FLOAT32, 1, one, false};
  inputs[3] = (struct signature_tensor){"weight", ASSAY_FLOAT32, 1, one, true};
  outputs[0] = (struct signature_tensor){"h2", ASSAY_FLOAT32, 1, one, false};
  outputs[1] = (struct signature_tensor){"y", ASSAY_FLOAT32, 2, action, false};
  signature = (struct signature){4, 2, 0, inputs, outputs, metadata};
  ASSERT_OK(contract_parse(text, sizeof text - 1, "c.yaml", ".", &contract));
  return 0;
}
static int teardown(void **state) {
  (void)state;
  contract_free(contract);
  return 0;
}

#define BINDS() ASSERT_OK(contract_bind(contract, &signature, "m.onnx"))
#define MISMATCH(code, place, part)                                     \
  do {                                                                  \
    assay_status found = contract_bind(contract, &signature, "m.onnx"); \
    assert_string_equal(assay_status_where(found), place);              \
    ASSERT_FAILS(found, (code), (part));                                \
    teardown(NULL);                                                     \
    setup(NULL);                                                        \
  } while (0)

static void binds_by_name_only(void **state) {
  (void)state;
  BINDS();
  struct signature_tensor swap = inputs[0];
  inputs[0] = inputs[2];
  inputs[2] = swap;
  BINDS();
  inputs[0].rank = -1; /* the model does not say */
  BINDS();
}

static void names_what_does_not_fit(void **state) {
  (void)state;
  inputs[1].name = "bb";
  MISMATCH(ASSAY_CONTRACT_MISMATCH, "c.yaml:6:5", "m.onnx has no input 'b'");
  outputs[1].name = "actions";
  MISMATCH(ASSAY_CONTRACT_MISMATCH, "c.yaml:9:5", "m.onnx has no output 'y'; it has 'h2', 'actions'");
  inputs[3].has_default = false;
  MISMATCH(ASSAY_CONTRACT_MISMATCH, "c.yaml:5:5", "takes an input 'weight', which the contract does not describe");
  outputs[2] = (struct signature_tensor){"extra", ASSAY_FLOAT32, 1, one, false};
  signature.n_outputs = 3;
  MISMATCH(ASSAY_CONTRACT_MISMATCH, "c.yaml:9:5", "gives an output 'extra'");
  inputs[2].dtype = ASSAY_FLOAT16;
  MISMATCH(ASSAY_CONTRACT_MISMATCH, "c.yaml:5:5", "input 'a' is float32 here, but float16 in m.onnx");
  inputs[2].rank = 0;
  MISMATCH(ASSAY_CONTRACT_MISMATCH, "c.yaml:5:5", "has shape [1] here, but [] in m.onnx");
  static const int64_t fixed[] = {2, 2}, two[] = {2};
  inputs[1].dims = fixed; /* the contract allows 1 to 4, the model 2 alone */
  MISMATCH(ASSAY_CONTRACT_MISMATCH, "c.yaml:6:5", "has shape [1..4,2] here, but [2,2] in m.onnx");
  inputs[0].dims = two;
  MISMATCH(ASSAY_CONTRACT_MISMATCH, "c.yaml:7:9", "input 'h' has shape [1] here, but [2]");
  outputs[0].dims = two;
  MISMATCH(ASSAY_CONTRACT_MISMATCH, "c.yaml:7:9", "output 'h2' has shape [1] here, but [2]");
}

static void say(int i, const char *key, const char *value) {
  metadata[i] = (struct signature_metadata){key, value};
  signature.n_metadata = i + 1;
}

static void holds_metadata_against_the_contract(void **state) {
  (void)state;
  say(0, "joint_names", "hip,knee,ankle");
  say(1, "joint_stiffness", "15.000,40.000,80.000");
  say(2, "joint_damping", "1.000,1.000,1.000");
  say(3, "action_scale", "0.250");
  BINDS();
  say(0, "joint_names", "[\"hip\", \"knee\", \"ankle\"]");
  say(1, "joint_stiffness", "[15, 40, 80]");
  BINDS();
  say(0, "joint_names", "hip, ankle, knee");
  MISMATCH(ASSAY_METADATA_MISMATCH, "c.yaml:15:9",
           "component 2 of output 'y' is 'knee', but 'joint_names' in the metadata of m.onnx has 'ankle' there");
  say(0, "joint_names", "hip,knee,ankle");
  say(1, "joint_stiffness", "80,40,15");
  MISMATCH(ASSAY_METADATA_MISMATCH, "c.yaml:14:9",
           "'kp' of 'hip' is 15 here, but 'joint_stiffness' in the metadata of m.onnx, read beside its 'joint_names', "
           "says 80; also wrong: 'ankle'");
  say(0, "joint_names", "hip,knee,ankle");
  say(1, "joint_damping", "1.000,-0.000,1.000");
  MISMATCH(ASSAY_METADATA_MISMATCH, "c.yaml:15:9", "is -0.000 for 'knee'; a gain must be above 0");
  say(0, "joint_names", "hip,knee,ankle");
  say(1, "joint_stiffness", "15,40");
  MISMATCH(ASSAY_METADATA_MISMATCH, "c.yaml:9:5", "has 2 numbers for 3 'joint_names'");
  say(0, "joint_names", "hip,knee,ankle");
  say(1, "joint_stiffness", "15,forty,80");
  MISMATCH(ASSAY_METADATA_MISMATCH, "c.yaml:15:9", "holds 'forty' for 'knee', which is no number");
  say(0, "joint_names", "hip,knee,ankle");
  say(1, "action_scale", "0.25,0.5,0.25");
  MISMATCH(ASSAY_METADATA_MISMATCH, "c.yaml:15:9", "'scale' of 'knee' is 0.25 here");
  say(0, "joint_names", "wheel"); /* other joints */
  BINDS();
  say(0, "joint_names", "");
  BINDS();
}

/* Names in the order of the motors are what `hardware_order` says; gains are found by them. */
static void metadata_may_stand_in_hardware_order(void **state) {
  (void)state;
  static const int32_t order[] = {2, 0, 1};
  ((struct contract_output *)(uintptr_t)contract_find_output(contract, "y"))->hardware_order = order;
  say(0, "joint_names", "ankle,hip,knee");
  say(1, "joint_stiffness", "80,15,40");
  BINDS();
  say(1, "joint_stiffness", "15,40,80");
  MISMATCH(ASSAY_METADATA_MISMATCH, "c.yaml:14:9", "'kp' of 'hip' is 15 here");
  say(0, "joint_names", "ankle,knee,hip");
  MISMATCH(ASSAY_METADATA_MISMATCH, "c.yaml:14:9", "has 'ankle' there");
  say(0, "joint_names", "hip,knee,ankle");
  say(1, "joint_stiffness", "15,40,80");
  BINDS();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(binds_by_name_only),
      TEST(names_what_does_not_fit),
      TEST(holds_metadata_against_the_contract),
      TEST(metadata_may_stand_in_hardware_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
