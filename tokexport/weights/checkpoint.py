"""A Hugging Face checkpoint: config.json and safetensors, in one file or in several."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tokexport.errors import SourceError, UnsupportedError, needs, parse_problem
from tokexport.weights.layout import Shape

CONFIG: Final = "config.json"
_SINGLE: Final = "model.safetensors"
_INDEX: Final = "model.safetensors.index.json"
_STYLES: Final = ("llama", "qwen3")
# Settings that would change the numbers, and the values with which they do not.
_UNUSED: Final = {
    "attention_bias": (False, None),
    "mlp_bias": (False, None),
    "use_sliding_window": (False, None),
    "hidden_act": ("silu",),
}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The shape of a model, its rotary frequencies, and the file of each tensor."""

    folder: Path
    shape: Shape
    rope_frequencies: npt.NDArray[np.float32]
    files: Mapping[str, Path]

    def tensor(self, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
        """A tensor as float32. SourceError if it is missing or of another shape."""
        from safetensors import SafetensorError, safe_open

        path = self.files.get(name)
        if path is None:
            raise SourceError(f"{self.folder}: the checkpoint has no tensor {name}")
        try:
            with safe_open(path, "np") as file:
                found: npt.NDArray[Any] = file.get_tensor(name)
        except SafetensorError as error:
            raise SourceError(f"{path}: {name} cannot be read: {error}") from error
        if found.shape != shape:
            raise SourceError(
                f"{path}: {name} has the shape {[*found.shape]}, but {CONFIG} requires {[*shape]}"
            )
        values = found.astype(np.float32)
        if not np.isfinite(values).all():
            raise SourceError(f"{path}: {name} has a number that is not finite")
        return values


def read_checkpoint(folder: Path) -> Checkpoint:
    """Reads everything except the tensors.

    Raises UnsupportedError for a model of another style, SourceError for a broken checkpoint,
    MissingLibraryError without ``safetensors`` and ``ml_dtypes``.
    """
    with needs("model", "reading a checkpoint needs safetensors and ml_dtypes"):
        import ml_dtypes  # noqa: F401 -- gives numpy the type bfloat16
        import safetensors  # noqa: F401
    path = folder / CONFIG
    config = _json(path)
    try:
        _check_style(config)
        shape = _shape(config)
    except UnsupportedError as error:
        error.file = str(path)
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise SourceError(f"{path}: {error} is missing or wrong") from error
    return Checkpoint(folder, shape, rope_frequencies(config, shape.head_size), _files(folder))


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        hint = f"give the folder of a Hugging Face checkpoint, with {CONFIG} and {_SINGLE}"
        raise SourceError(f"cannot be read: {error.strerror}", hint, name=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path}: it is not JSON: {parse_problem(error)}") from error
    if not isinstance(value, dict):
        raise SourceError(f"{path}: it is not a JSON object")
    return value


def _check_style(config: Mapping[str, Any]) -> None:
    style = config.get("model_type")
    if style not in _STYLES:
        problem = f"a model of the type {style!r} is not supported"
        raise UnsupportedError("model_type", problem, f"use {' or '.join(_STYLES)}")
    for name, values in _UNUSED.items():
        if name in config and config[name] not in values:
            problem = f"a model with {name} {config[name]!r} is not supported"
            raise UnsupportedError(name, problem, f"only {values[0]!r} is supported")


def _shape(config: Mapping[str, Any]) -> Shape:
    heads, width = int(config["num_attention_heads"]), int(config["hidden_size"])
    shape = Shape(
        vocabulary=int(config["vocab_size"]),
        width=width,
        hidden=int(config["intermediate_size"]),
        layers=int(config["num_hidden_layers"]),
        heads=heads,
        key_heads=int(config.get("num_key_value_heads") or heads),
        head_size=int(config.get("head_dim") or width // heads),
        context=int(config["max_position_embeddings"]),
        epsilon=float(config["rms_norm_eps"]),
        has_qk_norm=config["model_type"] == "qwen3",
        is_tied=bool(config.get("tie_word_embeddings")),
    )
    if shape.head_size % 2 or shape.heads % shape.key_heads:
        raise ValueError("an even head_dim, and a number of heads that key heads divide,")
    return shape


def rope_frequencies(config: Mapping[str, Any], head_size: int) -> npt.NDArray[np.float32]:
    """Radians per position for each pair of a head: theta ** (-2 * i / head_size), scaled as
    configured ("linear", or "llama3" as in Llama 3.1). UnsupportedError for other scalings.

    >>> rope_frequencies({"rope_theta": 10000.0}, 4).tolist()
    [1.0, 0.009999999776482582]
    """
    # transformers 5 puts all of it into rope_parameters.
    scaling = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = float(scaling.get("rope_theta") or config.get("rope_theta") or 10000.0)
    plain = 1 / theta ** (np.arange(0, head_size, 2, dtype=np.float64) / head_size)
    match kind := scaling.get("rope_type") or scaling.get("type") or "default":
        case "default":
            found = plain
        case "linear":
            found = plain / float(scaling["factor"])
        case "llama3":
            found = _llama3(plain, scaling)
        case _:
            raise UnsupportedError(
                "rope_scaling.rope_type",
                f"the scaling {kind!r} is not supported",
                "use default, linear or llama3, whose frequencies do not depend on the text",
            )
    return found.astype(np.float32)


def _llama3(plain: npt.NDArray[np.float64], scaling: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    """Slows down long waves by a factor, keeps short ones, and blends those in between."""
    old = float(scaling["original_max_position_embeddings"])
    low, high = float(scaling["low_freq_factor"]), float(scaling["high_freq_factor"])
    turns = old * plain / (2 * math.pi)  # in the old context
    share = np.clip((turns - low) / (high - low), 0, 1)
    return (1 - share) * plain / float(scaling["factor"]) + share * plain


def _files(folder: Path) -> dict[str, Path]:
    from safetensors import SafetensorError, safe_open

    index = folder / _INDEX
    if index.exists():
        names = _json(index).get("weight_map")
        if not isinstance(names, dict):
            raise SourceError(f"{index}: it has no weight_map")
        # Only the file name counts: never a path out of the folder.
        return {name: folder / Path(str(file)).name for name, file in names.items()}
    path = folder / _SINGLE
    if not path.exists():
        raise SourceError(f"{folder}: neither {_SINGLE} nor {_INDEX} is there")
    try:
        with safe_open(path, "np") as file:
            return dict.fromkeys(file.keys(), path)
    except SafetensorError as error:
        raise SourceError(f"{path}: it is not a safetensors file: {error}") from error
