"""Special tokens are treated in texts as by other trainers, and get the requested ids."""

import re
from pathlib import Path

import pytest
from command_line import Run
from cs336_trainer import slowly_learned
from hypothesis import given
from hypothesis import strategies as st
from peer_trainers import merges_of, tokenizers_model

import tokexport
from tokexport.errors import TokexportError
from tokexport.model.byte_alphabet import to_bytes
from tokexport.sources.patterns import GPT2
from tokexport.training import WordCounts, train_from_iterator

END, EOT = "<|end|>", "<|end|><|eot|>"  # the shorter one is a prefix of the longer one
SMALL = r" ?\p{L}+|\P{L}"
SCRIPTS = "english/taylorswift.txt japanese/wagahaiwa_nekodearu.txt korean/ChatbotData.csv"


@pytest.fixture(scope="module", params=SCRIPTS.split())
def text(request: pytest.FixtureRequest, shared: Path) -> str:
    """Some documents with special tokens between them, and within words."""
    lines = (shared / "corpora" / request.param).read_text(encoding="utf-8")[:25_000].splitlines()
    return "".join(
        line[: len(line) // 2]
        + (END if number % 5 else EOT) * (number % 3)
        + line[len(line) // 2 :]
        for number, line in enumerate(lines)
    )


def test_texts_are_cut_at_special_tokens_as_in_cs336(text: str) -> None:
    for parts in ([text], [iter([text[at : at + 997] for at in range(0, len(text), 997)])]):
        trained = train_from_iterator(
            parts, 288, pattern="gpt2", special_tokens=[END, EOT], split_special=True,
            tie_break="greatest-bytes",
        )  # fmt: skip
        _, merges = slowly_learned(text, 288, [EOT, END])
        assert [(merge.left, merge.right) for merge in trained.merges] == merges


def test_special_tokens_are_plain_text_as_in_tokenizers(text: str) -> None:
    model = tokenizers_model([text], 700, GPT2, special_tokens=[END, EOT])
    ours = train_from_iterator(
        [text], 700, pattern="gpt2", special_tokens={END: 0, EOT: 1}, tie_break="lowest-gpt2-ids"
    )
    assert [(merge.left, merge.right) for merge in ours.merges] == merges_of(model)
    # Learned tokens have the same ids in both; bytes have another order in tokenizers.
    ids = {to_bytes(token): id for token, id in model["vocab"].items() if id >= 258}
    assert {token: id for token, id in ours.ranks.items() if id >= 258} == ids
    assert [model["vocab"][name] for name in (END, EOT)] == [*ours.special_tokens.values()]


@given(
    st.lists(st.text(st.sampled_from("ab <|>end"), max_size=30), max_size=4),
    st.lists(st.text(st.sampled_from("ab <|>"), min_size=1, max_size=4), min_size=1, unique=True),
    st.integers(1, 5),
)
def test_a_text_in_parts_is_cut_like_the_whole(
    texts: list[str], special_tokens: list[str], size: int
) -> None:
    longest_first = sorted(special_tokens, key=len, reverse=True)
    expression = re.compile("|".join(map(re.escape, longest_first)))
    expected = WordCounts(SMALL)
    expected.add(part for text in texts for part in expression.split(text))
    for parts in (
        texts,
        [iter([text[at : at + size] for at in range(0, len(text), size)]) for text in texts],
    ):
        counts = WordCounts(SMALL, special_tokens)
        counts.add(parts)
        assert [*counts.items()] == [*expected.items()]


def test_special_tokens_have_the_requested_ids(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low lower lowest " * 3 + "\n")
    common = ["train", tmp_path / "a.txt", "--vocab-size", 262, "-o", tmp_path / "out", "--force"]
    values = run(*common, "--special-id", END, 0, "--special-id", "<|eot|>", 258, "--json").values
    assert values["special_tokens"] == {END: 0, "<|eot|>": 258}
    ours = tokexport.load(tmp_path / "out" / "tokenizer.bin")
    assert ours.encode(f"{END}low<|eot|>", allowed_special="all") == [0, 259, 258]
    for options, words in [
        (["--special-id", END, 262], "the id 262 of .* is out of range"),
        (["--special-id", END, 3, "--special-id", EOT, 3], "is that of '<|end|>'"),
        (["--special-id", END, 3, "--special-token", EOT], "all with --special-id or all with"),
        (["--special-id", END, 3, "--special-id", END, 4], "give each special token once"),
    ]:
        assert re.search(words.replace("|", r"\|"), run(*common, *options).refusal)
    with pytest.raises(TokexportError, match="would be holes; use a vocabulary of 258"):
        train_from_iterator(["ab"], 1000, special_tokens={"<|end|>": 999})


def test_a_special_token_that_is_a_word_of_the_texts_is_refused() -> None:
    """In tokenizers, it gets the id of the learned token."""
    for name in ("low", "Ġlow", "a"):
        with pytest.raises(TokexportError, match=f"{name}' is also the spelling of"):
            train_from_iterator(["low low low"], 260, special_tokens=[name])
    assert train_from_iterator(["low low low"], 260, special_tokens=["lowest"]).special_tokens


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("count", "--special-token"),
        ("count", "--pattern"),
        ("train", "--special-token"),
        ("train", "--special-id"),
        ("train", "--stop"),
        ("tokenize", "--begin"),
        ("tokenize", "--end"),
        ("tokenize", "--field"),
    ],
)
def test_an_option_that_is_not_utf8_is_refused_at_once(
    run: Run, tmp_path: Path, command: str, option: str
) -> None:
    """Python gives such bytes to a program as lone surrogates."""
    (tmp_path / "a.txt").write_text("low lower")
    trained = train_from_iterator(["low lower"], 257)
    (tmp_path / "t.bin").write_bytes(trained.to_bytes())
    inputs = [*([tmp_path / "t.bin"] if command == "tokenize" else []), tmp_path / "a.txt"]
    size = ["--vocab-size", 260] if command == "train" else []
    values = ["<\udcff>", *([5] if option == "--special-id" else [])]
    refused = run(command, *inputs, *size, "-o", tmp_path / "out", option, *values)
    assert f"Invalid value for '{option}': the value is not UTF-8" in refused.refusal
    assert not (tmp_path / "out").exists()
