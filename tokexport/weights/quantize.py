"""int8 weights: groups of neighbours in a row share a scale; the largest magnitude becomes 127."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def quantized(values: Floats, group: int) -> tuple[npt.NDArray[np.int8], Floats, Floats]:
    """Symmetric quantization of a matrix whose rows are multiples of ``group``: codes, which times
    the scales of their groups approximate the weights; the scales; the absolute error of each
    weight.

    >>> quantized(np.array([[127.0, -63.6]], np.float32), 2)[0].tolist()
    [[127, -64]]
    """
    groups = values.reshape(-1, group)
    scales = np.abs(groups).max(axis=1, keepdims=True) / np.float32(127)
    codes = np.rint(groups / np.where(scales > 0, scales, 1)).astype(np.int8)
    errors = np.abs(codes * scales - groups)
    return codes.reshape(values.shape), scales.ravel(), errors
