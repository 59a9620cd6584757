"""The BPE model of a tokenizer.json produces the ids of the reference, or both refuse it."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from compared import ids_or_none
from hypothesis import given, settings
from hypothesis import strategies as st
from reader_samples import BYTE_LEVEL, BYTES, document, read_document, reference
from repository import SLOW

from tokexport.conversion import convert, file_bytes
from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import BytePairModel, SpellBytes
from tokexport.runtime.tokenizer import load
from tokexport.targets.material import material
from tokexport.verification import verify

WHOLE = BYTE_LEVEL | {"use_regex": False}
SYMBOLS = "abĠ"
# One text is a token that merges may not produce.
TEXTS = st.text(alphabet="ab cé", max_size=9) | st.just("aba")


def byte_pairs(fields: dict[str, Any], folder: Path) -> BytePairModel:
    model = read_document(fields, folder).model
    assert isinstance(model, BytePairModel)
    return model


@st.composite
def models(draw: st.DrawFn) -> dict[str, Any]:
    """A few bytes, ids with holes, and merges, some of them duplicate or unreachable."""
    tokens = list(draw(st.sets(st.sampled_from(SYMBOLS), min_size=1)))
    tokens += draw(st.sampled_from([[], ["<unk>"], [""], ["x y", "x", " y"], ["aba"]]))
    merges: list[tuple[str, str]] = []
    for left, right in draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8)):
        pair = tokens[left % len(tokens)], tokens[right % len(tokens)]
        merges.append(pair)
        if pair[0] + pair[1] not in tokens:
            tokens.append(pair[0] + pair[1])
    ids = draw(st.permutations(range(len(tokens) + 2)))
    as_pairs = draw(st.booleans()) or any(" " in left or " " in right for left, right in merges)
    return {
        "vocab": dict(zip(tokens, ids, strict=False)),
        "merges": [list(pair) if as_pairs else " ".join(pair) for pair in merges],
        "ignore_merges": draw(st.booleans()),
        "unk_token": draw(st.sampled_from([None, "<unk>"])),
        "fuse_unk": draw(st.sampled_from([True, False, None])),
    }


@settings(max_examples=600 if SLOW else 250)
@given(fields=models(), texts=st.lists(TEXTS, min_size=4, max_size=4))
def test_a_file_produces_the_ids_of_the_reference(
    fields: dict[str, Any], texts: list[str], tmp_path: Path
) -> None:
    whole = document(model=fields, pre_tokenizer=WHOLE)
    theirs, model = reference(whole), read_document(whole, tmp_path)
    runtime = load(file_bytes(model))
    unknown = fields["unk_token"]
    stops = unknown is not None and unknown not in fields["vocab"]
    for text in ["c", *texts]:
        ids = ids_or_none(runtime.encode, text)
        assert ids == ids_or_none(theirs.encode, text)
        assert ids is not None or stops
    assert not stops or ids_or_none(runtime.encode, "c") is None
    # Only merges of the unknown token need the letters of bytes.
    merges = (merge if isinstance(merge, list) else merge.split(" ") for merge in fields["merges"])
    spells = not stops and unknown in itertools.chain(*merges)
    assert model.pre_tokenizer == ((SpellBytes(),) if spells else ())


def merges_of(model: BytePairModel) -> list[list[int]]:
    assert model.merges is not None
    rows: list[list[int]] = model.merges.tolist()
    return rows


def test_merges_are_read_as_strings_and_as_pairs(tmp_path: Path) -> None:
    vocab = {**BYTES, "ab": 256, "abc": 257}
    as_strings, as_pairs = (
        byte_pairs(document(model={"vocab": vocab, "merges": merges}), tmp_path)
        for merges in (["#version: 0.2", "a b", "ab c"], [["a", "b"], ["ab", "c"]])
    )
    assert as_strings == as_pairs
    assert merges_of(as_pairs) == [[97, 98, 256], [256, 99, 257]]


def test_a_duplicate_merge_has_its_last_rank(tmp_path: Path) -> None:
    vocab = {**BYTES, "ab": 256, "bc": 257}
    fields = document(model={"vocab": vocab, "merges": ["a b", "b c", "a b"]})
    assert merges_of(byte_pairs(fields, tmp_path)) == [[98, 99, 257], [97, 98, 256]]
    ids = load(file_bytes(read_document(fields, tmp_path))).encode("abc")
    assert ids == reference(fields).encode("abc").ids == [97, 257]


def test_an_old_file_without_a_type_is_read(tmp_path: Path) -> None:
    fields = document()
    del fields["model"]["type"]
    assert len(read_document(fields, tmp_path).tokens) == len(reference(fields).get_vocab()) == 256
    del fields["model"]["merges"]  # it is not a WordLevel, whose unk_token is a text
    with pytest.raises(SourceError, match=r"model has no type, .* match no model; name its type:"):
        read_document(fields, tmp_path)


def test_empty_affixes_and_zero_dropout_are_ignored(tmp_path: Path) -> None:
    changes = {"continuing_subword_prefix": "", "end_of_word_suffix": "", "dropout": 0.0}
    plain = byte_pairs(document(), tmp_path)
    assert byte_pairs(document(model=changes), tmp_path) == plain


def test_byte_fallback_never_occurs_if_every_byte_is_a_token(tmp_path: Path) -> None:
    without_z = {character: number for character, number in BYTES.items() if character != "z"}
    for vocab in (BYTES, without_z):
        plain = byte_pairs(document(model={"vocab": vocab}), tmp_path)
        fields = document(model={"byte_fallback": True, "vocab": vocab})
        assert byte_pairs(fields, tmp_path) == plain
    falls = document(model={"byte_fallback": True, "vocab": {**without_z, "<0x7A>": 256}})
    ids = load(file_bytes(read_document(falls, tmp_path))).encode("az")
    assert ids == reference(falls).encode("az").ids == [97, 256]


def test_a_missing_unknown_token_matters_only_if_a_byte_of_text_is_missing(tmp_path: Path) -> None:
    assert byte_pairs(document(model={"unk_token": "<unk>"}), tmp_path).unk_id is None
    for byte, matters in ((0xFF, False), (0x41, True)):
        vocab = {character: number for character, number in BYTES.items() if number != byte}
        model = byte_pairs(document(model={"unk_token": "<unk>", "vocab": vocab}), tmp_path)
        assert model.unk_id is None
        assert model.unknown_stops == matters


@pytest.mark.parametrize(
    ("changes", "error", "path"),
    [
        ({"type": "Foo"}, UnsupportedError, 'model.type: the model "Foo"'),
        ({"dropout": 1.5}, SourceError, "model.dropout is 1.5; expected a number from 0 to 1"),
        ({"dropout": True}, SourceError, "model.dropout is true; expected a number from 0 to 1"),
        ({"vocab": {**BYTES, "ab": 97}}, UnsupportedError, "model.vocab: the id 97 stands for two"),
        (
            {"vocab": {**BYTES, "ab": 2**31}},
            UnsupportedError,
            r'model.vocab\["ab"\]: the id 2147483648 is too large',
        ),
        ({"vocab": {**BYTES, "ab": 1.0}}, SourceError, r'model.vocab\["ab"\] is 1.0'),
        ({"vocab": {**BYTES, "ab": True}}, SourceError, r'model.vocab\["ab"\] is true'),
        ({"vocab": {**BYTES, "ab": [97]}}, SourceError, r'model.vocab\["ab"\] is \[97\]'),
        ({"vocab": {**BYTES, "ab": -1}}, SourceError, r'model.vocab\["ab"\] is -1'),
        ({"merges": ["a b c"]}, SourceError, r"model.merges\[0\]"),
        (
            {"merges": ["a b"]},
            SourceError,
            r'model.merges\[0\] is "a" "b", and the token "ab" is not in the vocabulary',
        ),
        ({"merges": [["a", "b", "c"]]}, SourceError, r"model.merges\[0\]"),
        ({"merges": [[1, 1]]}, SourceError, r"is \[1, 1\]; expected a pair of strings$"),
        ({"merges": ["a b", ["a", "b"]]}, SourceError, r"\[0\] is .*, like the other merges$"),
        ({"merges": None}, SourceError, "model.merges is null"),
    ],
)
def test_files_that_the_reference_refuses_or_that_are_ambiguous_are_refused(
    changes: Any, error: type, path: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=path):
        read_document(document(model=changes), tmp_path)


def test_with_dropout_only_decoding_is_exact(tmp_path: Path) -> None:
    fields = document(model={"dropout": 0.1})
    source, target = tmp_path / "tokenizer.json", tmp_path / "tokenizer.bin"
    source.write_text(json.dumps(fields), "utf-8")
    with pytest.raises(
        UnsupportedError, match=r"model\.dropout: a dropout of 0\.1 .*--decode-only"
    ):
        convert(source, target)
    with pytest.raises(UnsupportedError, match=r"model\.dropout: a dropout of 0\.1"):
        material(source)
    convert(source, target, decode_only=True)
    ids = [BYTES[character] for character in "ab"]
    assert load(target).decode(ids) == reference(fields).decode(ids)
    assert verify(target, against=source, quick=True).first is None
