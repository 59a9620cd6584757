"""The small machines of which the edits of a decoded text are made: each reads symbols and writes
symbols, one edit a machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from tokexport.compiler.decoder.matching_machine import MatchingMachine
from tokexport.model import Begun, ByteName, Matching, Prefixed, Replacing, RunEdit, Trimmed

OTHER: Final = 256  # any byte that no machine asks for
RUN: Final = 257  # the text of a run of byte tokens begins
TOKEN: Final = 258  # another token begins

_NAME_BEGINS: Final = re.compile(rb"<(?:0(?:x(?:\+|(?:\+|[0-9a-fA-F])(?:[0-9a-fA-F]>?)?)?)?)?")

State: TypeAlias = Any  # what a machine likes, as long as it can be a key


@dataclass(frozen=True, slots=True)
class Machine:
    """``read`` gives what is written for a symbol (a byte, OTHER, RUN or TOKEN) in a state, and the
    next state; ``end`` what is written at the end of the text. ``asked``: the bytes that matter to
    it.
    """

    start: State
    read: Callable[[State, int], tuple[list[int], State]]
    end: Callable[[State], list[int]]
    asked: frozenset[int]


def machine_of(edit: RunEdit) -> Machine:
    """The machine of one edit."""
    match edit:
        case Trimmed():
            return _remembering(_trimming(edit))
        case Prefixed():
            return _remembering(_prefixing(edit))
        case Begun():
            return _remembering(_beginning(edit))
        case ByteName():
            return _remembering(_naming())
        case Matching():
            matching = MatchingMachine(edit.split, edit.content, edit.among)
            return _remembering(
                Machine(matching.start, matching.read, matching.end, matching.asked)
            )
        case Replacing():
            return _remembering(_replacing(edit))


def _remembering(machine: Machine) -> Machine:
    """The same one, whose states are numbers; a row of three asks each of them the same a hundred
    times.
    """
    numbers = {machine.start: 0}
    states = [machine.start]

    @cache
    def read(state: int, symbol: int) -> tuple[list[int], int]:
        written, after = machine.read(states[state], symbol)
        number = numbers.setdefault(after, len(states))
        if number == len(states):
            states.append(after)
        return written, number

    return Machine(0, read, lambda state: machine.end(states[state]), machine.asked)


def pass_on(
    machines: Sequence[Machine], states: Sequence[State], symbols: Iterable[int]
) -> tuple[list[int], tuple[State, ...]]:
    """What comes out after the last machine of a row, and their states then."""
    given, after = list(symbols), []
    for machine, state in zip(machines, states, strict=True):
        written: list[int] = []
        for symbol in given:
            more, state = machine.read(state, symbol)
            written += more
        given = written
        after.append(state)
    return given, tuple(after)


def end_of(machines: Sequence[Machine], states: Sequence[State]) -> list[int]:
    """What a row of machines writes at the end of the text."""
    given: list[int] = []
    for number, machine in enumerate(machines):
        written, (state,) = pass_on([machine], [states[number]], given)
        given = [*written, *machine.end(state)]
    return given


def in_runs(first: Sequence[Machine], others: Sequence[Machine]) -> Machine:
    """The edits of each run by itself: the first string of the list, and the others. It asks for
    the edges, which the other machines do not see: it stands first. A state is where it is, and the
    states inside.
    """
    rows = first, others
    starts = tuple(tuple(machine.start for machine in row) for row in rows)
    nothing, outside = -1, -2

    def read(state: State, symbol: int) -> tuple[list[int], State]:
        where, inside = state
        if symbol in (RUN, TOKEN):
            row = 0 if where == nothing else 1
            return end(state), ((row, starts[row]) if symbol == RUN else (outside, ()))
        if where < 0:
            return [symbol], state
        written, after = pass_on(rows[where], inside, [symbol])
        return written, (where, after)

    def end(state: State) -> list[int]:
        where, inside = state
        return [] if where < 0 else end_of(rows[where], inside)

    asked = frozenset((RUN, TOKEN)).union(*(machine.asked for row in rows for machine in row))
    return _remembering(Machine((nothing, ()), read, end, asked))


def _replacing(edit: Replacing) -> Machine:
    """At each place the longest of the patterns. A state has the bytes that may become a pattern,
    of which no beginning is decided yet.
    """
    rules = {pattern.encode(): content.encode() for pattern, content in edit.rules}
    beginnings = {pattern[:size] for pattern in rules for size in range(1, len(pattern))}

    def read(state: State, symbol: int) -> tuple[list[int], State]:
        waiting = [*state, symbol]
        written: list[int] = []
        held: list[int] = []
        while waiting:
            held.append(waiting.pop(0))
            text = bytes(held) if OTHER not in held else None
            if text in beginnings:
                continue
            waiting = held + waiting
            written += _take_first(waiting, rules)
            held = []
        return written, bytes(held)

    def end(state: State) -> list[int]:
        waiting, written = [*state], []
        while waiting:
            written += _take_first(waiting, rules)
        return written

    return Machine(b"", read, end, frozenset(b"".join(rules)))


def _take_first(waiting: list[int], rules: Mapping[bytes, bytes]) -> list[int]:
    """Takes the longest pattern at the start of what waits, or one byte, and gives what is written
    for it.
    """
    for size in range(len(waiting), 0, -1):
        head = waiting[:size]
        if OTHER not in head and bytes(head) in rules:
            del waiting[:size]
            return [*rules[bytes(head)]]
    return [waiting.pop(0)]


def _prefixing(edit: Prefixed) -> Machine:
    """A state says whether the text has begun."""
    prefix = edit.prefix.encode()

    def read(state: State, symbol: int) -> tuple[list[int], State]:
        return ([symbol] if state else [*prefix, symbol]), True

    return Machine(False, read, lambda state: [], frozenset())


def _beginning(edit: Begun) -> Machine:
    """A state has what may become the prefix; None: after the beginning."""
    prefix, otherwise = edit.prefix.encode(), edit.otherwise.encode()

    def read(state: State, symbol: int) -> tuple[list[int], State]:
        if not isinstance(state, bytes):
            return [symbol], None
        if symbol != OTHER and prefix.startswith(held := state + bytes([symbol])):
            return [], (None if held == prefix else held)
        return [*otherwise, *state, symbol], None

    def end(state: State) -> list[int]:
        return [*otherwise, *state] if isinstance(state, bytes) else []

    return Machine(b"" if prefix else None, read, end, frozenset(prefix))


def _naming() -> Machine:
    """A state has what may become a name, or is one; None: the text is something else."""

    def read(state: State, symbol: int) -> tuple[list[int], State]:
        if (
            state is not None
            and symbol != OTHER
            and _NAME_BEGINS.fullmatch(held := state + bytes([symbol]))
        ):
            return [], held
        return [*(state or b""), symbol], None

    def end(state: State) -> list[int]:
        if not state or not state.endswith(b">"):
            return [*(state or b"")]
        value = int(state[3:5], 16)
        return [value] if value < 0x80 else [*"\ufffd".encode()]

    return Machine(b"", read, end, frozenset(b"<x+>0123456789abcdefABCDEF"))


def _trimming(edit: Trimmed) -> Machine:
    """Drops a character at one end of the text. A state counts: how many may still be dropped, or
    how many are held back.
    """
    character = edit.character.encode()

    def read_left(state: State, symbol: int) -> tuple[list[int], State]:
        count, part = state
        if not count:
            return [symbol], state
        if symbol == character[len(part)]:
            part += bytes([symbol])
            return [], ((count - 1, b"") if part == character else (count, part))
        return [*part, symbol], (0, b"")

    def read_right(state: State, symbol: int) -> tuple[list[int], State]:
        count, part = state
        if symbol == character[len(part)]:
            part += bytes([symbol])
            if part != character:
                return [], (count, part)
            return ([], (count + 1, b"")) if count < edit.count else ([*character], (count, b""))
        written = [*character * count, *part]
        # The first byte of a character is found nowhere else in it.
        return (
            (written, (0, character[:1]))
            if symbol == character[0]
            else ([*written, symbol], (0, b""))
        )

    def end_left(state: State) -> list[int]:
        return [*state[1]]

    def end_right(state: State) -> list[int]:
        count, part = state
        return [*character * count, *part] if part else []

    asked = frozenset(character)
    if edit.at_end:
        return Machine((0, b""), read_right, end_right, asked)
    return Machine((edit.count, b""), read_left, end_left, asked)
