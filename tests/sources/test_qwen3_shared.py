"""Qwen3's file is small."""

from pathlib import Path

from tokexport.conversion import convert

MB = 1_000_000
QWEN3 = Path("tokenizers", "qwen3")


def test_a_complete_file_has_at_most_5_3_megabytes(shared: Path, tmp_path: Path) -> None:
    done = convert(shared / QWEN3, tmp_path / "tokenizer.bin")
    assert done.size <= 5.3 * MB
    assert {"SCOR", "TEST", "CHAT", "NORM"} <= done.sections.keys()


def test_a_decode_only_file_has_at_most_2_3_megabytes(shared: Path, tmp_path: Path) -> None:
    assert convert(shared / QWEN3, tmp_path / "tokenizer.bin", decode_only=True).size <= 2.3 * MB
