"""What datasets have in common: which of their values become which arrays of a case, which frames are taken, and how
samples become cases. Nothing here knows a format; values are stored as the dataset holds them, never scaled."""
import hashlib
import os
import re

import numpy as np

from .corpus import CorpusError

GROUPS = ("inputs", "raw", "decoded")


class Sample:
    """One moment of a dataset, or a run of them.

    values   {source name: array}; of a sequence with steps along a leading axis
    origin   {"file", "digest", "decoder", "episode", "frame", ...}
    ages_ms  {source name: how old the value was}; nothing where the dataset does not say
    """

    def __init__(self, name, values, origin, ages_ms=None, tags=None):
        self.name, self.values, self.origin = name, values, origin
        self.ages_ms, self.tags = dict(ages_ms or {}), dict(tags or {})


def file_digest(path):
    """"sha256:..." of a file's bytes."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return "sha256:" + digest.hexdigest()


def parse_mapping(text):
    """"SOURCE=raw/NAME" to (SOURCE, "raw", NAME)."""
    source, equals, target = text.partition("=")
    group, slash, name = target.partition("/")
    if not (source and equals and slash and name) or group not in GROUPS:
        raise CorpusError("'%s' is no mapping; write SOURCE=inputs/NAME, SOURCE=raw/NAME or SOURCE=decoded/NAME" % text)
    return source, group, name


def parse_ranges(text, count):
    """"0:400:10", "3", "0,5-7" or "" (all) to indices below `count`, in order."""
    chosen = []
    for part in filter(None, text.split(",")) if text else [":"]:
        match = re.fullmatch(r"(\d*):(\d*)(?::(\d+))?|(\d+)(?:-(\d+))?", part.strip())
        if match is None or match.group(3) == "0":
            raise CorpusError("'%s' chooses nothing; write 0:400:10, 3 or 0,5-7" % part)
        begin, end, step, first, last = match.groups()
        if first is None:
            chosen += range(count)[slice(int(begin or 0), int(end) if end else None, int(step or 1))]
        else:
            chosen += range(int(first), int(last or first) + 1)
    beyond = [i for i in chosen if i >= count]
    if beyond:
        raise CorpusError("%d is asked for, but there are %d" % (beyond[0], count))
    if not chosen:
        raise CorpusError("'%s' chooses none of %d" % (text, count))
    return chosen


def safe_join(root, relative):
    """A path of the dataset, which must stay inside it, also through links."""
    path = os.path.realpath(os.path.join(root, relative))
    if os.path.commonpath([path, os.path.realpath(root)]) != os.path.realpath(root):
        raise CorpusError("'%s' lies outside the dataset '%s'" % (relative, root))
    return path


def add_samples(corpus, samples, mappings, policy=None, sequence=False, batch=False):
    """Adds each sample as a case; returns how many.

    mappings  [(source, group, name), ...], as parse_mapping gives them
    policy    the source policy, a mapping of inputs to a mapping of outputs, called once a sample; a golden corpus
              needs one, since what a dataset records of actions is a demonstration, not the policy's answer
    batch     puts an axis of 1 before each frame of inputs/
    """
    count = 0
    for sample in samples:
        groups = {group: {} for group in GROUPS}
        ages = {}
        for source, group, name in mappings:
            if source not in sample.values:
                raise CorpusError("'%s' has no '%s'; it has %s" % (sample.name, source, ", ".join(sorted(sample.values))))
            value = np.asarray(sample.values[source])
            if batch and group == "inputs":
                value = np.expand_dims(value, 1 if sequence else 0)
            groups[group][name] = value
            if source in sample.ages_ms:
                ages[name] = sample.ages_ms[source]
        outputs = None
        if policy is not None:
            outputs = {name: np.array(value) for name, value in policy(dict(groups["inputs"] or groups["raw"])).items()}
        corpus.add(sample.name, inputs=groups["inputs"], raw=groups["raw"], decoded=groups["decoded"] or None,
                   outputs=outputs, ages_ms=ages, origin=sample.origin, tags=sample.tags, sequence=sequence)
        count += 1
    return count
