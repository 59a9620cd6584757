"""What llama.cpp does with a GGUF otherwise than the source's library is a warning that says what,
and there is no warning where it does the same. The facts are those of llama.cpp itself.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT, script

from tokexport.sources.gguf.metadata import read_metadata
from tokexport.sources.gguf.patterns import ORIGINALS
from tokexport.sources.tokenizer_json.document import added_token
from tokexport.targets.llamacpp_differs import SPLITTERS
from tokexport.targets.write import write_target

pytest.importorskip("gguf")
GOLDEN = script(ROOT / "formats" / "golden_targets.py")


def losses(source: Path, target: Path) -> dict[str, str]:
    """What writing a GGUF warns of, by the name of the part."""
    found = write_target(source, "gguf", target, force=True).losses
    return {loss.part.name: loss.meaning for loss in found}


def document(folder: Path, drop: Sequence[str] = (), **parts: Any) -> Path:
    """The golden tokenizer.json without a normalizer, with tokens that no text has in place of
    ``drop``, and with other parts.
    """
    found = GOLDEN.byte_document()
    vocab = found["model"]["vocab"].items()
    found["model"]["vocab"] = {f"~{id}" if text in drop else text: id for text, id in vocab}
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(found | {"normalizer": None} | parts), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", sorted({*SPLITTERS, "qwen2", "llama-bpe", "gpt-2", "starcoder"}))
def test_a_splitter_that_differs_is_a_warning_with_its_name(name: str, tmp_path: Path) -> None:
    source = document(tmp_path, pre_tokenizer=ORIGINALS[name].pre_tokenizer)
    found = losses(source, tmp_path / "it.gguf")
    values = read_metadata((tmp_path / "it.gguf").read_bytes(), "it.gguf", ("tokenizer.",))
    written = values["tokenizer.ggml.pre"]
    assert ("PRE_TOKENIZER" in found) == (name in SPLITTERS) == (written in SPLITTERS)
    if written in SPLITTERS:
        assert found["PRE_TOKENIZER"] == f"llama.cpp's splitter for {written} {SPLITTERS[name]}"


@pytest.mark.parametrize(
    ("token", "special", "meaning"),
    [
        ("</s>", False, "takes </s> for a control token"),
        ("</s>", True, None),
        ("<|channel|>", True, "finds <|channel|> in every text"),
        ("<|channel|>", False, None),
        ("<user>", False, None),
    ],
)
def test_a_token_that_llamacpp_knows_by_name_is_a_warning(
    token: str, special: bool, meaning: str | None, tmp_path: Path
) -> None:
    added = [added_token(269, token, special=special)]
    found = losses(document(tmp_path, added_tokens=added), tmp_path / "it.gguf")
    assert meaning in (None, found.get("SPECIAL", "").removeprefix("llama.cpp ").partition(",")[0])
    assert (meaning is None) == ("SPECIAL" not in found)
