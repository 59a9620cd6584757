"""BPE over characters gives the reference's ids: byte fallback, unknown tokens, affixes, and cuts
where no merge crosses.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import random_character_models
import tokenizers
import tokexport_reader
from repository import SLOW
from tokenizers import Tokenizer

from tokexport.conversion import Options, file_bytes
from tokexport.errors import TextError, UnsupportedError
from tokexport.runtime.tokenizer import load
from tokexport.sources import read

SEEDS = range(20_000 if SLOW else 100)
TOGETHER = 50


def converted(source: dict[str, Any], folder: Path) -> bytes:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(source), encoding="utf-8")
    return file_bytes(read(path), Options())


SPLIT = {"type": "Split", "pattern": {"Regex": "[ \n]+"}, "behavior": "Isolated", "invert": False}


@pytest.mark.parametrize("first", SEEDS[::TOGETHER])
def test_a_random_model_is_exact_or_refused(first: int, tmp_path: Path) -> None:
    exact = 0
    for seed in range(first, first + TOGETHER):
        r = random.Random(seed)
        model = random_character_models.character_model(seed)
        source = random_character_models.tokenizer_json(model, r.choice([None, SPLIT]))
        reference = Tokenizer.from_str(json.dumps(source))
        try:
            content = converted(source, tmp_path)
        except UnsupportedError:
            continue
        exact += 1
        tokenizer, file = load(content), tokexport_reader.open_file(content)
        texts = [random_character_models.text(r, 24) for _ in range(60)]
        texts += ["".join(r.choices(list(model["vocab"]), k=r.randint(1, 6))) for _ in range(20)]
        for text in texts:
            assert stopping(tokenizer.encode, text) == ids_of(reference, text), (seed, text)
        for text in texts[:5]:
            specified = stopping(partial(by_specification, file), text[:40])
            assert specified == ids_of(reference, text[:40]), (seed, text)
    assert exact > TOGETHER * 0.7


def by_specification(file: tokexport_reader.File, text: str) -> list[int]:
    return tokexport_reader.encode(file, text.encode())


def ids_of(reference: Tokenizer, text: str) -> list[int] | None:
    """The ids, or None where the library stops because its unknown token is no token."""
    try:
        return list(reference.encode(text).ids)
    except Exception as error:
        if "Unk token" not in str(error):
            raise
        return None


def stopping(encode: Callable[[str], list[int]], text: str) -> list[int] | None:
    try:
        return encode(text)
    except TextError:
        return None
    except tokexport_reader.TokexportError as error:
        if error.name != "TKX_E_UNKNOWN_TEXT":
            raise
        return None


MARK = "\u2581"
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}


@pytest.mark.parametrize("split", [None, SPLIT, {"type": "Digits", "individual_digits": False}])
def test_both_sides_of_a_cut_give_the_ids_of_the_whole(
    split: dict[str, Any] | None, tmp_path: Path
) -> None:
    cut = 0
    for seed in range(16):
        r = random.Random(seed)
        model = random_character_models.character_model(seed)
        source = random_character_models.tokenizer_json(model, split) | {"normalizer": REPLACE}
        source["added_tokens"] = [
            {
                "id": len(model["vocab"]),
                "content": "b e",
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
            }
            | {"normalized": seed % 2 == 0, "special": False}
        ]
        try:
            file = tokexport_reader.open_file(converted(source, tmp_path))
        except UnsupportedError:
            continue
        reference, cuts = (
            Tokenizer.from_str(json.dumps(source)),
            file.sections.get(b"CUTS", bytes(2048)),
        )
        for _ in range(20):
            text = "".join(r.choices("abcdexy \n1", k=30))
            ids = ids_of(reference, text)
            for at in range(1, len(text)):
                x, y = ord(text[at - 1]), ord(text[at])
                if ids is not None and cuts[16 * x + (y >> 3)] >> (y & 7) & 1:
                    cut += 1
                    assert (
                        reference.encode(text[:at]).ids + reference.encode(text[at:]).ids == ids
                    ), (seed, text, at)
    assert cut > 300


def test_an_unknown_token_that_is_a_character_merges_as_such_too(tmp_path: Path) -> None:
    vocab = {"u": 0, "a": 1, "b": 2, "au": 3, "ub": 4}
    model = {"type": "BPE", "unk_token": "u", "vocab": vocab, "merges": [["a", "u"], ["u", "b"]]}
    for fuse in (True, False):
        source = {
            "version": "1.0",
            "added_tokens": [],
            "model": {**model, "fuse_unk": fuse, "byte_fallback": False},
        }
        path = tmp_path / f"{fuse}.json"
        path.write_text(json.dumps(source), "utf-8")
        runtime, reference = load(file_bytes(read(path))), tokenizers.Tokenizer.from_file(str(path))
        for letters in itertools.product("aub\u4e2d", repeat=5):
            text = "".join(letters)
            assert runtime.encode(text) == reference.encode(text).ids, text
