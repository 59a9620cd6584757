"""A denormalizer changes a decoded text as the library does."""

from __future__ import annotations

import io
import itertools
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import sentencepiece

from tokexport.compiler.normalizer.charsmap import charsmap_of
from tokexport.conversion import Options, file_bytes
from tokexport.errors import UnsupportedError
from tokexport.runtime.decode_stream import DecodeStream
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.sources import read
from tokexport.sources.sentencepiece.proto import SentencePieceModel, parse_model
from tokexport.sources.sentencepiece.reference import SentencePieceReference
from tokexport.sources.sentencepiece.serialize import serialize
from tokexport.verification import compare

RULES = {
    "Ta": "A",
    "Tb": "B",
    "T": "",
    "ab": "c",
    "abcab": "x",
    "é": "e",
    "  ": " ",
    "中a": "",
    "⁇": "?",
    "b é": "é b",
}
SENTENCES = ["Ta Tb abcab é 中a x b é ⁇", "ab  ab T TaTb b  é中"]


def trained(
    folder: Path, pairs: Mapping[str, str] = RULES, **options: object
) -> SentencePieceModel:
    """A model with a denormalizer, trained by the library."""
    rules = folder / "rules.tsv"
    lines = (
        "\t".join(" ".join(f"{ord(letter):X}" for letter in text) for text in pair)
        for pair in pairs.items()
    )
    rules.write_text("\n".join(lines) + "\n", encoding="utf-8")
    # The library's own rules for texts are thousands, and have nothing to do with what is decoded.
    options = {"normalization_rule_name": "identity", **options}
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 10),
        model_writer=out,
        denormalization_rule_tsv=str(rules),
        hard_vocab_limit=False,
        character_coverage=1.0,
        minloglevel=2,
        **options,
    )
    return parse_model(out.getvalue(), "m.model")


def loaded(source: SentencePieceModel, folder: Path) -> tuple[Tokenizer, Path]:
    path = folder / "m.model"
    path.write_bytes(serialize(source))
    return load(file_bytes(read(path), Options())), path


@pytest.mark.parametrize(
    "options",
    [
        {
            "vocab_size": 40,
            "remove_extra_whitespaces": False,
            "normalization_rule_name": "nmt_nfkc",
        },
        {"vocab_size": 300, "byte_fallback": True, "model_type": "bpe"},
        {"vocab_size": 300, "byte_fallback": True, "add_dummy_prefix": False},
    ],
)
def test_decoded_texts_are_those_of_the_library(options: dict[str, object], tmp_path: Path) -> None:
    source = trained(tmp_path, **options)
    tokenizer, path = loaded(source, tmp_path)
    library = check_decoding(tokenizer, path, 3000)
    result = compare(tokenizer, SentencePieceReference(library), strings=300, code_points=False)
    assert result.ok, "\n".join(result.lines())


def check_decoding(
    tokenizer: Tokenizer, path: Path, count: int
) -> sentencepiece.SentencePieceProcessor:
    """Decodes random ids, at once and one by one, as the library does; gives that."""
    library = sentencepiece.SentencePieceProcessor(model_file=str(path))
    r = random.Random(1)
    some = [
        library.piece_to_id(piece)
        for piece in ("a", "b", "T", "é", "▁", "ab", "Ta", "中", "<unk>", "<0x00>")
    ]
    for _ in range(count):
        ids = r.choices(
            range(library.get_piece_size()) if r.random() < 0.4 else some, k=r.randint(0, 12)
        )
        expected = library.decode(ids)
        assert tokenizer.decode(ids) == expected, ids
        decoder = DecodeStream(tokenizer)
        parts = [*map(decoder.step, ids), decoder.flush()]
        assert "".join(part for part in parts if part) == expected, ids
    return library


def test_a_trie_that_takes_nul_for_a_letter_is_refused(tmp_path: Path) -> None:
    source = trained(tmp_path, vocab_size=300, byte_fallback=True)
    charsmap = charsmap_of(RULES)  # its unused units are zero
    with pytest.raises(UnsupportedError, match="takes NUL for a letter"):
        loaded(
            replace(source, denormalizer=replace(source.denormalizer, charsmap=charsmap)), tmp_path
        )


SPACES = {"Ta": " A ", "a": " ", "b": "", "T ": " ", "é": " e"}


@pytest.mark.parametrize("flags", [*itertools.product((False, True), repeat=3)])
def test_a_denormalizer_changes_white_space_as_the_library_does(
    flags: tuple[bool, bool, bool], tmp_path: Path
) -> None:
    source = trained(tmp_path, SPACES, vocab_size=40)
    prefix, removes, escapes = flags
    spec = replace(
        source.denormalizer,
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=removes,
        escape_whitespaces=escapes,
    )
    tokenizer, path = loaded(replace(source, denormalizer=spec), tmp_path)
    check_decoding(tokenizer, path, 800)


WIDE = [
    ({"a": "x  y", "b": "  ", "T": " ", "é": "   z "}, {"add_dummy_prefix": True}),
    ({"a": "x   ", "b": "  z", "Ta": "", "é": "  "}, {"escape_whitespaces": True}),
    (
        {"a": "x\u2581", "b": " \u2581y \u2581 ", "é": "  "},
        {"add_dummy_prefix": True, "escape_whitespaces": True},
    ),
    ({"a": "\u2581", "b": "  \u2581  "}, {}),
]


@pytest.mark.parametrize(("pairs", "flags"), WIDE)
def test_rules_that_give_spaces_in_a_row_keep_what_the_library_keeps(
    pairs: dict[str, str], flags: dict[str, bool], tmp_path: Path
) -> None:
    source = trained(tmp_path, pairs, vocab_size=40)
    spec = replace(source.denormalizer, remove_extra_whitespaces=True, **flags)
    tokenizer, path = loaded(replace(source, denormalizer=spec), tmp_path)
    check_decoding(tokenizer, path, 800)


def test_a_text_may_have_the_character_that_marks_spaces(tmp_path: Path) -> None:
    source = trained(tmp_path, {"a": "x  y", "b": "   "}, vocab_size=300, byte_fallback=True)
    source = replace(
        source, denormalizer=replace(source.denormalizer, remove_extra_whitespaces=True)
    )
    tokenizer, path = loaded(source, tmp_path)
    library = sentencepiece.SentencePieceProcessor(model_file=str(path))
    names = {
        text: [f"<0x{byte:02X}>" for byte in text.encode()]
        for text in ("\U0010ffff", "s", "m", " ")
    }
    texts = {text: [library.piece_to_id(name) for name in pieces] for text, pieces in names.items()}
    texts |= {piece: [library.piece_to_id(piece)] for piece in ("a", "b")}
    for row in itertools.product(texts, repeat=4):
        ids = [number for text in row for number in texts[text]]
        assert tokenizer.decode(ids) == library.decode(ids), row


@pytest.mark.parametrize(
    ("rules", "options"),
    [
        ({"a": "\u2581"}, {}),
        ({"a": "x\u2581", "b": " \u2581 "}, {}),
        ({"a": "x"}, {"byte_fallback": True, "vocab_size": 300}),
        ({"a": "x"}, {"unk_surface": "\u2581"}),
    ],
)
def test_rows_of_escapes_that_may_be_the_end_of_a_text_are_refused(
    rules: dict[str, str], options: dict[str, object], tmp_path: Path
) -> None:
    source = trained(tmp_path, rules, **{"vocab_size": 40, **options})
    spec = replace(source.denormalizer, remove_extra_whitespaces=True, escape_whitespaces=True)
    with pytest.raises(UnsupportedError, match=r"any number of U.2581 in a row"):
        loaded(replace(source, denormalizer=spec), tmp_path)
