"""The command line as a part of pipes and scripts: streams, exit codes, help."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from tokexport.cli import COMMANDS

MAIN = [sys.executable, "-c", "from tokexport.cli import main; main()"]


def start(*arguments, **options):
    return subprocess.run(
        [*MAIN, *map(str, arguments)], capture_output=True, check=False, timeout=60, **options
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_by_examples(command, run):
    outcome = run(command, "--help")
    assert outcome.code == 0
    assert f"tokexport {command}" in outcome.text.split("Options:")[0].split("\n", 2)[2]


@pytest.mark.parametrize("command", [each for each in COMMANDS if each != "demo"])
def test_every_command_takes_json(command, run):
    assert "--json" in run(command, "--help").text


def test_the_version_is_that_of_the_package(run):
    from tokexport import __version__

    assert run("--version").text == f"tokexport {__version__}\n"


def test_an_unknown_command_is_a_usage_error(run):
    assert run("frobnicate").code == 2


def test_no_traceback_for_an_expected_error_and_one_for_a_bug(tmp_path):
    expected = start("inspect", tmp_path / "nothing.bin", cwd=tmp_path)
    assert (expected.returncode, expected.stdout) == (2, b"")
    assert b"Traceback" not in expected.stderr
    bug = subprocess.run(
        [sys.executable, "-c", "import tokexport.cli as c; c.commands.get_command = None; c.main()", "inspect"],
        capture_output=True, check=False, cwd=tmp_path, env={**os.environ},
    )  # fmt: skip
    assert bug.returncode == 2
    assert b"Traceback" in bug.stderr


def test_a_reader_that_goes_away_is_not_an_error_message(small_file, tmp_path):
    with subprocess.Popen(
        [*MAIN, "inspect", str(small_file("gpt2")), "--tokens"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    ) as process:
        process.stdout.close()
        errors = process.stderr.read()
    assert errors == b""
    assert process.returncode not in (0, 1, 2)


def on_a_terminal(*arguments, cwd):
    """What a command writes to a terminal, stdout and stderr together."""
    master, slave = pty.openpty()
    process = subprocess.Popen([*MAIN, *map(str, arguments)], stdout=slave, stderr=slave, cwd=cwd)
    os.close(slave)
    parts = []
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(master)
    assert process.wait(timeout=60) == 0
    return b"".join(parts)


def test_decoded_controls_are_escaped_on_a_terminal_and_raw_in_a_pipe(small_file, tmp_path):
    path = small_file("gpt2")
    ids = start("encode", path, input=b"\x1b[31mred", cwd=tmp_path).stdout.split()
    ids = [each.decode() for each in ids]
    assert start("decode", path, *ids, cwd=tmp_path).stdout == b"\x1b[31mred"
    assert on_a_terminal("decode", path, *ids, cwd=tmp_path).rstrip() == b"\\x1b[31mred"


def test_progress_is_shown_on_a_terminal_only(small_file, small_source, tmp_path):
    arguments = (
        "verify",
        small_file("gpt2"),
        "--against",
        small_source("gpt2"),
        "--only",
        "token:300",
    )
    assert b"[====" in on_a_terminal(*arguments, cwd=tmp_path)
    assert start(*arguments, cwd=tmp_path).stderr == b""
