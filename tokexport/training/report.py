"""What was learned: how well it compresses, and what kinds of tokens it has."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

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

# Returns the number of tokens in a text.
CountTokens = Callable[[str], int]


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


@dataclass(frozen=True, slots=True)
class Compression:
    """The bytes per token of a tokenizer on samples; None if there is no text."""

    tokenizer: str
    training: float | None
    held_out: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """What was learned. ``kinds`` counts the tokens, without special ones, by kind: digits, spaces,
    a script (by its first letter), other characters, and bytes that are not whole characters.
    ``never_used``: tokens that do not occur in the training texts, because they always merge into
    others, or because no text contains the byte.
    """

    compression: tuple[Compression, ...]
    longest: tuple[bytes, ...]
    kinds: Mapping[str, int]
    never_used: tuple[bytes, ...]


def report(
    trained: Trained,
    tokenizers: Mapping[str, CountTokens],
    training: Iterable[str],
    held_out: Iterable[str],
) -> Report:
    """The report of a training; ``tokenizers`` are those whose compression is compared."""
    parts = [list(filter(None, texts)) for texts in (training, held_out)]
    compression = (
        Compression(name, *(_bytes_a_token(count, texts) for texts in parts))
        for name, count in tokenizers.items()
    )
    tokens = [*trained.ranks]
    kinds = Counter(map(kind, tokens))
    return Report(
        compression=tuple(compression),
        longest=tuple(sorted(tokens, key=len, reverse=True)[:LONGEST_SHOWN]),
        kinds=dict(kinds.most_common()),
        never_used=tuple(
            token for token, uses in zip(tokens, trained.uses, strict=True) if not uses
        ),
    )


def kind(token: bytes) -> str:
    """The kind of a token, as ``Report.kinds`` names it.

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


def _bytes_a_token(count: CountTokens, texts: list[str]) -> float | None:
    if not texts:
        return None
    return sum(len(text.encode()) for text in texts) / sum(map(count, texts))
