"""The messages of a rung in another process, as assay's src/rung/wire.h and frames.h describe them: sizes and numbers are
8 bytes, little-endian; a string is its length, its bytes and a zero byte, or -1 for none."""
import struct

import numpy as np

PROTOCOL = 1
RUN, RENEW, DESCRIBE, CLOSE, TAP, DONE, HELLO = range(1, 8)
MESSAGE_MAX = 1 << 33
# ONNX's numbers of types that NumPy has
DTYPES = {1: "<f4", 2: "u1", 3: "i1", 4: "<u2", 5: "<i2", 6: "<i4", 7: "<i8", 9: "?", 10: "<f2", 11: "<f8", 12: "<u4", 13: "<u8"}
NUMBERS = {np.dtype(name): number for number, name in DTYPES.items()}


class WireError(ValueError):
    """Something that is no message, or of another version."""


class Reader:
    """A message, read from its beginning."""

    def __init__(self, data):
        self.data, self.at = memoryview(data), 0

    def take(self, size):
        if size < 0 or size > len(self.data) - self.at:
            raise WireError("a message ends too early")
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self):
        return struct.unpack("<q", self.take(8))[0]

    def string(self):
        size = self.number()
        if size == -1:
            return None
        text = bytes(self.take(size + 1))
        if text[-1:] != b"\0":
            raise WireError("a string is not ended")
        return text[:-1].decode("utf-8", "surrogateescape")

    def tensor(self):
        name, dtype, rank = self.string(), self.number(), self.number()
        if dtype not in DTYPES or not 0 <= rank <= 16:
            raise WireError("'%s' is of a type that NumPy lacks, or has too many dimensions" % name)
        shape = [self.number() for _ in range(rank)]
        data = self.take(self.number())
        array = np.frombuffer(bytes(data), DTYPES[dtype])
        return name, array.reshape(shape)

    def tensors(self):
        return dict(self.tensor() for _ in range(self.number()))


class Writer:
    """A message, written piece by piece."""

    def __init__(self):
        self.parts = []

    def number(self, value):
        self.parts.append(struct.pack("<q", int(value)))
        return self

    def string(self, text):
        if text is None:
            return self.number(-1)
        data = text.encode("utf-8", "surrogateescape").replace(b"\0", b"?")
        self.number(len(data))
        self.parts.append(data + b"\0")
        return self

    def tensors(self, arrays):
        self.number(len(arrays))
        for name, array in arrays.items():
            array = np.asarray(array)
            plain = array.astype(array.dtype.newbyteorder("<"), copy=False)
            if plain.dtype not in NUMBERS:
                raise WireError("output '%s' is %s, which cannot be handed over" % (name, array.dtype))
            self.string(name).number(NUMBERS[plain.dtype]).number(array.ndim)
            for size in array.shape:
                self.number(size)
            self.number(plain.nbytes)
            self.parts.append(plain.tobytes())
        return self

    def status(self, code="OK", where="", sentence=""):
        return self.string(code).string(where).string(sentence)

    def bytes(self):
        return b"".join(self.parts)


def receive(stream):
    """The next message, or None at the end."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    size = struct.unpack("<Q", head)[0]
    if size > MESSAGE_MAX:
        raise WireError("a message of %d bytes is more than is read" % size)
    data = stream.read(size)
    return Reader(data) if len(data) == size else None


def send(stream, writer):
    data = writer.bytes()
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()
