"""Training writes files that produce the same ids in their libraries."""

import base64
import gzip
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from repository import printed, small_source

import tokexport
from tokexport.errors import TextError, TokexportError, UnsupportedError
from tokexport.escape import escape
from tokexport.sources.tiktoken.known_patterns import KNOWN
from tokexport.training import WordCounts, train_from_iterator

SPECIAL = ("<|bos|>", "<|end|>")


def prose(size: int) -> str:
    """Words of several scripts, with the frequencies of a language."""
    generator = random.Random(size)
    alphabets = ("abcdefghi", "абвгдеж", "日本語文字", "가나다라", "ابتث", "0123456789", ".,!\n ")
    words = [
        "".join(generator.choices(generator.choice(alphabets), k=generator.randint(1, 9)))
        for _ in range(400)
    ]
    weights = [1 / rank for rank in range(1, 401)]
    return " ".join(generator.choices(words, weights, k=size))


TEXTS = [prose(size) for size in (3000, 2000, 1)]


@pytest.mark.parametrize("ids", [(698, 699), (0, 300)])
@pytest.mark.parametrize("pattern", sorted({known.pattern for known in KNOWN.values()}))
def test_all_files_produce_the_same_ids(pattern: str, ids: tuple[int, int], tmp_path: Path) -> None:
    tiktoken, tokenizers = pytest.importorskip("tiktoken"), pytest.importorskip("tokenizers")
    special_tokens = SPECIAL if ids[0] else dict(zip(SPECIAL, ids, strict=True))
    trained = train_from_iterator(TEXTS, 700, pattern=pattern, special_tokens=special_tokens)
    trained.save(tmp_path)
    lines = (tmp_path / "ranks.tiktoken").read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(id) for token, id in map(bytes.split, lines)}
    settings = json.loads((tmp_path / "ranks.json").read_bytes())
    peer = tiktoken.Encoding(
        "trained",
        pat_str=settings["pattern"],
        mergeable_ranks=ranks,
        special_tokens=settings["special_tokens"],
    )
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ours = tokexport.load(tmp_path / "tokenizer.bin")
    assert ours.n_vocab == peer.n_vocab == library.get_vocab_size() == len(trained) == 700
    assert [ours.encode_single_token(name) for name in SPECIAL] == [*ids]
    for text in (
        *TEXTS,
        "It'S I'll naïve ſ'ſ a\u0301 🇩🇪",
        "a  \n\n b\t\r\n  ",
        "".join(SPECIAL) + " 12345",
    ):
        assert peer.encode_ordinary(text) == ours.encode(text)
        marked = ours.encode(text, allowed_special="all")
        assert library.encode(text).ids == marked == peer.encode(text, allowed_special="all")
    assert sum(len(ours.encode(text)) for text in TEXTS) == trained.text_tokens
    assert sum(len(text.encode()) for text in TEXTS) == trained.text_bytes
    listed = (tmp_path / "merges.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert [int(line.split("\t")[0]) for line in listed] == sorted({*range(700)} - {*ids})[256:]
    halves = [tuple(line.split("\t")[2:]) for line in listed]
    merges = trained.merges
    assert halves == [(f'"{escape(it.left)}"', f'"{escape(it.right)}"') for it in merges]
    merged = [token for token in ranks if len(token) > 1]
    assert [it.left + it.right for it in merges] == sorted(merged, key=ranks.__getitem__)


@pytest.mark.parametrize("file", ["tokenizer.json", "ranks.tiktoken"])
def test_verify_finds_no_difference_to_either_library(file: str, tmp_path: Path) -> None:
    train_from_iterator(TEXTS, 700, special_tokens=SPECIAL).save(tmp_path)
    found = tokexport.verify(tmp_path / "tokenizer.bin", against=tmp_path / file, quick=True)
    assert found.ok, found.lines()
    is_compared = "lone surrogates" in found.counts  # an error in tokenizers, U+FFFD in tiktoken
    assert is_compared == (file == "ranks.tiktoken")


def test_ranks_convert_with_the_pattern_and_the_special_tokens_beside_them(tmp_path: Path) -> None:
    train_from_iterator(TEXTS, 400, pattern="o200k_base", special_tokens=SPECIAL).save(tmp_path)
    tokexport.convert(tmp_path / "ranks.tiktoken", tmp_path / "again.bin")
    from_ranks, ours = (tokexport.load(tmp_path / name) for name in ("again.bin", "tokenizer.bin"))
    for text in TEXTS:
        assert from_ranks.encode(text) == ours.encode(text)
    assert [from_ranks.encode_single_token(name) for name in SPECIAL] == [398, 399]


def test_the_package_does_not_import_training_before_it_is_used() -> None:
    program = (
        "import sys, tokexport; before = 'tokexport.training' in sys.modules;"
        "tokexport.train_from_iterator; print(before, 'tokexport.training' in sys.modules)"
    )
    assert printed("-c", program) == "False True\n"
    assert tokexport.train_from_iterator is train_from_iterator


def test_a_vocabulary_counts_bytes_and_special_tokens() -> None:
    assert len(train_from_iterator(TEXTS, 300, special_tokens=SPECIAL).merges) == 42
    assert train_from_iterator(TEXTS, 258, special_tokens=SPECIAL).merges == ()
    with pytest.raises(TokexportError, match=r"257 is too small: .* take 258 ids$"):
        train_from_iterator(TEXTS, 257, special_tokens=SPECIAL)
    with pytest.raises(TokexportError, match="is too large"):
        train_from_iterator(TEXTS, 1 << 22)


def test_training_on_too_few_pairs_ends_early_with_a_note() -> None:
    trained = train_from_iterator(["abab", "x"], 1000, special_tokens=SPECIAL)
    assert [merge.left + merge.right for merge in trained.merges] == [b"ab", b"abab"]
    assert trained.special_tokens == {"<|bos|>": 258, "<|end|>": 259}
    assert trained.note is not None
    assert trained.note.startswith("the texts have pairs for 2 merges, not for 742")


@pytest.mark.parametrize(
    ("texts", "options", "error", "words"),
    [
        *((texts, {}, TokexportError, "nothing to learn from") for texts in ([], [""])),
        (iter(["", ""]), {}, TokexportError, "nothing to learn from"),
        ("one text", {}, TypeError, "put it into a list"),
        (["a", 1], {}, TypeError, "texts must hold str, not int"),
        (["a", "b\ud800"], {}, TextError, "lone surrogate"),
        ([iter(["a", "b\ud800"])], {}, TextError, "lone surrogate"),
        (["a"], {"pattern": "[a-z]+"}, UnsupportedError, "leaves out a part of a text"),
        (["a"], {"pattern": "gpt9"}, UnsupportedError, "'gpt9' is not a known name; use .* gpt2"),
        (["a"], {"pattern": None}, TypeError, "pattern must be a str, not NoneType"),
        (["a"], {"special_tokens": ["x", "x"]}, TokexportError, "tokens must differ, .*: 'x'$"),
        (["a"], {"special_tokens": ["<\udcff>"]}, TokexportError, "'<.udcff>' has a lone surrog"),
        (["a"], {"special_tokens": "<x>"}, TypeError, "must be several special tokens, not str"),
        (["a"], {"special_tokens": [1]}, TypeError, "special_tokens must hold str, not int"),
        (["a"], {"vocab_size": "x"}, TypeError, "vocab_size must be an int, not str"),
        (["a"], {"vocab_size": 1 << 22}, TokexportError, "is too large: the limit is 2,097,151$"),
        (["a"], {"tie_break": "best"}, TokexportError, "'best' is none of lowest-ids"),
    ],
)
def test_invalid_input_is_refused_with_a_sentence(
    texts: Any, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        train_from_iterator(texts, **{"vocab_size": 300, **options})


@pytest.mark.parametrize("size", [1, 7, 100, 5000])
def test_a_text_in_parts_is_learned_from_like_the_whole(size: int) -> None:
    for text in (TEXTS[0], "日本語" * 3000, "a" * 9000):
        parts = (text[at : at + size] for at in range(0, len(text), size))
        assert train_from_iterator([parts], 400) == train_from_iterator([text], 400)


def test_a_token_too_long_for_a_file_is_not_learned(tmp_path: Path) -> None:
    trained = train_from_iterator(["a" * 140_000 + " b" * 9], 300)
    assert {b" b", *(b"a" * 2**n for n in range(16))} <= {*trained.ranks}
    assert max(map(len, trained.ranks)) <= 65_535
    assert trained.note is not None
    assert "longer than 65,535 bytes" in trained.note
    trained.save(tmp_path)
    assert tokexport.load(tmp_path / "tokenizer.bin").n_vocab == len(trained)


@pytest.mark.parametrize("pattern", ["gpt2", "nanochat", "o200k_base"])
def test_one_long_text_is_counted_by_several_threads(pattern: str) -> None:
    """It is cut only at certain positions, and the words are in the order of the text."""
    for text in (prose(700_000), "漢字 " * 900_000, "x" * 5_000_000, " \n" * 3_000_000):
        single, parallel = (WordCounts(pattern) for _ in range(2))
        single.add([text], num_threads=1)
        parallel.add([text], num_threads=4)
        assert [*parallel.items()] == [*single.items()]


def test_the_command_trains_from_files_of_all_kinds(run: Run, tmp_path: Path) -> None:
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS[:2])
    with gzip.open(tmp_path / "a.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(lines)
    (tmp_path / "b.txt").write_text(TEXTS[2], encoding="utf-8", newline="")
    options = ["--vocab-size", 500, "--special-token", SPECIAL[0], "--special-token", SPECIAL[1]]
    outcome = run("train", tmp_path, *options, "-o", tmp_path / "out")
    assert outcome.code == 0
    assert "500 tokens of " in outcome.text
    assert "longest: " in outcome.text
    expected = train_from_iterator(TEXTS, 500, special_tokens=SPECIAL)
    assert (tmp_path / "out/tokenizer.bin").read_bytes() == expected.to_bytes()

    refusal = run("train", tmp_path / "b.txt", *options, "-o", tmp_path / "out").refusal
    assert "exists already; choose another target, or overwrite it with --force\n" in refusal
    train = ("train", "-", *options, "-o", tmp_path / "out", "--force", "--json")
    values = run(*train, stdin=TEXTS[0].encode()).values
    from_text = train_from_iterator(TEXTS[:1], 500, special_tokens=SPECIAL)
    assert (values["words"], values["tokens"]) == (from_text.words, 500)
    assert (tmp_path / "out/tokenizer.bin").read_bytes() == from_text.to_bytes()


def test_what_would_fail_after_training_is_refused_before(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokexport.convert(small_source("gpt2"), tmp_path / "it.bin", decode_only=True)
    text = tmp_path / "text.txt"
    text.write_bytes(b"\xff")  # another error, of training
    command = ("train", text, "--vocab-size", 256, "-o", tmp_path / "a" / "b")
    refused = run(*command, "--beside", tmp_path / "it.bin")
    assert "it.bin: the file is decode-only" in refused.refusal
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(tmp_path))
    assert f"{tmp_path}: it is not allowed to write files there" in run(*command).refusal
    assert not (tmp_path / "a").exists()


def test_limits_are_in_characters_per_document_and_in_total(run: Run, tmp_path: Path) -> None:
    texts = ["日本" + "ab" * 10, "ab" * 20, "xy" * 30]
    lines = "".join(json.dumps({"body": text}) + "\n" for text in texts)
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    common = ["--vocab-size", 258, "--field", "body", "--json", "-o", tmp_path / "out", "--force"]
    for options, sizes in [
        (["--doc-cap", 3], (7, 3, 3)),
        (["--max-chars", 22], (26, 40)),  # the document that exceeds the limit is the last one
        (["--max-chars", 21], (26,)),
        (["--doc-cap", 3, "--max-chars", 5], (7, 3)),
    ]:
        values = run("train", tmp_path / "a.jsonl", *common, *options).values
        assert values["text_bytes"] == sum(sizes)
