"""The weights file matches formats/weights, and has the values of the checkpoint."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import config, random_tensors, write_checkpoint
from repository import ROOT
from struct_fields import fields

from tokexport.errors import SourceError, TokexportError, UnsupportedError
from tokexport.weights import export
from tokexport.weights.layout import HEADER, aligned, tensors

README = ROOT / "formats" / "weights" / "README.md"


def test_the_table_of_the_header_matches_the_declaration() -> None:
    rows = re.findall(r"\| (\d+) \| ([^|]+) \| `(\w+)` \| ([^|]*) ?\|", README.read_text("utf-8"))
    for row, (*expected, words) in zip(rows, fields(HEADER), strict=True):
        assert [*row[:3]] == expected
        assert not words or row[3].strip() == words


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_every_tensor_is_where_the_layout_says(dtype: Any, tmp_path: Path) -> None:
    settings = config("qwen3")
    source = random_tensors(settings, 3)
    report = export(write_checkpoint(tmp_path / "m", settings, source), tmp_path / "w", dtype=dtype)
    content = (tmp_path / "w").read_bytes()
    at, largest = HEADER.sizeof(), 0.0

    def read(count: int, kind: str) -> np.ndarray[Any, np.dtype[Any]]:
        nonlocal at
        begin = aligned(at)
        assert not any(content[at:begin])
        values = np.frombuffer(content, kind, count, begin)
        at = begin + values.nbytes
        return values

    for tensor in tensors(report.shape):
        count = tensor.rows * tensor.columns
        if not (tensor.is_matrix and dtype == "int8"):
            values = read(count, "<f4")
        else:
            codes, scales = read(count, "i1"), read(count // 64, "<f4")
            values = (codes.reshape(-1, 64) * scales[:, None]).ravel()
        if tensor.source is not None:
            error = float(np.abs(values - source[tensor.source].ravel()).max())
            assert error == 0 or (tensor.is_matrix and dtype == "int8")
            largest = max(largest, error)
    assert at == len(content) == report.size
    assert report.largest_error == pytest.approx(largest, rel=1e-5)
    assert (report.mean_error > 0) == (dtype == "int8")


def test_numbers_of_sixteen_bits_are_widened(tmp_path: Path) -> None:
    import ml_dtypes

    settings = config()
    weights = random_tensors(settings, 4)
    for name, narrow in (("half", np.float16), ("brain", ml_dtypes.bfloat16)):
        folder = write_checkpoint(
            tmp_path / name, settings, {key: value.astype(narrow) for key, value in weights.items()}
        )
        widened = {key: value.astype(narrow).astype(np.float32) for key, value in weights.items()}
        plain = write_checkpoint(tmp_path / f"{name} as float32", settings, widened)
        for source in (folder, plain):
            export(source, source / "w")
        assert (folder / "w").read_bytes() == (plain / "w").read_bytes()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"model_type": "gpt2"},
            "model_type: a model of the type 'gpt2' is not supported; use llama or qwen3",
        ),
        (
            {"attention_bias": True},
            "attention_bias: a model with attention_bias True is not supported",
        ),
        (
            {"hidden_act": "gelu"},
            "hidden_act: a model with hidden_act 'gelu' is not supported; only 'silu' is supported",
        ),
        (
            {"rope_scaling": {"rope_type": "yarn", "factor": 4.0}},
            "the scaling 'yarn' is not supported",
        ),
    ],
)
def test_a_model_of_another_style_is_refused(
    changes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    folder = write_checkpoint(tmp_path / "m", config(**changes), random_tensors(config(), 5))
    with pytest.raises(UnsupportedError, match=re.escape(problem)):
        export(folder, tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_a_broken_checkpoint_is_refused_with_the_location(tmp_path: Path) -> None:
    settings, good = config(), random_tensors(config(), 6)
    broken = {
        "has no tensor model.norm.weight": {k: v for k, v in good.items() if "model.norm" not in k},
        "has the shape [3], but config.json requires [128]": {
            **good,
            "model.norm.weight": np.ones(3, np.float32),
        },
        "a number that is not finite": {**good, "model.norm.weight": np.full(128, np.nan, "f4")},
    }
    for problem, changed in broken.items():
        folder = write_checkpoint(tmp_path / "m", settings, changed)
        with pytest.raises(SourceError, match=re.escape(problem)):
            export(folder, tmp_path / "w")
        assert [*tmp_path.glob("w")] == [*tmp_path.glob(".tokexport*")] == []
    (tmp_path / "m" / "config.json").write_text("{")
    with pytest.raises(SourceError, match="it is not JSON"):
        export(tmp_path / "m", tmp_path / "w")
    for other in (tmp_path, tmp_path / "m" / "config.json"):
        with pytest.raises(SourceError, match="give the folder of a Hugging Face checkpoint"):
            export(other, tmp_path / "w")


def test_int8_needs_rows_of_whole_groups(tmp_path: Path) -> None:
    settings = config(hidden_size=96, head_dim=24)
    folder = write_checkpoint(tmp_path / "m", settings, random_tensors(settings, 7))
    with pytest.raises(UnsupportedError, match="rows must be multiples of 64; use float32"):
        export(folder, tmp_path / "w", dtype="int8")
    export(folder, tmp_path / "w")
    with pytest.raises(TokexportError, match="exists already"):
        export(folder, tmp_path / "w")
