"""The command line as a part of pipes and scripts: streams, exit codes, help."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tokexport.cli.app import COMMANDS

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


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_json(command, run):
    assert "--json" in run(command, "--help").text


def test_the_help_says_what_each_command_does_in_a_whole_sentence():
    text = start("--help", env={**os.environ, "COLUMNS": "80"}).stdout.decode()
    summaries = [
        line for line in text.splitlines() if line.split()[:1] in [[name] for name in COMMANDS]
    ]
    assert len(summaries) == len(COMMANDS)
    assert all(line.endswith(".") and not line.endswith("...") for line in summaries)
    assert "_TOKEXPORT_COMPLETE" in text


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
        [sys.executable, "-c", "import tokexport.cli.app as c; c.commands.get_command = None; c.commands()", "inspect"],
        capture_output=True, check=False, cwd=tmp_path, env={**os.environ},
    )  # fmt: skip
    assert bug.returncode == 2
    assert b"Traceback" in bug.stderr


@pytest.mark.parametrize(
    "arguments", [["encode", "nothing.bin", "a"], ["decode", "nothing.bin", "1"], ["bench", "nothing.bin"],
                  ["inspect", "nothing.bin"], ["diff", "nothing.bin", "nothing.bin"], ["convert", "nothing.bin"],
                  ["verify", "nothing.bin", "--against", "nothing.json"]],
)  # fmt: skip
def test_a_missing_file_is_named_without_a_number_of_the_system(arguments, run):
    outcome = run(*arguments)
    assert (outcome.code, outcome.stdout) == (2, b"")
    assert "nothing.bin" in outcome.stderr
    assert "Errno" not in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    error = json.loads(run(*arguments, "--json").stderr)
    assert error["schema_version"] == 1
    assert "nothing.bin" in error["error"]["message"]


def test_errors_of_usage_and_refusals_are_objects_too(run, tmp_path):
    assert json.loads(run("encode", "--json").stderr)["error"]["kind"] == "MissingParameter"
    document = {
        "version": "1.0",
        "normalizer": {"type": "Other"},
        "model": {"type": "BPE", "vocab": {}, "merges": []},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    error = json.loads(run("convert", tmp_path, "-o", tmp_path / "x", "--json").stderr)["error"]
    assert (error["kind"], error["path"]) == ("UnsupportedError", "normalizer.type")
    assert error["hint"]


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


def test_head_ends_a_long_encoding_at_once_and_in_little_memory(small_file, tmp_path):
    """The text has no end: nothing waits for the whole of it."""
    for arguments in (("encode", "--tokens"), ("encode", "--json"), ("decode",)):
        with subprocess.Popen(
            [*MAIN, arguments[0], str(small_file("gpt2")), *arguments[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
        ) as process:
            feeder = threading.Thread(target=feed_for_ever, args=(process.stdin,))
            feeder.start()
            assert len(process.stdout.read(1 << 22)) == 1 << 22
            memory = peak_memory(process.pid)
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=60) not in (0, 1, 2)
            feeder.join()
        assert memory < 200_000  # KB


def feed_for_ever(pipe):
    with suppress(BrokenPipeError), pipe:
        while True:
            pipe.write(b"12 43 7 20\n" * 1000)


def peak_memory(process):
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return 0
    return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1])


def test_what_an_encoding_cannot_say_becomes_an_escape(small_file, tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    for arguments in (["inspect", small_file("qwen"), "--tokens"], ["inspect", small_file("qwen")]):
        outcome = start(*arguments, cwd=tmp_path, env=environment)
        assert (outcome.returncode, outcome.stderr) == (0, b"")
    shown = start("encode", small_file("gpt2"), "--tokens", "渡", cwd=tmp_path, env=environment)
    assert shown.returncode == 0


@pytest.mark.parametrize("descriptor", [0, 1, 2])
def test_a_stream_that_is_closed_is_no_traceback(descriptor, small_file, tmp_path):
    command = " ".join(map(shlex.quote, [*MAIN, "encode", str(small_file("gpt2"))]))
    shell = (
        f"{command} {'the' if descriptor else ''} {descriptor}{'<' if descriptor == 0 else '>'}&-"
    )
    outcome = subprocess.run(["sh", "-c", shell], capture_output=True, cwd=tmp_path, check=False)
    assert b"Traceback" not in outcome.stderr
    if descriptor == 2:
        assert outcome.returncode == 0
    else:
        assert outcome.returncode == 2
        assert b"is closed" in outcome.stderr


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
    assert b"token:300: 0 of 1" in on_a_terminal(*arguments, cwd=tmp_path)
    assert start(*arguments, cwd=tmp_path).stderr == b""
