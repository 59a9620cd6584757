"""Tokens in alternating colours for a terminal, or with bars between them without colours."""

import os
from collections.abc import Iterable, Iterator
from typing import Final, TextIO

from tokexport.runtime.tokenizer import Tokenizer
from tokexport.viewing.token_text import TokenTexts, parts

# Of a terminal's 256 colours: black on light backgrounds, legible in dark and light themes.
_GROUNDS: Final = (153, 157, 223, 218)
_TEXT: Final = 16
_SIGN: Final = 88
# Special tokens: white on dark.
_SPECIAL_GROUND: Final = 60
_SPECIAL_TEXT: Final = 231
_RESET: Final = "\x1b[0m"
_BAR: Final = "\u2502"


def wants_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal with colours, and NO_COLOR is not set."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not is_plain and stream.isatty()


def shown(tokenizer: Tokenizer, ids: Iterable[int], *, colours: bool) -> Iterator[str]:
    """The text of each id, to be written in order."""
    texts = TokenTexts(tokenizer)
    known: dict[tuple[int, int], str] = {}
    for number, id in enumerate(ids):
        key = id, number % len(_GROUNDS) if colours else 0
        if key not in known:
            content = texts.content(id)
            if colours:
                known[key] = _painted(content, key[1], tokenizer.is_special_token(id))
            else:
                known[key] = "".join(part.text + "\n" * part.breaks for part in parts(content))
        yield known[key] if colours or not number else _BAR + known[key]


def _painted(content: bytes, ground: int, is_special: bool) -> str:
    ground = _SPECIAL_GROUND if is_special else _GROUNDS[ground]
    painted = ""
    for part in parts(content):
        text = _SPECIAL_TEXT if is_special else _SIGN if part.is_sign else _TEXT
        # The colours end before the line does: a terminal would paint the rest of it.
        painted += f"\x1b[38;5;{text};48;5;{ground}m{part.text}{_RESET}" + "\n" * part.breaks
    return painted
