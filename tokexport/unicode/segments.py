r"""What decides where a text segment ends for Oniguruma's ``\X``, ``\y`` and ``\Y``, asked of the
engine as ``tokenizers`` binds it.

Part of the generator (:mod:`tokexport.unicode.generate`). A character is put in a line with others,
and ``\Y`` says whether two of the line are joined. The rules are those of UAX #29 for extended
grapheme clusters, without that for conjuncts (GB9c).
"""

from __future__ import annotations

from tokexport.unicode.engines import every_scalar_value, members_of, oniguruma_leaves
from tokexport.unicode.store import CodePoints

LEADING, VOWEL, TRAILING = "\u1100", "\u1161", "\u11a8"
JOINER, PICTURE, INDICATOR = "\u200d", "\u00a9", "\U0001f1e6"
MARK = "\u0300"
LINE_ENDS = "\r\n"

# What stands before the place that is asked about, and what after it; {} is the character.
JOINED = {
    "attach": ("a", "{}"),
    "prepend": ("{}", "a"),
    "before_mark": ("{}", MARK),
    "before_leading": ("{}", LEADING),
    "before_vowel": ("{}", VOWEL),
    "before_trailing": ("{}", TRAILING),
    "after_leading": (LEADING, "{}"),
    "after_vowel": (VOWEL, "{}"),
    "after_trailing": (TRAILING, "{}"),
    "after_indicator": (INDICATOR, "{}"),
    "picture": (PICTURE + JOINER, "{}"),
    "extend": (PICTURE + "{}" + JOINER, PICTURE),
}


def joined(before: str, behind: str) -> CodePoints:
    """The characters with which two parts of a line are joined; line ends are none."""
    characters = [character for character in every_scalar_value() if character not in LINE_ENDS]
    text = "\n".join((before + behind).format(character) for character in characters)
    left = oniguruma_leaves(rf"^.{{{len(before.format('a'))}}}\Y.$", text).split("\n")
    pairs = zip(characters, left, strict=True)
    return members_of("".join(character for character, line in pairs if not line))


def segment_sets() -> dict[str, CodePoints]:
    """What the rules look at, by name. What is joined to whatever stands beside it is left out
    where that could not tell.
    """
    sets = {name: joined(before, behind) for name, (before, behind) in JOINED.items()}
    for name in ("after_indicator", "picture"):
        sets[name] &= ~sets["attach"]
    sets["extend"] &= ~sets["picture"]
    return sets
