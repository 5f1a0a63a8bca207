"""Makes the example folders whose model is wrong in one way, each judged against the right answers.

    python make_broken.py

Reads block_pick/ (contract.yaml, weights.npz, golden/) and writes swapped_cameras/, colour_order/,
missing_normalisation/, joint_order/ and state_not_carried/ beside it: the broken policy.onnx, a gate.yaml and the golden
corpus (a part of block_pick's, byte for byte; for the recurrent policy one of its own). The contract of the first four
is block_pick's. Needs torch and numpy.
"""
import inspect
import os
import shutil
import sys

import numpy as np
import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
PICK = os.path.join(HERE, "block_pick")
sys.path[:0] = [PICK, os.path.join(HERE, "..", "bindings", "python")]
from assay_capture.pytorch import TorchCapture  # noqa: E402
from policy import Policy  # noqa: E402

CASES = ("centre_0", "centre_3", "edge_1", "glare_1", "dark_2", "start_1", "near_limit_0", "near_limit_3")
GATE = """# %s
assay: 1
contract: contract.yaml
corpus: golden
reference: {rung: recorded}
noise: {repeats: 2, threads: [1, 2]}
rungs:
  - {name: fp32, engine: assay}
"""


def load():
    model = Policy().eval()
    with np.load(os.path.join(PICK, "weights.npz")) as stored:
        model.load_state_dict({name: torch.from_numpy(stored[name]) for name in stored.files})
    return model


def export(model, path, inputs, outputs, example):
    options = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    torch.onnx.export(model, example, path, input_names=inputs, output_names=outputs, opset_version=17, **options)


def part_of_golden(folder):
    """Copies the chosen cases of block_pick's corpus with what corpus.yaml says of them."""
    source, target = os.path.join(PICK, "golden"), os.path.join(HERE, folder, "golden")
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    head, *entries = open(os.path.join(source, "corpus.yaml"), encoding="utf-8").read().split("\n  - ")
    kept = [entry.rstrip("\n") for entry in entries if entry.split("\n")[0][len("id: "):] in CASES]
    assert len(kept) == len(CASES), "block_pick's corpus lacks a case that the broken examples use"
    with open(os.path.join(target, "corpus.yaml"), "w", encoding="utf-8") as file:
        file.write("\n  - ".join([head] + kept) + "\n")
    for case in CASES:
        shutil.copyfile(os.path.join(source, case + ".npz"), os.path.join(target, case + ".npz"))


def write_folder(folder, title, model, inputs=("front", "wrist", "qpos")):
    os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    example = (torch.zeros(1, 3, 64, 64), torch.zeros(1, 3, 64, 64), torch.zeros(1, 4, 3))
    export(model, os.path.join(HERE, folder, "policy.onnx"), list(inputs), ["action"], example)
    shutil.copyfile(os.path.join(PICK, "contract.yaml"), os.path.join(HERE, folder, "contract.yaml"))
    with open(os.path.join(HERE, folder, "gate.yaml"), "w") as file:
        file.write(GATE % title)
    part_of_golden(folder)


def swapped_cameras():
    write_folder("swapped_cameras", "block_pick exported with the names of its two cameras exchanged: the gate must reject it.",
                 load(), inputs=("wrist", "front", "qpos"))


def colour_order():
    model = load()
    with torch.no_grad():
        for camera in (model.front, model.wrist):
            camera.convs[0].weight.copy_(camera.convs[0].weight.flip(1))
    write_folder("colour_order", "block_pick that takes BGR where the contract says RGB: the gate must reject it.", model)


def missing_normalisation():
    model = load()
    model.q_mean.zero_()
    model.q_std.fill_(1.0)
    write_folder("missing_normalisation",
                 "block_pick whose normalisation of the joints was lost in the export: the gate must reject it.", model)


class Reordered(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, front, wrist, qpos):
        return self.model(front, wrist, qpos)[..., [1, 0, 2, 3]]


def joint_order():
    write_folder("joint_order", "block_pick that answers elbow before shoulder: the gate must reject it.", Reordered(load()))


class Tracker(nn.Module):
    """A recurrent policy: (1,3) position error in m, state (1,8) to (1,2) speed in m/s and the next state."""

    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.Linear(3 + 8, 8), nn.Linear(8, 2)

    def step(self, error, state):
        state = 0.5 * state + torch.tanh(self.cell(torch.cat([error, state], 1)))
        return self.head(state), state

    def forward(self, error, h_in):
        return self.step(error, h_in)


class Forgetful(Tracker):
    """Starts from zero at each step. The product keeps h_in an input of the graph, as the contract wants."""

    def forward(self, error, h_in):
        return self.step(error, 0.0 * h_in)


TRACK_CONTRACT = """# track: follows a block with a recurrent policy; h_out goes back into h_in at the next step.
assay: 1
policy: track
model: policy.onnx
inputs:
  - {name: error, dtype: float32, shape: [1, 3], unit: m, legal: [-2, 2], on_invalid: refuse}
  - {name: h_in, dtype: float32, shape: [1, 8], unit: "1", on_invalid: refuse}
state:
  - {input: h_in, output: h_out, initial: zeros, reset: episode}
outputs:
  - name: speed
    dtype: float32
    shape: [1, 2]
    axes: [batch, component]
    components:
      - {name: forward, unit: m/s, tolerance: {max: 0.001}}
      - {name: sideways, unit: m/s, tolerance: {max: 0.001}}
  - {name: h_out, dtype: float32, shape: [1, 8]}
"""


def state_not_carried():
    folder = os.path.join(HERE, "state_not_carried")
    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(11)
    model, broken = Tracker().eval(), Forgetful().eval()
    broken.load_state_dict(model.state_dict())
    export(broken, os.path.join(folder, "policy.onnx"), ["error", "h_in"], ["speed", "h_out"],
           (torch.zeros(1, 3), torch.zeros(1, 8)))
    with open(os.path.join(folder, "contract.yaml"), "w") as file:
        file.write(TRACK_CONTRACT)
    with open(os.path.join(folder, "gate.yaml"), "w") as file:
        file.write(GATE % "A recurrent policy whose export forgot the state: right at the first step, wrong from the second.")
    rng = np.random.default_rng(5)
    with TorchCapture(os.path.join(folder, "golden"), model, policy="track", inputs=["error", "h_in"],
                      outputs=["speed", "h_out"]) as capture:
        for k in range(4):
            error = np.cumsum(rng.uniform(-0.2, 0.2, (6, 1, 3)), 0).astype(np.float32)
            state, answers = np.zeros((1, 8), np.float32), []
            for step in range(6):
                answer = capture.run({"error": error[step], "h_in": state})
                answers.append(answer)
                state = answer["h_out"].numpy()
            outputs = {name: np.stack([a[name].numpy() for a in answers]) for name in ("speed", "h_out")}
            capture.corpus.add("episode_%d" % k, inputs={"error": error}, outputs=outputs, sequence=True)


if __name__ == "__main__":
    for make in (swapped_cameras, colour_order, missing_normalisation, joint_order, state_not_carried):
        make()
        print(make.__name__)
