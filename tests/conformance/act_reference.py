"""What the exported ACT graph computes in float64: act_reference.py ACT_FOLDER CASES_FOLDER.

PyTorch's exporters fold a frozen batch norm's scale and shift in float32, so that an exported graph is not the float64
network of `outputs64`, but that network with these constants rounded to float32. This program evaluates exactly that,
in float64, and adds it to every case as `exported64/actions`. A graph whose batch norm was folded before
the export needs none of this: there it equals `outputs64`.
"""
import os
import sys

sys.path.insert(0, sys.argv[1])
import numpy as np
import torch
import act_model

folder = sys.argv[2]
torch.set_num_threads(1)
narrow = act_model.build(attention="manual")
wide = act_model.build(attention="manual").double()
modules = dict(wide.named_modules())
for name, norm in narrow.named_modules():
    if isinstance(norm, act_model.FrozenBatchNorm2d):
        w, b, mean, var = (t.reshape(1, -1, 1, 1) for t in (norm.weight, norm.bias, norm.running_mean, norm.running_var))
        scale = w * (var + norm.eps).rsqrt()
        modules[name].exported = scale.double(), (b - mean * scale).double()
act_model.FrozenBatchNorm2d.forward = lambda self, x: x * self.exported[0] + self.exported[1]
with torch.no_grad():
    for file in sorted(os.listdir(folder)):
        path = os.path.join(folder, file)
        arrays = dict(np.load(path))
        image, prop = (torch.from_numpy(arrays["inputs/" + name]).double() for name in ("image", "prop"))
        arrays["exported64/actions"] = wide(image, prop).numpy()
        np.savez(path, **arrays)
