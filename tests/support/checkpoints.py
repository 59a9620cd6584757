"""Small checkpoints with random weights, and a plain implementation of their model."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def config(style: str = "llama", **changes: Any) -> dict[str, Any]:
    """A config.json of a small model."""
    return {
        "model_type": style,
        "vocab_size": 300,
        "hidden_size": 128,
        "intermediate_size": 192,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "max_position_embeddings": 256,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "hidden_act": "silu",
        **changes,
    }


def random_tensors(settings: dict[str, Any], seed: int) -> dict[str, npt.NDArray[np.float32]]:
    """The tensors of a model, by their names in a checkpoint."""
    rng = np.random.default_rng(seed)
    width, hidden, size = (
        settings[name] for name in ("hidden_size", "intermediate_size", "head_dim")
    )
    queries, keys = (
        settings[name] * size for name in ("num_attention_heads", "num_key_value_heads")
    )
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (settings["vocab_size"], width),
        "model.norm.weight": (width,),
    }
    for layer in range(settings["num_hidden_layers"]):
        parts = {
            "input_layernorm": (width,),
            "post_attention_layernorm": (width,),
            "self_attn.q_proj": (queries, width),
            "self_attn.k_proj": (keys, width),
            "self_attn.v_proj": (keys, width),
            "self_attn.o_proj": (width, queries),
            "mlp.gate_proj": (hidden, width),
            "mlp.up_proj": (hidden, width),
            "mlp.down_proj": (width, hidden),
        }
        if settings["model_type"] == "qwen3":
            parts |= {"self_attn.q_norm": (size,), "self_attn.k_norm": (size,)}
        shapes |= {f"model.layers.{layer}.{name}.weight": shape for name, shape in parts.items()}
    if not settings["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (settings["vocab_size"], width)
    return {
        name: rng.normal(1 if len(shape) == 1 else 0, 0.1, shape).astype(np.float32)
        for name, shape in shapes.items()
    }


def write_checkpoint(
    folder: Path, settings: dict[str, Any], tensors: dict[str, npt.NDArray[Any]]
) -> Path:
    """A folder with config.json and model.safetensors."""
    from safetensors.numpy import save_file

    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings))
    save_file(tensors, folder / "model.safetensors")
    return folder


@dataclass(frozen=True)
class Reference:
    """A transformer over a whole sequence at once, in float64.

    ``group``: matrices and the vectors multiplied by them are rounded to int8 in groups, as with an
    int8 weights file.
    """

    settings: dict[str, Any]
    tensors: dict[str, npt.NDArray[np.float32]]
    frequencies: npt.NDArray[np.float32]
    group: int = 0

    def logits(self, ids: Sequence[int]) -> Array:
        """The logits after each id."""
        names = ("num_attention_heads", "num_key_value_heads", "head_dim")
        heads, key_heads, size = (self.settings[name] for name in names)
        x = self._rounded(self._tensor("model.embed_tokens"))[[*ids]]
        future = np.triu(np.full((len(ids), len(ids)), -np.inf), 1)
        for layer in range(self.settings["num_hidden_layers"]):
            block = f"model.layers.{layer}"
            attention = f"{block}.self_attn"
            normed = self._norm(x, f"{block}.input_layernorm")
            q, k, v = (
                self._times(normed, f"{attention}.{name}_proj").reshape(len(ids), -1, size)
                for name in "qkv"
            )
            if self.settings["model_type"] == "qwen3":
                q, k = self._norm(q, f"{attention}.q_norm"), self._norm(k, f"{attention}.k_norm")
            q, k = self._rotated(q), self._rotated(k)
            k, v = (np.repeat(part, heads // key_heads, axis=1) for part in (k, v))
            scores = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(size) + future
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            mixed = np.einsum("hij,jhd->ihd", weights, v).reshape(len(ids), -1)
            x = x + self._times(mixed, f"{attention}.o_proj")
            normed = self._norm(x, f"{block}.post_attention_layernorm")
            gate = self._times(normed, f"{block}.mlp.gate_proj")
            up = self._times(normed, f"{block}.mlp.up_proj")
            x = x + self._times(gate / (1 + np.exp(-gate)) * up, f"{block}.mlp.down_proj")
        tied = self.settings["tie_word_embeddings"]
        last = "model.embed_tokens" if tied else "lm_head"
        return self._times(self._norm(x, "model.norm"), last)

    def _tensor(self, name: str) -> Array:
        return self.tensors[f"{name}.weight"].astype(np.float64)

    def _norm(self, x: Array, name: str) -> Array:
        mean = (x * x).mean(axis=-1, keepdims=True)
        scaled: Array = x / np.sqrt(mean + self.settings["rms_norm_eps"]) * self._tensor(name)
        return scaled

    def _times(self, x: Array, name: str) -> Array:
        product: Array = self._rounded(x) @ self._rounded(self._tensor(name)).T
        return product

    def _rounded(self, values: Array) -> Array:
        if not self.group:
            return values
        groups = values.reshape(-1, self.group)
        scales = np.abs(groups).max(axis=1, keepdims=True) / 127
        codes = np.rint(groups / np.where(scales > 0, scales, 1))
        rounded: Array = (codes * scales).reshape(values.shape)
        return rounded

    def _rotated(self, x: Array) -> Array:
        """x: positions, heads, size. The first half of a head rotates with the second."""
        angles = np.arange(len(x))[:, None] * self.frequencies.astype(np.float64)
        cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
        first, second = np.split(x, 2, axis=-1)
        parts = [first * cosine - second * sine, second * cosine + first * sine]
        return np.concatenate(parts, axis=-1)
