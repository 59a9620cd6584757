"""Whether a prefix for the first piece alone can be exact.

The reference puts it where the first character of a piece stems from the first character of the input. The runtime puts it where a piece
stands at the start of the text that the input has become. Both are the same as long as every character has become one character; and, where
nothing has been cut yet, as long as the first character of the text always stems from the first of the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tokexport.compiler.regex import SplitProgram
from tokexport.compiler.rewriting import AffixOp, MapOp, Op, ReplaceOp
from tokexport.errors import UnsupportedError
from tokexport.model import Split

Stage = tuple[Split, SplitProgram] | tuple[Op, ...]


def check_first_piece(normalizer: Sequence[Op], stages: Sequence[Stage], *, cut_between: bool) -> None:
    """Refuse what may put the prefix elsewhere; ``cut_between``: added tokens cut the text between normalizer and stages.

    Raises UnsupportedError.
    """
    kept = _Kept()
    for op in normalizer:  # there "first" is of the text that has not been normalized, in the reference too
        kept.pass_op(op)
    whole = not cut_between
    for stage in stages:
        if isinstance(stage[0], Split):
            whole = False
            continue
        for op in stage:
            assert not isinstance(op, Split | SplitProgram)
            kept.check(op, whole=whole)
            kept.pass_op(op)


@dataclass(slots=True)
class _Kept:
    """What still holds of the text: every character has become one, and the first stems from the first."""

    one_to_one: bool = True
    same_start: bool = True

    def check(self, op: Op, *, whole: bool) -> None:
        """Refuse a prefix that may stand elsewhere; the text has not been cut if ``whole``."""
        if isinstance(op, AffixOp) and op.only_first and not (self.one_to_one or (self.same_start and whole)):
            raise UnsupportedError(
                "pre_tokenizer.prepend_scheme",
                '"first" behind steps that add or drop characters',
                "it is where they replace one character by one",
            )

    def pass_op(self, op: Op) -> None:
        """An operation on the text."""
        match op:
            case MapOp(mapping):
                outputs = [mapping.outputs[number] for number in np.unique(mapping.numbers)]
                lengths = {len(output.before + output.after) + output.keep for output in outputs}
                self.one_to_one &= lengths == {1}
                self.same_start &= 0 not in lengths
            case ReplaceOp():
                self.one_to_one = self.same_start = False
            case _:
                self.one_to_one = False
