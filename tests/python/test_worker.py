"""The worker that runs PyTorch policies for a gate: its messages, what it refuses, and a whole gate through the program."""
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SOURCE = os.environ.get("ASSAY_CAPTURE_PATH", os.path.join(ROOT, "bindings", "python"))
sys.path.insert(0, SOURCE)
from assay_capture import wire, worker  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

POLICY = """
import torch
print("a module may print")
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 3)
    def forward(self, x, y):
        return {"z": self.layer(x) + y, "twice": 2 * x}
def broken():
    raise RuntimeError("it is broken")
"""


def frame(writer):
    buffer = io.BytesIO()
    wire.send(buffer, writer)
    return buffer.getvalue()


def hello(settings, threads=1, protocol=wire.PROTOCOL):
    writer = wire.Writer().number(wire.HELLO).string("assay worker").number(protocol).string("source").string("pytorch")
    writer.string(None).string(None).number(threads).number(len(settings))
    for key, value in settings:
        writer.string(key).string(value)
    return frame(writer.number(0).number(0))


def call(inputs):
    writer = wire.Writer().number(wire.RUN).string("case").number(0).number(0).number(0)
    return frame(writer.tensors(inputs).tensors({}))


def talk(*messages):
    """Exit code and the answers, each positioned behind its DONE."""
    target = io.BytesIO()
    code = worker.serve(io.BytesIO(b"".join(messages)), target)
    target.seek(0)
    answers = []
    while True:
        answer = wire.receive(target)
        if answer is None:
            return code, answers
        assert answer.number() == wire.DONE
        answers.append((answer.string(), answer.string(), answer.string(), answer))


class WireTest(unittest.TestCase):
    def test_tensors_come_back(self):
        arrays = {"a": np.float32([[1, np.nan]]), "b": np.int64(7), "c": np.zeros((0, 3), np.bool_), "d": np.arange(4, dtype=">i2")}
        back = wire.receive(io.BytesIO(frame(wire.Writer().tensors(arrays)))).tensors()
        self.assertEqual(list(back), list(arrays))
        for name, array in arrays.items():
            np.testing.assert_array_equal(back[name], array)
            self.assertEqual(back[name].shape, np.asarray(array).shape)

    def test_what_is_cut_off_is_refused(self):
        whole = wire.Writer().tensors({"a": np.float32([1, 2])}).bytes()
        for size in range(len(whole)):
            with self.subTest(size), self.assertRaises(wire.WireError):
                wire.Reader(whole[:size]).tensors()
        self.assertIsNone(wire.receive(io.BytesIO(frame(wire.Writer().string("x"))[:-1])))
        with self.assertRaises(wire.WireError):
            wire.receive(io.BytesIO(b"\xff" * 8))

    def test_types_that_cannot_be_handed_over(self):
        for array in (np.array(["a"]), np.array([1j])):
            with self.assertRaises(wire.WireError):
                wire.Writer().tensors({"a": array})


class GreetingTest(unittest.TestCase):
    def refusal(self, *messages):
        code, answers = talk(*messages)
        self.assertEqual((code, len(answers)), (1, 1))
        return answers[0][0], answers[0][2]

    def test_another_protocol(self):
        code, sentence = self.refusal(hello([], protocol=2))
        self.assertEqual(code, "RUNG_FAILED")
        self.assertIn("protocol 2", sentence)

    def test_no_greeting(self):
        self.assertIn("malformed", self.refusal()[1])
        self.assertIn("malformed", self.refusal(call({}))[1])

    def test_an_unknown_setting(self):
        code, sentence = self.refusal(hello([("moduel", "x")]))
        self.assertEqual(code, "RUNG_SETTING")
        self.assertIn("moduel", sentence)


@unittest.skipIf(torch is None, "this Python lacks torch")
class PolicyTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.temporary.name, "net.py")
        with open(self.path, "w") as file:
            file.write(POLICY)
        self.names = [("arguments.0", "x"), ("arguments.1", "y"), ("results.0", "z"), ("results.1", "t")]
        self.inputs = {"y": np.float32([[10, 20, 30]]), "x": np.float32([[1, 2]])}
        self.threads = torch.get_num_threads()

    def tearDown(self):
        torch.set_num_threads(self.threads)
        self.temporary.cleanup()

    def settings(self, *more, names=None):
        return hello([("module", self.path + ":Net"), *(self.names if names is None else names), *more])

    def test_arguments_go_by_the_names_given(self):
        checkpoint = os.path.join(self.temporary.name, "w.npz")
        np.savez(checkpoint, **{"layer.weight": np.float32([[1, 0], [0, 1], [1, 1]]), "layer.bias": np.zeros(3, np.float32)})
        code, answers = talk(self.settings(("checkpoint", checkpoint)), call(self.inputs), frame(wire.Writer().number(wire.RENEW)),
                             call(self.inputs))
        self.assertEqual((code, [a[0] for a in answers]), (0, ["OK"] * 4))
        for answer in (answers[1], answers[3]):
            outputs = answer[3].tensors()
            np.testing.assert_array_equal(outputs["z"], [[11, 22, 33]])
            np.testing.assert_array_equal(outputs["t"], [[2, 4]])

    def test_it_says_what_ran(self):
        _, answers = talk(self.settings(), frame(wire.Writer().number(wire.DESCRIBE)))
        reader = answers[1][3]
        strings = [reader.string() for _ in range(9)]
        self.assertEqual((strings[0], strings[1], strings[3], strings[5]), ("pytorch", torch.__version__, "fp32", "cpu"))
        self.assertEqual(reader.number(), 1)  # the baseline runs on one thread

    def test_what_cannot_be_run_is_told_in_words(self):
        bad = [([("arguments.0", "x"), ("results.0", "z")], self.inputs, "was fed"),
               (self.names[:3], self.inputs, "gives 2 tensors"),
               (self.names, {"x": self.inputs["x"]}, "was fed"),
               (self.names, dict(self.inputs, x=np.float32([[1, 2, 3]])), "RuntimeError")]
        for names, inputs, says in bad:
            with self.subTest(says):
                _, answers = talk(self.settings(names=names), call(inputs))
                self.assertEqual([answers[0][0], answers[1][0]], ["OK", "RUNG_FAILED"])
                self.assertIn(says, answers[1][2])

    def test_what_cannot_be_loaded_is_told_in_words(self):
        for module, says in ((self.path + ":broken", "it is broken"), (self.path + ":nothing", "has no 'nothing'"),
                             (self.path, "FILE.py:CALLABLE"), ("/nowhere.py:Net", "there is no file")):
            with self.subTest(module):
                code, answers = talk(hello([("module", module), *self.names]))
                self.assertEqual(code, 1)
                self.assertIn(says, answers[0][2])
        self.assertIn("arguments", talk(self.settings(names=[]))[1][0][2])
        self.assertIn("neither", talk(hello(self.names))[1][0][2])

    def test_a_pickle_that_is_a_program_is_not_run(self):
        import pickle
        marker, checkpoint = os.path.join(self.temporary.name, "ran"), os.path.join(self.temporary.name, "w.pt")

        class Evil:
            def __reduce__(self):
                return (open, (marker, "w"))
        with open(checkpoint, "wb") as file:
            pickle.dump(Evil(), file)
        code, _ = talk(self.settings(("checkpoint", checkpoint)))
        self.assertEqual((code, os.path.exists(marker)), (1, False))

    def test_torchscript(self):
        path = os.path.join(self.temporary.name, "double.pt")
        torch.jit.trace(lambda x: x * 2, torch.zeros(1)).save(path)
        _, answers = talk(hello([("model", path), ("arguments.0", "x"), ("results.0", "y")]), call({"x": np.float32([3])}))
        np.testing.assert_array_equal(answers[1][3].tensors()["y"], [6])

    @unittest.skipUnless(torch is not None and hasattr(getattr(torch, "export", None), "save"), "this PyTorch has no torch.export")
    def test_an_exported_program(self):
        class Double(torch.nn.Module):
            def forward(self, x):
                return x * 2
        path = os.path.join(self.temporary.name, "double.pt2")
        torch.export.save(torch.export.export(Double(), (torch.zeros(3),)), path)
        _, answers = talk(hello([("model", path), ("arguments.0", "x"), ("results.0", "y")]), call({"x": np.float32([1, 2, 3])}))
        np.testing.assert_array_equal(answers[1][3].tensors()["y"], [2, 4, 6])

    @unittest.skipUnless("ASSAY_PROGRAM" in os.environ, "ASSAY_PROGRAM does not say where assay is")
    def test_the_source_itself_passes_the_gate(self):
        folder = os.path.join(self.temporary.name, "block_pick")
        shutil.copytree(os.path.join(ROOT, "examples", "block_pick"), folder)
        with open(os.path.join(folder, "gate.source.yaml"), "w") as file:
            file.write("assay: 1\ncontract: contract.yaml\ncorpus: golden\nrungs:\n"
                       "  - {name: source, engine: pytorch, module: policy.py:Policy, checkpoint: weights.npz,\n"
                       "     arguments: [front, wrist, qpos], results: [action], python: %s}\n" % sys.executable)
        ran = subprocess.run([os.environ["ASSAY_PROGRAM"], "verify", folder, "--gate", os.path.join(folder, "gate.source.yaml")],
                             capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=SOURCE))
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("ran: pytorch %s fp32 cpu, 1 thread" % torch.__version__, ran.stdout)


if __name__ == "__main__":
    unittest.main()
