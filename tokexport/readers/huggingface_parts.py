"""What the parts of a tokenizer.json have in common: a ``type``, and Sequences of parts, one in the other."""

from __future__ import annotations

from typing import Final

from tokexport.errors import SourceError
from tokexport.readers.json_node import Node

# How deep the reference's parser follows a document.
_DEEPEST: Final = 128


def flat(node: Node | None, member: str, depth: int = 0) -> list[Node]:
    """The parts at ``node`` in the order in which they run, Sequences opened; ``member`` names the array in a Sequence. Null has none.

    >>> flat(Node("x", "n", {"type": "Sequence", "normalizers": [{"type": "NFC"}]}), "normalizers")[0].path
    'n.normalizers[0]'
    """
    if node is None or node.is_null:
        return []
    if depth > _DEEPEST:
        raise SourceError(
            f"{node.file}: {node.path[:80]}... is nested too deeply; the reference follows {_DEEPEST} levels"
        )
    if node.field("type").string() != "Sequence":
        return [node]
    node.object({"type", member})
    return [part for inner in node.field(member).items() for part in flat(inner, member, depth + 1)]
