"""The C runtime and SPEC.md rewrite texts like the reference's normalizers and pre-tokenizers."""

import base64
import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import tokexport_reader
from compared import Compared, compared_or_none, merged
from hypothesis import given, settings
from hypothesis import strategies as st
from json_parts import STRIP, Json, bert, digits, metaspace, normalizers, pre_tokenizers, replace
from reader_samples import BYTE_LEVEL, FLAGS, added, document, read_document
from repository import SLOW
from sentencepiece_training import rules_of
from slow_normalizer import normalize
from tokexport_reader.operations import FIRST_SOURCE, Affix
from unicode_tables.charsmap import charsmap_of

from tokexport.conversion import file_bytes
from tokexport.errors import UnsupportedError
from tokexport.model import Append, Charsmap, Prepend, Replace
from tokexport.runtime.tokenizer import load

SOME = (*range(0x3400), *range(0xA000, 0xAD00), *range(0xF900, 0x10000), *range(0x1D000, 0x1F700))
SCALARS = (*range(0xD800), *range(0xE000, 0x110000)) if SLOW else SOME
# An added token that normalizes to nothing, or that decodes to another text.
REFUSED = "leaves nothing|decodes"
UNSPLIT = BYTE_LEVEL | {"use_regex": False}
CHARSMAP = rules_of(
    *("a→x", "e\u0301→é", "\u0600→", "\u00a9→(c)", "\u3000→ ", "\u0915→k", "ﬁ→fi", "\u2163→IV"),
    *("\u1100→g", "\t→ ", "\r→", "\U0001f600→:)", "ab→AB", "\u0301→'"),
)
PRECOMPILED = {
    "type": "Precompiled",
    "precompiled_charsmap": base64.b64encode(charsmap_of(CHARSMAP)).decode(),
}


NORMALIZERS: dict[str, Json] = {
    **{
        name: {"type": name}
        for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")
    },
    "strip": STRIP,
    "strip left": {"type": "Strip", "strip_left": True, "strip_right": False},
    "strip right": {"type": "Strip", "strip_left": False, "strip_right": True},
    "strip nothing": {"type": "Strip", "strip_left": False, "strip_right": False},
    "one character": replace(" ", "\u2581"),
    "a character away": replace("a", ""),
    "two characters": replace("``", "é"),
    "spaces": replace(" {2,}", " ", "Regex"),
    "read on in vain": replace("[ab]+!|[ab]{2}", "<>", "Regex"),
    "at the end": replace(r"\s+$", "", "Regex"),
    "prepend": {"type": "Prepend", "prepend": "\u2581"},
    "precompiled": PRECOMPILED,
    "without accents": normalizers({"type": "NFKD"}, {"type": "StripAccents"}),
    "lower without accents": normalizers(
        {"type": "NFD"}, {"type": "Lowercase"}, {"type": "StripAccents"}
    ),
    "bert": bert(),
    "bert cased": bert(lowercase=False),
    "bert accents": bert(strip_accents=True, lowercase=False, clean_text=False),
    "bert lower": bert(strip_accents=False, handle_chinese_chars=False),
}
OLD_METASPACE = {"str_rep": "_", "add_prefix_space": True}
PRE_TOKENIZERS: dict[str, Json] = {
    **{
        f"metaspace {scheme}{'' if cut else ' whole'}": metaspace(scheme, cut)
        for scheme in ("always", "never")
        for cut in (True, False)
    },
    "old metaspace": {"type": "Metaspace", "replacement": "_"} | OLD_METASPACE,
    "white space": {"type": "WhitespaceSplit"},
    "scripts": {"type": "UnicodeScripts"},
    "digits": digits(False),
    "bert": {"type": "BertPreTokenizer"},
}
FIRST = metaspace("first")

CHARACTERS = st.one_of(
    st.sampled_from(
        "aabbcAB "
        " \t\r\n!`_12\u2581éÉßİ中国かがカー가\u1100\u1161\u11a8\x00\x01\x7f\x9f\xad"
        "\u3000\u00a0\u0085\ufeff\u200b\u200d"
    ),
    st.sampled_from(
        "\u0301\u0323\u0345\u0600\u00a9\u0915\u094d\u0903\U0001f600\U0001f1e6\ufb01\u2163\ufdfa"
        "\u2028\u3099\u1e9e"
    ),
    st.sampled_from(
        [
            *("e\u0301", "q\u0307\u0323", "\u1e0d\u0307", "각\u11a8", "か\u309b", "<s>", "[M]"),
            *"e\ufb1d\u0344\u0307\u0f73\u2adc\u0e33\u212aǰ각が",
        ]
    ),
    st.characters(exclude_categories=["Cs"]),
)
TEXTS = st.lists(CHARACTERS, max_size=24).map("".join)
SAMPLES = st.lists(TEXTS, min_size=8, max_size=8)


TOKENS = [
    added("<s>", 9999, lstrip=True, special=True),
    added("[M]", 9999, rstrip=True, normalized=True),
]


def source(
    steps: Sequence[Any],
    words: Sequence[Any],
    added_tokens: Sequence[Any] = (),
    level: Any = UNSPLIT,
    **fields: Any,
) -> Json:
    return document(
        normalizer=normalizers(*steps) if steps else None,
        pre_tokenizer=pre_tokenizers(*words, level),
        added_tokens=list(added_tokens),
        model=merged(" abAB_1!\u2581é中"),
        **fields,
    )


@pytest.fixture
def is_read() -> Iterator[Counter[bool]]:
    """Whether a property test could read its documents, which has to be so for most of them."""
    counted: Counter[bool] = Counter()
    yield counted
    assert counted[True] > counted[False]


@pytest.mark.parametrize("name", NORMALIZERS)
def test_every_scalar_value_is_normalized_as_in_the_reference(name: str, tmp_path: Path) -> None:
    readers = Compared(source([NORMALIZERS[name]], []), tmp_path)
    scalars = [chr(point) for point in SCALARS]
    for start in range(0, len(scalars), 0x4000):
        readers.check("x".join(scalars[start : start + 0x4000]), slow=False)


STEPS = NORMALIZERS | {
    "longer": replace("a", "xyz"),
    "white space": replace(r"\s+", " ", "Regex"),
    "some characters": replace("[0-9]+|e", "é中", "Regex"),
    "prepend more": {"type": "Prepend", "prepend": "ab "},
}
LEVELS = [UNSPLIT, BYTE_LEVEL, BYTE_LEVEL | {"add_prefix_space": True}]


def lists(steps: Json, longest: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from([*steps.values()]), max_size=longest)


ANY = st.builds(
    lambda steps, words, tokens, level, trims: source(
        steps, words, tokens, level, post_processor=level if trims else None
    ),
    lists(STEPS, 4),
    lists(PRE_TOKENIZERS, 3),
    st.sampled_from([TOKENS, []]),
    st.sampled_from(LEVELS),
    st.booleans(),
)


@settings(max_examples=300 if SLOW else 100)
@given(fields=ANY, texts=SAMPLES)
def test_any_sequence_of_steps_rewrites_like_the_reference(
    fields: Json, texts: list[str], tmp_path: Path, is_read: Counter[bool]
) -> None:
    readers = compared_or_none(fields, tmp_path, REFUSED)
    is_read[readers is not None] += 1
    if readers is not None:
        for number, text in enumerate(texts):
            readers.check(text, slow=number < 2)


CONTENTS = st.sampled_from(["É!", "a\u0301", "AB", "``", "x y", "中"])
TOKEN = st.builds(added, CONTENTS, st.just(9999), **{flag: st.booleans() for flag in FLAGS})


@given(step=st.sampled_from([*NORMALIZERS.values()]), token=TOKEN, texts=SAMPLES)
def test_added_tokens_are_found_under_their_normalized_content(
    step: Any, token: Any, texts: list[str], tmp_path: Path, is_read: Counter[bool]
) -> None:
    readers = compared_or_none(source([step], [], [token]), tmp_path, REFUSED)
    is_read[readers is not None] += 1
    if readers is not None:
        content = token["content"]
        for text in texts:
            readers.check(text[:4] + content + text[4:])
            readers.check(text[:4] + " " + content + " " + text[4:] + content)


@pytest.mark.parametrize("name", NORMALIZERS)
def test_long_texts_are_normalized_block_by_block(name: str, tmp_path: Path) -> None:
    readers = Compared(source([NORMALIZERS[name]], [PRE_TOKENIZERS["white space"]]), tmp_path)
    sentence = "The quick brown fox, \t ``jumps``  over a lazy dog! É\u0301 "
    for text, times in ((sentence, 700), ("ab", 9_000), (" ", 20_000)):
        readers.check(text * (3 * times if SLOW else times), slow=False)


def of_sequences(rules: dict[str, str], **options: Any) -> Charsmap:
    return Charsmap(charsmap_of(rules), by_grapheme=False, **options)


@pytest.mark.parametrize(
    ("steps", "text", "expected"),
    [
        ((Append("\u2581"),), "a b", "a b\u2581"),
        ((Append("x"),), "", ""),
        ((Prepend("\u2581", unless_present=True),), "\u2581a", "\u2581a"),
        ((of_sequences({"a": "b", "aa": "c"}),), "aaa", "cb"),
        ((of_sequences({"a": "b"}, protected=("<a>", "<a")),), "a<a><aa", "b<a><ab"),
        ((of_sequences({"<": "x", "é": ""}, protected=("é<",)),), "é<é<<é", "é<é<x"),
        ((of_sequences({"e\u0301": "é"}),), "e\u0301\u0302e", "é\u0302e"),
        ((Replace("a", "b"), Replace("b", "")), "cab", "c"),
    ],
)
def test_operations_that_tokenizers_does_not_have(
    steps: Any, text: str, expected: str, tmp_path: Path
) -> None:
    assert normalize(text, steps) == expected
    model = dataclasses.replace(read_document(source([], []), tmp_path), normalizer=steps)
    data = file_bytes(model)
    tokenizer = load(data)
    ids = tokenizer.encode(text)
    assert tokenizer.decode_bytes(ids).decode() == expected
    file = tokexport_reader.open_file(data)
    assert tokexport_reader.encode(file, text.encode()) == ids
    spans = tokexport_reader.encode_spans(file, text.encode())
    assert [*zip(ids, tokenizer.encode_with_offsets(text).offsets, strict=True)] == spans


# Normalizers, stages and added tokens; whether the file has FIRST_SOURCE, as in the text that the
# stages read, the first pre-token may be anywhere.
KEEP_THE_START = ("NFC", "NFKD", "Lowercase", "one character", "prepend", "precompiled")
BEFORE_FIRST: list[tuple[list[Any], list[Any], list[Any], bool]] = [
    *(([NORMALIZERS[name]], [FIRST], [], False) for name in KEEP_THE_START),
    *(
        ([NORMALIZERS[name]], [FIRST], [], True)
        for name in ("strip left", "bert lower", "two characters")
    ),
    ([NORMALIZERS["Lowercase"]], [PRE_TOKENIZERS["digits"], FIRST], [], True),
    ([NORMALIZERS["Lowercase"]], [FIRST], [added("xy", 9999, normalized=True)], True),
    ([], [FIRST, PRE_TOKENIZERS["digits"], FIRST], [], True),
]


@pytest.mark.parametrize(("steps", "words", "tokens", "depends"), BEFORE_FIRST)
def test_a_prefix_for_the_first_pre_token_depends_on_its_source_if_the_position_is_ambiguous(
    steps: list[Any], words: list[Any], tokens: list[Any], depends: bool, tmp_path: Path
) -> None:
    readers = Compared(source(steps, words, tokens), tmp_path)
    operations = readers.spec.operations
    assert depends == any(isinstance(op, Affix) and op.flags & FIRST_SOURCE for op in operations)
    for text in (
        *("", "a b", " a", "  a b", "\u0130 b", "\x00a b", "\x00 a", "``a ``b", "é a", "\ufb01 a"),
        *("1 a", "xy a", "İxy1a", "é\u2581", "\u0130 a b", "\r\na b", "\u0600a b", "\ufb01 a b"),
        "\u0301\u0323a b",
    ):
        readers.check(text)


FOUND = [added(text, 9999, normalized=on) for text in ("AB", "\u2581", "a") for on in (True, False)]
WITH_FIRST = st.builds(
    lambda steps, before, scheme, after, tokens: source(steps, [*before, scheme, *after], tokens),
    lists(NORMALIZERS, 3),
    lists(PRE_TOKENIZERS, 2),
    st.sampled_from([FIRST, FIRST | {"split": False}]),
    lists(PRE_TOKENIZERS | {"first": FIRST}, 2),
    st.sampled_from([[], *([token] for token in FOUND)]),
)


@settings(max_examples=300 if SLOW else 100)
@given(fields=WITH_FIRST, texts=SAMPLES)
def test_a_prefix_for_the_first_pre_token_after_anything(
    fields: Json, texts: list[str], tmp_path: Path, is_read: Counter[bool]
) -> None:
    readers = compared_or_none(fields, tmp_path, REFUSED)
    is_read[readers is not None] += 1
    if readers is not None:
        content = "".join(token["content"] for token in fields["added_tokens"])
        for text in texts:
            readers.check(text)
            readers.check(text[:3] + content + text[3:])


def test_an_added_token_that_normalizes_to_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="the normalizer leaves nothing"):
        read_document(
            source([NORMALIZERS["strip"]], [], [added("  ", 9999, normalized=True)]), tmp_path
        )


@pytest.mark.parametrize(
    "damage",
    [
        b"\x08\0\0\0" + bytes(4),
        b"\xff\xff\xff\x7f" + bytes(8),
        charsmap_of({"a": "b"})[:-2] + b"\xff\0",
    ],
)
def test_a_damaged_charsmap_is_refused(damage: bytes, tmp_path: Path) -> None:
    fields = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(damage).decode()}
    model = read_document(source([fields], []), tmp_path)
    with pytest.raises(UnsupportedError, match="precompiled charsmap"):
        file_bytes(model)
