"""Trains block_pick, measures it on its own task, exports it and captures the golden corpus.

    python train.py [--steps N] [--out DIR]

Seeded; a few minutes on two CPU cores. Writes policy.onnx, golden/, weights.npz and trained.json (the figures that the
README states) into DIR (default: this folder). `--from-weights` skips the training and uses weights.npz.
Needs torch >= 1.13, numpy and assay-capture (bindings/python, found beside this file when it is not installed).
"""
import argparse
import inspect
import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "bindings", "python")]
import golden  # noqa: E402
import scene  # noqa: E402
from policy import Policy  # noqa: E402

SEED, BATCH, POOL = 20261201, 64, 12288


def augment(rng, n):
    light = np.where(rng.random(n) < 0.2, rng.uniform(0.25, 0.6, n), rng.uniform(0.8, 1.1, n))
    glare = np.stack([rng.uniform(0, 96, n), rng.uniform(0, 96, n), rng.uniform(0, 0.8, n) * (rng.random(n) < 0.25)], -1)
    return light, glare


def history_of(rng, q, block):
    """Joint positions that led to q: a few expert steps backwards, or a start (the oldest repeated)."""
    n = len(q)
    goal, past, now = scene.solve(block), [q], q
    for _ in range(scene.HISTORY - 1):
        now = now - np.clip(0.5 * (goal - now), -scene.STEP_LIMIT, scene.STEP_LIMIT)
        past.append(now)
    history = np.stack(past[::-1], 1)
    first = rng.integers(0, scene.HISTORY, n) * (rng.random(n) < 0.4)
    for k in range(scene.HISTORY):
        early = first > k
        history[early, k] = history[early, first[early]]
    return history


def make_data(rng, n, part=256):
    """Observations on and around the expert's way, and its chunk of actions. Drawn in parts: images take much room."""
    parts = [_make_part(rng, part) for _ in range(n // part)]
    return [np.concatenate(column) for column in zip(*parts)]


def _make_part(rng, n):
    block = np.where((rng.random(n) < 0.2)[:, None], scene.sample_block(rng, n, True), scene.sample_block(rng, n))
    goal, start = scene.solve(block), scene.sample_joints(rng, n)
    share = rng.random((n, 1))
    q = goal * share + start * (1 - share) + rng.normal(0, 0.05, (n, 3)) * (rng.random((n, 1)) < 0.7)
    q[:, 2] = np.clip(q[:, 2], -scene.WRIST_LIMIT, scene.WRIST_LIMIT)
    light, glare = augment(rng, n)
    front, wrist = (scene.preprocess(image) for image in scene.render(q, block, light, glare))
    return front, wrist, history_of(rng, q, block), scene.expert(q, block)


def as_tensors(front, wrist, qpos):
    return torch.from_numpy(front), torch.from_numpy(wrist), torch.from_numpy(qpos.astype(np.float32))


def train(steps):
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    rng = np.random.default_rng(SEED)
    model = Policy()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.5e-3, total_steps=steps)
    pool = make_data(rng, POOL)
    begin = time.time()
    for step in range(steps):
        pick = rng.integers(0, len(pool[0]), BATCH)
        front, wrist, qpos, actions = (part[pick] for part in pool)
        target = torch.from_numpy(actions.astype(np.float32))
        target[..., :3] = (target[..., :3] - model.q_mean) / model.q_std
        mean, log_variance = model.style(target)
        latent = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        predicted = model.act(*as_tensors(front, wrist, qpos), latent)
        motion = F.smooth_l1_loss(predicted[..., :3], target[..., :3], beta=0.1)
        grip = F.binary_cross_entropy(predicted[..., 3], target[..., 3])
        spread = -0.5 * (1 + log_variance - mean ** 2 - log_variance.exp()).mean()
        loss = motion + 0.1 * grip + 0.5 * spread
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 250 == 0 or step == steps - 1:
            print("step %d of %d, loss %.4f (motion %.4f, grip %.4f), %.0f s"
                  % (step, steps, float(loss), float(motion), float(grip), time.time() - begin), flush=True)
    return model.eval()


def rollouts(act, episodes, seed):
    """Share of episodes in which the gripper first closes over the block at its angle. `act`: observation to chunk."""
    rng = np.random.default_rng(seed)
    block, q = scene.sample_block(rng, episodes), scene.sample_joints(rng, episodes)
    history = np.repeat(q[:, None], scene.HISTORY, 1)
    done, good = np.zeros(episodes, bool), np.zeros(episodes, bool)
    for _ in range(6):
        front, wrist = (scene.preprocess(image) for image in scene.render(q, block))
        chunk = act(front, wrist, history)
        for step in range(8):
            wanted = np.clip(chunk[:, step, :3] - q, -scene.STEP_LIMIT, scene.STEP_LIMIT)
            q = np.where(done[:, None], q, q + wanted)
            history = np.concatenate([history[:, 1:], q[:, None]], 1)
            closing = (chunk[:, step, 3] >= 0.5) & ~done
            near = np.linalg.norm(scene.tip(q) - block[:, :2], axis=-1) < 2 * scene.CLOSE_DISTANCE
            good |= closing & near & (np.abs(q[:, 2] - block[:, 2]) < 2 * scene.CLOSE_ANGLE)
            done |= closing
    return float(good.mean())


def evaluate(model, episodes=200):
    """Success of the policy, of the expert, and of two kinds of chance."""
    mean, std = model.q_mean.numpy(), model.q_std.numpy()
    rng = np.random.default_rng(7)

    def policy(front, wrist, history):
        with torch.no_grad():
            no_style = model.no_style.expand(len(history), -1)
            chunk = model.act(*as_tensors(front, wrist, history), no_style).numpy().astype(np.float64)
        chunk[..., :3] = chunk[..., :3] * std + mean
        return chunk

    def blind(front, wrist, history):
        """Goes to a place drawn blindly and closes there."""
        return scene.expert(history[:, -1], scene.sample_block(np.random.default_rng(3), len(history)))

    def random(front, wrist, history):
        n = len(history)
        steps = history[:, -1:] + np.cumsum(rng.uniform(-0.12, 0.12, (n, scene.CHUNK, 3)), 1)
        return np.concatenate([steps, (rng.random((n, scene.CHUNK, 1)) < 0.05)], -1)

    return {"episodes": episodes, "policy": rollouts(policy, episodes, 99), "blind": rollouts(blind, episodes, 99),
            "random": rollouts(random, episodes, 99)}


def export(model, path):
    example = (torch.zeros(1, 3, 64, 64), torch.zeros(1, 3, 64, 64), torch.zeros(1, scene.HISTORY, 3))
    accepted = inspect.signature(torch.onnx.export).parameters
    options = {"dynamo": False} if "dynamo" in accepted else {}
    torch.onnx.export(model, example, path, input_names=["front", "wrist", "qpos"], output_names=["action"],
                      opset_version=17, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--out", default=HERE)
    parser.add_argument("--from-weights", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    weights = os.path.join(options.out, "weights.npz")
    if options.from_weights:
        model = Policy().eval()
        with np.load(weights) as stored:
            model.load_state_dict({name: torch.from_numpy(stored[name]) for name in stored.files})
    else:
        model = train(options.steps)
        np.savez(weights, **{name: value.numpy() for name, value in model.state_dict().items()})
    figures = evaluate(model)
    export(model, os.path.join(options.out, "policy.onnx"))
    figures.update(golden.write(model, os.path.join(options.out, "golden")))
    with open(os.path.join(options.out, "trained.json"), "w") as file:
        json.dump(figures, file, indent=2, sort_keys=True)
        file.write("\n")
    print(json.dumps(figures, indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
