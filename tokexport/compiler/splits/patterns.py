"""Patterns that no source spells as a regular expression, as trees for the pattern compiler."""

from __future__ import annotations

import numpy as np

from tokexport.model import CharacterTest
from tokexport.patterns import tree
from tokexport.patterns.tree import Characters, Node, members_of
from tokexport.unicode import character_test_set
from tokexport.unicode.character_data import script_sets


def literal(text: str) -> Node:
    """Just this text."""
    return tree.Sequence(tuple(Characters(members_of((c, c))) for c in map(ord, text)))


def white_space_at_edge(at_end: bool) -> Node:
    """The white space (Rust's ``char::is_whitespace``) that a text begins with, or ends with."""
    edge = tree.Assertion(tree.LookOne(ahead=at_end, members=members_of(), edge=True))
    space = Characters(character_test_set(CharacterTest.WHITESPACE))
    spaces = tree.Repeat(space, 1, None, greedy=True)
    return tree.Sequence((spaces, edge) if at_end else (edge, spaces))


def script_runs() -> Node:
    """The runs of UnicodeScripts: a character of some script, then all of that script or of none.

    What comes before the first such character is in no run: the reference drops it.
    """
    none, *scripts = script_sets()
    runs = []
    for script in scripts:
        rest = tree.Repeat(Characters(np.logical_or(script, none)), 0, None, greedy=True)
        runs.append(tree.Sequence((Characters(script), rest)))
    return tree.Choice(tuple(runs))
