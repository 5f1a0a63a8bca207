"""How the robots' own programs turn their configuration files and their sensors into what a policy is fed.

Written from those files and the programs that read them, never from a contract: tests/conformance/imported_policies.py
holds the contracts that `assay init --from` drafts against what stands here.
"""

import json
import math

import numpy as np
import yaml


class PythonTags(yaml.SafeLoader):
    """Isaac Lab dumps tuples and slices with Python tags; they are read as plain data."""


PythonTags.add_multi_constructor(
    "tag:yaml.org,2002:python/", lambda loader, suffix, node: loader.construct_sequence(node, deep=True)
)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file) if path.endswith(".json") else yaml.load(file, PythonTags)


def column(value, count):
    return np.broadcast_to(np.asarray(1.0 if value is None else value, np.float64), (count,))


class Sensors:
    """Smooth, seeded values: each element is a sum of three sines around a centre."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.waves = {}

    def add(self, name, count, centre=0.0, amplitude=1.0, constant=False):
        centre = np.broadcast_to(np.asarray(centre, np.float64), (count,))
        amplitude = 0.0 if constant else amplitude * self.random.uniform(0.1, 0.4, (3, count))
        period = self.random.uniform(9.0, 60.0, (3, count))
        phase = self.random.uniform(0.0, 2 * math.pi, (3, count))
        self.waves[name] = (centre, amplitude, period, phase)

    def at(self, step):
        values = {}
        for name, (centre, amplitude, period, phase) in self.waves.items():
            value = centre + np.sum(amplitude * np.sin(2 * math.pi * step / period + phase), axis=0)
            values[name] = value.astype(np.float32)
        return values


def gravity(value):
    """A direction stays one: the third number follows from the first two."""
    x, y = 0.3 * float(value[0]), 0.3 * float(value[1])
    return np.array([x, y, -math.sqrt(1 - x * x - y * y)], np.float32)


class Robot:
    """One policy at work. `sense` gives what is measured at a step, `step` what was fed and what was answered, and
    `commands` what the motors are told, by joint."""

    gravity_name = "projected_gravity"
    names = None  # of the joints, in the order of the action; None where the files have none

    def __init__(self, seed):
        self.sensors = Sensors(seed)
        self.steps = 0

    def sense(self):
        values = self.sensors.at(self.steps)
        if self.gravity_name in values:
            values[self.gravity_name] = gravity(values[self.gravity_name])
        self.steps += 1
        return values

    def step(self, measured):
        raise NotImplementedError

    def targets(self, action):
        raise NotImplementedError

    def commands(self, answered, names):
        action = next(value for key, value in answered.items() if "act" in key).astype(np.float64).ravel()
        return dict(zip(self.names or names, self.targets(action)))


class History:
    """The last `count` vectors. `first` fills it with the first vector, as most programs do; else it starts with zeros."""

    def __init__(self, count, first=True):
        self.count, self.first, self.rows = count, first, None

    def push(self, row):
        if self.rows is None:
            self.rows = [row if self.first else np.zeros_like(row) for _ in range(self.count)]
        self.rows = self.rows[1:] + [row]
        return self.rows


class Unitree(Robot):
    """deploy.yaml of unitree_rl_lab and unitree_rl_mjlab: each term is clipped, then scaled, and keeps its own history,
    the oldest first, filled with the first value."""

    def __init__(self, model, files, seed):
        super().__init__(seed)
        self.model, self.config = model, read(files[0])
        self.default = np.asarray(self.config["default_joint_pos"], np.float64)
        count = len(self.default)
        self.last = np.zeros(count)
        self.histories = {}
        sizes = {"joint_pos_rel": count, "joint_vel_rel": count}
        for name, term in self.config["observations"].items():
            self.histories[name] = History(term["history_length"])
            if name != "last_action":
                centre = self.default if name == "joint_pos_rel" else 0.0
                self.sensors.add(self.measured_as(name), sizes.get(name, 3), centre)

    @staticmethod
    def measured_as(name):
        return name[: -len("_rel")] if name.endswith("_rel") else name

    def step(self, measured):
        parts = []
        for name, term in self.config["observations"].items():
            if name == "last_action":
                value = self.last
            else:
                value = measured[self.measured_as(name)].astype(np.float64)
            if name == "joint_pos_rel":
                value = value - self.default
            if term["clip"] is not None:
                value = np.clip(value, *term["clip"])
            parts += self.histories[name].push(value * column(term["scale"], len(value)))
        fed = {"obs": np.concatenate(parts).astype(np.float32)[None]}
        answer = self.model.run(fed)
        self.last = answer["actions"][0].astype(np.float64)
        return fed, answer

    def targets(self, action):
        term = self.config["actions"]["JointPositionAction"]
        return action * np.asarray(term["scale"]) + np.asarray(term["offset"])


class RlSar(Robot):
    """config.yaml and base.yaml of rl_sar: the first overrides the second. The wheels' positions read as zero."""

    gravity_name = "gravity_vec"

    def __init__(self, model, files, seed):
        super().__init__(seed)
        self.model = model
        config, base = {}, {}
        for path in files:
            ((key, value),) = read(path).items()
            (config if "/" in key else base).update(value)
        self.config = {**base, **config}
        self.names = self.config["joint_names"]
        count = self.config["num_of_dofs"]
        self.default = np.asarray(self.config["default_dof_pos"], np.float64)
        self.last = np.zeros(count)
        for name, size in (("ang_vel", 3), ("gravity_vec", 3), ("commands", 3), ("dof_pos", count), ("dof_vel", count)):
            self.sensors.add(name, size, self.default if name == "dof_pos" else 0.0)

    def term(self, name, measured):
        if name == "actions":
            return self.last
        value = measured[name].astype(np.float64)
        if name == "ang_vel":
            return value * self.config["ang_vel_scale"]
        if name == "commands":
            return value * np.asarray(self.config["commands_scale"])
        if name == "dof_vel":
            return value * self.config["dof_vel_scale"]
        if name == "dof_pos":
            value = value - self.default
            value[self.config["wheel_indices"]] = 0.0
            return value * self.config["dof_pos_scale"]
        return value

    def step(self, measured):
        limit = self.config["clip_obs"]
        values = [self.term(name, measured) for name in self.config["observations"]]
        fed = {"obs": np.clip(np.concatenate(values), -limit, limit).astype(np.float32)[None]}
        answer = self.model.run(fed)
        raw = answer["actions"][0].astype(np.float64)
        self.last = np.clip(raw, self.config["clip_actions_lower"], self.config["clip_actions_upper"])
        return fed, answer

    def targets(self, action):
        limited = np.clip(action, self.config["clip_actions_lower"], self.config["clip_actions_upper"])
        return limited * np.asarray(self.config["action_scale"]) + self.default


class IsaacLab(Robot):
    """env.yaml of Isaac Lab: the terms of the group `policy`, in the order of the file, clipped, then scaled."""

    def __init__(self, model, files, seed):
        super().__init__(seed)
        self.model = model
        config = next(c for c in map(read, files) if "observations" in c)
        group = config["observations"]["policy"]
        self.action = config["actions"]["arm_action"]
        self.names = list(config["scene"]["robot"]["init_state"]["joint_pos"])
        self.terms = {name: term for name, term in group.items() if isinstance(term, dict) and "func" in term}
        self.default = np.array(list(config["scene"]["robot"]["init_state"]["joint_pos"].values()))
        self.last = np.zeros(len(self.default))
        for name, term in self.terms.items():
            kind = term["func"].split(":")[1]
            if kind == "generated_commands":
                self.sensors.add(name, 7)
            elif kind != "last_action":
                self.sensors.add(name, len(self.default), self.default if kind == "joint_pos_rel" else 0.0)

    def step(self, measured):
        parts = []
        for name, term in self.terms.items():
            kind = term["func"].split(":")[1]
            value = self.last if kind == "last_action" else measured[name].astype(np.float64)
            if kind == "joint_pos_rel":
                value = value - self.default
            if term["clip"] is not None:
                value = np.clip(value, *term["clip"])
            parts.append(value * column(term["scale"], len(value)))
        fed = {"obs": np.concatenate(parts).astype(np.float32)[None]}
        answer = self.model.run(fed)
        self.last = answer["actions"][0].astype(np.float64)
        return fed, answer

    def targets(self, action):
        return action * self.action["scale"] + self.default


class BerkeleyLite(Robot):
    """policy_*.yaml of Berkeley Humanoid Lite: command, angular velocity, gravity, positions, velocities, last action."""

    def __init__(self, model, files, seed):
        super().__init__(seed)
        self.model, self.config = model, read(files[0])
        count = self.config["num_actions"]
        self.names = [self.config["joints"][i] for i in self.config["action_indices"]]
        self.default = np.asarray(self.config["default_joint_positions"], np.float64)[-count:]
        self.last = np.zeros(count)
        self.history = History(self.config["history_length"] + 1, first=False)
        for name, size in (("command_velocity", 3), ("base_ang_vel", 3), ("projected_gravity", 3)):
            self.sensors.add(name, size)
        self.sensors.add("joint_pos", count, self.default)
        self.sensors.add("joint_vel", count)

    def step(self, measured):
        m = {name: value.astype(np.float64) for name, value in measured.items()}
        row = [m["command_velocity"], m["base_ang_vel"], m["projected_gravity"], m["joint_pos"] - self.default,
               m["joint_vel"], self.last]
        fed = {"obs": np.concatenate(self.history.push(np.concatenate(row))).astype(np.float32)[None]}
        answer = self.model.run(fed)
        limits = self.config["action_limit_lower"], self.config["action_limit_upper"]
        self.last = np.clip(answer["actions"][0].astype(np.float64), *limits)
        return fed, answer

    def targets(self, action):
        limited = np.clip(action, self.config["action_limit_lower"], self.config["action_limit_upper"])
        return limited * self.config["action_scale"] + self.default


class Limx(Robot):
    """params.yaml of LimX's point-foot robots: an encoder of ten observations, then the actor. The gait clock turns twice a
    second, which the program says and the file does not."""

    def __init__(self, models, files, seed):
        super().__init__(seed)
        self.encoder, self.actor = models
        self.config = read(files[0])["PointfootCfg"]
        self.names = self.config["joint_names"]
        count = len(self.names)
        angles = self.config["init_state"]["default_joint_angle"]
        self.default = np.array([angles[name] for name in self.names])
        self.last = np.zeros(count)
        self.gait = 0.0
        self.history = History(self.config["size"]["obs_history_length"])
        for name in ("base_ang_vel", "projected_gravity", "commands"):
            self.sensors.add(name, 3)
        self.sensors.add("joint_pos", count, self.default)
        self.sensors.add("joint_vel", count)
        self.sensors.add("gait", 4, [2.0, 0.5, 0.5, 0.1], constant=True)

    def step(self, measured):
        m = {name: value.astype(np.float64) for name, value in measured.items()}
        scales, commands = self.config["normalization"]["obs_scales"], self.config["user_cmd_scales"]
        self.gait += 0.02 * 2.0
        self.gait = 0.0 if self.gait > 1.0 else self.gait
        clock = [math.sin(2 * math.pi * self.gait), math.cos(2 * math.pi * self.gait)]
        row = np.concatenate([
            m["base_ang_vel"] * scales["ang_vel"], m["projected_gravity"],
            (m["joint_pos"] - self.default) * scales["dof_pos"], m["joint_vel"] * scales["dof_vel"],
            self.last, clock, m["gait"],
        ])
        past = np.concatenate(self.history.push(row)).astype(np.float32)
        latent = self.encoder.run({"mlp_input": past})["mlp_output"]
        limit = self.config["normalization"]["clip_scales"]["clip_observations"]
        command = m["commands"] * [commands["lin_vel_x"], commands["lin_vel_y"], commands["ang_vel_yaw"]]
        obs = np.concatenate([latent.astype(np.float64), np.clip(row, -limit, limit), command]).astype(np.float32)
        action = self.actor.run({"mlp_input": obs})["mlp_output"]
        most = self.config["normalization"]["clip_scales"]["clip_actions"]
        self.last = np.clip(action.astype(np.float64), -most, most)
        return {"history": past, "obs": obs}, {"latent": latent, "action": action}

    def targets(self, action):
        most = self.config["normalization"]["clip_scales"]["clip_actions"]
        return np.clip(action, -most, most) * self.config["control"]["action_scale_pos"] + self.default


class OpenDuck(Robot):
    """Parameters of the motion controller of ros2_control's example 18. What it sends to the motors is limited in rate and
    blended in, so that its own command is among what is recorded."""

    def __init__(self, model, files, seed):
        super().__init__(seed)
        self.model = model
        contents = [read(path) for path in files]
        schema = next(c["motion_controller"] for c in contents if "ros__parameters" not in c["motion_controller"])
        given = next(c["motion_controller"] for c in contents if "ros__parameters" in c["motion_controller"])
        self.config = {k: v["default_value"] for k, v in schema.items() if "default_value" in v}
        self.config.update(given["ros__parameters"])
        self.names = self.config["joints"]
        count = len(self.names)
        self.default = np.asarray(self.config["default_joint_positions"], np.float64)
        self.past = [np.zeros(count) for _ in range(3)]
        # The clock has run since the first command; the policy is asked first when the delay is over.
        self.clock = self.config["stabilization_delay"] - 1
        for name, size in (("gyro", 3), ("accelerometer", 3), ("velocity_commands", 7), ("feet_contacts", 2)):
            self.sensors.add(name, size)
        self.sensors.add("joint_pos", count, self.default)
        self.sensors.add("joint_vel", count)
        self.sensors.add("motor_targets", count, self.default)

    def step(self, measured):
        m = {name: value.astype(np.float64) for name, value in measured.items()}
        self.clock += 1
        turn = 2 * math.pi * math.fmod(self.clock, self.config["phase_period"]) / self.config["phase_period"]
        upright = [1.0, 1.0, -1.0 if self.config["imu_upside_down"] else 1.0]
        row = [m["gyro"], (m["accelerometer"] + [1.3, 0.0, 0.0]) * upright, m["velocity_commands"],
               m["joint_pos"] - self.default, m["joint_vel"] * 0.05, *self.past, m["motor_targets"],
               m["feet_contacts"], [math.cos(turn), math.sin(turn)]]
        fed = {"obs": np.concatenate(row).astype(np.float32)[None]}
        answer = self.model.run(fed)
        self.past = [answer["continuous_actions"][0].astype(np.float64)] + self.past[:2]
        return fed, answer

    def targets(self, action):
        return action * self.config["action_scale"] + self.default


class Decap(Robot):
    """The observation DecapObs of muwanx, with joints in the order of asset_meta.json."""

    def __init__(self, model, files, seed):
        super().__init__(seed)
        self.model = model
        meta = next(c for c in map(read, files) if "joint_names_isaac" in c)
        self.scale = next(c["action_scale"] for c in map(read, files) if "action_scale" in c)
        self.names = meta["joint_names_isaac"]
        count = len(self.names)
        self.default = np.asarray(meta["default_joint_pos"], np.float64)
        self.last = np.zeros(count)
        self.sensors.add("projected_gravity", 3)
        self.sensors.add("command", 3)
        self.sensors.add("joint_pos", count, self.default)
        self.sensors.add("joint_vel", count)

    def step(self, measured):
        m = {name: value.astype(np.float64) for name, value in measured.items()}
        row = [m["projected_gravity"], m["command"] * [2.0, 2.0, 0.25], m["joint_pos"] - self.default,
               m["joint_vel"] * 0.05, self.last]
        fed = {"obs_history": np.concatenate(row).astype(np.float32)[None]}
        answer = self.model.run(fed)
        self.last = answer["action"][0].astype(np.float64)
        return fed, answer

    def targets(self, action):
        return action * self.scale


class Plain(Robot):
    """A policy whose files say the names and sizes of its tensors alone: every input is fed as it is."""

    def __init__(self, model, files, seed):
        super().__init__(seed)
        self.model = model
        for name, shape in model.inputs.items():
            self.sensors.add(name, int(np.prod(shape)))

    def step(self, measured):
        fed = {name: measured[name].reshape(shape) for name, shape in self.model.inputs.items()}
        return fed, self.model.run(fed)

    def targets(self, action):
        return action
