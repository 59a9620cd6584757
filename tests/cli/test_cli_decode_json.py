"""`decode --json` prints the text and the tokens that Python returns."""

import io
import json
from contextlib import redirect_stdout

from decoders import decode_only
from hypothesis import given
from hypothesis import strategies as st
from random_decoding import rules, tokens

from tokexport.cli import decode_json
from tokexport.cli.console import bytes_value
from tokexport.model import Decoding, Token
from tokexport.runtime.tokenizer import load


@given(tokens, rules, st.data(), st.integers(1, 300), st.integers(1, 9), st.booleans())
def test_any_ids_have_the_text_and_tokens_of_a_single_call(
    tokens: list[Token], decoding: Decoding, data: st.DataObject, times: int, size: int, skip: bool
) -> None:
    tokenizer = load(decode_only(tokens, decoding))
    ids = st.lists(st.integers(0, len(tokens) - 1), max_size=6)
    given_ids = data.draw(ids) + data.draw(ids) * times + data.draw(ids)
    expected = tokenizer.decode_tokens_bytes(given_ids, skip_special_tokens=skip)
    parts = (given_ids[at : at + size] for at in range(0, len(given_ids), size))
    with redirect_stdout(io.StringIO()) as output:
        decode_json.write_json(tokenizer, parts, skip)
    assert json.loads(output.getvalue()) == {
        "schema_version": 2,
        "command": "decode",
        "text": tokenizer.decode(given_ids, skip_special_tokens=skip),
        "tokens": [*map(bytes_value, expected)],
    }
