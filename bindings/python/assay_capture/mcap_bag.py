"""MCAP bags of ROS 2 (and JSON) messages as a source of cases: at each moment the last message of every topic, with its age.

    python3 -m assay_capture.mcap_bag drive.mcap -o calibration --policy reach --rate 10 \\
        --map '/joint_states.position[hip,knee]=raw/qpos' --map /camera/image_raw=raw/front

A field of a message that carries `name` may be read by names, in the order given: the order of joints in a message is
whatever the driver chose. Images keep the channels they were recorded with; their encoding becomes a tag."""
import argparse
import os
import re
import sys

import numpy as np

from .corpus import Corpus, CorpusError
from .samples import Sample, add_samples, file_digest, parse_mapping

# encoding of sensor_msgs/Image: dtype and channels
ENCODINGS = {"rgb8": ("u1", 3), "bgr8": ("u1", 3), "rgba8": ("u1", 4), "bgra8": ("u1", 4), "mono8": ("u1", 1),
             "8UC1": ("u1", 1), "8UC3": ("u1", 3), "mono16": ("u2", 1), "16UC1": ("u2", 1), "32FC1": ("f4", 1)}
SAMPLES_MAX = 1 << 20


def _need_mcap():
    try:
        import mcap.reader
        import mcap_ros2.decoder
    except ImportError:
        raise CorpusError("reading MCAP needs mcap and mcap-ros2-support: pip install 'assay-capture[mcap]'") from None
    return mcap.reader, [mcap_ros2.decoder.DecoderFactory(), _json_factory()]


def _json_factory():
    """Messages whose channel is encoded as JSON, as dictionaries."""
    import json

    from mcap.decoder import DecoderFactory

    class JsonFactory(DecoderFactory):
        def decoder_for(self, message_encoding, schema):
            return json.loads if message_encoding == "json" else None

    return JsonFactory()


class Source:
    """"/topic.field.inner[a,b]": a topic, a field of its messages, and which of its elements by name."""

    def __init__(self, text):
        match = re.fullmatch(r"(/?[^.\[\]=]+)((?:\.[A-Za-z_]\w*)*)(?:\[([^\]]+)\])?", text)
        if match is None:
            raise CorpusError("'%s' is no source; write /topic, /topic.field or /topic.field[name,name]" % text)
        self.text, self.topic = text, match.group(1)
        self.fields = [field for field in match.group(2).split(".") if field]
        self.names = [name.strip() for name in match.group(3).split(",")] if match.group(3) else None

    def read(self, message):
        """The value as an array; also what decoded it and in which encoding, or None."""
        value = message
        for field in self.fields:
            value = _field(value, field)
            if value is None:
                raise CorpusError("messages of '%s' have no field '%s'" % (self.topic, ".".join(self.fields)))
        if _field(value, "encoding") is not None and _field(value, "step") is not None:
            return _raw_image(self.text, value), None, str(_field(value, "encoding"))
        if _field(value, "format") is not None and _field(value, "data") is not None:
            return _compressed_image(self.text, value) + (str(_field(value, "format")),)
        if self.names is not None:
            value = self._by_name(message, value)
        try:
            array = np.asarray(value)
            if array.dtype.kind not in "fiub":
                raise ValueError("it is not numbers")
        except ValueError as error:
            raise CorpusError("'%s' cannot be an array: %s" % (self.text, error)) from None
        return array, None, None

    def _by_name(self, message, value):
        names = list(_field(message, "name") or ())
        if len(names) != len(value) or len(set(names)) != len(names):
            raise CorpusError("'%s' asks for elements by name, but the message names %s" % (self.text, names))
        lacking = [name for name in self.names if name not in names]
        if lacking:
            raise CorpusError("'%s' asks for '%s'; the message has %s" % (self.text, lacking[0], ", ".join(names)))
        return [value[names.index(name)] for name in self.names]


def _field(value, name):
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _raw_image(source, image):
    encoding = str(_field(image, "encoding"))
    if encoding not in ENCODINGS:
        raise CorpusError("'%s' is encoded as '%s'; %s are read" % (source, encoding, ", ".join(ENCODINGS)))
    kind, channels = ENCODINGS[encoding]
    dtype = np.dtype((">" if _field(image, "is_bigendian") else "<") + kind)
    height, width, step = (int(_field(image, key)) for key in ("height", "width", "step"))
    data = bytes(_field(image, "data"))
    row = width * channels * dtype.itemsize
    if height < 1 or width < 1 or step < row or len(data) != step * height:
        raise CorpusError("'%s' says %dx%d with %d bytes a row, but holds %d bytes" % (source, width, height, step, len(data)))
    rows = np.frombuffer(data, np.uint8).reshape(height, step)[:, :row]
    pixels = np.ascontiguousarray(rows).view(dtype).reshape(height, width, channels)
    return pixels.astype(dtype.newbyteorder("="))


def _compressed_image(source, image):
    try:
        import io

        import PIL
        import PIL.Image
    except ImportError:
        raise CorpusError("compressed images need Pillow: pip install 'assay-capture[mcap]'") from None
    try:
        with PIL.Image.open(io.BytesIO(bytes(_field(image, "data")))) as picture:
            return np.asarray(picture.convert("RGB")), "Pillow %s" % PIL.__version__
    except (OSError, ValueError, PIL.Image.DecompressionBombError) as error:
        raise CorpusError("'%s' holds no image: %s" % (source, error)) from None


def _stamp_ns(message, log_time):
    """When it was measured: the header's stamp where there is one, else when it was logged."""
    stamp = _field(_field(message, "header"), "stamp")
    seconds, nanoseconds = _field(stamp, "sec"), _field(stamp, "nanosec")
    return int(seconds) * 1000000000 + int(nanoseconds) if seconds else log_time


class McapBag:
    """A bag on disk."""

    def __init__(self, path):
        self.path = str(path)

    def _messages(self, topics):
        reader, factories = _need_mcap()
        try:
            with open(self.path, "rb") as file:
                for _, channel, record, message in reader.make_reader(file, decoder_factories=factories) \
                        .iter_decoded_messages(topics=sorted(topics)):
                    yield channel.topic, record.log_time, message
        except CorpusError:
            raise
        except Exception as error:  # what a damaged bag makes of its decoders is not one kind of error
            raise CorpusError("'%s' cannot be read: %s: %s" % (self.path, type(error).__name__, error)) from None

    def moments(self, sources, rate=None, trigger=None):
        """(time in ns, {source text: (value, age in ms, decoder, encoding)}) at `rate` Hz, or at each message of the topic
        `trigger`. Begins when every topic has spoken."""
        topics = {source.topic for source in sources} | ({trigger} if trigger else set())
        latest, due, time, seen = {}, None, None, set()
        period = round(1e9 / rate) if rate else None
        for topic, time, message in self._messages(topics):
            while rate and due is not None and time > due:
                yield due, self._read(sources, latest, due)
                due += period
            latest[topic] = (_stamp_ns(message, time), message)
            seen.add(topic)
            complete = all(source.topic in latest for source in sources)
            if rate and complete and due is None:
                due = time
            if not rate and complete and topic == trigger:
                yield time, self._read(sources, latest, time)
        if rate and due is not None and due == time:
            yield due, self._read(sources, latest, due)
        missing = topics - seen
        if missing:
            raise CorpusError("'%s' has no message of '%s'" % (self.path, sorted(missing)[0]))

    @staticmethod
    def _read(sources, latest, now):
        values = {}
        for source in sources:
            stamp, message = latest[source.topic]
            value, decoder, encoding = source.read(message)
            values[source.text] = (value, (now - stamp) / 1e6, decoder, encoding)
        return values

    def samples(self, sources, rate=None, trigger=None, sequence=False):
        """One sample a moment, or all moments as one sequence."""
        if (rate is None) == (trigger is None):
            raise CorpusError("say when a case is taken: at a rate in Hz, or at each message of a topic")
        if rate is not None and not rate > 0:
            raise CorpusError("the rate is %r; it must be above 0" % rate)
        origin = {"file": os.path.basename(self.path), "digest": file_digest(self.path)}
        steps, begin = [], None
        for count, (time, values) in enumerate(self.moments([Source(text) for text in sources], rate, trigger)):
            if count >= SAMPLES_MAX:
                raise CorpusError("'%s' gives more than %d cases; choose a lower rate" % (self.path, SAMPLES_MAX))
            begin = time if begin is None else begin
            if sequence:
                steps.append(values)
            else:
                yield self._sample("t_%012.6f" % ((time - begin) / 1e9), [values], origin, count, False)
        if sequence and steps:
            yield self._sample("bag", steps, origin, 0, True)

    def _sample(self, name, steps, origin, frame, sequence):
        values, ages, tags = {}, {}, {}
        for key in steps[0]:
            arrays = [step[key][0] for step in steps]
            if len({(array.shape, array.dtype) for array in arrays}) > 1:
                raise CorpusError("'%s': '%s' changes its shape on the way; it cannot be a sequence" % (self.path, key))
            values[key] = np.stack(arrays) if sequence else arrays[0]
            ages[key] = max(step[key][1] for step in steps)
            _, _, decoder, encoding = steps[0][key]
            origin = dict(origin, decoder=decoder) if decoder else origin
            if encoding:
                tags["encoding of " + key.rpartition("/")[2]] = encoding
        where = dict(origin, frame=frame, **({"frames": len(steps), "stride": 1} if sequence else {}))
        return Sample(name, values, where, ages, tags)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m assay_capture.mcap_bag",
                                     description="Makes a calibration corpus from an MCAP bag.")
    parser.add_argument("bag")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the corpus to write")
    parser.add_argument("--policy", required=True, help="the policy's name, as in contract.yaml")
    parser.add_argument("--map", action="append", required=True, metavar="SOURCE=GROUP/NAME",
                        help="/topic.field, or /topic.field[name,name], and the array of the case that it becomes")
    parser.add_argument("--rate", type=float, help="a case so many times a second")
    parser.add_argument("--at", metavar="TOPIC", help="a case at each message of this topic")
    parser.add_argument("--sequence", action="store_true", help="the whole bag as one case, with steps along a leading axis")
    parser.add_argument("--batch", action="store_true", help="put an axis of 1 before each frame of inputs/")
    options = parser.parse_args(arguments)
    try:
        mappings = [parse_mapping(text) for text in options.map]
        sources = sorted({source for source, _, _ in mappings})
        samples = McapBag(options.bag).samples(sources, options.rate, options.at, options.sequence)
        with Corpus(options.output, policy=options.policy, role="calibration") as corpus:
            count = add_samples(corpus, samples, mappings, sequence=options.sequence, batch=options.batch)
    except (CorpusError, OSError) as error:
        print("assay_capture.mcap_bag: %s" % error, file=sys.stderr)
        return 2
    print("wrote %d cases to %s" % (count, options.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
