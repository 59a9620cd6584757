"""SentencePiece's normalizer as a list of steps.

The library (``Normalizer::Normalize``) maps a text by the charsmap, longest rule first, and

- drops spaces at the start and after a space, and spaces (also U+2581) at the end:
  ``remove_extra_whitespaces``;
- puts a space before the text, or after it with ``treat_whitespace_as_suffix``:
  ``add_dummy_prefix``;
- makes each space U+2581: ``escape_whitespaces``.

Here each is a separate step. That is equivalent if a text that the charsmap empties is
distinguished from an empty one: the library adds a dummy space to the first, not to the second.
Where spaces are removed, a user-defined piece or the value of a rule with several in a row is
refused: the library keeps or drops these together.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Final, TypeAlias

from tokexport.errors import UnsupportedError
from tokexport.model import Append, Charsmap, NormalizerStep, PieceNormalizer, Prepend, Replace
from tokexport.model.normalization.charsmap import read_charsmap, rules_of

_SYMBOL: Final = "\u2581"
_Rules: TypeAlias = Mapping[bytes, bytes]  # sequences of characters and their replacements
# Noncharacters: one that is in no rule and no piece can mark an end of the text.
_MARKERS: Final = tuple(map(chr, (0x10FFFF, 0x10FFFE, 0xFFFFF, 0xFFFFE, 0xEFFFF, 0xEFFFE)))


def piece_steps(whole: PieceNormalizer) -> tuple[NormalizerStep, ...]:
    """The steps. UnsupportedError for a charsmap that is damaged, or has too many rules, and for
    spaces in a row where extra ones are removed.

    >>> piece_steps(PieceNormalizer(prefix=True, escapes=False))
    (Prepend(content=' ', unless_present=False, only_first=False),)
    """
    removes, protected, path = whole.collapses, whole.protected, whole.path
    regex = partial(Replace, literal=False, path=path)
    values = whole.charsmap[4 + int.from_bytes(whole.charsmap[:4], "little") :]
    if removes and (b"  " in values or any("  " in text for text in protected)):
        problem = "spaces in a row in a piece or a rule, where extra ones are removed, are"
        hint = "leave them out, or train with remove_extra_whitespaces=False"
        raise UnsupportedError(path, f"{problem} not supported", hint)
    has_space = any(" " in text for text in protected)  # offsets are those of all of it
    charsmap = []
    if whole.charsmap or has_space:
        charsmap = [Charsmap(whole.charsmap, False, protected, path)]
    collapse = [regex(" {2,}", " ")] if removes else []
    trim = [regex(r"\A +", ""), *collapse] if removes else []
    # With escapes, a U+2581 in the text is the same as a space.
    last = f"[ {_SYMBOL}]" if whole.escapes else " "
    drop_last = [regex(rf"{last}+\z", "")] if removes else []
    if whole.suffix:
        marker = _unused_character(whole)
        # A text of only spaces gets no dummy space.
        lone = [regex(pattern, "") for pattern in _lone_spaces(whole)] if removes else []
        end = regex(rf"{last}*{marker}\z" if removes else rf"{marker}\z", " ")
        steps: list[NormalizerStep] = [*lone, Append(marker), *charsmap, *trim, end]
    elif not whole.prefix:
        steps = [*charsmap, *trim, *drop_last]
    elif removes or all(_rules(whole).values()):
        # Where spaces are removed, the dummy space replaces those at the start.
        steps = [*charsmap, Prepend(" "), *collapse, *drop_last]
    else:
        marker = _unused_character(whole)
        steps = [Prepend(marker), *charsmap, regex(rf"\A{marker}", " ")]
    if whole.escapes:
        steps.append(Replace(" ", _SYMBOL, path=path))
    return tuple(steps)


def _rules(whole: PieceNormalizer) -> _Rules:
    return rules_of(read_charsmap(whole.charsmap, whole.path))


def _lone_spaces(whole: PieceNormalizer) -> list[str]:
    """The pattern, if there is one, of a text that consists only of parts that become one space."""
    contents = {text.encode(): text.encode() for text in whole.protected}
    becomes = {
        key: value for key, value in _rules(whole).items() if not key.startswith((*contents,))
    }
    becomes |= contents
    becomes.setdefault(b" ", b" ")
    spaces = [key for key, value in becomes.items() if value == b" "]
    patterns = []
    for key in sorted(spaces, key=lambda key: (-len(key), key)):
        # The longest rule applies, so a space must not be followed by the rest of a longer rule.
        longer = (other for other in becomes if other.startswith(key) and other != key)
        rests = sorted(other[len(key) :].decode() for other in longer)
        others = "|".join(map(re.escape, rests))
        patterns.append(re.escape(key.decode()) + (f"(?!{others})" if others else ""))
    return [rf"\A(?:{'|'.join(patterns)})+\z"] if patterns else []


def _unused_character(whole: PieceNormalizer) -> str:
    """A noncharacter that is in no rule and no protected text, so it can mark an end of a text."""
    texts = [*(key + b"\0" + value for key, value in _rules(whole).items())]
    texts += map(str.encode, whole.protected)
    for marker in _MARKERS:
        if not any(marker.encode() in text for text in texts):
            return marker
    problem = "a charsmap with rules for every noncharacter tried is not supported"
    raise UnsupportedError(whole.path, problem, "leave a noncharacter without a rule")
