"""The bytes of a token as printable text, with a visible sign for bytes that cannot be shown."""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from tokexport.escape import escape
from tokexport.runtime.tokenizer import Tokenizer

# Carries a mark that would otherwise combine with the last character of the previous token.
_CARRIER = "\u25cc"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a token. ``is_sign``: it represents bytes that cannot be drawn, and is not their
    text. ``breaks``: a new line begins after it.
    """

    text: str
    is_sign: bool = False
    breaks: bool = False


def parts(content: bytes) -> Iterator[Part]:
    r"""The parts of a token's bytes, in order.

    >>> [part.text for part in parts("a\n".encode() + b"\xe2\x98")]
    ['a', '\\n', '\\xe2\\x98']
    """
    text = content.decode("utf-8", "surrogateescape")
    if text and unicodedata.category(text[0]).startswith("M"):
        yield Part(_CARRIER, is_sign=True)
    for is_drawn, run in groupby(text, str.isprintable):
        if is_drawn:
            yield Part("".join(run))
            continue
        line: list[str] = []
        for character in run:
            line.append(escape(character.encode("utf-8", "surrogateescape")))
            if character == "\n":
                yield Part("".join(line), is_sign=True, breaks=True)
                line = []
        if line:
            yield Part("".join(line), is_sign=True)


class TokenTexts:
    """The bytes to show for each id of a tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._names: Mapping[int, bytes] = {
            token.id: token.content.encode() for token in tokenizer.added_tokens
        }

    def content(self, id: int) -> bytes:
        """The bytes of the id, or its name if it has no bytes."""
        found = self._tokenizer.decode_single_token_bytes(id)
        return found or self._names.get(id) or f"<id {id}>".encode()
