"""The parts of a Llama-style language model, each written out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    """The sizes of a model; ``head_size`` times ``heads`` need not be ``width``."""

    vocabulary: int
    width: int = 128
    hidden: int = 384
    layers: int = 4
    heads: int = 4
    key_heads: int = 2
    head_size: int = 32
    context: int = 256
    epsilon: float = 1e-5
    rope_theta: float = 10000.0


class Linear(nn.Module):
    """x @ weight.T, without a bias."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        deviation = math.sqrt(2 / (inputs + outputs))
        weight = nn.init.trunc_normal_(torch.empty(outputs, inputs), 0, 1, -3, 3)
        self.weight = nn.Parameter(weight * deviation)

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., inputs). Returns (..., outputs)."""
        return x @ self.weight.T


class Embedding(nn.Module):
    """A row for each id."""

    def __init__(self, count: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.trunc_normal_(torch.empty(count, width), 0, 1, -3, 3))

    def forward(self, ids: Tensor) -> Tensor:
        """ids: (...), integers. Returns (..., width)."""
        return self.weight[ids]


class RMSNorm(nn.Module):
    """x over its root mean square, times a weight (Zhang and Sennrich, 2019)."""

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., width). Returns the same shape."""
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * self.weight


def silu(x: Tensor) -> Tensor:
    """x times its sigmoid."""
    return x * torch.sigmoid(x)


class SwiGLU(nn.Module):
    """down(silu(gate(x)) * up(x)) (Shazeer, 2020)."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate_proj = Linear(width, hidden)
        self.up_proj = Linear(width, hidden)
        self.down_proj = Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., width). Returns the same shape."""
        down: Tensor = self.down_proj(silu(self.gate_proj(x)) * self.up_proj(x))
        return down


def rotary(x: Tensor, theta: float) -> Tensor:
    """Rotary positions (Su et al., 2021) of x: (..., positions, head size).

    Pair (i, i + half) of a head is rotated by position * theta ** (-i / half) radians.
    """
    half = x.shape[-1] // 2
    frequencies = theta ** (-torch.arange(half, dtype=torch.float32) / half)
    angles = torch.arange(x.shape[-2], dtype=torch.float32)[:, None] * frequencies
    cosine, sine = angles.cos(), angles.sin()
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


def softmax(x: Tensor) -> Tensor:
    """exp(x) over its sum, along the last axis; the maximum is subtracted first."""
    powers = (x - x.amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True)


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Scaled dot-product attention.

    query: (..., positions, size); key, value: (..., others, size); mask: (positions, others), true
    where a position may attend to another.
    """
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    return softmax(scores.masked_fill(~mask, -torch.inf)) @ value


class Attention(nn.Module):
    """Causal attention with several heads, some of which share their keys and values."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.q_proj = Linear(config.width, config.heads * config.head_size)
        self.k_proj = Linear(config.width, config.key_heads * config.head_size)
        self.v_proj = Linear(config.width, config.key_heads * config.head_size)
        self.o_proj = Linear(config.heads * config.head_size, config.width)

    def forward(self, x: Tensor) -> Tensor:
        """x: (batch, positions, width). Returns the same shape."""
        config, positions = self.config, x.shape[-2]
        query, key, value = (
            part(x).unflatten(-1, (-1, config.head_size)).transpose(-2, -3)
            for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        query, key = rotary(query, config.rope_theta), rotary(key, config.rope_theta)
        shared = config.heads // config.key_heads
        key, value = (part.repeat_interleave(shared, dim=-3) for part in (key, value))
        mask = torch.ones(positions, positions, dtype=torch.bool).tril()
        mixed = attention(query, key, value, mask).transpose(-2, -3).flatten(-2)
        out: Tensor = self.o_proj(mixed)
        return out


class Block(nn.Module):
    """Attention, then the feed-forward part, each applied after a norm and added to its input."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.width, config.epsilon)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config.width, config.epsilon)
        self.mlp = SwiGLU(config.width, config.hidden)

    def forward(self, x: Tensor) -> Tensor:
        """x: (batch, positions, width). Returns the same shape."""
        x = x + self.self_attn(self.input_layernorm(x))
        out: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


class Decoder(nn.Module):
    """The embedding, the blocks and the last norm."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embed_tokens = Embedding(config.vocabulary, config.width)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.width, config.epsilon)

    def forward(self, ids: Tensor) -> Tensor:
        """ids: (batch, positions). Returns (batch, positions, width)."""
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x)
        out: Tensor = self.norm(x)
        return out


class LanguageModel(nn.Module):
    """Logits of the next id at each position. The tensors are named as in Llama."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.model = Decoder(config)
        self.lm_head = Linear(config.width, config.vocabulary)

    def forward(self, ids: Tensor) -> Tensor:
        """ids: (batch, positions). Returns (batch, positions, vocabulary)."""
        logits: Tensor = self.lm_head(self.model(ids))
        return logits
