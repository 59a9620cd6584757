"""What decoding does to the whole text, compiled to one table: replacements and trimmings in a row, text by text and state by state.

Each step is a small machine that reads bytes and writes bytes, and holds back what may still be part of a match. A row of them is one
machine, whose states are the states of all that can be met together. UTF-8 lets it work byte by byte: a character never begins inside
of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tokexport.errors import UnsupportedError
from tokexport.model import Replacing, TextEdit, Trimmed

MAX_STATES: Final = 1024
MAX_TEXT: Final = 0x7FFF  # bytes that one transition writes
OTHER: Final = 256  # any byte that no step asks for

_State: TypeAlias = tuple[int, bytes]
# From a state and what is read (a byte or OTHER) to what is written and the next state; and what is written at the end.
_Read: TypeAlias = "Callable[[_State, int], tuple[list[int], _State]]"


@dataclass(frozen=True, slots=True)
class EditTable:
    """``classes``: of each byte, shape (256,). By state (0 is the first) and class: ``next``; ``written``, the bytes that are written; and
    ``keeps``, whether the byte that is read is written behind them. ``ends``: what each state writes at the end.
    """

    classes: npt.NDArray[np.uint8]
    next: tuple[tuple[int, ...], ...]
    written: tuple[tuple[bytes, ...], ...]
    keeps: tuple[tuple[bool, ...], ...]
    ends: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class _Machine:
    start: _State
    read: _Read
    end: Callable[[_State], bytes]


def compile_edits(edits: Sequence[TextEdit]) -> EditTable:
    """The table of edits that follow each other.

    Raises UnsupportedError where it would have more than 1,024 states, or a transition that writes more than 32,767 bytes.

    >>> table = compile_edits([Replacing((("ab", "c"),))])
    >>> table.next, table.ends
    (((0, 1, 0), (0, 1, 0)), (b'', b'a'))
    """
    machines = [_remembering(_trimming(edit) if isinstance(edit, Trimmed) else _replacing(edit)) for edit in edits]
    asked = sorted({byte for edit in edits for byte in _asked(edit)})
    classes = np.zeros(256, np.uint8)
    classes[asked] = np.arange(1, len(asked) + 1)
    numbers = {tuple(machine.start for machine in machines): 0}
    queue = [*numbers]
    following: list[tuple[int, ...]] = []
    written: list[tuple[bytes, ...]] = []
    keeps: list[tuple[bool, ...]] = []
    for states in queue:
        row = []
        for symbol in (OTHER, *asked):
            given, after = _pass_on(machines, states, [symbol])
            if after not in numbers:
                if len(numbers) == MAX_STATES:
                    raise UnsupportedError(
                        "decoder", "a row of replacements with so many states", f"up to {MAX_STATES:,} are"
                    )
                numbers[after] = len(numbers)
                queue.append(after)
            # No step drops a byte that it does not ask for, or writes anything behind it.
            keep = given[-1:] == [OTHER]
            row.append((numbers[after], bytes(given[: len(given) - keep]), keep))
        following.append(tuple(number for number, _, _ in row))
        written.append(tuple(text for _, text, _ in row))
        keeps.append(tuple(keep for _, _, keep in row))
    ends = tuple(_end(machines, states) for states in queue)
    if max((len(text) for row in (*written, ends) for text in row), default=0) > MAX_TEXT:
        raise UnsupportedError("decoder", f"a replacement by more than {MAX_TEXT:,} bytes", "a shorter one is")
    return EditTable(classes, tuple(following), tuple(written), tuple(keeps), ends)


def _remembering(machine: _Machine) -> _Machine:
    """The same one; a row of three asks each of them the same a hundred times."""
    return replace(machine, read=cache(machine.read))


def _pass_on(
    machines: Sequence[_Machine], states: Sequence[_State], symbols: Iterable[int]
) -> tuple[list[int], tuple[_State, ...]]:
    """What comes out behind the last machine, and their states then."""
    given, after = list(symbols), []
    for machine, state in zip(machines, states, strict=True):
        written: list[int] = []
        for symbol in given:
            more, state = machine.read(state, symbol)
            written += more
        given = written
        after.append(state)
    return given, tuple(after)


def _end(machines: Sequence[_Machine], states: Sequence[_State]) -> bytes:
    given: list[int] = []
    for number, machine in enumerate(machines):
        written: list[int] = []
        state = states[number]
        for symbol in given:
            more, state = machine.read(state, symbol)
            written += more
        given = [*written, *machine.end(state)]
    return bytes(given)


def _asked(edit: TextEdit) -> bytes:
    if isinstance(edit, Trimmed):
        return edit.character.encode()
    return "".join(pattern for pattern, _ in edit.rules).encode()


def _replacing(edit: Replacing) -> _Machine:
    """At each place the longest of the patterns. A state has the bytes that may become a pattern, of which no beginning is decided yet."""
    rules = {pattern.encode(): content.encode() for pattern, content in edit.rules}
    beginnings = {pattern[:size] for pattern in rules for size in range(1, len(pattern))}

    def read(state: _State, symbol: int) -> tuple[list[int], _State]:
        waiting = [*state[1], symbol]
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
        return written, (0, bytes(held))

    def end(state: _State) -> bytes:
        waiting, written = [*state[1]], bytearray()
        while waiting:
            written += bytes(_take_first(waiting, rules))
        return bytes(written)

    return _Machine((0, b""), read, end)


def _take_first(waiting: list[int], rules: Mapping[bytes, bytes]) -> list[int]:
    """Takes the longest pattern at the start of what waits, or one byte, and gives what is written for it."""
    for size in range(len(waiting), 0, -1):
        head = waiting[:size]
        if OTHER not in head and bytes(head) in rules:
            del waiting[:size]
            return [*rules[bytes(head)]]
    return [waiting.pop(0)]


def _trimming(edit: Trimmed) -> _Machine:
    """Drops a character at one end of the text. A state counts: how many may still be dropped, or how many are held back."""
    character = edit.character.encode()

    def read_left(state: _State, symbol: int) -> tuple[list[int], _State]:
        count, part = state
        if not count:
            return [symbol], state
        if symbol == character[len(part)]:
            part += bytes([symbol])
            return [], ((count - 1, b"") if part == character else (count, part))
        return [*part, symbol], (0, b"")

    def read_right(state: _State, symbol: int) -> tuple[list[int], _State]:
        count, part = state
        if symbol == character[len(part)]:
            part += bytes([symbol])
            if part != character:
                return [], (count, part)
            return ([], (count + 1, b"")) if count < edit.count else ([*character], (count, b""))
        written = [*character * count, *part]
        # The first byte of a character is found nowhere else in it.
        return (written, (0, character[:1])) if symbol == character[0] else ([*written, symbol], (0, b""))

    if edit.at_end:
        return _Machine((0, b""), read_right, lambda state: character * state[0] + state[1] if state[1] else b"")
    return _Machine((edit.count, b""), read_left, lambda state: state[1])
