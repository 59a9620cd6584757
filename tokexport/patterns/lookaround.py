r"""Lookaround over one code point: from a tree to a condition on the two neighbours of a position.

``(?!\S)`` asks about the code point ahead only, so it costs nothing while a text is read: the
automaton knows that code point when it decides. So do ``(?=a|$)``, ``(?=ab*)`` (which is ``(?=a)``)
and ``(?<!\w)``. A lookaround that needs a second code point costs a pass over the text (see
unbounded_lookaround.py): a lookbehind as the lookahead that it is if the text is read from its end.
"""

from __future__ import annotations

from dataclasses import replace

from tokexport.patterns.tree import (
    ALWAYS,
    And,
    Assertion,
    Atomic,
    Automaton,
    Characters,
    Choice,
    Condition,
    Look,
    LookOne,
    Node,
    Not,
    Or,
    PatternError,
    Repeat,
    Sequence,
    always_matches,
    nodes_of,
    parts_of,
    with_parts,
)


def condition_of(look: Look) -> Condition:
    """What a lookaround asks of the two neighbours of a position.

    Raises PatternError where more than one code point decides.

    >>> from tokexport.patterns.fancy import parse
    >>> condition = condition_of(parse("(?=ab*)"))  # which is (?=a)
    >>> condition.ahead, [chr(member) for member in condition.members.nonzero()[0]], condition.edge
    (True, ['a'], False)
    """
    condition = _match_from((look.body,), look)
    return Not(condition) if look.negative else condition


def _match_from(nodes: tuple[Node, ...], look: Look) -> Condition:
    """When the nodes match one after the other, from the position outward (so a lookbehind has its
    last node first).
    """
    if not nodes:
        return ALWAYS
    node, rest = nodes[0], nodes[1:]
    match node:
        case Characters(members):
            if all(map(always_matches, rest)) and (look.ahead or not any(map(_holds_atomic, rest))):
                return LookOne(look.ahead, members, edge=False)
        case Sequence(parts):
            return _match_from((parts if look.ahead else parts[::-1]) + rest, look)
        case Choice(options):
            return Or(tuple(_match_from((option, *rest), look) for option in options))
        case Repeat(_, _, 0):
            return _match_from(rest, look)
        case Repeat(body, low, high, greedy):
            again = Repeat(body, max(low - 1, 0), None if high is None else high - 1, greedy)
            once = _match_from((body, again, *rest), look)
            return once if low else Or((once, _match_from(rest, look)))
        case Atomic(body):
            # Which match the group keeps matters to whatever must match, or end, after it.
            if isinstance(body, Characters) or (
                look.ahead and all(always_matches(other) for other in rest)
            ):
                return _match_from((body, *rest), look)
        case Look():
            return And((condition_of(node), _match_from(rest, look)))
        case Assertion(condition):
            return And((condition, _match_from(rest, look)))
    raise PatternError(
        look.offset,
        f"a look-{'ahead' if look.ahead else 'after'} over more than one character",
        "a test of the one character before or after a position, or of the start or end of the"
        " text, is",
    )


def _holds_atomic(node: Node) -> bool:
    """Whether what a node matches may not be all that it could."""
    return any(isinstance(part, Atomic) for part in nodes_of(node))


def without_needless_groups(node: Node) -> Node:
    """The same without atomic groups all whose matches are of one length: whichever of them is kept
    makes no difference.

    >>> from tokexport.patterns.fancy import parse
    >>> type(without_needless_groups(parse("(?>ab|ba)"))).__name__, type(without_needless_groups(parse("(?>ab|a)"))).__name__
    ('Choice', 'Atomic')
    """
    match node:
        case Atomic(body) if _length(body) is not None:
            return without_needless_groups(body)
        case Look(_, True):
            return node
        case _:
            return with_parts(node, tuple(map(without_needless_groups, parts_of(node))))


def _length(node: Node) -> int | None:
    """How many characters each match of a node has; None where that is not the same."""
    lengths = [_length(part) for part in parts_of(node)]
    match node:
        case Characters():
            return 1
        case Look() | Assertion():
            return 0
        case Sequence():
            known = [length for length in lengths if length is not None]
            return sum(known) if len(known) == len(lengths) else None
        case Choice() | Atomic():
            return lengths[0] if len(set(lengths)) == 1 else None
        case Repeat(_, low, high) if low == high and lengths[0] is not None:
            return low * lengths[0]
        case _:
            return None


def mirrored(node: Node, look: Look) -> Node:
    """The body of a lookbehind, lower_lookaround_and_atomic, as it reads from its end to its start.

    Raises PatternError for a part that reads in one direction only.

    >>> from tokexport.patterns.fancy import parse
    >>> look = parse("(?<=ab)")
    >>> [chr(int(part.members.argmax())) for part in mirrored(look.body, look).parts]
    ['b', 'a']
    """
    match node:
        case Sequence(parts):
            return Sequence(tuple(mirrored(part, look) for part in reversed(parts)))
        case Choice(options):
            return Choice(tuple(mirrored(option, look) for option in options))
        case Repeat(body):
            return replace(node, body=mirrored(body, look))
        case Assertion(condition):
            return Assertion(_mirrored_condition(condition))
        case Automaton():
            raise PatternError(
                look.offset,
                "a lookbehind over more than one character that holds an atomic group or"
                " possessive quantifier",
                "one whose matches are all of one length, sets of characters, alternatives,"
                " repeats, anchors and other lookarounds are",
            )
        case _:
            return node


def _mirrored_condition(condition: Condition) -> Condition:
    match condition:
        case LookOne(ahead, members, edge):
            return LookOne(not ahead, members, edge)
        case And(conditions):
            return And(tuple(_mirrored_condition(part) for part in conditions))
        case Or(conditions):
            return Or(tuple(_mirrored_condition(part) for part in conditions))
        case Not(part):
            return Not(_mirrored_condition(part))
        case _:
            # a lookbehind inside another is mirrored as it is, and a lookahead far ahead is told
            # before
            return condition
