"""A compiled pattern, and the functions that compile a pattern's text or tree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.limits import MAX_CLASSES
from tokexport.patterns import fancy, oniguruma, tree
from tokexport.patterns.backreferences import expand_backreferences
from tokexport.patterns.dfa import DEAD, Automaton, determinise, minimise
from tokexport.patterns.linear_time import states_to_remember
from tokexport.patterns.lookaround import lower_lookaround_and_atomic
from tokexport.patterns.nfa import nfa_of, tests_of
from tokexport.patterns.tree import PatternError
from tokexport.patterns.unbounded_lookaround import LabelTable, determinise_with_labels
from tokexport.unicode import CODE_POINTS, Dialect
from tokexport.unicode.store import Intervals

MATCH_ENDS = 0x8000


@dataclass(frozen=True, slots=True)
class SplitProgram:
    """The automaton of one pre-tokenizer stage."""

    # By code point (0x110000) or, for a stage after ByteLevel, by byte (256): uint8.
    classes: Intervals
    n_classes: int
    # Shape (n_states, n_classes + 1), by state and class of the next symbol, the last column being
    # the end of the text: the low 15 bits are the next state (0: dead), bit 15 (MATCH_ENDS) says
    # that a match ends before this symbol.
    transitions: npt.NDArray[np.uint16]
    # The start state by class of the symbol before, (n_classes + 1,); the last: start of the text.
    starts: npt.NDArray[np.uint16]
    # Runs from successive starts can pass through states 1 to n_memo without bound while no match
    # ends: a runtime remembers where one of them led to no match. Usually 0.
    n_memo: int
    # A match may be empty; it then ends before the first symbol read.
    may_be_empty: bool = False
    # With a label table, the automaton reads labels instead of classes, n_classes of them: the
    # table is run from the end of the text to its start and gives each symbol a label.
    labels: LabelTable | None = None
    # The start states where the search begins (last match end or start of the text), if different.
    search_starts: npt.NDArray[np.uint16] | None = None

    def read(self, text: str | Sequence[int]) -> list[int]:
        r"""The automaton's input for a text, or for symbols: their classes, or labels of these.

        >>> compile_pattern(r"\s+|\S+", Dialect.ONIGURUMA).read("a b")
        [0, 1, 0]
        """
        symbols = [*map(ord, text)] if isinstance(text, str) else [*text]
        classes: list[int] = self.classes[symbols].tolist()
        return classes if self.labels is None else self.labels.run(classes)

    def match_end(self, read: Sequence[int], start: int, *, searched: bool = False) -> int | None:
        """The end of the match at ``start``, if any; ``searched``: a search begins there."""
        starts = self.starts if not searched or self.search_starts is None else self.search_starts
        state = int(starts[read[start - 1] if start else self.n_classes])
        transitions = self.transitions.data  # of Python's own numbers: three times as fast
        end = None
        for position in range(start, len(read) + 1):
            symbol = read[position] if position < len(read) else self.n_classes
            transition = transitions[state, symbol]
            end = position if transition & MATCH_ENDS else end
            state = transition % MATCH_ENDS
            if state == DEAD:
                break
        return end


def compile_pattern(
    pattern: str, dialect: Dialect, alphabet: Sequence[int] = range(CODE_POINTS)
) -> SplitProgram:
    r"""Compiles a regular expression. The symbols that it reads are indices in ``alphabet``, which
    has all code points that a text may have.

    Raises PatternError where no table is exact, or where the dialect's engine refuses the pattern.

    >>> program = compile_pattern(r"\s+(?!\S)|\s+|\S+", Dialect.ONIGURUMA)
    >>> program.n_classes, program.transitions.shape, program.n_memo
    (2, (5, 3), 0)
    """
    parse = oniguruma.parse if dialect is Dialect.ONIGURUMA else fancy.parse
    try:
        return compile_tree(parse(pattern), alphabet)
    except RecursionError:
        raise PatternError(0, "groups nested too deeply", "use fewer levels") from None


def compile_tree(node: tree.Node, alphabet: Sequence[int] = range(CODE_POINTS)) -> SplitProgram:
    """Compiles a pattern given as a tree. Raises PatternError as compile_pattern does."""
    node = lower_lookaround_and_atomic(expand_backreferences(node))
    nodes = [node]
    if any(isinstance(each, tree.SearchStart) for each in tree.nodes_of(node)):
        nodes = [_with_anchor(node, tree.Assertion(each)) for each in (tree.NEVER, tree.ALWAYS)]
    nfa = nfa_of(*nodes)
    del node, nodes  # its sets take a megabyte each
    if any(isinstance(test, tree.LookUnbounded) for test in tests_of(nfa)):
        program = _program(*determinise_with_labels(nfa, alphabet))
    else:
        automaton = determinise(nfa, alphabet)
        del nfa
        program = _program(minimise(automaton))
    if program.may_be_empty and program.search_starts is not None:
        hint = r"\G is supported where each match holds a character"
        raise PatternError(0, r"the anchor \G and a possible match of the empty string", hint)
    return program


def _with_anchor(node: tree.Node, other: tree.Node) -> tree.Node:
    r"""The tree with ``other`` for each ``\G`` that is tried before anything else: the search for a
    match tries each position from its start on, so there alone it holds.
    """
    match node:
        case tree.SearchStart():
            return other
        case tree.Choice(options):
            return tree.Choice(tuple([_with_anchor(each, other) for each in options]))
        case tree.Sequence((first, *rest)):
            return tree.Sequence((_with_anchor(first, other), *rest))
        case _:
            return node


def spans(program: SplitProgram, text: str) -> list[str]:
    r"""The matches of a program over code points in a text, the simplest way: what a runtime does,
    one symbol at a time. Empty matches are left out.

    >>> spans(compile_pattern(r"\d+", Dialect.ONIGURUMA), "a12b3")
    ['12', '3']
    """
    read = program.read(text)
    found = []
    at = searched = 0
    while at < len(text):
        end = program.match_end(read, at, searched=at == searched) or at
        if end > at:
            found.append(text[at:end])
            searched = end
        at = max(end, at + 1)
    return found


def _program(automaton: Automaton, labels: LabelTable | None = None) -> SplitProgram:
    may_be_empty = bool(automaton.ends[automaton.starts].any())
    n_classes = automaton.next.shape[1] - 1
    read = 0 if labels is None else labels.next.shape[1]
    most = max(n_classes, int(automaton.classes.max()) + 1, read)
    if most > MAX_CLASSES:
        hint = f"use at most {MAX_CLASSES} classes"
        raise PatternError(0, f"{most} different classes of characters", hint)
    unbounded = states_to_remember(automaton, may_be_empty)
    order = np.concatenate([[DEAD], np.flatnonzero(unbounded), np.flatnonzero(~unbounded)[1:]])
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    transitions = number[automaton.next] | np.where(automaton.ends, MATCH_ENDS, 0)
    starts, *search_starts = number[automaton.starts].astype(np.uint16)
    return SplitProgram(
        classes=Intervals.of(automaton.classes.astype(np.uint8, copy=False)),
        n_classes=n_classes,
        transitions=transitions[order].astype(np.uint16),
        starts=starts,
        n_memo=int(unbounded.sum()),
        may_be_empty=may_be_empty,
        labels=labels,
        search_starts=search_starts[0] if search_starts else None,
    )
