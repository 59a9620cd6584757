"""A Replace whose matches may be empty has the results of the reference."""

from pathlib import Path
from typing import Any

import pytest
from compared import Compared, compared_or_none
from hypothesis import given, settings
from hypothesis import strategies as st
from json_parts import STRIP, digits, metaspace, normalizers, replace, split
from parts.cases import MODELS
from parts.cases import document as whole
from reader_samples import BYTE_LEVEL, added, document, read_document, reference
from repository import SLOW

from tokexport.conversion import file_bytes
from tokexport.errors import TokexportError, UnsupportedError

PATTERNS = [
    *("a*", "a*?", "(?=b)", r"\b", r"\B", "a?b?", "(?<=a)", "$", "^", r"\s*", "(?:ab)*", "x*$"),
    *("(?<![ab])", "a*(?=b)", "^a*", "a*|b", r"(?=[^\s])", r"\z"),
    *("(?:[ab]+!)?", r"(?<=\s)|$", ""),
]
PARTS = st.sampled_from([*"aaabbx \n1!é中", "ab", "12", "  ", "\u0301", "<T>", "-"])
TEXTS = st.lists(PARTS, max_size=12).map("".join)
METASPACE = metaspace("first")
AT_START = 'use no Metaspace with prepend_scheme "first"'
AFTER: list[dict[str, Any] | None] = [
    None,
    METASPACE,
    {"type": "WhitespaceSplit"},
    split("", kind="String"),
    digits(),
]


def inserting(pattern: str, content: str) -> dict[str, Any]:
    return replace(pattern, content, "Regex" if pattern else "String")


CONTENTS = st.sampled_from(["", "-", " ab", "é中"])
SECOND = st.sampled_from([[], *([inserting(pattern, "1")] for pattern in PATTERNS[:8])])
DOCUMENTS = st.builds(
    lambda step, second, after, tokens: whole(
        MODELS["characters"],
        normalizer=normalizers(step, *second),
        pre_tokenizer=after,
        added_tokens=tokens,
    ),
    st.builds(inserting, st.sampled_from(PATTERNS), CONTENTS),
    SECOND,
    st.sampled_from(AFTER),
    st.sampled_from([[], [added("<T>", 9999)], [added("b-", 9999, normalized=True)]]),
)


def test_empty_matches_are_replaced_as_in_the_reference(tmp_path: Path) -> None:
    compared = 0

    @settings(max_examples=400 if SLOW else 100)
    @given(DOCUMENTS, st.lists(TEXTS, min_size=8, max_size=8))
    def check(fields: dict[str, Any], texts: list[str]) -> None:
        nonlocal compared
        readers = compared_or_none(fields, tmp_path, f"leaves nothing|{AT_START}")
        if readers is None:
            return
        compared += 1
        for text in ["", *texts]:
            assert readers.check(text)

    check()
    assert compared >= 50


def test_an_insertion_at_the_start_is_refused_if_the_reference_stops(tmp_path: Path) -> None:
    for steps, pre_tokenizer in (
        ([inserting("a*", "-"), {"type": "NFC"}], None),
        ([inserting("a*", "-"), STRIP], None),
        *(([inserting(pattern, "-")], BYTE_LEVEL) for pattern in ("", "a*", r"\b", "(?=a)")),
        ([inserting("", "-"), {"type": "ByteLevel"}], None),
    ):
        normalizer = normalizers(*steps)
        fields = document(normalizer=normalizer, pre_tokenizer=pre_tokenizer)
        with pytest.raises(UnsupportedError, match="puts '-' before a text"):
            file_bytes(read_document(fields, tmp_path))
    normalizer = normalizers(inserting("a*", "-"), {"type": "NFC"})
    with pytest.raises(BaseException, match="out of bounds"):
        reference(document(normalizer=normalizer)).encode("ba")


@pytest.mark.parametrize("pattern", ["(?<=a)", "(?<=[ab])(?=b)"])
def test_any_step_may_follow_an_insertion_after_some_text(pattern: str, tmp_path: Path) -> None:
    normalizer = normalizers({"type": "NFC"}, inserting(pattern, "-"), {"type": "Lowercase"})
    readers = Compared(document(normalizer=normalizer), tmp_path)
    for text in ["", "a", "ab", "aBbbÄ", "baab" * 3000]:
        assert readers.check(text, slow=len(text) < 10)


@pytest.mark.parametrize("before", [{"type": "NFC"}, STRIP])
@pytest.mark.parametrize("after", [None, {**METASPACE, "prepend_scheme": "always"}])
def test_after_another_step_an_insertion_at_the_start_is_exact_except_its_span(
    before: dict[str, Any], after: dict[str, Any] | None, tmp_path: Path
) -> None:
    normalizer = normalizers(before, inserting("^", "\u2581"), inserting(" ", "\u2581"))
    fields = whole(MODELS["characters"], normalizer=normalizer, pre_tokenizer=after)
    readers = Compared(fields, tmp_path)
    for text in ["", "a", " ab", "a b  e", "\u00e9\ne\u0301", "  \n", " the\nend"]:
        assert readers.check(text)
    with pytest.raises(TokexportError, match="offsets"):
        readers.runtime.encode_with_offsets("a")


def test_after_such_an_insertion_no_step_may_depend_on_the_first_text(tmp_path: Path) -> None:
    normalizer = normalizers({"type": "NFC"}, inserting("^", "-"))
    with pytest.raises(UnsupportedError, match=AT_START):
        read_document(
            whole(MODELS["characters"], normalizer=normalizer, pre_tokenizer=METASPACE), tmp_path
        )


@pytest.mark.parametrize("lengths", [(255, 255), (256, 1), (2, 300), (200, 200)])
@pytest.mark.parametrize("text", ["", "a", "xaéa bab"])
def test_a_character_may_become_a_text_of_any_length(
    lengths: tuple[int, int], text: str, tmp_path: Path
) -> None:
    first, second = lengths
    steps = [("a", "b" * first), ("b", "é" + "a" * (second - 1)), ("é", "!")]
    replacing = [replace(pattern, content) for pattern, content in steps]
    fields = whole(MODELS["characters"], normalizer=normalizers(*replacing))
    assert Compared(fields, tmp_path).check(text, slow=False)


def test_a_text_of_more_characters_than_states_is_refused(tmp_path: Path) -> None:
    fields = whole(MODELS["characters"], normalizer=replace("ab" * 2100, ""))
    with pytest.raises(
        UnsupportedError, match="normalizer: a text of 4,200 characters to replace is too long"
    ):
        file_bytes(read_document(fields, tmp_path))
