/* How far two decoded values are apart where a plain difference would lie: angles, rotations and poses. π and −π are
 * equal, and so are the quaternions q and −q. Pure functions; a rotation that is none (NaN, zero length) is never equal
 * to anything, itself included. */
#ifndef CONTRACT_COMPARE_H
#define CONTRACT_COMPARE_H

#include "contract/contract.h"

/* How the numbers of a rotation stand. */
enum rotation_form {
  ROTATION_NONE,
  ROTATION_XYZW,      /* a quaternion, w last */
  ROTATION_WXYZ,      /* w first */
  ROTATION_COLUMNS,   /* rot6d: the first two columns of the matrix, one after the other */
  ROTATION_ROWS,      /* rot6d: the first two rows */
  ROTATION_RPY,       /* roll, pitch, yaw about the fixed axes x, y, z: R = Rz(yaw) Ry(pitch) Rx(roll) */
  ROTATION_AXIS_ANGLE /* the axis times the angle */
};
enum { ROTATION_NUMBERS_MAX = 6, POSITION_NUMBERS = 3 };
int32_t rotation_numbers(enum rotation_form form); /* 4, 6 or 3; 0 for none */

/* Components of an output that are one thing: they follow each other in the tensor. The first of the rotation stands
 * for the angle, the first of the position for the distance: their unit and tolerance are those of the whole; the
 * others decide nothing. */
struct contract_group {
  const char *name; /* in reports */
  struct mark mark;
  enum compare_kind kind; /* quaternion, rot6d or pose */
  int32_t first, count;   /* components of the output */
  enum rotation_form form;
  bool degrees; /* the angle, and what the numbers of rpy and axis_angle are in */
};
/* Index within the group of the first number of the rotation: behind the position of a pose. */
int32_t group_rotation(const struct contract_group *group);

/* What component `c` of an output stands for when its output is compared. */
enum compared { COMPARED_ALONE, COMPARED_ANGLE, COMPARED_DISTANCE, COMPARED_WITHIN };
enum compared component_compared(const struct contract_component *component);
/* Its name in reports: its own, or that of what it stands for. */
const char *component_title(const struct contract_component *component);

/* actual - expected on the circle, in (-half, half] of a turn; NAN when either is not finite. */
double angle_difference(double expected, double actual, bool degrees);

/* The unit quaternion (w, x, y, z) of a rotation; false when the numbers are none. *deviation: how far they are from
 * numbers that are exactly a rotation; 0 where every number is one. */
bool rotation_read(enum rotation_form form, bool degrees, const double *numbers, double out[4], double *deviation);
/* The angle of the turn between two unit quaternions, from 0 to half a turn, in rad. Exact near 0 and near π. */
double rotation_between(const double a[4], const double b[4]);

/* Element i of a decoded output as the pair whose difference counts; false when element i has none of its own, being
 * within a group. An angle keeps its expected value, and the actual one is moved to the same turn; a rotation
 * or a distance is 0 on the expected side. Both sides are NaN where both are no rotation.
 * deviation[0], [1]: raised to how far the two sides are from a rotation; may be NULL. */
bool compare_pair(const struct contract_output *output, const assay_tensor *tensor, const double *expected,
                  const double *actual, int64_t i, double pair[2], double deviation[2]);

#endif
