"""A Unigram, WordPiece or WordLevel model made at random gives the ids of the
reference, and stops where it stops.
"""

from __future__ import annotations

import json

import pytest
import tokenizers
import tokexport_reader
from random_models import tokenizer_json
from repository import SLOW

from tokexport.conversion import file_bytes
from tokexport.runtime.tokenizer import load
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import parse
from tokexport.sources.tokenizer_json.read import read_tokenizer_json
from tokexport.sources.tokenizer_json.reference import NO_UNKNOWN_TOKEN

TOGETHER = 50
SEEDS = range(20_000 if SLOW else 200)


def expected(reference: tokenizers.Tokenizer, text: str) -> list[int] | None:
    """The reference's ids; None where it stops."""
    try:
        return reference.encode(text).ids
    except Exception as error:  # the library raises bare Exception
        if not any(sentence in str(error) for sentence in NO_UNKNOWN_TOKEN):
            raise
        return None


@pytest.mark.parametrize("first", SEEDS[::TOGETHER])
def test_the_ids_are_those_of_the_reference(first: int) -> None:
    compared = stopped = 0
    for seed in range(first, first + TOGETHER):
        source, texts = tokenizer_json(seed)
        data = json.dumps(source).encode()
        reference = tokenizers.Tokenizer.from_buffer(data)
        content = file_bytes(
            read_tokenizer_json(parse(data, "tokenizer.json"), SourceFiles(None, {}))
        )
        tokenizer, file = load(content), tokexport_reader.open_file(content)
        for number, text in enumerate(texts):
            ids = expected(reference, text)
            if ids is None:
                with pytest.raises(ValueError, match="not in the vocabulary"):
                    tokenizer.encode(text)
                stopped += 1
            else:
                assert tokenizer.encode(text) == ids, (seed, text)
                compared += 1
            if number < 5:
                assert specified(file, text) == ids, (seed, text)
    assert compared > 100 * TOGETHER
    assert stopped > 0


def specified(file: tokexport_reader.File, text: str) -> list[int] | None:
    """The ids by the specification."""
    try:
        return tokexport_reader.encode(file, text.encode())
    except tokexport_reader.TokexportError as error:
        if error.name != "TKX_E_UNKNOWN_TEXT":
            raise
        return None
