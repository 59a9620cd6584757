"""The educational reader's command shows ids, and reports any error in a sentence."""

import os
import subprocess
import sys

import golden_files
import pytest
from repository import ROOT


def run(*words: object, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tokexport_reader", *map(str, words)]
    return subprocess.run(
        command,
        cwd=ROOT / "formats" / "tokexport" / "reader",
        env={**os.environ, "PYTHONIOENCODING": encoding},
        encoding=encoding,
        capture_output=True,
        check=False,
    )


def test_the_ids_and_their_parts_of_the_text_are_shown() -> None:
    shown = run(golden_files.FOLDER / "holes.bin", "ab").stdout.splitlines()
    assert [line.split() for line in shown] == [
        ["97", "'a'", "b'a'"],
        ["98", "'b'", "b'b'"],
        ["'ab'"],
    ]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["nothing.bin"], "nothing.bin: No such file or directory"),
        (["."], ".: Is a directory"),
        ([golden_files.FOLDER / "refused" / "DUPLICATE.bin"], "DUPLICATE.bin: TKX_E_DUPLICATE"),
        ([golden_files.FOLDER / "decode-last.bin"], "decode-last.bin: TKX_E_NO_ENCODER"),
        ([golden_files.FOLDER / "holes.bin", "\udcff"], "holes.bin: TKX_E_UTF8"),
        ([], "the following arguments are required: file"),
    ],
)
def test_an_error_is_one_sentence(words: list[object], error: str) -> None:
    failed = run(*words)
    assert (failed.returncode != 0, failed.stdout) == (True, "")
    assert failed.stderr.endswith(f"{error}\n")
    assert "Traceback" not in failed.stderr


def test_an_output_that_cannot_encode_the_text_gets_escapes() -> None:
    shown = run(golden_files.FOLDER / "behaviors.bin", "é", encoding="ascii")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.endswith("'\\xe9'\n")


def test_its_help_says_what_it_does() -> None:
    assert "encodes a text, shows its ids" in run("--help").stdout
