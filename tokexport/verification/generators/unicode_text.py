"""Code points of every kind, words of many scripts, marks, jamo and emoji, a round at a time."""

import functools
from collections.abc import Iterator
from typing import Final

import numpy as np

from tokexport.model import Dialect
from tokexport.unicode import CODE_POINTS, property_set, shorthand_set
from tokexport.verification.generators.dice import Dice, listed, ranges
from tokexport.verification.generators.lexical import PLAIN_SPACES, SPACES

LAST: Final = CODE_POINTS - 1
SURROGATES: Final = range(0xD800, 0xE000)
PROPERTIES: Final = listed("Lu Ll Lt Lm Lo M Nd Nl No P S Z Cc Cf Co Han")
ODD: Final = tuple(
    int(point, 16)
    for point in listed(
        "0 1 7F 80 85 9F A0 AD 130 131 17F 1C5 295 2BC 345 378 3A2 61C 70F 180E 200B 200C 200D 200E"
        " 200F 2028 2029 202A 202E 2060 2066 212A 212B 2126 3000 302E 3164 D7FF E000 F8FF FDD0 FDEF"
        " FE0E FE0F FEFF FFA0 FFF9 FFFC FFFD FFFE FFFF 10000 1FFFE 1FFFF 2A6DF 2A6E0 2FFFF 323AF"
        " 323B0 E0001 E0020 E007F E0100 E01EF F0000 FFFFD 100000 10FFFD 10FFFF"
    )
)
RANGES: Final = ranges(
    "41-5A 61-7A C0-FF 100-24F 250-2AF 370-3FF 400-52F 531-587 5D0-5EA 620-6FF 700-74F 900-97F"
    " 980-9FF B80-BFF C00-C7F D00-D7F E01-E5B E80-EDF F00-FDA 1000-109F 10A0-10FF 1100-11FF"
    " 1200-137F 13A0-13FD 1780-17F9 1800-1877 1C80-1CBF 1D00-1DBF 1E00-1FFF 2000-206F 2070-20CF"
    " 2100-218B 2190-23FF 2460-24FF 2500-27BF 2C00-2DFF 2E80-2FD5 3000-303F 3041-309F 30A0-30FF"
    " 3100-33FF 4E00-9FFF A000-A4C6 A640-A7FF AB30-ABBF AC00-D7A3 F900-FAD9 FB00-FB4F FB50-FDFF"
    " FE30-FEFC FF01-FFEE 10400-1044F 11000-1107F 16A40-16AFF 1D400-1D7FF 1E900-1E95F 1F000-1FAFF"
    " 20000-2A6DF"
)


@functools.cache
def boundaries() -> tuple[int, ...]:
    """The code points on both sides of each boundary of a general category or of white space."""
    sets = [property_set(name, dialect) for dialect in Dialect for name in PROPERTIES]
    sets += [shorthand_set(letter, dialect) for dialect in Dialect for letter in "sw"]
    edges = np.concatenate([np.flatnonzero(members[1:] != members[:-1]) for members in sets])
    both = np.unique(np.concatenate([edges, edges + 1]))
    return tuple(point for point in both.tolist() if point not in SURROGATES)


def _any(dice: Dice, first: int, last: int) -> int:
    point = dice.between(first, last)
    return point + 0x800 if point in SURROGATES else point


def code_points(dice: Dice) -> Iterator[str]:
    """Unrelated code points: any, odd ones, and those at the boundary of a category."""
    kind = dice.below(8)
    if kind < 1:
        yield chr(_any(dice, 0, LAST))
    elif kind < 2:
        yield chr(_any(dice, 0, 0xFFFF))
    elif kind < 4:
        yield chr(dice.pick(boundaries()))
    elif kind < 5:
        yield chr(dice.pick(ODD))
    elif kind < 6:
        yield dice.pick(SPACES)
    else:
        yield chr(dice.between(0x20, 0x7E))


BETWEEN_WORDS: Final = listed(" ¦ ¦ ¦¦, ¦。¦、¦-¦'s ¦\n¦1¦\u200d¦\u3000", "¦")


def scripts(dice: Dice) -> Iterator[str]:
    """Words of one script each, with spaces, punctuation or nothing between them."""
    first, last = dice.pick(RANGES)
    yield "".join(chr(_any(dice, first, last)) for _ in range(dice.few(10)))
    yield dice.pick(BETWEEN_WORDS)


MARKS: Final = ranges(
    "300-36F 483-489 591-5C7 610-61A 64B-65F 93A-94D 9BC-9D7 E31-E4E F71-F84 1AB0-1ACE 1DC0-1DFF"
    " 20D0-20F0 3099-309A FE00-FE2F 1D165-1D172 1E8D0-1E8D6 E0100-E0110"
)
BASES: Final = tuple("aeoucnsAEOUIİıßſΑαιυωИйקשالک०कनरงก가각ㄱ가ᅡᆨかがハ中1 ' \n\u00a0\u0958\u0344Ω")
JAMO: Final = ranges("1100-1114 1160-1177 11A6-11C4 AC00-AC40 D788-D7FB A960-A97C")
AFTER_MARKS: Final = (*PLAIN_SPACES, "x", "the", "'s", "12", "!?")
# Changed by NFC: singletons, composition exclusions, compatibility ideographs, marks that split.
NOT_NFC: Final = listed(
    "\u0340 \u0341 \u0343 \u0344 \u0374 \u037e \u0387 \u0958 \u095f \u09dc \u0a33 \u0f43 \u0f73"
    " \u0f75 \u0f81 \u1f71 \u1fbe \u1fef \u1ffd \u2000 \u2001 \u2126 \u212a \u212b \u2329 \u2adc"
    " \uf900 \ufa0e \ufa10 \ufb1d \ufb1f \ufb4e \U0001d15e \U0001d1bb \U0002f800 \U0002fa1d e\u0301"
    " E\u0302\u0301 o\u0323\u0302 a\u030a A\u0315\u0300 \u09c7\u09be \u0b47\u0b57 \u1025\u102e"
    " \u30ab\u3099 \u11131\u11127 \U00011131\U00011127 \u1100\u1161 \uac00\u11a8 \u1100\u1161\u11a8"
    " q\u0307\u0323"
)


def marks(dice: Dice) -> Iterator[str]:
    """Combining marks in any order, jamo that compose or almost do, and text that NFC changes."""
    kind = dice.below(6)
    if kind < 3:
        yield dice.pick(BASES)
        for _ in range(dice.few(40) if dice.chance(0.03) else dice.few(5)):
            first, last = dice.pick(MARKS) if dice.chance(0.4) else MARKS[0]
            yield chr(dice.between(first, last))
    elif kind < 4:
        yield dice.pick(NOT_NFC)
    elif kind < 5:
        for _ in range(dice.few(4)):
            first, last = dice.pick(JAMO)
            yield chr(dice.between(first, last))
    else:
        yield dice.pick(AFTER_MARKS)


EMOJI: Final = listed("😀 👍 👩 👨 👧 ❤ ☺ 🏳 🏴 🧑 ⛹ ✋ 🐈 🪿 🫠 ☎ © ™ ‼ 🀄 ♀ ⚕ ⬛ 🌈 1 # *")
JOINTS: Final = listed(
    "¦¦\u200d¦\ufe0f¦\ufe0e¦\ufe0f\u200d¦\ufe0f\u20e3¦\u20e3¦ ¦\U000e0067\U000e0062\U000e007f", "¦"
)


def emoji(dice: Dice) -> Iterator[str]:
    """Emoji with joiners, variation selectors, skin tones, key caps, flags and tags."""
    if dice.chance(0.2):
        for _ in range(dice.few(4)):
            yield chr(dice.between(0x1F1E6, 0x1F1FF))
    yield dice.pick(EMOJI)
    if dice.chance(0.3):
        yield chr(dice.between(0x1F3FB, 0x1F3FF))
    yield dice.pick(JOINTS)
