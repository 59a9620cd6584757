"""`run_train_bpe` follows the rules of the assignment: special tokens divide the text, and the
greatest of the most frequent pairs is merged.
"""

import random
import re
from pathlib import Path

import pytest
from cs336_trainer import slowly_learned
from hypothesis import example, given
from hypothesis import strategies as st

from tokexport import cs336
from tokexport.cs336 import run_train_bpe
from tokexport.errors import SourceError, TokexportError

END, PAIR = "<|end|>", "<|end|><|end|>"
TEXTS = st.sampled_from(
    [END, PAIR, "<|", "end", "|>", "a", "aa", "ab ", "b\n", " the", "é", "日本", "12", "'s", "\r\n"]
)


@pytest.mark.parametrize("special", [[], [END], [END, PAIR]], ids=len)
def test_the_result_equals_that_of_recounting(
    special: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text.txt"

    @given(texts=st.lists(TEXTS, min_size=1), part=st.integers(1, 20))
    @example(texts=["aa", "aa", END, PAIR, END, "aa"], part=3)
    @example(texts=["the quick", "<|en", END, END, END, "d|>"], part=1)
    def compare(texts: list[str], part: int) -> None:
        text = "".join(texts)
        if not re.sub("|".join(map(re.escape, special)) or "$^", "", text):
            return
        path.write_bytes(text.encode())
        monkeypatch.setattr(cs336, "PART", part)
        size = 256 + len(special) + 8
        assert run_train_bpe(path, size, special) == slowly_learned(text, size, special)

    compare()


def test_a_longer_text_in_parts_is_learned_like_the_whole(tmp_path: Path) -> None:
    generator = random.Random(336)
    syllables = ["wal", "tal", "king", "ed", "été", "ми", "ры", "the", "日本", "an"]
    words = ["".join(generator.choices(syllables, k=generator.randint(1, 4))) for _ in range(200)]
    text = "".join(f" {word}{END * (n % 9 == 0)}" for n, word in enumerate(words * 10))
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    vocab, merges = run_train_bpe(path, 320, [END], num_threads=2)
    assert (vocab, merges) == slowly_learned(text, 320, [END])
    assert len(merges) == 320 - 257
    assert not any(b"<|" in token for token in vocab.values() if token != END.encode())


def test_special_tokens_have_the_first_ids(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"aa")
    vocab, merges = run_train_bpe(path, 259, [END, PAIR])
    assert (vocab[0], vocab[1], vocab[2]) == (END.encode(), PAIR.encode(), b"\0")
    assert (vocab[258], merges) == (b"aa", [(b"a", b"a")])


@pytest.mark.parametrize(
    ("data", "size", "error", "message"),
    [
        (b"a\xff", 300, SourceError, r"text\.txt: not UTF-8 at byte 1; convert it to UTF-8"),
        (b"a\xe2", 300, SourceError, r"text\.txt: not UTF-8 at byte 1; convert it to UTF-8"),
        (b"", 300, TokexportError, "nothing to learn from"),
        (b"<|end|>", 300, TokexportError, "nothing to learn from"),
        (b"a", 256, TokexportError, "a vocabulary of 256 is too small"),
    ],
)
def test_invalid_input_is_refused(
    data: bytes, size: int, error: type[TokexportError], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(data)
    with pytest.raises(error, match=message):
        run_train_bpe(path, size, [END])
