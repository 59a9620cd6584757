"""The trie of a vocabulary finds exactly its keys."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokexport import _core
from tokexport.compiler.tries.trie_tables import NO_TOKEN, double_array
from tokexport.file.layout import NO_LABEL

KEYS = (
    st.binary(max_size=6)
    | st.text("ab\u00e9", max_size=6).map(str.encode)
    | st.integers(0, 255).map(lambda b: b"x" + bytes([b]))
)
VOCABULARIES = st.dictionaries(KEYS, st.integers(0, NO_TOKEN - 1), max_size=300)


def labels(units: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    return np.bitwise_and(units, 0x1FF)


def look_up(units: npt.NDArray[np.uint64], root: int, key: bytes) -> int | None:
    base, token = root, NO_TOKEN
    for byte in key:
        unit = int(units[base + byte])  # every base has 256 units after it
        if unit & 0x1FF != byte:
            return None
        base, token = unit >> 32, (unit & 0xFFFFFFFF) >> 9
    return None if token == NO_TOKEN else token


@settings(max_examples=200)
@given(VOCABULARIES, st.lists(KEYS, max_size=50))
def test_a_key_is_found_if_and_only_if_it_exists(
    vocab: dict[bytes, int], other_keys: list[bytes]
) -> None:
    units, root = double_array(vocab)
    for key in [*vocab, *other_keys, *(key[:-1] for key in vocab), *(key + b"a" for key in vocab)]:
        assert look_up(units, root, key) == (vocab.get(key) if key else None)


@given(VOCABULARIES)
def test_no_two_nodes_share_a_base(vocab: dict[bytes, int]) -> None:
    units, root = double_array(vocab)
    bases = (units[labels(units) != NO_LABEL] >> np.uint64(32)).tolist()
    inner = [base for base in bases if base]
    assert root > 0
    assert len({root, *inner}) == 1 + len(inner)
    prefixes = {key[:length] for key in vocab for length in range(1, len(key) + 1)}
    assert len(bases) == len(prefixes)


def test_there_are_almost_as_many_nodes_as_units() -> None:
    vocab = {f"{number * 7919 % 100003:o}x{number}".encode(): number for number in range(20_000)}
    units, _ = double_array(vocab)
    nodes = int((labels(units) != NO_LABEL).sum())
    assert len(units) < 1.25 * nodes + 256


def test_arrays_that_do_not_match_are_an_error() -> None:
    for ends, ids, problem in (
        ((1, 2), (7,), "one end and one id"),
        ((1, 4), (7, 8), "before the last one or outside"),
        ((2, 1), (7, 8), "before the last one or outside"),
        ((0, 1), (7, 8), "a key without bytes"),
    ):
        with pytest.raises(ValueError, match=problem):
            _core.double_array(
                b"abc", np.array(ends, np.uint32), np.array(ids, np.uint32), NO_TOKEN
            )
