#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets again: python3 tests/fuzz/make_seeds.py

Needs numpy, onnx and h5py, as Debian packages them. The seeds are committed, so that nobody has to run this; they
are small on purpose."""
import io
import json
import os
import struct

import h5py
import numpy as np
from onnx import TensorProto, helper, numpy_helper

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seeds")


def put(reader, name, data):
    folder = os.path.join(ROOT, reader)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def arrays():
    put("npy", "float32.npy", npy(np.arange(6, dtype=np.float32).reshape(2, 3)))
    put("npy", "big_endian.npy", npy(np.arange(3, dtype=">i4")))
    put("npy", "fortran.npy", npy(np.asfortranarray(np.arange(6.0).reshape(2, 3))))
    put("npy", "bool_scalar.npy", npy(np.bool_(True)))
    put("npy", "unicode.npy", npy(np.array(["a\u00e9", "b"])))
    put("npy", "bytes.npy", npy(np.array([b"ab", b"c"])))
    put("npy", "complex.npy", npy(np.array([1 + 2j], dtype=np.complex64)))
    put("npy", "empty.npy", npy(np.zeros((0, 3), dtype=np.float16)))
    put("npy", "objects.npy", npy(np.array([{}], dtype=object)))
    for name, save in (("stored.npz", np.savez), ("deflated.npz", np.savez_compressed)):
        out = io.BytesIO()
        save(out, **{"inputs/obs": np.zeros((2, 3), np.float32), "outputs//m/a:0": np.arange(3)})
        put("npz", name, out.getvalue())


def safetensors(header, values=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + values


def statistics():
    entry = {"dtype": "F32", "shape": [2]}
    put("safetensors", "statistics.safetensors", safetensors(
        {"__metadata__": {"format": "pt"}, "action.mean": {**entry, "data_offsets": [0, 8]},
         "action.std": {**entry, "data_offsets": [8, 16]}}, struct.pack("<4f", 1, 2, 0.5, 4)))
    put("safetensors", "scalar_and_empty.safetensors", safetensors(
        {"a": {"dtype": "BF16", "shape": [], "data_offsets": [0, 2]},
         "b": {"dtype": "I64", "shape": [0, 3], "data_offsets": [2, 2]}}, b"\x80\x3f"))
    put("safetensors", "padded.safetensors", safetensors(b"{}      "))


def model(nodes, inputs, outputs, initializers=(), functions=(), opset=17, ir_version=8):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid("local", 1)] if functions else [])
    made = helper.make_model(graph, opset_imports=imports, functions=list(functions))
    made.ir_version = ir_version
    return made.SerializeToString()


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def models():
    weight = numpy_helper.from_array(np.ones((3, 2), np.float32), "w")
    large = numpy_helper.from_array(np.zeros(1200, np.float32), "large")
    gemm = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"], name="r")]
    put("model", "matmul.onnx", model(gemm, [value("x", ["batch", 3])], [value("y", ["batch", 2])], [weight]))
    put("model", "large_weight.onnx", model([helper.make_node("Add", ["x", "large"], ["y"])], [value("x", [1200])],
                                            [value("y", [1200])], [large]))
    branch = [helper.make_graph([helper.make_node(op, ["x"], ["o"])], op, [], [value("o", [3])])
              for op in ("Relu", "Neg")]
    put("model", "if.onnx", model([helper.make_node("If", ["c"], ["y"], then_branch=branch[0], else_branch=branch[1])],
                                  [value("c", [], TensorProto.BOOL), value("x", [3])], [value("y", [3])]))
    double = helper.make_function("local", "Double", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
                                  [helper.make_opsetid("", 17)])
    put("model", "function.onnx", model([helper.make_node("Double", ["x"], ["y"], domain="local")],
                                        [value("x", [3])], [value("y", [3])], functions=[double]))
    external = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3, 2], data_location=TensorProto.EXTERNAL)
    for key, text in (("location", "w.bin"), ("offset", "0"), ("length", "24")):
        entry = external.external_data.add()
        entry.key, entry.value = key, text
    put("model", "external.onnx", model(gemm, [value("x", [1, 3])], [value("y", [1, 2])], [external]))
    conv = helper.make_node("Conv", ["x", "k"], ["y"], pads=[1, 1, 1, 1], strides=[1, 1])
    kernel = numpy_helper.from_array(np.ones((1, 1, 3, 3), np.float32), "k")
    put("model", "conv.onnx", model([conv], [value("x", [1, 1, 4, 4])], [value("y", None)], [kernel]))
    put("tensor_file", "raw.pb", numpy_helper.from_array(np.arange(6.0).reshape(2, 3), "x").SerializeToString())
    put("tensor_file", "typed.pb",
        helper.make_tensor("x", TensorProto.FLOAT16, [2], [1.0, 2.0]).SerializeToString())
    put("tensor_file", "strings.pb", helper.make_tensor("s", TensorProto.STRING, [2], [b"a", b"bc"]).SerializeToString())


CONTRACT = """\
assay: 1
policy: block_pick
model: policy.onnx
inputs:
  - name: front
    dtype: float32
    shape: [1, 3, 96, 96]
    layout: NCHW
    color: RGB
    legal: [0, 1]
    preprocess: [{resize: {height: 96, width: 96, filter: bilinear}}, {scale: 0.00392156862745098}]
    max_age_ms: 100
    on_invalid: refuse
  - {name: obs, dtype: float32, shape: [{min: 1, opt: 2, max: 4}, 4], legal: [-1, 1]}
  - {name: h_in, dtype: float32, shape: [1, 8]}
state:
  - {input: h_in, output: h_out, initial: zeros, reset: episode}
outputs:
  - name: action
    dtype: float32
    shape: [1, 20, 2]
    axes: [batch, horizon, component]
    execute: {steps: 8}
    decode: [{clip: [-10, 10]}, {scale: 0.5}, {offset: 0.1}]
    components:
      - name: shoulder
        unit: rad
        tolerance: {max: 0.002, mean: 0.0005, p99: 0.001}
        limits: {min: -1.6, max: 1.6, rate: 2.0}
      - name: gripper
        unit: score
        decision: {threshold: 0.5, at_or_above: close, below: open}
timing: {period_ms: 20, p99_ms: 10, deadline_misses: 0}
budget: {ram_mb: 500, engine_mb: 100}
"""

GATE = """\
assay: 1
contract: contract.yaml
corpus: golden
reference: {rung: recorded}
noise: {repeats: 5, processes: 3, threads: [1, 2], rebuild: 3}
rungs:
  - {name: fp32, engine: assay}
  - name: fp16-emulated
    engine: assay
    precision: fp16
    required: false
    tolerance:
      - {component: shoulder, max: 0.001}
constrain: {cpus: 1, ram_mb: 512}
"""

CORPUS = """\
assay: 1
role: golden
policy: block_pick
source: {framework: pytorch, version: 1.13.1}
cases:
  - id: centred
    file: a.npz
    tags: {light: dark}
    ages: {obs: 20}
    origin: {file: episode.hdf5, episode: 3, frame: 17}
  - {id: broken, file: a.npz, expect: {refuse: INPUT_SHAPE}}
  - {id: walk, file: a.npz, sequence: true, forced: true}
"""


def yaml_files():
    put("contract", "whole.yaml", CONTRACT.encode())
    put("contract", "small.yaml", b"assay: 1\npolicy: p\nmodel: m.onnx\ninputs:\n  - {name: x, dtype: float32, shape: [1]}\n"
        b"outputs:\n  - {name: y, dtype: float32, shape: [1], components: [{name: a, unit: rad, tolerance: {max: 1}}]}\n")
    put("contract", "alias.yaml", b"a: &x [1]\nb: *x\n")
    put("contract", "open_question.yaml", CONTRACT.replace("unit: rad", "unit: TODO").encode())
    put("gate_file", "whole.yaml", GATE.encode())
    put("gate_file", "small.yaml", b"assay: 1\ncontract: contract.yaml\ncorpus: golden\nrungs: [{name: a, engine: assay}]\n")
    put("corpus", "whole.yaml", CORPUS.encode())
    put("corpus", "small.yaml", b"assay: 1\nrole: golden\ncases:\n  - {id: a, file: a.npz}\n")


def ledger():
    import hashlib
    lines, before = [], ""
    wrist = ["output action", "component wrist", "tolerance max", "0.002", "rad", "ceiling"]
    for body in (
        {"kind": "declared", "date": "2026-12-01T00:00:00Z", "assay": "0.1.0", "gate": "gate.yaml", "contract": "contract.yaml",
         "files": [{"role": "gate", "path": "gate.yaml", "digest": "sha256:0"}], "contract_set": [wrist],
         "gate_set": [["rung fp32", None, "required", "yes", None, "floor"], ["case a", None, "bytes", "sha256:1", None, "fact"]]},
        {"kind": "verdict", "date": "2026-12-01T00:00:01Z", "of": 1, "verdict": "REJECT", "exit_code": 1,
         "rungs": [{"name": "fp32", "verdict": "REJECT", "required": True}]},
        {"kind": "declared", "date": "2026-12-02T00:00:00Z", "assay": "0.1.0", "gate": "gate.yaml", "contract": "contract.yaml",
         "files": [], "contract_set": [wrist[:3] + ["0.004", "rad", "ceiling"]], "gate_unset": [["case a", None, "bytes"]]},
        {"kind": "look", "date": "2026-12-03T00:00:00Z", "assay": "0.1.0", "digest": "sha256:2", "reason": None, "files": []},
    ):
        text = json.dumps({"line": len(lines) + 1, "before": before, **body}, separators=(",", ":"))[:-1]
        before = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
        lines.append('%s,"self":"%s"}\n' % (text, before))
    put("ledger", "whole.jsonl", "".join(lines).encode())
    put("ledger", "torn.jsonl", "".join(lines).encode()[:-30])
    put("ledger", "cut.jsonl", (lines[0] + lines[2]).encode())


def episodes():
    for name, options in (("plain.hdf5", {}), ("deflated.hdf5", {"chunks": (2, 3), "compression": "gzip"})):
        out = io.BytesIO()
        with h5py.File(out, "w", libver="latest" if options else "earliest") as file:
            file.create_dataset("observations/qpos", data=np.zeros((4, 3), np.float32), **options)
            file.create_dataset("action", data=np.ones((4, 3), np.float32), **options)
        put("hdf5", name, out.getvalue())


if __name__ == "__main__":
    arrays()
    statistics()
    models()
    ledger()
    yaml_files()
    episodes()
