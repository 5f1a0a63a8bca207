"""Capturing a PyTorch module: one thread, evaluation mode, no gradient, with version and weights digest recorded."""
import hashlib

import torch

from .answers import flatten
from .corpus import Corpus, CorpusError, each_draw


def weights_digest(module):
    """SHA-256 over the raw little-endian bytes of the state dict, parameters and buffers, in the order of sorted names."""
    digest = hashlib.sha256()
    state = module.state_dict()
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.view(torch.int16)
        digest.update(tensor.numpy().tobytes())
    return "sha256:" + digest.hexdigest()


class _OneThread:
    """Evaluation mode and one thread, both put back at the end."""

    def __init__(self, module):
        self.module = module

    def __enter__(self):
        self.threads, self.modes = torch.get_num_threads(), [(m, m.training) for m in self.module.modules()]
        torch.set_num_threads(1)
        self.module.eval()

    def __exit__(self, kind, error, trace):
        torch.set_num_threads(self.threads)
        for module, training in self.modes:
            module.training = training


class TorchCapture:
    """A corpus whose answers come from a PyTorch module.

    inputs   names of the module's positional arguments, in order: the names of the exported model's inputs
    outputs  names of what it returns (a tensor, a tuple or a list), in order
    """

    def __init__(self, folder, module, policy, inputs, outputs, role="golden", source=None):
        self.module, self.inputs, self.outputs = module, list(inputs), list(outputs)
        facts = {"framework": "pytorch", "version": torch.__version__, "weights": weights_digest(module)}
        facts.update(source or {})
        self.corpus = Corpus(folder, policy=policy, role=role, source=facts)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return self.corpus.__exit__(kind, error, trace)

    def run(self, inputs):
        """The module's answer as arrays by name. `inputs`: arrays or tensors by name."""
        if set(inputs) != set(self.inputs):
            raise CorpusError("the module takes %s; given were %s" % (sorted(self.inputs), sorted(inputs)))
        arguments = [torch.as_tensor(inputs[name]).clone() for name in self.inputs]
        with _OneThread(self.module), torch.no_grad():
            answer = self.module(*arguments)
        answer = list(answer) if isinstance(answer, (tuple, list)) else [answer]
        if len(answer) != len(self.outputs):
            raise CorpusError("the module returned %d outputs; names were given for %d" % (len(answer), len(self.outputs)))
        return {name: tensor.detach().cpu().clone() for name, tensor in zip(self.outputs, answer)}

    def case(self, case_id, inputs=None, raw=None, preprocess=None, decode=None, repeats=0, noise=None, **more):
        """Runs the module and adds the case.

        raw         sensor data by name, before preprocessing; `preprocess` turns all of it into input tensors
        inputs      input tensors by name (what preprocessing does not give)
        decode      function from outputs to {component: array} in physical units
        repeats     further runs on the same inputs, stored as the source's own noise
        noise       {input: [draw, draw, ...]}: the module is run once a draw, and the case stores each with its answer;
                    then a list of outputs is returned
        """
        tensors = dict(inputs or {})
        if raw:
            if preprocess is None:
                raise CorpusError("case '%s' has raw data but no preprocess function" % case_id)
            tensors.update(preprocess(raw))
        if noise:
            seeds = [dict(self._answer({**tensors, **draw}, decode, repeats), inputs=draw) for draw in each_draw(noise)]
            self.corpus.add(case_id, inputs=tensors, raw=raw, seeds=seeds, **more)
            return [seed["outputs"] for seed in seeds]
        answer = self._answer(tensors, decode, repeats)
        outputs, again, decoded = answer["outputs"], answer["repeats"], answer["decoded"]
        self.corpus.add(case_id, inputs=tensors, outputs=outputs, raw=raw, decoded=decoded, repeats=again, **more)
        return outputs

    def _answer(self, tensors, decode, repeats):
        outputs = self.run(tensors)
        again = [self.run(tensors) for _ in range(repeats)]
        decoded = decode({name: value.numpy() for name, value in outputs.items()}) if decode is not None else None
        return {"outputs": outputs, "repeats": again, "decoded": decoded}

    def add_invalid(self, case_id, inputs, refuse, **more):
        """Adds inputs that must be refused with the code `refuse`."""
        self.corpus.add_invalid(case_id, inputs, refuse, **more)


class Influence:
    """Which parameters influence an output. `dead` and `live` map names to element counts."""

    def __init__(self, dead, live):
        self.dead, self.live = dead, live
        self.dead_count, self.total = sum(dead.values()), sum(dead.values()) + sum(live.values())
        self.dead_share = self.dead_count / self.total if self.total else 0.0

    def __str__(self):
        lines = ["%d of %d parameters (%.1f %%) never influence an output" %
                 (self.dead_count, self.total, 100 * self.dead_share)]
        groups = {}
        for name, count in self.dead.items():
            group = name.split(".")[0]
            groups[group] = groups.get(group, 0) + count
        lines += ["  %-32s %d" % item for item in sorted(groups.items(), key=lambda item: -item[1])]
        return "\n".join(lines)


def parameter_influence(module, inputs):
    """Finds parameters that never influence an output for these positional inputs (tensors).

    A parameter is dead when no gradient path leads to it from any output and when, in addition, the
    outputs keep every bit while all such parameters hold NaN; those that fail the second test are live.
    """
    parameters = dict(module.named_parameters())
    with _OneThread(module):
        wanted = [p for p in parameters.values() if p.is_floating_point()]
        before_flags = [p.requires_grad for p in wanted]
        try:
            for p in wanted:
                p.requires_grad_(True)
            with torch.enable_grad():
                outputs = [t for t in flatten(torch, module(*inputs)) if t.requires_grad]
                reached = torch.autograd.grad([t.sum() for t in outputs], wanted, allow_unused=True) if outputs else ()
        finally:
            for p, flag in zip(wanted, before_flags):
                p.requires_grad_(flag)
        connected = {id(p) for p, g in zip(wanted, reached) if g is not None}
        candidates = {name: p for name, p in parameters.items() if id(p) not in connected and p.is_floating_point()}
        confirmed = _unmoved_by_nan(module, inputs, list(candidates.values()))
        if not confirmed:  # at least one matters by a way that has no gradient: try them one by one
            candidates = {name: p for name, p in candidates.items() if _unmoved_by_nan(module, inputs, [p])}
    dead = {name: p.numel() for name, p in parameters.items() if name in candidates}
    live = {name: p.numel() for name, p in parameters.items() if name not in candidates}
    return Influence(dead, live)


def _unmoved_by_nan(module, inputs, parameters):
    """True when the outputs keep every bit while `parameters` hold NaN."""
    saved = [p.detach().clone() for p in parameters]
    with torch.no_grad():
        before = [t.cpu().numpy().tobytes() for t in flatten(torch, module(*inputs))]
        try:
            for p in parameters:
                p.fill_(float("nan"))
            after = [t.cpu().numpy().tobytes() for t in flatten(torch, module(*inputs))]
        finally:
            for p, value in zip(parameters, saved):
                p.copy_(value)
    return before == after
