"""A PyTorch policy as a rung: assay starts `python3 -m assay_capture.worker` and talks to it over standard input and output.

What is loaded: `module` (FILE.py:CALLABLE, which gives an nn.Module) with an optional `checkpoint`, or a TorchScript or
torch.export file as `model`. `arguments` and `results` name the positional arguments and what comes back."""
import importlib.util
import os
import platform
import sys

import numpy as np

from . import __version__
from .answers import flatten
from .wire import CLOSE, DESCRIBE, DONE, HELLO, PROTOCOL, RENEW, RUN, Writer, WireError, receive, send

MAGIC = "assay worker"
SETTINGS = ("module", "checkpoint", "device", "tf32", "deterministic", "cudnn_benchmark", "interop_threads", "version",
            "accumulator", "allow_fallback", "python")


class Refused(Exception):
    """What is told to the other side: a code of assay's and a sentence."""

    def __init__(self, code, sentence):
        super().__init__(sentence)
        self.code = code


class Request:
    """What the greeting asks for."""

    def __init__(self, message):
        if message is None or message.number() != HELLO or message.string() != MAGIC:
            raise Refused("RUNG_FAILED", "the greeting is malformed; is it assay on the other side?")
        protocol = message.number()
        if protocol != PROTOCOL:
            raise Refused("RUNG_FAILED", "the other side speaks protocol %d, assay-capture %s speaks %d; install matching "
                                         "versions" % (protocol, __version__, PROTOCOL))
        self.name, self.engine, self.precision, self.provider = (message.string() for _ in range(4))
        self.threads = message.number() or 1
        self.settings, self.lists = {}, {"arguments": [], "results": []}
        for key, value in [(message.string(), message.string()) for _ in range(message.number())]:
            group = key.partition(".")[0]
            if group in self.lists:
                self.lists[group].append(value)
            elif key == "model" or key in SETTINGS:
                self.settings[key] = value
            else:
                raise Refused("RUNG_SETTING", "rung '%s' sets '%s', which the engine pytorch does not have; it has arguments, "
                                              "results, %s" % (self.name, key, ", ".join(SETTINGS)))

    def flag(self, key):
        value = self.settings.get(key, "false")
        if value not in ("true", "false", "on", "off"):
            raise Refused("RUNG_SETTING", "rung '%s' sets %s to '%s'; it may be true or false" % (self.name, key, value))
        return value in ("true", "on")


def _load_function(path):
    path, colon, name = path.rpartition(":")
    if not colon:
        raise Refused("RUNG_SETTING", "module is '%s'; write FILE.py:CALLABLE" % name)
    if not os.path.isfile(path):
        raise Refused("RUNTIME_MISSING", "there is no file '%s'" % path)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("assay_policy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise Refused("RUNG_SETTING", "'%s' has no '%s'" % (path, name))
    return getattr(module, name)


def _load_checkpoint(torch, module, path):
    if path.endswith(".npz"):
        with np.load(path, allow_pickle=False) as stored:
            state = {name: torch.from_numpy(np.array(stored[name])) for name in stored.files}
    elif path.endswith(".safetensors"):
        from safetensors.torch import load_file
        state = load_file(path)
    else:
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except TypeError:  # before 1.13 there was no such choice, and pickles are programs
            raise Refused("RUNG_SETTING", "this PyTorch (%s) cannot read '%s' without running what is in it; store the weights "
                                          "as .npz" % (torch.__version__, path)) from None
        state = state.get("state_dict", state) if isinstance(state, dict) else state
    module.load_state_dict(state)


class Policy:
    """The loaded policy and how it is run."""

    def __init__(self, request):
        try:
            import torch
        except ImportError as error:
            raise Refused("RUNTIME_MISSING", "this Python (%s) cannot import torch: %s; install PyTorch, or name another with "
                                             "`settings: {python: PATH}`" % (sys.executable, error)) from None
        self.torch, self.request = torch, request
        if not request.lists["arguments"] or not request.lists["results"]:
            raise Refused("RUNG_SETTING", "rung '%s' must name the module's arguments and what it gives: `arguments: [...]` and "
                                          "`results: [...]`" % request.name)
        self.device = request.settings.get("device", "cpu")
        if self.device.startswith("cuda") and not torch.cuda.is_available():
            raise Refused("RUNTIME_MISSING", "PyTorch %s sees no CUDA device" % torch.__version__)
        self._set_flags()
        self.module = self._load()

    def _set_flags(self):
        torch, request = self.torch, self.request
        torch.set_num_threads(request.threads)
        interop = int(request.settings.get("interop_threads", 1))
        if torch.get_num_interop_threads() != interop:  # it may be said once, before anything ran
            torch.set_num_interop_threads(interop)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = request.flag("tf32")
        torch.backends.cudnn.benchmark = request.flag("cudnn_benchmark")
        if request.flag("deterministic"):
            torch.use_deterministic_algorithms(True)
            torch.backends.cudnn.deterministic = True

    def _load(self):
        settings, torch = self.request.settings, self.torch
        if "module" in settings:
            module = _load_function(settings["module"])()
            if "checkpoint" in settings:
                _load_checkpoint(torch, module, settings["checkpoint"])
            module.eval()
        elif settings.get("model", "").endswith(".pt2"):
            module = torch.export.load(settings["model"]).module()
        elif settings.get("model", "").endswith((".pt", ".pth", ".ts")):
            module = torch.jit.load(settings["model"], map_location="cpu").eval()
        else:
            raise Refused("RUNG_SETTING", "rung '%s' names neither `module: FILE.py:CALLABLE` nor a `model:` that ends in .pt, "
                                          ".pth, .ts (TorchScript) or .pt2 (torch.export)" % self.request.name)
        return module.to(self.device)

    def precision(self):
        torch = self.torch
        words = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.float64: "fp64"}
        kinds = {p.dtype for p in self.module.parameters() if p.is_floating_point()} or {torch.float32}
        return words.get(next(iter(kinds))) if len(kinds) == 1 else "mixed"

    def run(self, inputs):
        torch = self.torch
        lacking = [name for name in self.request.lists["arguments"] if name not in inputs]
        extra = [name for name in inputs if name not in self.request.lists["arguments"]]
        if lacking or extra:
            raise Refused("RUNG_FAILED", "rung '%s' names the arguments %s, but was fed %s"
                          % (self.request.name, self.request.lists["arguments"], sorted(inputs)))
        arguments = [torch.from_numpy(inputs[name].copy()).to(self.device) for name in self.request.lists["arguments"]]
        with torch.inference_mode():
            answers = flatten(torch, self.module(*arguments))
        if len(answers) != len(self.request.lists["results"]):
            raise Refused("RUNG_FAILED", "the module gives %d tensors, but rung '%s' names %d results"
                          % (len(answers), self.request.name, len(self.request.lists["results"])))
        return {name: answer.detach().to("cpu").contiguous().numpy()
                for name, answer in zip(self.request.lists["results"], answers)}

    def describe(self):
        torch = self.torch
        cuda = self.device.startswith("cuda")
        facts = {"python": platform.python_version(), "deterministic": str(torch.are_deterministic_algorithms_enabled()).lower()}
        if cuda:
            facts["device name"], facts["cuda"] = torch.cuda.get_device_name(), str(torch.version.cuda)
            facts["cudnn benchmark"] = str(torch.backends.cudnn.benchmark).lower()
        tf32 = ("on" if torch.backends.cuda.matmul.allow_tf32 else "off") if cuda else None
        strings = ["pytorch", torch.__version__, None, self.precision(), None, self.device, tf32, None, None]
        writer = Writer().number(DONE).status()
        for text in strings:
            writer.string(text)
        writer.number(torch.get_num_threads()).number(0).number(0).number(len(facts))
        for key, value in facts.items():
            writer.string(key).string(value)
        return writer


def _answer(policy, message):
    kind = message.number()
    if kind == DESCRIBE:
        return policy.describe()
    outputs = {}
    if kind == RUN:
        message.string(), message.number(), message.number()  # the case and its step
        if message.number() != 0:
            raise Refused("RUNG_FAILED", "PyTorch's module hands out no inner values")
        outputs = policy.run(message.tensors())
    elif kind == RENEW:
        policy.module = policy._load()
    return Writer().number(DONE).status().tensors(outputs).tensors({})


def _refusal(error):
    code = error.code if isinstance(error, Refused) else "RUNG_FAILED"
    kind = "" if isinstance(error, (Refused, WireError)) else type(error).__name__ + ": "
    return Writer().number(DONE).status(code, "pytorch", kind + (" ".join(str(error).split()) or "it says nothing"))


def serve(source, target):
    """Answers messages until the other side ends; 0 when it did."""
    try:
        policy = Policy(Request(receive(source)))
    except Exception as error:  # whatever a user's module raises is told, never printed alone
        send(target, _refusal(error))
        return 1
    send(target, Writer().number(DONE).status())
    while True:
        message = receive(source)
        if message is None:
            return 0
        if message.data[:8] == Writer().number(CLOSE).bytes():
            return 0
        try:
            answer = _answer(policy, message)
        except Exception as error:
            answer = _refusal(error)
        send(target, answer)


def main():
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a module prints is no message
    return serve(sys.stdin.buffer, target)


if __name__ == "__main__":
    sys.exit(main())
