"""The ``model`` of a tokenizer.json 2.0, as a ``model`` of version 1.0.

``byte_level`` is a field of the model, not a pre-tokenizer. The release candidate also encodes a
word of one character as the token of that character, whether merges make it or not.
"""

import itertools
from collections.abc import Mapping
from typing import Any, Final

from tokexport.model.byte_alphabet import BYTES_OF_TEXT, CHARACTERS, to_bytes
from tokexport.sources.json_node import Node, show

_AFFIXES: Final = ("continuing_subword_prefix", "end_of_word_suffix")
_UTF8_LONGEST: Final = 4  # bytes of a character


def version_1_model(node: Node) -> dict[str, Any]:
    """The ``model`` of version 1.0 that is equivalent to the one at ``node``."""
    model = dict(node.object())
    if model["type"] == "BPE":
        del model["byte_level"]
        # The reference ignores fuse_unk if there are affixes.
        if any(model.get(name) for name in _AFFIXES):
            model["fuse_unk"] = False
    return model


def is_byte_level(model: Node) -> bool:
    """Whether the model works on bytes; SourceError for what version 1.0 does not check."""
    if model.field("type").string() != "BPE":
        return False
    merges = model.field("merges")
    if not isinstance(merges.value, list):
        merges.fail("an array of pairs")
    for number, merge in enumerate(merges.value):
        match merge:
            case [str(), str()]:
                continue
        merges.element(number).fail("a pair of strings")
    vocab = model.field("vocab").object(repeats=True)
    if not model.field("byte_level").boolean():
        _check_characters(model, vocab)
        return False
    for name in _AFFIXES:
        affix = model.optional(name)
        if affix is not None and affix.string():
            problem = "an affix of tokens over bytes is not supported"
            affix.unsupported(problem, "use null where byte_level is true")
    _check_bytes(model, {CHARACTERS[byte]: byte for byte in sorted(BYTES_OF_TEXT)})
    _check_single_characters(model, vocab)
    return True


def _check_single_characters(model: Node, vocab: Mapping[str, Any]) -> None:
    """Refuses a one-character token that merges do not make but the reference emits for a word."""
    if model.flag("ignore_merges"):
        return
    ranks = {
        (left, right): rank
        for rank, (left, right) in enumerate(model.field("merges").value)
        if len(left) + len(right) <= _UTF8_LONGEST
    }
    for token in vocab:
        if not 1 < len(token) <= _UTF8_LONGEST or not _is_one_character(token):
            continue
        if _merged(token, ranks) != [token]:
            Node(model.file, "model.vocab", token).unsupported(
                f"no merges make the character {show(token)}",
                "remove the token: the reference finds it only where it is a word of its own",
            )


def _is_one_character(token: str) -> bool:
    data = to_bytes(token)
    try:
        return data is not None and len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


def _merged(token: str, ranks: Mapping[tuple[str, str], int]) -> list[str]:
    """The symbols of a token after all merges."""
    symbols = list(token)
    while True:
        pairs = enumerate(itertools.pairwise(symbols))
        known = [(ranks[pair], place) for place, pair in pairs if pair in ranks]
        if not known:
            return symbols
        _, place = min(known)
        symbols[place : place + 2] = ["".join(symbols[place : place + 2])]


def _check_characters(model: Node, vocab: Mapping[str, Any]) -> None:
    suffix = model.optional("end_of_word_suffix")
    if suffix is not None and suffix.string() and any(len(token) == 1 for token in vocab):
        suffix.unsupported(
            "a suffix beside tokens of one character is not supported",
            "use null where the vocabulary has a token of one character, which the reference takes"
            " for a word without its suffix",
        )
    unknown = model.optional("unk_token")
    if unknown is not None and unknown.string() not in vocab:
        unknown.fail("a token of the vocabulary, without which the reference refuses it")
    if model.flag("byte_fallback"):
        _check_bytes(model, {f"<0x{byte:02X}>": byte for byte in range(256)})


def _check_bytes(model: Node, bytes_of: Mapping[str, int]) -> None:
    vocab = model.field("vocab")
    missing = [token for token in bytes_of if token not in vocab.value]
    if missing:
        vocab.broken(
            f"has no token {show(missing[0])} for the byte 0x{bytes_of[missing[0]]:02x}, without"
            " which the reference refuses it",
            "add one for every byte",
        )
