"""The output of --json is as docs/json-schema.json says, and has no other members."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from chat_models import CHATML, write_chat_model
from command_line import PathOf, Run
from jsonschema import Draft202012Validator
from repository import ROOT, small_source

from tokexport.cli.app import COMMANDS, commands

CASES = [
    ("convert", "convert SOURCE -o TARGET"),
    ("convert", "convert SOURCE -o -"),
    ("convert-to", "convert SOURCE --to qwen3.c -o TARGET"),
    ("convert-from", "convert LLAMA2C --from llama2.c -o TARGET"),
    ("embed", "embed FILE MODEL -o TARGET"),
    ("verify", "verify FILE --against OTHER --quick"),
    ("verify", "verify TOKENIZER --as qwen3.c --against OTHER --strings 50"),
    ("inspect", "inspect FILE"),
    ("inspect", "inspect FRAME"),
    ("inspect-source", "inspect CHAT"),
    ("inspect-source", "inspect RANKS --pattern no-name"),
    ("inspect-token", "inspect FILE --token 300"),
    ("inspect-tokens", "inspect FILE --tokens"),
    ("inspect-added", "inspect FILE --added"),
    ("encode", "encode FILE the"),
    ("encode-tokens", "encode FILE the --tokens"),
    ("encode-offsets", "encode FILE the --offsets"),
    ("decode", "decode FILE 1 2"),
    ("chat-template", "chat-template FILE MESSAGES --template TEMPLATE"),
    ("view", "view FILE the -o TARGET"),
    ("tokenize", "tokenize FILE TEXT -o TARGET"),
    ("count", "count TEXT -o TARGET"),
    ("train", "train TEXT --vocab-size 258 -o TARGET"),
    ("model-export", "model export CHECKPOINT -o TARGET"),
    ("diff", "diff FILE OTHER"),
    ("diff", "diff OTHER CHAT"),
    ("bench", "bench FILE --text SOURCE --seconds 0"),
    ("demo", "demo SOURCE"),
    ("error", "decode FILE TEXT"),
    ("error", "convert RANKS --pattern no-name"),
]
LISTED: set[str] = set()  # the members of all objects


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema, whose objects have no other members."""
    if "properties" not in schema:
        return schema
    LISTED.update(schema["properties"])
    return {**schema, "additionalProperties": False}


SCHEMA = json.loads((ROOT / "docs/json-schema.json").read_bytes(), object_hook=closed)
OBJECTS = {entry["$ref"].removeprefix("#/$defs/") for entry in SCHEMA["anyOf"]}


@pytest.mark.usefixtures("without_code_points")
@pytest.mark.parametrize(("name", "command"), CASES)
def test_the_output_is_as_the_schema_says(
    name: str, command: str, run: Run, small_file: PathOf, tmp_path: Path
) -> None:
    paths = {"FILE": small_file("qwen"), "SOURCE": small_source("qwen")}
    paths |= {"OTHER": small_source("gpt2"), "RANKS": small_source("ranks")}
    paths |= {"TARGET": tmp_path / "it.bin", "CHAT": write_chat_model(tmp_path, CHATML)}
    paths["TOKENIZER"] = ROOT / "formats/qwen3.c/golden.tokenizer"
    paths["FRAME"] = ROOT / "formats/tokexport/golden/holes.bin"
    paths["LLAMA2C"] = ROOT / "formats/llama2.c/golden.bin"
    paths["CHECKPOINT"] = ROOT / "fixtures/tiny_stories/model"
    contents = {"TEXT": "the text", "MODEL": "\2\0\0\0\0\0\0\0{}", "TEMPLATE": CHATML}
    contents |= {"MESSAGES": '[{"role": "user", "content": "the"}]'}
    for word, content in contents.items():
        paths[word] = tmp_path / f"{word}.txt"
        paths[word].write_text(content, "utf-8")
    outcome = run(*(paths.get(word, word) for word in command.split()), "--json")
    assert outcome.code in ((2,) if name == "error" else (0, 1)), outcome.stderr
    line = outcome.stderr or outcome.text
    assert line.isascii()
    assert line.count("\n") == 1
    document = json.loads(line)
    assert [*document][:2] == ["schema_version", "error" if name == "error" else "command"]
    whole = Draft202012Validator(SCHEMA)
    whole.evolve(schema=SCHEMA["$defs"][name]).validate(document)


def test_every_object_is_tried_and_in_the_schema() -> None:
    assert {name for name, _ in CASES} == OBJECTS
    constants = (SCHEMA["$defs"][name]["properties"].get("command", {}) for name in OBJECTS)
    assert {each["const"] for each in constants if each} == {*names_of(commands)}
    Draft202012Validator.check_schema(SCHEMA)


def test_every_command_takes_json() -> None:
    assert {name.split()[0] for name in names_of(commands)} == {*COMMANDS}


def names_of(group: click.Group, before: str = "") -> Iterator[str]:
    """The names of the commands with --json."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from names_of(command, f"{before}{name} ")
        elif command and any("--json" in option.opts for option in command.params):
            yield before + name


def test_every_member_is_in_the_document() -> None:
    document = (ROOT / "docs/JSON.md").read_text("utf-8")
    assert LISTED - {*re.findall(r"`(\w+)`", document)} == set()
