"""``Tokenizer`` decodes ids of any kind of sequence, and refuses unknown ids."""

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runtime_samples import byte_ids, encoding, tokenizer

from tokexport.errors import IdError

if TYPE_CHECKING:  # mypy is the test: a method that is imported on first use has its own type
    from typing_extensions import assert_type

    assert_type(tokenizer("ranks").decode([259]), str)

KNOWN = [*encoding()._mergeable_ranks.values(), *encoding()._special_tokens.values()]
IDS = st.lists(st.sampled_from(sorted(KNOWN)), max_size=40)


@given(IDS)
def test_ids_decode_as_in_tiktoken(ids: list[int]) -> None:
    subject, reference = tokenizer("ranks"), encoding()
    assert subject.decode(ids) == reference.decode(ids)
    assert subject.decode_bytes(ids) == reference.decode_bytes(ids)
    assert subject.decode_tokens_bytes(ids) == reference.decode_tokens_bytes(ids)
    assert subject.decode_batch([ids, ids[:2]]) == reference.decode_batch([ids, ids[:2]])
    for parts in ([ids], [ids[:3], ids[3:]], [[id] for id in ids]):
        assert b"".join(subject.decode_bytes_stream(parts)) == reference.decode_bytes(ids)
        stream = subject.decode_stream()
        text = "".join(stream.feed(part) for part in parts) + (stream.flush() or "")
        assert text == reference.decode(ids)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_offsets_equal_those_of_tiktoken(text: str) -> None:
    ids = encoding().encode_ordinary(text)
    assert tokenizer("ranks").decode_with_offsets(ids) == encoding().decode_with_offsets(ids)


def test_errors_determines_how_half_a_character_decodes() -> None:
    ids = byte_ids("渡".encode()[:2] + b"a")
    assert tokenizer("ranks").decode(ids) == "\ufffda"
    assert tokenizer("ranks").decode(ids, errors="ignore") == "a"
    with pytest.raises(UnicodeDecodeError):
        tokenizer("ranks").decode(ids, errors="strict")
    with pytest.raises(UnicodeDecodeError):
        tokenizer("ranks").decode_with_offsets(ids)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">u4", ">i8"])
def test_arrays_of_every_integer_type_are_ids(dtype: str) -> None:
    values = np.array(byte_ids(b"hello!"), dtype)
    assert tokenizer("ranks").decode_bytes(values) == b"hello!"
    assert tokenizer("ranks").decode_bytes(values[::-1]) == b"!olleh"
    assert tokenizer("ranks").decode_bytes(values[::2]) == b"hlo"
    assert tokenizer("ranks").decode_tokens_bytes(values)[-1] == b"!"


def test_any_sequence_of_integers_is_ids() -> None:
    ids = byte_ids(b"hi")
    for sequence in (
        tuple(ids),
        iter(ids),
        array("l", ids),
        array("H", ids),
        [np.int64(ids[0]), np.uint8(ids[1])],
        range(ids[0], ids[1] + 1),
        dict.fromkeys(ids),
    ):
        assert tokenizer("ranks").decode(sequence) == "hi"  # type: ignore[arg-type]
    assert tokenizer("ranks").decode([]) == ""


def test_an_id_that_is_not_an_integer_is_a_type_error() -> None:
    for wrong in (["a"], [1.5], [None], 5, "12", np.array([1.0]), np.array([[1, 2]])):
        with pytest.raises(TypeError):
            tokenizer("ranks").decode(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [-1, 10**6, 2**32, 2**32 + 1, 2**63, 2**64, -(2**70)])
def test_an_unknown_id_is_a_key_error_that_contains_it(wrong: int) -> None:
    subject = tokenizer("ranks")
    calls: list[Callable[[], object]] = [
        lambda: subject.decode([104, wrong]),
        lambda: subject.decode([wrong], skip_special_tokens=True),
        lambda: subject.decode_bytes((wrong,)),
        lambda: subject.decode_tokens_bytes([104, wrong]),
        lambda: subject.decode_with_offsets([wrong]),
        lambda: subject.decode_single_token_bytes(wrong),
        lambda: subject.is_special_token(wrong),
    ]
    if -(2**63) <= wrong < 2**63:
        calls.append(lambda: subject.decode(np.array([104, wrong], np.int64)))
    for call in calls:
        with pytest.raises(KeyError, match=f"id {wrong}: no such id; .*ids are 0 to") as raised:
            call()
        assert isinstance(raised.value, IdError)
        assert raised.value.args[0] == raised.value.id == wrong


def test_a_hole_between_the_ids_is_a_key_error() -> None:
    subject = tokenizer("ranks")
    hole = subject.n_vocab - 2
    with pytest.raises(KeyError, match=f"id {hole} is a hole"):
        subject.decode([hole])
    with pytest.raises(KeyError):
        subject.decode_single_token_bytes(hole)
    assert subject.token_count < subject.n_vocab


def test_special_tokens_are_skipped_on_request() -> None:
    subject = tokenizer("ranks")
    ids = subject.encode("a<|bos|>b<|end|>", allowed_special="all")
    assert subject.decode(ids) == "a<|bos|>b<|end|>"
    assert subject.decode(ids, skip_special_tokens=True) == "ab"
    assert subject.decode_bytes(ids, skip_special_tokens=True) == b"ab"
    assert [subject.is_special_token(id) for id in ids] == [False, True, False, True]


def test_many_ids_decode_in_one_call() -> None:
    ids = tokenizer("ranks").encode("the lighthouse 渡船 " * 20_000)
    assert tokenizer("ranks").decode(ids) == "the lighthouse 渡船 " * 20_000
    assert tokenizer("ranks").decode(np.array(ids)) == "the lighthouse 渡船 " * 20_000
