"""Patterns that no source spells as a regular expression, as trees for the pattern compiler."""

from __future__ import annotations

from tokexport.model import CharacterTest
from tokexport.patterns.tree import (
    Assertion,
    Characters,
    LookOne,
    Node,
    Repeat,
    Sequence,
    members_of,
)
from tokexport.unicode import character_test_set


def literal(text: str) -> Node:
    """Just this text."""
    return Sequence(
        tuple(Characters(members_of((ord(character), ord(character)))) for character in text)
    )


def white_space_at_end(behind: bool) -> Node:
    """The white space (Rust's ``char::is_whitespace``) that a text begins with, or ends with if
    ``after``.
    """
    edge = Assertion(LookOne(ahead=behind, members=members_of(), edge=True))
    spaces = Repeat(Characters(character_test_set(CharacterTest.WHITESPACE)), 1, None, greedy=True)
    return Sequence((spaces, edge) if behind else (edge, spaces))
