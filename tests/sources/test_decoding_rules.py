"""The rules of DECO: the runtime follows the specification, in one call and in a stream."""

import pytest
import tokexport_reader
from decoders import decode_only, streamed
from hypothesis import given, settings
from hypothesis import strategies as st
from random_decoding import rules, tokens
from repository import SLOW
from tokexport_reader import decode

from tokexport.errors import UnsupportedError
from tokexport.model import Decoding, StripChars, Token
from tokexport.runtime.decode_stream import DecodeStream
from tokexport.runtime.tokenizer import load


@settings(max_examples=1000 if SLOW else 200)
@given(tokens, rules, st.data(), st.booleans(), st.integers(1, 10))
def test_ids_decode_as_the_specification_says(
    tokens: list[Token], decoding: Decoding, data: st.DataObject, skip: bool, size: int
) -> None:
    content = decode_only(tokens, decoding)
    file, tokenizer = tokexport_reader.open_file(content), load(content)
    ids = st.lists(st.integers(0, len(tokens) - 1), max_size=10)
    for sequence in data.draw(st.lists(ids, min_size=1, max_size=6)):
        wanted = [id for id in sequence if not (skip and tokens[id].special)]
        parts = tokexport_reader.decode_tokens(file, wanted)
        assert tokexport_reader.decode_tokens(file, sequence, skip) == parts
        assert tokenizer.decode_tokens_bytes(sequence, skip_special_tokens=skip) == parts
        assert tokenizer.decode_bytes(sequence, skip_special_tokens=skip) == b"".join(parts)
        some = [wanted[first : first + size] for first in range(0, len(wanted), size)]
        assert b"".join(tokenizer.decode_bytes_stream(some)) == b"".join(parts)
        text = tokexport_reader.decode_text(file, wanted)
        assert tokenizer.decode(sequence, skip_special_tokens=skip) == text
        assert streamed(tokenizer, sequence, skip) == text


@given(tokens)
def test_every_surface_form_is_read_back_from_the_file(tokens: list[Token]) -> None:
    decoding = Decoding(edits=(StripChars("x", 1),))  # so that there is always a DECO
    file = tokexport_reader.open_file(decode_only(tokens, decoding))
    places = ((False, False), (True, False), (False, True))
    for id, token in enumerate(tokens):
        assert tuple(decode.form(file, id, *place) for place in places) == token.forms


def test_a_file_that_only_joins_bytes_has_no_decoder() -> None:
    tokens = [Token(b"a"), Token(b"\xff"), Token(b"b", first=b"b")]
    assert b"DECO" not in tokexport_reader.open_file(decode_only(tokens, Decoding())).sections


@pytest.mark.parametrize(
    "token",
    [
        Token(b"a", first=b"b"),
        Token(b"a", first=b"b" * 32 + b"a"),
        Token(b"x" * 40, first=b"x"),
        Token(b"a", last=b"ab"),
        Token(b"xxxxx", last=b"x"),
    ],
)
def test_a_surface_form_that_a_record_cannot_express_is_refused_with_the_id(token: Token) -> None:
    problem = r'the token "\w+" \(id 1\) decodes to "\w+" where it is the (first|last) of a text, '
    with pytest.raises(UnsupportedError, match=problem) as refused:
        decode_only([Token(b"x"), token], Decoding())
    assert refused.value.hint.endswith("change the token or the decoder")


RUN = Decoding(byte_fallback=True)
BYTE_TOKENS = [Token(bytes([byte]), fallback=True) for byte in range(256)] + [Token(b"x")]


def test_a_run_is_text_as_a_whole_or_not_at_all() -> None:
    tokenizer = load(decode_only(BYTE_TOKENS, RUN))
    assert tokenizer.decode([*"aé".encode(), 256]) == "aéx"
    assert tokenizer.decode([*"aé".encode(), 0xC3, 256]) == "\ufffd" * 4 + "x"
    assert tokenizer.decode([0xE2, 0x96, 256, 0x81]) == "\ufffd\ufffdx\ufffd"
    assert tokenizer.decode_bytes([0xE2, 0x96, 0x81]) == "▁".encode()
    assert tokenizer.decode([0xE2, 0x96], errors="ignore") == ""


def test_a_stream_holds_back_a_run_until_it_is_known_to_be_text() -> None:
    stream = DecodeStream(load(decode_only(BYTE_TOKENS, RUN)))
    assert [*map(stream.step, (*"é".encode(), 256))] == [None, None, "éx"]
    parts = [*map(stream.step, (0x41, 0xE2, 0xFF, 0x41, 256))]
    assert parts == [None, None, "\ufffd" * 3, "\ufffd", "x"]
    assert stream.step(0x41) is None
    assert stream.flush() == "A"


@pytest.mark.parametrize("length", [255, 256, 257, 1000])
def test_a_run_of_any_length_is_exact_in_one_call_and_a_valid_one_in_a_stream(length: int) -> None:
    tokenizer = load(decode_only(BYTE_TOKENS, RUN))
    run = [*("▁" * length).encode()[:length]]
    expected = "▁" * (length // 3) if length % 3 == 0 else "\ufffd" * length
    assert tokenizer.decode(run) == expected
    valid = [*("é▁" * length).encode()]
    assert tokenizer.decode(valid) == streamed(tokenizer, valid) == "é▁" * length


def test_a_stream_decodes_the_last_id_as_the_last() -> None:
    tokenizer = load(decode_only([Token(b"a ", last=b"a"), Token(b"b")], Decoding()))
    stream = DecodeStream(tokenizer)
    assert [*map(stream.step, (0, 0, 1, 0))] == [None, "a ", "a b", None]
    assert stream.flush() == "a"
    assert stream.flush() is None


def test_a_bad_id_changes_nothing_in_a_stream() -> None:
    tokens = [Token(b"a ", last=b"a"), None, Token(b"\xe2", fallback=True)]
    stream = DecodeStream(load(decode_only(tokens, RUN)))
    stream.step(0)
    for wrong in (1, 3, 2**32 - 1):
        with pytest.raises(KeyError):
            stream.step(wrong)
    assert stream.step(2) == "a "
    with pytest.raises(KeyError):
        stream.step(1)
    assert stream.flush() == "\ufffd"


def test_offsets_count_the_characters_of_the_text() -> None:
    tokens = [Token(b" a", first=b"a"), Token("é".encode())]
    tokenizer = load(decode_only(tokens, Decoding(edits=(StripChars(" ", 1),))))
    assert tokenizer.decode_with_offsets([0, 1, 0]) == ("aé a", [0, 1, 2])
