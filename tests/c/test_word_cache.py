"""A repeated word has the ids of its first occurrence, however later stages split it."""

from pathlib import Path
from typing import Any

import pytest
from compared import Compared
from hypothesis import given
from hypothesis import strategies as st
from json_parts import digits, metaspace, pre_tokenizers, split
from parts.cases import document

MARK = "\u2581"
SPLIT_WORDS = {"type": "WhitespaceSplit"}
METASPACE = metaspace()
# Stages that rewrite words or join their parts: then words are looked up before they are split.
STAGES: dict[str, list[dict[str, Any]]] = {
    "metaspace": [SPLIT_WORDS, METASPACE],
    "first": [SPLIT_WORDS, {**METASPACE, "prepend_scheme": "first"}],
    "digits": [SPLIT_WORDS, METASPACE, digits()],
    "joined": [SPLIT_WORDS, split("[ab]", "MergedWithNext")],
    "look-ahead": [SPLIT_WORDS, split("a(?=.*1)")],
}
PIECES = ["a", "b", "1", "中", MARK, "ab", "ba", MARK + "a", MARK + "ab", "b1", "中a", "aa", "1a"]


def source(name: str) -> dict[str, Any]:
    """A Unigram tokenizer with these stages."""
    pieces = ([piece, -1.0 - 0.37 * number] for number, piece in enumerate(PIECES))
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], *pieces]}
    return document(model, pre_tokenizer=pre_tokenizers(*STAGES[name]))


@pytest.mark.parametrize("name", STAGES)
def test_a_word_always_has_the_same_ids(name: str, tmp_path: Path) -> None:
    readers = Compared(source(name), tmp_path)
    # Short words that recur, long ones that are not cached, and parts of others.
    word = st.text("ab1中" + MARK + "x", min_size=1, max_size=5) | st.text(
        "ab1", min_size=28, max_size=34
    )

    @given(words=st.lists(word, max_size=12), spaces=st.sampled_from([" ", "  ", "\n", "\u3000"]))
    def check(words: list[str], spaces: str) -> None:
        for _ in range(2):
            assert readers.check(spaces.join(words), slow=False)

    check()
