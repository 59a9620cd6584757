"""Unigram, WordPiece, WordLevel and greedy models in the C core: damaged tables are detected on
use, and little memory is sufficient.
"""

import ctypes
import struct

import golden_files
import pytest
import tokexport_reader
from bare_models import tokenizer_model
from c_harness import Library
from damage import Sections
from golden_files import patched
from hypothesis import given, settings
from hypothesis import strategies as st

from tokexport.conversion import file_bytes
from tokexport.model import AddedToken, Behavior, Reference, Split, UnigramModel, WordLevelModel
from tokexport.runtime.tokenizer import load

OK, WORK, CORRUPT, UNKNOWN_TEXT = 0, -7, -37, -12
NAMES = ["greedy", "unigram", "unigram-fallback", "wordlevel", "wordpiece"]
NONE, OUTSIDE = 0xFFFFFFFF, 0x40000000


def units(name: str) -> list[int]:
    return [unit for (unit,) in struct.iter_unpack("<Q", golden_files.section(name, b"TRIE")[32:])]


HEADER = {"root": (4, OUTSIDE), "flags": (24, 4), "reserved": (28, 1)}
DAMAGE = {
    **{
        f"{field} of {name}": (name, (b"TRIE", offset, "I", number), b"a")
        for name in NAMES
        for field, (offset, number) in HEADER.items()
    },
    "a sum that stages cut": ("unigram-fallback", (b"TRIE", 24, "I", 1), b"a"),
    "a prefix that leads nowhere": ("wordpiece", (b"TRIE", 8, "I", OUTSIDE), b"unable"),
    "an id of a byte": ("unigram-fallback", (b"BIDS", 4 * ord("x"), "I", 100_000), b"x"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_number_out_of_range(library: Library, damage: str) -> None:
    name, change, text = DAMAGE[damage]
    assert library.open(patched(name, change)) == OK
    assert library.encode(text)[0] == CORRUPT


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [0x1FF, OUTSIDE << 32], ids=["label", "base"])
def test_a_unit_out_of_range(library: Library, name: str, change: int) -> None:
    changes = ((b"TRIE", 32 + 8 * i, "Q", unit | change) for i, unit in enumerate(units(name)))
    assert library.open(patched(name, *changes)) == OK
    assert library.encode(b"abc")[0] == CORRUPT


@pytest.mark.parametrize("name", NAMES)
def test_a_token_that_does_not_exist(library: Library, name: str) -> None:
    count = struct.unpack_from("<I", golden_files.content(name), 24)[0]
    changes = [
        (b"TRIE", 32 + 8 * i, "Q", unit & ~(0x1FFFFF << 9) | count << 9)
        for i, unit in enumerate(units(name))
        if unit >> 9 & 0x1FFFFF != 0x1FFFFF
    ]
    assert library.open(patched(name, *changes)) == OK
    assert library.encode(b"a")[0] == CORRUPT
    output = ctypes.byref(ctypes.c_uint32())
    assert library.call("tkx_token_id", library._tkx, b"a", 1, output) == CORRUPT


def test_unknown_text_stops_the_encoder_without_an_unknown_token(library: Library) -> None:
    for name in NAMES:
        content = bytearray(golden_files.content(name))
        struct.pack_into("<I", content, 44, NONE)
        Sections(content).seal()
        assert library.open(bytes(content)) == OK
        assert library.encode("\u00fe".encode())[0] == (OK if name == "greedy" else UNKNOWN_TEXT)
    # No token starts from this root.
    assert library.open(patched("greedy", (b"TRIE", 4, "I", 0))) == OK
    assert library.encode(b"a") == (UNKNOWN_TEXT, [])


def test_a_long_pre_token_needs_memory_only_between_shared_positions(library: Library) -> None:
    assert library.open(golden_files.content("unigram")) == OK
    code, count, ids = library.encode_within(b"abc" * 100_000, 0)
    assert (code, count) == (OK, 100_000)
    assert set(ids) == {4}
    code, needed, _ = library.encode_within(b"a" * 100_000, 0)
    assert code == WORK
    assert needed <= 16 * 100_001
    code, count, ids = library.encode_within(b"a" * 100_000, needed)
    assert (code, count) == (OK, 50_000)
    text = (b"a" * 500 + b"c") * 200
    assert library.encode_within(text, 16 * 513)[0] == OK  # eight times 64 positions, and one more


@settings(max_examples=300)
@given(
    scores=st.dictionaries(
        st.text("ab\u00e9", min_size=1, max_size=5),
        st.sampled_from([-1.0, -2.0, -0.1, -0.2, -30000.1, -40000.3, 33333.3, -16777216.0])
        | st.floats(-9, 1, width=32),
        min_size=1,
        max_size=12,
    ),
    text=st.text("ab\u00e9c", max_size=40),
    fallback=st.booleans(),
)
def test_sums_in_single_precision_match_the_specification(
    scores: dict[str, float], text: str, fallback: bool
) -> None:
    pieces = ["<unk>", *scores]
    singles = [struct.unpack("f", struct.pack("f", score))[0] for score in scores.values()]
    model = UnigramModel(
        {piece.encode(): number for number, piece in enumerate(pieces) if number},
        (0.0, *singles),
        0,
        min(singles) - 10,
        tuple(1 if byte & 1 else None for byte in range(256)) if fallback else None,
        single_precision=True,
    )
    tokens = map(str.encode, pieces)
    content = file_bytes(tokenizer_model(tokens, model, Reference.SENTENCEPIECE))
    file = tokexport_reader.open_file(content)
    assert b"SC64" not in file.sections
    assert load(content).encode(text) == tokexport_reader.encode(file, text.encode())


@given(parts=st.lists(st.sampled_from(["a", "x", "y", "<s>"]), max_size=12))
def test_unknown_words_are_one_id_up_to_an_added_token(parts: list[str]) -> None:
    model = WordLevelModel({b"a": 1}, 0, fuse_unk=True)
    letters = Split(".", Behavior.ISOLATED)
    added = (AddedToken(2, "<s>"),)
    content = file_bytes(
        tokenizer_model((b"?", b"a", b"<s>"), model, pre_tokenizer=(letters,), added_tokens=added)
    )
    text = "".join(parts)
    expected = tokexport_reader.encode(tokexport_reader.open_file(content), text.encode())
    assert load(content).encode(text) == expected
