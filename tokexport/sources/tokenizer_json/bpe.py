"""The BPE ``model`` of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokexport.model import BytePairModel, CharacterSymbols
from tokexport.sources.byte_pair import Merge, build, read_vocab, split_merge
from tokexport.sources.json_node import Node
from tokexport.unicode.byte_alphabet import BYTES_OF_TEXT

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


def read_byte_pair(node: Node) -> tuple[BytePairModel, dict[str, int]]:
    """The BPE at ``node``, and its vocabulary as the source spells it.

    Raises UnsupportedError for what cannot be exact, SourceError for a model that the reference
    refuses to load.
    """
    node.object(_FIELDS)
    dropout = node.optional("dropout")
    if dropout is not None and (isinstance(dropout.value, bool) or dropout.value not in (0, 0.0)):
        dropout.unsupported("ids must not depend on chance: null or 0.0")
    vocab = read_vocab(node.field("vocab"))
    characters = _characters(node, vocab)
    unk_token = node.optional("unk_token")
    unk_id = None if unk_token is None else vocab.get(unk_token.string())
    model = build(
        node.file,
        vocab,
        _merges(node.field("merges")),
        _PLACE,
        whole_pre_token_first=_flag(node, "ignore_merges"),
        unk_id=unk_id,
        unknown_stops=unk_token is not None and unk_id is None and _lacks_symbols(characters),
        fuse_unk=_flag(node, "fuse_unk"),
        characters=characters,
    )
    return model, vocab


def _characters(node: Node, vocab: dict[str, int]) -> CharacterSymbols:
    """What the first symbols are, wherever they stand."""
    prefix, suffix = (
        b"" if affix is None else affix.string().encode()
        for affix in map(node.optional, ("continuing_subword_prefix", "end_of_word_suffix"))
    )
    byte_ids = tuple(vocab.get(f"<0x{byte:02X}>") for byte in range(256))
    if not _flag(node, "byte_fallback") or byte_ids == (None,) * 256:
        return CharacterSymbols(prefix, suffix)
    if prefix or suffix:
        node.field("byte_fallback").unsupported(
            "with affixes the reference spells them in bytes too, and gives them places after the"
            " end of the text"
        )
    return CharacterSymbols(byte_ids=byte_ids)


def _flag(node: Node, name: str) -> bool:
    flag = node.optional(name)
    return flag is not None and flag.boolean()


def _lacks_symbols(characters: CharacterSymbols) -> bool:
    """Whether something in a text may be unknown."""
    byte_ids = characters.byte_ids
    return byte_ids is None or any(byte_ids[byte] is None for byte in BYTES_OF_TEXT)


def _merges(node: Node) -> Iterator[Merge]:
    """Merges as pairs, or as strings with a space in them; all of them the one or all of them the
    other.
    """
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
            isinstance(value, list)
            and len(value) == 2
            and isinstance(value[0], str)
            and isinstance(value[1], str)
        ):
            Node(node.file, f"{node.path}[{number}]", value).fail(
                "a pair of strings, as every merge here or none"
            )
        yield Merge(value[0], value[1], number)
