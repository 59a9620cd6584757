"""A word that was seen before has the ids that it had the first time, however it is split after
the first stage.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from tokexport.conversion import Options, file_bytes
from tokexport.runtime.tokenizer import load
from tokexport.sources import read

MARK = "\u2581"
SPLIT_WORDS = {"type": "WhitespaceSplit"}
METASPACE = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always", "split": True}
# What rewrites words or joins their parts: then words are looked up before they are split.
STAGES: dict[str, list[dict[str, Any]]] = {
    "metaspace": [SPLIT_WORDS, METASPACE],
    "first": [SPLIT_WORDS, {**METASPACE, "prepend_scheme": "first"}],
    "digits": [SPLIT_WORDS, METASPACE, {"type": "Digits", "individual_digits": True}],
    "joined": [
        SPLIT_WORDS,
        {
            "type": "Split",
            "pattern": {"Regex": "[ab]"},
            "behavior": "MergedWithNext",
            "invert": False,
        },
    ],
    "look-ahead": [
        SPLIT_WORDS,
        {
            "type": "Split",
            "pattern": {"Regex": "a(?=.*1)"},
            "behavior": "Isolated",
            "invert": False,
        },
    ],
}
PIECES = ["a", "b", "1", "中", MARK, "ab", "ba", MARK + "a", MARK + "ab", "b1", "中a", "aa", "1a"]


def source(name: str) -> dict[str, Any]:
    """A Unigram tokenizer with these stages."""
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": STAGES[name]},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "Unigram",
            "unk_id": 0,
            "vocab": [
                ["<unk>", 0.0],
                *([piece, -1.0 - 0.37 * number] for number, piece in enumerate(PIECES)),
            ],
        },
    }


@pytest.mark.parametrize("name", STAGES)
def test_a_word_has_the_same_ids_every_time(name: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(source(name)), "utf-8")
    reference, tokenizer = Tokenizer.from_file(str(path)), load(file_bytes(read(path), Options()))
    # Few and short words, so that they come again; long ones that no cache takes; some that are
    # pieces of others.
    word = st.text("ab1中" + MARK + "x", min_size=1, max_size=5) | st.text(
        "ab1", min_size=28, max_size=34
    )

    @given(words=st.lists(word, max_size=12), spaces=st.sampled_from([" ", "  ", "\n", "\u3000"]))
    def same(words: list[str], spaces: str) -> None:
        text = spaces.join(words)
        for _ in range(2):
            assert tokenizer.encode(text) == reference.encode(text).ids

    same()
