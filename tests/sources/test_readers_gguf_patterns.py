"""tokenizer.ggml.pre determines the pre-tokenizer and normalizer of a byte-level GGUF."""

import itertools
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import pytest
import tiktoken
from gguf_files import gguf_of
from reader_samples import spelled
from references import assert_same, converted, reference_for, refused
from repository import SLOW, SMALL

from tokexport.errors import UnsupportedError
from tokexport.model.byte_alphabet import CHARACTERS
from tokexport.sources import read
from tokexport.sources.gguf.patterns import ORIGINALS, SPLIT_AS
from tokexport.sources.gguf.read import gguf_document
from tokexport.sources.patterns import KIMI, LLAMA3
from tokexport.sources.registry import open_source

CONTROL, NORMAL = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
# Words, digits, white space, letters without case, marks that NFC composes, punctuation.
TEXT = "It's the  end of 12345 days\n\n中文字 and\u3000。、!! e\u0301 \t ﬁ x1y22 ¡Hé!"
PRE_TOKENS = {
    "gpt-2": ["It", "'s", " the", " ", " end", " of", " 12345", " days"],
    "starcoder": ["It", "'s", " the", " ", " end", " of", " ", "1", "2", "3", "4", "5", " days"],
    "deepseek-llm": ["It", "'", "s", " the", " ", " end", " of", " ", *"12345", " days"],
    "bloom": ["It's", " the", " ", " end", " of", " 12345", " days"],
    "qwen35": ["It", "'s", " the", " ", " end", " of", " ", "1", "2", "3", "4", "5", " days"],
    "llama-bpe": ["It", "'s", " the", " ", " end", " of", " ", "123", "45", " days"],
    "bailingmoe": ["It", "'s", " the", " ", " end", " of", " ", "1", "2", "3", "4", "5", " days"],
    "tiny_aya": ["It's", " the", " ", " end", " of", " ", "12", "345", " days"],
    "afmoe": ["It", "'", "s", " the", " ", " end", " of", " ", "12", "345", " days"],
    "minicpm5": ["It", "'s", " the", " ", " end", " of", " ", "123", "45", " days"],
}
# Texts after or before a line break.
BREAKS = {
    "qwen2": ["a", ".\n\n", "b", "1", "2"],
    "seed-coder": ["a", ".", "\n\n", "b", "1", "2"],
    "laguna": ["a", ".", "\n\n", "b", "1", "2"],
    "spark2_5": ["a", ".", "\n", "\n", "b", "1", "2"],
    "hunyuan-dense": ["a", ".\n\n", "b", "12"],
}


def document_of(path: Path, pattern: str | None = None) -> dict[str, Any]:
    return gguf_document(open_source(path, pattern=pattern).content)


def small_gguf(
    path: Path, pre: str | None, architecture: str = "gpt2", more: tuple[str, ...] = ()
) -> Path:
    """The vocabulary of the small GPT-2 with or without a name, with more special tokens."""
    document = json.loads((SMALL / "gpt2.json").read_text("utf-8"))
    spelling = {number: text for text, number in document["model"]["vocab"].items()}
    spelling |= {token["id"]: token["content"] for token in document["added_tokens"]}
    spelling |= dict(enumerate(more, max(spelling) + 1))
    added = {token["id"] for token in document["added_tokens"]}
    added |= {max(spelling) - place for place in range(len(more))}
    numbers = sorted(spelling)
    merges = document["model"]["merges"]
    values = {
        "pre": pre,
        "token_type": [CONTROL if number in added else NORMAL for number in numbers],
        "merges": [merge if isinstance(merge, str) else " ".join(merge) for merge in merges],
    }
    return gguf_of(path, "gpt2", [spelling[number] for number in numbers], values, architecture)


@pytest.mark.parametrize("pre", ORIGINALS)
def test_every_name_produces_the_ids_of_its_original(pre: str, tmp_path: Path) -> None:
    path = small_gguf(tmp_path / "it.gguf", pre)
    tokenizer, reference = converted(path), reference_for(path)
    # The tokens are the same for every name; only the cuts of a text differ.
    assert_same(tokenizer, reference, strings=150, token_step=1 if SLOW else 5)
    assert tokenizer.decode(tokenizer.encode("héllo wörld 123")) == "héllo wörld 123"


def lower_parts(ranks: dict[bytes, int], token: bytes) -> list[bytes]:
    """The parts of a token by tokens of lower ranks, as the converter finds them."""
    parts = [bytes((byte,)) for byte in token]
    while True:
        pairs = map(b"".join, itertools.pairwise(parts))
        found = ((ranks.get(pair, 1 << 30), at) for at, pair in enumerate(pairs))
        rank, at = min(found, default=(1 << 30, 0))
        if rank >= ranks[token]:
            return parts
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


@pytest.mark.parametrize("pre", ["chatglm-bpe", "kimi-k2"])
@pytest.mark.parametrize("seed", range(5))
def test_ranks_in_any_order_equal_those_of_tiktoken(pre: str, seed: int, tmp_path: Path) -> None:
    """Ranks in any order: most tokens do not consist of two parts of lower ranks."""
    dice = random.Random(seed)
    tokens = {"".join(dice.choices("abcd", k=dice.randrange(2, 6))).encode() for _ in range(60)}
    in_any_order = dice.sample(sorted(tokens), len(tokens))
    every_byte = (bytes((byte,)) for byte in range(256))
    ranks = {token: number for number, token in enumerate((*every_byte, *in_any_order))}
    merges = []
    for token in list(ranks)[256:]:
        parts = lower_parts(ranks, token)
        if len(parts) == 2 or pre == "chatglm-bpe":
            merges.append(" ".join(map(spelled, parts)))
    values = {"pre": pre, "token_type": [NORMAL] * len(ranks), "merges": merges}
    tokenizer = converted(gguf_of(tmp_path / "it.gguf", "gpt2", [*map(spelled, ranks)], values))
    pattern = {"chatglm-bpe": LLAMA3, "kimi-k2": KIMI}[pre]
    reference = tiktoken.Encoding("it", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    for _ in range(1500):
        text = "".join(dice.choices("abcd", k=dice.randrange(1, 14)))
        assert tokenizer.encode(text) == reference.encode(text), text


@pytest.mark.parametrize(("pre", "pre_tokens"), [*PRE_TOKENS.items(), *BREAKS.items()])
def test_no_token_extends_beyond_a_pre_token(
    pre: str, pre_tokens: list[str], tmp_path: Path
) -> None:
    tokenizer = converted(small_gguf(tmp_path / "it.gguf", pre))
    text = "".join(pre_tokens)
    assert TEXT.startswith(text) == (pre in PRE_TOKENS and pre_tokens is PRE_TOKENS[pre])
    assert tokenizer.encode(text) == [*itertools.chain(*map(tokenizer.encode, pre_tokens))]
    ends = {sum(map(len, pre_tokens[: count + 1])) for count in range(len(pre_tokens))}
    assert ends <= {end for _, end in tokenizer.encode_with_offsets(text).offsets}


@pytest.mark.parametrize(
    "pre", [name for name in ORIGINALS if ORIGINALS[name].normalizer is not None]
)
def test_marks_are_composed_as_in_the_original(pre: str, tmp_path: Path) -> None:
    tokenizer = converted(small_gguf(tmp_path / "it.gguf", pre))
    assert tokenizer.encode("e\u0301") == tokenizer.encode("é") != []


def test_compatibility_characters_are_equal_as_in_the_original(tmp_path: Path) -> None:
    tokenizer = converted(small_gguf(tmp_path / "it.gguf", "exaone"))
    assert tokenizer.encode("ﬁ～\uff11") == tokenizer.encode("fi~1") != []


@pytest.mark.parametrize("seed", range(3))
def test_the_merges_of_lfm2_tell_whether_tokens_precede_them(seed: int, tmp_path: Path) -> None:
    """Ranks are written as all pairs of parts of all tokens; trained merges are fewer."""
    dice = random.Random(seed)
    words = [
        "".join(letters) for size in range(2, 7) for letters in itertools.product("ab", repeat=size)
    ]
    merges = [f"{word[:at]} {word[at:]}" for word in words for at in range(1, len(word))]
    tokens = [*CHARACTERS, *words]
    values = {"pre": "lfm2", "token_type": [NORMAL] * len(tokens), "add_bos_token": False}
    values["merges"] = dice.sample(merges, len(merges))
    tokenizer = converted(gguf_of(tmp_path / "it.gguf", "gpt2", tokens, values))
    for number, word in enumerate(words, 256):
        assert tokenizer.encode(word) == [number]
    trained = document_of(small_gguf(tmp_path / "trained.gguf", "lfm2"))
    assert trained["model"]["ignore_merges"] is False


@pytest.mark.parametrize("pre", [None, "default", "new-model"])
def test_a_user_names_the_pattern_of_a_file_that_does_not(pre: str | None, tmp_path: Path) -> None:
    named = small_gguf(tmp_path / "named.gguf", "qwen2")
    unnamed = small_gguf(tmp_path / "unnamed.gguf", pre)
    found = "no pattern" if pre is None else f'the pattern "{pre}"'
    refusal = r"the names .* llama-bpe.*say with --pattern \(pattern=\) which of them it is"
    refused(UnsupportedError, f"{found} is not supported; {refusal}", unnamed)
    one, two = read(named), read(unnamed, pattern="qwen2")
    assert replace(two, provenance=one.provenance) == one
    reference = reference_for(unnamed, pattern="qwen2")
    assert_same(converted(unnamed, pattern="qwen2"), reference, strings=150)


@pytest.mark.parametrize(
    ("pre", "pattern", "sentence"),
    [
        ("qwen2", "llama-bpe", r'its own tokenizer\.ggml\.pre is "qwen2"'),
        (None, r"\w+", r"the pattern is a name of tokenizer\.ggml\.pre: afmoe, .*tekken"),
        (None, "cl100k_base", r"the pattern is a name of tokenizer\.ggml\.pre: "),
    ],
)
def test_an_unknown_or_contradicted_pattern_is_refused(
    pre: str | None, pattern: str, sentence: str, tmp_path: Path
) -> None:
    refused(UnsupportedError, sentence, small_gguf(tmp_path / "it.gguf", pre), pattern=pattern)


def test_the_name_of_the_file_may_be_repeated(tmp_path: Path) -> None:
    path = small_gguf(tmp_path / "it.gguf", "qwen2")
    assert read(path, pattern="qwen2") == read(path)


@pytest.mark.parametrize("pre", SPLIT_AS)
def test_a_name_with_only_a_known_pattern_is_refused_with_a_hint(pre: str, tmp_path: Path) -> None:
    path = small_gguf(tmp_path / "it.gguf", pre)
    problem = rf'as for "{SPLIT_AS[pre]}".*--pattern \(pattern=\) that it is {SPLIT_AS[pre]},'
    refused(UnsupportedError, problem, path)
    found, expected = read(path, pattern=SPLIT_AS[pre]), read(small_gguf(path, SPLIT_AS[pre]))
    assert found == replace(expected, provenance=found.provenance)


def test_no_name_is_in_both_tables() -> None:
    assert not ORIGINALS.keys() & SPLIT_AS.keys()
    assert ORIGINALS.keys() >= set(SPLIT_AS.values())


@pytest.mark.parametrize(
    ("architecture", "more", "name"),
    [
        ("nemotron_h_moe", ("<|im_start|>",), "tekken"),
        ("nemotron_h", (), "tekken"),
        ("llama", ("[IMG]",), "llama-bpe"),
    ],
)
def test_pixtral_is_the_name_of_two_patterns(
    architecture: str, more: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    path = small_gguf(tmp_path / "it.gguf", "pixtral", architecture, more)
    assert document_of(path)["pre_tokenizer"] == ORIGINALS[name].pre_tokenizer
    tokenizer = converted(path)
    pre_tokens = ["hello", "World"] if name == "tekken" else ["helloWorld"]
    assert tokenizer.encode("".join(pre_tokens)) == [
        *itertools.chain(*map(tokenizer.encode, pre_tokens))
    ]
    assert_same(tokenizer, reference_for(path), strings=150)


def test_pixtral_of_another_model_is_refused(tmp_path: Path) -> None:
    path = small_gguf(tmp_path / "it.gguf", "pixtral", "llama", ("<|im_start|>",))
    refused(UnsupportedError, r"say with --pattern \(pattern=\) which", path)
    assert document_of(path, "tekken")["pre_tokenizer"] == ORIGINALS["tekken"].pre_tokenizer
