"""What decides where a grapheme cluster ends, asked of ``tokenizers``' Precompiled normalizer.

Part of the generator (:mod:`tokexport.unicode.generate`). The normalizer replaces a cluster of up
to five bytes whole if its map has the first character. So, with a map from ``a`` to ``X``,
``a\\u0300`` becomes ``X`` where the ``a`` begins a cluster, and ``X\\u0300`` where it is joined to
what stands before. Clusters of more than five bytes are looked up character by character: which of
them pairs of regional indicators are makes no difference.
"""

from __future__ import annotations

from tokexport.unicode.charsmap import charsmap_of
from tokexport.unicode.engines import every_scalar_value, members_of
from tokexport.unicode.store import CodePoints

LEADING, VOWEL, TRAILING = "\u1100", "\u1161", "\u11a8"
JOINER, PICTURE, CONSONANT, LINKER = "\u200d", "\u00a9", "\u0915", "\u094d"
MARK, OTHER_MARK = "\u0300", "\u0301"
LINE_ENDS = "\r\n"

# What is asked about a character, in a template, and the character of it that is joined or not: the
# one before the mark.
JOINED = {
    "prepend": "{}a" + MARK,
    "before_leading": "{}" + LEADING + MARK,
    "before_vowel": "{}" + VOWEL + MARK,
    "before_trailing": "{}" + TRAILING + MARK,
    "extend": PICTURE + "{}" + JOINER + PICTURE + MARK,
    "pictographic": "{}" + JOINER + PICTURE + MARK,
    "consonant": "{}" + LINKER + CONSONANT + MARK,
    "conjunct_extend": CONSONANT + "{}" + LINKER + CONSONANT + MARK,
    "linker": CONSONANT + "{}" + CONSONANT + MARK,
}


def normalized(replacements: dict[str, str], texts: list[str]) -> list[str]:
    """Each text as Precompiled makes it; line ends, which are clusters of their own, keep them
    apart.
    """
    from tokenizers import normalizers

    normalizer = normalizers.Precompiled(charsmap_of(replacements))
    answers: list[str] = normalizer.normalize_str("\n".join(texts)).split("\n")
    if len(answers) != len(texts):
        raise ValueError("Precompiled does not keep line ends apart")
    return answers


def members(template: str, replacements: dict[str, str], expected: str) -> CodePoints:
    """The characters with which the answer to a template is ``expected``, in which ``{}`` stands
    for what the character becomes.
    """
    characters = [character for character in every_scalar_value() if character not in LINE_ENDS]
    answers = normalized(replacements, [template.format(character) for character in characters])
    wanted = [expected.format(replacements.get(character, character)) for character in characters]
    found = zip(characters, answers, wanted, strict=True)
    return members_of("".join(character for character, answer, joined in found if answer == joined))


def grapheme_sets() -> dict[str, CodePoints]:
    """What the rules look at, by name. ``attach``: joined to what stands before; ``control``: never
    joined to anything.
    """
    sets = {
        name: members(
            template, {template[-2]: "X"}, template[:-2].replace(template[-2], "X") + "X" + MARK
        )
        for name, template in JOINED.items()
    }
    sets["attach"] = members("a{}", {"a": "X"}, "X")
    sets["control"] = members("{}" + MARK + OTHER_MARK, {MARK: "X"}, "{}X")
    return sets
