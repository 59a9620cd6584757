"""The BPE ``model`` of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokexport.errors import SourceError
from tokexport.model import BytePairModel
from tokexport.readers.byte_pair import Merge, build, lacks_bytes, read_vocab, split_merge
from tokexport.readers.json_node import Node, show

_FIELDS: Final = frozenset(
    (
        "type",
        "dropout",
        "unk_token",
        "continuing_subword_prefix",
        "end_of_word_suffix",
        "fuse_unk",
        "byte_fallback",
        "ignore_merges",
        "vocab",
        "merges",
    )
)
_PLACE: Final = "model.merges[{}]"


def read_byte_pair(node: Node, *, byte_level: bool) -> tuple[BytePairModel, dict[str, int]]:
    """The BPE at ``node``, and its vocabulary as the source spells it.

    ``byte_level``: the model sees GPT-2's alphabet. Raises UnsupportedError where it does not, SourceError for a model that the
    reference refuses to load.
    """
    if not byte_level:
        node.unsupported("byte-level BPE is supported, which has ByteLevel in its pre_tokenizer")
    node.object(_FIELDS)
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        affix = node.optional(name)
        if affix is not None and affix.string():
            affix.unsupported("byte-level BPE has none: null or an empty string")
    dropout = node.optional("dropout")
    if dropout is not None and (isinstance(dropout.value, bool) or dropout.value not in (0, 0.0)):
        dropout.unsupported("ids must not depend on chance: null or 0.0")

    vocab = read_vocab(node.field("vocab"))
    if _flag(node, "byte_fallback") and lacks_bytes(vocab):
        node.field("byte_fallback").unsupported(
            "a model that lacks bytes and falls back to tokens like <0x0A> is no byte-level BPE"
        )
    unk_id = _unknown(node, vocab)
    model = build(
        node.file,
        vocab,
        _merges(node.field("merges")),
        _PLACE,
        whole_piece_first=_flag(node, "ignore_merges"),
        unk_id=unk_id,
        fuse_unk=_flag(node, "fuse_unk"),
    )
    return model, vocab


def _flag(node: Node, name: str) -> bool:
    flag = node.optional(name)
    return flag is not None and flag.boolean()


def _unknown(node: Node, vocab: dict[str, int]) -> int | None:
    token = node.optional("unk_token")
    if token is None:
        return None
    unk_id = vocab.get(token.string())
    if unk_id is None and lacks_bytes(vocab):
        raise SourceError(
            f"{node.file}: {token.path} {show(token.value)} is not in the vocabulary, which lacks bytes: the reference "
            "stops at the first of them"
        )
    return unk_id


def _merges(node: Node) -> Iterator[Merge]:
    """Merges as pairs, or as strings with a space in them; all of them the one or all of them the other."""
    values = node.value
    if not isinstance(values, list):
        node.fail("an array of merges")
    if all(isinstance(value, str) for value in values):
        # Lines of a merges.txt: its first line may have come along, and takes no rank.
        for number, line in enumerate(values):
            if not line.startswith("#version"):
                yield split_merge(line, number, node.file, _PLACE)
        return
    for number, value in enumerate(values):
        if not (
            isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], str)
        ):
            Node(node.file, f"{node.path}[{number}]", value).fail("a pair of strings, as every merge here or none")
        yield Merge(value[0], value[1], number)
