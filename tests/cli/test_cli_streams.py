"""The command line in pipes and scripts: streams, exit codes, help."""

import json
import os
import pty
import random
import re
import shlex
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import click
import pytest
from command_line import PathOf, Run
from reader_samples import document
from repository import small_source

import tokexport
from tokexport.cli.app import COMMANDS, commands

NAMES = ["model export" if name == "model" else name for name in COMMANDS]
MAIN = [sys.executable, "-c", "from tokexport.cli import main; main()"]


def start(*arguments: object, **how: Any) -> subprocess.CompletedProcess[bytes]:
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    return subprocess.run([*MAIN, *map(str, arguments)], check=False, timeout=60, **how)


@pytest.mark.parametrize("command", NAMES)
def test_every_command_has_examples_and_accepts_json(command: str, run: Run) -> None:
    outcome = run(*command.split(), "--help")
    assert outcome.code == 0
    assert f"tokexport {command}" in outcome.text.split("Options:")[0].split("\n", 2)[2]
    assert "--json" in outcome.text
    assert not re.search(r"\[([^]]+)\]\s+\[default:\s+\1", outcome.text)
    assert max(map(len, outcome.text.splitlines())) <= 80


@pytest.mark.parametrize("command", ["convert {0} --force -o", "diff {0}", "verify --against {0}"])
def test_quiet_prints_the_object_of_json(command: str, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "it.bin"
    tokexport.convert(small_source("gpt2"), file)
    quiet = run(*command.format(small_source("gpt2")).split(), file, "--quiet", "--json")
    assert (quiet.code, quiet.stderr) == (0, "")
    assert quiet.values["command"] == command.split()[0]


def test_the_help_describes_each_command_in_a_whole_sentence() -> None:
    text = start("--help", env={**os.environ, "COLUMNS": "80"}).stdout.decode()
    summaries = [line for line in text.splitlines() if line[2:].startswith(COMMANDS)]
    assert len(summaries) == len(COMMANDS)
    assert all(line.endswith(".") and not line.endswith("...") for line in summaries)
    assert "_TOKEXPORT_COMPLETE" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("group", ["", "model"])
def test_the_help_cuts_no_summary_in_a_narrow_terminal(group: str) -> None:
    texts = [
        start(*group.split(), "--help", env={**os.environ, "COLUMNS": columns}).stdout.decode()
        for columns in ("50", "100")
    ]
    narrow, wide = (text.partition("Commands:")[2].partition("Exit code")[0] for text in texts)
    assert "..." not in narrow
    assert narrow.split() == wide.split()
    assert max(map(len, narrow.splitlines())) <= 50


def test_a_bug_shows_its_traceback_and_exits_with_2(tmp_path: Path) -> None:
    panic = "class P(BaseException): pass\ndef f(*a): raise P\n"  # as of a library in Rust
    for how, broken in ("", "None"), (panic, "f"):
        code = (
            f"{how}import tokexport.cli.app as c; c.commands.get_command = {broken}; c.commands()"
        )
        command = [sys.executable, "-c", code, "inspect"]
        bug = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path)
        assert bug.returncode == 2
        assert b"Traceback" in bug.stderr


@pytest.mark.parametrize("command", [name for name in NAMES if name != "demo"])
def test_a_missing_file_is_named_without_an_errno_before_an_existing_target(
    command: str, run: Run, tmp_path: Path
) -> None:
    target = tmp_path / "tokenizer.bin"
    target.touch()
    more = dict.fromkeys(("convert", "count", "model export"), f"-o {target}")
    more |= {"encode": "a", "decode": "1", "diff": "x.bin", "verify": "--against x.json"}
    more |= {"tokenize": f"x.txt -o {tmp_path}", "train": f"--vocab-size 300 -o {tmp_path}"}
    more |= {"embed": f"x.safetensors -o {target}", "view": f"a -o {target}"}
    arguments = [*command.split(), "nothing.bin", *more.get(command, "").split()]
    refusal = run(*arguments).refusal
    assert "nothing.bin" in refusal
    assert "Errno" not in refusal
    assert refusal.count("\n") == 1
    error = run(*arguments, "--json").values
    assert error["schema_version"] == 2
    assert {*error["error"]} == {"kind", "message", "file", "path", "problem", "hint"}
    found = error["error"]
    assert (found["kind"], found["path"]) == ("SourceError", None)
    assert found["file"].startswith("nothing.bin")
    assert "nothing.bin" not in found["problem"] + found["hint"]
    hint = f"; {found['hint']}" if found["hint"] else ""
    assert found["message"] == f"{found['file']}: {found['problem']}{hint}"


PATHS = r"\b(FILE|DIR|PATH|INPUT|SOURCE|TOKENIZER|MODEL|FIRST|SECOND|MESSAGES|CHECKPOINT)\b"


@pytest.mark.parametrize("command", NAMES)
def test_an_empty_path_is_refused(command: str) -> None:
    found: click.Command | None = commands
    for name in command.split():
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), name)
    assert found is not None
    paths = [one for one in found.params if re.search(PATHS, one.metavar or str(one.name).upper())]
    assert paths
    for one in paths:
        with pytest.raises(click.BadParameter, match="an empty path names no file"):
            one.type_cast_value(click.Context(found), [""] if one.multiple or one.nargs < 0 else "")


def test_usage_errors_and_refusals_are_also_json_objects(run: Run, tmp_path: Path) -> None:
    assert run("frobnicate").code == 2
    assert "'SOURCE': an empty path names no file" in run("convert", "").refusal
    error = run("encode", "--json").values["error"]
    assert (error["kind"], error["hint"]) == ("MissingParameter", "")
    assert error["message"] == error["problem"]
    source = json.dumps(document(normalizer={"type": "Other"}))
    (tmp_path / "tokenizer.json").write_text(source, encoding="utf-8")
    error = run("convert", tmp_path, "-o", tmp_path / "x", "--json").values["error"]
    assert (error["kind"], error["path"]) == ("UnsupportedError", "normalizer.type")
    assert error["hint"]
    assert error["message"].endswith(f"{error['path']}: {error['problem']}; {error['hint']}")
    (tmp_path / "tokenizer.json").write_bytes(b"\xef\xbb\xbf{}")
    error = run("convert", tmp_path, "-o", tmp_path / "x", "--json").values["error"]
    assert (error["kind"], error["path"]) == ("SourceError", None)
    assert error["file"] == str(tmp_path / "tokenizer.json")
    assert error["hint"] == "remove its first three bytes"


def piped(*arguments: object, cwd: Path) -> Any:
    """A process whose streams are all pipes."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*MAIN, *map(str, arguments)], cwd=cwd, **pipes)


def test_a_closed_pipe_causes_no_error_message(small_file: PathOf, tmp_path: Path) -> None:
    for words in (["inspect", small_file("gpt2"), "--tokens"], ["--help"], ["encode", "--help"]):
        with piped(*words, cwd=tmp_path) as process:
            process.stdout.close()
            errors = process.stderr.read()
        assert errors == b""
        assert process.returncode not in (0, 1, 2)


def test_head_ends_encode_at_once_with_little_memory(small_file: PathOf, tmp_path: Path) -> None:
    """The text is endless: nothing may wait for all of it."""
    for command, *options in (
        ("encode", "--tokens"),
        ("encode", "--json"),
        ("encode", "--offsets"),
        ("decode",),
    ):
        with piped(command, small_file("gpt2"), *options, cwd=tmp_path) as process:
            feeder = threading.Thread(target=feed_for_ever, args=(process.stdin,))
            feeder.start()
            assert len(process.stdout.read(1 << 22)) == 1 << 22
            memory = peak_memory(process.pid)
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=60) not in (0, 1, 2)
            feeder.join()
        assert memory < 200_000  # KB


def test_json_of_a_million_ids_takes_little_memory(small_file: PathOf, tmp_path: Path) -> None:
    with piped("decode", small_file("gpt2"), "--json", cwd=tmp_path) as process:
        feeder = threading.Thread(target=feed_ids, args=(process.stdin, 250))
        feeder.start()
        start = process.stdout.read(1000)
        memory = peak_memory(process.pid)
        rest = process.stdout.read()
        feeder.join()
    result = json.loads(start + rest)
    assert len(result["tokens"]) == 1_000_000
    assert result["text"] == "".join(token["text"] for token in result["tokens"])
    assert memory < 150_000  # KB


def test_memory_for_offsets_does_not_grow_with_a_text_in_many_scripts(small_file: PathOf) -> None:
    """Blocks with more and with fewer ids need arrays of many sizes."""
    dice = random.Random(5)
    command = [*MAIN, "encode", str(small_file("gpt2")), "--offsets"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        memory = []
        for _ in range(60):
            first = ord(dice.choice("aя一가अ😀"))
            words = ["".join(chr(first + dice.randrange(20)) for _ in range(5)) for _ in range(300)]
            process.stdin.write(", ".join(dice.choices(words, k=dice.randrange(1000, 60_000))))
            memory.append(peak_memory(process.pid))
    assert process.returncode == 0
    assert memory[-1] - memory[20] < 10_000  # KB


def feed_for_ever(pipe: IO[bytes]) -> None:
    with suppress(BrokenPipeError):
        feed_ids(pipe, sys.maxsize)


def feed_ids(pipe: IO[bytes], times: int) -> None:
    with pipe:
        for _ in range(times):
            pipe.write(b"12 43 7 20\n" * 1000)


def peak_memory(process: int) -> int:
    status = Path(f"/proc/{process}/status")  # Linux only
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text() if status.exists() else "")
    return int(found[1]) if found else 0


def test_characters_outside_the_encoding_are_escaped(small_file: PathOf, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    for arguments in (["inspect", small_file("qwen"), "--tokens"], ["inspect", small_file("qwen")]):
        outcome = start(*arguments, cwd=tmp_path, env=environment)
        assert (outcome.returncode, outcome.stderr) == (0, b"")
    shown = start("encode", small_file("gpt2"), "--tokens", "渡", cwd=tmp_path, env=environment)
    assert shown.returncode == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_character_is_not_escaped_like_a_byte(unbuffered: str, small_file: PathOf) -> None:
    how = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUNBUFFERED": unbuffered}
    shown = start("encode", small_file("gpt2"), "--tokens", "é\U0001f642", env=how).stdout
    assert shown.splitlines()[0].endswith(rb' "\u00e9"')
    assert rb'"\xf0' in shown


def test_the_text_of_a_prompt_is_written_unchanged(small_file: PathOf, tmp_path: Path) -> None:
    """It is for another program: one that encodes it, for example."""
    prompt = "渡\x1b[31m"
    (tmp_path / "messages").write_text(json.dumps([{"content": prompt}]))
    (tmp_path / "template").write_text("{{ messages[0].content }}")
    command = ["chat-template", small_file("gpt2"), "messages", "--template", "template", "--text"]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    assert start(*command, cwd=tmp_path, env=environment).stdout == prompt.encode()
    assert on_a_terminal(*command, cwd=tmp_path) == "渡\\x1b[31m".encode()


@pytest.mark.parametrize("descriptor", [0, 1, 2])
def test_a_closed_stream_causes_no_traceback(
    descriptor: int, small_file: PathOf, tmp_path: Path
) -> None:
    command = " ".join(map(shlex.quote, [*MAIN, "encode", str(small_file("gpt2"))]))
    shell = command + (" <&-", " the >&-", " the 2>&-")[descriptor]
    outcome = subprocess.run(["sh", "-c", shell], capture_output=True, cwd=tmp_path, check=False)
    assert b"Traceback" not in outcome.stderr
    assert outcome.returncode == (0 if descriptor == 2 else 2)
    assert descriptor == 2 or b"is closed" in outcome.stderr


def on_a_terminal(*arguments: object, cwd: Path) -> bytes:
    """The output of a command to a terminal, stdout and stderr together."""
    master, slave = pty.openpty()
    process = subprocess.Popen([*MAIN, *map(str, arguments)], stdout=slave, stderr=slave, cwd=cwd)
    os.close(slave)
    parts = []
    with suppress(OSError):  # the other side is closed
        while part := os.read(master, 65536):
            parts.append(part)
    os.close(master)
    assert process.wait(timeout=60) == 0
    return b"".join(parts)


def test_only_terminals_get_escaped_control_characters(small_file: PathOf, tmp_path: Path) -> None:
    path = small_file("gpt2")
    ids = start("encode", path, input=b"\x1b[31mred", cwd=tmp_path).stdout.decode().split()
    assert start("decode", path, *ids, cwd=tmp_path).stdout == b"\x1b[31mred"
    assert on_a_terminal("decode", path, *ids, cwd=tmp_path).rstrip() == b"\\x1b[31mred"


def test_progress_is_shown_only_on_a_terminal(small_file: PathOf, tmp_path: Path) -> None:
    source = small_source("gpt2")
    arguments = ("verify", small_file("gpt2"), "--against", source, "--only", "token:300")
    assert b"token:300: 0 of 1" in on_a_terminal(*arguments, cwd=tmp_path)
    assert start(*arguments, cwd=tmp_path).stderr == b""
    shown = on_a_terminal("convert", source, "-o", tmp_path / "it.bin", cwd=tmp_path)
    assert all(step in shown for step in (b"reading the source", b"compiling", b"writing"))


def limit_files() -> None:
    """Files end after 4,000 bytes, as on a full disk."""
    resource = pytest.importorskip("resource")
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))


@pytest.mark.skipif(sys.platform != "linux", reason="needs file size limits and /proc")
def test_what_cannot_be_written_or_read_is_named(small_file: PathOf, tmp_path: Path) -> None:
    words = " ".join(map(str, range(3000)))
    (tmp_path / "a.txt").write_text(words.translate(str.maketrans("0123456789", "abcdefghij")))
    (tmp_path / "out").mkdir()
    full: dict[str, Any] = {"cwd": tmp_path, "preexec_fn": limit_files}
    commands: dict[str, list[object]] = {
        "out/shards": ["tokenize", small_file("gpt2"), "a.txt", "-o", "out/shards"],
        "out/a.counts": ["count", "a.txt", "-o", "out/a.counts"],
        "out/page.html": ["view", small_file("gpt2"), "text", "-o", "out/page.html"],
    }
    for name, command in commands.items():
        failed = start(*command, **full)
        assert failed.returncode == 2
        message = failed.stderr.decode()
        assert message.startswith("tokexport: ")
        assert message.endswith(f"{name}: cannot be written: File too large\n"), message
        if "shards" in name or "counts" in name:
            assert start(*command, cwd=tmp_path).returncode == 0
    left = {path.name for path in (tmp_path / "out").rglob("*")}
    shard = {"shard-00000.bin", "shard-00000.idx"}
    assert left == {"a.counts", "shards", "index.json", *shard}

    unreadable = "/proc/self/mem"  # it opens, and the first read fails
    for source in (["convert"], ["encode", small_file("gpt2"), "--file"]):
        failed = start(*source, unreadable, cwd=tmp_path)
        assert failed.returncode == 2
        sentence = rb"tokexport: /proc/self/mem: (cannot be read: )?Input/output error\n"
        assert re.fullmatch(sentence, failed.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_named(unbuffered: str, small_file: PathOf) -> None:
    path, environment = small_file("gpt2"), {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    for command in (["encode", path, "text"], ["decode", path, 1], ["inspect", path]):
        with Path("/dev/full").open("wb") as out:
            failed = start(*command, stdout=out, env=environment)
        assert failed.returncode == 2
        assert failed.stderr == b"tokexport: standard output: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["encode nothing", "nothing"])
def test_a_failure_that_cannot_be_reported_is_still_a_failure(command: str) -> None:
    """An exit code of 1 would be an answer of `verify`."""
    with Path("/dev/full").open("wb") as errors:
        assert start(*command.split(), stderr=errors).returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes that do not block")
def test_a_pause_in_standard_input_is_not_its_end(small_file: PathOf) -> None:
    """Another process may have made the pipe non-blocking."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    process = subprocess.Popen(
        [*MAIN, "encode", str(small_file("gpt2"))], stdin=reading, stdout=subprocess.PIPE
    )
    for text in (b"the ferry", b" left"):
        time.sleep(1)
        os.write(writing, text)
    os.close(writing)
    printed = process.communicate()[0].split()
    os.close(reading)
    assert [*map(int, printed)] == tokexport.load(small_file("gpt2")).encode("the ferry left")


@pytest.mark.skipif(sys.platform != "linux", reason="needs file size limits")
def test_standard_output_that_takes_a_part_is_an_error(small_file: PathOf, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    for command, *options in (["inspect", "--tokens"], ["decode", *[200] * 5000]):
        with (tmp_path / "out").open("wb") as out:
            words = command, small_file("gpt2"), *options
            failed = start(*words, stdout=out, env=environment, preexec_fn=limit_files)
        assert failed.returncode == 2
        assert b"standard output: File too large\n" in failed.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs file size limits")
def test_a_full_temporary_directory_is_named(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    full: dict[str, Any] = {"preexec_fn": limit_files, "env": environment}
    source = small_source("gpt2")
    spooled = start("convert", "-", "-o", "x", cwd=tmp_path, input=source.read_bytes(), **full)
    read_back = start("convert", source, "--to", "qwen3.c", "-o", "x", cwd=tmp_path, **full)
    folder = tmp_path_factory.mktemp("bert")  # for the class of transformers it is copied
    (folder / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\n" + "letters\n" * 1000)
    (folder / "config.json").write_text('{"model_type": "bert"}')
    copied = start("convert", folder / "vocab.txt", "-o", "x", cwd=tmp_path, **full)
    for failed in (spooled, read_back, copied):
        assert failed.returncode == 2
        assert failed.stderr.decode() == (
            f"tokexport: the temporary directory {tmp_path} cannot be written: File too large;"
            " set TMPDIR to another one\n"
        )
    assert not [*tmp_path.iterdir()]
