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
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from tokexport.errors import UnsupportedError
from tokexport.model import Append, Charsmap, NormalizerStep, Prepend, Replace
from tokexport.normalization.charsmap import read_charsmap, rules_of
from tokexport.sources.sentencepiece.proto import NormalizerSpec

SPACE_SYMBOL: Final = "\u2581"
_PATH: Final = "normalizer_spec"
_Rules: TypeAlias = Mapping[bytes, bytes]  # sequences of characters and their replacements
# Noncharacters: one that is in no rule and no piece can mark an end of the text.
_MARKERS: Final = tuple(map(chr, (0x10FFFF, 0x10FFFE, 0xFFFFF, 0xFFFFE, 0xEFFFF, 0xEFFFE)))


def normalizer_steps(
    file: str, spec: NormalizerSpec, protected: Sequence[str], whitespace_as_suffix: bool
) -> tuple[NormalizerStep, ...]:
    """The steps. ``protected``: the user-defined pieces, which no rule changes."""
    removes = spec.remove_extra_whitespaces
    values = spec.charsmap[4 + int.from_bytes(spec.charsmap[:4], "little") :]
    has_two = b"  " in values or any("  " in text for text in protected)
    whole = Charsmap(spec.charsmap, False, tuple(protected), removes and has_two, _PATH)
    has_space = any(" " in text for text in protected)  # offsets are those of all of it
    charsmap = [whole] if spec.charsmap or has_space or (removes and has_two) else []
    collapse = [_regex(" {2,}", " ")] if removes and not has_two else []
    trim = [_regex(r"\A +", ""), *collapse] if collapse else []
    # With escapes, a U+2581 in the text is the same as a space.
    last = f"[ {SPACE_SYMBOL}]" if spec.escape_whitespaces else " "
    drop_last = [_regex(rf"{last}+\z", "")] if removes else []
    steps: list[NormalizerStep]
    if not spec.add_dummy_prefix:
        steps = [*charsmap, *trim, *drop_last]
    elif whitespace_as_suffix:
        rules = _rules(spec)
        marker = _unused_character(file, rules, protected)
        # A text of only spaces gets no dummy space.
        lone = _without_lone_spaces(rules, protected) if removes else []
        end = _regex(rf"{last}*{marker}\z" if removes else rf"{marker}\z", " ")
        steps = [*lone, Append(marker), *charsmap, *trim, end]
    elif removes or all(_rules(spec).values()):
        # Where spaces are removed, the dummy space replaces those at the start.
        steps = [*charsmap, Prepend(" "), *collapse, *drop_last]
    else:
        marker = _unused_character(file, _rules(spec), protected)
        steps = [Prepend(marker), *charsmap, _regex(rf"\A{marker}", " ")]
    if spec.escape_whitespaces:
        steps.append(Replace(" ", SPACE_SYMBOL, path=_PATH))
    return tuple(steps)


def _regex(pattern: str, content: str) -> Replace:
    return Replace(pattern, content, literal=False, path=_PATH)


def _rules(spec: NormalizerSpec) -> _Rules:
    return rules_of(read_charsmap(spec.charsmap, _PATH))


def _without_lone_spaces(rules: _Rules, protected: Sequence[str]) -> list[Replace]:
    """Drops a text that consists only of parts that become one space."""
    becomes = {
        key: value
        for key, value in rules.items()
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
    return [_regex(rf"\A(?:{'|'.join(patterns)})+\z", "")]


def _unused_character(file: str, rules: _Rules, protected: Sequence[str]) -> str:
    """A noncharacter that is in no rule and no protected text, so it can mark an end of a text."""
    texts = [*(key + b"\0" + value for key, value in rules.items()), *map(str.encode, protected)]
    for marker in _MARKERS:
        if not any(marker.encode() in text for text in texts):
            return marker
    problem = "a charsmap with rules for every noncharacter tried is not supported"
    raise UnsupportedError(file, problem, "leave one of them without a rule")
