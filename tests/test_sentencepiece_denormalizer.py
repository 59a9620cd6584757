"""A denormalizer changes a decoded text as the library does."""

from __future__ import annotations

import io
import random
from dataclasses import replace
from pathlib import Path

import pytest
import sentencepiece

from tokexport.compiler.charsmap import charsmap_of
from tokexport.errors import UnsupportedError
from tokexport.readers import read
from tokexport.readers.sentencepiece_proto import SentencePieceModel, parse_model
from tokexport.references.sentencepiece_reference import SentencePieceReference
from tokexport.references.sentencepiece_writer import serialize
from tokexport.runtime.decode_stream import DecodeStream
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.verification import compare
from tokexport.writers.tokexport_file import Options, write

RULES = {"Ta": "A", "Tb": "B", "T": "", "ab": "c", "abcab": "x", "é": "e", "  ": " ", "中a": "", "⁇": "?", "b é": "é b"}
SENTENCES = ["Ta Tb abcab é 中a x b é ⁇", "ab  ab T TaTb b  é中"]


def trained(folder: Path, **options: object) -> SentencePieceModel:
    """A model with a denormalizer, trained by the library."""
    rules = folder / "rules.tsv"
    lines = ("\t".join(" ".join(f"{ord(letter):X}" for letter in text) for text in pair) for pair in RULES.items())
    rules.write_text("\n".join(lines) + "\n", encoding="utf-8")
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
    return load(write(read(path), Options())), path


@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 40, "remove_extra_whitespaces": False},
        {"vocab_size": 300, "byte_fallback": True, "model_type": "bpe"},
        {"vocab_size": 300, "byte_fallback": True, "add_dummy_prefix": False},
    ],
)
def test_decoded_texts_are_those_of_the_library(options: dict[str, object], tmp_path: Path) -> None:
    source = trained(tmp_path, **options)
    tokenizer, path = loaded(source, tmp_path)
    library = sentencepiece.SentencePieceProcessor(model_file=str(path))
    r = random.Random(1)
    some = [library.piece_to_id(piece) for piece in ("a", "b", "T", "é", "▁", "ab", "Ta", "中", "<unk>", "<0x00>")]
    for _ in range(3000):
        ids = r.choices(range(len(source.pieces)) if r.random() < 0.4 else some, k=r.randint(0, 12))
        expected = library.decode(ids)
        assert tokenizer.decode(ids) == expected, ids
        decoder = DecodeStream(tokenizer)
        parts = [*map(decoder.step, ids), decoder.flush()]
        assert "".join(part for part in parts if part) == expected, ids
    result = compare(tokenizer, SentencePieceReference(library), strings=300, code_points=False)
    assert result.ok, "\n".join(result.lines())


def test_a_trie_that_takes_nul_for_a_letter_is_refused(tmp_path: Path) -> None:
    source = trained(tmp_path, vocab_size=300, byte_fallback=True)
    charsmap = charsmap_of(RULES)  # its unused units are zero
    with pytest.raises(UnsupportedError, match="takes NUL for a letter"):
        loaded(replace(source, denormalizer=replace(source.denormalizer, charsmap=charsmap)), tmp_path)


@pytest.mark.parametrize("field", ["add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"])
def test_a_denormalizer_that_changes_white_space_is_refused(field: str, tmp_path: Path) -> None:
    source = trained(tmp_path, vocab_size=40)
    spec = replace(source.denormalizer, **{field: True})  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="a denormalizer that changes white space"):
        loaded(replace(source, denormalizer=spec), tmp_path)
