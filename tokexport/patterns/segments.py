r"""Oniguruma's text segments: ``\y`` is a boundary between two, ``\Y`` is none, and ``\X`` is one
segment, or what is left of it.

They are extended grapheme clusters by the rules of UAX #29 (https://unicode.org/reports/tr29/)
without GB9c. All that these ask is the two neighbours of a place, and for pictures (GB11) and
regional indicators (GB12, GB13) what stands before it, which is a lookbehind. Which characters are
of which class, the engine says.
"""

from __future__ import annotations

from functools import cache

from tokexport.patterns.syntax import (
    Assertion,
    Characters,
    Condition,
    Every,
    Far,
    Neighbour,
    Node,
    Opposite,
    Repeat,
    Sequence,
    Some,
    complement,
    members_of,
)
from tokexport.unicode import CodePoints, segment_sets

_ANY = members_of((0, 0x10FFFF))
_CARRIAGE_RETURN = members_of((0x0D, 0x0D))
_LINE_FEED = members_of((0x0A, 0x0A))
_JOINER = members_of((0x200D, 0x200D))


def segment_boundary(*, negative: bool) -> Node:
    r"""``\y``, or ``\Y``."""
    joined = _joined()
    return Assertion(joined if negative else Opposite(joined))


def text_segment() -> Node:
    r"""``\X``: any character, and all that are joined to it."""
    joined = _joined()
    more = Sequence((Assertion(joined), Characters(_ANY)))
    # The engine keeps what it has found, and so has to go on to the boundary.
    return Sequence(
        (Characters(_ANY), Repeat(more, 0, None, greedy=True), Assertion(Opposite(joined)))
    )


@cache
def _joined() -> Condition:
    """That there is a character on either side, and no boundary between them. One object, so that
    all who ask it ask the same.
    """
    sets = segment_sets()
    open_end = sets["before_mark"]  # all but line ends and other controls
    vowel_before = sets["before_vowel"] & ~sets["before_leading"]
    indicator = sets["after_indicator"]
    rules = Some(
        (
            _ahead(sets["attach"]),  # GB9, GB9a
            _behind(sets["prepend"]),  # GB9b
            Every((_behind(sets["before_leading"]), _ahead(sets["after_leading"]))),  # GB6
            Every((_behind(vowel_before), _ahead(sets["after_vowel"]))),  # GB7
            Every((_behind(sets["before_trailing"]), _ahead(sets["after_trailing"]))),  # GB8
            Every(
                (_ahead(sets["picture"]), _picture_joiner(sets["picture"], sets["extend"]))
            ),  # GB11
            Every((_ahead(indicator), _odd_run(indicator))),  # GB12, GB13
        )
    )
    pair = Every((_behind(_CARRIAGE_RETURN), _ahead(_LINE_FEED)))  # GB3
    return Some((pair, Every((_behind(open_end), _ahead(open_end), rules))))  # GB1, GB2, GB4, GB5


def _picture_joiner(picture: CodePoints, extend: CodePoints) -> Condition:
    """A picture stands before the place, what extends it, and a joiner; a lookbehind is read from
    its end.
    """
    parts = (
        Characters(_JOINER),
        Repeat(Characters(extend), 0, None, greedy=True),
        Characters(picture),
    )
    return Far(Sequence(parts), False)


def _odd_run(indicator: CodePoints) -> Condition:
    """An odd number of regional indicators stands before the place."""
    one = Characters(indicator)
    pairs = Repeat(Sequence((one, one)), 0, None, greedy=True)
    begins = Assertion(Neighbour(True, complement(indicator), edge=True))
    return Far(Sequence((one, pairs, begins)), False)


def _ahead(members: CodePoints) -> Condition:
    return Neighbour(True, members, edge=False)


def _behind(members: CodePoints) -> Condition:
    return Neighbour(False, members, edge=False)
