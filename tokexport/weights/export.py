"""Writes the weights file of a checkpoint, one tensor at a time."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from tokexport.errors import UnsupportedError
from tokexport.output import resolve, writing
from tokexport.weights.checkpoint import Checkpoint, read_checkpoint
from tokexport.weights.layout import GROUP, HEADER, Shape, Tensor, aligned, header, tensors

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: bytes, parameters, and absolute errors of int8 weights (0 for float32)."""

    target: Path
    size: int
    shape: Shape
    parameters: int
    largest_error: float
    mean_error: float


def export(
    checkpoint: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    dtype: Literal["float32", "int8"] = "float32",
    force: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Exported:
    """Writes the weights file of the Hugging Face checkpoint in a folder.

    ``progress`` is called with the current step, the number of finished tensors, and their total.
    Raises UnsupportedError for a model of a style other than Llama's and Qwen3's, or whose rows do
    not divide into groups; SourceError for a broken checkpoint; MissingLibraryError without
    ``tokexport[model]``; TokexportError for a target that exists (unless ``force``).
    """
    read = read_checkpoint(Path(checkpoint))
    path = resolve(target, force=force)
    shape = replace(read.shape, group=GROUP if dtype == "int8" else 0)
    _check_groups(shape)
    every = list(tensors(shape))
    largest, total, count = 0.0, 0.0, 0  # of the errors of all quantized weights
    with writing(path, force=force) as file:
        size = file.write(bytes(HEADER.sizeof()))
        for number, tensor in enumerate(every):
            if progress is not None:
                progress("writing tensors", number, len(every))
            parts, errors = _stored(read, tensor, shape.group)
            for data in parts:
                size += file.write(bytes(aligned(size) - size))
                size += file.write(data)
            largest = max(largest, float(errors.max(initial=0)))
            total += float(errors.sum(dtype=np.float64))
            count += errors.size
        file.seek(0)
        file.write(header(shape, size))
    return Exported(
        target=Path(target),
        size=size,
        shape=shape,
        parameters=sum(tensor.rows * tensor.columns for tensor in every if tensor.source),
        largest_error=largest,
        mean_error=total / count if count else 0.0,
    )


def _check_groups(shape: Shape) -> None:
    rows = (shape.width, shape.hidden, shape.heads * shape.head_size)
    if shape.group and any(row % shape.group for row in rows):
        raise UnsupportedError(
            "config.json",
            f"int8 with rows of {', '.join(map(str, rows))} is not supported",
            f"rows must be multiples of {shape.group}; use float32",
        )


def quantized(values: Floats, group: int) -> tuple[npt.NDArray[np.int8], Floats, Floats]:
    """Symmetric quantization to int8 of a matrix whose rows are multiples of ``group``, neighbours
    that share a scale, with which the largest magnitude becomes 127: codes, which times the scales
    of their groups approximate the weights; the scales; the absolute error of each weight.

    >>> quantized(np.array([[127.0, -63.6]], np.float32), 2)[0].tolist()
    [[127, -64]]
    """
    groups = values.reshape(-1, group)
    scales = np.abs(groups).max(axis=1, keepdims=True) / np.float32(127)
    codes = np.rint(groups / np.where(scales > 0, scales, 1)).astype(np.int8)
    errors = np.abs(codes * scales - groups)
    return codes.reshape(values.shape), scales.ravel(), errors


def _stored(checkpoint: Checkpoint, tensor: Tensor, group: int) -> tuple[list[memoryview], Floats]:
    """The parts of a tensor as stored in the file, and the errors of its weights, if any."""
    if tensor.source is None:
        values = checkpoint.rope_frequencies
    else:
        shape = (tensor.rows, tensor.columns) if tensor.is_matrix else (tensor.columns,)
        values = checkpoint.tensor(tensor.source, shape)
    if not tensor.is_matrix or not group:
        return [np.ascontiguousarray(values, "<f4").data], np.empty(0, np.float32)
    codes, scales, errors = quantized(values, group)
    return [codes.data, np.ascontiguousarray(scales, "<f4").data], errors
