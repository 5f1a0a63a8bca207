"""The block_pick policy: an action chunking transformer with an encoder of the action style that only training uses."""
import torch
import torch.nn.functional as F
from torch import nn

from scene import CHUNK, HISTORY

WIDTH, HEADS, HIDDEN, LATENT = 64, 4, 160, 8
Q_MEAN, Q_STD = (-0.4, 1.4, 0.0), (0.6, 0.5, 0.9)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, query, key, value):
        def heads(x):
            return x.reshape(x.shape[0], x.shape[1], HEADS, WIDTH // HEADS).transpose(1, 2)
        q, k, v = heads(self.q(query)), heads(self.k(key)), heads(self.v(value))
        weights = torch.softmax(torch.matmul(q, k.transpose(2, 3)) * (WIDTH // HEADS) ** -0.5, -1)
        mixed = torch.matmul(weights, v).transpose(1, 2).reshape(query.shape[0], query.shape[1], WIDTH)
        return self.out(mixed)


class Layer(nn.Module):
    """A transformer layer; with `cross`, one that also attends to a memory."""

    def __init__(self, cross=False):
        super().__init__()
        self.own, self.norm_own = Attention(), nn.LayerNorm(WIDTH)
        self.cross, self.norm_cross = (Attention(), nn.LayerNorm(WIDTH)) if cross else (None, None)
        self.up, self.down, self.norm = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x, position, memory=None, memory_position=None):
        x = self.norm_own(x + self.own(x + position, x + position, x))
        if self.cross is not None:
            x = self.norm_cross(x + self.cross(x + position, memory + memory_position, memory))
        return self.norm(x + self.down(F.relu(self.up(x))))


class Camera(nn.Module):
    """64 x 64 pixels to 16 tokens."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(ci, co, k, 2, k // 2)
                                   for ci, co, k in ((3, 16, 5), (16, 32, 3), (32, 64, 3), (64, WIDTH, 3)))

    def forward(self, image):
        x = image * 2.0 - 1.0
        for conv in self.convs:
            x = F.relu(conv(x))
        return x.flatten(2).transpose(1, 2)


class StyleEncoder(nn.Module):
    """Sees the action chunk that is to be imitated; training only."""

    def __init__(self):
        super().__init__()
        self.embed, self.layer = nn.Linear(4, WIDTH), Layer()
        self.position = nn.Parameter(0.02 * torch.randn(1, CHUNK, WIDTH))
        self.head = nn.Linear(WIDTH, 2 * LATENT)

    def forward(self, actions):
        x = self.layer(self.embed(actions), self.position)
        return self.head(x.mean(1)).chunk(2, -1)


class Policy(nn.Module):
    """front, wrist (1,3,64,64) in [0,1] and qpos (1,4,3) rad, oldest first, to action (1,20,4).

    Columns of action: shoulder, elbow, wrist normalised by Q_MEAN and Q_STD, gripper score in [0,1].
    """

    def __init__(self):
        super().__init__()
        self.front, self.wrist = Camera(), Camera()
        self.joints, self.latent = nn.Linear(3, WIDTH), nn.Linear(LATENT, WIDTH)
        self.position = nn.Parameter(0.02 * torch.randn(1, 32 + HISTORY + 1, WIDTH))
        self.encoder = nn.ModuleList(Layer() for _ in range(2))
        self.queries = nn.Parameter(0.02 * torch.randn(1, CHUNK, WIDTH))
        self.decoder = nn.ModuleList(Layer(cross=True) for _ in range(2))
        self.head = nn.Linear(WIDTH, 4)
        self.style = StyleEncoder()
        self.register_buffer("q_mean", torch.tensor(Q_MEAN))
        self.register_buffer("q_std", torch.tensor(Q_STD))
        self.register_buffer("no_style", torch.zeros(1, LATENT))

    def act(self, front, wrist, qpos, latent):
        n = front.shape[0]
        q = (qpos - self.q_mean) / self.q_std
        tokens = torch.cat([self.front(front), self.wrist(wrist), self.joints(q), self.latent(latent)[:, None]], 1)
        for layer in self.encoder:
            tokens = layer(tokens, self.position)
        x = torch.zeros_like(self.queries).expand(n, -1, -1)
        for layer in self.decoder:
            x = layer(x, self.queries, tokens, self.position)
        raw = self.head(x)
        joints = raw[..., :3] + q[:, -1:]
        return torch.cat([joints, torch.sigmoid(raw[..., 3:])], -1)

    def forward(self, front, wrist, qpos):
        return self.act(front, wrist, qpos, self.no_style)
