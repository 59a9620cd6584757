"""The ``model`` of a tokenizer.json 2.0, as that of version 1.0.

Whether the vocabulary is in GPT-2's alphabet stands here, not on a pre-tokenizer. The release
candidate also takes a word of one character for its token, whether merges make that or not.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources.json_node import Node, show
from tokexport.unicode.byte_alphabet import CHARACTERS, to_bytes

_MODEL_FIELDS: Final = {
    "BPE": (
        *(
            "type",
            "unk_token",
            "continuing_subword_prefix",
            "end_of_word_suffix",
            "fuse_unk",
            "byte_fallback",
        ),
        *("ignore_merges", "byte_level", "dropout", "vocab", "merges"),
    ),
    "Unigram": ("type", "unk_id", "vocab", "byte_fallback"),
    "WordPiece": (
        "type",
        "unk_token",
        "continuing_subword_prefix",
        "max_input_chars_per_word",
        "vocab",
    ),
    "WordLevel": ("type", "unk_token", "vocab"),
}
_DEFAULTS: Final = {"fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
# Bytes that UTF-8 has: the release candidate wants a token for each.
_TEXT_BYTES: Final = (*range(0xC0), *range(0xC2, 0xF5))
_UTF8_LONGEST: Final = 4  # bytes of a character


def version_1_model(node: Node) -> dict[str, Any]:
    """The ``model`` of version 1.0 that is the one at ``node``."""
    model = {name: value for name, value in node.value.items() if name != "byte_level"}
    if model["type"] == "BPE":
        model = {**_DEFAULTS, **model}
    if model["type"] == "BPE" and (
        model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")
    ):
        model["fuse_unk"] = False  # the reference looks at it only where there are no affixes
    return model


def is_byte_level(model: Node) -> bool:
    """Whether the model works on bytes. On the way its fields are checked.

    Raises SourceError for what the reference refuses, UnsupportedError for what it runs in another
    way than 0.23.
    """
    kind = model.field("type")
    if kind.string() not in _MODEL_FIELDS:
        kind.fail("one of " + ", ".join(_MODEL_FIELDS))
    model.object(_MODEL_FIELDS[kind.string()])
    if kind.string() != "BPE":
        return False
    _check_merges(model.field("merges"))
    vocab = model.field("vocab").object(repeats=True)
    if not model.field("byte_level").boolean():
        _check_characters(model, vocab)
        _check_suffix(model, vocab)
        return False
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        affix = model.optional(name)
        if affix is not None and affix.string():
            affix.unsupported("null is, where byte_level is true")
    for byte in _TEXT_BYTES:
        if CHARACTERS[byte] not in vocab:
            raise SourceError(
                f"{model.file}: model.vocab has no token for the byte 0x{byte:02x}, and the"
                " reference refuses a byte-level vocabulary that lacks a byte of UTF-8"
            )
    _check_single_characters(model, vocab)
    return True


def _check_merges(node: Node) -> None:
    if not isinstance(node.value, list):
        node.fail("an array of pairs")
    for number, merge in enumerate(node.value):
        if not (
            isinstance(merge, list)
            and len(merge) == 2
            and isinstance(merge[0], str)
            and isinstance(merge[1], str)
        ):
            Node(node.file, f"{node.path}[{number}]", merge).fail(
                "a pair of strings: version 2.0 has no others"
            )


def _check_suffix(model: Node, vocab: Mapping[str, Any]) -> None:
    suffix = model.optional("end_of_word_suffix")
    if suffix is not None and suffix.string() and any(len(token) == 1 for token in vocab):
        suffix.unsupported(
            "null is, where the vocabulary has a token of one character, which the reference takes"
            " for a word without its suffix"
        )


def _check_single_characters(model: Node, vocab: Mapping[str, Any]) -> None:
    """Refuse a byte-level model in which merges do not make the token of a character: the reference
    takes a word of one for that token.
    """
    ignores_merges = model.optional("ignore_merges")
    if ignores_merges is not None and ignores_merges.boolean():
        return
    ranks = {
        (left, right): rank
        for rank, (left, right) in enumerate(model.field("merges").value)
        if len(left) + len(right) <= _UTF8_LONGEST
    }
    for token in vocab:
        if (
            1 < len(token) <= _UTF8_LONGEST
            and _is_one_character(token)
            and _merged(token, ranks) != [token]
        ):
            raise UnsupportedError(
                f"{model.file}: model.vocab",
                f"the token {show(token)}, a character that no merges make, where ignore_merges is"
                " false, is not supported",
                "the reference finds it only where it is a word of its own; take it out of the"
                " vocabulary",
            )


def _is_one_character(token: str) -> bool:
    data = to_bytes(token)
    try:
        return data is not None and len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


def _merged(token: str, ranks: Mapping[tuple[str, str], int]) -> list[str]:
    """What merges make of the characters of a token.

    >>> _merged("abc", {("b", "c"): 0, ("a", "b"): 1})
    ['a', 'bc']
    """
    symbols = list(token)
    while True:
        known = [
            (ranks[pair], place)
            for place, pair in enumerate(itertools.pairwise(symbols))
            if pair in ranks
        ]
        if not known:
            return symbols
        place = min(known)[1]
        symbols[place : place + 2] = ["".join(symbols[place : place + 2])]


def _check_characters(model: Node, vocab: Mapping[str, Any]) -> None:
    """Refuse a vocabulary of characters that the reference does not load."""
    unknown = model.optional("unk_token")
    if unknown is not None and unknown.string() not in vocab:
        raise SourceError(
            f"{model.file}: model.unk_token {show(unknown.value)} is not in the vocabulary, and the"
            " reference refuses that"
        )
    fallback = model.optional("byte_fallback")
    if fallback is None or not fallback.boolean():
        return
    for byte in range(256):
        if f"<0x{byte:02X}>" not in vocab:
            raise SourceError(
                f"{model.file}: model.vocab has no token <0x{byte:02X}>, and the reference refuses"
                " byte_fallback without one for every byte"
            )
