"""A stream returns the text of its ids, in parts of whole characters."""

import pytest
from bare_models import merge_rows, tokenizer_model
from runtime_samples import byte_ids, tokenizer

from tokexport.conversion import file_bytes
from tokexport.model import AddedToken, BytePairModel, Token, TokenKind
from tokexport.runtime.decode_stream import DecodeStream
from tokexport.runtime.tokenizer import load


def test_a_character_is_returned_with_its_last_byte() -> None:
    stream = DecodeStream(tokenizer("ranks"))
    parts = [stream.step(id) for id in byte_ids("a🙂é".encode())]
    assert parts == ["a", None, None, None, "🙂", None, "é"]


def test_bytes_that_cannot_become_a_character_are_replaced_immediately() -> None:
    stream = DecodeStream(tokenizer("ranks"))
    parts = [stream.step(id) for id in byte_ids(b"\xffa\xf0\x9fb\xc3\xc3\xa9")]
    assert parts == ["\ufffd", "a", None, None, "\ufffdb", None, "\ufffd", "é"]


def test_flush_ends_a_character_and_resets_the_stream() -> None:
    stream = DecodeStream(tokenizer("ranks"))
    (first,) = byte_ids(b"\xe6")
    assert stream.step(first) is None
    assert stream.flush() == "\ufffd"
    assert stream.flush() is None
    assert stream.step(*byte_ids(b"a")) == "a"


def test_an_unknown_id_changes_nothing() -> None:
    stream = DecodeStream(tokenizer("ranks"))
    first, second, third = byte_ids("渡".encode())
    assert stream.step(first) is None
    for wrong in (-1, tokenizer("ranks").n_vocab, tokenizer("ranks").n_vocab - 2, 2**40):
        with pytest.raises(KeyError) as raised:
            stream.step(wrong)
        assert raised.value.args[0] == wrong
    with pytest.raises(TypeError):
        stream.step("a")  # type: ignore[arg-type]
    assert [stream.step(second), stream.step(third)] == [None, "渡"]


def test_a_token_of_any_length_is_returned_whole() -> None:
    long = ["x" * 65_535, "é" * 1_000 + "渡", "y" * 1_023, "z" * 350]
    stream = DecodeStream(load(of_bytes(*long)))
    assert [stream.step(256 + number) for number in range(len(long))] == long
    assert stream.step(0xC3) is None
    assert stream.step(256) == "\ufffd" + long[0]


def test_a_stream_keeps_its_tokenizer_alive() -> None:
    stream = DecodeStream(load(of_bytes()))
    assert stream.step(104) == "h"


def of_bytes(*contents: str) -> bytes:
    """A file whose tokens are the bytes, and some added tokens after them."""
    vocab = {bytes([byte]): byte for byte in range(256)}
    tokens = [*map(Token, vocab), *(Token(text.encode(), TokenKind.ADDED) for text in contents)]
    added = tuple(AddedToken(256 + number, text) for number, text in enumerate(contents))
    model = BytePairModel(vocab, merges=merge_rows())
    return file_bytes(tokenizer_model(tokens, model, added_tokens=added))
