"""The ``model`` of a tokenizer.json 2.0, as a ``model`` of version 1.0.

``byte_level`` is a field of the model, not a pre-tokenizer. The release candidate also encodes a
word of one character as the token of that character, whether merges make it or not.
"""

import itertools
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from tokexport.model.byte_alphabet import BYTES_OF_TEXT, CHARACTERS, to_bytes
from tokexport.sources.json_node import Node, show

_AFFIXES: Final = ("continuing_subword_prefix", "end_of_word_suffix")
_UTF8_LONGEST: Final = 4  # bytes of a character
_FIRST_LEAD: Final = 0xC2  # of a character of several bytes


# The rank of a merge within a token, and the first and the last symbol of the token before it.
_Step: TypeAlias = tuple[int, str, str]


def version_1_model(node: Node) -> dict[str, Any]:
    """The ``model`` of version 1.0 that is equivalent to the one at ``node``."""
    model = dict(node.object())
    if model["type"] == "BPE":
        del model["byte_level"]
        # The reference ignores fuse_unk if there are affixes.
        if any(model.get(name) for name in _AFFIXES):
            model["fuse_unk"] = False
    return model


def check_word_piece(model: Node, keeps_nul: bool) -> None:
    """Refuses U+0000 in the vocabulary, as the reference does, and in texts, where it skips some.

    ``keeps_nul``: the normalizer leaves U+0000 in a text.
    """
    if model.field("type").string() != "WordPiece":
        return
    vocab = model.field("vocab")
    if any("\0" in token for token in vocab.object(repeats=True)):
        vocab.broken("has a token with U+0000, which the reference refuses", "remove it")
    if keeps_nul:
        model.field("type").unsupported(
            "WordPiece with U+0000 in a text is not supported",
            "add a BertNormalizer with clean_text, as published tokenizers have: without it the"
            " reference skips U+0000 in some words",
        )


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
    """Refuses a one-character token that the reference emits where merges do not make it.

    It emits one for a word of that character, and it begins to merge a word with one in place of
    the bytes if no neighbour can merge with a part of it before it is made. That changes ids only
    if the token itself merges with a neighbour before.
    """
    merges = model.field("merges").value
    ranks = {(left, right): rank for rank, (left, right) in enumerate(merges)}
    uses = dict[str, int]()
    for pair, rank in ranks.items():
        for symbol in pair:
            uses[symbol] = min(rank, uses.get(symbol, rank))
    early = dict[str, list[_Step]]()
    for token in vocab:
        if not 1 < len(token) <= _UTF8_LONGEST or not _is_one_character(token):
            continue
        steps, made = _merged(token, ranks)
        if made and uses.get(token, len(merges)) < max(rank for rank, _, _ in steps):
            early[token] = steps
        if not made and not model.flag("ignore_merges"):
            Node(model.file, "model.vocab", token).unsupported(
                f"no merges make the character {show(token)}",
                "remove the token: the reference finds it only where it is a word of its own",
            )
    if not early:
        return
    with_next, with_previous = _ranks_between_characters(ranks)
    for token, steps in early.items():
        never = len(merges)
        if all(
            rank < min(with_previous.get(first, never), with_next.get(last, never))
            for rank, first, last in steps
        ):
            Node(model.file, "model.vocab", token).unsupported(
                f"the character {show(token)} merges with others before its own bytes do",
                "put the merges that make it first: the reference never merges its bytes",
            )


def _ranks_between_characters(
    ranks: Mapping[tuple[str, str], int],
) -> tuple[dict[str, int], dict[str, int]]:
    """The lowest rank at which each symbol merges with what may begin the next character, and with
    what may end the previous one, by the bytes that the reference looks at.
    """
    with_next, with_previous = dict[str, int](), dict[str, int]()
    for (left, right), rank in ranks.items():
        first, last = to_bytes(right[:1]) or b"\xff", to_bytes(left[-1:]) or b"\xff"
        if first[0] < 0x80 or first[0] >= _FIRST_LEAD:
            with_next[left] = min(rank, with_next.get(left, rank))
        if last[0] < 0xC0:
            with_previous[right] = min(rank, with_previous.get(right, rank))
    return with_next, with_previous


def _is_one_character(token: str) -> bool:
    data = to_bytes(token)
    try:
        return data is not None and len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


def _merged(token: str, ranks: Mapping[tuple[str, str], int]) -> tuple[list[_Step], bool]:
    """The merges of a token alone, in order, and whether they make it."""
    symbols, steps = list(token), list[_Step]()
    while True:
        pairs = enumerate(itertools.pairwise(symbols))
        known = [(ranks[pair], place) for place, pair in pairs if pair in ranks]
        if not known:
            return steps, symbols == [token]
        rank, place = min(known)
        steps.append((rank, symbols[0], symbols[-1]))
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
