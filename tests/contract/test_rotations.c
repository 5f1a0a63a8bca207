/* Angles, rotations and poses: what is none first, then hand-made turns whose angle is known. */
#include "contract/compare.h"

#include <math.h>
#include <string.h>

#include "support.h"

static const double pi = 3.14159265358979323846;

static void near(double actual, double expected, double within) {
  if (!(fabs(actual - expected) <= within)) {
    print_error("expected %.17g, got %.17g\n", expected, actual);
    fail();
  }
}

static double between(enum rotation_form form, const double *a, const double *b) {
  double p[4], q[4], off;
  assert_true(rotation_read(form, false, a, p, &off));
  assert_true(rotation_read(form, false, b, q, &off));
  return rotation_between(p, q);
}

static bool is_rotation(enum rotation_form form, const double *numbers) {
  double q[4], off;
  return rotation_read(form, false, numbers, q, &off);
}

static void what_is_no_rotation_is_never_read(void **state) {
  (void)state;
  assert_false(is_rotation(ROTATION_XYZW, (const double[]){0, 0, 0, 0}));
  assert_false(is_rotation(ROTATION_WXYZ, (const double[]){NAN, 0, 0, 1}));
  assert_false(is_rotation(ROTATION_WXYZ, (const double[]){1, 0, INFINITY, 0}));
  assert_false(is_rotation(ROTATION_COLUMNS, (const double[]){1, 0, 0, 0, 0, 0}));
  assert_false(is_rotation(ROTATION_COLUMNS, (const double[]){1, 2, 3, -2, -4, -6}));
  assert_false(is_rotation(ROTATION_ROWS, (const double[]){0, 0, 0, 1, 0, 0}));
  assert_false(is_rotation(ROTATION_ROWS, (const double[]){1, 0, 0, 0, NAN, 0}));
  assert_false(is_rotation(ROTATION_RPY, (const double[]){0, NAN, 0}));
  assert_false(is_rotation(ROTATION_AXIS_ANGLE, (const double[]){0, 0, -INFINITY}));
  assert_false(is_rotation(ROTATION_NONE, (const double[]){1, 0, 0, 0}));
  assert_true(is_rotation(ROTATION_AXIS_ANGLE, (const double[]){0, 0, 0}));
}

static void an_angle_is_compared_on_the_circle(void **state) {
  (void)state;
  assert_true(isnan(angle_difference(NAN, 0, false)));
  assert_true(isnan(angle_difference(0, NAN, false)));
  assert_true(isnan(angle_difference(INFINITY, INFINITY, false)));
  assert_true(angle_difference(pi, -pi, false) == 0);
  assert_true(angle_difference(-pi, pi, false) == 0);
  assert_true(angle_difference(180, -180, true) == 0);
  near(angle_difference(3.1, -3.1, false), 2 * pi - 6.2, 1e-15);
  near(angle_difference(-3.1, 3.1, false), 6.2 - 2 * pi, 1e-15);
  assert_true(angle_difference(359, 1, true) == 2);
  assert_true(angle_difference(0, 180, true) == 180 && angle_difference(0, -180, true) == 180);
  assert_true(angle_difference(0.25, 0.5, false) == 0.25);
  assert_true(angle_difference(10, 10 + 720, true) == 0);
}

static void a_turn_has_the_angle_it_was_made_of(void **state) {
  (void)state;
  const double one[] = {0, 0, 0, 1}, minus[] = {0, 0, 0, -1}, twice[] = {0, 0, 0, 2};
  assert_true(between(ROTATION_XYZW, one, minus) == 0);
  assert_true(between(ROTATION_XYZW, one, twice) == 0);
  static const double angles[] = {1e-12, 1e-9, 1e-6, 0.01, 1, pi / 2, 3, 3.14159, pi};
  for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
    double a = angles[i], s = sin(a / 2), c = cos(a / 2), own = a < 1e-3 ? a * 1e-9 + 1e-16 : 1e-14;
    const double xyzw[] = {0, s, 0, c}, back[] = {0, -s, 0, -c}, wxyz[] = {c, 0, s, 0}, start[] = {1, 0, 0, 0};
    near(between(ROTATION_XYZW, one, xyzw), a, own);
    near(between(ROTATION_XYZW, one, back), a, own);
    near(between(ROTATION_WXYZ, start, wxyz), a, own);
    const double still[] = {1, 0, 0, 0, 1, 0}, columns[] = {cos(a), sin(a), 0, -sin(a), cos(a), 0};
    near(between(ROTATION_COLUMNS, still, columns), a, a < 1e-3 ? 1e-15 : 1e-14);
    near(between(ROTATION_ROWS, still, columns), a, a < 1e-3 ? 1e-15 : 1e-14);
    near(between(ROTATION_RPY, (const double[]){0, 0, 0}, (const double[]){0, a, 0}), a, own);
    near(between(ROTATION_AXIS_ANGLE, (const double[]){0, 0, 0}, (const double[]){0, 0, a}), a, own);
  }
}

/* Each form of the same turn: 120 degrees about (1, 1, 1), which moves x to y, y to z, z to x. */
static void the_forms_agree_on_one_turn(void **state) {
  (void)state;
  double read[6][4], off;
  const double a = 2 * pi / 3 / sqrt(3);
  const double forms[6][6] = {{0.5, 0.5, 0.5, 0.5}, {0.5, 0.5, 0.5, 0.5}, {0, 1, 0, 0, 0, 1},
                              {0, 0, 1, 1, 0, 0},   {pi / 2, 0, pi / 2},  {a, a, a}};
  for (int f = 0; f < 6; f++) {
    assert_true(rotation_read((enum rotation_form)(ROTATION_XYZW + f), false, forms[f], read[f], &off));
    near(rotation_between(read[0], read[f]), 0, 1e-15);
    near(off, 0, 1e-15);
  }
  double degrees[4];
  assert_true(rotation_read(ROTATION_RPY, true, (const double[]){90, 0, 90}, degrees, &off));
  near(rotation_between(read[0], degrees), 0, 1e-15);
}

static void numbers_off_a_rotation_are_told(void **state) {
  (void)state;
  double q[4], off;
  assert_true(rotation_read(ROTATION_XYZW, false, (const double[]){0, 0, 0, 1.25}, q, &off));
  assert_true(off == 0.25 && q[0] == 1);
  assert_true(rotation_read(ROTATION_XYZW, false, (const double[]){0, 0, 3e-200, 4e-200}, q, &off));
  near(off, 1, 1e-15);
  near(q[0], 0.8, 1e-15);
  assert_true(rotation_read(ROTATION_WXYZ, false, (const double[]){3e200, 0, 0, 4e200}, q, &off));
  near(q[3], 0.8, 1e-15);
  assert_true(rotation_read(ROTATION_COLUMNS, false, (const double[]){2, 0, 0, 0.6, 0.8, 0}, q, &off));
  near(off, 1, 1e-15); /* the first is twice as long as it should be; the second leans by 0.6 */
  assert_true(rotation_read(ROTATION_COLUMNS, false, (const double[]){1, 0, 0, 0.6, 0.8, 0}, q, &off));
  near(off, 0.6, 1e-15);
}

/* --- in a contract ------------------------------------------------------------------------ */

static assay_status parse(const char *components, struct contract **out) {
  char text[4000];
  snprintf(text, sizeof text,
           "assay: 1\npolicy: p\nmodel: m.onnx\ninputs: [{name: x, dtype: float32, shape: [1]}]\n"
           "outputs: [{name: y, dtype: float64, shape: [1, 8], components: %s}]\n",
           components);
  return contract_parse(text, strlen(text), "c.yaml", ASSAY_BINARY_DIR, out);
}

static const char pose[] =
    "[{name: tool, names: [x, y, z, qx, qy, qz, qw], compare: pose, rotation: quaternion, order: xyzw, unit: "
    "{distance: m,"
    " angle: deg}, tolerance: {distance: {max: 0.001}, angle: {max: 0.5}}}, {name: wrist, compare: angle, unit: rad, "
    "tolerance: {max: 0.01}}]";

static void a_pose_is_a_distance_and_an_angle(void **state) {
  (void)state;
  struct contract *c = NULL;
  ASSERT_OK(parse(pose, &c));
  const struct contract_output *output = &c->outputs[0];
  assert_int_equal(output->n_groups, 1);
  assert_string_equal(component_title(&output->components[0]), "tool distance");
  assert_string_equal(component_title(&output->components[3]), "tool angle");
  assert_string_equal(component_title(&output->components[1]), "y");
  assert_true(output->components[0].tolerance.max == 0.001 && output->components[3].tolerance.max == 0.5);
  assert_false(output->components[1].tolerance.given);
  assert_string_equal(output->components[3].unit, "deg");
  assay_tensor tensor = {.dtype = ASSAY_FLOAT64, .rank = 2, .dims = {1, 8}};
  const double h = sqrt(0.5);
  double expected[] = {1, 2, 3, 0, 0, 0, 1, 3.1}, actual[] = {1, 2.003, 3.004, 0, 0, -h, -h, -3.1};
  double pair[2], deviation[2] = {0, 0};
  assert_true(compare_pair(output, &tensor, expected, actual, 0, pair, deviation));
  assert_true(pair[0] == 0);
  near(pair[1], 0.005, 1e-15);
  assert_false(compare_pair(output, &tensor, expected, actual, 1, pair, deviation));
  assert_false(compare_pair(output, &tensor, expected, actual, 6, pair, deviation));
  assert_true(compare_pair(output, &tensor, expected, actual, 3, pair, deviation));
  near(pair[1], 90, 1e-12);
  assert_true(compare_pair(output, &tensor, expected, actual, 7, pair, deviation));
  assert_true(pair[0] == 3.1);
  near(pair[1] - pair[0], 2 * pi - 6.2, 1e-14);
  actual[6] = actual[5] = 0; /* no length */
  assert_true(compare_pair(output, &tensor, expected, actual, 3, pair, deviation));
  assert_true(pair[0] == 0 && isnan(pair[1]));
  actual[2] = NAN;
  assert_true(compare_pair(output, &tensor, expected, actual, 0, pair, deviation));
  assert_true(isnan(pair[1]));
  assert_true(compare_pair(output, &tensor, actual, actual, 3, pair, deviation));
  assert_true(isnan(pair[0]) && isnan(pair[1])); /* both are none: no change against itself, never equal to another */
  contract_free(c);
}

static void refuses(const char *components, const char *part) {
  struct contract *contract = NULL;
  ASSERT_FAILS(parse(components, &contract), ASSAY_CONTRACT_INVALID, part);
}

#define REST ", {name: rest, count: 4, unit: rad}]"
#define QUATERNION "[{name: turn, names: [a, b, c, d], compare: quaternion"

static void what_says_too_little_or_too_much_is_refused(void **state) {
  (void)state;
  struct contract *c = NULL;
  ASSERT_OK(parse(QUATERNION ", order: wxyz, unit: rad}" REST, &c));
  assert_int_equal(c->outputs[0].groups[0].form, ROTATION_WXYZ);
  contract_free(c);
  refuses(QUATERNION ", unit: rad}" REST, "needs 'order'");
  refuses(QUATERNION ", order: wxyz, unit: m}" REST, "is 'm'; it must be rad or deg");
  refuses(QUATERNION ", order: xwyz, unit: rad}" REST, "xyzw");
  refuses(QUATERNION ", order: xyzw, convention: rows, unit: rad}" REST, "stands beside 'order'");
  refuses(QUATERNION ", order: xyzw, rotation: rpy, unit: rad}" REST, "has 'rotation', which a pose has");
  refuses("[{names: [a, b, c, d], compare: quaternion, order: xyzw, unit: rad}" REST, "needs 'name' beside 'names'");
  refuses(
      "[{name: turn, names: [a, b, c], compare: quaternion, order: xyzw, unit: rad}, {name: r, count: 5, unit: rad}]",
      "has 3 names, but the rotation that this is has 4 numbers");
  refuses("[{name: turn, compare: quaternion, order: xyzw, unit: rad}, {name: r, count: 7, unit: rad}]", "has 1 names");
  refuses("[{name: turn, names: [a, b, c, d, e, f], compare: rot6d, unit: rad}, {name: r, count: 2, unit: rad}]",
          "needs 'convention'");
  refuses(
      "[{name: t, names: [a, b, c, d, e, f], compare: pose, unit: {distance: m, angle: rad}}, {name: r, count: 2, "
      "unit: m}]",
      "needs 'rotation'");
  refuses(
      "[{name: t, names: [a, b, c, d, e, f], compare: pose, rotation: rpy, unit: rad}, {name: r, count: 2, unit: m}]",
      "needs 'unit': {distance: m, angle: rad}");
  refuses(
      "[{name: t, names: [a, b, c, d, e, f], compare: pose, rotation: rpy, unit: {distance: m, angle: rad}, tolerance: "
      "{distance: {max: 1}}}, {name: r, count: 2, unit: m}]",
      "needs the key 'angle'");
  refuses(
      "[{name: t, names: [a, b, c, d, e, f], compare: pose, rotation: rpy, order: xyzw, unit: {distance: m, angle: "
      "rad}}, {name: r, count: 2, unit: m}]",
      "which three angles do not have");
  refuses("[{name: a, count: 8, unit: rad, order: xyzw}]", "says neither quaternion, rot6d nor pose");
  refuses("[{name: a, count: 8, unit: {distance: m, angle: rad}}]", "which only `compare: pose` has");
  refuses("[{name: a, count: 8, compare: angle, unit: m}]", "it must be rad or deg");
  refuses("[{name: a, count: 8, compare: angle, unit: rad, tolerance: {max: 1, space: raw}}]", "leave 'space' out");
  refuses("[{name: a, count: 8, compare: angle, unit: rad, tolerance: {max: 1, sign_flips: 2}}]", "neither sign flips");
  refuses("[{name: a, count: 8, compare: angle, unit: rad, decision: {threshold: 1, above: b, at_or_below: c}}]",
          "has a threshold on an angle");
  refuses("[{name: a, count: 8, compare: angle, unit: rad, allow_inf: true}]", "has 'allow_inf'");
  refuses(QUATERNION ", order: wxyz, unit: rad, pd: {kp: 1, kd: 1}}" REST, "has 'pd'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_no_rotation_is_never_read),
      cmocka_unit_test(an_angle_is_compared_on_the_circle),
      cmocka_unit_test(a_turn_has_the_angle_it_was_made_of),
      cmocka_unit_test(the_forms_agree_on_one_turn),
      cmocka_unit_test(numbers_off_a_rotation_are_told),
      cmocka_unit_test(a_pose_is_a_distance_and_an_angle),
      cmocka_unit_test(what_says_too_little_or_too_much_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
