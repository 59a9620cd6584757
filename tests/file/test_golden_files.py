"""The golden files are what the writer makes, and every reader reads them as the reference
libraries do.
"""

from __future__ import annotations

import functools
import hashlib
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import golden_files
import pytest
import spec_added
import spec_decoder
import spec_encoder
import spec_reader
import spec_spans
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import SLOW

import tokexport.file.layout as layout
from tokexport.errors import TextError
from tokexport.runtime.tokenizer import Tokenizer, load


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    files: dict[str, bytes] = golden_files.maker().make()
    return files


@functools.cache
def opened(name: str) -> spec_reader.SpecFile:
    file = spec_reader.open_file(golden_files.content(name))
    spec_reader.check_file(file)
    return file


@functools.cache
def loaded(name: str) -> Tokenizer:
    return load(golden_files.content(name))


WITH_SPANS = [
    name
    for name in golden_files.EXPECTED_NAMES
    if any("spans" in case for case in golden_files.expected(name)["encode"])
]


def committed() -> dict[str, bytes]:
    paths = [
        path
        for path in golden_files.FOLDER.rglob("*")
        if path.is_file() and path.suffix in (".bin", ".json")
    ]
    return {path.relative_to(golden_files.FOLDER).as_posix(): path.read_bytes() for path in paths}


def test_the_list_of_digests_is_that_of_the_files() -> None:
    lines = (golden_files.FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert listed == {
        name: hashlib.sha256(content).hexdigest() for name, content in committed().items()
    }


def test_the_script_makes_every_file_anew_byte_for_byte(made: dict[str, bytes]) -> None:
    made_files = {name: content for name, content in made.items() if name.endswith(".bin")}
    assert made_files == {
        name: content for name, content in committed().items() if name.endswith(".bin")
    }


@pytest.mark.parametrize("seed", ["1", "20261121"] if SLOW else ["20261121"])
def test_another_process_with_another_hash_seed_makes_the_same_files(
    seed: str, tmp_path: Path
) -> None:
    search = os.pathsep.join(
        [str(Path(layout.__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    )
    environment = {
        **os.environ,
        "PYTHONPATH": search,
        "PYTHONHASHSEED": seed,
        "TZ": "Asia/Kathmandu",
        "LC_ALL": "C",
    }
    subprocess.run(
        [sys.executable, golden_files.FOLDER / "make.py", tmp_path], check=True, env=environment
    )
    for name, content in committed().items():
        if name.endswith(".bin"):
            assert (tmp_path / name).read_bytes() == content, name


def test_the_expected_ids_are_those_of_the_installed_reference_libraries(
    made: dict[str, bytes],
) -> None:
    makers = (
        ("models", "goldens"),
        ("trie_models", "trie_goldens"),
        ("piece_models", "piece_goldens"),
    )
    for golden in (
        golden for module, name in makers for golden in getattr(sys.modules[module], name)()
    ):
        expected = golden_files.expected(golden.name)
        for case in expected["encode"]:
            assert case["ids"] == list(golden.encode(case["text"], case["special"])), (
                golden.name,
                case,
            )
            if golden.locate is not None and case["special"]:
                spans = [list(span) for span in golden.locate(case["text"], case["special"])]
                assert case["spans"] == spans, (golden.name, case)
        assert len(expected["encode"]) == 2 * len(golden.texts)


def test_the_golden_files_are_small() -> None:
    assert sum(map(len, committed().values())) < 640_000
    assert max(map(len, committed().values())) < 72_000


@pytest.mark.parametrize("name", golden_files.EXPECTED_NAMES)
def test_a_reader_written_from_the_specification_gives_the_expected_ids(name: str) -> None:
    file = opened(name)
    for case in golden_files.expected(name)["encode"]:
        assert spec_encoder.encode(file, case["text"].encode(), case["special"]) == case["ids"], (
            case
        )


@pytest.mark.parametrize("name", golden_files.DECODER_NAMES)
def test_every_reader_gives_the_expected_texts(name: str) -> None:
    file, tokenizer = opened(name), load(golden_files.content(name))
    for case in golden_files.expected(name)["decode"]:
        ids, skip = case["ids"], case.get("skip_special", False)
        assert spec_decoder.decode_text(file, ids, skip) == case["text"], case
        assert tokenizer.decode(ids, skip_special_tokens=skip) == case["text"], case


@pytest.mark.parametrize("name", [*golden_files.EXPECTED_NAMES, *golden_files.DECODER_NAMES])
def test_a_reader_written_from_the_specification_gives_the_expected_tokens(name: str) -> None:
    file = opened(name)
    tokens = golden_files.expected(name)["tokens"]
    assert file.id_count == len(tokens)
    assert file.token_count == sum(token is not None for token in tokens)
    for token, content in enumerate(tokens):
        if content is None:
            assert file.record(token) == (0, 0, 0)
            with pytest.raises(spec_reader.RefusalError, match="TKX_E_ID"):
                file.token_bytes(token)
        else:
            assert file.token_bytes(token).hex() == content


@pytest.mark.parametrize("name", golden_files.EXPECTED_NAMES)
def test_the_runtime_gives_the_expected_ids(name: str) -> None:
    tokenizer = load(golden_files.content(name))
    for case in golden_files.expected(name)["encode"]:
        allowed = "all" if case["special"] else ()
        assert tokenizer.encode(case["text"], allowed_special=allowed) == case["ids"], case


@pytest.mark.parametrize("name", WITH_SPANS)
def test_both_readers_give_the_expected_spans(name: str) -> None:
    tokenizer, file = load(golden_files.content(name)), opened(name)
    for case in golden_files.expected(name)["encode"]:
        if not case["special"]:
            continue
        found = tokenizer.encode_with_offsets(case["text"], allowed_special="all")
        assert [list(span) for span in found.offsets] == case["spans"], case
        spans = spec_spans.encode_spans(file, case["text"].encode(), case["special"])
        assert [[token, [*span]] for token, span in spans] == [
            list(pair) for pair in zip(case["ids"], case["spans"], strict=True)
        ], case


@pytest.mark.parametrize("name", [*golden_files.EXPECTED_NAMES, *golden_files.DECODER_NAMES])
def test_the_runtime_gives_the_expected_tokens(name: str) -> None:
    tokenizer = load(golden_files.content(name))
    tokens = golden_files.expected(name)["tokens"]
    assert tokenizer.n_vocab == len(tokens)
    for token, content in enumerate(tokens):
        if content is None:
            with pytest.raises(KeyError):
                tokenizer.decode_single_token_bytes(token)
        else:
            assert tokenizer.decode_single_token_bytes(token).hex() == content


def test_the_runtime_opens_the_smallest_files() -> None:
    assert load(golden_files.content("smallest-decode")).decode([0, 0]) == "AA"
    assert load(golden_files.content("smallest-bpe")).encode("abba") == [2, 1, 0]


def test_the_self_test_in_a_file_passes_with_both_readers() -> None:
    passed = spec_encoder.self_test(opened("added"))
    assert passed == len(golden_files.expected("added")["encode"])
    assert load(golden_files.content("added")).self_test() == passed


@pytest.mark.parametrize("name", ["behaviors", "bytes-stages", "holes"])
def test_a_cut_that_a_file_offers_changes_no_ids(name: str) -> None:
    file = opened(name)
    cuts = file.sections[b"CUTS"]
    for case in golden_files.expected(name)["encode"]:
        text, special = case["text"].encode(), case["special"]
        for at in range(1, len(text)):
            x, y = text[at - 1], text[at]
            if x < 128 and y < 128 and cuts[x * 16 + (y >> 3)] >> (y & 7) & 1:
                sides = spec_encoder.encode(file, text[:at], special) + spec_encoder.encode(
                    file, text[at:], special
                )
                assert sides == case["ids"], (case, at)


def test_together_the_golden_files_hold_every_section_flag_and_behavior() -> None:
    files = [opened(name) for name in golden_files.NAMES]
    tags = {tag for file in files for tag in file.sections}
    assert tags == set(layout.Tag)
    stages = [stage for file in files for stage in file.stages]
    assert {stage.behavior for stage in stages} == set(layout.StageBehavior)
    assert {stage.flags for stage in stages} == {0, *layout.StageFlag}
    assert all(any(file.flags & flag for file in files) for flag in layout.HeaderFlag)
    all_added = [flags for file in files for _, _, flags in spec_added.added_tokens(file)]
    assert all(any(flags & flag for flags in all_added) for flag in layout.AddedFlag)
    memo_counts = [
        struct.unpack_from("<H", file.sections[b"SPLT"], 8 + 32 * index + 6)[0]
        for file in files
        for index in range(len(file.stages))
    ]
    assert any(memo_counts)
    rules = [
        struct.unpack("<2I", file.sections[b"DECO"]) for file in files if b"DECO" in file.sections
    ]
    assert all(any(flags & flag for flags, _ in rules) for flag in layout.DecoderFlag)
    assert any(strip for _, strip in rules)
    assert {file.sections[b"EDIT"][4] for file in files if b"EDIT" in file.sections} == {0, 1}
    flags = [file.record(token)[2] for file in files for token in range(file.id_count)]
    assert all(any(given & flag for given in flags) for flag in layout.RecordFlag)
    kinds = {
        file.record(token)[2] & layout.RecordFlag.KIND_MASK
        for file in files
        for token in range(file.id_count)
    }
    assert kinds == {0, 1, 2, 3}


ADDED = [
    "<s>",
    "</s>",
    "<mask>",
    "<both>",
    "word",
    "caf\u00e9",
    "<|end|>",
    "<|endof|>",
    "|><|",
    "\t",
    "  ",
]
SPACES = [" world", " the", "\n\n", "\u3000", " \n "]
OTHERS = [
    "e\u0301",
    "A\u030a",
    "\u1100\u1161\u11a8",
    "abab",
    "hello",
    "12",
    "123",
    "!!",
    ".,",
    "--",
    "xyzzy",
    "'s",
]
PARTS = st.sampled_from([*ADDED, *SPACES, *OTHERS])


@pytest.mark.parametrize("name", golden_files.EXPECTED_NAMES)
@settings(max_examples=60 if SLOW else 25, deadline=None)
@given(text=st.lists(PARTS | st.text(max_size=3), max_size=8).map("".join), special=st.booleans())
def test_both_readers_give_the_same_ids_for_any_text(name: str, text: str, special: bool) -> None:
    tokenizer, file = loaded(name), opened(name)
    try:
        ids = tokenizer.encode(text, allowed_special="all" if special else ())
    except TextError:
        with pytest.raises(spec_reader.RefusalError, match="TKX_E_UNKNOWN_TEXT"):
            spec_encoder.encode(file, text.encode(), special)
        return
    assert ids == spec_encoder.encode(file, text.encode(), special)
    assert tokenizer.decode_bytes(ids) == spec_decoder.decode(file, ids)


@pytest.mark.parametrize("name", WITH_SPANS)
@pytest.mark.parametrize("unit", ["char", "byte"])
@settings(max_examples=60 if SLOW else 25, deadline=None)
@given(text=st.lists(PARTS | st.text(max_size=3), max_size=8).map("".join), special=st.booleans())
def test_both_readers_give_the_same_spans_for_any_text(
    name: str, unit: Any, text: str, special: bool
) -> None:
    tokenizer, file = loaded(name), opened(name)
    try:
        found = tokenizer.encode_with_offsets(
            text, allowed_special="all" if special else (), unit=unit
        )
    except TextError:
        with pytest.raises(spec_reader.RefusalError, match="TKX_E_UNKNOWN_TEXT"):
            spec_spans.encode_spans(file, text.encode(), special, characters=unit == "char")
        return
    assert [*zip(found.ids, found.offsets, strict=True)] == spec_spans.encode_spans(
        file, text.encode(), special, characters=unit == "char"
    )


def test_the_runtime_puts_the_template_of_the_file_around_a_text() -> None:
    single, pair = spec_encoder.templates(opened("added"))
    assert [kind for kind, _ in single] == [0, 1, 0]
    assert [kind for kind, _ in pair] == [0, 1, 0, 2, 0]
    tokenizer = load(golden_files.content("added"))
    text = tokenizer.encode("hello world")
    around = [[token] if kind == 0 else text for kind, token in single]
    assert tokenizer.encode("hello world", add_special_tokens=True) == [
        token for part in around for token in part
    ]
