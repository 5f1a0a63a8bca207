"""LeRobot datasets (formats 2.0, 2.1 and 3.0) as a source of cases: values from Parquet, images from Parquet or video.

    python3 -m assay_capture.lerobot DATASET -o calibration --policy reach --episodes 0-9 --frames ::30 \\
        --map observation.state=inputs/state --map observation.images.front=raw/front

Read from disk alone; nothing is downloaded. The dataset is somebody else's: its paths must stay inside it."""
import argparse
import io
import json
import os
import sys

import numpy as np

from .corpus import Corpus, CorpusError
from .samples import Sample, add_samples, file_digest, parse_mapping, parse_ranges, safe_join
from .video import read_frames

VERSIONS = ("v2.0", "v2.1", "v3.0")


def _need_parquet():
    try:
        import pyarrow.parquet
    except ImportError:
        raise CorpusError("reading LeRobot datasets needs PyArrow: pip install 'assay-capture[lerobot]'") from None
    return pyarrow.parquet


class LeRobotDataset:
    """A dataset on disk. `features` maps a name to its description in meta/info.json, `fps` is its rate."""

    def __init__(self, root):
        self.root = str(root)
        self.info = self._json("meta/info.json")
        version = self.info.get("codebase_version")
        if version not in VERSIONS:
            raise CorpusError("'%s' is a LeRobot dataset of version %r; %s are read" % (root, version, ", ".join(VERSIONS)))
        self.features, self.fps = self.info.get("features"), self.info.get("fps")
        if not isinstance(self.features, dict) or not isinstance(self.fps, (int, float)) or not self.fps > 0:
            raise CorpusError("'%s/meta/info.json' does not say features and fps" % root)
        self._by_episode = version != "v3.0"
        self.episodes = self._episodes_2() if self._by_episode else self._episodes_3()

    def _path(self, relative):
        path = safe_join(self.root, relative)
        if not os.path.isfile(path):
            raise CorpusError("'%s' lacks the file '%s'" % (self.root, relative))
        return path

    def _json(self, relative):
        with open(self._path(relative), encoding="utf-8") as file:
            try:
                return json.load(file)
            except ValueError as error:
                raise CorpusError("'%s/%s' is not JSON: %s" % (self.root, relative, error)) from None

    def _episodes_2(self):
        episodes = []
        with open(self._path("meta/episodes.jsonl"), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    entry = json.loads(line)
                    episodes.append({"index": int(entry["episode_index"]), "length": int(entry["length"])})
                except (ValueError, KeyError, TypeError):
                    raise CorpusError("'%s/meta/episodes.jsonl', line %d, is no episode" % (self.root, number)) from None
        return episodes

    def _episodes_3(self):
        folder = safe_join(self.root, "meta/episodes")
        paths = sorted(os.path.join(base, name) for base, _, names in os.walk(folder) for name in names
                       if name.endswith(".parquet"))
        if not paths:
            raise CorpusError("'%s' lacks meta/episodes/chunk-*/file-*.parquet" % self.root)
        episodes = []
        for path in paths:
            relative = os.path.relpath(path, self.root)
            for row in self._table(relative).to_pylist():
                try:
                    row.update(index=int(row["episode_index"]), length=int(row["length"]))
                except (KeyError, TypeError):
                    raise CorpusError("'%s' does not say episode_index and length" % path) from None
                episodes.append(row)
        return sorted(episodes, key=lambda row: row["index"])

    def _table(self, relative, **more):
        parquet = _need_parquet()
        try:
            return parquet.read_table(self._path(relative), **more)
        except (OSError, ValueError) as error:  # PyArrow's own errors are ValueErrors
            raise CorpusError("'%s/%s' cannot be read: %s" % (self.root, relative, error)) from None

    def _data_path(self, episode):
        chunk = self.info.get("chunks_size", 1000)
        return self._format("data_path", episode_chunk=episode["index"] // max(1, chunk), episode_index=episode["index"],
                            chunk_index=episode.get("data/chunk_index"), file_index=episode.get("data/file_index"))

    def _video_path(self, episode, key):
        chunk = self.info.get("chunks_size", 1000)
        return self._format("video_path", episode_chunk=episode["index"] // max(1, chunk), video_key=key,
                            episode_index=episode["index"], chunk_index=episode.get("videos/%s/chunk_index" % key),
                            file_index=episode.get("videos/%s/file_index" % key))

    def _format(self, which, **values):
        try:
            return self.info[which].format(**values)
        except (KeyError, IndexError, ValueError, TypeError, AttributeError):
            raise CorpusError("'%s/meta/info.json': %s %r cannot be filled in" % (self.root, which, self.info.get(which))) \
                from None

    def rows(self, episode):
        """The Parquet rows of one episode, in the order of frames, and the file they stand in."""
        relative = self._data_path(episode)
        table = self._table(relative, filters=[("episode_index", "=", episode["index"])])
        if table.num_rows != episode["length"]:
            raise CorpusError("'%s/%s' holds %d frames of episode %d, but the dataset says %d"
                              % (self.root, relative, table.num_rows, episode["index"], episode["length"]))
        rows = table.sort_by("frame_index")
        frames = rows.column("frame_index").to_pylist()
        if frames != list(range(len(frames))):
            raise CorpusError("'%s/%s': the frames of episode %d are not numbered 0, 1, 2, ..."
                              % (self.root, relative, episode["index"]))
        return rows, relative

    def read(self, position, frames, keys):
        """Values of the chosen frames of the episode at `position`: ({key: array[frames, ...]}, origin)."""
        episode = self.episodes[position]
        rows, relative = self.rows(episode)
        origin = {"file": relative, "digest": file_digest(self._path(relative)), "episode": episode["index"]}
        values = {}
        for key in keys:
            feature = self.features.get(key)
            if feature is None:
                raise CorpusError("the dataset has no '%s'; it has %s" % (key, ", ".join(sorted(self.features))))
            if feature.get("dtype") == "video":
                values[key], origin["decoder"] = self._video(episode, key, rows, frames)
            elif feature.get("dtype") == "image":
                values[key], origin["decoder"] = self._images(rows, key, frames)
            else:
                values[key] = self._numbers(rows, key, feature, frames)
        return values, origin

    def _numbers(self, rows, key, feature, frames):
        if key not in rows.column_names:
            raise CorpusError("'%s' stands in meta/info.json, but the data has no such column" % key)
        cells = [rows.column(key)[i].as_py() for i in frames]
        try:
            dtype = np.dtype(feature.get("dtype"))
            shape = tuple(int(n) for n in feature.get("shape", [1]))
            array = np.asarray(cells, dtype=dtype).reshape((len(frames),) + shape)
        except (TypeError, ValueError) as error:
            raise CorpusError("'%s' is not %s of shape %s: %s" % (key, feature.get("dtype"), feature.get("shape"), error)) \
                from None
        return array

    def _video(self, episode, key, rows, frames):
        stamps = np.asarray(rows.column("timestamp").to_pylist(), np.float64)
        begin = 0.0 if self._by_episode else episode.get("videos/%s/from_timestamp" % key)
        if begin is None:
            raise CorpusError("episode %d does not say where '%s' begins in its video" % (episode["index"], key))
        order = np.argsort(stamps[list(frames)], kind="stable")
        path = self._path(self._video_path(episode, key))
        found, decoder = read_frames(path, [begin + stamps[frames[i]] for i in order], 0.1 / self.fps)
        images = [None] * len(frames)
        for i, image in zip(order, found):
            images[i] = image
        return np.stack(images), decoder

    def _images(self, rows, key, frames):
        try:
            import PIL
            import PIL.Image
        except ImportError:
            raise CorpusError("images inside Parquet need Pillow: pip install 'assay-capture[lerobot]'") from None
        images = []
        for i in frames:
            cell = rows.column(key)[i].as_py()
            data = cell.get("bytes") if isinstance(cell, dict) else None
            try:
                source = io.BytesIO(data) if data else self._path(cell["path"])
                with PIL.Image.open(source) as image:
                    images.append(np.asarray(image.convert("RGB")))
            except (OSError, TypeError, KeyError) as error:
                raise CorpusError("frame %d of '%s' holds no image: %s" % (i, key, error)) from None
        return np.stack(images), "Pillow %s" % PIL.__version__

    def samples(self, keys, episodes="", frames="", sequence=False):
        """Samples of the chosen episodes (positions) and frames, such as "0-9" and "::30"."""
        for position in parse_ranges(episodes, len(self.episodes)):
            chosen = parse_ranges(frames, self.episodes[position]["length"])
            values, origin = self.read(position, chosen, keys)
            name = "episode_%06d" % origin["episode"]
            if sequence:
                steps = sorted({b - a for a, b in zip(chosen, chosen[1:])})
                if len(steps) > 1 or (steps and steps[0] < 1):
                    raise CorpusError("the frames of a sequence lie equally far apart and ascend")
                origin.update(frame=chosen[0], frames=len(chosen), stride=steps[0] if steps else 1)
                yield Sample(name, values, origin)
                continue
            for i, frame in enumerate(chosen):
                yield Sample("%s_frame_%06d" % (name, frame), {key: values[key][i] for key in keys},
                             dict(origin, frame=frame))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m assay_capture.lerobot",
                                     description="Makes a calibration corpus from a LeRobot dataset on disk.")
    parser.add_argument("dataset")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the corpus to write")
    parser.add_argument("--policy", required=True, help="the policy's name, as in contract.yaml")
    parser.add_argument("--map", action="append", required=True, metavar="KEY=GROUP/NAME",
                        help="a feature of the dataset, and the array of the case that it becomes")
    parser.add_argument("--episodes", default="", help="positions: 0-9, 3,5 (all)")
    parser.add_argument("--frames", default="", help="of each episode: ::30, 0:400:10 (all)")
    parser.add_argument("--sequence", action="store_true", help="one case an episode, with steps along a leading axis")
    parser.add_argument("--batch", action="store_true", help="put an axis of 1 before each frame of inputs/")
    options = parser.parse_args(arguments)
    try:
        mappings = [parse_mapping(text) for text in options.map]
        dataset = LeRobotDataset(options.dataset)
        keys = sorted({source for source, _, _ in mappings})
        with Corpus(options.output, policy=options.policy, role="calibration") as corpus:
            count = add_samples(corpus, dataset.samples(keys, options.episodes, options.frames, options.sequence),
                                mappings, sequence=options.sequence, batch=options.batch)
    except CorpusError as error:
        print("assay_capture.lerobot: %s" % error, file=sys.stderr)
        return 2
    print("wrote %d cases to %s" % (count, options.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
