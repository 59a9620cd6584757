"""``Tokenizer`` encodes like the library of the source, for every kind of input and output."""

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from references import converted
from runtime_samples import NAMES, cases, content, encoding, tokenizer
from tokenizers import models, normalizers

from tokexport.errors import FormatError, TextError
from tokexport.runtime.decode_stream import DecodeStream
from tokexport.runtime.tokenizer import load

# fmt: off
PARTS = st.sampled_from(
    ["the", " the", "light", "house", "'s", "'LL", "12345", "  ", "\n", "\t", "é", "渡船", "🙂",
     "\u3000", "!?", "<|bos|>", "<|bos", "|>", "a", "\u0301"]
)
# fmt: on
TEXTS = st.one_of(
    st.text(),
    st.lists(st.one_of(PARTS, st.characters(exclude_categories=["Cs"])), max_size=40).map("".join),
)


@pytest.mark.parametrize("name", NAMES)
def test_every_way_to_encode_produces_the_ids_of_the_reference(name: str) -> None:
    subject = tokenizer(name)
    assert len(cases(name)) >= 20
    for case in cases(name):
        special = "all" if case["special"] else ()
        options: dict[str, Any] = {"allowed_special": special}
        options["add_special_tokens"] = case["add_special"]
        assert subject.encode(case["text"], **options) == case["ids"], case
        assert subject.encode_bytes(case["text"].encode(), **options) == case["ids"]
        array = subject.encode_to_numpy(case["text"], **options)
        assert array.dtype == np.uint32
        assert array.tolist() == case["ids"]
        assert subject.encode_batch([case["text"]] * 3, **options) == [case["ids"]] * 3


@given(TEXTS)
def test_the_ids_equal_those_of_tiktoken(text: str) -> None:
    subject, reference = tokenizer("ranks"), encoding()
    assert subject.encode_ordinary(text) == reference.encode_ordinary(text)
    assert subject.encode(text) == reference.encode_ordinary(text)
    ids = reference.encode(text, allowed_special="all")
    assert subject.encode(text, allowed_special="all") == ids


@given(TEXTS, st.sets(st.sampled_from(["<|bos|>", "<|end|>"])))
def test_special_tokens_that_are_not_allowed_remain_text(text: str, allowed: set[str]) -> None:
    text = f"{text}<|bos|>{text}<|end|><|end|><|bos|>"
    expected = encoding().encode(text, allowed_special=allowed, disallowed_special=())
    assert tokenizer("ranks").encode(text, allowed_special=allowed) == expected
    assert tokenizer("ranks").encode(text, allowed_special=list(allowed)) == expected


def test_allowing_an_unknown_added_token_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match=r"'<\|nope\|>' is not an added token"):
        tokenizer("ranks").encode("a", allowed_special={"<|nope|>"})
    with pytest.raises(ValueError, match=r"not the str '<\|bos\|>'"):
        tokenizer("ranks").encode("a", allowed_special="<|bos|>")
    with pytest.raises(TypeError, match="hold only str, not int"):
        tokenizer("ranks").encode("a", allowed_special=[1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="a collection of special tokens, not bool"):
        tokenizer("ranks").encode("a", True)  # type: ignore[arg-type]


@pytest.mark.parametrize("parts", [
    ["a\ud83d", "\udc4d"], ["\ud83d", "", "\udc4d", "b"], ["\ud83d", "\ud83d", "\udc4d"],
    ["\ud83d", b"c"], [b"c", "\udc4d", "d\ud83d"], ["\udc4d\ud83d"],
])  # fmt: skip
def test_a_stream_joins_a_surrogate_pair_in_two_parts(parts: list[str | bytes]) -> None:
    text = "".join(part if isinstance(part, str) else part.decode() for part in parts)
    ids = np.concatenate([*tokenizer("ranks").encode_stream(parts)])
    assert ids.tolist() == encoding().encode_ordinary(text)


def test_bytes_that_are_not_utf8_are_an_error_with_the_offset() -> None:
    texts = {b"abc\xff": 3, b"\xc3": 0, b"a\xed\xa0\x80": 1, b"\xf4\x90\x80\x80": 0}
    for data, offset in (texts | {b"ab\xe2\x82": 2}).items():
        with pytest.raises(UnicodeDecodeError) as raised:
            tokenizer("gpt2").encode_bytes(data)
        assert raised.value.start == offset


def test_a_wrong_argument_is_a_type_error_that_says_what_was_expected() -> None:
    subject: Any = tokenizer("gpt2")  # Any: for arguments of wrong types
    for call, words in (
        (lambda: subject.encode(None), "text must be a str, not NoneType"),
        (lambda: subject.encode_ordinary(b"abc"), "text must be a str, not bytes"),
        (lambda: subject.encode_to_numpy(b"abc"), "text must be a str, not bytes"),
        (lambda: subject.encode_pair("a", None), "text must be a str, not NoneType"),
        (lambda: subject.encode_with_offsets(None), "text must be a str, not NoneType"),
        (lambda: subject.encode_bytes(None), "data must be bytes, not NoneType"),
        (lambda: subject.encode_bytes("abc"), "data must be bytes, not str"),
        (lambda: subject.encode_batch("abc"), "texts must be several texts .*, not str"),
        (lambda: subject.encode_batch(["a", 1]), "text must be a str, not int"),
        (lambda: subject.encode_batch([], num_threads="x"), "num_threads must be an int .* str"),
        (lambda: subject.encode_single_token(5), "a token must be str or bytes, not int"),
        (lambda: [*subject.encode_stream([5])], "a part must be str or bytes, not int"),
        (lambda: subject.decode(None), "ids must be a sequence of integers, not NoneType"),
        (lambda: subject.decode(np.array([[1, 2]])), "ids must have one dimension, not 2"),
        (lambda: subject.decode(["a"]), "an id must be an integer, not str"),
        (lambda: subject.decode([1], errors=5), "errors must be a str, not int"),
        (lambda: subject.decode_single_token_bytes(None), "an id must be an integer, not NoneType"),
        (lambda: subject.decode_stream().step(None), "an id must be an integer, not NoneType"),
        (lambda: DecodeStream(subject._core), "tokenizer must be a Tokenizer, not Core"),
        (lambda: pickle.dumps(subject.decode_stream()), "a DecodeStream cannot be pickled"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=words):
            call()
    assert subject.encode("a", add_special_tokens=1) == subject.encode("a", add_special_tokens=True)


@given(
    TEXTS.map(str.encode),
    st.lists(st.integers(0, 60), max_size=12),
    st.booleans(),
    st.sampled_from(NAMES),
)
def test_a_text_in_any_parts_has_the_ids_of_the_whole(
    data: bytes, cuts: list[int], template: bool, name: str
) -> None:
    offsets = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    parts = [data[start:end] for start, end in itertools.pairwise(offsets)]
    for allowed in ((), "all"):
        options: dict[str, Any] = {"allowed_special": allowed, "add_special_tokens": template}
        arrays = [*tokenizer(name).encode_stream(parts, **options)]
        expected = tokenizer(name).encode_bytes(data, **options)
        assert [id for ids in arrays for id in ids.tolist()] == expected
        assert all(ids.dtype == np.uint32 and ids.size for ids in arrays)


def test_a_stream_returns_ids_early_and_reports_where_it_is_not_utf8() -> None:
    subject = tokenizer("ranks")
    stream = subject.encode_stream(itertools.cycle(["the lighthouse "]))
    assert sum(len(next(stream)) for _ in range(5)) > 5
    with pytest.raises(TextError, match="not UTF-8 at byte 1,000,003"):
        list(subject.encode_stream([b"a b " * 250_000, b"abc\xff"]))
    with pytest.raises(ValueError, match='must be "all" or empty'):
        next(subject.encode_stream(["a"], allowed_special={"<|bos|>"}))  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["a", " ", "the ", "\n", "ab", "渡", "1", "!", "é\u0301"])
def test_a_long_text_can_be_encoded(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    ids = tokenizer("ranks").encode(text)
    assert ids == encoding().encode_ordinary(text)
    assert np.concatenate([*tokenizer("ranks").encode_stream([text])]).tolist() == ids
    assert tokenizer("ranks").encode_to_numpy(text).tolist() == ids
    assert tokenizer("ranks").encode("short") == encoding().encode_ordinary("short")


def test_a_long_text_uses_no_more_memory_than_it_needs() -> None:
    theirs = tokenizers.Tokenizer(models.BPE({"a": 0, "b": 1, "c": 2}, [], unk_token="a"))
    # By 1000 * 1000 * 1000, according to the file.
    growing = [normalizers.Replace(pair, "b" * 1000) for pair in ("xx", "yy", "zz")]
    # Prepend would also apply to parts of the text, so it cannot be cut.
    theirs.normalizer = normalizers.Sequence([normalizers.Prepend("c"), *growing])
    ours = converted(theirs)
    text = "abc" * 300_000 + "xxyyzz"
    encoding = theirs.encode(text)
    assert ours.encode(text) == ours.encode_batch([text])[0] == encoding.ids
    assert list(ours.encode_with_offsets(text).offsets) == encoding.offsets


def test_ids_are_not_overwritten_by_the_next_call() -> None:
    subject = tokenizer("ranks")
    first = subject.encode_to_numpy("the lighthouse " * 2000)
    copy = first.copy()
    subject.encode_to_numpy("渡船" * 5000)
    subject.encode("x" * 100_000)
    assert (first == copy).all()


def test_a_pair_is_joined_by_the_template() -> None:
    texts = ("the light", "a house")
    pair = tokenizer("roberta").encode_pair(*texts)
    a, b = (tokenizer("roberta").encode(text) for text in texts)
    assert pair == [0, *a, 2, 2, *b, 2]
    assert tokenizer("roberta").encode_pair(*texts, add_special_tokens=False) == a + b
    a, b = (tokenizer("gpt2").encode(text) for text in texts)
    assert tokenizer("gpt2").encode_pair(*texts) == a + b


def test_every_token_of_the_model_is_found_by_its_bytes() -> None:
    subject = tokenizer("ranks")
    for ranked, rank in encoding()._mergeable_ranks.items():
        assert subject.encode_single_token(ranked) == rank
    for token in subject.special_tokens_set:
        assert subject.encode_single_token(token) == encoding().encode_single_token(token)
        assert subject.encode_single_token(token.encode()) == encoding().encode_single_token(token)
    for missing in (b"no such token", "", b"\xff\xfe"):
        with pytest.raises(KeyError):
            subject.encode_single_token(missing)


def test_an_added_token_is_found_before_a_token_of_the_model_with_its_bytes() -> None:
    """GPT-NeoX has two tokens for each of 23 runs of spaces."""
    source = tokenizers.Tokenizer(models.BPE({"a": 0, "Ġ": 1, "ĠĠ": 2}, [("Ġ", "Ġ")]))
    source.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    source.decoder = tokenizers.decoders.ByteLevel()
    source.add_tokens(["  "])
    subject = converted(source)
    assert subject.decode_single_token_bytes(2) == subject.decode_single_token_bytes(3) == b"  "
    assert subject.encode_single_token("  ") == source.token_to_id("  ") == 3
    assert subject.encode_single_token(b"  ") == 3
    assert subject.encode_single_token(" ") == 1


def test_a_decode_only_file_refuses_to_encode() -> None:
    subject = load(content("gpt2", decode_only=True))
    ids = tokenizer("gpt2").encode("the lighthouse")
    assert subject.decode(ids) == "the lighthouse"
    with pytest.raises(FormatError, match="decode-only") as raised:
        subject.encode("the lighthouse")
    assert raised.value.code == -10
    assert raised.value.hint.startswith("convert the original source")
