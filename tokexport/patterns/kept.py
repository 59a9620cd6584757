r"""Matches that are said to begin at ``\K``: two passes over the text find all of them, and tell
which symbols are kept.

In ``a\Kb`` the ``a`` is matched, and so lost to every other match, but is no part of what is found.
No automaton that is run from one start after the other could know. So the search itself is done by
two labellings. The first goes from the end of the text to its start. Its state has the instructions
that are sure to match if they go on here, and whether what is matched from there passes another
``\K``. The second goes from the start to the end and reads these states. So it can follow, of all
the ways to match, only the one that a backtracking matcher takes in the end, and it says of each
symbol whether it is kept. The automaton joins what is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from tokexport.patterns.dfa import (
    DEAD,
    MAX_STATES,
    Automaton,
    Truth,
    minimise,
    too_many_states,
    truth_of,
)
from tokexport.patterns.labelling import Labelling
from tokexport.patterns.program import Again, Check, Fork, Mark, Match, Program, Take, Turn


class _Role(IntEnum):
    """What a symbol is: not kept, the first that a match keeps, or another one. ``CUT``: before it
    ends a match that keeps nothing.
    """

    PASSED = 0
    FIRST = 1
    NEXT = 2
    CUT_PASSED = 3
    CUT_FIRST = 4


_CUT = {_Role.PASSED: _Role.CUT_PASSED, _Role.FIRST: _Role.CUT_FIRST}
_CUTS = (*_CUT.values(),)


@dataclass(frozen=True, slots=True)
class _Place:
    """What is known of the place before a symbol, or at the end of the text.

    ``after`` and ``ahead``: what the conditions of the program can tell of the symbol where it
    follows and ahead of them. ``sure``: each instruction that would consume the symbol and is
    sure to match, and whether it passes a mark further on.
    """

    behind: int
    ahead: int
    sure: tuple[tuple[int, bool], ...]


@dataclass(frozen=True, slots=True)
class _Stand:
    """Where the second pass follows a symbol: ``after`` as for that symbol's place, the
    instruction that a match goes on at, or None where no match is under way, and whether the symbol
    is kept."""

    behind: int
    instruction: int | None
    kept: bool


def keeps(program: Program) -> bool:
    r"""Whether a program has a \\K."""
    return any(isinstance(instruction, Mark) for instruction in program.instructions)


def search_passes(
    program: Program, holds: npt.NDArray[np.bool_], truth: Mapping[int, Truth]
) -> tuple[Automaton, tuple[Labelling, Labelling]]:
    """The labellings that search for a program's matches, the first from the end of the text; and
    the automaton that reads the labels of the second, of which its ``classes`` has the class.

    ``holds[set, symbol]``: membership; ``truth``: that of each test, by its ``id``. Raises
    PatternError for too many states.
    """
    ways = _Ways(program, holds, truth)
    first, places = _from_the_end(ways)
    second, ends_in_cut = _from_the_start(ways, first, places)
    # Roles that no symbol has would be classes for nothing.
    roles, labels = np.unique(second.labels, return_inverse=True)
    second = Labelling(second.next, labels.reshape(second.labels.shape), forward=True)
    return minimise(_joining(roles, ends_in_cut)), (first, second)


class _Ways:
    """Which instructions that consume a symbol, or match, can be reached from an instruction where
    it stands.
    """

    def __init__(
        self, program: Program, holds: npt.NDArray[np.bool_], truth: Mapping[int, Truth]
    ) -> None:
        self.program = program
        self.n_symbols = holds.shape[1]
        size = self.n_symbols + 1
        held = np.array(
            [truth_of(each, truth, self.n_symbols) for each in program.conditions], dtype=np.bool_
        )
        held = held.reshape(len(program.conditions), size, size)
        self.behind = _contexts(held.transpose(1, 0, 2).reshape(size, -1))
        self.ahead = _contexts(held.transpose(2, 0, 1).reshape(size, -1))
        some_behind = {context: symbol for symbol, context in enumerate(self.behind)}
        some_ahead = {context: symbol for symbol, context in enumerate(self.ahead)}
        self._held = {
            (context, other): frozenset(np.flatnonzero(held[:, behind, ahead]).tolist())
            for context, behind in some_behind.items()
            for other, ahead in some_ahead.items()
        }
        takes = [
            (number, each)
            for number, each in enumerate(program.instructions)
            if isinstance(each, Take)
        ]
        self.takes = [
            [(number, take.target) for number, take in takes if holds[take.members, symbol]]
            for symbol in range(self.n_symbols)
        ]
        self._ends: dict[tuple[int, frozenset[int]], list[tuple[int, bool]]] = {}

    def taken(self, instruction: int, behind: int, place: _Place) -> tuple[int, bool, bool] | None:
        """The one of them that a backtracking matcher goes on with in the end; whether a mark is
        passed on the way, and another one later. None where nothing matches."""
        key = instruction, self._held[behind, place.ahead]
        if key not in self._ends:
            self._ends[key] = self._reached(*key)
        sure = dict(place.sure)
        for number, marked in self._ends[key]:
            if isinstance(self.program.instructions[number], Match):
                return number, marked, False
            if number in sure:
                return number, marked, sure[number]
        return None

    def _reached(self, start: int, held: frozenset[int]) -> list[tuple[int, bool]]:
        """All of them in order of priority, and whether a mark is passed on the way there. See
        dfa.py, which does the same for many.
        """
        found: list[tuple[int, bool]] = []
        visited: set[tuple[int, frozenset[int]]] = set()
        stack = [(start, frozenset[int](), False)]
        while stack:
            number, begun, marked = stack.pop()
            if (number, begun) in visited:
                continue
            visited.add((number, begun))
            match self.program.instructions[number]:
                case Take() | Match():
                    found.append((number, marked))
                case Fork(targets):
                    stack.extend((target, begun, marked) for target in reversed(targets))
                case Check(condition, target):
                    if condition in held:
                        stack.append((target, begun, marked))
                case Turn(repeat, target):
                    stack.append((target, begun | {repeat}, marked))
                case Again(repeat, (following, after)):
                    stack.append(
                        (after if repeat in begun else following, begun - {repeat}, marked)
                    )
                case Mark(target):
                    stack.append((target, begun, True))
        return found


def _contexts(rows: npt.NDArray[np.bool_]) -> list[int]:
    """A number for each row, the same for equal ones."""
    numbers: dict[bytes, int] = {}
    return [numbers.setdefault(row.tobytes(), len(numbers)) for row in rows]


def _from_the_end(ways: _Ways) -> tuple[Labelling, list[_Place]]:
    """The first pass, and the place that each of its states stands for; the first is the end of the
    text.
    """
    end = _Place(ways.behind[-1], ways.ahead[-1], ())
    numbers = {end: 0}
    queue = [end]
    rows: list[list[int]] = []
    for place in queue:
        row = []
        for symbol in range(ways.n_symbols):
            found = [
                (number, way[1] or way[2])
                for number, target in ways.takes[symbol]
                if (way := ways.taken(target, ways.behind[symbol], place)) is not None
            ]
            before = _Place(ways.behind[symbol], ways.ahead[symbol], tuple(found))
            if before not in numbers:
                if len(numbers) > MAX_STATES:
                    raise too_many_states()
                numbers[before] = len(numbers)
                queue.append(before)
            row.append(numbers[before])
        rows.append(row)
    following = np.array(rows)
    return Labelling(following, following), queue


def _from_the_start(ways: _Ways, first: Labelling, places: list[_Place]) -> tuple[Labelling, bool]:
    """The second pass, which reads the states of the first, and whose labels are roles; and whether
    a match that keeps nothing can end the text. What the first pass never writes side by side is
    not looked at."""
    beside = [set[int]() for _ in places]
    for state, row in enumerate(first.next.tolist()):
        for before in row:
            beside[before].add(state)
    start = _Stand(ways.behind[-1], None, False)
    numbers = {start: 0}
    following = [[0] * len(places)]
    roles = [[int(_Role.PASSED)] * len(places)]
    met = {(0, place) for place in set(first.next.flat)}
    queue = [(start, place) for _, place in sorted(met)]
    ends_in_cut = False
    for stand, place in queue:
        role, after = _step(ways, stand, places[place])
        if after not in numbers:
            if len(numbers) > MAX_STATES:
                raise too_many_states()
            numbers[after] = len(numbers)
            following.append([0] * len(places))
            roles.append([int(_Role.PASSED)] * len(places))
        number = numbers[after]
        following[numbers[stand]][place] = number
        roles[numbers[stand]][place] = int(role)
        for further in sorted(beside[place]):
            if further == 0 and _step(ways, after, places[0])[0] in _CUTS:
                ends_in_cut = True
            if (number, further) not in met:
                met.add((number, further))
                queue.append((after, further))
    return Labelling(np.array(following), np.array(roles), forward=True), ends_in_cut


def _step(ways: _Ways, stand: _Stand, place: _Place) -> tuple[_Role, _Stand]:
    """The role of the symbol ahead, and where the pass follows it."""
    cut = False
    if (
        stand.instruction is not None
        and (way := ways.taken(stand.instruction, stand.behind, place)) is not None
    ):
        number, _, marked_later = way
        instruction = ways.program.instructions[number]
        if isinstance(instruction, Take):
            role = _Role.PASSED if marked_later else _Role.NEXT if stand.kept else _Role.FIRST
            return role, _Stand(place.behind, instruction.target, not marked_later)
        cut = not stand.kept
    way = ways.taken(ways.program.start, stand.behind, place)
    if way is not None:
        number, _, marked_later = way
        instruction = ways.program.instructions[number]
        if isinstance(instruction, Take):
            role = _Role.PASSED if marked_later else _Role.FIRST
            return _CUT[role] if cut else role, _Stand(
                place.behind, instruction.target, not marked_later
            )
        cut = True
    return _CUT[_Role.PASSED] if cut else _Role.PASSED, _Stand(place.behind, None, False)


def _joining(roles: npt.NDArray[np.int64], ends_in_cut: bool) -> Automaton:
    """The automaton whose matches are a first symbol and those that are next, and nothing before a
    cut. It reads numbers of roles.
    """
    start, inside = DEAD + 1, DEAD + 2
    following = np.zeros((3, len(roles) + 1), dtype=np.int64)
    ends = np.zeros_like(following, dtype=np.bool_)
    ends[inside] = True
    ends[start, -1] = ends_in_cut
    for symbol, role in enumerate(roles):
        following[start, symbol] = inside if role in (_Role.FIRST, _Role.CUT_FIRST) else DEAD
        ends[start, symbol] = role in _CUTS
        if role == _Role.NEXT:
            following[inside, symbol] = inside
            ends[inside, symbol] = False
    starts = np.full(len(roles) + 1, start)
    return Automaton(np.arange(len(roles), dtype=np.int32), following, ends, starts)
