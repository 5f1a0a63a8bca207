"""The toy world of block_pick: a planar arm over a table, two cameras, an expert. NumPy only.

The arm has three joints (shoulder, elbow, wrist, in rad) and a gripper. The front camera looks down on the whole
table; the wrist camera looks down beside the gripper and turns with it. The task: bring the tip over the block, turn
the wrist to the block's angle, close the gripper.
"""
import numpy as np

LINK = 0.5                      # m, both links
CAMERA = 96                     # raw images are CAMERA x CAMERA RGB bytes
IMAGE = 64                      # what the policy sees
HISTORY, CHUNK = 4, 20          # joint positions seen, actions predicted
STEP_LIMIT = 0.12               # rad a step, each joint
WRIST_LIMIT = 1.6               # rad
CLOSE_DISTANCE, CLOSE_ANGLE = 0.04, 0.15
TABLE = np.float32([0.30, 0.34, 0.40])
BLOCK = np.float32([0.85, 0.25, 0.15])
BLOCK_END = np.float32([0.95, 0.80, 0.20])   # one end is yellow, so that the angle has a sign
ARM = np.float32([0.10, 0.65, 0.75])


def tip(q):
    """Position of the gripper for joints (..., 3)."""
    a, b = q[..., 0], q[..., 0] + q[..., 1]
    return np.stack([LINK * np.cos(a) + LINK * np.cos(b), LINK * np.sin(a) + LINK * np.sin(b)], -1)


def solve(block):
    """Joints that put the gripper on blocks (..., 3) = x, y, angle of the gripper relative to the second link."""
    x, y = block[..., 0], block[..., 1]
    r2 = x * x + y * y
    elbow = np.arccos(np.clip(r2 / (2 * LINK * LINK) - 1, -1, 1))
    shoulder = np.arctan2(y, x) - elbow / 2
    return np.stack([shoulder, elbow, block[..., 2]], -1)


def sample_block(rng, n, edge=False):
    """Blocks that the arm reaches; `edge`: near the rim of the reachable part of the table."""
    r = rng.uniform(0.80, 0.88, n) if edge else rng.uniform(0.40, 0.82, n)
    a = rng.choice([-1, 1], n) * rng.uniform(0.75, 0.95, n) if edge else rng.uniform(-0.8, 0.8, n)
    return np.stack([r * np.cos(a), r * np.sin(a), rng.uniform(-1.4, 1.4, n)], -1)


def sample_joints(rng, n):
    return np.stack([rng.uniform(-1.4, 0.6, n), rng.uniform(0.6, 2.3, n), rng.uniform(-1.5, 1.5, n)], -1)


def _paint(image, coverage, color):
    image += coverage[..., None] * (color - image)


def _cover(points, a, b, width, pixel):
    """Coverage (0..1) by a segment of half width `width` from a to b at points (N, H, W, 2); ends are (N, 2)."""
    d = (b - a)[:, None, None].astype(np.float32)
    px, py = points[..., 0] - a[:, 0, None, None], points[..., 1] - a[:, 1, None, None]
    t = np.clip((px * d[..., 0] + py * d[..., 1]) / np.maximum((d * d).sum(-1), np.float32(1e-9)), 0, 1)
    distance = np.hypot(px - t * d[..., 0], py - t * d[..., 1])
    return np.clip((width - distance) / pixel + np.float32(0.5), 0, 1).astype(np.float32)


def _draw(points, pixel, q, block, light):
    """Images (N, CAMERA, CAMERA, 3) in [0, 1] of the world at the points' positions."""
    points, q, block, light = (part.astype(np.float32) for part in (points, q, block, light))
    n = len(q)
    image = np.broadcast_to(TABLE, points.shape[:-1] + (3,)).copy()
    joint = np.stack([LINK * np.cos(q[:, 0]), LINK * np.sin(q[:, 0])], -1)
    heading = q[:, 0] + q[:, 1]
    block_heading = _block_heading(block)
    along = 0.05 * np.stack([np.cos(block_heading), np.sin(block_heading)], -1)
    center = block[:, :2]
    _paint(image, _cover(points, center - along, center + along, 0.035, pixel), BLOCK)
    _paint(image, _cover(points, center + 0.7 * along, center + along, 0.030, pixel), BLOCK_END)
    _paint(image, 0.85 * _cover(points, np.zeros((n, 2), np.float32), joint, 0.020, pixel), ARM)
    end = joint + (LINK - 0.08) * np.stack([np.cos(heading), np.sin(heading)], -1)
    _paint(image, 0.85 * _cover(points, joint, end, 0.016, pixel), ARM)
    return image * light[:, None, None, None]


def _block_heading(block):
    """The block's heading in the table's frame: its angle is given relative to the arm that reaches it."""
    q = solve(block)
    return q[..., 0] + q[..., 1] + block[..., 2]


def render(q, block, light=None, glare=None, noise=None):
    """Front and wrist images as bytes, (N, CAMERA, CAMERA, 3).

    light  (N,) brightness, 1 is ordinary; glare: (N, 3) x, y in pixels and strength; noise: (N, 2, H, W, 3)
    """
    n = len(q)
    light = np.ones(n) if light is None else light
    u = (np.arange(CAMERA) + 0.5) / CAMERA
    row, column = np.meshgrid(u, u, indexing="ij")
    front = np.broadcast_to(np.stack([1.05 - 1.1 * row, 1.1 * (0.5 - column) * 2], -1), (n, CAMERA, CAMERA, 2))
    turn = q[:, 0] + q[:, 1] + q[:, 2]
    local = np.stack([0.25 - 0.5 * row, 0.5 * (0.5 - column)], -1)
    c, s = np.cos(turn)[:, None, None], np.sin(turn)[:, None, None]
    at = tip(q)[:, None, None]
    wrist = np.stack([c * local[..., 0] - s * local[..., 1], s * local[..., 0] + c * local[..., 1]], -1) + at
    images = [_draw(front, 1.1 / CAMERA, q, block, light), _draw(wrist, 0.5 / CAMERA, q, block, light)]
    for k, image in enumerate(images):
        if glare is not None:
            pixel = np.arange(CAMERA)
            d2 = (pixel[None, :, None] - glare[:, 1, None, None]) ** 2 + (pixel[None, None] - glare[:, 0, None, None]) ** 2
            image += (glare[:, 2, None, None] * np.exp(-d2 / 200.0))[..., None]
        if noise is not None:
            image += noise[:, k]
    return tuple(np.clip(np.rint(255 * image), 0, 255).astype(np.uint8) for image in images)


def expert(q, block):
    """The chunk of CHUNK actions from joints (N, 3): the path and the gripper's closing, (N, CHUNK, 4)."""
    goal, now = solve(block), q.copy()
    chunk = np.empty((len(q), CHUNK, 4))
    for step in range(CHUNK):
        now = now + np.clip(0.35 * (goal - now), -STEP_LIMIT, STEP_LIMIT)
        chunk[:, step, :3] = now
        chunk[:, step, 3] = closes(now, block)
    return chunk


def closes(q, block):
    """Whether the gripper should be closed here."""
    near = np.linalg.norm(tip(q) - block[..., :2], axis=-1) < CLOSE_DISTANCE
    return (near & (np.abs(q[..., 2] - block[..., 2]) < CLOSE_ANGLE)).astype(float)


def preprocess(raw):
    """Bytes (N, CAMERA, CAMERA, 3) to the policy's (N, 3, IMAGE, IMAGE) in [0, 1].

    Bilinear on half-pixel centres without antialiasing, in float64, rounded once to float32 at the end.
    """
    source = (np.arange(IMAGE) + 0.5) * (CAMERA / IMAGE) - 0.5
    low = np.clip(np.floor(source).astype(int), 0, CAMERA - 1)
    high, weight = np.minimum(low + 1, CAMERA - 1), np.clip(source - low, 0, 1)
    blend = np.zeros((IMAGE, CAMERA))
    blend[np.arange(IMAGE), low] += 1 - weight
    blend[np.arange(IMAGE), high] += weight
    x = raw.transpose(0, 3, 1, 2).astype(np.float64)
    return np.ascontiguousarray(blend @ x @ blend.T / 255.0).astype(np.float32)
