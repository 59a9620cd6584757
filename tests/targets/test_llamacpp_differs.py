"""A warning says what llama.cpp itself does otherwise with a GGUF, and only where it does."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from references import converted, reference_for
from repository import ROOT, script

from tokexport.errors import TokexportError
from tokexport.model.byte_alphabet import to_characters
from tokexport.sources.gguf.metadata import read_metadata
from tokexport.sources.gguf.patterns import ORIGINALS
from tokexport.sources.tokenizer_json.document import added_token
from tokexport.targets.llamacpp_differs import SPLITTERS
from tokexport.targets.registry import TARGETS
from tokexport.targets.write import write_target

pytest.importorskip("gguf")
GOLDEN = script(ROOT / "formats" / "golden_targets.py")


def losses(source: Path, target: Path) -> dict[str, str]:
    """What writing a GGUF warns of, by the name of the part."""
    found = write_target(source, "gguf", target, force=True).losses
    return {loss.part.name: loss.meaning for loss in found}


def document(
    folder: Path, drop: Sequence[str] = (), more: Sequence[str] = (), **parts: Any
) -> Path:
    """The golden tokenizer.json without a normalizer, with tokens that no text has in place of
    ``drop``, ``more`` tokens that no merge makes, and with other parts.
    """
    found = GOLDEN.byte_document(more)
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
        with pytest.raises(TokexportError, match=r"splitter.*compare with llama\.cpp itself"):
            TARGETS["gguf"].runtime(tmp_path / "it.gguf", {})


def test_bytes_of_no_text_need_no_tokens(tmp_path: Path) -> None:
    drop = to_characters(bytes([0xC0, 0xC1, *range(0xF5, 0x100)]))
    source = document(tmp_path, drop)
    assert losses(source, tmp_path / "it.gguf") == {}
    for text in ("the ferry \u00e9", "\U0010ffff\u07ff"):
        ids = reference_for(source).encode(text, False)
        assert list(converted(tmp_path / "it.gguf").encode(text)) == ids


def test_a_byte_without_a_token_is_a_warning(tmp_path: Path) -> None:
    source = document(tmp_path, to_characters(b"\x03\xff"))
    assert "such as 0x03, after it has merged" in losses(source, tmp_path / "it.gguf")["UNKNOWN"]


@pytest.mark.parametrize(
    ("token", "special", "meaning"),
    [
        ("</s>", False, "takes </s> for a control token"),
        ("</s>", True, None),
        ("<|channel|>", True, "finds <|channel|> in every text"),
        ("<|channel|>", False, None),
        ("<user>", False, None),
        ("<|call|> <|return|> <|end|>", True, "finds <|end|> in every text"),
        ("<|calls|> <|flush|> <|end|>", True, "finds <|end|> in every text"),
        ("<|calls|> <|call|> <|end|>", True, None),
        ("</s> <|tool_response>", True, "takes </s> for a normal token"),
    ],
)
def test_a_token_that_llamacpp_knows_by_name_is_a_warning(
    token: str, special: bool, meaning: str | None, tmp_path: Path
) -> None:
    names = token.split()
    added = [added_token(269 + n, name, special=special) for n, name in enumerate(names)]
    found = losses(document(tmp_path, added_tokens=added), tmp_path / "it.gguf")
    sentence = found.get("SPECIAL", "")
    assert bool(sentence) == (meaning is not None)
    assert sentence.startswith(f"llama.cpp {meaning}" if meaning else "")


@pytest.mark.parametrize(
    ("names", "text", "ids"),
    [
        (["</s>"], "the</s>the", [257, 269, 257]),
        (["</s>", "<|tool_response>"], "the</s>the", [257, 60, 47, 115, 62, 257]),
        (["<|end|>", "<|call|>", "<|return|>"], "the<|end|>the", [257, 269, 257]),
    ],
)
@pytest.mark.parametrize("special", [True, False])
def test_a_token_known_by_name_has_the_ids_of_llamacpp(
    names: list[str], text: str, ids: list[int], special: bool, tmp_path: Path
) -> None:
    added = [added_token(269 + n, name, special=special) for n, name in enumerate(names)]
    write_target(document(tmp_path, added_tokens=added), "gguf", tmp_path / "it.gguf")
    assert TARGETS["gguf"].runtime(tmp_path / "it.gguf", {}).encode(text) == ids


def test_a_name_that_stands_for_ranks_is_only_for_merges_of_ranks(tmp_path: Path) -> None:
    original = ORIGINALS["hunyuan"]
    parts: dict[str, Any] = {
        "normalizer": original.normalizer,
        "pre_tokenizer": original.pre_tokenizer,
    }
    for more, name in ([], "hunyuan"), (["zz"], "qwen2"):  # no merge makes it, as ranks would
        source = document(tmp_path, more=more, **parts)
        fields = json.loads(source.read_text("utf-8"))
        fields["model"]["ignore_merges"] = True
        source.write_text(json.dumps(fields), "utf-8")
        assert "PAIRS" not in losses(source, tmp_path / "it.gguf")
        values = read_metadata((tmp_path / "it.gguf").read_bytes(), "it.gguf", ("tokenizer.",))
        assert values["tokenizer.ggml.pre"] == name


@pytest.mark.parametrize(
    ("tokens", "key"),
    [
        ({"<fim_prefix>": False, "<PRE>": False}, 269),
        ({"<fim_prefix>": False, "<PRE>": True}, 270),
        ({"<fim_prefix>": True, "<PRE>": True}, None),
    ],
)
def test_a_token_to_fill_in_with_keeps_its_type(
    tokens: dict[str, bool], key: int | None, tmp_path: Path
) -> None:
    added = [added_token(269 + n, name, special=tokens[name]) for n, name in enumerate(tokens)]
    assert losses(document(tmp_path, added_tokens=added), tmp_path / "it.gguf") == {}
    values = read_metadata((tmp_path / "it.gguf").read_bytes(), "it.gguf", ("tokenizer.",))
    # Without the key, the first of the names that llama.cpp comes upon is a control token.
    assert values.get("tokenizer.ggml.fim_pre_token_id") == key


@pytest.mark.parametrize(
    ("name", "token", "whole", "ids"),
    [
        ("gpt-2", "zz", True, [122, 122]),
        ("gpt-2", "zz", False, [122, 122]),
        ("llama-bpe", "zz", True, [269]),
        ("minicpm5", "zz", True, [269]),
        ("minicpm5", "zz", False, [269]),
        ("gpt-2", "z-z", True, [122, 45, 122]),  # no pre-token
        ("gpt-2", "the", True, [257]),  # a merge makes it
    ],
)
def test_a_token_that_only_a_whole_pre_token_becomes_has_the_ids_of_llamacpp(
    name: str, token: str, whole: bool, ids: list[int], tmp_path: Path
) -> None:
    more = [token] * (token != "the")
    source = document(tmp_path, more=more, pre_tokenizer=ORIGINALS[name].pre_tokenizer)
    found = json.loads(source.read_text())
    found["model"]["ignore_merges"] = whole
    source.write_text(json.dumps(found))
    warnings = losses(source, tmp_path / "it.gguf")
    assert TARGETS["gguf"].runtime(tmp_path / "it.gguf", {}).encode(token) == ids
    same = reference_for(source).encode(token, False) == ids
    assert [*warnings] == ([] if same else ["MODEL"])
    pair = write_target(source, "vocab.json", tmp_path / "pair").losses
    assert ("MODEL" in {loss.part.name for loss in pair}) == (whole and token == "zz")


def test_merges_that_pieces_have_are_not_lost(sources: tuple[Path, Path], tmp_path: Path) -> None:
    write_target(sources[1], "tokenizer.json", tmp_path / "tokenizer.json")
    found = json.loads((tmp_path / "tokenizer.json").read_text())
    found["model"]["vocab"] |= {"tt": len(found["model"]["vocab"])}  # no merge makes it
    (tmp_path / "tokenizer.json").write_text(json.dumps(found))
    lost = losses(tmp_path / "tokenizer.json", tmp_path / "it.gguf")
    assert "ORDER" not in lost
    assert "PAIRS" in lost
