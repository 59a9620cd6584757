"""The educational reader and the runtime agree with the reference libraries on golden files."""

import functools
from typing import Any

import golden_files
import golden_run
import pytest
import tokexport_reader
from hypothesis import given
from hypothesis import strategies as st

READERS: dict[str, Any] = {"reader": tokexport_reader, "runtime": golden_run.Runtime()}
NAMES = [*golden_files.EXPECTED_NAMES, *golden_files.DECODER_NAMES]
WITH_SPANS = [
    name
    for name in golden_files.EXPECTED_NAMES
    if any("spans" in case for case in golden_files.expected(name)["encode"])
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_produces_the_results_of_a_golden_file(reader: str, name: str) -> None:
    assert [*golden_run.disagreements_about(READERS[reader], name)] == []


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_opens_the_smallest_files(reader: str) -> None:
    read = READERS[reader]
    decode = read.open_file(golden_files.content("smallest-decode"))
    assert read.decode_text(decode, [0, 0], False) == "AA"
    encode = read.open_file(golden_files.content("smallest-bpe"))
    assert read.encode(encode, b"abba", read.ALL) == [2, 1, 0]


def test_the_self_test_in_a_file_passes_with_both_readers() -> None:
    passed = tokexport_reader.self_test(opened("reader", "added"))
    assert passed == len(golden_files.expected("added")["encode"])
    assert opened("runtime", "added").tokenizer.self_test() == passed


@pytest.mark.parametrize("name", ["behaviors", "bytes-stages", "holes"])
def test_a_cut_that_a_file_allows_changes_no_ids(name: str) -> None:
    file = opened("reader", name)
    cuts, made = file.sections[b"CUTS"], 0
    for case in golden_files.expected(name)["encode"]:
        text, allowed = case["text"].encode(), tokexport_reader.ALL if case["special"] else ()
        for at in range(1, len(text)):
            x, y = text[at - 1], text[at]
            if x < 128 and y < 128 and cuts[x * 16 + (y >> 3)] >> (y & 7) & 1:
                sides = [
                    tokexport_reader.encode(file, side, allowed) for side in (text[:at], text[at:])
                ]
                assert sides[0] + sides[1] == case["ids"], (case, at)
                made += 1
    assert made > 5


@functools.cache
def opened(reader: str, name: str) -> Any:
    return READERS[reader].open_file(golden_files.content(name))


PARTS = st.sampled_from(
    [
        *("<s>", "</s>", "<mask>", "<both>", "word", "caf\u00e9", "<|end|>", "<|endof|>", "|><|"),
        *("\t", "  ", " world", " the", "\n\n", "\u3000", " \n ", "e\u0301", "A\u030a", "abab"),
        *("\u1100\u1161\u11a8", "hello", "12", "123", "!!", ".,", "--", "xyzzy", "'s"),
    ]
)
TEXTS = st.lists(PARTS | st.text(max_size=3), max_size=8).map("".join)


@pytest.mark.parametrize("name", golden_files.EXPECTED_NAMES)
@given(text=TEXTS, special=st.booleans())
def test_both_readers_give_any_text_the_same_ids(name: str, text: str, special: bool) -> None:
    results = [ids_of(reader, name, text.encode(), special) for reader in READERS]
    assert results[0] == results[1]
    if isinstance(results[0], list):
        runtime = opened("runtime", name).tokenizer
        assert runtime.decode_bytes(results[0]) == tokexport_reader.decode_bytes(
            opened("reader", name), results[0]
        )


@pytest.mark.parametrize("name", WITH_SPANS)
@pytest.mark.parametrize("unit", ["char", "byte"])
@given(text=TEXTS, special=st.booleans())
def test_both_readers_produce_the_same_spans_for_any_text(
    name: str, unit: Any, text: str, special: bool
) -> None:
    if ids_of("runtime", name, text.encode(), special) == "TKX_E_UNKNOWN_TEXT":
        return  # the previous test checks that both refuse it
    encoding = opened("runtime", name).tokenizer.encode_with_offsets(
        text, allowed_special="all" if special else (), unit=unit
    )
    allowed = tokexport_reader.ALL if special else ()
    spans = tokexport_reader.encode_spans(
        opened("reader", name), text.encode(), allowed, in_characters=unit == "char"
    )
    assert [*zip(encoding.ids, encoding.offsets, strict=True)] == spans


def ids_of(reader: str, name: str, text: bytes, special: bool) -> list[int] | str:
    """The ids of a text, or the error."""
    read = READERS[reader]
    try:
        ids: list[int] = read.encode(opened(reader, name), text, read.ALL if special else ())
    except read.TokexportError as error:
        return str(error.name)
    return ids
