"""Offsets through normalizers and rewriting pre-tokenizers are those of the reference library,
whatever stands in a row.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from repository import SLOW
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from tokexport.conversion import file_bytes
from tokexport.errors import SourceError, UnsupportedError
from tokexport.runtime.encoding import Encoding
from tokexport.runtime.tokenizer import load
from tokexport.sources import read

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
NORMALIZERS = [
    normalizers.NFC(),
    normalizers.NFD(),
    normalizers.NFKC(),
    normalizers.NFKD(),
    normalizers.Lowercase(),
    normalizers.StripAccents(),
    normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()]),
    normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]),
    normalizers.Strip(),
    normalizers.Strip(left=False, right=True),
    normalizers.Nmt(),
    normalizers.BertNormalizer(),
    normalizers.BertNormalizer(strip_accents=True, lowercase=False, handle_chinese_chars=True),
    normalizers.Replace("a", "xyz"),
    normalizers.Replace("é", ""),
    normalizers.Replace("ab", "\u2581"),
    normalizers.Replace(Regex(r"\s+"), " "),
    normalizers.Replace(Regex(r"[0-9]+|e"), "é中"),
    normalizers.Prepend("\u2581"),
    normalizers.Prepend("ab "),
]
PRE_TOKENIZERS = [
    pre_tokenizers.ByteLevel(add_prefix_space=False),
    pre_tokenizers.ByteLevel(add_prefix_space=True),
    pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    ),
    pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(prepend_scheme="always", split=False),
            pre_tokenizers.Digits(),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    ),
    pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=True)]
    ),
    pre_tokenizers.Sequence(
        [pre_tokenizers.Split("b", "removed"), pre_tokenizers.ByteLevel(add_prefix_space=True)]
    ),
]
PARTS = st.sampled_from(
    [
        *("a", "b", "ab", "A", "e", "é", "e\u0301", "É", "12", " ", "  ", "\n", "\t", "\u3000"),
        *("\u00a0", "\u2581"),
        *("ﬁ", "\ufb1d", "\u0344", "\u0301", "\u0323", "q\u0307\u0323", "\u1e0d\u0307", "\u1d15e"),
        *("\u0f73", "\u2adc"),
        *("가", "\u1100\u1161\u11a8", "각", "각\u11a8", "\u0e33", "\u3099か\u309b", "が"),
        *("中", "\u212b"),
        *("İ", "ß", "ǰ", "\x00", "\u200b", "\ufdfa", "<s>", "[M]"),
    ]
)
TEXTS = st.lists(PARTS | st.characters(exclude_categories=["Cs"]), max_size=14).map("".join)


def tokenizer(steps: list[Any], pre_tokenizer: Any, *, trims: bool) -> Tokenizer:
    """A byte-level tokenizer with a few merges after the steps."""
    vocab = {
        token: number
        for number, token in enumerate([*ALPHABET, "ab", "abc", "Ã©", "Ġa", "âĸ", "âĸģ"])
    }
    merges = [("a", "b"), ("ab", "c"), ("Ã", "©"), ("Ġ", "a"), ("â", "ĸ"), ("âĸ", "ģ")]
    made = Tokenizer(models.BPE(vocab, merges))
    made.normalizer = normalizers.Sequence(steps)
    made.pre_tokenizer = pre_tokenizer
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens([AddedToken("<s>", lstrip=True, normalized=False)])
    made.add_tokens([AddedToken("[M]", rstrip=True, normalized=True)])
    if trims:
        made.post_processor = processors.ByteLevel(trim_offsets=True)
    return made


@pytest.mark.parametrize("trims", [False, True])
# Fewer than 100, which take more than 10 s; TOKEXPORT_SLOW=1 runs 500.
@settings(max_examples=500 if SLOW else 20)
@given(
    steps=st.lists(st.sampled_from(NORMALIZERS), max_size=4),
    pre_tokenizer=st.sampled_from(PRE_TOKENIZERS),
    texts=st.lists(TEXTS, min_size=8, max_size=8),
)
def test_any_steps_in_a_row(
    steps: list[Any],
    pre_tokenizer: Any,
    texts: list[str],
    trims: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    library = tokenizer(steps, pre_tokenizer, trims=trims)
    path = tmp_path_factory.mktemp("steps") / "tokenizer.json"
    path.write_text(library.to_str(), "utf-8")
    try:
        subject = load(file_bytes(read(path)))
    except (UnsupportedError, SourceError):
        assume(False)
    library = Tokenizer.from_file(str(path))
    for text in texts:
        try:
            wanted = library.encode(text)
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            continue
        found = subject.encode_with_offsets(text, allowed_special="all")
        assert found == Encoding(
            wanted.ids, wanted.offsets, wanted.type_ids, wanted.special_tokens_mask
        ), (steps, text)


@pytest.mark.parametrize("unit", ["char", "byte"])
def test_both_units_are_about_the_same_place(unit: Any, tmp_path: Path) -> None:
    made = tokenizer([normalizers.NFKC()], PRE_TOKENIZERS[0], trims=False)
    text = "\ufdfa é e\u0301 😀ab"
    offsets = [text[start:end] for start, end in made.encode(text).offsets]
    path = tmp_path / "tokenizer.json"
    path.write_text(made.to_str(), "utf-8")
    found = load(file_bytes(read(path))).encode_with_offsets(text, unit=unit).offsets
    source: Any = text if unit == "char" else text.encode()
    parts = [source[start:end] for start, end in found]
    assert [part if unit == "char" else part.decode() for part in parts] == offsets
