"""The session with the engine in README.md: a trained checkpoint and its tokenizer are exported,
compiled, run, and compared with the recorded output of PyTorch, which is not needed.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from c_harness import Builder
from engine_programs import built, logits, logits_program
from repository import FIXTURES, printed

import tokexport

pytest.importorskip("ml_dtypes", reason="tokexport[model] is not installed")
TINY = FIXTURES / "tiny_stories"
GREEDY: dict[str, Any] = json.loads((TINY / "greedy.json").read_text("utf-8"))


@dataclass(frozen=True)
class Session:
    """A folder with the engine, both weights files and the tokenizer."""

    folder: Path

    def run(self, *options: str, weights: str = "float32", stdin: str = "") -> tuple[str, str]:
        """The standard output and standard error of the engine."""
        command = [self.folder / "engine", "-t", "0", *options]
        at = command.index("--") if "--" in command else len(command)
        command[at : at + 1] = [self.folder / f"{weights}.weights", self.folder / "tokenizer.bin"]
        result = subprocess.run(
            [*map(str, command)], input=stdin, capture_output=True, text=True, timeout=600
        )
        assert result.returncode == 0, result.stderr
        return result.stdout, result.stderr


def tokexport_command(*arguments: object) -> None:
    """Runs the command line without access to PyTorch."""
    program = "import sys; sys.modules['torch'] = None; from tokexport.cli import main; main()"
    printed("-c", program, *arguments, "-q")


@pytest.fixture(scope="module")
def session(build: Builder, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("session")
    tokexport_command("convert", TINY / "tokenizer", "-o", folder / "tokenizer.bin")
    for dtype in ("float32", "int8"):
        target = folder / f"{dtype}.weights"
        tokexport_command("model", "export", TINY / "model", "-o", target, "--dtype", dtype)
    built(build, folder, "-O2")
    return Session(folder)


def test_greedy_text_equals_that_of_pytorch_for_200_tokens(session: Session) -> None:
    program = logits_program(session.folder, "-O2")
    tokenizer = tokexport.load(session.folder / "tokenizer.bin")
    prompt = tokenizer.encode(GREEDY["prompt"])
    ids = [*prompt, *GREEDY["ids"]]
    assert len(GREEDY["ids"]) == 200
    assert len({*GREEDY["ids"]}) > 50
    actual = logits(program, session.folder / "float32.weights", ids)
    assert actual[len(prompt) - 1 : -1].argmax(axis=1).tolist() == GREEDY["ids"]
    assert tokenizer.decode(GREEDY["ids"]) == GREEDY["text"]


def test_the_engine_writes_the_text_to_its_end_and_reports_its_speed(session: Session) -> None:
    story = GREEDY["prompt"] + GREEDY["text"].partition("<|endoftext|>")[0]
    text, report = session.run("--", GREEDY["prompt"])
    assert text == story + "\n"
    speed = re.fullmatch(
        r"prompt: \d+ tokens, [\d.]+ a second; text: (\d+) tokens, ([\d.]+) a second\n", report
    )
    assert speed is not None
    assert int(speed[1]) > 30
    assert float(speed[2]) > 0


def test_an_int8_model_tells_a_story_too(session: Session) -> None:
    text, _ = session.run("--", GREEDY["prompt"], weights="int8")
    assert text.startswith(GREEDY["prompt"])
    assert text.endswith((".\n", '"\n'))
    measured = [session.run("-P", "--", text, weights=name)[0] for name in ("float32", "int8")]
    float32, int8 = (float(line.split()[1]) for line in measured)
    assert abs(int8 - float32) < 0.05 * float32


def test_text_ends_before_a_stop_text_and_at_a_stop_id(session: Session) -> None:
    story = GREEDY["prompt"] + GREEDY["text"].partition("<|endoftext|>")[0]
    stop = story[60:68]
    text, _ = session.run("-x", stop, "--", GREEDY["prompt"])
    assert text == story[: story.index(stop, len(GREEDY["prompt"]))] + "\n"
    tokenizer = tokexport.load(session.folder / "tokenizer.bin")
    ids = GREEDY["ids"]
    text, _ = session.run("--stop-id", str(ids[12]), "--", GREEDY["prompt"])
    assert text == GREEDY["prompt"] + tokenizer.decode(ids[: ids.index(ids[12])]) + "\n"


def test_in_a_chat_the_model_finishes_a_story_of_the_user(session: Session) -> None:
    story = GREEDY["text"].partition("<|endoftext|>")[0]
    text, _ = session.run("--chat", stdin=f"{GREEDY['prompt']}\n{GREEDY['prompt']}\n")
    first, second = text.splitlines()
    assert first == story
    assert second
    assert "<|endoftext|>" not in text
