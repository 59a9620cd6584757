"""Pairs of vocab.json and merges.txt beside other files, and the comparison with the tokenizer that
they stand for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tokenizers
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

import tokexport
from tokexport.sources.references import Mode, reference_for


def write(folder: Path, vocab: dict[str, int], merges: list[tuple[str, str]], **files: Any) -> Path:
    """Writes a pair, and ``files`` as JSON by their names; gives the folder."""
    (folder / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    lines = ["#version: 0.2", *(" ".join(merge) for merge in merges), ""]
    (folder / "merges.txt").write_text("\n".join(lines), encoding="utf-8")
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def check_same(
    source: Path,
    target: Path,
    theirs: tokenizers.Tokenizer,
    texts: SearchStrategy[str],
    second: str,
    examples: int,
) -> None:
    """Asserts that a pair is read as ``theirs``: by ids, decoded texts, and ids of a text with a
    ``second`` one.
    """
    ours = tokexport.load(tokexport.convert(source, target, force=True).target)
    reference = reference_for(source)

    @settings(max_examples=examples)
    @given(texts)
    def check(text: str) -> None:
        for around in (False, True):
            ids = theirs.encode(text, add_special_tokens=around).ids
            assert ours.encode(text, allowed_special="all", add_special_tokens=around) == ids
            assert reference.encode_batch([text], Mode.TEMPLATE if around else Mode.IDS)[0] == ids
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
        two = theirs.encode(text, second)
        assert (
            ours.encode_pair(text, second, allowed_special="all", add_special_tokens=True)
            == two.ids
        )

    check()
