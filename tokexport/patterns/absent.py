r"""Absent groups: ``(?~ab)`` is as much text as can be before the next place where ``ab`` matches;
``(?~|ab|\w+)`` is ``\w+`` up to there.

So ``(?~ab)`` is ``(?:(?!ab)\O)*``, backtracking included, and not the longest text that does not
hold ``ab``: that would end in its ``a``. Facts: Oniguruma 6.9.9 and fancy-regex 0.19.0, their
sources and what they do when they are run.
"""

from __future__ import annotations

from dataclasses import replace

from tokexport.patterns.syntax import (
    Atomic,
    Characters,
    Choice,
    Look,
    Node,
    PatternError,
    Repeat,
    Sequence,
    members_of,
)

_ANY = members_of((0, 0x10FFFF))


def absent_group(absent: Node, offset: int) -> Node:
    """``(?~absent)``: characters, as many as can be, before none of which ``absent`` matches."""
    return Repeat(
        _guarded(Characters(_ANY), Look(absent, True, True, offset)), 0, None, greedy=True
    )


def absent_expression(absent: Node, body: Node, offset: int) -> Node:
    """``(?~|absent|body)``: what the body matches that ends before ``absent`` matches, or there.

    Raises PatternError for a body that asks what stands beside it, for which the text ends there
    too.
    """
    return _guarded(body, Look(absent, True, True, offset))


def nested_absent(offset: int) -> PatternError:
    """The error for an absent group, a call that may be one, or a condition, inside another."""
    return PatternError(
        offset,
        "an absent group, a call or a condition in an absent group",
        "outside of such groups it is",
    )


def _guarded(node: Node, look: Look) -> Node:
    """The same with a test before each character. The characters stand side by side, so no place
    between them is left out.
    """
    match node:
        case Characters():
            return Sequence((look, node))
        case Sequence(parts):
            return Sequence(tuple(_guarded(part, look) for part in parts))
        case Choice(options):
            return Choice(tuple(_guarded(option, look) for option in options))
        case Repeat(body) | Atomic(body):
            return replace(node, body=_guarded(body, look))
        case _:
            raise PatternError(
                look.offset,
                "an absent group with an expression that has more than characters, alternatives and"
                " repeats",
                "one of these is",
            )
