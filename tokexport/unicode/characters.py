"""What ``tokenizers``' normalizers make of single characters, found out from the library alone.

Part of the generator (:mod:`tokexport.unicode.generate`): each normalizer is asked about every
scalar value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tokexport.model import CharacterMap
from tokexport.unicode import graphemes
from tokexport.unicode.engines import every_scalar_value, members_of
from tokexport.unicode.store import CODE_POINTS, Writer, set_to_numbers

# What many characters become: nothing, a space, themselves between two spaces. The rest is listed
# one by one.
PATTERNS = ("", " ", " {} ")


def library_normalizers() -> dict[CharacterMap, Any]:
    """The library's normalizer for each map; all but one of BertNormalizer's parts are switched
    off.
    """
    from tokenizers import normalizers

    off = {
        "clean_text": False,
        "handle_chinese_chars": False,
        "strip_accents": False,
        "lowercase": False,
    }
    bert = (CharacterMap.BERT_CLEAN, CharacterMap.BERT_CHINESE, CharacterMap.BERT_STRIP_ACCENTS)
    return {
        CharacterMap.LOWERCASE: normalizers.Lowercase(),
        CharacterMap.STRIP_ACCENTS: normalizers.StripAccents(),
        CharacterMap.NMT: normalizers.Nmt(),
        **{part: normalizers.BertNormalizer(**(off | {part.value: True})) for part in bert},
    }


def character_map(kind: CharacterMap) -> dict[str, str]:
    """Character -> what it becomes, where that is another string.

    BertNormalizer's strip_accents decomposes first: a character that this changes never reaches the
    map, and is left out.
    """
    from tokenizers import normalizers

    normalize = library_normalizers()[kind].normalize_str
    decompose = normalizers.NFD().normalize_str
    characters = every_scalar_value()
    if kind is CharacterMap.BERT_STRIP_ACCENTS:
        characters = "".join(
            character for character in characters if decompose(character) == character
        )
    found = zip(characters, map(normalize, characters), strict=True)
    return {before: after for before, after in found if before != after}


def set_numbers(found: dict[str, str], pattern: str) -> list[int]:
    """The characters that become the pattern, in which ``{}`` stands for the character."""
    return set_to_numbers(
        members_of("".join(c for c, after in found.items() if after == pattern.format(c)))
    )


def other_numbers(found: dict[str, str]) -> Iterator[int]:
    """What no pattern says. Each entry: the distance from the code point before, how many it
    becomes, those.
    """
    last = 0
    for before, after in sorted(found.items()):
        if after not in [pattern.format(before) for pattern in PATTERNS]:
            yield from (ord(before) - last, len(after), *map(ord, after))
            last = ord(before)


def script_numbers() -> Iterator[int]:
    """The runs of code points of one script, as UnicodeScripts tells them: how many code points,
    and the script's number.

    0 is the script of what never begins a piece; the others are numbered as they come.
    """
    from tokenizers import pre_tokenizers

    cut = pre_tokenizers.UnicodeScripts().pre_tokenize_str
    numbers = np.zeros(CODE_POINTS, np.int64)
    firsts: list[str] = []  # of each script, the first character
    piece_of = {piece[0]: piece for piece, _ in cut(every_scalar_value())}
    inside: str | None = None
    for character in every_scalar_value():
        if not cut(character):
            continue
        if character in piece_of or inside is None:
            inside = character
            number = next(
                (i for i, first in enumerate(firsts) if len(cut(first + character)) == 1),
                len(firsts),
            )
            if number == len(firsts):
                firsts.append(character)
        numbers[ord(character)] = number + 1
    edges = np.flatnonzero(np.diff(numbers, prepend=-1))
    for start, stop in zip(edges, [*edges[1:], CODE_POINTS], strict=True):
        yield from (int(stop - start), int(numbers[start]))


def generate(made_with: dict[str, str]) -> bytes:
    """The bytes of ``characters.dat``."""
    writer = Writer()
    maps = {kind: character_map(kind) for kind in CharacterMap}
    header = {
        "made_with": made_with,
        "graphemes": {
            name: writer.add(set_to_numbers(found))
            for name, found in graphemes.grapheme_sets().items()
        },
        "patterns": PATTERNS,
        "scripts": writer.add(script_numbers()),
        "maps": {
            kind.value: [
                *(writer.add(set_numbers(found, pattern)) for pattern in PATTERNS),
                writer.add(other_numbers(found)),
            ]
            for kind, found in maps.items()
        },
    }
    return writer.file(header)
