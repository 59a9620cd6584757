"""The machine that replaces the matches of a regular expression in a decoded text, byte by byte.

It holds back what may still be part of a match. For that to be a table, the pattern must not tell too many characters apart, and take none
of the others: those are then the same whether they are read as characters or byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tokexport.compiler.labelling_machine import LabellingMachine, LabellingState, Symbol
from tokexport.compiler.regex import MATCH_ENDS, compile_replace
from tokexport.errors import UnsupportedError
from tokexport.model import Split

MAX_CHARACTERS: Final = 1 << 15  # all CJK ideographs of the first plane, and more
MAX_HELD: Final = 32  # symbols; nearly every pattern that may hold back as many may hold back any number
_DEAD: Final = 0


@dataclass(frozen=True, slots=True)
class _Search:
    """Between two symbols: ``before``, the class of what stands before ``held``, the symbols of which nothing is decided; the state of
    the automaton that has read them; ``ended``: a match may end before them.
    """

    before: int
    state: int
    held: tuple[Symbol, ...] = ()
    ended: bool = False


@dataclass(frozen=True, slots=True)
class MatchingState:
    """Where the machine is: the bytes of a character that is not whole, the labellings, and the search."""

    part: bytes
    labellings: tuple[LabellingState, ...]
    search: _Search


class MatchingMachine:
    """Replaces each match by ``content``. Its symbols are characters as their bytes, and each byte of any other character.

    UnsupportedError for a pattern that takes too many different characters, counts others that it looks at, or may match nothing where
    there is some content; and, once it is read, for one that holds back too much.

    >>> machine = MatchingMachine(Split("a+"), "-")
    >>> _, state = machine.read(machine.start, ord("a"))
    >>> bytes(machine.read(state, ord("b"))[0]), bytes(machine.end(state))
    (b'-b', b'-')
    """

    def __init__(self, split: Split, content: str) -> None:
        program = compile_replace(split, content)
        if program.doubles:
            raise _refusal(split, "asks whether a character is the one before it")
        transitions = program.transitions.astype(np.int64)
        others = int(np.bincount(program.classes).argmax())
        told_apart = [int(point) for point in np.flatnonzero(program.classes != others) if not 0xD800 <= point < 0xE000]
        self._labellings = [*map(LabellingMachine, program.labellings)]
        read = frozenset((others,))
        for labelling in self._labellings:
            labels = labelling.of_others(read)
            if labels is None:
                raise _refusal(split, "counts characters of any kind around a match")
            read = labels
        if len(told_apart) > MAX_CHARACTERS or (transitions[:, sorted(read)] & ~MATCH_ENDS).any():
            raise _refusal(split, f"takes more than {MAX_CHARACTERS:,} characters")
        if program.may_be_empty:
            raise _refusal(split, "may match nothing")
        self._split = split
        self._transitions = transitions
        self._starts: list[int] = program.starts.tolist()
        self._content = [*content.encode()]
        self._others = others
        self._whole = {chr(point).encode(): int(program.classes[point]) for point in told_apart}
        self._parts = {data[:size] for data in self._whole for size in range(1, len(data))}
        self.asked = frozenset(b"".join(self._whole))
        starts = tuple(labelling.start for labelling in self._labellings)
        self.start = MatchingState(b"", starts, self._anew(program.n_classes))

    def read(self, state: MatchingState, symbol: int) -> tuple[list[int], MatchingState]:
        """What is written for a byte, and the state behind it."""
        known = symbol < 256
        part = state.part + bytes([symbol]) if known else b""
        if part in self._parts:
            return [], MatchingState(part, state.labellings, state.search)
        if part in self._whole:
            return self._label(state, [((*part,), self._whole[part])])
        # What was held as a character is none that is told apart; the byte may begin one.
        again = known and state.part != b""
        written, after = self._label(state, self._unknown((*state.part, *(() if again else (symbol,)))))
        if not again:
            return written, after
        more, after = self.read(after, symbol)
        return written + more, after

    def end(self, state: MatchingState) -> list[int]:
        """What is written at the end of the text."""
        written, state = self._label(state, self._unknown(state.part))
        search = state.search
        symbols: list[Symbol] = []
        for labelling, number in zip(self._labellings, state.labellings, strict=True):
            given, number = _labelled(labelling, number, symbols)
            symbols = given + labelling.end(number)
        more, search = self._search(search, symbols)
        written += more
        while True:
            search, _ = self._move(search, len(self._starts) - 1)
            if not search.ended and not search.held:
                return written
            more, search = self._again(search, ())
            written += more

    def _label(self, state: MatchingState, symbols: list[Symbol]) -> tuple[list[int], MatchingState]:
        """What is written for symbols, and the state behind them."""
        after = []
        for labelling, number in zip(self._labellings, state.labellings, strict=True):
            symbols, number = _labelled(labelling, number, symbols)
            if len(number.wait) > MAX_HELD:
                raise _refusal(self._split, f"looks further than {MAX_HELD} characters")
            after.append(number)
        written, search = self._search(state.search, symbols)
        return written, MatchingState(b"", tuple(after), search)

    def _unknown(self, data: Iterable[int]) -> list[Symbol]:
        return [((byte,), self._others) for byte in data]

    def _anew(self, before: int) -> _Search:
        return _Search(before, self._starts[before])

    def _move(self, search: _Search, read: int) -> tuple[_Search, int]:
        """The search once it is known what is read next, and the state then. A match that took nothing counts for nothing."""
        transition = int(self._transitions[search.state, read])
        if transition & MATCH_ENDS and (search.ended or search.held):
            before = search.held[-1][1] if search.held else search.before
            search = _Search(before, search.state, ended=True)
        return search, transition & ~MATCH_ENDS

    def _search(self, search: _Search, symbols: Iterable[Symbol]) -> tuple[list[int], _Search]:
        written: list[int] = []
        for symbol in symbols:
            search, state = self._move(search, symbol[1])
            if state == _DEAD:
                more, search = self._again(search, (symbol,))
                written += more
                continue
            search = _Search(search.before, state, (*search.held, symbol), search.ended)
            if len(search.held) > MAX_HELD:
                raise _refusal(self._split, f"may fail behind more than {MAX_HELD} characters")
            following = self._transitions[state]
            if (following & MATCH_ENDS).all():  # whatever comes, so that nothing need be held
                search = _Search(symbol[1], state, ended=True)
                if not (following & ~MATCH_ENDS).any():
                    written += self._content
                    search = self._anew(symbol[1])
        return written, search

    def _again(self, search: _Search, read: tuple[Symbol, ...]) -> tuple[list[int], _Search]:
        """Behind the match that ended, or the first symbol that begins none, all is read again."""
        if search.ended:
            written, search = self._search(self._anew(search.before), (*search.held, *read))
            return self._content + written, search
        first, *others = (*search.held, *read)
        written, search = self._search(self._anew(first[1]), others)
        return [*first[0], *written], search


def _labelled(
    labelling: LabellingMachine, state: LabellingState, symbols: Iterable[Symbol]
) -> tuple[list[Symbol], LabellingState]:
    written: list[Symbol] = []
    for symbol in symbols:
        more, state = labelling.read(state, symbol)
        written += more
    return written, state


def _refusal(split: Split, reason: str) -> UnsupportedError:
    return UnsupportedError(
        split.path,
        f"the pattern {split.pattern!r}, which {reason}, in a replacement in the joined text",
        f"one that takes up to {MAX_CHARACTERS:,} characters, at least one of them at a time, is",
    )
