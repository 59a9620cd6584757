r"""Characters that stand together in an Oniguruma pattern: under ``(?i)`` they fold together, and a
quantifier sees them as one string.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from tokexport.model import Dialect
from tokexport.patterns.casefold import folded_literal, variants_of
from tokexport.patterns.tree import EMPTY, Assertion, Characters, Look, Node, Sequence, members_of
from tokexport.unicode import CodePoints


@dataclass(frozen=True, slots=True)
class Literal:
    """Characters that stand together; they are folded together under ``(?i)``. ``open``: more
    characters may join them.

    ``one_by_one``: each is folded for itself.
    """

    code_points: tuple[int, ...]
    ignore_case: bool
    open: bool = False
    one_by_one: bool = False


Item: TypeAlias = "Node | Literal"


def is_anchor(atom: list[Item]) -> bool:
    """Whether an atom is one that cannot be repeated."""
    return len(atom) == 1 and isinstance(atom[0], Assertion | Look)


def is_string(atom: list[Item]) -> bool:
    """Whether an atom is a string, not of one character."""
    return all(isinstance(item, Literal) for item in atom) and not (
        len(atom) == 1 and isinstance(atom[0], Literal) and len(atom[0].code_points) == 1
    )


def is_open(item: Item) -> bool:
    """Whether more characters may join an item."""
    return isinstance(item, Literal) and item.open


def closed_literals(items: list[Item]) -> list[Item]:
    """The same items; no more characters join them."""
    return [replace(item, open=False) if isinstance(item, Literal) else item for item in items]


def finished(items: list[Item]) -> Node:
    """The node of a branch."""
    nodes = [_unfolded(item) if isinstance(item, Literal) else item for item in joined(items)]
    return nodes[0] if len(nodes) == 1 else Sequence(tuple(nodes))


def joined(items: list[Item]) -> list[Item]:
    """The same items; literals that stand side by side are one."""
    joined: list[Item] = []
    for item in items:
        last = joined[-1] if joined else None
        if (
            isinstance(item, Literal)
            and isinstance(last, Literal)
            and item.ignore_case == last.ignore_case
        ):
            joined[-1] = replace(last, code_points=last.code_points + item.code_points)
        else:
            joined.append(item)
    return joined


def _unfolded(literal: Literal) -> Node:
    if not literal.code_points:
        return EMPTY
    if literal.ignore_case:
        if not literal.one_by_one:
            return folded_literal(literal.code_points)
        return Sequence(
            tuple(Characters(variants_of(each, Dialect.ONIGURUMA)) for each in literal.code_points)
        )
    return Sequence(tuple(Characters(_single(code_point)) for code_point in literal.code_points))


def _single(code_point: int) -> CodePoints:
    return members_of((code_point, code_point))
