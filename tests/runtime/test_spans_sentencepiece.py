"""Offsets of SentencePiece models equal those of the library, whatever it rewrites or joins."""

import random
import struct
from dataclasses import replace

import golden_files
import pytest
import tokexport_reader
from compared import ComparedPieces
from damage import Sections
from golden_files import patched
from random_piece_models import piece_model, piece_texts
from repository import SLOW
from sentencepiece_training import model_of, small

from tokexport.conversion import file_bytes
from tokexport.errors import FormatError
from tokexport.file.layout import AlignmentFlag
from tokexport.runtime.tokenizer import load
from tokexport.sources.sentencepiece.proto import Algorithm, NormalizerSpec, Piece, PieceType

CORRUPT = -37
SPEC = NormalizerSpec(remove_extra_whitespaces=False)
PIECES = (Piece("\u2581ab", -1.0), Piece("ab", -1.0))
WORDS = small(*PIECES, algorithm=Algorithm.WORD, normalizer=SPEC)


@pytest.mark.parametrize("first", range(0, 48 if SLOW else 24, 12))
def test_a_random_model_has_the_ids_offsets_and_texts_of_the_library_of(first: int) -> None:
    for seed in range(first, first + 12):
        rng = random.Random(seed)
        source = piece_model(rng)
        readers = ComparedPieces.of(source)
        for number, text in enumerate(piece_texts(rng, source, 20)):
            readers.check(text, slow=number % 7 == 0)


def test_a_long_text_has_the_offsets_of_the_library_of() -> None:
    for seed in (3, 4, 5, 6, 9):
        rng = random.Random(seed)
        source = piece_model(rng)
        ComparedPieces.of(source).check("".join(piece_texts(rng, source, 4000)))


def test_the_offsets_differ_from_those_of_a_file_without_the_section() -> None:
    """Otherwise the section would be useless."""
    content = golden_files.content("pieces")
    assert content.count(b"ALGN") == 1
    stripped = bytearray(content.replace(b"ALGN", b"algn"))  # a private tag, which is skipped
    Sections(stripped).seal()
    texts = ["a\u2163 ab", "\u3000\u3000ab", "<ab>"]
    with_section, without_section = (
        [load(file).encode_with_offsets(text).offsets for text in texts]
        for file in (content, stripped)
    )
    assert with_section != without_section


@pytest.mark.parametrize(
    ("offset", "number", "text"),
    [
        (0, AlignmentFlag.PREFIX, "ab  ab"),  # a missing space that the flags do not drop
        (0, AlignmentFlag.COLLAPSE, "ab"),  # one space too many
        (0, 8 | AlignmentFlag.PREFIX | AlignmentFlag.COLLAPSE, "ab"),  # a flag without a name
        (0, AlignmentFlag.PREFIX | AlignmentFlag.SUFFIX | AlignmentFlag.COLLAPSE, "ab"),
        (12, 1, "ab"),
    ],
)
def test_a_section_that_does_not_match_the_normalizer_is_corrupt(
    offset: int, number: int, text: str
) -> None:
    content = patched("pieces", (b"ALGN", offset, "I", number))
    subject, file = load(content, check=False), tokexport_reader.open_file(content)
    assert subject.encode(text)  # ids do not need it
    with pytest.raises(FormatError) as refusal:
        subject.encode_with_offsets(text)
    assert refusal.value.code == CORRUPT
    with pytest.raises(tokexport_reader.TokexportError, match="TKX_E_CORRUPT"):
        tokexport_reader.encode_spans(file, text.encode())


@pytest.mark.parametrize("offset", [4, 8])
def test_a_section_whose_size_contradicts_its_counts_is_refused(offset: int) -> None:
    for number in (1, 0xFFFFFFFF):
        with pytest.raises(FormatError, match="does not fit"):
            load(patched("pieces", (b"ALGN", offset, "I", number)), check=False)


def test_invalid_protected_texts_are_detected_on_use() -> None:
    source = replace(WORDS, pieces=(*WORDS.pieces, Piece("<a>", 0.0, PieceType.USER_DEFINED)))
    content = bytearray(file_bytes(model_of(source)))
    entry = content.index(b"ALGN")
    start, size = struct.unpack_from("<QQ", content, entry + 8)
    nodes, edges = struct.unpack_from("<II", content, start + 4)
    assert (nodes, edges, size) == (4, 3, 16 + 8 * 5 + 4 * 3)
    assert load(bytes(content)).encode_with_offsets("<a>").offsets == [(0, 3)]
    for at, number in ((16 + 4 * 10, ord("<") << 24 | 0xFFFFFF), (16 + 8, 0xFFFFFFFF)):
        damaged = bytearray(content)
        struct.pack_into("<I", damaged, start + at, number)
        with pytest.raises(FormatError) as refusal:
            load(bytes(damaged), check=False).encode_with_offsets("<a>")
        assert refusal.value.code == CORRUPT
