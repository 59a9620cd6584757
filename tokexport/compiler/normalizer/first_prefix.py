"""How the runtime knows the first pre-token, which alone gets a prefix.

The reference adds it where the first character of a pre-token comes from the first character of
the input. Usually that is the start of the normalized text: if every character has become one
character; or, where nothing has been cut yet, if the first character of the text comes from the
first character of the input.
Otherwise the runtime has to track the source of each character, which costs time and memory.
"""

from collections.abc import Sequence
from dataclasses import replace

from tokexport.compiler.normalizer.rewriting import AffixOp, Op, ReplaceOp
from tokexport.model import Split
from tokexport.model.normalization.character_map import CharacterMapping
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
    # Here "first" refers to the text before normalization, as in the reference.
    known = [_known_after(op) for op in normalizer]
    whole = not cut_between
    found: list[Stage] = []
    for stage in stages:
        if isinstance(stage[0], Split):
            whole = False
            found.append(stage)
            continue
        ops: list[Op] = []
        for op in stage:
            one_to_one = all(one_to_one for one_to_one, _ in known)
            known_by_place = one_to_one or (whole and all(same_start for _, same_start in known))
            if isinstance(op, AffixOp) and op.only_first and not known_by_place:
                op = replace(op, by_source=True)
            ops.append(op)
            known.append(_known_after(op))
        found.append(tuple(ops))
    return tuple(found)


def _known_after(op: Op) -> tuple[bool, bool]:
    """Whether each character becomes one, and whether the first comes from the first."""
    match op:
        case CharacterMapping(numbers, outputs):
            used = [outputs[number] for number in distinct(numbers)]
            lengths = {len(output.before + output.after) + output.keep for output in used}
            return lengths == {1}, 0 not in lengths
        case _:
            return False, not isinstance(op, ReplaceOp)
