/* What Isaac Lab's observation functions hold. Only what their documentation fixes stands here: a function whose
 * size or unit depends on its parameters has no row. */
#include "contract/isaac_terms.h"

#include "core/text.h"

static const struct known_term rows[] = {
    {"base_pos_z", "m", "z", FACT_SENSOR},
    {"base_lin_vel", "m/s", "x y z", FACT_SENSOR},
    {"base_ang_vel", "rad/s", "x y z", FACT_SENSOR},
    {"projected_gravity", "1", "x y z", FACT_SENSOR}, /* a direction: its length is 1 */
    {"root_pos_w", "m", "x y z", FACT_SENSOR},
    {"root_quat_w", "1", "w x y z", FACT_SENSOR},
    {"root_lin_vel_w", "m/s", "x y z", FACT_SENSOR},
    {"root_ang_vel_w", "rad/s", "x y z", FACT_SENSOR},
    {"imu_orientation", "1", "w x y z", FACT_SENSOR},
    {"imu_ang_vel", "rad/s", "x y z", FACT_SENSOR},
    {"imu_lin_acc", "m/s^2", "x y z", FACT_SENSOR},
    {"joint_pos", "rad", "*", FACT_SENSOR},
    {"joint_pos_rel", "rad", "*", FACT_SENSOR},
    {"joint_vel", "rad/s", "*", FACT_SENSOR},
    {"joint_vel_rel", "rad/s", "*", FACT_SENSOR},
    {"joint_effort", "N·m", "*", FACT_SENSOR},
    {"last_action", NULL, "", FACT_OUTPUT},
    {"velocity_commands", "m/s, m/s, rad/s", "lin_vel_x lin_vel_y ang_vel_z", FACT_SENSOR},
    {"keyboard_velocity_commands", "m/s, m/s, rad/s", "lin_vel_x lin_vel_y ang_vel_z", FACT_SENSOR},
    {"motion_anchor_pos_b", "m", "x y z", FACT_SENSOR},
};

assay_status isaac_term(struct import *import, const char *function, struct place place, struct fact_term *term,
                        bool *known) {
  TRY(import_known_term(import, rows, sizeof rows / sizeof *rows, function, place, term, known));
  if (text_equal(function, "joint_pos_rel")) {
    term->raw = "joint_pos"; /* what is measured; the default position is taken off */
    term->minus_default = true;
  } else if (text_equal(function, "joint_vel_rel")) {
    term->raw = "joint_vel"; /* robots stand still by default, so that nothing is taken off */
  }
  return status_ok();
}
