"""The machine that replaces the matches of a regular expression in a decoded text, byte by byte.

It holds back what may still be part of a match. A character is read as soon as its first bytes tell
its class, and the bytes after them go where those went. Where a pattern takes no character of the
class that most are of, it is the same to it how many of them there are: they are then read byte by
byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from tokexport.compiler.decoder.labelling_machine import LabellingMachine, LabellingState, Symbol
from tokexport.compiler.decoder.utf8_classes import bytes_behind, classes_among, utf8_classes
from tokexport.errors import UnsupportedError
from tokexport.model import Split
from tokexport.patterns import MATCH_ENDS, SplitProgram, compile_replace

MAX_HELD: Final = (
    32  # symbols; nearly every pattern that may hold back as many may hold back any number
)
MAX_TEXTS: Final = 4096  # that it holds back; each is a state
_CONTINUES: Final = range(0x80, 0xC0)
_DEAD: Final = 0


@dataclass(frozen=True, slots=True)
class _Search:
    """Between two symbols: ``start``, the state in which the automaton begins to read ``held``, the
    symbols of which nothing is decided; the state in which it is after them; ``ended``: a match
    may end before them; ``after``: there one has ended, so that none of no characters does.
    """

    start: int
    state: int
    held: tuple[Symbol, ...] = ()
    ended: bool = False
    behind: bool = False


@dataclass(frozen=True, slots=True)
class MatchingState:
    """Where the machine is: ``part``, the bytes of a character that do not tell its class;
    ``left``, how many bytes are still to come of one that was read; the labellings, and the search;
    ``is_empty``: there is no text yet, where that matters.
    """

    part: bytes
    left: int
    labellings: tuple[LabellingState, ...]
    search: _Search
    is_empty: bool = False


class MatchingMachine:
    """Replaces each match by ``content``. Its symbols are characters as their bytes, or as those
    that came so far, and each byte of a character of the ``free`` class. Where there is none, what
    is no UTF-8 divides the text. ``among``: the only characters that are met; none of them is read
    before it is whole, so that no other one is held back.

    UnsupportedError, once it is read, for a pattern that holds back too much.

    >>> machine = MatchingMachine(Split("a+"), "-")
    >>> _, state = machine.read(machine.start, ord("a"))
    >>> bytes(machine.read(state, ord("b"))[0]), bytes(machine.end(state))
    (b'-b', b'-')
    """

    def __init__(self, split: Split, content: str, among: frozenset[str] | None = None) -> None:
        program = compile_replace(split, content)
        self._split = split
        self._may_be_empty = program.may_be_empty
        transitions = program.transitions.astype(np.int64)
        self._following: list[list[int]] = (transitions & ~MATCH_ENDS).tolist()
        self._ends: list[list[bool]] = (transitions & MATCH_ENDS != 0).tolist()
        self._starts: list[int] = program.starts.tolist()
        self._labellings = [*map(LabellingMachine, program.labellings)]
        self._content = [*content.encode()]
        self._free = self._free_class(program)
        if among is None:
            self._classes = utf8_classes(program.classes, self._free)
        else:
            self._classes = classes_among(program.classes, among, self._free)
        self._texts: dict[tuple[tuple[int, ...], ...], int] = {}
        asked = {*b"".join((*self._classes.known, *self._classes.unknown))}
        tails = any(bytes_behind(data) for data in self._classes.known)
        self.asked = frozenset(asked | set(_CONTINUES if tails else ()))
        # What is no UTF-8 is most of what can be met, and ends in few states.
        self._read_again, self._pass_again = cache(self.read), cache(self._pass)
        starts = tuple(labelling.start for labelling in self._labellings)
        search = _anew(self._starts[program.n_classes])
        self.start = MatchingState(b"", 0, starts, search, is_empty=program.may_be_empty)

    def _free_class(self, program: SplitProgram) -> int | None:
        """The class that most characters are of, if no match takes one of them, or stands between
        two of them.
        """
        free = int(np.bincount(program.classes).argmax())
        read = frozenset((free,))
        for labelling in self._labellings:
            labels = labelling.of_others(read)
            if labels is None:
                return None
            read = labels
        is_taken = any(following[label] != _DEAD for following in self._following for label in read)
        return None if is_taken or program.may_be_empty else free

    def read(self, state: MatchingState, symbol: int) -> tuple[list[int], MatchingState]:
        """What is written for a byte, and the state after it."""
        is_asked = symbol < 256
        if state.left and symbol in _CONTINUES:
            return self._read_on(state, symbol)
        if state.left:
            return self._read_anew(*self._settled(replace(state, left=0)), symbol)
        part = state.part + bytes([symbol]) if is_asked else b""
        if part in self._classes.unknown:
            return [], replace(state, part=part, is_empty=False)
        if part in self._classes.known:
            return self._label(state, [((*part,), self._classes.known[part])], bytes_behind(part))
        # What was held as a character is none; the byte may begin one.
        again = is_asked and state.part != b""
        written, after = self._pass_again(state, (*state.part, *(() if again else (symbol,))))
        return self._read_anew(written, after, symbol) if again else (written, after)

    def _read_anew(
        self, written: list[int], state: MatchingState, symbol: int
    ) -> tuple[list[int], MatchingState]:
        more, state = self._read_again(state, symbol)
        return written + more, state

    def end(self, state: MatchingState) -> list[int]:
        """What is written at the end of the text."""
        written, state = self._pass(state, state.part)
        return written + self._end(state)

    def _end(self, state: MatchingState) -> list[int]:
        """The same where no character waits for bytes. The reference finds no match in an empty
        text.
        """
        if state.is_empty:
            return []
        search = state.search
        symbols: list[Symbol] = []
        for labelling, number in zip(self._labellings, state.labellings, strict=True):
            given, number = _labelled(labelling, number, symbols)
            symbols = given + labelling.end(number)
        written, search = self._search(search, symbols)
        while True:
            search, _ = self._move(search, len(self._starts) - 1)
            if not search.ended and not search.held:
                return written
            more, search = self._again(search, ())
            written += more

    def _pass(
        self, state: MatchingState, data: tuple[int, ...] | bytes
    ) -> tuple[list[int], MatchingState]:
        """Reads bytes that begin no character, or one of the free class."""
        if not data:
            return [], state
        if self._free is None:
            return [*self._end(state), *data], self.start
        return self._label(state, [((byte,), self._free) for byte in data], 0)

    def _label(
        self, state: MatchingState, symbols: list[Symbol], left: int
    ) -> tuple[list[int], MatchingState]:
        """What is written for symbols, and the state after them. Of the last, ``left`` bytes are
        still to come.
        """
        after = []
        for labelling, number in zip(self._labellings, state.labellings, strict=True):
            symbols, number = _labelled(labelling, number, symbols)
            if len(number.wait) > MAX_HELD:
                raise _refusal(self._split, f"looks further than {MAX_HELD} characters")
            after.append(number)
        written, search = self._search(state.search, symbols)
        self._count_texts(
            [*search.held, *(symbol for number in after for symbol in number.wait)], left
        )
        more, state = self._settled(MatchingState(b"", left, tuple(after), search))
        return written + more, state

    def _count_texts(self, held: list[Symbol], left: int) -> None:
        """Each text that is held back is a state; one of which bytes are to come is many."""
        text = tuple(data for data, _ in held)
        if not text or text in self._texts:
            return
        self._texts[text] = len(_CONTINUES) ** left
        if sum(self._texts.values()) > MAX_TEXTS:
            raise _refusal(self._split, f"may hold back more than {MAX_TEXTS:,} texts")

    def _read_on(self, state: MatchingState, byte: int) -> tuple[list[int], MatchingState]:
        """Reads a further byte of the last character: it waits with it, was taken with it, or is
        written as it was.
        """
        left = state.left - 1
        for number, labelling in enumerate(state.labellings):
            if labelling.wait:
                waits = LabellingState(labelling.number, _longer(labelling.wait, byte))
                labellings = (*state.labellings[:number], waits, *state.labellings[number + 1 :])
                return self._settled(MatchingState(b"", left, labellings, state.search))
        search = state.search
        written = [] if search.held or search.ended else [byte]
        if search.held:
            search = replace(search, held=_longer(search.held, byte))
        more, state = self._settled(MatchingState(b"", left, state.labellings, search))
        return written + more, state

    def _settled(self, state: MatchingState) -> tuple[list[int], MatchingState]:
        """A match that cannot go on is replaced as soon as its last character is whole."""
        search = state.search
        taken = search.ended and not search.held and not state.left
        if not taken or any(self._following[search.state]):
            return [], state
        return self._content, replace(state, search=_anew(search.start, behind=self._may_be_empty))

    def _move(self, search: _Search, read: int) -> tuple[_Search, int]:
        """The search once it is known what is read next, and the state then."""
        is_empty = not search.ended and not search.held
        if self._ends[search.state][read] and not (
            is_empty and (search.behind or not self._may_be_empty)
        ):
            start = self._starts[search.held[-1][1]] if search.held else search.start
            return _Search(start, search.state, ended=True), self._following[search.state][read]
        return search, self._following[search.state][read]

    def _search(self, search: _Search, symbols: Iterable[Symbol]) -> tuple[list[int], _Search]:
        written: list[int] = []
        for symbol in symbols:
            search, state = self._move(search, symbol[1])
            if state == _DEAD:
                more, search = self._again(search, (symbol,))
                written += more
                continue
            search = _Search(
                search.start, state, (*search.held, symbol), search.ended, search.behind
            )
            if len(search.held) > MAX_HELD:
                raise _refusal(self._split, f"may fail after more than {MAX_HELD} characters")
            if all(self._ends[state]):  # whatever comes, so that nothing need be held
                search = _Search(self._starts[symbol[1]], state, ended=True)
        return written, search

    def _again(self, search: _Search, read: tuple[Symbol, ...]) -> tuple[list[int], _Search]:
        """After the match that ended, or the first symbol that begins none, all is read again."""
        if search.ended:
            written, search = self._search(
                _anew(search.start, behind=self._may_be_empty), (*search.held, *read)
            )
            return self._content + written, search
        first, *others = (*search.held, *read)
        written, search = self._search(_anew(self._starts[first[1]]), others)
        return [*first[0], *written], search


def _anew(start: int, *, behind: bool = False) -> _Search:
    return _Search(start, start, behind=behind)


def _longer(symbols: tuple[Symbol, ...], byte: int) -> tuple[Symbol, ...]:
    """The same, with one byte more of the last."""
    *others, (data, number) = symbols
    return (*others, ((*data, byte), number))


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
        f"the pattern {split.pattern!r}, which {reason}, in a replacement in the joined text is not supported",
        f"one is that knows its matches after {MAX_HELD} characters and holds back {MAX_TEXTS:,}"
        " texts at most",
    )
