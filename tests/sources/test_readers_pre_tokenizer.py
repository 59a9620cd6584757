"""The splits of a model cut a text like the reference's pre-tokenizer, whatever its kind."""

from pathlib import Path
from typing import Any

import pytest
from compared import Compared, merged
from hypothesis import given, settings
from hypothesis import strategies as st
from json_parts import digits, metaspace, pre_tokenizers, split
from reader_samples import BYTE_LEVEL, document, read_document
from repository import SLOW

from tokexport.errors import SourceError
from tokexport.model import Behavior

BEHAVIORS = [behavior.value for behavior in Behavior]
LETTERS = "ab1٣½²'.,-!?_ \t\n\u00a0\u3000éß中。¿«\u2581"
TEXT = st.text(alphabet=LETTERS[:-1], max_size=12)
PATTERNS = [r"\d+", r"[a-b]+|\s", r"\s+(?!\S)", r"a\.b|-", r"\p{P}", r"[^\s]"]
STRINGS = ["a", ".", "-", "a.b", "(", "é", " ", "1+", "#", "&~"]
KINDS = [
    *(digits(), digits(False), metaspace(), metaspace("never", False)),
    *({"type": name} for name in ("Punctuation", "Whitespace", "WhitespaceSplit")),
    *({"type": "BertPreTokenizer"}, {"type": "FixedLength"}, {"type": "FixedLength", "length": 2}),
]
PARTS = st.one_of(
    *(
        st.builds(
            split,
            st.sampled_from(texts),
            st.sampled_from(BEHAVIORS),
            kind=st.just(kind),
            invert=st.booleans(),
        )
        for kind, texts in (("Regex", PATTERNS), ("String", STRINGS))
    ),
    st.sampled_from(KINDS),
    st.sampled_from([{"type": "Punctuation", "behavior": name} for name in BEHAVIORS]),
    st.sampled_from([{"type": "CharDelimiterSplit", "delimiter": letter} for letter in "-. a"]),
)


def compared(pre_tokenizer: Any, folder: Path) -> Compared:
    """The reference and the readers of the file, with a model that shows where pre-tokens end."""
    return Compared(document(pre_tokenizer=pre_tokenizer, model=merged(LETTERS)), folder)


@pytest.mark.parametrize("part", KINDS, ids=str)
def test_each_kind_alone_cuts_like_the_reference(part: Any, tmp_path: Path) -> None:
    readers = compared(pre_tokenizers(part, BYTE_LEVEL | {"use_regex": False}), tmp_path)
    assert readers.check("ab 12², a.b!\tb\u30001é。中 -_?b1a ab ")


LEVELS = st.builds(
    lambda regex, prefix: BYTE_LEVEL | {"use_regex": regex, "add_prefix_space": prefix},
    st.booleans(),
    st.booleans(),
)
SEQUENCES = st.tuples(
    st.lists(PARTS, max_size=2),
    LEVELS,
    st.lists(PARTS.filter(lambda part: part["type"] != "Metaspace"), max_size=2),
).map(lambda found: [*found[0], found[1], *found[2]])


@settings(max_examples=600 if SLOW else 200)
@given(parts=SEQUENCES, nested=st.booleans(), texts=st.lists(TEXT, min_size=8, max_size=8))
def test_a_sequence_cuts_like_the_reference(
    parts: list[Any], nested: bool, texts: list[str], tmp_path: Path
) -> None:
    if nested:
        parts = [pre_tokenizers(), pre_tokenizers(*parts[:1]), pre_tokenizers(), *parts[1:]]
    readers = compared(pre_tokenizers(*parts), tmp_path)
    for number, text in enumerate(texts):
        assert readers.check(text, slow=number == 0)


def test_use_regex_is_true_by_default(tmp_path: Path) -> None:
    fields = {name: value for name, value in BYTE_LEVEL.items() if name != "use_regex"}
    readers = compared(fields, tmp_path)
    assert readers.check("it's 12")
    pre_tokens = readers.reference.pre_tokenizer.pre_tokenize_str("it's 12")
    assert [part for part, _ in pre_tokens] == ["it", "'s", "Ġ12"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        (metaspace("most"), "prepend_scheme"),
        ({"type": "Metaspace", "replacement": "▁", "add_prefix_space": False}, '"never"'),
        ({"type": "Metaspace", "replacement": "__"}, "replacement"),
        ({"type": "Metaspace"}, "replacement"),
        ({"type": "ByteLevel"}, "add_prefix_space"),
        ({"type": "Digits"}, "individual_digits"),
        ({"type": "FixedLength", "length": 0}, "length is 0"),
        ({"type": "CharDelimiterSplit", "delimiter": "ab"}, "delimiter"),
        (split("a") | {"pattern": {"Regex": "a", "String": "a"}}, "pattern"),
        (split("a", "isolated"), "behavior"),
    ],
)
def test_inexact_parts_are_refused_with_their_path(fields: Any, path: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=path):
        read_document(document(pre_tokenizer=fields), tmp_path)
