"""The BPE ``model`` of a tokenizer.json."""

from __future__ import annotations

from typing import Final

from tokexport.model import BytePairModel, CharacterSymbols
from tokexport.sources.byte_pair import build, read_vocab
from tokexport.sources.json_node import Node
from tokexport.unicode.byte_alphabet import BYTES_OF_TEXT

_FIELDS: Final = (
    "type dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback"
    " ignore_merges vocab merges"
)


def read_byte_pair(node: Node) -> tuple[BytePairModel, dict[str, int]]:
    """The BPE at ``node``, and its vocabulary. SourceError where the reference refuses it."""
    node.object(_FIELDS.split())
    dropout = node.optional("dropout")
    if dropout is not None and (isinstance(dropout.value, bool) or dropout.value not in (0, 0.0)):
        dropout.unsupported("use null or 0.0: with dropout ids depend on chance")
    vocab = read_vocab(node.field("vocab"))
    characters = _characters(node, vocab)
    unk_token = node.optional("unk_token")
    unk_id = None if unk_token is None else vocab.get(unk_token.string())
    is_missing = unk_token is not None and unk_id is None
    model = build(
        node.field("merges"),
        vocab,
        whole_pre_token_first=_flag(node, "ignore_merges"),
        unk_id=unk_id,
        unknown_stops=is_missing and _lacks_symbols(characters),
        fuse_unk=_flag(node, "fuse_unk"),
        characters=characters,
    )
    return model, vocab


def _characters(node: Node, vocab: dict[str, int]) -> CharacterSymbols:
    """How the first symbols are spelled."""
    prefix, suffix = (
        b"" if affix is None else affix.string().encode()
        for affix in map(node.optional, ("continuing_subword_prefix", "end_of_word_suffix"))
    )
    byte_ids = tuple(vocab.get(f"<0x{byte:02X}>") for byte in range(256))
    if not _flag(node, "byte_fallback") or byte_ids == (None,) * 256:
        return CharacterSymbols(prefix, suffix)
    if prefix or suffix:
        node.field("byte_fallback").unsupported(
            "use false with an affix, which the reference would spell in bytes too, with offsets"
            " after the end of the text"
        )
    return CharacterSymbols(byte_ids=byte_ids)


def _flag(node: Node, name: str) -> bool:
    flag = node.optional(name)
    return flag is not None and flag.boolean()


def _lacks_symbols(characters: CharacterSymbols) -> bool:
    """Whether a text may contain an unknown symbol."""
    ids = characters.byte_ids
    return ids is None or any(ids[byte] is None for byte in BYTES_OF_TEXT)
