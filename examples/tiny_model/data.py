"""Batches of ids, from the shards that `tokexport tokenize` writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor


def read_ids(folder: Path, vocabulary: int) -> npt.NDArray[np.unsignedinteger]:
    """All ids of a folder of shards; mapped if there is one shard."""
    kind = np.uint16 if vocabulary <= 1 << 16 else np.uint32
    shards = [np.memmap(path, kind, "r") for path in sorted(folder.glob("shard-*.bin"))]
    return shards[0] if len(shards) == 1 else np.concatenate(shards)


def batch(
    ids: npt.NDArray[np.unsignedinteger], size: int, positions: int, rng: np.random.Generator
) -> tuple[Tensor, Tensor]:
    """Random parts of the text, and the next id for each position; both are (size, positions)."""
    begins = rng.integers(0, len(ids) - positions, size)
    parts = np.stack([ids[begin : begin + positions + 1] for begin in begins]).astype(np.int64)
    return torch.from_numpy(parts[:, :-1].copy()), torch.from_numpy(parts[:, 1:].copy())
