r"""From a pre-tokenizer's pattern to the table that splits a text: parse, partition, determinise,
minimise.

The table is a leftmost-first automaton over code point classes with one code point of lookahead. It
is run from a start position as long as it lives, and the last match end that it reports is the end
of the match; where it reports none, there is no match at that position, and the next one is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tokexport.errors import UnsupportedError
from tokexport.model import CharacterRuns, CharacterTest, Dialect, Split
from tokexport.patterns import fancy, oniguruma
from tokexport.patterns.backreferences import expand_backreferences
from tokexport.patterns.dfa import DEAD, Automaton, determinise, minimise
from tokexport.patterns.labels import LabelTable
from tokexport.patterns.linear_time import states_to_remember
from tokexport.patterns.lookaround import lower_lookaround_and_atomic
from tokexport.patterns.nfa import program_of
from tokexport.patterns.runs import script_runs
from tokexport.patterns.tree import Characters, Node, PatternError
from tokexport.patterns.unbounded_lookaround import determinise_with_labels, needs_labels
from tokexport.unicode import CODE_POINTS, character_test_set
from tokexport.unicode.byte_alphabet import CHARACTERS

__all__ = [
    "MATCH_ENDS",
    "LabelTable",
    "SplitProgram",
    "compile_replace",
    "compile_split",
    "compile_tree",
]

MAX_CLASSES = 254
MATCH_ENDS = 0x8000


@dataclass(frozen=True, slots=True)
class SplitProgram:
    """The automaton of one pre-tokenizer stage.

    ``classes``: the class of each code point, shape (0x110000,), or of each byte, shape (256,), for
    a stage after ByteLevel. ``transitions``: shape (n_states, n_classes + 1), by state and class
    of the next symbol, the last column being the end of the text: the low 15 bits are the next
    state (0: dead), bit 15 (``MATCH_ENDS``) says that a match ends before this symbol. ``starts``:
    shape (n_classes + 1,), the state to start in by the class of the symbol before; the last is for
    the start of the text. ``n_memo``: states 1 to n_memo can be passed through without bound while
    no match ends, and by one start after the other, so a runtime that stays linear remembers the
    positions where one of them led to no match end; 0 for nearly every pattern in use.
    ``may_be_empty``: a match may hold no character; it then ends before the first symbol that is
    read. ``labels``: with a label table, the automaton does not read classes but labels, of which
    there are n_classes: what the table, run over the classes from the end of the text to its start,
    gives each symbol.
    """

    classes: npt.NDArray[np.uint8]
    n_classes: int
    transitions: npt.NDArray[np.uint16]
    starts: npt.NDArray[np.uint16]
    n_memo: int
    may_be_empty: bool = False
    labels: LabelTable | None = None

    def read(self, text: str) -> list[int]:
        r"""What the automaton reads of a text, code point by code point: its classes, or their
        labels.

        >>> compile_split(Split(r"\s+|\S+")).read("a b")
        [0, 1, 0]
        """
        return self.labelled([ord(character) for character in text])

    def labelled(self, symbols: Sequence[int]) -> list[int]:
        """What the automaton reads of symbols, code points or bytes."""
        classes = [int(self.classes[symbol]) for symbol in symbols]
        return classes if self.labels is None else self.labels.run(classes)


def compile_split(split: Split) -> SplitProgram:
    r"""Compile one pre-tokenizer stage.

    Raises UnsupportedError, naming the pattern and the place in it, where the table could not be
    exact: references to groups that may hold many texts, repeats whose empty turns matter, and
    whatever the dialect's engine itself refuses.

    >>> program = compile_split(Split(r"\s+(?!\S)|\s+|\S+"))
    >>> program.n_classes, program.transitions.shape, program.n_memo
    (2, (5, 3), 0)
    """
    # tiktoken panics where it meets a match of no characters.
    return _compiled(split, may_be_empty=split.dialect is not Dialect.FANCY_REGEX)


def _compiled(split: Split, *, may_be_empty: bool) -> SplitProgram:
    try:
        program = compile_tree(_parse(split), on_bytes=split.on_bytes)
        if program.may_be_empty and not may_be_empty:
            raise empty_match()
        return program
    except PatternError as refused:
        raise UnsupportedError(
            split.path,
            f"the {split.dialect.value} pattern {split.pattern!r} with {refused.found} at offset"
            f" {refused.offset} is not supported",
            refused.supported,
        ) from None
    except RecursionError:
        raise UnsupportedError(
            split.path,
            f"the {split.dialect.value} pattern {split.pattern!r} with groups nested as deep is not supported",
            "fewer levels are",
        ) from None


def compile_replace(split: Split, content: str) -> SplitProgram:
    """Compile a pattern whose matches are replaced by ``content``. A match of no characters matters
    only where there is some content.

    Raises UnsupportedError as ``compile_split`` does.
    """
    program = _compiled(split, may_be_empty=True)
    return program if content else replace(program, may_be_empty=False)


def compile_tree(node: Node, *, on_bytes: bool = False) -> SplitProgram:
    """Compile a pattern that is given as its tree; PatternError where the table could not be exact."""
    alphabet = np.array([*map(ord, CHARACTERS)]) if on_bytes else np.arange(CODE_POINTS)
    program = program_of(lower_lookaround_and_atomic(expand_backreferences(node)))
    if needs_labels(program):
        return _split_program(*determinise_with_labels(program, alphabet))
    return _split_program(minimise(determinise(program, alphabet)))


def empty_match() -> PatternError:
    """The error for a pattern that can match the empty string, where that is not supported."""
    return PatternError(
        0,
        "a possible match of the empty string",
        "a pattern that consumes at least one character is",
    )


def _parse(split: Split) -> Node:
    if isinstance(split.pattern, CharacterRuns):
        return script_runs()
    if isinstance(split.pattern, CharacterTest):
        return Characters(character_test_set(split.pattern))
    parse = oniguruma.parse if split.dialect is Dialect.ONIGURUMA else fancy.parse
    return parse(split.pattern)


def _split_program(automaton: Automaton, labels: LabelTable | None = None) -> SplitProgram:
    may_be_empty = bool(automaton.ends[automaton.starts].any())
    n_classes = automaton.next.shape[1] - 1
    most = max(
        n_classes, int(automaton.classes.max()) + 1, 0 if labels is None else labels.next.shape[1]
    )
    if most > MAX_CLASSES:
        raise PatternError(0, f"{most} different classes of characters", f"up to {MAX_CLASSES} are")
    unbounded = states_to_remember(automaton, may_be_empty)
    order = np.concatenate([[DEAD], np.flatnonzero(unbounded), np.flatnonzero(~unbounded)[1:]])
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    transitions = number[automaton.next] | np.where(automaton.ends, MATCH_ENDS, 0)
    return SplitProgram(
        classes=automaton.classes.astype(np.uint8),
        n_classes=n_classes,
        transitions=transitions[order].astype(np.uint16),
        starts=number[automaton.starts].astype(np.uint16),
        n_memo=int(unbounded.sum()),
        may_be_empty=may_be_empty,
        labels=labels,
    )
