"""The Unigram ``model`` of a tokenizer.json."""

from __future__ import annotations

from typing import Final

from tokexport.model import UnigramModel
from tokexport.sources.json_node import Node
from tokexport.sources.serde_number import serde_number

_FIELDS: Final = frozenset(("type", "unk_id", "vocab", "byte_fallback"))
_UNKNOWN_PENALTY: Final = 10.0  # below the lowest score, as in the reference
_BYTE: Final = "<0x{:02X}>"


def read_unigram(node: Node) -> tuple[UnigramModel, list[str]]:
    """The Unigram model at ``node``, and its pieces by id.

    A piece that is listed twice has its last id and score; the other id is never emitted.
    Raises SourceError for a model that the reference refuses to load.
    """
    node.object(_FIELDS)
    entries = _entries(node.field("vocab"))
    pieces = [piece for piece, _ in entries]
    last = {piece: number for number, piece in enumerate(pieces)}
    unk_id = node.optional("unk_id")
    if unk_id is not None and unk_id.u32() >= len(pieces):
        unk_id.fail(f"the index of one of the {len(pieces)} pieces")
    fallback = node.get("byte_fallback")
    falls_back = fallback is not None and fallback.boolean()
    return UnigramModel(
        vocab={piece.encode(): number for piece, number in last.items() if piece},
        scores={number: entries[number][1] for number in last.values()},
        unk_id=None if unk_id is None else unk_id.u32(),
        unk_score=min((score for _, score in entries), default=0.0) - _UNKNOWN_PENALTY,
        byte_ids=tuple(last.get(_BYTE.format(byte)) for byte in range(256)) if falls_back else None,
    ), pieces


def _entries(node: Node) -> list[tuple[str, float]]:
    if not isinstance(node.value, list):
        node.fail("an array")
    entries = []
    for number, value in enumerate(node.value):
        match value:
            case [str() as piece, float() as score]:
                entries.append((piece, score))
            case [str() as piece, int() as score] if not isinstance(score, bool):
                # Python parses a number without a fraction as an integer.
                entries.append((piece, serde_number(str(score))))
            case _:
                entry = Node(node.file, f"{node.path}[{number}]", value)
                entry.fail("a pair of a string and a number")
    return entries
