"""From a split of the model to the program that runs it, and to its tables in a file."""

import functools

import numpy as np

from tokexport.compiler.splits.class_table import class_table
from tokexport.compiler.splits.skip_hints import leads_without_match
from tokexport.compiler.tables import ProgramTable
from tokexport.model import CharacterRuns, CharacterTest, Dialect, Split
from tokexport.model.byte_alphabet import CHARACTERS
from tokexport.model.normalization.normalize import refusal
from tokexport.patterns import PatternError, SplitProgram, compile_pattern, compile_tree
from tokexport.patterns.tree import Characters, Choice, Node, Repeat, Sequence
from tokexport.unicode import character_test_set
from tokexport.unicode.store import CODE_POINTS, shipped


def compile_split(split: Split) -> SplitProgram:
    r"""Compiles one pre-tokenizer stage.

    Raises UnsupportedError, naming the pattern and the position in it, where the table could not be
    exact, and where the dialect's engine itself refuses the pattern.

    >>> program = compile_split(Split(r"\s+(?!\S)|\s+|\S+"))
    >>> program.n_classes, program.transitions.shape, program.n_memo
    (2, (5, 3), 0)
    """
    try:
        program = _compiled(split.pattern, split.dialect, split.on_bytes)
        # tiktoken panics at an empty match.
        if program.may_be_empty and split.dialect is Dialect.FANCY_REGEX:
            hint = "each match must contain a character"
            raise PatternError(0, "a possible match of the empty string", hint)
    except PatternError as error:
        raise refusal(split, error) from None
    return program


# Most tokenizers use one of a few patterns, each of which takes 10 to 200 ms.
@functools.lru_cache(maxsize=64)
def _compiled(
    pattern: str | CharacterRuns | CharacterTest, dialect: Dialect, on_bytes: bool
) -> SplitProgram:
    alphabet = tuple(map(ord, CHARACTERS)) if on_bytes else range(CODE_POINTS)
    match pattern:
        case CharacterRuns():
            return compile_tree(_script_runs(), alphabet)
        case CharacterTest():
            return compile_tree(Characters(character_test_set(pattern)), alphabet)
        case _:
            return compile_pattern(pattern, dialect, alphabet)


def _script_runs() -> Node:
    """The runs of UnicodeScripts: a character of some script, then all that follow of that script
    or of none. Characters before the first such character are in no run: the reference drops them.
    """
    data = shipped("characters.dat")
    counts, numbers = np.reshape(data.sequence(data.header["scripts"]), (-1, 2)).T
    scripts = np.repeat(numbers, counts)
    none, runs = scripts == 0, []
    for number in range(1, int(scripts.max()) + 1):
        script = scripts == number
        rest = Repeat(Characters(np.logical_or(script, none)), 0, None, greedy=True)
        runs.append(Sequence((Characters(script), rest)))
    return Choice(tuple(runs))


def program_table(program: SplitProgram) -> ProgramTable:
    """The tables of a program.

    >>> from tokexport.model import Split
    >>> program_table(compile_split(Split("a"))).classes.leaves.dtype
    dtype('uint8')
    """
    if len(program.classes) != CODE_POINTS:
        return ProgramTable(program, None, 0)
    classes = class_table(program.classes.array())
    return ProgramTable(program, classes, leads_without_match(program))
