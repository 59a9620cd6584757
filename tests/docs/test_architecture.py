"""The pictures in docs/ARCHITECTURE.md agree with the code."""

import numpy as np

from tokexport.compiler.merges.canonical import canonical_merges
from tokexport.compiler.splits.compile_split import compile_split
from tokexport.model import BytePairModel, Split
from tokexport.patterns import MATCH_ENDS

ACCEPT = MATCH_ENDS


def test_the_split_has_the_states_and_bars_of_its_picture() -> None:
    program = compile_split(Split(r"\s+(?!\S)|\S+"))
    n, s = program.classes[[ord("a"), ord(" ")]].tolist()
    end = program.n_classes
    start = program.starts[end]
    word, space = (int(program.transitions[start, symbol]) for symbol in (n, s))
    expected = {
        (word, n): ACCEPT | word,
        (word, s): ACCEPT,
        (word, end): ACCEPT,
        (space, n): 0,
        (space, s): ACCEPT | space,
        (space, end): ACCEPT,
    }
    assert {key: int(program.transitions[key]) for key in expected} == expected


def test_the_merges_of_the_picture_omit_the_rule_that_never_fires() -> None:
    names = ("l", "o", "w", "e", "r", "lo", "low", "er", "lower", "ow")
    ids = {name.encode(): number for number, name in enumerate(names)}
    listed = ("l o", "lo w", "e r", "low er", "o w", "l ow")
    pairs = [[ids[part.encode()] for part in merge.split()] for merge in listed]
    merged = [ids[merge.replace(" ", "").encode()] for merge in listed]
    merges = np.array([(*pair, id) for pair, id in zip(pairs, merged, strict=True)])
    found = canonical_merges(BytePairModel(ids, merges))
    rules = {f"{names[left]} {names[right]}" for _, left, right, _ in found.rules.tolist()}
    assert rules == set(listed) - {"l ow"}
