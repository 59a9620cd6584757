"""int8 weights: groups of neighbours in a row share a scale; the largest magnitude becomes 127."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Quantized:
    """``codes`` (int8) times the ``scales`` (float32) of their groups approximate the weights."""

    codes: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]
    errors: npt.NDArray[np.float32]  # of each weight, absolute


def quantized(values: npt.NDArray[np.float32], group: int) -> Quantized:
    """Symmetric quantization of a matrix whose rows are multiples of ``group``.

    >>> quantized(np.array([[127.0, -63.6]], np.float32), 2).codes.tolist()
    [[127, -64]]
    """
    groups = values.reshape(-1, group)
    scales = np.abs(groups).max(axis=1, keepdims=True) / np.float32(127)
    codes = np.rint(groups / np.where(scales > 0, scales, 1)).astype(np.int8)
    errors = np.abs(codes * scales - groups)
    return Quantized(codes.reshape(values.shape), scales.ravel(), errors)
