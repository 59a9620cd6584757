"""`encode --offsets` prints the offsets of the whole text, whatever the length of its blocks."""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import golden_files
import pytest
from command_line import PathOf, Run
from repository import small_source

import tokexport
from tokexport.cli import encode
from tokexport.cli.console import quoted
from tokexport.errors import TokexportError
from tokexport.runtime import offset_blocks
from tokexport.sources.tokenizer_json import document as parts

SMALL = ("added", "deepseek", "gpt2", "llama3", "qwen", "roberta")
NAMES = ("with a template", *SMALL, *golden_files.EXPECTED_NAMES)
WORDS = ("the", " ", "  ", "\n", "=\u0338", "é", "e\u0301", "渡船", "🙂", "12", ".", "'s", "\u2581")


def with_a_template(path: Path) -> Path:
    """The file of gpt2 with an id before each text and two after it."""
    source = json.loads(small_source("gpt2").read_text("utf-8"))
    end, first = parts.special("<|endoftext|>"), parts.text("A")
    source["post_processor"] = parts.template(
        [end, first, end, end], [first, parts.text("B")], {"<|endoftext|>": 0}
    )
    path.with_suffix(".json").write_text(json.dumps(source), "utf-8")
    tokexport.convert(path.with_suffix(".json"), path)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_blocks_change_no_offset(
    name: str,
    small_file: PathOf,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source: Path | bytes
    if name == "with a template":
        source = with_a_template(tmp_path / "file.bin")
    else:
        source = small_file(name) if name in SMALL else golden_files.content(name)
    tokenizer = tokexport.load(source)
    r = random.Random(name)
    words = [*WORDS, *(token.content for token in tokenizer.added_tokens)]
    for _ in range(60):
        text = "".join(r.choices(words, k=r.randrange(30)))
        how: dict[str, Any] = {
            "allowed_special": r.choice(("all", ())),
            "add_special_tokens": r.choice((True, False)),
            "unit": r.choice(("char", "byte")),
        }
        try:
            expected = tokenizer.encode_with_offsets(text, **how)
        except TokexportError:
            continue
        monkeypatch.setattr(offset_blocks, "BLOCK", r.choice((1, 10, 50)))
        encode.write_offsets(tokenizer, parts_of(text.encode(), r), how, True)
        tokens = json.loads(capsys.readouterr().out)["tokens"]
        assert [token["id"] for token in tokens] == expected.ids
        assert [(token["start"], token["end"]) for token in tokens] == expected.offsets


def parts_of(text: bytes, r: random.Random) -> Iterator[bytes]:
    while text:
        size = r.choice((1, 7, 30))
        yield text[:size]
        text = text[size:]


@pytest.mark.parametrize(
    ("options", "unit"), [([], "char"), (["--unit", "char"], "char"), (["--unit", "byte"], "byte")]
)
def test_a_line_has_the_id_the_offsets_and_the_bytes(
    options: list[str],
    unit: Literal["char", "byte"],
    run: Run,
    small_file: PathOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(encode, "ROWS", 3)
    path, text = small_file("gpt2"), "the % 渡船🙂 %d\n"
    tokenizer = tokexport.load(path)
    found = tokenizer.encode_with_offsets(text, unit=unit)
    widths = len(str(tokenizer.n_vocab)), len(str(len(text.encode())))
    expected = [
        f"{id:>{widths[0]}}  {start:>{widths[1]}}  {end:>{widths[1]}}  {quoted(token)}"
        for id, (start, end), token in zip(
            found.ids, found.offsets, tokenizer.decode_tokens_bytes(found.ids), strict=True
        )
    ]
    assert len(expected) > 2 * encode.ROWS
    command = ("encode", path, "--offsets", *options)
    assert run(*command, stdin=text.encode()).text.splitlines() == expected
    shown = run(*command, "--json", stdin=text.encode()).values
    assert (shown["unit"], shown["count"]) == (unit, len(expected))


@pytest.mark.parametrize("as_json", [True, False])
def test_no_function_is_called_for_each_token(as_json: bool, small_file: PathOf) -> None:
    tokenizer = tokexport.load(small_file("gpt2"))
    text = b"the 12 " * 20_000
    calls = Counter[str]()
    sys.setprofile(lambda frame, event, argument: calls.update([event]))
    try:
        encode.write_offsets(tokenizer, iter([text]), {"unit": "byte"}, as_json)
    finally:
        sys.setprofile(None)
    assert 0 < calls.total() < len(text) / 20
