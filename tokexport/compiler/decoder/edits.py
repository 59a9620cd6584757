"""The table of a decoder: flags, and the edits of the joined text as one table, read byte by byte.

Each edit is a small machine that reads bytes, writes bytes, and holds back bytes that may still be
part of a match. Each machine reads the output of the one before it; a state of the table is a
reachable combination of their states. No UTF-8 character begins inside another, so bytes suffice.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from tokexport.compiler.tables import DecoderTable, EditTable
from tokexport.errors import UnsupportedError
from tokexport.model import (
    Decoding,
    FirstIs,
    ParseByteToken,
    ReplaceLiteral,
    StripChars,
    StripWhiteSpace,
    TextEdit,
)

MAX_STATES: Final = 4096
MAX_WRITTEN: Final = 0x7FFF  # bytes that one step writes
OTHER: Final = 256  # any byte that no edit tests for
TOKEN: Final = 257  # an id outside a run begins here
END: Final = 258  # of the text

_BYTE_TOKEN_BEGINS: Final = re.compile(rb"<(0(x(\+|(\+|[0-9a-fA-F])([0-9a-fA-F]>?)?)?)?)?")
_BYTE_TOKEN_BYTES: Final = frozenset(b"<x+>0123456789abcdefABCDEF")
_WHITE_SPACE: Final = {(*chr(code).encode(),) for code in range(1 << 14) if chr(code).isspace()}
_WHITE_SPACE_BEGINS: Final = {white[:size] for white in _WHITE_SPACE for size in (1, 2)}

State: TypeAlias = Any  # whatever a machine uses, if it is hashable
Symbols: TypeAlias = tuple[int, ...]  # bytes, OTHER, TOKEN, END


def decoder_table(decoding: Decoding, *, has_one_form: bool) -> DecoderTable | None:
    """The table, or None if decoding only joins bytes. UnsupportedError for edits too large."""
    if decoding == Decoding() and has_one_form:
        return None
    flags = {
        "BYTE_FALLBACK": decoding.byte_fallback,
        "BY_CHARACTER": decoding.fallback_by_character,
        "FIRST_BY_CONTENT": decoding.first_is is FirstIs.CONTENT,
        "FIRST_BY_TEXT": decoding.first_is is FirstIs.TEXT,
    }
    names = tuple(name for name, is_set in flags.items() if is_set)
    match decoding.edits:
        case (StripChars(character, 1),) if "\0" < character < "\x80":
            return DecoderTable(names, ord(character), None)
        case ():
            return DecoderTable(names, 0, None)
        case edits:
            return DecoderTable(names, 0, compile_edits(edits))


class _Machine(NamedTuple):
    """``read`` returns what is written for a symbol in a state, and the next state. ``asked``: the
    symbols that are not read as OTHER; a machine without TOKEN in it never reads one.
    """

    start: State
    read: Callable[[State, int], tuple[Symbols, State]]
    asked: frozenset[int]


def compile_edits(edits: Sequence[TextEdit]) -> EditTable:
    """The table of edits that are applied one after the other.

    UnsupportedError, with the path of the edit, where it would have more than 4,096 states or a
    step that writes more than 32,767 bytes.

    >>> table = compile_edits([ReplaceLiteral("ab", "c")])
    >>> table.steps[0], table.ends  # other bytes, a, b
    (((b'', 0, True), (b'', 1, False), (b'b', 0, False)), (b'', b'a'))
    """
    machines = [_machine(edit) for edit in edits]
    asked = frozenset[int]().union(*(machine.asked for machine in machines))
    symbols = [OTHER, *sorted(asked)]
    queue: list[tuple[State, ...]] = [tuple(machine.start for machine in machines)]
    numbers = {queue[0]: 0}
    steps: list[tuple[tuple[bytes, int, bool], ...]] = []
    for states in queue:
        row = []
        for symbol in symbols:
            written, after = _pass_on(machines, states, symbol)
            if after not in numbers:
                numbers[after] = len(queue)
                queue.append(after)
            # OTHER is written only when it was read, and always last.
            keeps = OTHER in written
            row.append((bytes(written[:-1] if keeps else written), numbers[after], keeps))
        steps.append(tuple(row))
        if len(queue) > MAX_STATES:
            problem = f"the edits of the joined text need more than {MAX_STATES:,} states"
            raise UnsupportedError(edits[-1].path, problem, "replace shorter or fewer texts")
    classes = np.zeros(256, np.uint8)
    read = [symbol for symbol in symbols[1:] if symbol != TOKEN]
    classes[read] = np.arange(1, len(read) + 1)  # UTF-8 has 243 bytes, so there is room
    table = EditTable(
        classes,
        tuple(steps),
        ends=tuple(bytes(_pass_on(machines, states, END)[0][:-1]) for states in queue),
        reads_tokens=TOKEN in asked,
    )
    texts = (*table.ends, *(text for row in table.steps for text, _, _ in row))
    longest = max(map(len, texts))
    if longest > MAX_WRITTEN:
        problem = f"a replacement writes {longest:,} bytes at once"
        raise UnsupportedError(edits[-1].path, problem, f"write at most {MAX_WRITTEN:,} bytes")
    return table


def _pass_on(
    machines: Sequence[_Machine], states: Sequence[State], symbol: int
) -> tuple[Symbols, tuple[State, ...]]:
    """What the last machine writes, and the states of all machines afterwards."""
    given, after = [symbol], []
    for machine, state in zip(machines, states, strict=True):
        written: list[int] = []
        for each in given:
            if each != TOKEN or TOKEN in machine.asked:
                more, state = machine.read(state, each)
                written += more
        given = written
        after.append(state)
    return tuple(given), tuple(after)


def _machine(edit: TextEdit) -> _Machine:
    match edit:
        case ReplaceLiteral():
            return _replacing(edit)
        case StripChars():
            return _stripping(edit)
        case StripWhiteSpace():
            return _Machine((False, ()), _strip, frozenset(sum(_WHITE_SPACE, ())))
        case ParseByteToken():
            return _Machine(b"", _parse, _BYTE_TOKEN_BYTES)


def _replacing(edit: ReplaceLiteral) -> _Machine:
    """A state says how many tokens begin before the first run or token is over, and how many bytes
    of the pattern are held back.
    """
    pattern, content = edit.pattern.encode(), edit.content.encode()
    in_run = content if edit.in_first_run is None else edit.in_first_run.encode()
    # By the number of bytes held back: how many of the last ones may begin another match.
    shorter = [0, 0]
    for byte in pattern[1:]:
        size = shorter[-1]
        while size and pattern[size] != byte:
            size = shorter[size]
        shorter.append(size + (pattern[size] == byte))

    def read(state: State, symbol: int) -> tuple[Symbols, State]:
        begins, held = state
        if symbol == TOKEN:
            return (*pattern[:held],), (max(begins - 1, 0), 0)
        size = held
        while size and pattern[size] != symbol:
            size = shorter[size]
        if pattern[size] != symbol:
            return (*pattern[:held], symbol), (begins, 0)
        written = (*pattern[: held - size],)
        if size + 1 < len(pattern):
            return written, (begins, size + 1)
        return (*written, *(in_run if begins else content)), (begins, 0)

    edge = () if edit.in_first_run is None else (TOKEN,)
    start = len(edge) * (1 + edit.is_in_first_token)
    return _Machine((start, 0), read, frozenset((*pattern, *edge)))


def _stripping(edit: StripChars) -> _Machine:
    """A state is how many characters may still be dropped, and how many bytes are held back."""
    character = edit.character.encode()

    def read(state: State, symbol: int) -> tuple[Symbols, State]:
        count, size = state
        if not count or symbol != character[size]:
            return (*character[:size], symbol), (0, 0)
        return (), (count - 1, 0) if size + 1 == len(character) else (count, size + 1)

    return _Machine((edit.count, 0), read, frozenset(character))


def _strip(state: State, symbol: int) -> tuple[Symbols, State]:
    """A state says whether the text has started, and holds back the first bytes of a character of
    white space before that, and afterwards a space that may be the last character.
    """
    has_started, held = state
    if has_started and symbol == END:
        return (END,), state
    if has_started:
        return (held, (True, (symbol,))) if symbol == 0x20 else ((*held, symbol), (True, ()))
    if (*held, symbol) in _WHITE_SPACE:
        return (), (False, ())
    if (*held, symbol) in _WHITE_SPACE_BEGINS:
        return (), (False, (*held, symbol))
    written, after = _strip((True, ()), symbol)
    return (*held, *written), after


def _parse(state: bytes | None, symbol: int) -> tuple[Symbols, bytes | None]:
    """A state is the name of a byte or the beginning of one; None: the text is neither."""
    held = state or b""
    if symbol == END and held.endswith(b">"):
        value = int(held[3:5], 16)
        return ((value,) if value < 0x80 else (*"\ufffd".encode(),)) + (END,), None
    longer = held + bytes([symbol]) if state is not None and symbol < OTHER else b""
    if longer and _BYTE_TOKEN_BEGINS.fullmatch(longer):
        return (), longer
    return (*held, symbol), None
