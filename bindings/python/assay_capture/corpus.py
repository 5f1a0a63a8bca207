"""The corpus folder: corpus.yaml and one .npz per case. Written beside and renamed, so that a reader never sees a part."""
import hashlib
import json
import os
import re
import shutil
import tempfile

import numpy as np

from .archive import archive_bytes
from .moments import MomentError, moment_lines

ROLES = ("golden", "calibration", "sealed")
SOURCE_KEYS = ("framework", "version", "weights")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "todo"}


class CorpusError(ValueError):
    """Something that a corpus may not hold."""


def _scalar(value):
    """A YAML scalar that reads back as what it was."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise CorpusError("%r is not a finite number" % (value,))
        return repr(float(value))
    text = str(value)
    if _PLAIN.match(text) and text.lower() not in _WORDS:
        return text
    return json.dumps(text, ensure_ascii=False)


def _flow(mapping):
    return "{" + ", ".join("%s: %s" % (_scalar(key), _scalar(mapping[key])) for key in sorted(mapping)) + "}"


def _encode(name):
    """A case's id as a file name: everything but A-Za-z0-9._- is percent-encoded."""
    out = "".join(chr(b) if re.match(rb"[A-Za-z0-9._-]", bytes([b])) else "%%%02X" % b for b in name.encode("utf-8"))
    return out.replace(".", "%2E") if set(out) == {"."} else out


class Corpus:
    """Collects cases and writes the folder at the end of the `with` block (or by `close`).

    folder  where the corpus is to stand; an existing corpus there is replaced as a whole
    role    "golden" (compared), "calibration" (ranges may be learned from it) or "sealed"
    source  {"framework": ..., "version": ..., "weights": "sha256:..."}: what gave the answers
    """

    def __init__(self, folder, policy, role="golden", source=None):
        if role not in ROLES:
            raise CorpusError("role is %r; it must be one of %s" % (role, ", ".join(ROLES)))
        for key in source or {}:
            if key not in SOURCE_KEYS:
                raise CorpusError("source has the key %r; it may have %s" % (key, ", ".join(SOURCE_KEYS)))
        self.folder, self.policy, self.role, self.source = str(folder), policy, role, dict(source or {})
        self._cases, self._dtypes, self._closed = [], {}, False
        parent = os.path.dirname(os.path.abspath(self.folder))
        os.makedirs(parent, exist_ok=True)
        self._staging = tempfile.mkdtemp(prefix=os.path.basename(os.path.abspath(self.folder)) + ".tmp-", dir=parent)

    def __len__(self):
        """How many cases were added."""
        return len(self._cases)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.close()
        else:
            self.abandon()

    def add(self, case_id, inputs=None, outputs=None, raw=None, decoded=None, repeats=(), extra=None, tags=None,
            ages_ms=None, origin=None, refuse=None, sequence=False, forced=False, times_ms=None, now_ms=None,
            result_age_ms=None, monitors=None, guard=None, seeds=()):
        """Adds one case. All arrays are mappings from name to array.

        inputs, raw   tensors by the model's names, or sensor data that assay preprocesses itself
        outputs       the source's answer before decoding; decoded: in physical units, by component. A case of a
                      calibration corpus may do without
        repeats       further answers of the source to the same inputs: its noise
        extra         arrays under other top-level names, such as {"outputs64/action": ...}
        origin        {"file": ..., "digest": ..., "episode": ..., "frame": ...}: where it came from; "decoder" says
                      what made pixels of a video, with its version
        refuse        the code that an invalid case must get; such a case has no outputs
        seeds         one mapping a draw of the policy's noise: {"inputs": {noise: ...}, "outputs": ...}, and where there
                      are any "repeats" and "decoded". Everything else is shared; the case itself then has no outputs

        A sequence may give these once for all of its steps, or as a list with one a step:
        times_ms      {input: when it was measured}; now_ms: the time of the step on the same clock
        result_age_ms how old the answer is when it would be sent
        monitors      {name: reading}: ("clear", age in ms), ("tripped", age in ms) or "missing"
        guard         the answer expected of the guard: "accept" or a code; of a sequence also {step: answer}
        """
        if any(case["id"] == case_id for case in self._cases):
            raise CorpusError("there are two cases '%s'" % case_id)
        if not inputs and not raw and not seeds:
            raise CorpusError("case '%s' has neither inputs nor raw data" % case_id)
        if seeds and (outputs or repeats or decoded or refuse is not None):
            raise CorpusError("case '%s' has seeds; what was answered belongs to each of them" % case_id)
        if refuse is None and not outputs and not seeds and self.role != "calibration":
            raise CorpusError("case '%s' has no outputs; a case that must be refused says so by refuse=CODE" % case_id)
        if refuse is not None and outputs:
            raise CorpusError("case '%s' must be refused and yet has outputs" % case_id)
        groups = [("inputs", inputs), ("outputs", outputs), ("raw", raw), ("decoded", decoded)]
        groups += [("repeats/%d" % n, answer) for n, answer in enumerate(repeats)]
        groups += self._seed_groups(case_id, inputs or {}, seeds)
        arrays = dict(self._arrays(case_id, groups))
        arrays.update(extra or {})
        if refuse is None:
            self._check_finite(case_id, outputs or {})
        try:
            moments = moment_lines(_scalar, _steps(arrays) if sequence else None, ages_ms, times_ms, now_ms, result_age_ms,
                                   monitors, guard)
        except MomentError as error:
            raise CorpusError("case '%s': %s" % (case_id, error)) from None
        data = archive_bytes(arrays)
        name = _encode(case_id) + ".npz"
        with open(os.path.join(self._staging, name), "wb") as file:
            file.write(data)
        self._cases.append({
            "id": case_id, "file": name, "digest": "sha256:" + hashlib.sha256(data).hexdigest(), "refuse": refuse,
            "sequence": sequence, "forced": forced, "tags": dict(tags or {}), "ages_ms": dict(ages_ms or {}),
            "origin": dict(origin or {}), "moments": moments})

    def add_invalid(self, case_id, inputs, refuse, **more):
        """Adds inputs that must be refused with the code `refuse` (INPUT_SHAPE, INPUT_NAN, ...)."""
        self.add(case_id, inputs=inputs, refuse=refuse, **more)

    def _seed_groups(self, case_id, shared, seeds):
        """The groups of every draw, numbered; all draws hold the same arrays."""
        groups = []
        for number, seed in enumerate(seeds):
            for key in seed:
                if key not in ("inputs", "outputs", "repeats", "decoded"):
                    raise CorpusError("case '%s': seed %d has %r; a seed has inputs, outputs, repeats and decoded"
                                      % (case_id, number, key))
            if not seed.get("inputs") or not seed.get("outputs") and self.role != "calibration":
                raise CorpusError("case '%s': seed %d needs its noise as inputs, and outputs" % (case_id, number))
            for name in seed["inputs"]:
                if name in shared:
                    raise CorpusError("case '%s': inputs/%s is shared by all seeds and given for one" % (case_id, name))
            self._check_finite(case_id, seed.get("outputs") or {})
            mine = [(key, seed.get(key)) for key in ("inputs", "outputs", "decoded")]
            mine += [("repeats/%d" % n, answer) for n, answer in enumerate(seed.get("repeats") or ())]
            groups += [("seeds/%d/%s" % (number, prefix), group) for prefix, group in mine]
            names = [(prefix, sorted(group or {})) for prefix, group in mine]
            if number == 0:
                first = names
            elif names != first:
                raise CorpusError("case '%s': seed %d does not hold the same arrays as seed 0" % (case_id, number))
        return groups

    def _arrays(self, case_id, groups):
        for prefix, group in groups:
            for name, array in (group or {}).items():
                array, dtype = _plain_array(array)
                if dtype is not None:
                    parts = prefix.split("/")
                    self._note_dtype("%s/%s" % (parts[2] if parts[0] == "seeds" else parts[0], name), dtype)
                if array.dtype.hasobject:
                    raise CorpusError("case '%s': %s/%s holds Python objects" % (case_id, prefix, name))
                yield "%s/%s" % (prefix, name), array

    def _note_dtype(self, key, dtype):
        if self._dtypes.setdefault(key, dtype) != dtype:
            raise CorpusError("%s is %s in one case and %s in another" % (key, self._dtypes[key], dtype))

    @staticmethod
    def _check_finite(case_id, outputs):
        for name, array in outputs.items():
            if hasattr(array, "isfinite"):  # a PyTorch tensor, of a type that NumPy may lack
                finite = bool(array.isfinite().all())
            else:
                array = np.asarray(array)
                finite = array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
            if not finite:
                raise CorpusError("case '%s': the source's answer '%s' is not finite, so it can decide nothing"
                                  % (case_id, name))

    def yaml(self):
        """The text of corpus.yaml."""
        lines = ["assay: 1", "role: " + self.role, "policy: " + _scalar(self.policy)]
        if self.source:
            lines.append("source: " + _flow(self.source))
        if self._dtypes:
            lines.append("dtypes: " + _flow(self._dtypes))
        lines.append("cases:" if self._cases else "cases: []")
        for case in self._cases:
            lines += ["  - id: " + _scalar(case["id"]), "    file: " + _scalar(case["file"]),
                      "    digest: " + _scalar(case["digest"])]
            lines.append("    expect: answer" if case["refuse"] is None else "    expect: {refuse: %s}" % case["refuse"])
            lines += ["    %s: true" % key for key in ("sequence", "forced") if case[key]]
            lines += ["    %s: %s" % (key, _flow(case[key])) for key in ("tags", "ages_ms", "origin") if case[key]]
            lines += ["    %s: %s" % moment for moment in case["moments"]]
        return "\n".join(lines) + "\n"

    def close(self):
        """Writes corpus.yaml and puts the folder in its place."""
        if self._closed:
            return
        with open(os.path.join(self._staging, "corpus.yaml"), "w", encoding="utf-8") as file:
            file.write(self.yaml())
            file.flush()
            os.fsync(file.fileno())
        os.chmod(self._staging, 0o755)
        old = None
        if os.path.lexists(self.folder):
            if not os.path.isfile(os.path.join(self.folder, "corpus.yaml")):
                self.abandon()
                raise CorpusError("'%s' exists and is no corpus; it is left as it is" % self.folder)
            old = self._staging + ".old"
            os.rename(self.folder, old)
        os.rename(self._staging, self.folder)
        if old is not None:
            shutil.rmtree(old)
        self._closed = True

    def abandon(self):
        """Drops what was collected; what stood at the folder stays."""
        if not self._closed:
            shutil.rmtree(self._staging, ignore_errors=True)
            self._closed = True


def _steps(arrays):
    """Steps of a sequence, from the first of its arrays; 0 where it has none."""
    for array in arrays.values():
        return np.shape(array)[0] if np.ndim(array) else 0
    return 0


def _plain_array(array):
    """The array as NumPy stores it, and the dtype's name when NumPy lacks the type (bits are kept)."""
    dtype = str(getattr(array, "dtype", ""))
    if dtype == "torch.bfloat16":
        import torch
        return array.detach().cpu().contiguous().view(torch.int16).numpy().view(np.uint16), "bfloat16"
    if hasattr(array, "detach"):
        return array.detach().cpu().numpy(), None
    array = np.asarray(array)
    if dtype in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):  # ml_dtypes
        names = {"bfloat16": "bfloat16", "float8_e4m3fn": "float8e4m3fn", "float8_e5m2": "float8e5m2"}
        return array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8), names[dtype]
    return array, None


def draw_noise(shape, seeds, distribution="normal", low=0.0, high=1.0, dtype=np.float32):
    """`seeds` draws of noise, the same on every machine: normal with mean 0 and deviation 1, or uniform from low to high."""
    draws = []
    for seed in range(seeds):
        generator = np.random.Generator(np.random.PCG64(seed))
        if distribution == "normal":
            values = generator.standard_normal(shape)
        elif distribution == "uniform":
            values = generator.uniform(low, high, shape)
        else:
            raise CorpusError("distribution is %r; it must be normal or uniform" % (distribution,))
        draws.append(np.asarray(values, dtype=dtype))
    return draws


def each_draw(noise):
    """`noise`, a mapping from input to its draws, as one mapping from input to array a seed."""
    counts = {len(draws) for draws in noise.values()}
    if len(counts) != 1 or counts == {0}:
        raise CorpusError("every noise input needs the same number of draws, at least one; given were %s"
                          % {name: len(draws) for name, draws in noise.items()})
    return [{name: draws[k] for name, draws in noise.items()} for k in range(counts.pop())]


def capture(corpus, function, case_id, inputs, repeats=0, decode=None, noise=None, **more):
    """Runs `function` (mapping of arrays to mapping of arrays) on `inputs` and adds the case.

    noise    {input: [draw, draw, ...]}: `function` is run once a draw, and the case stores each with its answer;
             then what is returned is a list. draw_noise makes draws

    repeats  how often it is run again on the same inputs; the answers are stored and give its noise
    decode   optional function from the outputs to {component: array} in physical units
    """
    def run(tensors):
        return {name: np.array(value) for name, value in function(dict(tensors)).items()}

    def answer(tensors):
        outputs = run(tensors)
        return {"outputs": outputs, "repeats": [run(tensors) for _ in range(repeats)],
                "decoded": decode(outputs) if decode is not None else None}

    if noise:
        seeds = [dict(answer({**inputs, **draw}), inputs=draw) for draw in each_draw(noise)]
        corpus.add(case_id, inputs=inputs, seeds=seeds, **more)
        return [seed["outputs"] for seed in seeds]
    outputs = run(inputs)
    again = [run(inputs) for _ in range(repeats)]
    corpus.add(case_id, inputs=inputs, outputs=outputs, repeats=again,
               decoded=decode(outputs) if decode is not None else None, **more)
    return outputs
