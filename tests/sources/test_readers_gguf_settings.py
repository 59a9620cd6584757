"""Settings of a GGUF besides its vocabulary mean what they mean in llama.cpp, or are refused."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import pytest
import tokenizers
from gguf_files import gguf_of
from references import converted, refused

from tokexport import Tokenizer
from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources import read

BYTES = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
CONTROL, USER, NORMAL = gguf.TokenType.CONTROL, gguf.TokenType.USER_DEFINED, gguf.TokenType.NORMAL
WORDS = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *"caféCÉ",
    *("##a", "##f", "##e", "##é", "##É", "##A", "##F", "##E"),
]
TEXTS = ["café", "CAFÉ", "Cafe\u0301 cafe", "é É", "a,f[MASK]e"]


def byte_level(path: Path, pre: str, **values: Any) -> Path:
    """Bytes, the special tokens <s>, </s> and <mask>, and two spaces as USER_DEFINED."""
    tokens = [*BYTES, "<s>", "</s>", "<mask>", "  ", "ab"]
    types = [NORMAL] * len(BYTES) + [CONTROL, CONTROL, CONTROL, USER, NORMAL]
    roles = {"bos": 256, "eos": 257, "seperator": 257, "mask": 258}
    ids = {f"{role}_token_id": number for role, number in roles.items()}
    fields = {"pre": pre, "token_type": types, "merges": ["a b"], **ids, **values}
    return gguf_of(path, "gpt2", tokens, fields)


def bert(path: Path, added: Sequence[str], **values: Any) -> Path:
    """WordPiece as converters write it: the start of a word is marked, not its continuation."""
    tokens = [
        word if word[0] == "[" else word[2:] if word[:2] == "##" else "\u2581" + word
        for word in WORDS
    ]
    return gguf_of(path, "bert", [*tokens, *added], values)


@pytest.mark.parametrize(
    "values",
    [
        *({"pre": name} for name in ("bert-bge", "bert-bge-large", "jina-v2-en")),
        *({"normalizer.lowercase": True}, {}),
    ],
)
def test_wordpiece_lower_cases_if_the_file_or_the_user_says_so(
    values: dict[str, Any], tmp_path: Path
) -> None:
    path = bert(tmp_path / "x.gguf", [], **values)
    tokenizer = converted(path, pattern=None if values else "bert-bge")
    assert_as_bert(tokenizer, lowercase=True)


def test_added_tokens_of_wordpiece_are_found_as_in_the_original(tmp_path: Path) -> None:
    """As convert_hf_to_gguf.py writes them: special tokens as they are, others like words."""
    words = {word: number for number, word in enumerate(WORDS)}
    wrapper = tokenizers.BertWordPieceTokenizer(words)
    wrapper.add_special_tokens(["[Q] ", "<f>"])
    wrapper.add_tokens(["fa", "c-F"])
    original = tokenizers.Tokenizer.from_str(wrapper.to_str())
    types = [CONTROL if word[0] == "[" else NORMAL for word in WORDS]
    path = bert(
        tmp_path / "x.gguf",
        ["[Q] ", "<f>", "\u2581fa", "\u2581c-F"],
        token_type=[*types, CONTROL, CONTROL, USER, USER],
        **{"normalizer.lowercase": True},
    )
    tokenizer, dice = converted(path), random.Random(3)
    parts = ["[Q] ", "<f>", "fa", "Fa", "c-F", "c-f", "[MASK]", *"cafeé \u0301-", "[Q]", "f>"]
    for _ in range(1000):
        text = "".join(dice.choices(parts, k=dice.randrange(9)))
        for special in (True, False):
            original.encode_special_tokens = not special
            ids = tokenizer.encode(text, "all" if special else ())
            assert ids == original.encode(text, add_special_tokens=False).ids, text


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("accents", [True, False, None])
def test_wordpiece_is_normalized_as_the_file_says(
    lowercase: bool, accents: bool | None, tmp_path: Path
) -> None:
    # A value that is None is not written.
    values = {"normalizer.lowercase": lowercase, "normalizer.strip_accents": accents}
    tokenizer = converted(bert(tmp_path / "x.gguf", [], pre="new-model", **values))
    assert_as_bert(tokenizer, lowercase=lowercase, strip_accents=accents)


def assert_as_bert(tokenizer: Tokenizer, **options: Any) -> None:
    vocab = {word: number for number, word in enumerate(WORDS)}
    reference = tokenizers.BertWordPieceTokenizer(vocab, **options)
    for text in TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=True, allowed_special="all")
        assert ids == reference.encode(text).ids, text


def test_wordpiece_without_a_setting_for_lower_case_is_refused(tmp_path: Path) -> None:
    problem = r'neither normalizer\.lowercase nor the name "new-model" .*bert-bge, bert-bge-large'
    refused(UnsupportedError, problem, bert(tmp_path / "x.gguf", [], pre="new-model"))


@pytest.mark.parametrize(
    ("pre", "values", "pair", "type_ids"),
    [
        ("roberta-bpe", {}, [256, "a", 257, 257, "b", 257], 0),
        ("gpt-2", {"add_sep_token": True}, [256, "a", 257, 257, "b", 257], 0),
        ("roberta-bpe", {"add_sep_token": False}, [256, "a", 257, 256, "b", 257], 1),
        ("gpt-2", {}, [256, "a", 257, 256, "b", 257], 1),
    ],
)
def test_a_separator_is_inserted_between_two_texts(
    pre: str, values: dict[str, Any], pair: list[int | str], type_ids: int, tmp_path: Path
) -> None:
    path = byte_level(tmp_path / "x.gguf", pre, add_bos_token=True, add_eos_token=True, **values)
    tokenizer = converted(path)
    expected = [BYTES.index(part) if isinstance(part, str) else part for part in pair]
    encoding = tokenizer.encode_pair_with_offsets("a", "b", add_special_tokens=True)
    assert encoding.ids == expected
    assert encoding.type_ids[-2:] == [type_ids] * 2
    assert tokenizer.encode("a", add_special_tokens=True) == [256, BYTES.index("a"), 257]


@pytest.mark.parametrize(
    ("pre", "strips"), [("roberta-bpe", True), ("modern-bert", True), ("gpt-2", False)]
)
def test_the_mask_includes_white_space_before_it(pre: str, strips: bool, tmp_path: Path) -> None:
    tokenizer = converted(byte_level(tmp_path / "x.gguf", pre))
    ids = tokenizer.encode("a \t<mask>", allowed_special="all")
    assert ids == [BYTES.index("a"), *([] if strips else [BYTES.index("Ġ"), BYTES.index("ĉ")]), 258]


def test_user_defined_tokens_follow_a_mask_if_the_original_normalizes_them(tmp_path: Path) -> None:
    tokenizer = converted(byte_level(tmp_path / "x.gguf", "modern-bert"))
    assert tokenizer.encode("  <mask>  a", allowed_special="all") == [258, 259, BYTES.index("a")]


@pytest.mark.parametrize("model", ["none", "no_vocab"])
def test_a_file_without_a_tokenizer_is_refused_as_such(model: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=rf'model is "{model}": the file has no tokenizer'):
        read(gguf_of(tmp_path / "x.gguf", model, [], {}))


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("gemma4", "does not say which of Gemma's tokens are found before its merges"),
        ("plamo2", 'the models "gpt2", "llama", "t5", "bert" and "rwkv" are supported'),
    ],
)
def test_models_that_a_gguf_describes_incompletely_are_refused(
    model: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedError, match=rf"{sentence}.*convert .*tokenizer\.json"):
        read(gguf_of(tmp_path / "x.gguf", model, ["a"], {"token_type": [NORMAL], "scores": [0.0]}))


@pytest.mark.parametrize(
    "array",
    ["gpt2 token_type", "gpt2 merges", "llama token_type", "llama scores", "rwkv token_type"],
)
def test_an_error_names_a_missing_array(array: str, tmp_path: Path) -> None:
    model, missing = array.split()
    values = {"pre": "gpt-2", "token_type": [NORMAL], "merges": ["a b"], "scores": [0.0]}
    del values[missing]
    with pytest.raises(SourceError, match=rf"tokenizer\.ggml\.{missing} is missing, but"):
        read(gguf_of(tmp_path / "x.gguf", model, ["a"], values))


def test_scores_may_be_integers(tmp_path: Path) -> None:
    tokens, types = ["<unk>", "\u2581", "a", "b", "ab"], [gguf.TokenType.UNKNOWN] + [NORMAL] * 4
    whole, real = (
        gguf_of(tmp_path / name, "llama", tokens, {"token_type": types, "scores": scores})
        for name, scores in (
            ("whole", [0, -1, -2, -3, -4]),
            ("real", [0.0, -1.0, -2.0, -3.0, -4.0]),
        )
    )
    one, two = read(whole), read(real)
    assert replace(one, provenance=two.provenance) == two
    assert converted(whole).encode("abb") == [1, 4, 3]


def test_a_pattern_for_a_model_without_splits_is_refused(tmp_path: Path) -> None:
    path = gguf_of(tmp_path / "x.gguf", "llama", ["a"], {"token_type": [NORMAL], "scores": [0.0]})
    refused(UnsupportedError, r'only the models "gpt2" and "bert" have a', path, pattern="gpt-2")
