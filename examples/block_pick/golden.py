"""The golden corpus of block_pick: what PyTorch answered on ordinary, awkward and malformed observations."""
import numpy as np
import torch
from assay_capture.pytorch import TorchCapture, parameter_influence

import scene
from policy import Q_MEAN, Q_STD

SEED = 4
DARK = 0.7          # brightness below which a case is tagged dark
NEAR_LIMIT = 1.2    # rad from the wrist's middle, beyond which it is tagged near its limit


def _decode(outputs):
    """Physical units, as contract.yaml decodes: joints by standard deviation and mean."""
    action = outputs["action"].astype(np.float64)
    decoded = {name: action[..., k] * Q_STD[k] + Q_MEAN[k] for k, name in enumerate(("shoulder", "elbow", "wrist"))}
    decoded["gripper"] = action[..., 3]
    return decoded


def _preprocess(raw):
    return {name: scene.preprocess(image[None]) for name, image in raw.items()}


def _on_the_way(rng, block, share, padded=0):
    """Joint history of an expert that has gone `share` of the way to the block; the first `padded` entries repeated."""
    goal, start = scene.solve(block), scene.sample_joints(rng, 1)[0]
    steps = [start + (goal - start) * max(0.0, share - 0.06 * k) for k in range(scene.HISTORY)]
    history = np.array(steps[::-1])
    history[:padded] = history[padded]
    return history.astype(np.float32)


def _observations():
    """(id, block, history, light, glare, tags): the ordinary and the awkward."""
    rng = np.random.default_rng(SEED)

    def observation(name, edge=False, share=0.5, light=1.0, glare=None, padded=0, wrist=None):
        block = scene.sample_block(rng, 1, edge)[0]
        if wrist is not None:
            block[2] = wrist
        history = _on_the_way(rng, block, share, padded)
        tags = {"block": "edge" if edge else "centre", "history": "padded" if padded else "full",
                "light": "dark" if light < DARK else "day" if glare is None else "glare",
                "wrist": "near_limit" if abs(history[-1, 2]) > NEAR_LIMIT else "inner"}
        return name, block, history, light, glare, tags

    for k in range(6):
        yield observation("centre_%d" % k, share=(0.0, 0.3, 0.6, 0.9, 1.0, 1.0)[k])
    for k in range(5):
        yield observation("edge_%d" % k, edge=True, share=(0.1, 0.5, 0.9, 1.0, 1.0)[k])
    for k in range(4):
        yield observation("glare_%d" % k, share=0.25 * k + 0.25, glare=(20.0 + 15 * k, 60.0 - 10 * k, 0.8))
    for k in range(4):
        yield observation("dark_%d" % k, share=0.25 * k + 0.25, light=0.3 + 0.05 * k)
    for k in range(4):
        yield observation("start_%d" % k, share=0.2 * k, padded=k % 3 + 1)
    for k in range(4):
        side = 1 if k % 2 else -1
        yield observation("near_limit_%d" % k, share=0.5 + 0.15 * k, wrist=side * 1.45)


def _malformed(good):
    """(id, inputs, code, ages): inputs that must be refused."""
    def but(**change):
        inputs = {name: array.copy() for name, array in good.items()}
        inputs.update(change)
        return {name: array for name, array in inputs.items() if array is not None}

    def poked(name, value):
        array = good[name].copy()
        array.flat[array.size // 2] = value
        return {name: array}

    yield "front_too_small", but(front=good["front"][:, :, :32]), "INPUT_SHAPE", {}
    yield "front_bytes", but(front=(255 * good["front"]).astype(np.uint8)), "INPUT_DTYPE", {}
    yield "wrist_0_to_255", but(wrist=255 * good["wrist"]), "INPUT_COLOR", {}
    yield "front_nan", but(**poked("front", np.nan)), "INPUT_NAN", {}
    yield "wrist_missing", but(wrist=None), "INPUT_MISSING", {}
    yield "depth_extra", but(depth=good["front"][:, :1]), "INPUT_EXTRA", {}
    yield "qpos_inf", but(**poked("qpos", np.inf)), "INPUT_INF", {}
    yield "qpos_out_of_range", but(**poked("qpos", 9.0)), "INPUT_RANGE", {}
    yield "history_too_long", but(qpos=np.repeat(good["qpos"], 2, 1)), "INPUT_HISTORY", {}
    yield "front_stale", but(), "INPUT_STALE", {"front": 250.0}


def write(model, folder):
    """Captures the corpus; answers the figures that trained.json keeps."""
    first = None
    with TorchCapture(folder, model, policy="block_pick", inputs=["front", "wrist", "qpos"], outputs=["action"]) as capture:
        for name, block, history, light, glare, tags in _observations():
            q = history[-1:].astype(np.float64)
            front, wrist = scene.render(q, block[None], np.array([light]), None if glare is None else np.array([glare]))
            raw = {"front": front[0], "wrist": wrist[0]}
            capture.case(name, raw=raw, preprocess=_preprocess, inputs={"qpos": history[None]}, decode=_decode, repeats=2,
                         tags=tags, ages_ms={"front": 12.0, "wrist": 9.0})
            if first is None:
                first = dict(_preprocess(raw), qpos=history[None])
        for name, inputs, code, ages in _malformed(first):
            capture.add_invalid(name, inputs, refuse=code, ages_ms=ages, tags={"kind": "malformed"})
        cases = len(capture.corpus)
    influence = parameter_influence(model, [torch.from_numpy(first[name]) for name in ("front", "wrist", "qpos")])
    return {"cases": cases, "parameters": influence.total, "training_only_parameters": influence.dead_count}
