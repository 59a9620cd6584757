"""Whether the reference survives what a Replace inserts before a text.

A match of no characters at the start of a text puts the content before it, where the reference has
no character that it could stem from. A later step that goes through the text character by character
then counts from the first character that stems from one, and stops, or doubles what was inserted.
Source: ``transform_range`` of ``tokenizers``' normalizer.rs.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokexport.compiler.normalizer.rewriting import ReplaceOp, compile_steps
from tokexport.errors import UnsupportedError
from tokexport.model import NormalizerStep, Prepend, PreTokenizerStep, Replace, Split


def check_insertions(
    normalizer: Sequence[NormalizerStep], splits: Sequence[PreTokenizerStep], *, byte_level: bool
) -> bool:
    """Whether the offsets of all that is inserted are known: it stands at the start of the text,
    whatever came before has dropped there.

    ``byte_level``: after the steps there is a ByteLevel that is none itself. Raises
    UnsupportedError where the reference stops.
    """
    known = True
    for position, step in enumerate(normalizer):
        if not isinstance(step, Replace) or not _inserts_first(step):
            continue
        others: Sequence[NormalizerStep | PreTokenizerStep] = [*normalizer[position + 1 :], *splits]
        found = f"the pattern {step.pattern!r}, which puts {step.content!r} before a text,"
        found += " is not supported"
        walked = any(not isinstance(other, Replace | Prepend | Split) for other in others)
        if walked or byte_level:
            raise UnsupportedError(
                step.path,
                found,
                "the reference stops at such a text where a later step goes through its characters;"
                " no such step may follow",
            )
        if position and any(isinstance(other, Prepend) and other.only_first for other in others):
            raise UnsupportedError(
                step.path,
                found,
                "after another step it is where no Metaspace asks what comes first (prepend_scheme"
                ' "first")',
            )
        known = known and position == 0
    return known


def _inserts_first(step: Replace) -> bool:
    return any(isinstance(op, ReplaceOp) and op.may_insert_first for op in compile_steps((step,)))
