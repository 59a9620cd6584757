"""Patterns that no source spells as a regular expression, as trees for the pattern compiler."""

from __future__ import annotations

import numpy as np

from tokexport.model import CharacterTest
from tokexport.patterns.tree import (
    Assertion,
    Characters,
    Choice,
    LookOne,
    Node,
    Repeat,
    Sequence,
    members_of,
)
from tokexport.unicode import character_test_set
from tokexport.unicode.character_data import script_sets


def literal(text: str) -> Node:
    """Just this text."""
    return Sequence(
        tuple(Characters(members_of((ord(character), ord(character)))) for character in text)
    )


def white_space_at_edge(at_end: bool) -> Node:
    """The white space (Rust's ``char::is_whitespace``) that a text begins with, or ends with."""
    edge = Assertion(LookOne(ahead=at_end, members=members_of(), edge=True))
    spaces = Repeat(Characters(character_test_set(CharacterTest.WHITESPACE)), 1, None, greedy=True)
    return Sequence((spaces, edge) if at_end else (edge, spaces))


def script_runs() -> Node:
    """The runs of one script that UnicodeScripts cuts a text into: a character of some script, then
    all that follow of the same script or of none.

    What comes before the first such character is in no run: the reference drops it.
    """
    none, *scripts = script_sets()
    return Choice(
        tuple(
            Sequence(
                (
                    Characters(script),
                    Repeat(Characters(np.logical_or(script, none)), 0, None, greedy=True),
                )
            )
            for script in scripts
        )
    )
