"""Files made from SentencePiece models of every kind of piece give the library's ids: by the C core
and by the specification.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import golden_files
import pytest
import sentencepiece
import spec_encoder
import spec_reader
import spec_spans
from golden_files import numbers, patched
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import SLOW
from sentencepiece_rules import rules_file
from sentencepiece_training import SENTENCES, train

from tokexport.conversion import Options, file_bytes
from tokexport.errors import FormatError, SourceError, UnsupportedError
from tokexport.file.layout import Tag
from tokexport.runtime.tokenizer import load
from tokexport.sources import read
from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
    parse_model,
)
from tokexport.sources.sentencepiece.reference import SentencePieceReference
from tokexport.sources.sentencepiece.serialize import serialize
from tokexport.verification import compare

CORRUPT = -37
PARTS = [
    *" \u2581\u00a0\t\n\x01\u200baethqoé.,½①中한1\u0301\U0010ffff",
    *"   ",
    "<sep>",
    "the",
    " the",
    " fox",
    "<s>",
    "th",
    "日本語",
]
OPTIONS: dict[str, dict[str, object]] = {
    "word": {"model_type": "word"},
    "word, identity": {
        "model_type": "word",
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
    },
    "word, no prefix": {
        "model_type": "word",
        "normalization_rule_name": "identity",
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
    },
    "word, suffix": {"model_type": "word", "treat_whitespace_as_suffix": True},
    "word with symbols": {"model_type": "word", "user_defined_symbols": ["<sep>", "\u2581th"]},
    "char": {"model_type": "char"},
    "char, few": {"model_type": "char", "vocab_size": 12, "character_coverage": 0.98},
    "char with bytes": {"model_type": "char", "byte_fallback": True, "vocab_size": 300},
    "char with symbols": {
        "model_type": "char",
        "user_defined_symbols": ["<sep>", "th", "\u2581\u2581"],
    },
    "bpe with symbols": {
        "model_type": "bpe",
        "user_defined_symbols": ["<sep>", "th", "the", "\u2581\u2581", "é中"],
    },
    "bpe with symbols and bytes": {
        "model_type": "bpe",
        "byte_fallback": True,
        "vocab_size": 340,
        "user_defined_symbols": ["<sep>", "\u2581the", "\n"],
    },
    "unigram with symbols": {
        "model_type": "unigram",
        "user_defined_symbols": ["<sep>", "th", "\u2581\u2581"],
    },
}


WITH_ALL_RULES = ("unigram with symbols", "bpe with symbols and bytes")


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of a few rules for texts."""
    return rules_file(tmp_path_factory.mktemp("rules"))


def texts(count: int) -> list[str]:
    dice = random.Random(11)
    return [
        "",
        *SENTENCES,
        *("".join(dice.choices(PARTS, k=dice.randrange(1, 18))) for _ in range(count)),
    ]


def made(data: bytes, folder: Path) -> bytes:
    (folder / "x.model").write_bytes(data)
    return file_bytes(read(folder / "x.model"), Options())


@pytest.mark.parametrize("name", OPTIONS)
def test_a_trained_model_gives_the_ids_of_the_library(
    name: str, rules: Path, tmp_path: Path
) -> None:
    all_rules = SLOW or name in WITH_ALL_RULES or "normalization_rule_name" in OPTIONS[name]
    data = train(**OPTIONS[name] | ({} if all_rules else {"normalization_rule_tsv": str(rules)}))
    reference = sentencepiece.SentencePieceProcessor(model_proto=data)
    content = made(data, tmp_path)
    tokenizer, file = load(content), spec_reader.open_file(content)
    for number, text in enumerate(texts(240)):
        expected = reference.encode(text)
        assert tokenizer.encode(text) == expected, text
        if number % 20 == 0:
            assert spec_encoder.encode(file, text.encode()) == expected, text
    long = "\n".join(texts(1000))
    assert tokenizer.encode(long) == reference.encode(long)


def test_neighbouring_unknown_words_are_one_id_over_any_distance(tmp_path: Path) -> None:
    data = train(**OPTIONS["word, no prefix"])
    reference = sentencepiece.SentencePieceProcessor(model_proto=data)
    content = made(data, tmp_path)
    tokenizer = load(content)
    unknown = reference.unk_id()
    for count in (1, 2, 3, 5000):
        text = "zz" + " yy" * count
        assert tokenizer.encode(text) == reference.encode(text) == [unknown]
        text = "zz" + " yy" * count + " the zz"
        assert tokenizer.encode(text) == reference.encode(text)
        assert tokenizer.encode(text).count(unknown) == 2
    # What a text may be cut at does not hold an unknown word on both sides.
    assert not any(spec_reader.open_file(content).sections.get(Tag.CUTS, b""))


LETTERS = tuple(Piece(letter, -9.0) for letter in "abcdef\u2581")


def small(*pieces: Piece) -> SentencePieceModel:
    model = SentencePieceModel(
        "x.model", (Piece("<unk>", 0.0, PieceType.UNKNOWN), *LETTERS, *pieces)
    )
    return replace(
        model, algorithm=Algorithm.BPE, normalizer=NormalizerSpec(add_dummy_prefix=False)
    )


@settings(max_examples=40 if SLOW else 12, deadline=None)
@given(
    pieces=st.lists(
        st.tuples(
            st.text(st.sampled_from("abx"), min_size=2, max_size=4),
            st.sampled_from(["normal", "unused", "user"]),
        ),
        unique_by=lambda piece: piece[0],
        max_size=8,
    ),
    x=st.sampled_from([PieceType.NORMAL, PieceType.UNUSED]),
    found=st.lists(st.text(st.sampled_from("abcx "), max_size=12), max_size=20),
)
def test_unused_and_user_defined_pieces_are_exact_or_refused(
    pieces: list[tuple[str, str]],
    x: PieceType,
    found: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    types = {"normal": PieceType.NORMAL, "unused": PieceType.UNUSED, "user": PieceType.USER_DEFINED}
    data = serialize(
        small(
            Piece("x", -9.0, x),
            *(Piece(text, -float(at), types[kind]) for at, (text, kind) in enumerate(pieces)),
        )
    )
    try:
        tokenizer = load(made(data, tmp_path_factory.mktemp("pieces")))
    except UnsupportedError:
        assert x is PieceType.UNUSED
        return
    reference = sentencepiece.SentencePieceProcessor(model_proto=data)
    for text in found:
        assert tokenizer.encode(text) == reference.encode(text), (pieces, text)


def test_an_unused_piece_that_no_merge_makes_is_no_reason_to_refuse(tmp_path: Path) -> None:
    model = small(Piece("ab", -1.0), Piece("abcab", -2.0, PieceType.UNUSED))
    data = serialize(model)
    tokenizer, reference = (
        load(made(data, tmp_path)),
        sentencepiece.SentencePieceProcessor(model_proto=data),
    )
    for text in ("abcab", "ab", "a", "ba", "abcabcab a abc"):
        assert tokenizer.encode(text) == reference.encode(text), text


@pytest.mark.parametrize(
    "algorithm", [Algorithm.BPE, Algorithm.CHAR, Algorithm.WORD, Algorithm.UNIGRAM]
)
@pytest.mark.parametrize("has_bytes", [False, True])
def test_an_unused_character_is_what_the_library_makes_of_it(
    algorithm: Algorithm, has_bytes: bool, tmp_path: Path
) -> None:
    if has_bytes and algorithm is Algorithm.WORD:
        pytest.skip("a word model has no bytes")
    odd = [
        Piece(text, -9.0, PieceType.UNUSED)
        for text in ("x", "é", "baé" if algorithm is not Algorithm.BPE else "dcd")
    ]
    bytes_ = (
        [Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256)] if has_bytes else []
    )
    model = replace(
        small(Piece("ab", -1.0), *odd, *bytes_), algorithm=algorithm, byte_fallback=has_bytes
    )
    data = serialize(model)
    tokenizer, reference = (
        load(made(data, tmp_path)),
        sentencepiece.SentencePieceProcessor(model_proto=data),
    )
    for text in (
        "x",
        "é",
        "xx",
        "xé",
        "axb",
        "x ab x",
        "éab",
        "abxéx",
        "zx",
        "x z",
        "baé",
        "dcd",
        "dcd baé z baé",
        "ab baé",
    ):
        assert tokenizer.encode(text) == reference.encode(text), text


def test_without_tokens_for_bytes_an_unused_piece_of_an_unused_character_is_refused(
    tmp_path: Path,
) -> None:
    model = small(Piece("x", -9.0, PieceType.UNUSED), Piece("ax", -1.0, PieceType.UNUSED))
    with pytest.raises(
        UnsupportedError,
        match=r'the unused piece "ax" .id [0-9]+., which begins or ends with a char',
    ):
        made(serialize(model), tmp_path)


def test_a_piece_that_no_merges_make_may_hold_any_character(tmp_path: Path) -> None:
    data = serialize(
        small(Piece("ab", -1.0), Piece("<mask>", -9.0), Piece("<a", -2.0, PieceType.UNUSED))
    )
    with pytest.raises(UnsupportedError, match=r'the unused piece "<a" .id [0-9]+., which begins'):
        made(data, tmp_path)
    data = serialize(small(Piece("ab", -1.0), Piece("<mask>", -9.0), Piece("ba<", -2.0)))
    tokenizer, reference = (
        load(made(data, tmp_path)),
        sentencepiece.SentencePieceProcessor(model_proto=data),
    )
    for text in ("<mask>", "ab<mask>ba", "ba<", "< a>", "<<m"):
        assert tokenizer.encode(text) == reference.encode(text), text
    everything = list(range(reference.get_piece_size()))
    assert tokenizer.decode(everything) == reference.decode(everything)


@pytest.mark.parametrize("algorithm", [Algorithm.BPE, Algorithm.UNIGRAM])
@pytest.mark.parametrize(
    "kind", [PieceType.NORMAL, PieceType.UNUSED, PieceType.USER_DEFINED, PieceType.CONTROL]
)
def test_with_tokens_for_bytes_a_piece_that_is_nul_is_never_used(
    kind: PieceType, algorithm: Algorithm, tmp_path: Path
) -> None:
    bytes_ = [Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256)]
    model = small(Piece("ab", -1.0), Piece("\0", -3.0, kind), *bytes_)
    data = serialize(replace(model, algorithm=algorithm, byte_fallback=True))
    tokenizer, reference = (
        load(made(data, tmp_path)),
        sentencepiece.SentencePieceProcessor(model_proto=data),
    )
    for text in ("a\0b", "\0", "ab\0\0ab", "ab"):
        assert tokenizer.encode(text) == reference.encode(text), text
    everything = list(range(reference.get_piece_size()))
    assert tokenizer.decode(everything) == reference.decode(everything)


@pytest.mark.parametrize(
    ("text", "kind", "has_bytes", "is_read"),
    [
        ("\0", PieceType.NORMAL, False, False),
        ("\0", PieceType.UNUSED, False, True),
        ("a\0", PieceType.UNUSED, True, False),
    ],
)
def test_other_pieces_with_nul_are_refused_where_the_library_refuses_them(
    text: str, kind: PieceType, has_bytes: bool, is_read: bool, tmp_path: Path
) -> None:
    bytes_ = (
        [Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256)] if has_bytes else []
    )
    model = small(Piece("ab", -1.0), *bytes_)
    model = replace(model, byte_fallback=has_bytes, pieces=(*model.pieces, Piece(text, -3.0, kind)))
    data = serialize(model)
    if is_read:
        reference = sentencepiece.SentencePieceProcessor(model_proto=data)
        assert load(made(data, tmp_path)).encode("ab\0") == reference.encode("ab\0")
        return
    with pytest.raises(RuntimeError):
        sentencepiece.SentencePieceProcessor(model_proto=data)
    with pytest.raises(SourceError):
        made(data, tmp_path)


@settings(max_examples=25 if SLOW else 10, deadline=None)
@given(
    pieces=st.lists(
        st.text(st.sampled_from("abxé中"), min_size=2, max_size=4),
        unique=True,
        min_size=1,
        max_size=9,
    ),
    unused=st.sets(st.integers(0, 8)),
    own=st.dictionaries(
        st.sampled_from("xé中"),
        st.sampled_from([PieceType.NORMAL, PieceType.UNUSED, PieceType.USER_DEFINED]),
    ),
    found=st.lists(st.text(st.sampled_from("abxé中zñ "), max_size=12), min_size=10, max_size=20),
    prefix=st.booleans(),
)
def test_with_tokens_for_bytes_a_piece_may_hold_a_character_that_is_no_piece(
    pieces: list[str],
    unused: set[int],
    own: dict[str, PieceType],
    found: list[str],
    prefix: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    model = small(
        *(
            Piece(text, -float(at), PieceType.UNUSED if at in unused else PieceType.NORMAL)
            for at, text in enumerate(pieces)
        ),
        *(Piece(text, -50.0, kind) for text, kind in own.items()),
        *(Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256)),
    )
    model = replace(model, byte_fallback=True, normalizer=NormalizerSpec(add_dummy_prefix=prefix))
    data = serialize(model)
    reference = sentencepiece.SentencePieceProcessor(model_proto=data)
    content = made(data, tmp_path_factory.mktemp("stand-ins"))
    tokenizer, file = load(content), spec_reader.open_file(content)
    for text in [*found, *pieces]:
        expected = reference.encode(text)
        assert tokenizer.encode(text) == expected, text
        assert spec_encoder.encode(file, text.encode()) == expected, text
        offsets = [tuple(each) for each in reference.EncodeAsOffsetMapping(text)["offsets"]]
        assert [tuple(each) for each in tokenizer.encode_with_offsets(text).offsets] == offsets, (
            text
        )


def test_a_character_that_is_no_piece_has_an_id_that_is_a_hole(tmp_path: Path) -> None:
    bytes_ = [Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256)]
    model = replace(small(Piece("aé", -1.0), Piece("éé", -2.0), *bytes_), byte_fallback=True)
    tokenizer = load(made(serialize(model), tmp_path))
    assert tokenizer.encode("aéé") == [8, *(10 + byte for byte in "é".encode())]
    assert tokenizer.token_count == len(model.pieces)
    assert read(tmp_path / "x.model").tokens[len(model.pieces) :] == (None,)
    with pytest.raises(KeyError):
        tokenizer.decode([len(model.pieces)])
    reference = SentencePieceReference(
        sentencepiece.SentencePieceProcessor(model_proto=serialize(model))
    )
    result = compare(tokenizer, reference, strings=300, code_points=False)
    assert result.ok, result.lines()


def test_unused_products_of_a_trained_model_are_taken_apart_as_the_library_does(
    rules: Path, tmp_path: Path
) -> None:
    model = parse_model(
        train(model_type="bpe", vocab_size=140, normalization_rule_tsv=str(rules)), "x.model"
    )
    dice = random.Random(2)
    pieces = [
        replace(piece, type=PieceType.UNUSED)
        if len(piece.text) > 1 and dice.random() < 0.5
        else piece
        for piece in model.pieces
        if piece.type is PieceType.NORMAL
    ]
    others = [piece for piece in model.pieces if piece.type is not PieceType.NORMAL]
    data = serialize(replace(model, pieces=(*others, *pieces)))
    content = made(data, tmp_path)
    tokenizer, reference = load(content), sentencepiece.SentencePieceProcessor(model_proto=data)
    file = spec_reader.open_file(content)
    assert len(file.sections[Tag.UNUSED]) > 200
    for number, text in enumerate(texts(200)):
        expected = reference.EncodeAsOffsetMapping(text)
        found = tokenizer.encode_with_offsets(text)
        assert tokenizer.encode(text) == found.ids == expected["ids"], text
        assert found.offsets == expected["offsets"], text
        if number % 20 == 0:
            spans = spec_spans.encode_spans(file, text.encode())
            assert spans == [*zip(expected["ids"], expected["offsets"], strict=True)], text
    long = " ".join(texts(1000))
    assert tokenizer.encode(long) == reference.encode(long)


@pytest.mark.parametrize(
    ("at", "number"),
    [
        (0, 0x1FFFFF),  # the first part of the first entry: an id that does not exist
        (-8 * 3 + 4, 3),  # the entries: more parts than there are, and none
        (-8 * 2 + 4, 0xFFFFFFFF),
        (-8 * 3 + 4, 0xFFFFFFFF),
    ],
)
def test_parts_of_unused_pieces_out_of_their_range_are_corrupt(at: int, number: int) -> None:
    count, parts = numbers("pieces", b"UNUS", 0, 2)
    assert (count, parts) == (2, 5)
    content = patched("pieces", (b"UNUS", 8 + 8 * (count + 1) + at, "I", number))
    tokenizer, file = load(content, check=False), spec_reader.open_file(content)
    for text in ("eabfi", "eabfi" * 100):
        with pytest.raises(FormatError) as refusal:
            tokenizer.encode(text)
        assert refusal.value.code == CORRUPT
        with pytest.raises(spec_reader.RefusalError, match="TKX_E_CORRUPT"):
            spec_encoder.encode(file, text.encode())


@pytest.mark.parametrize("length", [0, 1, 3, 0xFFFFFFFF])
def test_parts_that_are_not_as_long_as_the_piece_matter_for_spans_only(length: int) -> None:
    content = patched("pieces", (b"UNUS", 8 + 8 * 3 + 4, "I", length))
    tokenizer, file = load(content, check=False), spec_reader.open_file(content)
    assert tokenizer.encode("eabfi") == load(golden_files.content("pieces")).encode("eabfi")
    with pytest.raises(FormatError) as refusal:
        tokenizer.encode_with_offsets("eabfi")
    assert refusal.value.code == CORRUPT
    with pytest.raises(spec_reader.RefusalError, match="TKX_E_CORRUPT"):
        spec_spans.encode_spans(file, b"eabfi")


def test_a_user_defined_character_is_never_a_part_of_another_piece(tmp_path: Path) -> None:
    model = small(
        Piece("ab", -1.0),
        Piece("x", 0.0, PieceType.USER_DEFINED),
        Piece("ax", -2.0),
        Piece("abx", -3.0),
    )
    data = serialize(model)
    tokenizer, reference = (
        load(made(data, tmp_path)),
        sentencepiece.SentencePieceProcessor(model_proto=data),
    )
    for text in ("ax", "abx", "xab", "xx", "x", "axabxx"):
        assert tokenizer.encode(text) == reference.encode(text), text
