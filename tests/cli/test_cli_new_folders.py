"""A command that writes makes the folder of its target; where it cannot, it names the file."""

from pathlib import Path

import pytest
from command_line import PathOf, Run
from repository import ROOT, small_source

COMMANDS = (
    "convert SOURCE",
    "convert SOURCE --to tokenizer.json",
    "convert SOURCE --to llm.c",
    "count TEXT",
    "embed FILE MODEL",
    "model export WEIGHTS",
    "tokenize FILE TEXT",
    "train TEXT --vocab-size 256",
    "view FILE hi",
)
TO_FOLDERS = ("tokenize", "train")


@pytest.fixture
def command_in(
    request: pytest.FixtureRequest, small_file: PathOf, tmp_path: Path
) -> list[str | Path]:
    names: dict[str, str | Path] = {
        "SOURCE": small_source("gpt2"),
        "FILE": small_file("gpt2"),
        "WEIGHTS": ROOT / "fixtures/tiny_stories/model",
        "MODEL": tmp_path / "model.safetensors",
        "TEXT": tmp_path / "text.txt",
    }
    Path(names["MODEL"]).write_bytes((2).to_bytes(8, "little") + b"{}")
    Path(names["TEXT"]).write_text("a text", "utf-8")
    return [names.get(word, word) for word in request.param.split()]


@pytest.mark.parametrize("command_in", COMMANDS, indirect=True)
def test_a_missing_folder_is_made(command_in: list[str | Path], run: Run, tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder" / "target"
    done = run(*command_in, "-o", target)
    assert done.code == 0, done.stderr
    assert target.exists()


@pytest.mark.parametrize("command_in", COMMANDS, indirect=True)
def test_a_folder_that_cannot_be_made_is_an_error(
    command_in: list[str | Path], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, *arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    done = run(*command_in, "-o", tmp_path / "new" / "target")
    assert done.code == 2
    assert f"tokexport: {tmp_path / 'new'}" in done.stderr
    assert "Permission denied" in done.stderr


@pytest.mark.parametrize("command_in", COMMANDS, indirect=True)
def test_a_name_with_a_slash_at_its_end_is_that_of_a_folder(
    command_in: list[str | Path], run: Run, tmp_path: Path
) -> None:
    done = run(*command_in, "-o", f"{tmp_path}/new/")
    assert done.code == (0 if command_in[0] in TO_FOLDERS else 2), done.stderr
    assert (tmp_path / "new").is_dir() == (command_in[0] in TO_FOLDERS)
    assert command_in[0] in TO_FOLDERS or "new/ names a folder; name a file in it" in done.stderr
