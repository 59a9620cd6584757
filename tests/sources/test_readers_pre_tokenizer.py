"""The splits of a model cut a text as the reference's pre-tokenizer does, whatever kinds it is made
of.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import regex
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from reader_samples import BYTE_LEVEL, byte_characters, document, read_document
from repository import SLOW
from tokenizers import pre_tokenizers

from tokexport.errors import SourceError
from tokexport.model import (
    Behavior,
    CharacterTest,
    Dialect,
    Prepend,
    PreTokenizerStep,
    Replace,
    Split,
)

ALPHABET = byte_characters()
BEHAVIORS = [behavior.value for behavior in Behavior]
TEXT = st.text(alphabet="ab1٣½²'.,-!?_ \t\n\u00a0\u3000éß中。¿«", max_size=12)
PATTERNS = [r"\d+", r"[a-b]+|\s", r"\s+(?!\S)", r"a\.b|-", r"\p{P}", r"[^\s]"]
STRINGS = ["a", ".", "-", "a.b", "(", "é", " ", "1+", "#", "&~"]


def split(pattern: dict[str, str], behavior: str, invert: bool) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


PARTS = st.one_of(
    st.builds(
        split,
        st.one_of(
            st.sampled_from(PATTERNS).map(lambda text: {"Regex": text}),
            st.sampled_from(STRINGS).map(lambda text: {"String": text}),
        ),
        st.sampled_from(BEHAVIORS),
        st.booleans(),
    ),
    st.sampled_from(
        [
            {"type": "Digits", "individual_digits": True},
            {"type": "Digits", "individual_digits": False},
            {"type": "Punctuation"},
            {"type": "Whitespace"},
            {"type": "WhitespaceSplit"},
            {"type": "BertPreTokenizer"},
            {"type": "FixedLength"},
            {"type": "FixedLength", "length": 2},
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": False},
        ]
    ),
    st.sampled_from(BEHAVIORS).map(lambda name: {"type": "Punctuation", "behavior": name}),
    st.sampled_from("-. a").map(
        lambda character: {"type": "CharDelimiterSplit", "delimiter": character}
    ),
)


def pieces_of(split: Split, text: str) -> list[str]:
    """Cut one piece by one stage with the slowest means: each stage alone in the reference, or a
    pattern that says the same.
    """
    pattern: Any
    if isinstance(split.pattern, CharacterTest):
        own = {
            CharacterTest.NUMERIC: r"\p{N}",
            CharacterTest.PUNCTUATION: r"[\p{P}$+<=>^`|~]",
            CharacterTest.WHITESPACE: r"\s",
        }
        pattern = own[split.pattern]
    else:
        pattern = split.pattern
    if split.dialect is Dialect.FANCY_REGEX:
        assert split.behavior is Behavior.REMOVED
        assert split.invert
        return [match.group() for match in regex.finditer(pattern, text)]
    names = {
        Behavior.ISOLATED: "isolated",
        Behavior.REMOVED: "removed",
        Behavior.MERGED_WITH_PREVIOUS: "merged_with_previous",
        Behavior.MERGED_WITH_NEXT: "merged_with_next",
        Behavior.CONTIGUOUS: "contiguous",
    }
    stage = pre_tokenizers.Split(tokenizers.Regex(pattern), names[split.behavior], split.invert)
    return [piece for piece, _ in stage.pre_tokenize_str(text)]


def cut(steps: tuple[PreTokenizerStep, ...], text: str) -> list[str]:
    """Run the stages one inside the pieces of the other and map the bytes where the first stage on
    bytes stands, or at the end.
    """
    pieces, mapped = [text] if text else [], False
    for number, stage in enumerate(steps):
        if isinstance(stage, Replace):
            pieces = [piece.replace(stage.pattern, stage.content) for piece in pieces]
            continue
        if isinstance(stage, Prepend):
            # Only the first piece begins where the text begins.
            pieces = [
                stage.content + piece
                if not piece.startswith(stage.content)
                and not (stage.only_first and (index or number > 1))
                else piece
                for index, piece in enumerate(pieces)
            ]
            continue
        assert isinstance(stage, Split)
        if stage.on_bytes and not mapped:
            pieces, mapped = [map_bytes(piece) for piece in pieces], True
        pieces = [piece for whole in pieces for piece in pieces_of(stage, whole) if piece]
    return [
        piece for piece in (pieces if mapped else [map_bytes(piece) for piece in pieces]) if piece
    ]


def map_bytes(text: str) -> str:
    return "".join(ALPHABET[byte] for byte in text.encode("utf-8"))


def reference_cut(pre_tokenizer: Any, text: str) -> list[str]:
    theirs = tokenizers.Tokenizer.from_str(
        json.dumps(document(pre_tokenizer=pre_tokenizer))
    ).pre_tokenizer
    return [piece for piece, _ in theirs.pre_tokenize_str(text)]


@settings(max_examples=600 if SLOW else 200)
@given(
    before=st.lists(PARTS, max_size=2),
    after=st.lists(PARTS, max_size=2),
    use_regex=st.booleans(),
    prefix=st.booleans(),
    nested=st.booleans(),
    texts=st.lists(TEXT, min_size=3, max_size=3),
)
def test_a_sequence_is_cut_as_the_reference_cuts_it(
    before: list[Any],
    after: list[Any],
    use_regex: bool,
    prefix: bool,
    nested: bool,
    texts: list[str],
    tmp_path: Path,
) -> None:
    after = [part for part in after if part["type"] != "Metaspace"]
    parts = [*before, BYTE_LEVEL | {"use_regex": use_regex, "add_prefix_space": prefix}, *after]
    if nested:
        parts = [
            {"type": "Sequence", "pretokenizers": parts[:1]},
            {"type": "Sequence", "pretokenizers": []},
            *parts[1:],
        ]
    fields = {"type": "Sequence", "pretokenizers": parts}
    model = read_document(document(pre_tokenizer=fields), tmp_path)
    for text in texts:
        assert cut(model.pre_tokenizer, text) == reference_cut(fields, text)


@pytest.mark.parametrize("text", ["", "a b", " a", "é", "\n"])
def test_a_prefix_space_is_added_where_byte_level_is_first(text: str, tmp_path: Path) -> None:
    fields = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Sequence", "pretokenizers": []},
            BYTE_LEVEL | {"add_prefix_space": True},
        ],
    }
    model = read_document(document(pre_tokenizer=fields), tmp_path)
    assert model.pre_tokenizer[0] == Prepend(" ", unless_present=True)
    assert cut(model.pre_tokenizer, text) == reference_cut(fields, text)


def test_use_regex_is_true_where_it_is_absent(tmp_path: Path) -> None:
    fields = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    model = read_document(document(pre_tokenizer=fields), tmp_path)
    assert (
        cut(model.pre_tokenizer, "it's 12")
        == reference_cut(fields, "it's 12")
        == ["it", "'s", "Ġ12"]
    )


def test_behind_a_byte_level_normalizer_every_split_is_on_bytes(tmp_path: Path) -> None:
    fields = {"type": "Digits", "individual_digits": True}
    model = read_document(
        document(pre_tokenizer=fields, normalizer={"type": "ByteLevel"}), tmp_path
    )
    assert [getattr(stage, "on_bytes", None) for stage in model.pre_tokenizer] == [True]


def test_falcons_splits_stand_in_order_and_the_last_two_are_on_bytes(tmp_path: Path) -> None:
    fields = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Punctuation", "behavior": "Contiguous"},
            BYTE_LEVEL,
            {"type": "Digits", "individual_digits": False},
            split({"Regex": "[0-9][0-9][0-9]"}, "Isolated", False),
        ],
    }
    model = read_document(document(pre_tokenizer=fields), tmp_path)
    on_bytes = [getattr(stage, "on_bytes", None) for stage in model.pre_tokenizer]
    assert on_bytes == [False, False, True, True]
    assert model.pre_tokenizer[2] == Split(
        CharacterTest.NUMERIC,
        Behavior.CONTIGUOUS,
        on_bytes=True,
        path="pre_tokenizer.pretokenizers[2]",
    )
    text = "a!? 12345²½ b"
    assert cut(model.pre_tokenizer, text) == reference_cut(fields, text)


@pytest.mark.parametrize(
    ("fields", "error", "path"),
    [
        (
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "most"},
            SourceError,
            "prepend_scheme",
        ),
        (
            {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False},
            SourceError,
            '"never"',
        ),
        ({"type": "Metaspace", "replacement": "__"}, SourceError, "replacement"),
        ({"type": "Metaspace"}, SourceError, "replacement"),
        ({"type": "ByteLevel"}, SourceError, "add_prefix_space"),
        ({"type": "Digits"}, SourceError, "individual_digits"),
        ({"type": "FixedLength", "length": 0}, SourceError, "length is 0"),
        ({"type": "CharDelimiterSplit", "delimiter": "ab"}, SourceError, "delimiter"),
        (split({"Regex": "a", "String": "a"}, "Isolated", False), SourceError, "pattern"),
        (split({"Regex": "a"}, "isolated", False), SourceError, "behavior"),
    ],
)
def test_what_cannot_be_exact_is_refused_with_its_path(
    fields: Any, error: type, path: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=path):
        read_document(document(pre_tokenizer=fields), tmp_path)
