r"""Determinises an NFA: a leftmost-first automaton that knows one symbol more than it consumed.

A state is the ordered list of threads after a symbol, before any assertion is checked, because
assertions (and so where a match ends) are decided once the next symbol is known; and, where a
lookbehind may need it, the kind of symbol before. Threads after a match are cut, as a backtracking
matcher would not try them. The last acceptance is the match.
"""

import operator
from collections.abc import Mapping
from collections.abc import Sequence as Ordered
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tokexport.limits import MAX_STATES
from tokexport.patterns import tree
from tokexport.patterns.nfa import Check, Fork, Match, Nfa, Take, sources_of, tests_of
from tokexport.unicode import CODE_POINTS, CodePoints
from tokexport.unicode.store import Intervals

DEAD = 0

# Where a test holds, by the symbol before and the symbol ahead; the last index: there is none.
Truth: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Automaton:
    """``next[state, class]`` (0: dead); ``ends[state, class]``: a match ends before this symbol.
    The last column is the end of the text. ``starts[start, class]`` is the state to start in after
    a symbol of that class; the last is for the start of the text. There is a row for each start of
    the NFA. ``classes`` has the class of each symbol of the alphabet.
    """

    classes: npt.NDArray[np.integer[Any]]
    next: npt.NDArray[np.int64]
    ends: npt.NDArray[np.bool_]
    starts: npt.NDArray[np.int64]


def determinise(nfa: Nfa, alphabet: Ordered[int]) -> Automaton:
    """Runs all threads of an automaton, whose conditions are on neighbours only, at once.

    Raises PatternError if that takes too many states.

    >>> from tokexport.patterns.fancy import parse
    >>> from tokexport.patterns.nfa import nfa_of
    >>> automaton = determinise(nfa_of(parse("a|ab")), range(97, 100))
    >>> automaton.classes.tolist(), automaton.next.tolist()  # leftmost-first: the b is never read
    ([0, 1, 2], [[0, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]])
    >>> automaton.ends[2].tolist()
    [True, True, True, True]
    """
    return determinise_over(nfa, *read_alphabet(nfa.sets, tests_of(nfa), alphabet))


def read_alphabet(
    sets: Ordered[CodePoints], tests: Ordered[tree.Test], alphabet: Ordered[int]
) -> tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.bool_], dict[int, Truth]]:
    """The classes of an alphabet that sets and tests of neighbours distinguish: the class of each
    symbol, ``holds[set, class]``, and where each test, by ``id()``, is true.
    """
    of_one = [test for test in tests if isinstance(test, tree.LookOne)]
    classes, members = partition([*sets, *(test.members for test in of_one)], alphabet)
    holds, rows = members[: len(sets)], members[len(sets) :]
    truth: dict[int, Truth] = {}
    for test, row in zip(of_one, rows, strict=True):
        line = np.append(row, test.edge)
        shape = len(line), len(line)
        truth[id(test)] = np.broadcast_to(line if test.ahead else line[:, None], shape)
    return classes, holds, truth


def partition(
    sets: Ordered[CodePoints], alphabet: Ordered[int]
) -> tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.bool_]]:
    """The classes into which sets divide an alphabet (code points, in any order): the class of each
    symbol, by first appearance, and ``holds[set, class]``. Surrogates join the class before them.

    >>> digits = np.zeros(CODE_POINTS, dtype=np.bool_); digits[48:58] = True
    >>> partition([digits], range(46, 60))[0].tolist()
    [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
    """
    if not sets:
        return np.zeros(len(alphabet), dtype=np.uint8), np.zeros((0, 1), dtype=np.bool_)
    whole = len(alphabet) == CODE_POINTS
    columns = [members if whole else members[[*alphabet]] for members in sets]
    # Most neighbours are alike: compare the sets only where one of them changes.
    changes = np.zeros(len(alphabet), dtype=np.bool_)
    changes[0] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    if whole:
        changes[0xD800] = False
        changes[0xE000] = True
    starts = np.flatnonzero(changes)
    membership = np.stack([column[starts] for column in columns])
    first, number = distinct_columns(np.packbits(membership, axis=0))
    lengths = np.diff(starts, append=len(alphabet))
    return np.repeat(number, lengths), membership[:, first]


def distinct_columns(
    rows: npt.NDArray[np.generic],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.integer[Any]]]:
    """The distinct columns, in order of first appearance: the first index of each, and for every
    column the number of its distinct column.

    >>> [found.tolist() for found in distinct_columns(np.array([[7, 3, 7]]))]
    [[0, 1], [0, 1, 0]]
    """
    _, first, inverse = np.unique(rows, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), dtype=np.min_scalar_type(len(order)))
    number[order] = np.arange(len(order))
    return first[order], number[inverse.reshape(-1)]


def determinise_over(
    nfa: Nfa,
    classes: npt.NDArray[np.integer[Any]],
    holds: npt.NDArray[np.bool_],
    truth: Mapping[int, Truth],
) -> Automaton:
    """The same over given classes, such as those that :func:`read_alphabet` returns."""
    end = holds.shape[1]  # the symbol that stands for the end of the text
    members = [frozenset(np.flatnonzero(column).tolist()) for column in holds.T] + [frozenset()]
    held = np.zeros((len(nfa.conditions), end + 1, end + 1), dtype=np.bool_)
    for number, condition in enumerate(nfa.conditions):
        held[number] = truth_of(condition, truth)
    # Symbols before that no condition distinguishes are one context; 0: no condition needs it.
    _, first, inverse = np.unique(
        held.transpose(1, 0, 2).reshape(end + 1, -1), axis=0, return_index=True, return_inverse=True
    )
    contexts: list[int] = inverse.reshape(-1).tolist()
    held_in = {
        (context, ahead): frozenset(np.flatnonzero(held[:, before, ahead]).tolist())
        for context, before in enumerate(first)
        for ahead in range(end + 1)
    }
    asks = {number for number in range(len(held)) if (held[number] != held[number][:1]).any()}
    asks_before = _reaching(nfa, asks)
    queue: list[tuple[tuple[int, ...], int]] = [((), 0)]
    numbers = {queue[DEAD]: DEAD}

    def number_of(pending: tuple[int, ...], last: int) -> int:
        state = pending, 0 if asks_before.isdisjoint(pending) else contexts[last]
        number = numbers.setdefault(state, len(numbers))
        if number == len(queue):
            if number > MAX_STATES * 4:
                raise too_many_states()
            queue.append(state)
        return number

    @cache
    def follow(pending: tuple[int, ...], held: frozenset[int]) -> tuple[list[Take], bool]:
        """The threads that need a symbol next, by priority, and whether a match ends here."""
        takes: list[Take] = []
        visited: set[int] = set()
        stack = [*reversed(pending)]
        while stack:
            number = stack.pop()
            if number in visited:
                continue
            visited.add(number)
            match nfa.instructions[number]:
                case Take() as take:
                    takes.append(take)
                case Fork(targets):
                    stack.extend(reversed(targets))
                case Check(condition, target):
                    if condition in held:
                        stack.append(target)
                case Match():
                    return takes, True
        return takes, False

    starts = [[number_of((start,), last) for last in range(end + 1)] for start in nfa.starts]
    rows: list[list[int]] = []
    accepts: list[list[bool]] = []
    for pending, context in queue:
        found = [follow(pending, held_in[context, symbol]) for symbol in range(end + 1)]
        accepts.append([ended for _, ended in found])
        rows.append([])
        for symbol, (takes, _) in enumerate(found):
            targets = dict.fromkeys(t.target for t in takes if t.members in members[symbol])
            rows[-1].append(number_of(tuple(targets), symbol))
    return Automaton(classes, np.array(rows), np.array(accepts), np.array(starts))


def _reaching(nfa: Nfa, conditions: set[int]) -> set[int]:
    """The instructions from which, without consuming, one of the conditions may be checked."""
    queue = [
        number
        for number, instruction in enumerate(nfa.instructions)
        if isinstance(instruction, Check) and instruction.condition in conditions
    ]
    reaching, sources = set(queue), sources_of(nfa)
    for number in queue:
        queue += (fresh := set(sources[number]) - reaching)
        reaching |= fresh
    return reaching


def truth_of(condition: tree.Condition, truth: Mapping[int, Truth]) -> Truth | np.bool_:
    """Where a condition holds; a single value if that is the same everywhere."""
    match condition:
        case tree.LookOne() | tree.LookUnbounded():
            return truth[id(condition)]
        case tree.And(parts):
            return reduce(operator.and_, (truth_of(part, truth) for part in parts), np.True_)
        case tree.Or(parts):
            return reduce(operator.or_, (truth_of(part, truth) for part in parts), np.False_)
        case tree.Not(part):
            return ~truth_of(part, truth)


def too_many_states() -> tree.PatternError:
    return tree.PatternError(0, f"more than {MAX_STATES} states", "use smaller counted repeats")


def minimise(automaton: Automaton) -> Automaton:
    """The equivalent automaton with the fewest states and classes (Moore); the dead state stays 0.

    States are numbered in breadth-first order from the starts, so equal automata are equal arrays.
    Raises PatternError if it still has too many states.

    >>> from tokexport.patterns.fancy import parse
    >>> from tokexport.patterns.nfa import nfa_of
    >>> automaton = minimise(determinise(nfa_of(parse("a|b|ca|cb")), range(97, 101)))
    >>> automaton.classes.tolist(), len(automaton.next)
    ([0, 0, 1, 2], 4)
    """
    first, block = distinct_states(automaton.next, automaton.ends)
    following, ends = block[automaton.next[first]], automaton.ends[first]
    starts = block[automaton.starts]

    numbers: dict[int, int] = {}
    queue = [int(block[DEAD]), *starts.reshape(-1).tolist()]
    for state in queue:
        if state not in numbers:
            numbers[state] = len(numbers)
            queue += following[state].tolist()
    kept = [*numbers]
    number = np.zeros(len(first), dtype=np.int64)
    number[kept] = np.arange(len(kept))
    following, ends, starts = number[following[kept]], ends[kept], number[starts]

    columns = np.concatenate([following, ends, starts], axis=0)[:, :-1]
    distinct, merged = distinct_columns(columns)
    distinct = np.append(distinct, following.shape[1] - 1)
    classes = Intervals.of(automaton.classes).array(merged)
    return Automaton(classes, following[:, distinct], ends[:, distinct], starts[:, distinct])


def distinct_states(
    following: npt.NDArray[np.int64], outputs: npt.NDArray[np.int64] | npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """States that some input distinguishes, by successor and output for each symbol (Moore's
    algorithm): the first state of each kind, and the kind of every state.

    Raises PatternError if there are too many.
    """
    n_outputs = int(outputs.max()) + 1
    number = np.zeros(len(following), dtype=np.int64)
    n_states = 0
    while True:
        rows = np.concatenate([number[:, None], number[following] * n_outputs + outputs], axis=1)
        # A chain of n states takes n rounds: a dictionary is ten times as fast as sorting.
        whole_row = np.dtype((np.void, rows.itemsize * rows.shape[1]))
        known: dict[bytes, int] = {}
        keys = rows.view(whole_row).reshape(-1).tolist()
        number = np.array([known.setdefault(key, len(known)) for key in keys])
        if len(known) == n_states:
            break
        n_states = len(known)
    if n_states > MAX_STATES:
        raise too_many_states()
    return np.unique(number, return_index=True)[1], number


def sure_to_match(
    following: npt.NDArray[np.integer[Any]], ends: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """The states from which a match is sure to end, whatever follows, even the end of the text."""
    sure = np.ones(len(following), dtype=np.bool_)
    while True:
        fewer = (ends | sure[following]).all(axis=1) & (np.arange(len(sure)) != DEAD)
        if (fewer == sure).all():
            return sure
        sure = fewer
