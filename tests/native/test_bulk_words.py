"""The bulk engine has the ids of the C core for any model and stages of any kind."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bulk_cores import compare
from compared import file_or_none
from json_parts import digits, metaspace, pre_tokenizers, split
from parts.cases import document
from repository import SLOW
from shared_collection import beginnings

MODELS = 3_000 if SLOW else 250
LETTERS = tuple("abA\u00e9\u4e2d\u258101,.' \n\u3000")
# Matches that depend on the characters beside them, too.
PATTERNS = (
    *(r"\s+", r"\s", r"[,.]", r"\s+(?!\S)", r"\s(?=\S)", r"a+b?", r" ?a", r"[^,]a"),
    *(r"'b|[ab]+|[^\sab]+", r"[ab]+1|[ab]|[01]"),
)
# A space and U+2581 after ByteLevel: words with more ids than the engine has room for.
BYTE_LETTERS = ("\u0120", "\u00e2", "\u0138", "\u0123")
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")

SHARED = (
    *("t5-small/tokenizer.json", "xlm-roberta/tokenizer.json", "xlnet-base-cased/tokenizer.json"),
    *("bert-base-uncased/tokenizer.json", "bert-base-cased/tokenizer.json"),
    *("gte-small/tokenizer.json", "falcon/tokenizer.json", "clip/tokenizer.json"),
)


def pre_tokenizer(r: random.Random) -> dict[str, Any]:
    """One step; every second one is a pattern."""
    if r.random() < 0.5:
        behavior = r.choice((*BEHAVIORS, "Removed", "Removed"))
        return split(r.choice(PATTERNS), behavior, invert=r.random() < 0.4)
    return r.choice(
        (
            {"type": "Whitespace"},
            {"type": "WhitespaceSplit"},
            {"type": "WhitespaceSplit"},
            {"type": "BertPreTokenizer"},
            {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
            {"type": "Punctuation", "behavior": r.choice(BEHAVIORS)},
            digits(r.random() < 0.5),
            {"type": "CharDelimiterSplit", "delimiter": r.choice(LETTERS)},
            metaspace(r.choice(("always", "first", "never")), r.random() < 0.7),
        )
    )


def byte_pairs(r: random.Random, tokens: list[str]) -> dict[str, Any]:
    """BPE whose merges make those of the tokens, and others."""
    suffix = r.choice(("", "", "</w>"))
    letters = [*LETTERS, *BYTE_LETTERS]
    vocab = dict.fromkeys(["<unk>", *letters, *(letter + suffix for letter in letters)])
    merges = []
    for token in [*tokens[len(letters) + 1 :], "aa", "ab", "aaaa", "01"]:
        for end in range(2, len(token) + 1):
            ending = suffix if r.random() < 0.5 else ""
            parts = token[: end - 1], token[end - 1] + ending
            if parts[0] in vocab and parts[0] + parts[1] not in vocab:
                vocab[parts[0] + parts[1]] = None
                merges.append(list(parts))
    return {
        "type": "BPE",
        "unk_token": "<unk>",
        "fuse_unk": r.random() < 0.5,
        "ignore_merges": not suffix and r.random() < 0.3,
        "end_of_word_suffix": suffix or None,
        "vocab": {token: number for number, token in enumerate(vocab)},
        "merges": merges,
    }


def model(r: random.Random) -> dict[str, Any]:
    tokens = ["<unk>", *LETTERS, *BYTE_LETTERS]
    tokens += ["".join(r.choices(LETTERS, k=r.randint(2, 4))) for _ in range(40)]
    kind = r.choice(("Unigram", "Unigram", "WordPiece", "WordLevel", "BPE", "BPE"))
    if kind == "BPE":
        return byte_pairs(r, tokens)
    if kind == "Unigram":
        kept = [token for token in dict.fromkeys(tokens) if r.random() < 0.9 or token == "<unk>"]
        scores = [[token, -r.random() * 9] for token in kept]
        return {"type": kind, "unk_id": 0, "vocab": scores, "byte_fallback": False}
    if kind == "WordPiece":
        tokens += [f"##{token}" for token in tokens[1:]]
    vocab = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    made: dict[str, Any] = {"type": kind, "unk_token": "<unk>", "vocab": vocab}
    if kind == "WordPiece":
        most = r.choice((5, 100))
        made |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": most}
    return made


def random_document(r: random.Random) -> dict[str, Any]:
    steps = [pre_tokenizer(r) for _ in range(r.randint(1, 3))]
    normalizer = r.choice((None, None, {"type": "Lowercase"}, {"type": "NFKC"}))
    return document(model(r), normalizer=normalizer, pre_tokenizer=pre_tokenizers(*steps))


def texts_of(r: random.Random) -> Iterator[str]:
    for _ in range(20):
        letters = r.choice((LETTERS, r.sample(LETTERS, 5)))
        text = "".join(r.choices(letters, k=r.choice((1, 3, 20, 200, 3000))))
        yield r.choice((text, text * 2, text.replace("a", "a" * r.choice((20, 1200)))))


def test_random_pipelines_produce_the_ids_of_the_core(tmp_path: Path) -> None:
    r = random.Random(3)
    used = 0
    for _ in range(MODELS):
        if (data := file_or_none(random_document(r), tmp_path)) is not None:
            used += compare(data, texts_of(r))
    assert used > MODELS / 3


@pytest.mark.parametrize("name", SHARED)
def test_real_tokenizers_produce_the_ids_of_the_core(
    shared: Path, shared_content: Callable[[str], bytes], name: str
) -> None:
    def texts() -> Iterator[str]:
        for text in beginnings(shared):
            yield text
            # In another order, the words are known, but no passage is.
            lines = text.splitlines(keepends=True)
            random.Random(1).shuffle(lines)
            yield "".join(lines)

    assert compare(shared_content(name), texts())
