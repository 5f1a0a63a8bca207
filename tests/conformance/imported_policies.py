"""The gate on imported contracts.

    imported_policies.py ASSAY SOURCE WORK [NAME...]

For every policy below: `assay init --from` its own configuration must leave exactly the questions open that
tests/importers/answers/NAME.txt answers; with the answers the whole gate must PASS on sequences that the robot's own
program made (imported_robots.py, in NumPy), once in closed form and once with the stored observations beside them; and each
bad variant must be REJECTed with the words that it names.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

try:
    import numpy as np

    import imported_robots as robots
    from imported_model import Model
except ImportError as missing:
    print(f"skipped: there is no Python module {missing.name} (python3-numpy, python3-onnx, python3-yaml)")
    sys.exit(77)

STEPS = 60


class Failure(Exception):
    pass


class Policy:
    def __init__(self, name, models, files, robot, seed, variants=()):
        self.name, self.models, self.files, self.robot, self.seed = name, models, files, robot, seed
        self.variants = variants


class Edit:
    """A bad variant: `text` in a configuration file (or in the contract, where `file` is None) becomes `other`."""

    def __init__(self, name, file, text, other, words):
        self.name, self.file, self.text, self.other, self.words = name, file, text, other, words


def run(command, expected=(0,)):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode not in expected:
        raise Failure(f"{' '.join(command)}\n  answered {done.returncode}, not {expected}:\n{done.stdout}{done.stderr}")
    return done


def answers_of(path):
    answers = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                key, value = line.rstrip("\n").split(" = ", 1)
                answers[key] = value
    return answers


def drafted(assay, models, files, folder):
    """The draft's text by line, and its open questions: path -> (line, column)."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [assay, "init", *models, "-o", folder, "--json"]
    for file in files:
        command += ["--from", file]
    questions = json.loads(run(command).stdout)["open_questions"]
    with open(os.path.join(folder, "contract.yaml"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    return lines, {q["path"]: (q["line"], q["column"]) for q in questions}


TODO = re.compile(r"TODO( \([^()]*\))?")


def answer(lines, questions, answers):
    """Each TODO becomes its answer; `-` takes the key out."""
    missing, superfluous = sorted(set(questions) - set(answers)), sorted(set(answers) - set(questions))
    if missing or superfluous:
        raise Failure(f"open questions without an answer: {missing}\n  answers to what is not asked: {superfluous}")
    for path, (line, column) in sorted(questions.items(), key=lambda q: q[1], reverse=True):
        before, rest = lines[line - 1][: column - 1], lines[line - 1][column - 1 :]
        todo = TODO.match(rest)
        if todo is None:
            raise Failure(f"{path}: there is no TODO at {line}:{column}: {rest}")
        value = answers[path]
        if value == "-":
            before, value = re.sub(r",? *\w+: $", "", before), ""
        lines[line - 1] = before + value + rest[todo.end() :]
    return "\n".join(line for line in lines if re.sub(r"#.*", "", line).strip())


def recorded(robot, closed, names):
    """The arrays of one sequence by the robot's own program. Closed: what was measured and answered, and nothing else."""
    arrays = {}
    plain = isinstance(robot, robots.Plain)
    for _ in range(STEPS):
        measured = robot.sense()
        fed, answered = robot.step(measured)
        groups = {"outputs": answered, "decoded": robot.commands(answered, names)}
        if not plain:
            groups["raw"] = measured
        if plain or not closed:
            groups["inputs"] = fed
        for prefix, values in groups.items():
            for name, value in values.items():
                dtype = np.float64 if prefix == "decoded" else np.float32
                arrays.setdefault(f"{prefix}/{name}", []).append(np.asarray(value, dtype))
    return {name: np.stack(values) for name, values in arrays.items()}


def golden(policy, paths, files, folder, closed, names):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    rows = []
    for number in range(2):
        models = [Model(path) for path in paths]
        robot = policy.robot(models if len(models) > 1 else models[0], files, policy.seed + number)
        file = f"sequence_{number}.npz"
        np.savez(os.path.join(folder, file), **recorded(robot, closed, names))
        with open(os.path.join(folder, file), "rb") as data:
            digest = hashlib.sha256(data.read()).hexdigest()
        rows.append(
            f"  - {{id: sequence_{number}, file: {file}, digest: \"sha256:{digest}\", expect: answer, sequence: true}}\n"
        )
    with open(os.path.join(folder, "corpus.yaml"), "w", encoding="utf-8") as corpus:
        corpus.write("assay: 1\nrole: golden\nsource: {framework: numpy}\ncases:\n" + "".join(rows))


def joint_names(answers):
    """Names that the answers give, for robots whose files have none."""
    for path, value in answers.items():
        if path == "groups.joints" or path.endswith(".names"):
            return value.strip("[]").split(", ")
    return []


def verify(assay, folder, expected):
    done = run([assay, "verify", folder], expected)
    with open(os.path.join(folder, "report", "verdict.json"), encoding="utf-8") as file:
        return done.stdout + done.stderr, json.load(file)


def policy_folder(folder, contract, source):
    """A folder with this contract and the drafted gate of `source`."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "contract.yaml"), "w", encoding="utf-8") as file:
        file.write(contract)
    if folder != source:
        shutil.copy(os.path.join(source, "gate.yaml"), folder)


def edited(text, edit):
    if text.count(edit.text) < 1:
        raise Failure(f"{edit.name}: nothing reads {edit.text!r}")
    return text.replace(edit.text, edit.other, 1)


def try_variant(assay, policy, edit, paths, files, answers, contract, work):
    """The contract comes from what was edited, the corpus from what the robot really does."""
    folder = os.path.join(work, "bad-" + edit.name)
    if edit.file is None:
        shutil.rmtree(folder, ignore_errors=True)
        changed, source = edited(contract, edit), os.path.join(work, "good")
    else:
        copies = []
        os.makedirs(os.path.join(work, "edited"), exist_ok=True)
        for path in files:
            copy = os.path.join(work, "edited", os.path.basename(path))
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(copy, "w", encoding="utf-8") as file:
                file.write(edited(text, edit) if path.endswith(edit.file) else text)
            copies.append(copy)
        changed, source = answer(*drafted(assay, paths, copies, folder), answers), folder
    policy_folder(folder, changed, source)
    for closed in (False, True):
        golden(policy, paths, files, os.path.join(folder, "golden"), closed, joint_names(answers))
        said, verdict = verify(assay, folder, (1,))
        if verdict["verdict"] != "REJECT":
            raise Failure(f"{edit.name}: the verdict is {verdict['verdict']}, not REJECT")
        for word in () if closed else edit.words:
            if word not in said:
                raise Failure(f"{edit.name}: nothing says {word!r}:\n{said}")


def try_policy(assay, policy, shared, source, work):
    paths = [os.path.join(shared, "policies", model) for model in policy.models]
    files = [os.path.join(shared, "policies", file) for file in policy.files]
    work = os.path.join(work, policy.name)
    shutil.rmtree(work, ignore_errors=True)
    good = os.path.join(work, "good")
    answers = answers_of(os.path.join(source, "tests", "importers", "answers", policy.name + ".txt"))
    contract = answer(*drafted(assay, paths, files, good), answers)
    for closed in (True, False):
        policy_folder(good, contract, good)
        golden(policy, paths, files, os.path.join(good, "golden"), closed, joint_names(answers))
        said, verdict = verify(assay, good, (0,))
        if verdict["verdict"] != "PASS":
            raise Failure(f"the verdict is {verdict['verdict']}, not PASS:\n{said}")
    for edit in policy.variants:
        try_variant(assay, policy, edit, paths, files, answers, contract, work)
    shutil.rmtree(work)


G1 = "unitreerobotics__unitree_rl_lab__g1_velocity_v0_policy"
GO2W = "fan-ziqi__rl_sar__go2w_robot_lab_policy"
UR10 = "ManggoF__isaaclab_ur_reach_sim2real__reach_ur10_policy"
LITE = "HybridRobotics__Berkeley-Humanoid-Lite__policy_humanoid"
TRON = "limxdynamics__tron1-rl-deploy-python__PF_TRON1A_isaacgym"
DUCK = "ros-controls__ros2_control_demos__open_duck_mini_policy"
DECAP = "ttktjmt__muwanx__go1_decap"
MUWANX = "ttktjmt__muwanx__20250410_121925_model_14000"
MJLAB = "unitreerobotics__unitree_rl_mjlab__g1_velocity_v0"

POLICIES = [
    Policy(
        "unitree_g1",
        [G1 + ".onnx"],
        [G1 + ".deploy.yaml"],
        robots.Unitree,
        1,
        [
            Edit("scale_lost", "deploy.yaml", "scale: [0.05, 0.05,", "scale: [0.05, 1.0,", ["joint_vel_rel", "right_hip_pitch"]),
            Edit("history_reversed", None, "oldest_first", "newest_first", ["OBSERVATION_DRIFT", "base_ang_vel"]),
            Edit("action_decoded", None, "space: raw", "space: decoded", ["OBSERVATION_DRIFT", "last_action"]),
            Edit("time_major", None, "layout: {value: term_major", "layout: {value: time_major", ["OBSERVATION_DRIFT"]),
            Edit("action_scale_lost", "deploy.yaml", "scale: [0.25, 0.25,", "scale: [0.25, 1.0,", ["DECODE_DRIFT", "right_hip_pitch"]),
        ],
    ),
    Policy("unitree_g1_mjlab", [MJLAB + "/policy.onnx"], [MJLAB + "/policy.deploy.yaml"], robots.Unitree, 11),
    Policy(
        "go2w",
        [GO2W + ".onnx"],
        [GO2W + ".config.yaml", GO2W + ".base.yaml"],
        robots.RlSar,
        21,
        [
            Edit("joints_exchanged", "config.yaml", "[ 0.00, 0.50, -1.50,", "[ 0.50, 0.00, -1.50,", ["dof_pos", "FR_hip_joint"]),
            Edit("names_exchanged", "base.yaml", '"FR_hip_joint", "FR_thigh_joint"', '"FR_thigh_joint", "FR_hip_joint"', ["DECODE_DRIFT", "FR_"]),
            Edit("scale_lost", "config.yaml", "ang_vel_scale: 0.25", "ang_vel_scale: 1.0", ["OBSERVATION_DRIFT", "ang_vel"]),
        ],
    ),
    Policy(
        "ur10",
        [UR10 + ".onnx"],
        [UR10 + ".env.yaml", UR10 + ".agent.yaml"],
        robots.IsaacLab,
        31,
        [Edit("action_decoded", None, "space: raw", "space: decoded", ["OBSERVATION_DRIFT", "actions"])],
    ),
    Policy(
        "berkeley_lite",
        [LITE + ".onnx"],
        [LITE + ".policy_humanoid.yaml"],
        robots.BerkeleyLite,
        41,
        [Edit("default_lost", "policy_humanoid.yaml", "- -0.2\n", "- 0.2\n", ["joint_pos", "leg_left_hip_pitch_joint"])],
    ),
    Policy(
        "limx_tron1",
        [TRON + "_encoder.onnx", TRON + "_policy.onnx"],
        [TRON + "_policy.params.yaml"],
        robots.Limx,
        51,
        [
            Edit("wrong_phase", None, "start: 0.04", "start: 0.08", ["OBSERVATION_DRIFT", "gait_clock"]),
            Edit("command_scale_lost", "params.yaml", "lin_vel_x: 1.5", "lin_vel_x: 1.0", ["commands", "lin_vel_x"]),
            Edit("term_major", None, "layout: {value: time_major", "layout: {value: term_major", ["OBSERVATION_DRIFT"]),
        ],
    ),
    Policy(
        "open_duck",
        [DUCK + ".onnx"],
        [DUCK + ".open_duck_mini_controllers.yaml", DUCK + ".motion_controller_parameters.yaml"],
        robots.OpenDuck,
        61,
        [
            Edit("wrong_lag", None, "space: raw, lag: 2", "space: raw, lag: 3", ["OBSERVATION_DRIFT", "last_action_2"]),
            Edit("wrong_gait", "open_duck_mini_controllers.yaml", "phase_period: 100.0", "phase_period: 98.0", ["OBSERVATION_DRIFT", "phase"]),
        ],
    ),
    Policy(
        "go1_decap",
        [DECAP + ".onnx"],
        [DECAP + ".go1_decap.json", DECAP + ".asset_meta.json"],
        robots.Decap,
        71,
        [Edit("default_lost", "asset_meta.json", "        0.8,\n        -1.5,", "        0.9,\n        -1.5,", ["joint_pos", "FL_thigh_joint"])],
    ),
    Policy("muwanx_14000", [MUWANX + ".onnx"], [MUWANX + ".model_14000_meta.json"], robots.Plain, 81),
]


def main():
    assay, source, work, *names = sys.argv[1:]
    shared = os.environ.get("ASSAY_SHARED", os.path.join(source, "..", "shared"))
    if not os.path.isdir(os.path.join(shared, "policies")):
        print(f"skipped: there is no {shared}/policies")
        return 77
    failed = 0
    for policy in POLICIES:
        if names and policy.name not in names:
            continue
        try:
            try_policy(assay, policy, shared, source, work)
            print(f"ok {policy.name}: {len(policy.variants)} bad variants caught")
        except Failure as failure:
            failed += 1
            print(f"FAILED {policy.name}: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
