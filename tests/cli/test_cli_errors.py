"""Errors of the operating system are reported with the name of what could not be written."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import PathOf, Run

from tokexport.errors import TokexportError
from tokexport.output import naming, writing

MAIN = [sys.executable, "-c", "from tokexport.cli import main; main()"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_named(unbuffered: str, small_file: PathOf) -> None:
    path = str(small_file("gpt2"))
    for command in (["encode", path, "text"], ["decode", path, "1"], ["inspect", path]):
        with Path("/dev/full").open("wb") as out:
            streams: dict[str, Any] = {"stdout": out, "stderr": subprocess.PIPE}
            environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
            failed = subprocess.run(
                [*MAIN, *command], **streams, check=False, timeout=60, env=environment
            )
        assert failed.returncode == 2
        assert failed.stderr == b"tokexport: standard output: No space left on device\n"


def test_a_read_only_file_system_does_not_hide_the_name_of_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))

    monkeypatch.setattr(Path, "open", fails)
    monkeypatch.setattr(Path, "unlink", fails)
    target = tmp_path / "x.bin"
    sentence = r"x\.bin: cannot be written: Read-only file system$"
    with pytest.raises(TokexportError, match=sentence), writing(target):
        pass
    with pytest.raises(TokexportError, match=sentence), naming(target, tmp_path / "part"):
        target.open("wb")


def test_messages_that_are_cut_off_are_refused_as_such(
    run: Run, small_file: PathOf, tmp_path: Path
) -> None:
    (tmp_path / "m.json").write_text('[{"role": "us')
    outcome = run("chat-template", small_file("gpt2"), tmp_path / "m.json")
    assert outcome.code == 2
    assert "m.json: line 1, column 11 is not JSON: the file ends in the middle" in outcome.stderr
    assert "; it seems to be cut off" in outcome.stderr
