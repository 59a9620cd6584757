"""The syntax tree of a pattern, the same for both dialects.

A parser resolves everything specific to a dialect: the meaning of escapes, the members of sets, the
effect of ``(?i)``. The tree has one meaning, that of a backtracking matcher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from tokexport.errors import TokexportError
from tokexport.unicode import CODE_POINTS, CodePoints


class PatternError(TokexportError):
    """A pattern that cannot be compiled: what was found, as in "a match reset", at ``offset`` (in
    characters), and a ``hint``: what is supported, or what to do.
    """

    def __init__(self, offset: int, found: str, hint: str, /) -> None:
        super().__init__(f"{found} at offset {offset}", hint)
        self.offset = offset


@dataclass(frozen=True, slots=True, eq=False)
class LookOne:
    """The code point ahead (or before) is a member; ``edge``: the result if there is none."""

    ahead: bool
    members: CodePoints
    edge: bool


@dataclass(frozen=True, slots=True, eq=False)
class LookUnbounded:
    """The text after a position matches a body, however many characters that takes."""

    body: Node


@dataclass(frozen=True, slots=True, eq=False)
class And:
    """All conditions hold; with none, always true."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Or:
    """At least one condition holds; with none, never true."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Not:
    """The condition does not hold."""

    condition: Condition


# The leaves of a condition.
Test: TypeAlias = "LookOne | LookUnbounded"
Condition: TypeAlias = "Test | And | Or | Not"


@dataclass(frozen=True, slots=True, eq=False)
class Characters:
    """One character out of a set."""

    members: CodePoints


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """One node after the other; with none, the empty string."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The first alternative with which the remaining pattern matches."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """A body, ``low`` to ``high`` times (None: unlimited), as often as possible if ``greedy``,
    otherwise as rarely as possible. A body that may be empty is repeated at most once.
    """

    body: Node
    low: int
    high: int | None
    greedy: bool


@dataclass(frozen=True, slots=True, eq=False)
class Atomic:
    """A body that keeps the match found first: ``(?>...)``, or a possessive quantifier."""

    body: Node
    offset: int


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A capturing group."""

    number: int
    body: Node


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A back-reference: the character that a group has matched, again."""

    number: int
    offset: int


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A lookahead or lookbehind: the body matches here (or does not), and nothing is consumed."""

    body: Node
    ahead: bool
    negative: bool
    offset: int


@dataclass(frozen=True, slots=True, eq=False)
class Assertion:
    """A condition on a position; nothing is consumed."""

    condition: Condition


@dataclass(frozen=True, slots=True, eq=False)
class SearchStart:
    r"""Here the search for this match began: ``\G``."""

    offset: int


Node: TypeAlias = (
    "Characters | Sequence | Choice | Repeat | Atomic | Group | Reference | Look | Assertion"
    " | SearchStart"
)

EMPTY = Sequence(())
ALWAYS = And(())
NEVER = Or(())


def members_of(*ranges: tuple[int, int]) -> CodePoints:
    """The set of the given ranges, both ends included; surrogates are never members.

    >>> int(members_of((ord("a"), ord("c")), (0xD7FF, 0xE000)).sum())
    5
    """
    members = np.zeros(CODE_POINTS, dtype=np.bool_)
    for first, last in ranges:
        members[first : last + 1] = True
    members[0xD800:0xE000] = False
    return members


def complement(members: CodePoints) -> CodePoints:
    """Every other code point except surrogates.

    >>> int(complement(members_of()).sum())
    1112064
    """
    others = ~members
    others[0xD800:0xE000] = False
    return others


def parts_of(node: Node) -> tuple[Node, ...]:
    match node:
        case Sequence(parts) | Choice(parts):
            return parts
        case Repeat(body) | Atomic(body) | Group(_, body) | Look(body):
            return (body,)
        case _:
            return ()


def with_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """The same node with each part replaced by ``change`` of it."""
    match node:
        case Sequence(parts) | Choice(parts):
            return type(node)(tuple(map(change, parts)))
        case Repeat(body) | Atomic(body) | Group(_, body) | Look(body):
            return replace(node, body=change(body))
        case _:
            return node


def nodes_of(node: Node) -> Iterator[Node]:
    """A node and all nodes in it, in the order of the pattern."""
    yield node
    for part in parts_of(node):
        yield from nodes_of(part)


def can_match_empty(node: Node) -> bool:
    """Whether the node may match the empty string somewhere; True if that is not known."""
    match node:
        case Characters() | Reference():
            return False
        case Choice(options):
            return any(map(can_match_empty, options))
        case Repeat(low=0) | Look():
            return True
        case _:
            return all(map(can_match_empty, parts_of(node)))
