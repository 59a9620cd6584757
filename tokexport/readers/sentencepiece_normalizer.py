"""SentencePiece's normalizer as a list of steps.

The library (``Normalizer::Normalize``) maps the text by the charsmap, longest rule first, and meanwhile

- drops spaces at the start and behind a space, and spaces (also U+2581) at the end: ``remove_extra_whitespaces``;
- puts a space before the text, or behind it with ``treat_whitespace_as_suffix``: ``add_dummy_prefix``;
- makes each space U+2581: ``escape_whitespaces``.

Here each is a step of its own. That is the same as long as no rule gives two spaces in a row, which the library would
leave, and as long as one knows a text that the charsmap leaves nothing of from one that was empty: the library puts a
dummy space to the first, not to the second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tokexport.errors import UnsupportedError
from tokexport.model import Append, Charsmap, NormalizerStep, Prepend, Replace
from tokexport.readers.sentencepiece_charsmap import Rule, rules
from tokexport.readers.sentencepiece_proto import NormalizerSpec

SPACE_SYMBOL: Final = "\u2581"
_PATH: Final = "normalizer_spec"
# Noncharacters, of which one that no rule and no piece knows can mark an end of the text.
_MARKERS: Final = tuple(map(chr, (0x10FFFF, 0x10FFFE, 0xFFFFF, 0xFFFFE, 0xEFFFF, 0xEFFFE)))


def normalizer_steps(
    file: str, spec: NormalizerSpec, protected: Sequence[str], whitespace_as_suffix: bool
) -> tuple[NormalizerStep, ...]:
    """The steps. ``protected`` are the user-defined pieces, which no rule changes.

    Raises UnsupportedError for rules that give two spaces in a row where the library removes such.
    """
    if spec.remove_extra_whitespaces:
        _refuse_double_spaces(file, spec.charsmap, protected)
    charsmap: list[NormalizerStep] = []
    if spec.charsmap:
        charsmap.append(Charsmap(spec.charsmap, by_grapheme=False, protected=tuple(protected)))
    escape: list[NormalizerStep] = [Replace(" ", SPACE_SYMBOL, path=_PATH)] if spec.escape_whitespaces else []
    if not spec.add_dummy_prefix:
        steps = [*charsmap, *(_trim() if spec.remove_extra_whitespaces else ())]
    elif whitespace_as_suffix:
        steps = _with_suffix(file, spec, charsmap, protected)
    elif spec.remove_extra_whitespaces:
        # The dummy space takes the place of those at the start.
        steps = [*charsmap, Prepend(" "), _collapse(), _drop_last(spec)]
    else:
        steps = _with_prefix(file, spec, charsmap, protected)
    if spec.remove_extra_whitespaces and not spec.add_dummy_prefix:
        steps.append(_drop_last(spec))
    return (*steps, *escape)


def _collapse() -> Replace:
    return Replace(" {2,}", " ", literal=False, path=_PATH)


def _trim() -> list[NormalizerStep]:
    return [Replace(r"\A +", "", literal=False, path=_PATH), _collapse()]


def _last_spaces(spec: NormalizerSpec) -> str:
    """What is dropped at the end: with escapes, a U+2581 of the text is no other than a space."""
    return f"[ {SPACE_SYMBOL}]" if spec.escape_whitespaces else " "


def _drop_last(spec: NormalizerSpec) -> Replace:
    return Replace(rf"{_last_spaces(spec)}+\z", "", literal=False, path=_PATH)


def _with_prefix(
    file: str, spec: NormalizerSpec, charsmap: list[NormalizerStep], protected: Sequence[str]
) -> list[NormalizerStep]:
    known = rules(spec.charsmap, file)
    if all(rule.value for rule in known):
        return [*charsmap, Prepend(" ")]
    marker = _marker(file, known, protected)
    return [Prepend(marker), *charsmap, Replace(rf"\A{marker}", " ", literal=False, path=_PATH)]


def _with_suffix(
    file: str, spec: NormalizerSpec, charsmap: list[NormalizerStep], protected: Sequence[str]
) -> list[NormalizerStep]:
    known = rules(spec.charsmap, file)
    marker = _marker(file, known, protected)
    if not spec.remove_extra_whitespaces:
        return [Append(marker), *charsmap, Replace(rf"{marker}\z", " ", literal=False, path=_PATH)]
    return [
        # A text of nothing but spaces gets no dummy space.
        Replace(rf"\A(?:{_spaces(file, known, protected)})+\z", "", literal=False, path=_PATH),
        Append(marker),
        *charsmap,
        *_trim(),
        Replace(rf"{_last_spaces(spec)}*{marker}\z", " ", literal=False, path=_PATH),
    ]


def _spaces(file: str, known: Sequence[Rule], protected: Sequence[str]) -> str:
    """A pattern for the texts that become one space."""
    spaces = {rule.key for rule in known if rule.value == b" "}
    if not any(b" ".startswith(rule.key) for rule in known):
        spaces.add(b" ")
    others = [rule.key for rule in known if rule.value != b" "] + [text.encode() for text in protected]
    clash = next((other for other in others if any(other.startswith(space) for space in spaces)), None)
    if clash is not None or not spaces:
        raise UnsupportedError(
            file,
            f"treat_whitespace_as_suffix with a rule or a user-defined piece for {clash!r}, which begins as a space does,",
            "the spaces at the end of a text must be known from their own rules",
        )
    return "|".join(re.escape(space.decode()) for space in sorted(spaces, key=lambda key: (-len(key), key)))


def _marker(file: str, known: Sequence[Rule], protected: Sequence[str]) -> str:
    texts = [rule.key + b"\0" + rule.value for rule in known] + [text.encode() for text in protected]
    for marker in _MARKERS:
        if not any(marker.encode() in text for text in texts):
            return marker
    raise UnsupportedError(
        file, "a charsmap with rules for every noncharacter tried", "leave one of them without a rule"
    )


def _refuse_double_spaces(file: str, charsmap: bytes, protected: Sequence[str]) -> None:
    size = int.from_bytes(charsmap[:4], "little")
    if b"  " in charsmap[4 + size :] or any("  " in text for text in protected):
        raise UnsupportedError(
            file,
            "a rule of the charsmap or a user-defined piece with two spaces in a row, together with "
            "remove_extra_whitespaces,",
            "the library leaves these two and removes others; give rules with single spaces",
        )
