"""SentencePiece models trained here, of every type and with every option of the normalizer, produce
the ids of their library, by the C core and by the specification.
"""

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from compared import ComparedPieces
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import SLOW
from sentencepiece_training import SENTENCES, rules_of, train

from tokexport.conversion import file_bytes
from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources import read
from tokexport.sources.sentencepiece.proto import parse_model, serialize

PARTS = [
    *" \u2581\u00a0\t\n\x01\u200baethqoé.,½①中한1\u0301\U0010ffff",
    *("   ", "<sep>", "the", " the", " fox", "<s>", "th", "日本語"),
]
IDENTITY = {"normalization_rule_name": "identity"}
KEPT = {"remove_extra_whitespaces": False}
SUFFIX = {"treat_whitespace_as_suffix": True}
BYTES = {"byte_fallback": True, "vocab_size": 340}


def symbols(*texts: str) -> dict[str, object]:
    return {"user_defined_symbols": ["<sep>", *texts]}


OPTIONS: dict[str, dict[str, Any]] = {
    "unigram": {"model_type": "unigram"},
    "unigram with bytes": {"model_type": "unigram", **BYTES},
    "unigram with symbols": {"model_type": "unigram", **symbols("th", "\u2581\u2581", "é")},
    "unigram, folded": {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc_cf", **KEPT},
    "unigram, no prefix": {"model_type": "unigram", "add_dummy_prefix": False, **KEPT},
    "unigram, suffix": {"model_type": "unigram", **SUFFIX, **KEPT},
    "bpe": {"model_type": "bpe"},
    "bpe with bytes": {"model_type": "bpe", **BYTES},
    "bpe with symbols": {"model_type": "bpe", **symbols("th", "the", "\u2581\u2581", "é中")},
    "bpe with symbols and bytes": {"model_type": "bpe", **BYTES, **symbols("\u2581the", "\n")},
    "bpe, identity": {"model_type": "bpe", **IDENTITY},
    "bpe, identity, spaces kept": {"model_type": "bpe", **IDENTITY, **KEPT},
    "bpe, spaces kept": {"model_type": "bpe", **KEPT},
    "bpe, no prefix": {"model_type": "bpe", "add_dummy_prefix": False},
    "bpe, suffix": {"model_type": "bpe", **SUFFIX},
    "bpe, suffix without rules": {"model_type": "bpe", **SUFFIX, **IDENTITY},
    "word": {"model_type": "word"},
    "word, identity": {"model_type": "word", **IDENTITY, **KEPT},
    "word, no prefix": {"model_type": "word", "add_dummy_prefix": False, **IDENTITY, **KEPT},
    "word, suffix": {"model_type": "word", **SUFFIX},
    "word with symbols": {"model_type": "word", **symbols("\u2581th")},
    "char": {"model_type": "char"},
    "char, few": {"model_type": "char", "vocab_size": 12, "character_coverage": 0.98},
    "char with bytes": {"model_type": "char", **BYTES},
    "char with symbols": {"model_type": "char", **symbols("th", "\u2581\u2581")},
}
# nmt_nfkc has a hundred thousand rules, and each conversion processes all of them. Most models are
# trained with its rules for the characters in these texts.
RULES = rules_of(
    *("\u00a0→ ", "\t→ ", "\n→ ", "\u200b→ ", "\x01→", "½→1\u20442", "①→1"),
    *("a\u0301→á", "e\u0301→é", "o\u0301→ó"),
)
WITH_ALL_RULES = ("unigram with symbols", "bpe with symbols and bytes", "bpe, suffix")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The file of a small model, by the name of its options."""
    folder = tmp_path_factory.mktemp("trained")
    lines = (
        "\t".join(" ".join(f"{ord(letter):X}" for letter in text) for text in rule)
        for rule in RULES.items()
    )
    (folder / "rules.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rules = {"normalization_rule_tsv": str(folder / "rules.tsv")}

    def path_of(name: str) -> Path:
        path = folder / f"{name}.model"
        if not path.exists():
            has_all = SLOW or name in WITH_ALL_RULES or "normalization_rule_name" in OPTIONS[name]
            path.write_bytes(train(**OPTIONS[name], **({} if has_all else rules)))
        return path

    return path_of


def texts(count: int) -> list[str]:
    dice = random.Random(11)
    some = ("", " ", "   ", "\x01", "\u2581", " \x01 ", "\u00a0", " \u2581 a", "a \u2581", "the")
    made = ("".join(dice.choices(PARTS, k=dice.randrange(1, 18))) for _ in range(count))
    return [*some, *SENTENCES, *made]


@pytest.mark.parametrize("name", OPTIONS)
def test_a_trained_model_produces_the_ids_of_the_library(
    name: str, trained: Callable[[str], Path]
) -> None:
    path = trained(name)
    reference = sentencepiece.SentencePieceProcessor(model_file=str(path))
    readers = ComparedPieces(file_bytes(read(path)), reference)
    for number, text in enumerate(texts(240)):
        readers.check(text, slow=number % 10 == 0)
    readers.check("\n".join(texts(1000)))


def test_consecutive_unknown_words_of_any_length_are_one_id(trained: Callable[[str], Path]) -> None:
    path = trained("word, no prefix")
    reference = sentencepiece.SentencePieceProcessor(model_file=str(path))
    readers = ComparedPieces(file_bytes(read(path)), reference)
    unknown = reference.unk_id()
    for count in (1, 2, 3, 5000):
        assert readers.check("zz" + " yy" * count) == [unknown]
        text = "zz" + " yy" * count + " the zz"
        assert readers.check(text).count(unknown) == 2
        parts = [ids.tolist() for ids in readers.runtime.encode_stream([*text])]
        assert len(parts) > 1
        assert [id for ids in parts for id in ids] == reference.encode(text)


@settings(max_examples=1000 if SLOW else 100)
@given(data=st.data())
def test_a_damaged_file_causes_only_a_documented_error(
    data: st.DataObject, trained: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = bytearray(trained("bpe, suffix without rules").read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.sampled_from([len(whole), len(whole) // 2, len(whole) - 1]))
    path = tmp_path_factory.mktemp("damaged") / "x.model"
    path.write_bytes(whole[:cut])
    with contextlib.suppress(SourceError, UnsupportedError):
        read(path)


def test_a_written_model_equals_the_one_read(trained: Callable[[str], Path]) -> None:
    model = parse_model(trained("bpe, suffix").read_bytes(), "x.model")
    assert parse_model(serialize(model), "x.model") == model
