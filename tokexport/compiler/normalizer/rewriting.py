"""Rewriting: what normalizers and some pre-tokenizers do, as operations of a few kinds.

Consecutive steps that look only at single characters become one map; so does a decomposition whose
marks the next step drops: NFD and NFKD decompose each character, then sort the marks after each
letter, and without marks only the decomposition is left (UAX #15). That makes XLNet on Japanese 1.2
times as fast.
"""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from tokexport._core import give_back_memory
from tokexport.compiler.splits.skip_hints import with_plain_classes
from tokexport.limits import MAX_MAPPED
from tokexport.model import (
    Append,
    CharacterMap,
    Charsmap,
    NormalForm,
    NormalizerStep,
    Prepend,
    PreTokenizerStep,
    Replace,
    SpellBytes,
    Split,
    Strip,
)
from tokexport.model.normalization.character_map import (
    CharacterMapping,
    joined,
    mapping_of,
    named_mapping,
)
from tokexport.model.normalization.charsmap import CharacterSequences, read_charsmap
from tokexport.model.normalization.graphemes import grapheme_program
from tokexport.model.normalization.normal_forms import (
    HANGUL_SYLLABLES,
    letters_of,
    normalization_tables,
)
from tokexport.model.normalization.normalize import compile_replace, compile_strip
from tokexport.patterns import SplitProgram


@dataclass(frozen=True, slots=True, eq=False)
class ReplaceOp:
    """Each match of a program becomes ``content``."""

    program: SplitProgram
    content: str


@dataclass(frozen=True, slots=True)
class AffixOp:
    """``content`` before a text that is not empty, or after it.

    ``only_first``: only where the input begins; ``by_source``: decided by the source of the text.
    """

    content: str
    append: bool = False
    unless_present: bool = False
    only_first: bool = False
    by_source: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CharsmapOp:
    """Sequences are replaced: by grapheme cluster (``clusters``), or the longest at each position.

    Characters whose class in ``clusters`` is ``first_plain`` or above are left unchanged.
    """

    sequences: CharacterSequences
    clusters: SplitProgram | None
    protected: tuple[str, ...]
    first_plain: int = 0


# Some steps are operations already.
Op = NormalForm | CharacterMapping | ReplaceOp | CharsmapOp | AffixOp | SpellBytes


def compile_steps(steps: tuple[NormalizerStep | PreTokenizerStep, ...]) -> tuple[Op, ...]:
    """The operations of the steps, in order. UnsupportedError for a step that cannot be exact."""
    ops: list[Op] = []
    for step in steps:
        for op in _ops(step):
            ops.append(op)
            while len(ops) > 1 and (both := _both(*ops[-2:])) is not None:
                ops[-2:] = [both]
    return tuple(ops)


def _both(first: Op, second: Op) -> CharacterMapping | None:
    """The one map that is equivalent to two operations, if there is one."""
    match first, second:
        case CharacterMapping(), CharacterMapping():
            mapping: CharacterMapping | None = joined(first, second)
        case NormalForm(), CharacterMapping():
            mapping = without_marks(first, second)
        case _:
            return None
    return mapping if mapping is not None and mapping.longest() <= MAX_MAPPED else None


def without_marks(form: NormalForm, mapping: CharacterMapping) -> CharacterMapping | None:
    """The one map that is equivalent to a normal form and then a map, or None.

    >>> without_marks(NormalForm.NFD, named_mapping(CharacterMap.STRIP_ACCENTS)).apply("naïve")
    'naive'
    """
    if form.composes:
        return None
    if any(mapping.apply(chr(each)) for each in normalization_tables(form).combining_classes):
        return None
    return joined(decomposition_map(form), mapping)


@functools.cache
def decomposition_map(form: NormalForm) -> CharacterMapping:
    """What NFD or NFKD does to each character alone.

    >>> [hex(ord(letter)) for letter in decomposition_map(NormalForm.NFKD).apply("ﬁ가")]
    ['0x66', '0x69', '0x1100', '0x1161']
    """
    decompositions = normalization_tables(form).decompositions.items()
    texts = {chr(point): "".join(map(chr, to)) for point, to in decompositions}
    return mapping_of(texts | {each: letters_of(each) for each in map(chr, HANGUL_SYLLABLES)})


def _ops(step: NormalizerStep | PreTokenizerStep) -> list[Op]:
    match step:
        case NormalForm() | SpellBytes():
            return [step]
        case CharacterMap():
            return [named_mapping(step)]
        case Replace(pattern="", content="") | Prepend(content="") | Append(content=""):
            return []
        case Replace(literal=True) if (
            len(step.pattern) == 1 and len(step.content.encode()) <= MAX_MAPPED
        ):
            return [mapping_of({step.pattern: step.content})]
        case Replace():
            return [ReplaceOp(compile_replace(step), step.content)]
        case Strip():
            return [ReplaceOp(program, "") for program in compile_strip(step)]
        case Charsmap():
            sequences = read_charsmap(step.data, step.path)
            if not step.by_grapheme:
                return [CharsmapOp(sequences, None, step.protected)]
            assert not step.protected  # only SentencePiece has protected texts
            give_back_memory()  # the sets of a grapheme program take ten megabytes
            clusters, first_plain = with_plain_classes(grapheme_program(), ~sequences.characters())
            return [CharsmapOp(sequences, clusters, (), first_plain)]
        case Prepend():
            return [AffixOp(step.content, False, step.unless_present, step.only_first)]
        case Append():
            return [AffixOp(step.content, append=True)]
        case Split():
            raise TypeError("a split rewrites nothing")


def runs_of_rewrites(
    steps: Sequence[PreTokenizerStep],
) -> list[Split | tuple[PreTokenizerStep, ...]]:
    """The stages of a pre-tokenizer: each split is one, and so is each run of rewriting steps.

    >>> len(runs_of_rewrites([Prepend("a"), Prepend("b"), Split("c")]))
    2
    """
    stages: list[Split | tuple[PreTokenizerStep, ...]] = []
    for _, run in itertools.groupby(steps, lambda step: isinstance(step, Split)):
        found = tuple(run)
        stages += [step for step in found if isinstance(step, Split)] or [found]
    return stages
