"""The output of --json has the members in docs/JSON.md, and no others."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import PathOf, Run
from repository import ROOT, small_source

DOCUMENT = (ROOT / "docs" / "JSON.md").read_text(encoding="utf-8")


def named(command: str) -> set[str]:
    """The members named in the section of a command."""
    section = re.search(rf"^## {command}\n(.*?)(?=^## |\Z)", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert section is not None
    return {*re.findall(r"`(\w+)`", section[1])}


DATA = ("sha256", "sections", "counts", "differing", "provenance", "files", "kinds")


def members(value: object) -> Iterator[str]:
    """The names of all members of an object, except of objects whose names are data."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if isinstance(inner, list) or name not in DATA:
                yield from members(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner)


@pytest.mark.usefixtures("without_code_points")
@pytest.mark.parametrize(
    "command",
    [
        "convert SOURCE -o TARGET",
        "convert SOURCE --to qwen3.c -o TARGET",
        "convert LLAMA2C --from llama2.c -o TARGET",
        "verify TOKENIZER --as qwen3.c --against OTHER --strings 50",
        "embed FILE MODEL -o TARGET",
        "encode FILE the",
        "encode FILE the --tokens",
        "encode FILE the --offsets",
        "decode FILE 1 2",
        "inspect FILE",
        "inspect FILE --token 300",
        "inspect FILE --tokens",
        "inspect FILE --added",
        "inspect SOURCE",
        "verify FILE --against OTHER --quick",
        "diff FILE OTHER",
        "view FILE the -o TARGET",
        "tokenize FILE TEXT -o TARGET",
        "count TEXT -o TARGET",
        "train TEXT --vocab-size 258 -o TARGET",
        "model export CHECKPOINT -o TARGET",
        "bench FILE --text SOURCE --seconds 0",
        "demo SOURCE",
    ],
)
def test_every_member_is_listed(command: str, run: Run, small_file: PathOf, tmp_path: Path) -> None:
    paths = {"FILE": small_file("qwen"), "SOURCE": small_source("qwen")}
    paths |= {"OTHER": small_source("gpt2"), "TARGET": tmp_path / "it.bin"}
    paths["MODEL"] = tmp_path / "model.safetensors"
    paths["MODEL"].write_bytes((2).to_bytes(8, "little") + b"{}")
    paths["TOKENIZER"] = ROOT / "formats/qwen3.c/golden.tokenizer"
    paths["LLAMA2C"] = ROOT / "formats/llama2.c/golden.bin"
    paths["CHECKPOINT"] = ROOT / "fixtures/tiny_stories/model"
    paths["TEXT"] = tmp_path / "text.txt"
    paths["TEXT"].write_text("the text", "utf-8")
    words = [paths.get(word, word) for word in command.split()]
    outcome = run(*words, "--json")
    assert outcome.code in (0, 1), outcome.stderr
    assert outcome.stdout.isascii()
    assert outcome.text.count("\n") == 1
    document = json.loads(outcome.text)
    name = document["command"]
    assert [*document][:2] == ["schema_version", "command"]
    assert document["schema_version"] == 1
    assert command.startswith(name)
    sections = DOCUMENT if name == "demo" else DOCUMENT.split("\n## ")[0]
    known = named(name) | {*re.findall(r"`(\w+)`", sections)}
    if name in ("inspect", "diff"):  # both show tokens, and flags of added tokens
        known |= named("inspect") | {"single_word", "lstrip", "rstrip", "normalized"}
    assert {*members(document)} - known == set()
