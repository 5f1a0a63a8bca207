"""LeRobot datasets and MCAP bags as sources of cases, on small ones that are written here. The libraries that read them are
extras; without them the tests are skipped by name."""
import importlib.util
import json
import os
import sys
import tempfile
import unittest

import numpy as np

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bindings", "python")
sys.path.insert(0, os.environ.get("ASSAY_CAPTURE_PATH", SOURCE))
from assay_capture import Corpus, CorpusError  # noqa: E402
from assay_capture import lerobot, mcap_bag, samples  # noqa: E402


def lacks(*modules):
    return next((name for name in modules if importlib.util.find_spec(name) is None), None)


LACKS_LEROBOT = lacks("pyarrow", "av", "PIL")
LACKS_MCAP = lacks("mcap", "mcap_ros2", "PIL")
FPS, SIZE = 10, 32


def grey(episode, frame):
    """A picture whose brightness says which it is."""
    return np.full((SIZE, SIZE, 3), 40 + 100 * episode + 10 * frame, np.uint8)


def write_video(path, pictures):
    import av
    with av.open(path, "w") as container:
        stream = container.add_stream("mpeg4", rate=FPS)
        stream.width = stream.height = SIZE
        stream.pix_fmt, stream.bit_rate, stream.gop_size = "yuv420p", 4000000, 4
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))


def features():
    return {"observation.state": {"dtype": "float32", "shape": [2], "names": ["hip", "knee"]},
            "done": {"dtype": "bool", "shape": [1]},
            "observation.images.front": {"dtype": "video", "shape": [SIZE, SIZE, 3]},
            "observation.images.inline": {"dtype": "image", "shape": [SIZE, SIZE, 3]}}


def table(episodes, lengths):
    """The rows of several episodes; state is [episode, frame]."""
    import io

    import PIL.Image
    import pyarrow
    rows = {"episode_index": [], "frame_index": [], "timestamp": [], "observation.state": [], "done": [],
            "observation.images.inline": []}
    for episode in episodes:
        for frame in range(lengths[episode]):
            buffer = io.BytesIO()
            PIL.Image.fromarray(grey(episode, frame)).save(buffer, "PNG")
            for key, value in (("episode_index", episode), ("frame_index", frame), ("timestamp", frame / FPS),
                               ("observation.state", [float(episode), float(frame)]), ("done", [False]),
                               ("observation.images.inline", {"bytes": buffer.getvalue(), "path": None})):
                rows[key].append(value)
    return pyarrow.table(rows)


def write_dataset(root, version, lengths=(6, 4)):
    import pyarrow
    import pyarrow.parquet as parquet
    info = {"codebase_version": version, "fps": FPS, "chunks_size": 1000, "features": features()}
    for folder in ("meta/episodes/chunk-000", "data/chunk-000", "videos/chunk-000/observation.images.front",
                   "videos/observation.images.front/chunk-000"):
        os.makedirs(os.path.join(root, folder))
    if version == "v3.0":
        info.update(data_path="data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
                    video_path="videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4")
        parquet.write_table(table(range(len(lengths)), lengths), root + "/data/chunk-000/file-000.parquet")
        key = "videos/observation.images.front/"
        begins = [sum(lengths[:i]) / FPS for i in range(len(lengths))]
        n = len(lengths)
        parquet.write_table(pyarrow.table({
            "episode_index": list(range(n)), "length": list(lengths), "data/chunk_index": [0] * n, "data/file_index": [0] * n,
            key + "chunk_index": [0] * n, key + "file_index": [0] * n, key + "from_timestamp": begins}),
            root + "/meta/episodes/chunk-000/file-000.parquet")
        write_video(root + "/videos/observation.images.front/chunk-000/file-000.mp4",
                    [grey(e, f) for e, length in enumerate(lengths) for f in range(length)])
    else:
        info.update(data_path="data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
                    video_path="videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4")
        with open(root + "/meta/episodes.jsonl", "w") as file:
            for episode, length in enumerate(lengths):
                file.write(json.dumps({"episode_index": episode, "length": length}) + "\n")
                parquet.write_table(table([episode], lengths), root + "/data/chunk-000/episode_%06d.parquet" % episode)
                write_video(root + "/videos/chunk-000/observation.images.front/episode_%06d.mp4" % episode,
                            [grey(episode, f) for f in range(length)])
    with open(root + "/meta/info.json", "w") as file:
        json.dump(info, file)


class TemporaryFolder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.root = os.path.join(self.temporary.name, "data")
        self.corpus = os.path.join(self.temporary.name, "calibration")
        os.mkdir(self.root)

    def tearDown(self):
        self.temporary.cleanup()

    def text(self):
        with open(os.path.join(self.corpus, "corpus.yaml"), encoding="utf-8") as file:
            return file.read()

    def case(self, name):
        with np.load(os.path.join(self.corpus, name + ".npz")) as stored:
            return {key: stored[key] for key in stored.files}


class ChoosingTest(unittest.TestCase):
    def test_ranges(self):
        self.assertEqual(samples.parse_ranges("", 3), [0, 1, 2])
        self.assertEqual(samples.parse_ranges("::2", 5), [0, 2, 4])
        self.assertEqual(samples.parse_ranges("1:4", 9), [1, 2, 3])
        self.assertEqual(samples.parse_ranges("0,5-7", 9), [0, 5, 6, 7])
        for text in ("9", "0-9", "x", "::0", "5:5", "-1", "1.5", "2-1"):
            with self.subTest(text), self.assertRaises(CorpusError):
                samples.parse_ranges(text, 9)

    def test_mappings(self):
        self.assertEqual(samples.parse_mapping("observation.state=inputs/state"), ("observation.state", "inputs", "state"))
        for text in ("a", "a=b", "a=outputs/b", "=inputs/b", "a=inputs/"):
            with self.subTest(text), self.assertRaises(CorpusError):
                samples.parse_mapping(text)


@unittest.skipIf(LACKS_LEROBOT, "this Python lacks %s" % LACKS_LEROBOT)
class LeRobotTest(TemporaryFolder):
    def run_main(self, *more):
        return lerobot.main([self.root, "-o", self.corpus, "--policy", "p", *more])

    def test_both_layouts_give_the_same_cases(self):
        for version in ("v2.1", "v3.0"):
            with self.subTest(version), tempfile.TemporaryDirectory() as root:
                write_dataset(root, version)
                self.root = root
                self.assertEqual(self.run_main("--map", "observation.state=inputs/state", "--map",
                                               "observation.images.front=raw/front", "--frames", "::3", "--batch"), 0)
                case = self.case("episode_000001_frame_000003")
                np.testing.assert_array_equal(case["inputs/state"], np.float32([[1, 3]]))
                self.assertEqual(case["raw/front"].shape, (SIZE, SIZE, 3))
                self.assertLess(abs(float(case["raw/front"].mean()) - grey(1, 3).mean()), 4)
                self.assertEqual(sorted(os.listdir(self.corpus)),
                                 ["corpus.yaml", "episode_000000_frame_000000.npz", "episode_000000_frame_000003.npz",
                                  "episode_000001_frame_000000.npz", "episode_000001_frame_000003.npz"])

    def test_the_decoder_and_its_version_are_recorded(self):
        import av
        write_dataset(self.root, "v3.0")
        self.assertEqual(self.run_main("--map", "observation.images.front=raw/front", "--frames", "0"), 0)
        self.assertIn("decoder: \"PyAV %s, libavcodec" % av.__version__, self.text())
        self.assertIn("(mpeg4)", self.text())
        self.assertIn("role: calibration", self.text())

    def test_every_frame_is_the_one_that_was_asked_for(self):
        write_dataset(self.root, "v3.0")
        dataset = lerobot.LeRobotDataset(self.root)
        for position, length in enumerate((6, 4)):
            values, _ = dataset.read(position, list(range(length)), ["observation.images.front"])
            for frame in range(length):
                picture = values["observation.images.front"][frame].astype(float)
                self.assertLess(abs(picture.mean() - grey(position, frame).mean()), 4, (position, frame))

    def test_images_inside_parquet_are_exact(self):
        write_dataset(self.root, "v2.0")
        values, origin = lerobot.LeRobotDataset(self.root).read(1, [2], ["observation.images.inline", "done"])
        np.testing.assert_array_equal(values["observation.images.inline"][0], grey(1, 2))
        self.assertEqual((values["done"].dtype, values["done"].shape), (np.bool_, (1, 1)))
        self.assertTrue(origin["decoder"].startswith("Pillow "))

    def test_an_episode_becomes_a_sequence(self):
        write_dataset(self.root, "v3.0")
        self.assertEqual(self.run_main("--map", "observation.state=inputs/state", "--episodes", "0", "--frames", "::2",
                                       "--sequence", "--batch"), 0)
        np.testing.assert_array_equal(self.case("episode_000000")["inputs/state"][:, 0], [[0, 0], [0, 2], [0, 4]])
        self.assertIn("sequence: true", self.text())
        self.assertIn("frame: 0, frames: 3, stride: 2", self.text())

    def test_a_policy_makes_it_golden(self):
        write_dataset(self.root, "v3.0")
        chosen = lerobot.LeRobotDataset(self.root).samples(["observation.state"], "0", "0:2")
        with Corpus(self.corpus, policy="p") as corpus:
            added = samples.add_samples(corpus, chosen, [("observation.state", "inputs", "x")], lambda i: {"y": i["x"] * 2})
        self.assertEqual(added, 2)
        np.testing.assert_array_equal(self.case("episode_000000_frame_000001")["outputs/y"], [0, 2])
        with self.assertRaises(CorpusError):  # a golden case needs the policy's own answer
            with Corpus(self.corpus + "2", policy="p") as corpus:
                samples.add_samples(corpus, lerobot.LeRobotDataset(self.root).samples(["observation.state"], "0", "0"),
                                    [("observation.state", "inputs", "x")])

    def test_damage_is_an_error_and_leaves_nothing(self):
        def spoil(path, change):
            def do(root):
                with open(os.path.join(root, path), "r+b") as file:
                    data = change(file.read())
                    file.seek(0)
                    file.truncate()
                    file.write(data)
            return do

        def info(**changes):
            return spoil("meta/info.json", lambda data: json.dumps(dict(json.loads(data), **changes)).encode())

        data, video = "data/chunk-000/file-000.parquet", "videos/observation.images.front/chunk-000/file-000.mp4"
        bad = {"no JSON": spoil("meta/info.json", lambda d: b"{"), "other version": info(codebase_version="v9.0"),
               "no rate": info(fps=0), "out of the folder": info(data_path="../../x.parquet"),
               "no path": info(data_path="{nothing}"), "torn data": spoil(data, lambda d: d[:len(d) // 2]),
               "torn video": spoil(video, lambda d: d[:200]), "empty video": spoil(video, lambda d: b""),
               "no data": lambda root: os.remove(os.path.join(root, data)),
               "no video": lambda root: os.remove(os.path.join(root, video))}
        for name, do in bad.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as root:
                write_dataset(root, "v3.0")
                do(root)
                self.root = root
                self.assertEqual(self.run_main("--map", "observation.state=inputs/x", "--map",
                                               "observation.images.front=raw/f"), 2)
                self.assertEqual(sorted(os.listdir(self.temporary.name)), ["data"])

    def test_a_frame_that_is_not_there_is_not_replaced_by_its_neighbour(self):
        write_dataset(self.root, "v2.1")
        path = self.root + "/videos/chunk-000/observation.images.front/episode_000000.mp4"
        write_video(path, [grey(0, 0), grey(0, 1)])
        with self.assertRaisesRegex(CorpusError, "no frame at 0.5"):
            lerobot.LeRobotDataset(self.root).read(0, [5], ["observation.images.front"])


ROS_DEFINITIONS = {
    "sensor_msgs/msg/JointState": "std_msgs/Header header\nstring[] name\nfloat64[] position\n",
    "sensor_msgs/msg/Image": "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\n"
                             "uint32 step\nuint8[] data\n",
    "sensor_msgs/msg/CompressedImage": "std_msgs/Header header\nstring format\nuint8[] data\n"}
HEADER = ("=" * 80 + "\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" + "=" * 80 +
          "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n")


def write_bag(path, messages):
    """messages: [(topic, type, time in ns, message)]"""
    from mcap_ros2.writer import Writer
    with open(path, "wb") as file:
        writer = Writer(file)
        schemas = {name: writer.register_msgdef(name, text + HEADER) for name, text in ROS_DEFINITIONS.items()}
        for topic, kind, time, message in messages:
            writer.write_message(topic=topic, schema=schemas[kind], message=message, log_time=time, publish_time=time)
        writer.finish()


def joints(time, names, positions):
    stamp = {"sec": time // 10 ** 9, "nanosec": time % 10 ** 9}
    return ("/joint_states", "sensor_msgs/msg/JointState", time + 5 * 10 ** 6,
            {"header": {"stamp": stamp, "frame_id": ""}, "name": names, "position": positions})


def image(time, value, **changes):
    message = {"header": {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}, "height": 2, "width": 3, "encoding": "bgr8",
               "is_bigendian": 0, "step": 10, "data": bytes(([value, 1, 2] * 3 + [99]) * 2)}
    return ("/camera", "sensor_msgs/msg/Image", time, dict(message, **changes))


@unittest.skipIf(LACKS_MCAP, "this Python lacks %s" % LACKS_MCAP)
class McapTest(TemporaryFolder):
    def setUp(self):
        super().setUp()
        self.bag = os.path.join(self.root, "drive.mcap")
        second = 10 ** 9
        write_bag(self.bag, [
            joints(second, ["hip", "knee"], [0.1, 0.2]), image(second + 8 * 10 ** 6, 7),
            joints(second + 10 ** 8, ["knee", "hip"], [0.4, 0.3]), joints(second + 2 * 10 ** 8, ["hip", "knee"], [0.5, 0.6])])

    def run_main(self, *more):
        return mcap_bag.main([self.bag, "-o", self.corpus, "--policy", "p", *more])

    def test_joints_are_taken_by_name_whatever_their_order(self):
        self.assertEqual(self.run_main("--map", "/joint_states.position[hip,knee]=raw/q", "--at", "/joint_states"), 0)
        taken = [self.case(name[:-4])["raw/q"].tolist() for name in sorted(os.listdir(self.corpus)) if name.endswith(".npz")]
        self.assertEqual(taken, [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])

    def test_at_a_rate_the_last_message_with_its_age(self):
        self.assertEqual(self.run_main("--map", "/joint_states.position[hip]=raw/q", "--map", "/camera=raw/front",
                                       "--rate", "10", "--sequence"), 0)
        case = self.case("bag")
        self.assertEqual(case["raw/q"][:, 0].tolist(), [0.1, 0.3])
        self.assertEqual(case["raw/front"].shape, (2, 2, 3, 3))
        self.assertEqual(case["raw/front"][0, 0, 0].tolist(), [7, 1, 2])  # the row's padding is no pixel
        self.assertIn("ages_ms: {front: 100.0, q: 8.0}", self.text())
        self.assertIn("encoding of camera", self.text())

    def test_compressed_images_name_their_decoder(self):
        import io

        import PIL.Image
        buffer = io.BytesIO()
        PIL.Image.fromarray(grey(0, 1)).save(buffer, "PNG")
        message = {"header": {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}, "format": "png", "data": buffer.getvalue()}
        write_bag(self.bag, [("/jpeg", "sensor_msgs/msg/CompressedImage", 1, message)])
        self.assertEqual(self.run_main("--map", "/jpeg=raw/front", "--at", "/jpeg"), 0)
        np.testing.assert_array_equal(self.case("t_00000.000000")["raw/front"], grey(0, 1))
        self.assertIn("decoder: \"Pillow ", self.text())

    def test_what_cannot_be_taken_is_an_error_and_leaves_nothing(self):
        bad = {"no such topic": ["/nowhere.x=raw/q"], "no such field": ["/joint_states.effort=raw/q"],
               "no such joint": ["/joint_states.position[hip,elbow]=raw/q"], "no numbers": ["/joint_states.name=raw/q"],
               "no source": ["/joint_states.position[=raw/q"]}
        for name, maps in bad.items():
            with self.subTest(name):
                self.assertEqual(self.run_main("--map", *maps, "--at", "/joint_states"), 2)
                self.assertEqual(os.listdir(self.temporary.name), ["data"])
        for rate in (["--rate", "0"], ["--rate", "-1"], ["--rate", "nan"], [], ["--rate", "1", "--at", "/camera"]):
            with self.subTest(rate=rate):
                self.assertEqual(self.run_main("--map", "/camera=raw/f", *rate), 2)

    def test_damaged_bags_are_errors(self):
        with open(self.bag, "rb") as file:
            whole = file.read()
        for size in range(0, len(whole), 37):
            with self.subTest(size):
                with open(self.bag, "wb") as file:
                    file.write(whole[:size])
                self.assertEqual(self.run_main("--map", "/camera=raw/f", "--at", "/camera"), 2)
        for changes in (dict(encoding="bayer"), dict(step=8), dict(height=0), dict(data=b"")):
            with self.subTest(changes):
                write_bag(self.bag, [image(1, 2, **changes)])
                self.assertEqual(self.run_main("--map", "/camera=raw/f", "--at", "/camera"), 2)


if __name__ == "__main__":
    unittest.main()
