"""Frames of a video as arrays, with the decoder and its version: two decoders of one file give other pixels, so a corpus
says which one it was. Needs PyAV."""
from fractions import Fraction

import numpy as np

from .corpus import CorpusError


def _need_av():
    try:
        import av
    except ImportError:
        raise CorpusError("reading video needs PyAV: pip install 'assay-capture[lerobot]'") from None
    return av


def decoder_name(codec):
    """"PyAV 14.0.1, libavcodec 61.19.100 (libdav1d), libswscale 8.3.100"."""
    av = _need_av()
    version = {name: ".".join(map(str, number)) for name, number in av.library_versions.items()}
    return "PyAV %s, libavcodec %s (%s), libswscale %s" % (av.__version__, version.get("libavcodec", "unknown"), codec,
                                                           version.get("libswscale", "unknown"))


def read_frames(path, times, tolerance):
    """RGB frames, uint8 [height, width, 3], at the given times in seconds, which must ascend; and the decoder's name.

    Each is the frame whose own time is nearest; one that is further than `tolerance` is an error, never a neighbour
    that is taken instead. Decoding runs on one thread from the key frame before the first.
    """
    av = _need_av()
    frames, wanted, previous = [], list(times), None
    if any(b < a for a, b in zip(wanted, wanted[1:])):
        raise CorpusError("'%s': times of frames must ascend" % path)
    try:
        with av.open(path) as container:
            if not container.streams.video:
                raise CorpusError("'%s' holds no video" % path)
            stream = container.streams.video[0]
            stream.thread_type = "NONE"
            codec = stream.codec_context.name
            start = (stream.start_time or 0) * stream.time_base
            if wanted:
                container.seek(int((Fraction(wanted[0]) + start) / stream.time_base), stream=stream, backward=True)
            for frame in container.decode(stream):
                if frame.pts is None:
                    raise CorpusError("'%s' has a frame without a time" % path)
                time = float(frame.pts * stream.time_base - start)
                while len(frames) < len(wanted) and time >= wanted[len(frames)]:
                    frames.append(_nearest(path, [previous, (time, frame)], wanted[len(frames)], tolerance))
                previous = (time, frame)
                if len(frames) == len(wanted):
                    break
            while len(frames) < len(wanted):
                frames.append(_nearest(path, [previous], wanted[len(frames)], tolerance))
    except av.error.FFmpegError as error:
        raise CorpusError("'%s' cannot be decoded: %s" % (path, error)) from None
    return frames, decoder_name(codec)


def _nearest(path, candidates, wanted, tolerance):
    """The picture of the candidate (time, frame) that is nearest to `wanted`."""
    near = min(((abs(time - wanted), frame) for time, frame in filter(None, candidates)), key=lambda pair: pair[0],
               default=None)
    if near is None or near[0] > tolerance:
        raise CorpusError("'%s' has no frame at %.6f s; the nearest is %s, and at most %.6f s are allowed"
                          % (path, wanted, "%.6f s away" % near[0] if near else "not there", tolerance))
    return np.ascontiguousarray(near[1].to_ndarray(format="rgb24"))
