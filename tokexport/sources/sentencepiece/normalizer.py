"""SentencePiece's normalizer as a list of steps.

The library (``Normalizer::Normalize``) maps a text by the charsmap, longest rule first, and

- drops spaces at the start and after a space, and spaces (also U+2581) at the end:
  ``remove_extra_whitespaces``;
- puts a space before the text, or after it with ``treat_whitespace_as_suffix``:
  ``add_dummy_prefix``;
- makes each space U+2581: ``escape_whitespaces``.

Here each is a separate step. That is equivalent if a text that the charsmap empties is
distinguished from an empty one: the library adds a dummy space to the first, not to the second.
Only if a user-defined piece or the value of a rule has two consecutive spaces, the charsmap drops
the spaces itself: the library keeps or drops these two together.
"""

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from tokexport.errors import UnsupportedError
from tokexport.model import Append, Charsmap, NormalizerStep, Prepend, Replace
from tokexport.sources.sentencepiece.proto import NormalizerSpec
from tokexport.unicode.charsmap import read_charsmap, rules_of

SPACE_SYMBOL: Final = "\u2581"
_PATH: Final = "normalizer_spec"
_Rule: TypeAlias = tuple[bytes, bytes]  # a sequence of characters and its replacement
# Noncharacters: one that is in no rule and no piece can mark an end of the text.
_MARKERS: Final = tuple(map(chr, (0x10FFFF, 0x10FFFE, 0xFFFFF, 0xFFFFE, 0xEFFFF, 0xEFFFE)))


def normalizer_steps(
    file: str, spec: NormalizerSpec, protected: Sequence[str], whitespace_as_suffix: bool
) -> tuple[NormalizerStep, ...]:
    """The steps. ``protected``: the user-defined pieces, which no rule changes."""
    values = spec.charsmap[4 + int.from_bytes(spec.charsmap[:4], "little") :]
    has_two = b"  " in values or any("  " in text for text in protected)
    keeps_some = spec.remove_extra_whitespaces and has_two
    whole = Charsmap(spec.charsmap, False, tuple(protected), keeps_some, _PATH)
    charsmap: list[NormalizerStep] = [whole] if spec.charsmap or keeps_some else []
    collapse = [] if keeps_some else [Replace(" {2,}", " ", literal=False, path=_PATH)]
    trim = [] if keeps_some else [Replace(r"\A +", "", literal=False, path=_PATH), *collapse]
    escape: list[NormalizerStep] = (
        [Replace(" ", SPACE_SYMBOL, path=_PATH)] if spec.escape_whitespaces else []
    )
    if not spec.add_dummy_prefix:
        steps = [*charsmap, *([*trim, _drop_last(spec)] if spec.remove_extra_whitespaces else ())]
    elif whitespace_as_suffix:
        steps = _with_suffix(file, spec, charsmap, protected, trim)
    elif spec.remove_extra_whitespaces:
        # The dummy space replaces the spaces at the start.
        steps = [*charsmap, Prepend(" "), *collapse, _drop_last(spec)]
    else:
        steps = _with_prefix(file, spec, charsmap, protected)
    return (*steps, *escape)


def _last_spaces(spec: NormalizerSpec) -> str:
    """What is dropped at the end: with escapes, a U+2581 in the text is the same as a space."""
    return f"[ {SPACE_SYMBOL}]" if spec.escape_whitespaces else " "


def _drop_last(spec: NormalizerSpec) -> Replace:
    return Replace(rf"{_last_spaces(spec)}+\z", "", literal=False, path=_PATH)


def _with_prefix(
    file: str, spec: NormalizerSpec, charsmap: list[NormalizerStep], protected: Sequence[str]
) -> list[NormalizerStep]:
    known = _rules(spec)
    if all(value for _, value in known):
        return [*charsmap, Prepend(" ")]
    marker = _unused_character(file, known, protected)
    return [Prepend(marker), *charsmap, Replace(rf"\A{marker}", " ", literal=False, path=_PATH)]


def _with_suffix(
    file: str,
    spec: NormalizerSpec,
    charsmap: list[NormalizerStep],
    protected: Sequence[str],
    trim: Sequence[NormalizerStep],
) -> list[NormalizerStep]:
    known = _rules(spec)
    marker = _unused_character(file, known, protected)
    if not spec.remove_extra_whitespaces:
        return [Append(marker), *charsmap, Replace(rf"{marker}\z", " ", literal=False, path=_PATH)]
    return [
        # A text of only spaces gets no dummy space.
        *_without_lone_spaces(known, protected),
        Append(marker),
        *charsmap,
        *trim,
        Replace(rf"{_last_spaces(spec)}*{marker}\z", " ", literal=False, path=_PATH),
    ]


def _rules(spec: NormalizerSpec) -> list[_Rule]:
    return [*rules_of(read_charsmap(spec.charsmap, _PATH)).items()]


def _without_lone_spaces(known: Sequence[_Rule], protected: Sequence[str]) -> list[NormalizerStep]:
    """Drops a text that consists only of parts that become one space."""
    becomes = {
        key: value
        for key, value in known
        if not key.startswith(tuple(text.encode() for text in protected))
    }
    becomes |= {text.encode(): text.encode() for text in protected}
    becomes.setdefault(b" ", b" ")
    spaces = [key for key, value in becomes.items() if value == b" "]
    patterns = []
    for key in sorted(spaces, key=lambda key: (-len(key), key)):
        # The longest rule applies, so a space must not be followed by the rest of a longer rule.
        longer = (other for other in becomes if other.startswith(key) and other != key)
        rests = sorted(other[len(key) :].decode() for other in longer)
        others = "|".join(map(re.escape, rests))
        patterns.append(re.escape(key.decode()) + (f"(?!{others})" if others else ""))
    if not patterns:
        return []
    return [Replace(rf"\A(?:{'|'.join(patterns)})+\z", "", literal=False, path=_PATH)]


def _unused_character(file: str, known: Sequence[_Rule], protected: Sequence[str]) -> str:
    """A noncharacter that is in no rule and no protected text, so it can mark an end of a text."""
    texts = [*(key + b"\0" + value for key, value in known), *map(str.encode, protected)]
    for marker in _MARKERS:
        if not any(marker.encode() in text for text in texts):
            return marker
    problem = "a charsmap with rules for every noncharacter tried is not supported"
    raise UnsupportedError(file, problem, "leave one of them without a rule")
