"""What the parts of a tokenizer.json have in common: a ``type``, and nested Sequences."""

from __future__ import annotations

from typing import Final

from tokexport.errors import SourceError
from tokexport.sources.json_node import Node

# How deep the reference's parser follows a document.
_DEEPEST: Final = 128
PROCESSORS: Final = "processors"
TEMPLATE_FIELDS: Final = ("single", "pair", "special_tokens")


def processor_type(node: Node) -> str:
    """The kind of a post-processor: its fields decide in the reference, not its ``type``.

    >>> processor_type(Node("x", "p", {"type": "Sequence", "sep": ["s", 1], "cls": ["c", 2]}))
    'BertProcessing'
    """
    fields = node.object()
    trims = all(isinstance(fields.get(flag), bool) for flag in ("trim_offsets", "add_prefix_space"))
    if _is_token(fields.get("sep")) and _is_token(fields.get("cls")):
        return "RobertaProcessing" if trims else "BertProcessing"
    kind = node.field("type").string()
    if fields.keys() >= set(TEMPLATE_FIELDS) and not (kind == "ByteLevel" and trims):
        return "TemplateProcessing"
    return kind


def _is_token(value: object) -> bool:
    match value:
        case [str(), int(number)] if not isinstance(number, bool):
            return 0 <= number < 1 << 32
    return False


def flat(node: Node | None, member: str, depth: int = 0) -> list[Node]:
    """The parts at ``node`` in the order in which they run; null has none. ``member`` is the name
    of the array in a Sequence.

    >>> node = Node("x", "n", {"type": "Sequence", "normalizers": [{"type": "NFC"}]})
    >>> flat(node, "normalizers")[0].path
    'n.normalizers[0]'
    """
    if node is None or node.is_null:
        return []
    if depth > _DEEPEST:
        raise SourceError(
            f"{node.file}: {node.path[:80]}... is nested too deeply; the reference follows"
            f" {_DEEPEST} levels"
        )
    kind = processor_type(node) if member == PROCESSORS else node.field("type").string()
    if kind != "Sequence":
        return [node]
    node.object({"type", member})
    return [part for inner in node.field(member).items() for part in flat(inner, member, depth + 1)]
