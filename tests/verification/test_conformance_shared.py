"""Real tokenizers give the ids of their own library: on random strings, on texts, and on vectors
that other projects publish.
"""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest
from references import reference_for
from repository import SLOW
from shared_collection import CONVERTED, REFUSED, Case, corpora, stress_strings, vectors

from tokexport.conversion import convert
from tokexport.errors import SourceError, TokexportError, UnsupportedError
from tokexport.runtime.tokenizer import load
from tokexport.sources.reference import Mode
from tokexport.verification import compare
from tokexport.verification.comparison import Comparison

STRINGS = 100_000 if SLOW else 300
TOKEN_STEP = 1 if SLOW else 20
CASES = [case for case in CONVERTED if SLOW or not case.slow]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.name}-{case.pattern}" if case.pattern else case.name
)
def test_a_real_tokenizer_gives_the_ids_of_its_library(
    case: Case, shared: Path, tmp_path: Path
) -> None:
    source = shared / "tokenizers" / case.source
    target = tmp_path / "tokenizer.bin"
    convert(source, target, pattern=case.pattern)
    tokenizer, reference = load(target), reference_for(source, pattern=case.pattern)

    assert tokenizer.self_test() > 0
    for vector in vectors(shared, case):
        mode = Mode.TEMPLATE if vector["add_special"] else Mode.IDS
        ids = tokenizer.encode(
            vector["text"], allowed_special="all", add_special_tokens=vector["add_special"]
        )
        if mode is Mode.TEMPLATE and case.source.endswith(
            ".model"
        ):  # who calls the library asks it for BOS
            assert tokenizer.special_ids.bos is not None
            ids.insert(0, tokenizer.special_ids.bos)
        # One vector is published with the ids of a pair and the first text alone: the library does
        # not confirm it.
        assert vector["ids"] == ids or ids == reference.encode_batch([vector["text"]], mode)[0], (
            vector["text"]
        )

    texts = corpora(shared) if SLOW else [shared / "corpora" / "unicode" / "mixed_input.txt"]
    result = compare(
        tokenizer, reference, strings=STRINGS, texts=texts, code_points=SLOW, token_step=TOKEN_STEP
    )
    assert result.ok, "\n".join(result.lines())

    stress = Comparison(tokenizer, reference)
    # Each tokenizer has its own ninth of them, unless time does not matter.
    some = slice(None) if SLOW else slice(crc32(case.name.encode()) % 9, None, 9)
    strings = [
        (f"stress:{number}", string) for number, string in enumerate(stress_strings(shared))
    ][some]
    stress.texts("stress strings", strings, reference.modes() if SLOW else (Mode.TEXT, Mode.IDS))
    assert stress.result(()).ok, "\n".join(stress.result(()).lines())


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_tokenizer_or_broken_is_refused_with_a_sentence_and_leaves_nothing(
    name: str, shared: Path, tmp_path: Path
) -> None:
    target = tmp_path / "tokenizer.bin"
    with pytest.raises((UnsupportedError, SourceError)) as refusal:
        convert(shared / "tokenizers" / name, target)
    assert isinstance(refusal.value, TokexportError)
    assert len(str(refusal.value).split()) > 5
    assert list(tmp_path.iterdir()) == []
