"""What was learned: how well it compresses, and what kinds of tokens it has."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sized
from typing import Any, Final

from tokexport.model import Dialect
from tokexport.training.trained import Trained
from tokexport.unicode import property_set

SAMPLE_CHARACTERS: Final = 1 << 22
LONGEST_SHOWN: Final = 8
SCRIPTS: Final = (
    *("Latin", "Cyrillic", "Greek", "Armenian", "Georgian", "Hebrew", "Arabic", "Devanagari"),
    *("Bengali", "Gurmukhi", "Gujarati", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala"),
    *("Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Ethiopic", "Mongolian"),
    *("Han", "Hiragana", "Katakana", "Hangul"),
)

# From a text to its ids.
Encode = Callable[[str], Sized]


class Sample:
    """A sample of the texts added: at most ``limit`` characters, spread evenly over all of them.

    Whenever the sample is full, every other text is dropped, and from then on only half as many new
    texts are taken.

    >>> sample = Sample(10)
    >>> for letter in "abcdefgh":
    ...     sample.add(3 * letter)
    >>> sample.texts
    ['aaa', 'eee']
    """

    def __init__(self, limit: int = SAMPLE_CHARACTERS) -> None:
        self.texts: list[str] = []
        self._limit = limit
        self._step = 1
        self._seen = self._held = 0

    def add(self, text: str) -> None:
        """Takes or skips a text; of a text longer than the sample, takes the start."""
        self._seen += 1
        if (self._seen - 1) % self._step:
            return
        self.texts.append(text[: self._limit])
        self._held += len(self.texts[-1])
        while self._held > self._limit and len(self.texts) > 1:
            self.texts = self.texts[::2]
            self._step *= 2
            self._held = sum(map(len, self.texts))


def report(
    trained: Trained,
    tokenizers: Mapping[str, Encode],
    training: Iterable[str],
    held_out: Iterable[str],
) -> dict[str, Any]:
    """What was learned, by the names of ``tokexport train --json``. ``tokenizers``: those whose
    bytes per token are measured on both samples. Tokens that are never used always merge into
    others, or no text contains their byte.
    """
    parts = [list(filter(None, texts)) for texts in (training, held_out)]
    rows = []
    for name, encode in tokenizers.items():
        measured = (_bytes_a_token(encode, texts) for texts in parts)
        rows.append(
            {"tokenizer": name, **dict(zip(("training", "held_out"), measured, strict=True))}
        )
    tokens = [*trained.ranks]
    return {
        "bytes_per_token": rows,
        "longest": sorted(tokens, key=len, reverse=True)[:LONGEST_SHOWN],
        "kinds": dict(Counter(map(kind, tokens)).most_common()),
        "never_used": [token for token, uses in zip(tokens, trained.uses, strict=True) if not uses],
    }


def kind(token: bytes) -> str:
    """The kind of a token, as in the report.

    >>> [kind(token) for token in (b" low", b"\\n\\n", b" 12", b"\\xe6\\xbc", b"();")]
    ['Latin', 'spaces', 'digits', 'parts of characters', 'other characters']
    """
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return "parts of characters"
    for character in text:
        if unicodedata.category(character)[0] == "L":
            return _script(ord(character))
    if text.isspace():
        return "spaces"
    if any(unicodedata.category(character)[0] == "N" for character in text):
        return "digits"
    return "other characters"


def _script(letter: int) -> str:
    for name in SCRIPTS:
        if property_set(f"Script={name}", Dialect.FANCY_REGEX)[letter]:
            return name
    return "other scripts"


def _bytes_a_token(encode: Encode, texts: list[str]) -> float | None:
    if not texts:
        return None
    return sum(len(text.encode()) for text in texts) / sum(len(encode(text)) for text in texts)
