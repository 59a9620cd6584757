"""Added tokens as llama.cpp finds them: the longest of all in the whole text first, while libraries
take the leftmost one, and the longest one there.
"""

import re
import string
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final

from tokexport.sources.gguf.source import GgufTokenizer
from tokexport.sources.sentencepiece.proto import PieceType

Groups = Sequence[Sequence[str]]
_ADDED: Final = frozenset((PieceType.CONTROL, PieceType.USER_DEFINED, PieceType.UNKNOWN))
_TAKEN: Final = "\ud800"  # is in no token


def added_tokens(file: GgufTokenizer) -> Groups:
    """Those of a file, in the order in which llama.cpp searches for them."""
    named = zip(file.tokens, file.types, strict=True)
    return longest_first(token for token, kind in named if kind in _ADDED and token)


def longest_first(tokens: Iterable[str]) -> Groups:
    """Groups of one token each."""
    return [(token,) for token in sorted(tokens, key=lambda one: len(one.encode()), reverse=True)]


def encode_between(
    groups: Groups,
    ids: Mapping[str, int],
    encode: Callable[[str], list[int]],
    text: str,
    dropping: Container[str] = (),
) -> list[int]:
    """The ids of the tokens found in a text, and those that ``encode`` gives between them, without
    white space after the tokens ``dropping`` it.
    """
    encoded, at, last = list[int](), 0, ""
    for start, token in [*sorted(find(text, groups).items()), (len(text), "")]:
        between = text[at:start]
        encoded += encode(between.lstrip(string.whitespace) if last in dropping else between)
        encoded += [ids[token]] if token else []
        at, last = start + len(token), token
    return encoded


def find(text: str, groups: Groups, as_text: Container[str] = ()) -> dict[int, str]:
    """The tokens in a text by their offsets. Groups are searched for in turn, of each the
    leftmost token first, and the longest there. Those ``as_text`` are found too, but remain text.

    >>> find("abcd", [["ab", "bcd"]]), find("abcd", longest_first(["ab", "bcd"]))
    ({0: 'ab'}, {1: 'bcd'})
    """
    found = {}
    for group in groups:
        here = sorted((token for token in group if token in text), key=len, reverse=True)
        for match in re.finditer("|".join(map(re.escape, here)), text) if here else ():
            if match[0] not in as_text:
                found[match.start()] = match[0]
                text = text[: match.start()] + _TAKEN * len(match[0]) + text[match.end() :]
    return found


def cut_otherwise(groups: Groups, special: Container[str]) -> str | None:
    """A text in which llama.cpp finds other tokens than a library that searches for the groups in
    turn, with special tokens or with these as text. If there is one, then a token, or two that
    overlap.

    >>> cut_otherwise([["<a>", ">>bc"]], ()), cut_otherwise([["<a>", ">b"]], ())
    ('<a>>bc', None)
    """
    tokens = [token for group in groups for token in group]
    begins = defaultdict[str, list[str]](list)
    for token in tokens:
        for at in range(1, len(token)):
            begins[token[:at]].append(token)
    overlapping = (
        token + other[len(token) - at :]
        for token in tokens
        for at in range(1, len(token))
        for other in begins.get(token[at:], ())
    )
    others = [token for token in tokens if token not in special]
    # The order of equally long tokens is that of an unstable sort.
    cases = [
        (longest_first(order), as_text)
        for named, as_text in ((tokens, ()), (others, special))
        for order in (named, named[::-1])
    ]
    for text in dict.fromkeys((*tokens, *overlapping)):
        if sum(token in text for token in tokens) > 1 and any(
            find(text, order) != find(text, groups, as_text) for order, as_text in cases
        ):
            return text
    return None
