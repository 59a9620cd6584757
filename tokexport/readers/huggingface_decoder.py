"""The ``decoder`` of a tokenizer.json: it must be the one that turns GPT-2's alphabet back into bytes."""

from __future__ import annotations

from typing import Final

from tokexport.readers.huggingface_parts import flat
from tokexport.readers.json_node import Node

BYTE_LEVEL_FIELDS: Final = frozenset(("type", "add_prefix_space", "trim_offsets", "use_regex"))
_SUPPORTED: Final = "a byte-level model is supported with the decoder ByteLevel, alone or in a Sequence before Fuse"


def check_byte_level(node: Node) -> None:
    """Check the fields of a ByteLevel part: as pre-tokenizer, decoder and post-processor it has the same ones."""
    node.object(BYTE_LEVEL_FIELDS)
    node.field("add_prefix_space").boolean()
    node.field("trim_offsets").boolean()
    use_regex = node.get("use_regex")
    if use_regex is not None:
        use_regex.boolean()


def check_decoder(root: Node, *, byte_level: bool = True) -> None:
    """Refuse a tokenizer.json whose decoder is not ByteLevel, or, where the model is not ``byte_level``, Fuse, which joins the spellings.

    ByteLevel joins everything to one text, which Fuse leaves as it is. Fuse *before* ByteLevel is another thing: the
    joined text would be taken as bytes only as a whole.
    """
    node = root.optional("decoder")
    if node is None:
        root_decoder = Node(root.file, "decoder", None)
        root_decoder.unsupported(_SUPPORTED)
    parts = flat(node, "decoders")
    if not parts:
        node.unsupported(_SUPPORTED)
    for number, part in enumerate(parts):
        name = part.field("type")
        if name.string() == "ByteLevel" and number == 0 and byte_level:
            check_byte_level(part)
        elif name.string() == "Fuse" and (number > 0 or not byte_level):
            part.object({"type"})
        else:
            name.unsupported(_SUPPORTED)
