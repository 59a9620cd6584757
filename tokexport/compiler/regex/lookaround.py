r"""Look-around over one code point: from a tree to a condition on the two neighbours of a position.

``(?!\S)`` asks about the code point ahead only, so it costs nothing while a text is read: the automaton knows that code point when
it decides. So do ``(?=a|$)``, ``(?=ab*)`` (which is ``(?=a)``) and ``(?<!\w)``. A look-ahead that needs a second code point costs a pass
over the text (see far.py); such a look-behind is refused.
"""

from __future__ import annotations

from tokexport.compiler.regex.syntax import (
    ALWAYS,
    Assertion,
    Atomic,
    Characters,
    Choice,
    Condition,
    Every,
    Look,
    Neighbour,
    Node,
    Opposite,
    PatternError,
    Repeat,
    Sequence,
    Some,
    always_matches,
)


def condition_of(look: Look) -> Condition:
    """What a look-around asks of the two neighbours of a position.

    Raises PatternError where more than one code point decides.

    >>> from tokexport.compiler.regex.fancy import parse
    >>> condition = condition_of(parse("(?=ab*)"))  # which is (?=a)
    >>> condition.ahead, [chr(member) for member in condition.members.nonzero()[0]], condition.edge
    (True, ['a'], False)
    """
    condition = _match_from((look.body,), look)
    return Opposite(condition) if look.negative else condition


def _match_from(nodes: tuple[Node, ...], look: Look) -> Condition:
    """When the nodes match one after the other, from the position outward (so a look-behind has its last node first)."""
    if not nodes:
        return ALWAYS
    node, rest = nodes[0], nodes[1:]
    match node:
        case Characters(members):
            if all(always_matches(other) for other in rest):
                return Neighbour(look.ahead, members, edge=False)
        case Sequence(parts):
            return _match_from((parts if look.ahead else parts[::-1]) + rest, look)
        case Choice(options):
            return Some(tuple(_match_from((option, *rest), look) for option in options))
        case Repeat(body, low, high, greedy):
            if high == 0:
                return _match_from(rest, look)
            again = Repeat(body, max(low - 1, 0), None if high is None else high - 1, greedy)
            once = _match_from((body, again, *rest), look)
            return once if low else Some((once, _match_from(rest, look)))
        case Atomic(body):
            # Which match the group keeps matters to whatever must match, or end, after it.
            if isinstance(body, Characters) or (look.ahead and all(always_matches(other) for other in rest)):
                return _match_from((body, *rest), look)
        case Look():
            return Every((condition_of(node), _match_from(rest, look)))
        case Assertion(condition):
            return Every((condition, _match_from(rest, look)))
    raise PatternError(
        look.offset,
        f"a look-{'ahead' if look.ahead else 'behind'} over more than one character",
        "a look-around may test the one character before or after a position, or the start or end of the text",
    )
