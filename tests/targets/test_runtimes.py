"""The ids of other runtimes, by their algorithms, and how differences are counted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Run
from references import reference_for
from repository import ROOT, script, small_source

from tokexport.targets.best_score import BestScore
from tokexport.targets.compare import compare_runtime
from tokexport.targets.registry import TARGETS
from tokexport.verification.generators import Vocabulary, make, plan

GOLDEN = script(ROOT / "formats" / "golden_targets.py")
PIECES = tuple(piece.replace("\u2581", " ").encode() for piece in GOLDEN.PIECES.split())


def golden(name: str) -> Path:
    return ROOT / "formats" / TARGETS[name].golden


def test_the_leftmost_pair_with_the_largest_score_merges_first() -> None:
    tokens = [b"a", b"aa", b"b", b"ab", b"aab"]
    model = BestScore(tokens, [0, -1, 0, -2, -3])
    assert (model.merged([0, 0, 0]), model.merged([0, 0, 2])) == ([1, 0], [4])
    assert BestScore(tokens, [0, -1, 0, -1, -1e11]).merged([0, 0, 2]) == [1, 2]


@pytest.mark.parametrize("name", ["llama2.c", "llama2.c-mobile"])
def test_llama2c_produces_the_ids_of_sentencepiece(name: str, sources: tuple[Path, Path]) -> None:
    runtime, reference = TARGETS[name].runtime(golden(name), {}), reference_for(sources[1])
    for text in random_texts(400, PIECES):
        expected = reference.encode(text, False)
        assert runtime.encode(text) == expected
        (decoded,) = reference.decode_batch([expected], False)
        assert name == "llama2.c" or runtime.decode(expected) == decoded.encode()
    assert runtime.encode("the\0ferry") == reference.encode("the", False)


def random_texts(count: int, tokens: tuple[bytes, ...]) -> Iterator[str]:
    """Texts without NUL, which ends a C string, and U+2581, which the library reads as a space."""
    for name, number in plan(count, Vocabulary(tokens)).items():
        for index in range(number):
            yield make(name, Vocabulary(tokens), 0, index).translate({0: None, 0x2581: None})


def test_llama2c_prints_only_printable_ascii_of_byte_tokens(sources: tuple[Path, Path]) -> None:
    ids = [3 + byte for byte in "\t\x01ß".encode()]
    assert TARGETS["llama2.c"].runtime(golden("llama2.c"), {}).decode(ids) == b"\t"
    mobile = TARGETS["llama2.c-mobile"].runtime(golden("llama2.c-mobile"), {})
    assert mobile.decode(ids) == "\t\x01ß".encode()


def ids(*tokens: str) -> list[int]:
    """The ids of tokens of the tokenizer.json."""
    document = GOLDEN.byte_document()
    added = {token["content"]: token["id"] for token in document["added_tokens"]}
    vocab = {**document["model"]["vocab"], **added}
    return [vocab[token] for token in tokens]


def test_qwen3c_finds_special_tokens_and_merges_across_words() -> None:
    runtime = TARGETS["qwen3.c"].runtime(golden("qwen3.c"), {})
    assert runtime.encode("<|user|>the ferry") == ids("<|user|>", "the", "Ġferry")
    assert runtime.encode("<|user>é") == ids("<", "|", "u", "s", "er", ">", "Ã", "©")
    # The pattern would cut before the last space.
    assert runtime.encode("  the") == ids("Ġ", "Ġthe")
    assert runtime.encode("a\0b") == ids("a")
    assert runtime.decode(ids("Ġferry", "Ã", "©")) == " ferryé".encode()


def test_qwen3rs_drops_characters_that_are_not_tokens() -> None:
    runtime = TARGETS["qwen3-rs"].runtime(golden("qwen3-rs"), {})
    assert runtime.encode("<|user|>thé") == ids("<|user|>", "th")
    assert runtime.decode(ids("Ã", "©")) == "é".encode()


def test_llmc_only_decodes(sources: tuple[Path, Path]) -> None:
    result = compare_runtime(golden("llm.c"), "llm.c", against=sources[0], strings=100)
    assert {*result.counts} == {"decode"}
    assert "only decodes" in result.notes[0]
    assert (
        TARGETS["llm.c"].runtime(golden("llm.c"), {}).decode(ids("Ġferry", "Ã", "a")) == b" ferrya"
    )


def test_ids_that_a_file_lacks_are_differences() -> None:
    result = compare_runtime(golden("qwen3.c"), "qwen3.c", against=small_source("gpt2"), strings=50)
    assert not result.ok
    assert any("not in the file" in str(example.found) for example in result.examples)


def test_whispercpp_takes_the_longest_token_of_a_word() -> None:
    runtime = TARGETS["whisper.cpp"].runtime(golden("whisper.cpp"), {})
    # BPE merges "t" and "h" before "de" and "ti", and the longest token is another one.
    assert runtime.encode(" tideé  in") == ids("Ġtide", "Ã", "©", "Ġ", "Ġ", "in")
    assert runtime.encode("ferry") == ids("f", "er", "r", "y")
    assert runtime.decode([*ids("Ġferry"), 10_000]) == b" ferry"


def test_ranks_with_their_pattern_are_exact(sources: tuple[Path, Path]) -> None:
    options = {"pattern": GOLDEN.PATTERN, "special_tokens": {"<|endoftext|>": 269, "<|user|>": 270}}
    runtime = TARGETS["tiktoken"].runtime(golden("tiktoken"), options)
    reference = reference_for(sources[0])
    for text in ("the ferry  in the tide\n\n1234<|user|>", "", " fér  "):
        assert runtime.encode(text) == reference.encode(text, True)


def test_the_command_exits_with_1_and_shows_examples(
    run: Run, sources: tuple[Path, Path], tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the ferry\n\nin the tide\u00df\n", encoding="utf-8")
    file = tmp_path / "tokenizer.bin"
    outcome = run("convert", sources[1], "--to", "llama2.c", "-o", file)
    assert outcome.code == 0
    assert "warning: other ids with a role" in outcome.stderr
    verify = ("verify", file, "--as", "llama2.c", "--against", sources[1], "--strings", 0, "--text")
    verified = run(*verify, text)
    assert verified.code == 1
    assert "decode                 2  1 differ" in verified.text
    result = run(*verify, text, "--json").values
    assert result["counts"] == {"encode lines of files": 2, "decode": 2}
    assert result["examples"][0]["expected"] == "in the tide\u00df"
    text.write_text("the ferry\n", encoding="utf-8")
    assert run(*verify, text, "-q").code == 0
