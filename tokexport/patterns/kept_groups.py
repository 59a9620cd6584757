r"""``\K`` in atomic groups: ``(?>a\Kb|c)`` is ``(?:a\K(?>b)|(?!ab)(?>c))``, in which no atomic
group holds one.

An atomic group is compiled by itself, and what it matches is all that is known of it. So a group
that holds a ``\K`` is taken apart: what can match in one way only stands before it, what always
matches is a group of its own, and an alternative is tried where those before it do not match.
"""

from __future__ import annotations

from tokexport.patterns.syntax import (
    EMPTY,
    Atomic,
    Choice,
    Conditional,
    Keep,
    Look,
    Node,
    Repeat,
    Sequence,
    always_matches,
    can_match_empty,
    has_one_match,
    nodes_of,
    parts_of,
    with_parts,
)


def taken_apart(node: Node) -> Node:
    r"""The same tree with no \K in an atomic group, as far as that can be.

    >>> from tokexport.patterns.oniguruma import parse
    >>> [type(part).__name__ for part in taken_apart(parse(r"(?>a\K[bc]*)")).parts]
    ['Sequence', 'Keep', 'Atomic']
    """
    if isinstance(node, Atomic):
        return _atomic(node.body, node.offset)
    return with_parts(node, tuple(map(taken_apart, parts_of(node))))


def _atomic(body: Node, offset: int) -> Node:
    """An atomic group."""
    match body:
        case _ if not _may_be_apart(body):
            return Atomic(body, offset)
        case Keep():
            return body
        case Atomic(inner):
            return _atomic(inner, offset)
        case Choice(options):
            before = [Look(_without_keep(option), True, True, offset) for option in options]
            return Choice(
                tuple(
                    Sequence((*before[:number], _atomic(option, offset)))
                    for number, option in enumerate(options)
                )
            )
        case Repeat(inner, 0, 1, greedy):
            return _atomic(Choice((inner, EMPTY) if greedy else (EMPTY, inner)), offset)
        case Repeat(inner, low, None, True) if not can_match_empty(inner):
            # As many turns as there can be, and each of them is kept.
            turn = _atomic(inner, offset)
            end = Look(_without_keep(inner), True, True, offset)
            return Sequence((Repeat(turn, low, None, greedy=True), end))
        case Sequence((only,)):
            return _atomic(only, offset)
        case Sequence((first, *others)):
            rest = Sequence(tuple(others))
            if has_one_match(first):
                parts = _atomic(rest, offset)
                return Sequence(
                    (
                        taken_apart(first),
                        *(parts.parts if isinstance(parts, Sequence) else (parts,)),
                    )
                )
            for cut in range(1, len(body.parts)):
                head, tail = Sequence(body.parts[:cut]), Sequence(body.parts[cut:])
                if always_matches(_without_keep(tail)):
                    return Sequence((_atomic(head, offset), _atomic(tail, offset)))
            match first:
                case Sequence(inside):
                    return _atomic(Sequence((*inside, *others)), offset)
                case Choice(options):
                    return _atomic(
                        Choice(tuple(Sequence((option, *others)) for option in options)), offset
                    )
                case Repeat(inner, 0, 1, greedy):
                    ways = Sequence((inner, *others)), rest
                    return _atomic(Choice(ways if greedy else ways[::-1]), offset)
    return Atomic(body, offset)


def _may_be_apart(node: Node) -> bool:
    # What a conditional asks for is known in the same group only.
    kinds = {type(each) for each in nodes_of(node)}
    return Keep in kinds and Conditional not in kinds


def _without_keep(node: Node) -> Node:
    return (
        EMPTY
        if isinstance(node, Keep)
        else with_parts(node, tuple(map(_without_keep, parts_of(node))))
    )
