/* Differences of angles, rotations and poses: see compare.h. It must never take what is no rotation for one, and never
 * lose the last digits of a small angle. */
#include "contract/compare.h"

#include <math.h>
#include <string.h>

#include "contract/apply.h"

static const double pi = 3.14159265358979323846;

int32_t rotation_numbers(enum rotation_form form) {
  switch (form) {
    case ROTATION_NONE:
      break;
    case ROTATION_XYZW:
    case ROTATION_WXYZ:
      return 4;
    case ROTATION_COLUMNS:
    case ROTATION_ROWS:
      return 6;
    case ROTATION_RPY:
    case ROTATION_AXIS_ANGLE:
      return 3;
  }
  return 0;
}

int32_t group_rotation(const struct contract_group *group) {
  return group->kind == COMPARE_POSE ? POSITION_NUMBERS : 0;
}

enum compared component_compared(const struct contract_component *component) {
  const struct contract_group *group = component->group;
  if (group == NULL) {
    return COMPARED_ALONE;
  }
  if (component->in_group == group_rotation(group)) {
    return COMPARED_ANGLE;
  }
  return component->in_group == 0 ? COMPARED_DISTANCE : COMPARED_WITHIN;
}

const char *component_title(const struct contract_component *component) {
  return component->title != NULL ? component->title : component->name;
}

/* --- angles --------------------------------------------------------------------------- */

double angle_difference(double expected, double actual, bool degrees) {
  if (!isfinite(expected) || !isfinite(actual)) {
    return (double)NAN;
  }
  double turn = degrees ? 360.0 : 2 * pi;
  double difference = remainder(actual - expected, turn); /* exact for what it is given, in [-half, half] */
  return difference <= -turn / 2 ? turn / 2 : difference;
}

/* --- rotations ------------------------------------------------------------------------ */

/* Divides by the largest number first, so that no square overflows or vanishes. 0 when there is no length. */
static double normalise(double *v, int n) {
  double largest = 0, sum = 0;
  for (int i = 0; i < n; i++) {
    if (!isfinite(v[i])) {
      return 0;
    }
    largest = fmax(largest, fabs(v[i]));
  }
  if (!(largest > 0)) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    v[i] /= largest;
    sum += v[i] * v[i];
  }
  double length = sqrt(sum);
  for (int i = 0; i < n; i++) {
    v[i] /= length;
  }
  return length * largest;
}

static bool from_quaternion(bool w_first, const double *numbers, double out[4], double *deviation) {
  static const int order[2][4] = {{3, 0, 1, 2}, {0, 1, 2, 3}};
  for (int i = 0; i < 4; i++) {
    out[i] = numbers[order[w_first][i]];
  }
  double length = normalise(out, 4);
  *deviation = fabs(length - 1);
  return length > 0;
}

/* Shepperd's method: the largest of the four is taken from the diagonal, and the others divide by it. */
static void from_matrix(double m[3][3], double out[4]) {
  double trace = m[0][0] + m[1][1] + m[2][2];
  int i = m[1][1] > m[0][0] ? 1 : 0;
  i = m[2][2] > m[i][i] ? 2 : i;
  if (trace >= m[i][i]) {
    double s = 2 * sqrt(trace + 1);
    out[0] = s / 4;
    out[1] = (m[2][1] - m[1][2]) / s;
    out[2] = (m[0][2] - m[2][0]) / s;
    out[3] = (m[1][0] - m[0][1]) / s;
  } else {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double s = 2 * sqrt(m[i][i] - m[j][j] - m[k][k] + 1);
    out[0] = (m[k][j] - m[j][k]) / s;
    out[1 + i] = s / 4;
    out[1 + j] = (m[j][i] + m[i][j]) / s;
    out[1 + k] = (m[k][i] + m[i][k]) / s;
  }
  (void)normalise(out, 4);
}

/* Two directions that are this near to one line span no rotation. */
static const double parallel = 1e-9;

static bool from_six(bool rows, const double *numbers, double out[4], double *deviation) {
  double a[3], b[3], m[3][3];
  memcpy(a, numbers, sizeof a);
  memcpy(b, numbers + 3, sizeof b);
  double length_a = normalise(a, 3), length_b = normalise(b, 3);
  if (!(length_a > 0) || !(length_b > 0)) {
    return false;
  }
  double along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  for (int i = 0; i < 3; i++) {
    b[i] -= along * a[i];
  }
  if (!(normalise(b, 3) > parallel)) {
    return false;
  }
  *deviation = fmax(fabs(along), fmax(fabs(length_a - 1), fabs(length_b - 1)));
  const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  for (int i = 0; i < 3; i++) {
    const double row[3] = {a[i], b[i], c[i]}; /* a, b and c are the columns */
    for (int j = 0; j < 3; j++) {
      *(rows ? &m[j][i] : &m[i][j]) = row[j];
    }
  }
  from_matrix(m, out);
  return true;
}

/* q = qz qy qx. */
static void from_rpy(const double *angles, double out[4]) {
  double c[3], s[3];
  for (int i = 0; i < 3; i++) {
    c[i] = cos(angles[i] / 2);
    s[i] = sin(angles[i] / 2);
  }
  out[0] = c[0] * c[1] * c[2] + s[0] * s[1] * s[2];
  out[1] = s[0] * c[1] * c[2] - c[0] * s[1] * s[2];
  out[2] = c[0] * s[1] * c[2] + s[0] * c[1] * s[2];
  out[3] = c[0] * c[1] * s[2] - s[0] * s[1] * c[2];
  (void)normalise(out, 4);
}

static void from_axis_angle(const double *numbers, double out[4]) {
  double axis[3];
  memcpy(axis, numbers, sizeof axis);
  double angle = normalise(axis, 3), s = sin(angle / 2); /* an angle of 0 is a rotation, about any axis */
  out[0] = cos(angle / 2);
  for (int i = 0; i < 3; i++) {
    out[1 + i] = axis[i] * s;
  }
  (void)normalise(out, 4);
}

bool rotation_read(enum rotation_form form, bool degrees, const double *numbers, double out[4], double *deviation) {
  double angles[3] = {0};
  *deviation = 0;
  for (int i = 0; i < rotation_numbers(form); i++) {
    if (!isfinite(numbers[i])) {
      return false;
    }
  }
  for (int i = 0; i < 3; i++) {
    angles[i] = degrees ? numbers[i] * (pi / 180) : numbers[i];
  }
  switch (form) {
    case ROTATION_NONE:
      return false;
    case ROTATION_XYZW:
    case ROTATION_WXYZ:
      return from_quaternion(form == ROTATION_WXYZ, numbers, out, deviation);
    case ROTATION_COLUMNS:
    case ROTATION_ROWS:
      return from_six(form == ROTATION_ROWS, numbers, out, deviation);
    case ROTATION_RPY:
      from_rpy(angles, out);
      return true;
    case ROTATION_AXIS_ANGLE:
      from_axis_angle(angles, out);
      return true;
  }
  return false;
}

static double length4(const double v[4]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]); }

double rotation_between(const double a[4], const double b[4]) {
  double difference[4], sum[4];
  for (int i = 0; i < 4; i++) {
    difference[i] = b[i] - a[i];
    sum[i] = b[i] + a[i];
  }
  /* The angle between a and b as vectors is 2 atan2(|b - a|, |b + a|), half of the turn; q and -q are one rotation. */
  double apart = length4(difference), together = length4(sum);
  return 4 * atan2(fmin(apart, together), fmax(apart, together));
}

/* --- an element of an output ------------------------------------------------------------ */

/* Elements of the tensor between one component and the next. */
static int64_t component_stride(const struct contract_output *output, const assay_tensor *tensor) {
  int64_t stride = 1;
  for (int32_t d = output->component_axis + 1; d < tensor->rank; d++) {
    stride *= tensor->dims[d];
  }
  return stride;
}

static bool read_at(const struct contract_group *group, const double *values, int64_t first, int64_t stride,
                    double out[4], double *deviation) {
  double numbers[ROTATION_NUMBERS_MAX] = {0};
  for (int32_t n = 0; n < rotation_numbers(group->form); n++) {
    numbers[n] = values[first + n * stride];
  }
  return rotation_read(group->form, group->degrees, numbers, out, deviation);
}

static void compare_rotation(const struct contract_group *group, const double *expected, const double *actual,
                             int64_t first, int64_t stride, double pair[2], double deviation[2]) {
  double a[4], b[4], off[2];
  bool is_a = read_at(group, expected, first, stride, a, &off[0]),
       is_b = read_at(group, actual, first, stride, b, &off[1]);
  pair[0] = is_a || is_b ? 0 : (double)NAN;
  pair[1] = is_a && is_b ? rotation_between(a, b) * (group->degrees ? 180 / pi : 1) : (double)NAN;
  for (int side = 0; side < 2 && deviation != NULL; side++) {
    deviation[side] = fmax(deviation[side], off[side]);
  }
}

static void compare_position(const double *expected, const double *actual, int64_t first, int64_t stride,
                             double pair[2]) {
  double distance = 0;
  bool nan_a = false, nan_b = false;
  for (int32_t n = 0; n < POSITION_NUMBERS; n++) {
    double a = expected[first + n * stride], b = actual[first + n * stride];
    nan_a |= !isfinite(a);
    nan_b |= !isfinite(b);
    distance = hypot(distance, b - a);
  }
  pair[0] = nan_a && nan_b ? (double)NAN : 0;
  pair[1] = nan_a || nan_b ? (double)NAN : distance;
}

bool compare_pair(const struct contract_output *output, const assay_tensor *tensor, const double *expected,
                  const double *actual, int64_t i, double pair[2], double deviation[2]) {
  int64_t horizon;
  const struct contract_component *component = &output->components[contract_component_of(output, tensor, i, &horizon)];
  enum compared compared = component_compared(component);
  pair[0] = expected[i];
  pair[1] = actual[i];
  if (compared == COMPARED_ALONE && component->compare == COMPARE_ANGLE && isfinite(expected[i]) &&
      isfinite(actual[i])) {
    pair[1] = expected[i] + angle_difference(expected[i], actual[i], component->degrees);
  } else if (compared == COMPARED_ANGLE) {
    compare_rotation(component->group, expected, actual, i, component_stride(output, tensor), pair, deviation);
  } else if (compared == COMPARED_DISTANCE) {
    compare_position(expected, actual, i, component_stride(output, tensor), pair);
  }
  return compared != COMPARED_WITHIN;
}
