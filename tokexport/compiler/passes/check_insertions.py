"""Whether the reference survives what a Replace inserts at an empty match.

An empty match at the start of a text puts the content before the text, where no source character
corresponds to it. A later step that goes through the characters counts from the first one that has
a source, and fails or duplicates the inserted content (``transform_range`` of ``tokenizers``'
normalizer.rs). Release 1.0 (fancy-regex) inserts into an empty text too.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from tokexport.errors import UnsupportedError
from tokexport.model import (
    CharacterMap,
    Dialect,
    NormalForm,
    NormalizerStep,
    Prepend,
    PreTokenizerStep,
    Replace,
    SpellBytes,
    Split,
    TokenizerModel,
)
from tokexport.model.normalization.normalize import compile_replace
from tokexport.patterns import MATCH_ENDS


def check_insertions(model: TokenizerModel) -> TokenizerModel:
    """The model, without offsets where the span of inserted content is not known: only the first
    step is sure to insert at the start of the input, as an earlier step may drop characters.

    Raises UnsupportedError where the reference fails, or inserts into an empty text.
    """
    known = True
    for position, step in enumerate(model.normalizer):
        if not isinstance(step, Replace) or step.literal:
            continue
        program = compile_replace(step)
        if not program.may_be_empty:
            continue
        if step.dialect is Dialect.FANCY_REGEX:
            before = model.normalizer[:position]
            if program.match_end((), 0) is not None and not all(map(_keeps_some, before)):
                hint = "match at least one character, or remove the steps that may leave nothing"
                _refuse(step, hint)
        elif (program.transitions[program.starts[program.n_classes]] & MATCH_ENDS).any():
            _check_later(step, position, (*model.normalizer[position + 1 :], *model.pre_tokenizer))
            known = known and position == 0
    return model if known else replace(model, offset_trimming=None)


def _check_later(
    step: Replace, position: int, others: Sequence[NormalizerStep | PreTokenizerStep]
) -> None:
    if any(not isinstance(other, Replace | Prepend | Split) for other in others):
        _refuse(step, "remove later steps that iterate over characters, where the reference stops")
    if position and any(isinstance(other, Prepend) and other.only_first for other in others):
        _refuse(step, 'put the pattern first, or use no Metaspace with prepend_scheme "first"')


def _refuse(step: Replace, hint: str) -> NoReturn:
    problem = f"the pattern {step.pattern!r}, which puts {step.content!r} before a text,"
    raise UnsupportedError(step.path, f"{problem} is not supported", hint)


def _keeps_some(step: NormalizerStep) -> bool:
    match step:
        case Replace(content=content):
            return content != ""
        case NormalForm() | CharacterMap.LOWERCASE | Prepend() | SpellBytes():
            return True
        case _:
            return False
