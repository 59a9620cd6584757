"""The reference derives the bytes of a token from its decoder, or nothing if they are unknown."""

import json
from pathlib import Path
from typing import Any

import pytest
from json_parts import FUSE, replace
from reader_samples import document
from references import assert_same, converted, reference_for


@pytest.mark.parametrize(
    ("decoder", "expected"),
    [
        (FUSE, b"a"),
        ({"type": "WordPiece", "prefix": "##", "cleanup": False}, b" a"),
        (replace("a", "bc"), b"bc"),
    ],
)
def test_a_token_does_not_include_text_that_a_decoder_adds_around_it(
    decoder: dict[str, Any], expected: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document(decoder=decoder)), encoding="utf-8")
    reference = reference_for(path)
    (number,) = reference.encode("a", False)
    assert reference.token_bytes(number) == expected
    assert_same(converted(path), reference, strings=60)
