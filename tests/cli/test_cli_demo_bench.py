"""tokexport demo does the main job on any source; tokexport bench measures a file."""

import time
from pathlib import Path

import pytest
from command_line import PathOf, Run
from repository import small_source

import tokexport
from tokexport.cli import demo as demo_module
from tokexport.cli.bench import repeat

pytestmark = pytest.mark.usefixtures("without_code_points")


def test_the_demo_shows_each_command_and_its_answer(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "it.bin"
    outcome = run("demo", small_source("qwen"), "-o", target)
    assert outcome.code == 0, outcome.stderr
    for command in ("convert", "verify", "encode", "decode"):
        assert f"$ tokexport {command} " in outcome.text
    assert "no differences" in outcome.text
    assert f"\n{demo_module.TEXT}\n" in outcome.text
    assert tokexport.load(target).self_test() > 0
    document = run("demo", small_source("qwen"), "--json").values
    assert [step["command"] for step in document["steps"]] == [
        "convert", "verify", "encode", "encode", "decode"
    ]  # fmt: skip
    assert document["steps"][-1]["text"] == demo_module.TEXT


def test_the_demo_names_a_missing_source_before_an_existing_target(
    run: Run, tmp_path: Path
) -> None:
    outcome = run("demo", "nothing.json", "-o", tmp_path)
    assert outcome.code == 2
    assert outcome.stderr == "tokexport: nothing.json: cannot be read: No such file or directory\n"


def test_the_demo_of_standard_input_shows_commands_that_read_it(run: Run, tmp_path: Path) -> None:
    source, target = small_source("gpt2"), tmp_path / "it.bin"
    shown = run("demo", "-", "-o", target, stdin=source.read_bytes()).text
    assert f"$ tokexport convert - -o {target}\n" in shown
    assert f"$ tokexport verify {target} --against - --quick\n" in shown


def test_the_demo_keeps_files_only_on_request(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("demo", small_source("gpt2")).code == 0
    assert list(tmp_path.iterdir()) == []


def test_the_demo_says_how_to_get_its_package(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_module, "PACKAGE", "no-such-package-of-that-name")
    assert "pip install" in run("demo").refusal


def test_bench_measures_a_text(run: Run, small_file: PathOf, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes(b"The ferry left the harbour at six.\n" * 50)
    command = ("bench", small_file("gpt2"), "--text", text, "--seconds", 0)
    result = run(*command, "--json").values
    ids = tokexport.load(small_file("gpt2")).encode(text.read_text(encoding="ascii"))
    assert (result["bytes"], result["tokens"]) == (text.stat().st_size, len(ids))
    assert all(value > 0 for name, value in result.items() if name.endswith("seconds"))
    assert "MB/s" in run(*command).text


def test_bench_repeats_a_quick_action_no_longer_than_asked() -> None:
    begin = time.perf_counter()
    repeat(lambda: None, seconds=0.1)
    assert time.perf_counter() - begin < 5
