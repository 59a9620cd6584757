r"""A group of one character that is referred to right after it, as in ``(.)\1+``, finds what the
engines find.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import spec_encoder
import spec_reader
from regex_oracle import assert_matches_of_fancy_regex, assert_pieces_of_oniguruma, random_texts
from repository import SLOW
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from tokexport.errors import UnsupportedError
from tokexport.file.write import write
from tokexport.model import Split
from tokexport.patterns import compile_split
from tokexport.runtime.tokenizer import load
from tokexport.sources import read

TEXTS = 1000 if SLOW else 12
ALPHABETS = ("abc", "ab !", "aab", "é中中a!!")
PATTERNS = [
    *(
        r"(.)\1+",
        r"(\W)\1*",
        r"(\w)\1{2,}|.",
        r"([^\w\s])\1*|\w+",
        r"(.)(?!\1)",
        r"(?<q>.)\k<q>",
        r"([^a])(?:\1\1)+b?",
    ),
    *(
        r"a(.)\1|.",
        r"(.)\1*+.",
        r"(?=(.)\1)a|b",
        r"(?:(.)\1|a)+",
        r"(.)(\1|\1\1)b|.",
        r"(\W)\1(?=.*a)|.",
        r"(.)$\1|(.)\2",
    ),
]


def random_pattern(r: random.Random) -> str:
    def reference(depth: int) -> str:
        kind = r.random()
        if kind < 0.5 or not depth:
            return r"\1" + r.choice(["", "*", "+", "?", "{2}", "{1,3}", "+?", "??", "++"])
        if kind < 0.75:
            return r.choice([r"(?=\1)", r"(?!\1)", r"(?!\1\1)", r"(?=\1+b)"])
        if kind < 0.9:
            return f"(?:{reference(0)}|{reference(0)})"
        return f"(?:{reference(0)}{reference(0)})"

    group = r.choice([".", r"\w", r"\W", "[^ab]", r"\p{L}", r"[\p{P}\p{S}]"])
    start, end = (
        r.choice(["", "a", "[ab]*", r"\s?", "(?<!a)"]),
        r.choice(["", "a", "b+", ".", "$", "|a", "|.", r"|\w+"]),
    )
    return f"{start}({group})" + "".join(reference(1) for _ in range(r.choice([1, 1, 2]))) + end


RANDOM = [random_pattern(random.Random(seed)) for seed in range(1000 if SLOW else 40)]


@pytest.mark.parametrize("pattern", [*PATTERNS, *RANDOM])
def test_the_pieces_are_those_of_oniguruma(pattern: str) -> None:
    assert_pieces_of_oniguruma(pattern, ALPHABETS, TEXTS, longest=16)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_matches_are_those_of_fancy_regex(pattern: str) -> None:
    assert_matches_of_fancy_regex(pattern, ALPHABETS, TEXTS, longest=12)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("kind", ["characters", "bytes", "normalizer"])
def test_a_file_gives_the_ids_of_the_library(pattern: str, kind: str, tmp_path: Path) -> None:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    few = [*"ab!Ġ", "Ã", "©"]
    merges = [(left, right) for left in few for right in few]
    vocab = {
        token: number
        for number, token in enumerate([*letters, *(left + right for left, right in merges)])
    }
    library = Tokenizer(models.BPE(vocab, merges))
    mapped = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    steps = {"characters": [split, mapped], "bytes": [mapped, split], "normalizer": [mapped]}[kind]
    library.pre_tokenizer = pre_tokenizers.Sequence(steps)
    library.decoder = decoders.ByteLevel()
    if kind == "normalizer":
        library.normalizer = normalizers.Replace(Regex(pattern), "ab")
    path = tmp_path / "tokenizer.json"
    path.write_text(library.to_str(), "utf-8")
    data = write(read(path))
    subject, by_specification = load(data), spec_reader.open_file(data)
    for alphabet in ALPHABETS:
        for text in random_texts(alphabet, TEXTS, longest=30):
            expected = library.encode(text).ids
            assert subject.encode(text) == expected, text
            assert spec_encoder.encode(by_specification, text.encode()) == expected, text
    for text in ("a" * 20_000, "ab" * 10_000, "é! " * 5_000):
        assert subject.encode(text) == library.encode(text).ids


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"(.)a\1", "a reference to a group at offset 4"),
        (r"(..)\1", "a reference to a group at offset 4"),
        (r"(.)\1a?\1", "a reference to a group at offset 3"),
        (r"(?<=(.)\1)a", "a reference to a group in a lookbehind at offset 7"),
        (r"(?i)(.)\1", "a reference to a group at offset 7"),
    ],
)
def test_what_two_neighbours_cannot_tell_is_refused(pattern: str, found: str) -> None:
    with pytest.raises(UnsupportedError, match=f"with {found} is not supported"):
        compile_split(Split(pattern))
