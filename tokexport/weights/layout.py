"""The layout of a weights file: a header, then the tensors in the order that it determines.

All numbers are little-endian. formats/weights/README.md documents the same in tables.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from construct import Const, Float32l, Int32ul, Int64ul, Struct

MAGIC: Final = b"TKXMODEL"
VERSION: Final = 1
ALIGNMENT: Final = 64  # of every tensor, in bytes: a cache line
QK_NORM: Final = 1
TIED: Final = 2
GROUP: Final = 64  # int8 weights that share a scale

HEADER: Final = Struct(
    "magic" / Const(MAGIC),
    "version" / Const(VERSION, Int32ul),
    "flags" / Int32ul * "1: queries and keys have a norm; 2: the classifier is the embedding",
    "vocabulary" / Int32ul * "rows of the embedding",
    "width" / Int32ul * "of the state between blocks",
    "hidden" / Int32ul * "width inside a feed-forward part",
    "layers" / Int32ul,
    "heads" / Int32ul * "of queries",
    "key_heads" / Int32ul * "of keys and values; `heads` is a multiple",
    "head_size" / Int32ul * "even",
    "context" / Int32ul * "positions that the model was made for",
    "group" / Int32ul * "0: float32; otherwise int8, and the number of weights with the same scale",
    "epsilon" / Float32l * "of the norms",
    "size" / Int64ul * "of the file, in bytes",
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The header's numbers."""

    vocabulary: int
    width: int
    hidden: int
    layers: int
    heads: int
    key_heads: int
    head_size: int
    context: int
    epsilon: float
    has_qk_norm: bool = False
    is_tied: bool = False
    group: int = 0


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of the file. ``source`` is its name in a checkpoint, None for the rotary
    frequencies; a vector has one row.
    """

    name: str
    source: str | None
    rows: int
    columns: int
    is_matrix: bool


def tensors(shape: Shape) -> Iterator[Tensor]:
    """All tensors, in the order of the file."""
    queries, keys = shape.heads * shape.head_size, shape.key_heads * shape.head_size
    width, hidden = shape.width, shape.hidden

    def vector(name: str, source: str | None, size: int) -> Tensor:
        return Tensor(name, source, 1, size, is_matrix=False)

    def matrix(name: str, source: str, rows: int, columns: int) -> Tensor:
        return Tensor(name, source, rows, columns, is_matrix=True)

    yield vector("rope_frequencies", None, shape.head_size // 2)
    yield matrix("embedding", "model.embed_tokens.weight", shape.vocabulary, width)
    for number in range(shape.layers):
        block, source = f"block {number}: ", f"model.layers.{number}."
        attention, feed = source + "self_attn.", source + "mlp."
        yield vector(block + "attention_norm", source + "input_layernorm.weight", width)
        yield matrix(block + "query", attention + "q_proj.weight", queries, width)
        yield matrix(block + "key", attention + "k_proj.weight", keys, width)
        yield matrix(block + "value", attention + "v_proj.weight", keys, width)
        if shape.has_qk_norm:
            yield vector(block + "query_norm", attention + "q_norm.weight", shape.head_size)
            yield vector(block + "key_norm", attention + "k_norm.weight", shape.head_size)
        yield matrix(block + "output", attention + "o_proj.weight", width, queries)
        yield vector(block + "feed_norm", source + "post_attention_layernorm.weight", width)
        yield matrix(block + "gate", feed + "gate_proj.weight", hidden, width)
        yield matrix(block + "up", feed + "up_proj.weight", hidden, width)
        yield matrix(block + "down", feed + "down_proj.weight", width, hidden)
    yield vector("final_norm", "model.norm.weight", width)
    if not shape.is_tied:
        yield matrix("classifier", "lm_head.weight", shape.vocabulary, width)


def aligned(size: int) -> int:
    """The next offset at which a tensor may begin.

    >>> aligned(65)
    128
    """
    return -(-size // ALIGNMENT) * ALIGNMENT


def header(shape: Shape, size: int) -> bytes:
    """The header of a file of this shape and size."""
    flags = QK_NORM * shape.has_qk_norm | TIED * shape.is_tied
    content: bytes = HEADER.build({**asdict(shape), "flags": flags, "size": size})
    return content
