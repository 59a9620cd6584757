"""How the runtime knows the first pre-token, which alone gets a prefix.

The reference adds it where the first character of a pre-token comes from the first of the input.
Usually that is the start of the normalized text: if every character has become one character; or,
where nothing has been cut yet, if the first of the text comes from the first of the input.
Otherwise the runtime has to track the source of each character, which costs time and memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tokexport.compiler.normalizer.rewriting import AffixOp, Op, ReplaceOp
from tokexport.model import Split
from tokexport.normalization.character_map import CharacterMapping
from tokexport.patterns import SplitProgram
from tokexport.unicode.store import distinct

Stage = tuple[Split, SplitProgram] | tuple[Op, ...]


def mark_first_prefixes(
    normalizer: Sequence[Op], stages: Sequence[Stage], *, cut_between: bool
) -> tuple[Stage, ...]:
    """The stages; prefixes depend on the source of a pre-token where its position does not decide.

    ``cut_between``: added tokens cut the text between normalizer and stages.
    """
    if not any(isinstance(op, AffixOp) and op.only_first for stage in stages for op in stage):
        return tuple(stages)
    known = _Known()
    # Here "first" refers to the text before normalization, as in the reference.
    for op in normalizer:
        known.pass_op(op)
    whole = not cut_between
    found: list[Stage] = []
    for stage in stages:
        if isinstance(stage[0], Split):
            whole = False
            found.append(stage)
            continue
        ops: list[Op] = []
        for op in stage:
            assert not isinstance(op, Split | SplitProgram)
            known_by_place = known.one_to_one or (known.same_start and whole)
            if isinstance(op, AffixOp) and op.only_first and not known_by_place:
                op = replace(op, by_source=True)
            ops.append(op)
            known.pass_op(op)
        found.append(tuple(ops))
    return tuple(found)


@dataclass(slots=True)
class _Known:
    """What still holds: each character has become one; the first comes from the first."""

    one_to_one: bool = True
    same_start: bool = True

    def pass_op(self, op: Op) -> None:
        match op:
            case CharacterMapping(numbers, outputs):
                used = [outputs[number] for number in distinct(numbers)]
                lengths = {len(output.before + output.after) + output.keep for output in used}
                self.one_to_one &= lengths == {1}
                self.same_start &= 0 not in lengths
            case ReplaceOp():
                self.one_to_one = self.same_start = False
            case _:
                self.one_to_one = False
