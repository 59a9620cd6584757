"""Grapheme clusters as a split program: every match is one extended grapheme cluster (UAX #29,
https://unicode.org/reports/tr29/).

A state is what stands before a boundary, as far as the rules ask for it: a class of characters, and
what is left of a conjunct (GB9c) or an emoji sequence (GB11). Pairs of regional indicators (GB12,
GB13) are two clusters here: nothing that looks at clusters can tell. Which characters are of which
class, the reference library says.
"""

from __future__ import annotations

import functools
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from tokexport.patterns import MATCH_ENDS, SplitProgram
from tokexport.unicode.store import CODE_POINTS, shipped

HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
ZERO_WIDTH_JOINER = 0x200D


class Class(IntEnum):
    """Classes of characters. Of marks, EXTEND and JOINER may stand within a conjunct."""

    OTHER = 0
    CR = 1
    LF = 2
    CONTROL = 3
    PREPEND = 4
    LEADING = 5
    VOWEL = 6
    TRAILING = 7
    SYLLABLE = 8  # without a trailing consonant
    CLOSED_SYLLABLE = 9
    EXTEND = 10
    BARE_EXTEND = 11
    LINKER = 12
    JOINER = 13
    SPACING = 14
    PICTOGRAPHIC = 15
    CONSONANT = 16


class State(IntEnum):
    """What stands before the boundary."""

    DEAD = 0
    START = 1  # nothing: the next character begins the cluster
    OTHER = 2
    CR = 3
    ALONE = 4  # LF or another control: nothing is joined to it
    PREPEND = 5
    LEADING = 6
    VOWEL = 7
    TRAILING = 8
    PICTOGRAPHIC = 9  # and EXTEND after it
    PICTOGRAPHIC_JOINER = 10
    CONSONANT = 11  # and EXTEND after it
    CONSONANT_LINKER = 12


ATTACHED = (Class.EXTEND, Class.BARE_EXTEND, Class.LINKER, Class.JOINER, Class.SPACING)
CONTROLS = (Class.CR, Class.LF, Class.CONTROL)
FIRST = {
    Class.CR: State.CR,
    Class.LF: State.ALONE,
    Class.CONTROL: State.ALONE,
    Class.PREPEND: State.PREPEND,
    Class.LEADING: State.LEADING,
    Class.VOWEL: State.VOWEL,
    Class.TRAILING: State.TRAILING,
    Class.SYLLABLE: State.VOWEL,
    Class.CLOSED_SYLLABLE: State.TRAILING,
    Class.PICTOGRAPHIC: State.PICTOGRAPHIC,
    Class.CONSONANT: State.CONSONANT,
}
HANGUL = {
    State.LEADING: (Class.LEADING, Class.VOWEL, Class.SYLLABLE, Class.CLOSED_SYLLABLE),  # GB6
    State.VOWEL: (Class.VOWEL, Class.TRAILING),  # GB7
    State.TRAILING: (Class.TRAILING,),  # GB8
}


def _after(state: State, symbol: Class) -> State | None:
    """The state after a symbol that is joined; None: there is a boundary before it."""
    if state is State.START:
        return FIRST.get(symbol, State.OTHER)
    if state is State.CR:
        return State.ALONE if symbol is Class.LF else None  # GB3
    if state is State.ALONE or symbol in CONTROLS:
        return None  # GB4, GB5
    if symbol in HANGUL.get(state, ()) or state is State.PREPEND:  # GB6 to GB8, GB9b
        return FIRST.get(symbol, State.OTHER)
    if symbol in ATTACHED:  # GB9, GB9a
        return _attached(state, symbol)
    if (state, symbol) == (State.CONSONANT_LINKER, Class.CONSONANT):
        return State.CONSONANT  # GB9c
    if (state, symbol) == (State.PICTOGRAPHIC_JOINER, Class.PICTOGRAPHIC):
        return State.PICTOGRAPHIC  # GB11
    return None


def _attached(state: State, symbol: Class) -> State:
    if state is State.PICTOGRAPHIC and symbol is not Class.SPACING:
        return State.PICTOGRAPHIC_JOINER if symbol is Class.JOINER else State.PICTOGRAPHIC
    if state in (State.CONSONANT, State.CONSONANT_LINKER):
        if symbol is Class.LINKER:
            return State.CONSONANT_LINKER
        if symbol in (Class.EXTEND, Class.JOINER):
            return state
    return State.OTHER


def grapheme_classes() -> npt.NDArray[np.uint8]:
    """The class of each code point, shape (0x110000,)."""
    data = shipped("characters.dat")
    sets = {name: data.members(number) for name, number in data.header["graphemes"].items()}
    classes = np.zeros(CODE_POINTS, np.uint8)
    prepend, attach = sets["prepend"], sets["attach"]
    syllables = np.zeros(CODE_POINTS, np.bool_)
    syllables[HANGUL_SYLLABLES.start : HANGUL_SYLLABLES.stop] = True
    for symbol, members in (
        (Class.TRAILING, sets["before_trailing"]),
        (Class.CLOSED_SYLLABLE, sets["before_trailing"] & syllables),
        (Class.VOWEL, sets["before_vowel"]),
        (Class.SYLLABLE, sets["before_vowel"] & syllables),
        (Class.LEADING, sets["before_leading"]),
        (Class.PREPEND, prepend),
        (Class.CONSONANT, sets["consonant"]),
        (Class.PICTOGRAPHIC, sets["pictographic"]),
        (Class.SPACING, attach),
        (Class.BARE_EXTEND, attach & sets["extend"]),
        (Class.EXTEND, attach & sets["extend"] & sets["conjunct_extend"]),
        (Class.LINKER, attach & sets["linker"]),
        (Class.CONTROL, sets["control"]),
    ):
        classes[members] = symbol
    classes[ZERO_WIDTH_JOINER] = Class.JOINER
    classes[ord("\r")] = Class.CR
    classes[ord("\n")] = Class.LF
    return classes


@functools.cache
def grapheme_program() -> SplitProgram:
    """The program whose matches are the clusters of a text.

    >>> program = grapheme_program()
    >>> program.n_classes, len(program.transitions)
    (17, 13)
    """
    transitions = np.zeros((len(State), len(Class) + 1), np.uint16)
    for state in State:
        if state is State.DEAD:
            continue
        for symbol in Class:
            after = _after(state, symbol)
            transitions[state, symbol] = MATCH_ENDS if after is None else after
        if state is not State.START:
            transitions[state, len(Class)] = MATCH_ENDS
    starts = np.full(len(Class) + 1, State.START, np.uint16)
    return SplitProgram(grapheme_classes(), len(Class), transitions, starts, 0)
