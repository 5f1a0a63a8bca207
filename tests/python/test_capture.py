"""Tests of assay_capture: what is written, what is refused, and that nothing half-written stays."""
import hashlib
import os
import sys
import tempfile
import unittest

import numpy as np

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bindings", "python")
sys.path.insert(0, os.environ.get("ASSAY_CAPTURE_PATH", SOURCE))
from assay_capture import Corpus, CorpusError, capture, draw_noise  # noqa: E402
from assay_capture.archive import archive_bytes  # noqa: E402

try:
    import torch
    from assay_capture.pytorch import TorchCapture, parameter_influence, weights_digest
except ImportError:
    torch = None


class CorpusTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.temporary.name, "golden")
        self.x = np.float32([[1, 2]])

    def tearDown(self):
        self.temporary.cleanup()

    def test_written_case_reads_back(self):
        with Corpus(self.folder, policy="p", source={"framework": "numpy", "version": "1.24"}) as corpus:
            capture(corpus, lambda i: {"y": i["x"] * 2}, "a b", {"x": self.x}, repeats=2, tags={"light": "dark"})
        with np.load(os.path.join(self.folder, "a%20b.npz")) as stored:
            self.assertEqual(sorted(stored.files), ["inputs/x", "outputs/y", "repeats/0/y", "repeats/1/y"])
            np.testing.assert_array_equal(stored["outputs/y"], self.x * 2)
        text = open(os.path.join(self.folder, "corpus.yaml")).read()
        digest = hashlib.sha256(open(os.path.join(self.folder, "a%20b.npz"), "rb").read()).hexdigest()
        self.assertIn("sha256:" + digest, text)
        self.assertIn("tags: {light: dark}", text)

    def test_same_arrays_same_bytes(self):
        a = archive_bytes({"inputs/x": self.x, "inputs/n": np.float64(3)})
        b = archive_bytes({"inputs/n": np.float64(3), "inputs/x": np.asfortranarray(self.x)})
        self.assertEqual(a, b)

    def test_scalar_keeps_rank_zero(self):
        with Corpus(self.folder, policy="p") as corpus:
            corpus.add("a", inputs={"sr": np.int64(16000)}, outputs={"y": self.x})
        with np.load(os.path.join(self.folder, "a.npz")) as stored:
            self.assertEqual(stored["inputs/sr"].shape, ())

    def test_refusals(self):
        with Corpus(self.folder, policy="p") as corpus:
            corpus.add("a", inputs={"x": self.x}, outputs={"y": self.x})
            bad = [dict(case_id="a", inputs={"x": self.x}, outputs={"y": self.x}),
                   dict(case_id="b", inputs={"x": self.x}),
                   dict(case_id="c", outputs={"y": self.x}),
                   dict(case_id="d", inputs={"x": self.x}, outputs={"y": self.x}, refuse="INPUT_NAN"),
                   dict(case_id="e", inputs={"x": self.x}, outputs={"y": np.float32([np.nan])}),
                   dict(case_id="f", inputs={"x": np.array([object()])}, outputs={"y": self.x})]
            for arguments in bad:
                with self.subTest(arguments["case_id"]), self.assertRaises(CorpusError):
                    corpus.add(**arguments)
            self.assertEqual(len(corpus), 1)

    def test_times_monitors_and_guard_are_written(self):
        two = np.float32([[[1]], [[2]]])
        with Corpus(self.folder, policy="p") as corpus:
            corpus.add("one", inputs={"x": self.x}, outputs={"y": self.x}, times_ms={"x": 1000.5}, now_ms=np.int64(1010),
                       result_age_ms=12, monitors={"bumper": ("clear", 5), "laser": "missing"}, guard="accept")
            corpus.add("seq", inputs={"x": two}, outputs={"y": two}, sequence=True, times_ms={"x": np.float64([1, 2])},
                       now_ms=[1, 3], monitors={"bumper": [("tripped", 0.5), {"answer": "clear", "age_ms": 1}]},
                       guard={1: "ACTION_LIMIT"})
            capture(corpus, lambda i: {"y": i["x"]}, "each", {"x": two}, sequence=True, guard=["accept", "ACTION_RATE"],
                    monitors={})
            corpus.add_invalid("old", {"x": self.x}, "INPUT_STALE", times_ms={"x": 0}, now_ms=1000)
        text = open(os.path.join(self.folder, "corpus.yaml")).read()
        for line in ("times_ms: {x: 1000.5}", "now_ms: 1010", "result_age_ms: 12", "guard: accept",
                     "monitors: {bumper: {answer: clear, age_ms: 5}, laser: missing}", "times_ms: {x: [1.0, 2.0]}",
                     "monitors: {bumper: [{answer: tripped, age_ms: 0.5}, {answer: clear, age_ms: 1}]}",
                     "guard: {1: ACTION_LIMIT}", "guard: [accept, ACTION_RATE]", "monitors: {}", "times_ms: {x: 0}"):
            self.assertIn("    " + line + "\n", text)

    def test_times_that_say_nothing_are_refused(self):
        two = np.float32([[[1]], [[2]]])
        with Corpus(self.folder, policy="p") as corpus:
            corpus.add("a", inputs={"x": self.x}, outputs={"y": self.x})
            for more in (dict(times_ms={"x": 1}), dict(now_ms=[1, 2]), dict(now_ms=float("nan")), dict(now_ms="soon"),
                         dict(now_ms=1, times_ms={"x": 1}, ages_ms={"x": 1}), dict(monitors={"m": "clear"}),
                         dict(monitors={"m": ("fine", 1)}), dict(monitors={"m": ("clear", None)}), dict(guard="ok"),
                         dict(guard=["accept"]), dict(guard={0: "accept"})):
                with self.subTest(more), self.assertRaises(CorpusError):
                    corpus.add("b", inputs={"x": self.x}, outputs={"y": self.x}, **more)
            for more in (dict(now_ms=[1, 2, 3]), dict(guard=["accept"]), dict(guard={2: "accept"}), dict(guard={}),
                         dict(monitors={"m": ["missing"]})):
                with self.subTest(more), self.assertRaises(CorpusError):
                    corpus.add("b", inputs={"x": two}, outputs={"y": two}, sequence=True, **more)
            self.assertEqual(len(corpus), 1)

    def test_every_draw_is_stored_with_its_answer(self):
        draws = draw_noise((1, 2), 3)
        self.assertEqual(len({draw.tobytes() for draw in draws}), 3)
        np.testing.assert_array_equal(draws[1], draw_noise((1, 2), 2)[1])
        with Corpus(self.folder, policy="p") as corpus:
            answers = capture(corpus, lambda i: {"y": i["x"] + i["z"]}, "a", {"x": self.x}, noise={"z": draws}, repeats=1)
        self.assertEqual(len(answers), 3)
        with np.load(os.path.join(self.folder, "a.npz")) as stored:
            self.assertEqual(sorted(stored.files), ["inputs/x"] + sorted(
                "seeds/%d/%s" % (k, name) for k in range(3) for name in ("inputs/z", "outputs/y", "repeats/0/y")))
            np.testing.assert_array_equal(stored["seeds/2/outputs/y"], self.x + draws[2])

    def test_uneven_draws_are_refused(self):
        one = {"inputs": {"z": self.x}, "outputs": {"y": self.x}}
        with Corpus(self.folder, policy="p") as corpus:
            corpus.add("a", inputs={"x": self.x}, seeds=[one, one])
            bad = [dict(inputs={"z": self.x}, seeds=[one]), dict(inputs={"x": self.x}, outputs={"y": self.x}, seeds=[one]),
                   dict(inputs={"x": self.x}, seeds=[{"inputs": {"z": self.x}}]),
                   dict(inputs={"x": self.x}, seeds=[one, {"inputs": {"w": self.x}, "outputs": {"y": self.x}}]),
                   dict(inputs={"x": self.x}, seeds=[dict(one, raw={})]),
                   dict(inputs={"x": self.x}, seeds=[{"inputs": {"z": self.x}, "outputs": {"y": self.x * np.nan}}])]
            for more in bad:
                with self.subTest(sorted(more)), self.assertRaises(CorpusError):
                    corpus.add("b", **more)
            for noise in ({"z": []}, {"z": [self.x], "w": []}):
                with self.subTest(noise), self.assertRaises(CorpusError):
                    capture(corpus, lambda i: {"y": i["x"]}, "b", {"x": self.x}, noise=noise)
            with self.assertRaises(CorpusError):
                draw_noise((1,), 1, "gauss")
            self.assertEqual(len(corpus), 1)

    def test_unknown_facts_about_the_source_are_refused(self):
        with self.assertRaises(CorpusError):
            Corpus(self.folder, policy="p", source={"framwork": "numpy"})
        self.assertEqual(os.listdir(self.temporary.name), [])

    def test_an_exception_leaves_the_old_corpus(self):
        with Corpus(self.folder, policy="old") as corpus:
            corpus.add("a", inputs={"x": self.x}, outputs={"y": self.x})
        with self.assertRaises(RuntimeError):
            with Corpus(self.folder, policy="new"):
                raise RuntimeError("stop")
        self.assertIn("policy: old", open(os.path.join(self.folder, "corpus.yaml")).read())
        self.assertEqual(os.listdir(self.temporary.name), ["golden"])

    def test_another_folder_is_never_replaced(self):
        os.makedirs(self.folder)
        open(os.path.join(self.folder, "precious"), "w").close()
        with self.assertRaises(CorpusError):
            with Corpus(self.folder, policy="p") as corpus:
                corpus.add("a", inputs={"x": self.x}, outputs={"y": self.x})
        self.assertEqual(os.listdir(self.folder), ["precious"])

    def test_names_cannot_leave_the_folder(self):
        with Corpus(self.folder, policy="p") as corpus:
            corpus.add("../up", inputs={"x": self.x}, outputs={"y": self.x})
            corpus.add("..", inputs={"x": self.x}, outputs={"y": self.x})
        self.assertEqual(sorted(os.listdir(self.folder)), ["%2E%2E.npz", "..%2Fup.npz", "corpus.yaml"])
        self.assertEqual(os.listdir(self.temporary.name), ["golden"])


@unittest.skipIf(torch is None, "PyTorch is not installed")
class TorchTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.temporary.name, "golden")
        torch.manual_seed(1)

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.used, self.unused = torch.nn.Linear(2, 3), torch.nn.Linear(2, 5)

            def forward(self, x):
                return self.used(x)

        self.net = Net()

    def tearDown(self):
        self.temporary.cleanup()

    def test_capture_records_framework_weights_and_both_sides_of_preprocessing(self):
        self.net.train()
        threads = torch.get_num_threads()
        raw = np.uint8([[10, 20]])
        with TorchCapture(self.folder, self.net, "p", inputs=["x"], outputs=["y"]) as t:
            t.case("a", raw={"x": raw}, preprocess=lambda r: {"x": r["x"].astype(np.float32) / 255},
                   decode=lambda o: {"joint": o["y"][..., 0] * 2.0}, repeats=1)
        self.assertTrue(self.net.training)
        self.assertEqual(torch.get_num_threads(), threads)
        text = open(os.path.join(self.folder, "corpus.yaml")).read()
        self.assertIn(weights_digest(self.net), text)
        self.assertIn(torch.__version__, text)
        with np.load(os.path.join(self.folder, "a.npz")) as stored:
            self.assertEqual(sorted(stored.files),
                             ["decoded/joint", "inputs/x", "outputs/y", "raw/x", "repeats/0/y"])
            np.testing.assert_array_equal(stored["raw/x"], raw)
            np.testing.assert_array_equal(stored["outputs/y"], stored["repeats/0/y"])

    def test_wrong_names_are_refused(self):
        with TorchCapture(self.folder, self.net, "p", inputs=["x"], outputs=["y", "z"]) as t:
            for inputs in ({"u": np.zeros((1, 2), np.float32)}, {"x": np.zeros((1, 2), np.float32)}):
                with self.assertRaises(CorpusError):
                    t.case("a", inputs=inputs)

    def test_digest_follows_the_weights(self):
        before = weights_digest(self.net)
        with torch.no_grad():
            self.net.used.bias[0] += 1
        self.assertNotEqual(before, weights_digest(self.net))

    def test_dead_parameters_are_found_and_weights_are_left_alone(self):
        before = weights_digest(self.net)
        influence = parameter_influence(self.net, [torch.zeros(1, 2)])
        self.assertEqual(sorted(influence.dead), ["unused.bias", "unused.weight"])
        self.assertEqual((influence.dead_count, influence.total), (15, 24))
        self.assertEqual(weights_digest(self.net), before)

    def test_influence_without_a_gradient_is_influence(self):
        class Picks(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.score, self.idle = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(4))

            def forward(self, x):
                return x * torch.floor(self.score.detach() + x).sum()

        influence = parameter_influence(Picks(), [torch.ones(1)])
        self.assertEqual(sorted(influence.dead), ["idle"])

    def test_bfloat16_is_stored_as_bits(self):
        with TorchCapture(self.folder, self.net.bfloat16(), "p", inputs=["x"], outputs=["y"]) as t:
            t.case("a", inputs={"x": torch.ones(1, 2, dtype=torch.bfloat16)})
        self.assertIn("dtypes: {inputs/x: bfloat16, outputs/y: bfloat16}",
                      open(os.path.join(self.folder, "corpus.yaml")).read())
        with np.load(os.path.join(self.folder, "a.npz")) as stored:
            np.testing.assert_array_equal(stored["inputs/x"], np.uint16([[0x3F80, 0x3F80]]))


if __name__ == "__main__":
    unittest.main()
