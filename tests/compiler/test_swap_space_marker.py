"""Swapping spaces and U+2581 makes an equivalent tokenizer, or is omitted."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import json_parts
import pytest
from bare_models import merge_rows, tokenizer_model
from compared import Compared
from hypothesis import given, settings
from hypothesis import strategies as st
from json_parts import digits, metaspace, normalizers, pre_tokenizers, split
from parts.cases import document
from reader_samples import added
from repository import SLOW

from tokexport.compiler.passes.swap_space_marker import swap_space_marker
from tokexport.conversion import file_bytes
from tokexport.model import (
    AddedToken,
    Behavior,
    BytePairModel,
    CharacterSymbols,
    CharacterTest,
    NormalForm,
    NormalizerStep,
    Prepend,
    PreTokenizerStep,
    Replace,
    Split,
    Token,
    TokenizerModel,
)
from tokexport.runtime.tokenizer import load
from tokexport.sources import read

MARK = "\u2581"
REPLACE = json_parts.replace(" ", MARK)
PREPEND = {"type": "Prepend", "prepend": MARK}
METASPACE = metaspace()
# Normalizers and pre-tokenizers of Llama-2, Gemma-3, Metaspace, and with steps after these.
PARTS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "llama": ([PREPEND, REPLACE], []),
    "gemma": ([REPLACE], [split(" ", "MergedWithPrevious", kind="String")]),
    "metaspace": ([], [METASPACE]),
    "first": ([], [{**METASPACE, "prepend_scheme": "first", "split": False}]),
    "digits": ([REPLACE], [digits()]),
    "twice": ([REPLACE, json_parts.replace(MARK + "a", " b"), PREPEND], [METASPACE]),
    "spaces split": ([], [{"type": "WhitespaceSplit"}, METASPACE]),
    "white space after": ([REPLACE], [{"type": "WhitespaceSplit"}]),
    "compatibility": ([REPLACE, {"type": "NFKC"}], []),
    "words after": ([REPLACE], [split(r"\S+")]),
}
# Here an underscore is a mark.
PAIRS = ("_|a", "_|_", "a|b", "_a|b", "a|_", " |a", ".|_")
MERGES = [pair.replace("_", MARK) for pair in PAIRS]
TOKENS = ["<unk>", *"ab12 .\n", MARK, *(merge.replace("|", "") for merge in MERGES), "a b"]


def source(name: str, **fields: Any) -> dict[str, Any]:
    steps, words = PARTS[name]
    model = {
        "type": "BPE",
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": False,
        "vocab": {token: number for number, token in enumerate(TOKENS)},
        "merges": [merge.split("|") for merge in MERGES],
    }
    parts = {"normalizer": normalizers(*steps), "pre_tokenizer": pre_tokenizers(*words)}
    return document(model, **parts, decoder=json_parts.replace(MARK, " "), **fields)


def read_only(name: str, folder: Path) -> TokenizerModel:
    """The model before any pass of the compiler."""
    (folder / "tokenizer.json").write_text(json.dumps(source(name)), encoding="utf-8")
    return read(folder)


TEXTS = st.lists(
    st.sampled_from([*TOKENS[1:], "  ", "\u00a0", "\u3000", "\u00b4", "x", "<m>", MARK + "<m>"]),
    max_size=12,
).map("".join)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("strips", [False, True])
def test_the_ids_equal_those_of_the_reference(name: str, strips: bool, tmp_path: Path) -> None:
    tokens = [
        added("<m>", len(TOKENS), normalized=True, lstrip=strips, rstrip=strips),
        added("b 1", len(TOKENS) + 1, normalized=True),
        added("2" + MARK, len(TOKENS) + 2, normalized=False, lstrip=strips),
    ]
    readers = Compared(source(name, added_tokens=tokens), tmp_path)

    @settings(max_examples=300 if SLOW else 100)
    @given(text=TEXTS)
    def check(text: str) -> None:
        assert readers.check(text, slow=False)

    check()


@pytest.mark.parametrize("name", PARTS)
def test_spaces_remain_spaces_unless_a_step_distinguishes_them_from_the_mark(
    name: str, tmp_path: Path
) -> None:
    model = read_only(name, tmp_path)
    swapped = swap_space_marker(model)
    if name in ("white space after", "compatibility", "words after"):
        assert swapped is model
    else:
        assert swapped.model.vocab[b" ab"] == model.model.vocab[(MARK + "ab").encode()]
        assert swapped.tokens == model.tokens


def small(
    normalizer: tuple[NormalizerStep, ...] = (),
    splits: tuple[PreTokenizerStep, ...] = (),
    **fields: Any,
) -> TokenizerModel:
    vocab = {b" ": 0, MARK.encode(): 1, b"a": 2}
    characters, unk_id = CharacterSymbols(**fields.pop("characters", {})), fields.pop("unk_id", 2)
    model = BytePairModel(vocab, merge_rows(), unk_id=unk_id, characters=characters)
    return tokenizer_model(vocab, model, normalizer=normalizer, pre_tokenizer=splits, **fields)


def test_every_step_after_the_replacement_is_changed() -> None:
    model = small(
        (Prepend(MARK), Replace(" ", MARK), Replace(MARK * 2, " ")),
        (
            Split(" ", Behavior.REMOVED),
            Prepend(MARK, unless_present=True),
            Split(CharacterTest.NUMERIC),
        ),
    )
    swapped = swap_space_marker(model)
    assert swapped.normalizer == (Prepend(" "), Replace(MARK, " "), Replace("  ", MARK))
    assert swapped.pre_tokenizer == (
        Split(MARK, Behavior.REMOVED),
        Prepend(" ", unless_present=True),
        Split(CharacterTest.NUMERIC),
    )
    assert swapped.model.vocab == {MARK.encode(): 0, b" ": 1, b"a": 2}
    assert swap_space_marker(swapped) is swapped


def test_a_mark_that_is_added_only_if_absent_is_unchanged() -> None:
    swapped = swap_space_marker(small((Prepend(MARK, unless_present=True), Replace(" ", MARK))))
    assert swapped.normalizer == (Prepend(MARK, unless_present=True), Replace(MARK, " "))


def test_an_added_token_with_verbatim_content_is_also_changed() -> None:
    tokens = (
        AddedToken(3, MARK + "b", normalized=True, verbatim=True),
        AddedToken(4, MARK + "c", normalized=True),
    )
    model = small((Replace(" ", MARK),), added_tokens=tokens)
    model = replace(model, tokens=(*model.tokens, Token(b" b"), Token(b" c")))
    assert [token.content for token in swap_space_marker(model).added_tokens] == [" b", MARK + "c"]
    tokenizer = load(file_bytes(model))
    assert tokenizer.encode("a b ca") == [2, 3, 4, 2]
    assert tokenizer.encode(f"a{MARK}b a") == [2, 3, 1, 2]


MARKED = (Replace(" ", MARK),)


@pytest.mark.parametrize(
    "model",
    [
        small((Replace(" ", "_"),)),
        small((Replace(" ", MARK, literal=False),)),
        small((*MARKED, NormalForm.NFKD)),
        small(MARKED, (Split(r"\s"),)),
        small(MARKED, (Split("a|b"),)),
        small(MARKED, (Split(CharacterTest.WHITESPACE),)),
        small(MARKED, added_tokens=(AddedToken(2, "a", lstrip=True, normalized=True),)),
        small(MARKED, characters={"suffix": b"</w>"}),
        small(MARKED, characters={"of_bytes": True}),
        # In the reference, a dropped character moves spans by its bytes; the mark has three.
        small(MARKED, unk_id=None),
    ],
)
def test_the_change_is_omitted_if_it_might_change_an_id(model: TokenizerModel) -> None:
    assert swap_space_marker(model) is model


def test_a_mark_that_becomes_bytes_remains_a_mark() -> None:
    vocab = {b"a": 0, b" ": 1}
    bpe = BytePairModel(vocab, merge_rows(), characters=CharacterSymbols(byte_ids=(0,) * 256))
    model = tokenizer_model(vocab, bpe, normalizer=MARKED)
    assert swap_space_marker(model) is model
