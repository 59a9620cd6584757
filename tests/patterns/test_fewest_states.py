"""A row of edits made one machine with few states writes what the row writes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as words

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_decoding import edits
from repository import SLOW

from tokexport.compiler.decoder.edit_machines import OTHER, Machine, end_of, machine_of, pass_on
from tokexport.compiler.decoder.edits import compile_edits
from tokexport.compiler.decoder.fewest_states import TooManyStatesError, fewest, product
from tokexport.model import Replacing, TextEdit, Trimmed
from tokexport.sources.tokenizer_json.decoder import CLEANUP
from tokexport.sources.tokenizer_json.decoder_steps import replaced

ROW = tuple(Replacing((rule,)) for rule in CLEANUP)


def written(machines: Sequence[Machine], symbols: Sequence[int]) -> list[int]:
    given, states = pass_on(machines, [machine.start for machine in machines], symbols)
    return given + end_of(machines, states)


@settings(max_examples=50 if SLOW else 20, deadline=None)
@given(
    st.tuples(edits, edits).map(lambda two: two[0] + two[1]),
    st.lists(
        st.lists(st.sampled_from([OTHER, *"a▁ é#x".encode()]), max_size=30), min_size=1, max_size=10
    ),
)
def test_it_writes_what_the_row_writes(steps: list[TextEdit], texts: list[list[int]]) -> None:
    row = [*map(machine_of, steps)]
    one = fewest(row)
    for text in texts:
        assert written([one], text) == written(row, text)


def test_it_has_no_state_more_than_is_needed() -> None:
    assert len(product([machine_of(edit) for edit in ROW[:7]], 1000).next) == 102
    assert len(product([fewest([machine_of(edit) for edit in ROW[:7]])], 1000).next) == 12


def test_the_clean_up_of_words_does_to_all_short_texts_what_python_does() -> None:
    table = compile_edits(ROW)
    assert len(table.next) == 19
    for text in map("".join, words((" ", "'", "n't", "s", " do not", ".", "x"), repeat=5)):
        state, given = 0, b""
        for byte in text.encode():
            column = table.classes[byte]
            given += table.written[state][column] + bytes([byte]) * table.keeps[state][column]
            state = table.next[state][column]
        assert (given + table.ends[state]).decode() == replaced(text, CLEANUP)


def test_a_row_with_too_many_states_is_given_up() -> None:
    row = [machine_of(Trimmed(character, 64, at_end=True)) for character in "abc"]
    with pytest.raises(TooManyStatesError):
        fewest(row)
