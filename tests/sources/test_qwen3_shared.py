"""Qwen3's file is small."""

from pathlib import Path

from tokexport.conversion import convert


def test_a_complete_file_has_at_most_5_3_megabytes(shared: Path, tmp_path: Path) -> None:
    done = convert(shared / "tokenizers" / "qwen3", tmp_path / "tokenizer.bin")
    assert done.size <= 5_300_000
    assert {"SCOR", "TEST", "CHAT", "NORM"} <= done.sections.keys()


def test_a_decode_only_file_has_at_most_2_3_megabytes(shared: Path, tmp_path: Path) -> None:
    done = convert(shared / "tokenizers" / "qwen3", tmp_path / "tokenizer.bin", decode_only=True)
    assert done.size <= 2_300_000
