r"""Calls of groups: ``(a|b)\g<1>`` is ``(a|b)(?:a|b)``, the group's pattern once more, with the
options in force where it stands.

A call may stand before its group, so it is resolved when the whole pattern is read. One that leads
back to itself is no regular language.
"""

from __future__ import annotations

from collections.abc import Sequence as Ordered
from dataclasses import dataclass, replace

from tokexport.patterns.reader import DECIMAL, PatternReader
from tokexport.patterns.syntax import (
    Atomic,
    Call,
    Choice,
    Group,
    Look,
    Node,
    PatternError,
    Reference,
    Repeat,
    Sequence,
    can_match_empty,
    nodes_of,
)

MAX_CALLS = 1000  # each is the group's pattern once more, which may hold calls itself


def read_call(source: PatternReader, opened: int, start: int) -> Call:
    r"""The call whose ``\g`` has been read; its backslash stands at ``start``. ``opened``: how many
    groups have begun before it.
    """
    if not (source.skip("<") or source.skip("'")):
        raise source.refused("a call of a group without brackets", r"\g<1> or \g<name> is", start)
    name = source.take_until(">" if source.text[source.position - 1] == "<" else "'")
    digits = name.lstrip("+-")
    if len(name) - len(digits) > 1 or not digits or not (set(digits) <= DECIMAL):
        return Call(name, start)
    number = source.count(digits, start)
    return Call({"+": opened + number, "-": opened + 1 - number}.get(name[0], number), start)


def with_calls(node: Node, bodies: Ordered[Node | None], names: Ordered[str | None]) -> Node:
    """The tree with groups in place of calls of them.

    Raises PatternError for a call of what is no group or more than one, one inside its own group,
    and where references may ask what the group of a call has matched.
    """
    calls = [each for each in nodes_of(node) if isinstance(each, Call)]
    if not calls:
        return node
    if any(isinstance(each, Reference) for each in nodes_of(node)):
        raise _refused(calls[0], "in a pattern without references to groups, a call is")
    return _Caller(bodies, names).resolved(node, ())


@dataclass(slots=True)
class _Caller:
    bodies: Ordered[Node | None]
    names: Ordered[str | None]
    calls: int = 0

    def resolved(self, node: Node, inside: tuple[int, ...]) -> Node:
        """``inside``: the groups that are being called."""
        match node:
            case Call():
                number = self._number(node)
                body = self.bodies[number - 1]
                self.calls += 1
                if body is None or number in inside or self.calls > MAX_CALLS:
                    raise _refused(
                        node,
                        f"one that is not inside that group, and up to {MAX_CALLS} of them, are",
                    )
                return self.resolved(body, (*inside, number))
            case Sequence(parts):
                return Sequence(tuple(self.resolved(part, inside) for part in parts))
            case Choice(options):
                return Choice(tuple(self.resolved(option, inside) for option in options))
            case Repeat(body):
                body = self.resolved(body, inside)
                # Whether a call matches nothing is known only now.
                return replace(
                    node, body=body, empty_turns=node.empty_turns if can_match_empty(body) else None
                )
            case Atomic(body) | Look(body):
                return replace(node, body=self.resolved(body, inside))
            case Group(_, body):
                return self.resolved(body, inside)
            case _:
                return node

    def _number(self, call: Call) -> int:
        if isinstance(call.group, str):
            numbers = [number for number, name in enumerate(self.names, 1) if name == call.group]
        else:
            # With names, the engines do not agree on which groups have numbers.
            numbers = (
                [call.group] if 0 < call.group <= len(self.bodies) and not any(self.names) else []
            )
        if len(numbers) != 1:
            raise _refused(
                call,
                "one of a single group, by its name, or by its number where no group has a"
                " name, is",
            )
        return numbers[0]


def _refused(call: Call, supported: str) -> PatternError:
    return PatternError(call.offset, "a call of a group", supported)
