"""Real tokenizers have the ids of their library on strings, texts and published vectors."""

from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from conformance.find import Found
from conformance.measure import Job, measure
from repository import SLOW
from shared_collection import REFUSED, converted, corpora, stress_strings

from tokexport.conversion import convert
from tokexport.errors import SourceError, TokexportError, UnsupportedError

STRINGS = 5_000 if SLOW else 300
TOKEN_STEP = 1 if SLOW else 20


@pytest.mark.parametrize("found", converted(), ids=lambda found: f"{found.name} {found.pattern}")
def test_a_real_tokenizer_produces_the_ids_of_its_library(
    found: Found, shared: Path, tmp_path: Path
) -> None:
    # Each tokenizer gets a ninth of the texts, and of the stress strings unless in a slow run. All
    # texts would take a minute each; `python -m tests.conformance` can compare them.
    ninth = slice(crc32(found.name.encode()) % 9, None, 9)
    texts = corpora(shared)[ninth] if SLOW else [shared / "corpora" / "unicode" / "mixed_input.txt"]
    selected = slice(None) if SLOW else ninth
    stress = tmp_path / "stress.txt"
    stress.write_bytes("\n".join(stress_strings(shared)[selected]).encode())
    options: dict[str, Any] = {"texts": (*texts, stress), "vectors": shared / "vectors"}
    options |= {"code_points": SLOW, "token_step": TOKEN_STEP}
    outcome = measure(Job(shared / "tokenizers", found, STRINGS, 0, **options))
    assert (outcome.state, outcome.sentence) == ("same", "")


@pytest.mark.parametrize("name", REFUSED)
def test_a_broken_file_is_refused_with_a_sentence_and_leaves_no_file(
    name: str, shared: Path, tmp_path: Path
) -> None:
    target = tmp_path / "tokenizer.bin"
    with pytest.raises((UnsupportedError, SourceError)) as refusal:
        convert(shared / "tokenizers" / name, target)
    assert isinstance(refusal.value, TokexportError)
    assert len(str(refusal.value).split()) > 5
    assert list(tmp_path.iterdir()) == []
