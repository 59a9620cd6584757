"""tokexport inspect: reports what a file contains, and shows its tokens safely."""

import base64
import json
import re
from pathlib import Path

import golden_files
import pytest
from command_line import PathOf, Run
from reader_samples import added, document
from repository import small_source

import tokexport
from tokexport.errors import FormatError
from tokexport.file.layout import Header, ModelType, Tag


def test_the_facts_of_a_file_match_the_tokenizer(run: Run, small_file: PathOf) -> None:
    path = small_file("llama3")
    tokenizer = tokexport.load(path)
    facts = run("inspect", path, "--json").values
    assert facts["size"] == path.stat().st_size
    assert (facts["ids"], facts["tokens"]) == (tokenizer.n_vocab, tokenizer.token_count)
    assert facts["added_tokens"] == facts["special_added_tokens"] == 3
    assert "whole first" in facts["flags"]
    assert [item["sequence"] for item in facts["template"]] == [None, "A"]
    assert "<|begin_of_text|> $A" in run("inspect", path).text
    assert facts["self_test"] == tokenizer.self_test() > 0
    assert [(entry["tag"], entry["size"]) for entry in facts["sections"]] == tokenizer.sections()
    assert facts["provenance"]["source"] == "tokenizer.json"


def test_the_files_of_a_source_are_named_as_they_are(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(small_source("gpt2").read_bytes())
    (tmp_path / "tokenizer_config.json").write_text("{}")
    assert re.search("^provenance .* tokenizer_config.json ", run("inspect", tmp_path).text, re.M)


def test_damage_that_the_checksums_do_not_show_is_found(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "it.bin"
    path.write_bytes(golden_files.refused("CORRUPT-pair-index-row.bin"))
    with pytest.raises(FormatError, match="out of range"):
        tokexport.load(path).check()
    assert "it.bin: section TIDX or PIDX is damaged: a key or" in run("inspect", path).refusal


def test_a_decode_only_file_is_described_as_such(run: Run, tmp_path: Path) -> None:
    run("convert", small_source("gpt2"), "-o", tmp_path / "it.bin", "--decode-only")
    text = run("inspect", tmp_path / "it.bin").text
    assert re.search("^encodes +no$", text, re.MULTILINE)
    assert run("inspect", tmp_path / "it.bin", "--added").text == ""


def test_every_token_is_listed_with_its_escaped_bytes(run: Run, small_file: PathOf) -> None:
    path = small_file("shuffled")
    tokenizer = tokexport.load(path)
    rows = [line.split("\t") for line in run("inspect", path, "--tokens").text.splitlines()]
    assert len(rows) == tokenizer.token_count
    listed = {int(number): shown for number, _, shown in rows}
    space = tokenizer.encode_single_token(" ")
    assert listed[space] == " "
    assert listed[tokenizer.encode_single_token("\n")] == "\\n"


def test_one_token_is_shown_with_its_merge(run: Run, small_file: PathOf) -> None:
    path = small_file("gpt2")
    tokenizer = tokexport.load(path)
    token_id = tokenizer.encode_single_token(" the")
    facts = run("inspect", path, "--token", token_id, "--json").values["token"]
    assert (facts["text"], facts["bytes"], facts["length"]) == (" the", "20746865", 4)
    assert tokenizer.decode(facts["merge"]) == " the"
    assert facts["score"] < 0


def test_added_tokens_are_listed_with_their_flags(run: Run, small_file: PathOf) -> None:
    text = run("inspect", small_file("added"), "--added").text
    lines = [line.split("\t") for line in text.splitlines()]
    rows = {content: flags for _, content, flags in lines}
    assert rows["<|both|>"] == "special lstrip rstrip"
    assert rows["cat"] == "single_word"
    assert rows["né"] == "normalized"
    document = run("inspect", small_file("added"), "--added", "--json").values
    values = {row["text"]: row for row in document["added_tokens"]}
    assert values["cat"]["single_word"] is True
    assert [row["text"] for row in document["added_tokens"]] == [row[1] for row in lines]


def test_no_token_can_control_the_terminal(run: Run, tmp_path: Path) -> None:
    hostile = (b"\x1b[2J", "\u202eabc".encode(), b"\x9b31m", b"\xc2\x9b31m")
    contents = [*(bytes([byte]) for byte in range(256)), *hostile]
    lines = (b"%b %d\n" % (base64.b64encode(data), rank) for rank, data in enumerate(contents))
    (tmp_path / "it.tiktoken").write_bytes(b"".join(lines))
    target, special = tmp_path / "it.bin", tmp_path / "special.json"
    special.write_text(json.dumps({"<\x1b[31m>": 500}), encoding="ascii")
    options = ("--pattern", r"\w+|\W", "--special-tokens", special)
    made = run("convert", tmp_path / "it.tiktoken", "-o", target, *options)
    assert made.code == 0, made.stderr
    for arguments in (["--tokens"], ["--added"], ["--token", "257"], ["--token", "500"], []):
        text = run("inspect", target, *arguments).text
        assert all(character.isprintable() or character in "\n\t" for character in text)


def test_standard_input_is_named_as_such(run: Run, small_file: PathOf) -> None:
    for path in (small_file("gpt2"), small_source("gpt2")):
        content = path.read_bytes()
        assert run("inspect", "-", stdin=content).text.startswith("standard input: ")
        facts = run("inspect", "-", "--json", stdin=content).values
        assert facts.get("source", facts["file"]) == "standard input"


def test_a_source_is_first_converted_in_memory(
    run: Run, small_file: PathOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (["--tokens"], ["--added"], ["--token", "65"]):
        of_file = run("inspect", small_file("gpt2"), *arguments)
        of_source = run("inspect", small_source("gpt2"), *arguments)
        assert (of_file.code, of_source.code) == (0, 0)
        assert of_source.text == of_file.text
    of_file = run("inspect", small_file("gpt2"), "--json").values
    of_source = run("inspect", small_source("gpt2"), "--json").values["file"]
    assert (of_source["is_source"], of_file["is_source"]) == (True, False)
    for fact in ("ids", "tokens", "merges", "stages", "added_tokens", "decoder"):
        assert of_source[fact] == of_file[fact]
    assert of_source["self_test"] is None
    assert list(tmp_path.iterdir()) == []


def test_inspect_accepts_the_options_for_ranks(run: Run) -> None:
    refused = run("inspect", small_source("ranks"), "--pattern", "no-name")
    assert (refused.code, "no-name" in refused.text) == (1, True)
    facts = run("inspect", small_source("ranks"), "--pattern", r"\w+|\W", "--json").values
    assert facts["file"]["provenance"]["reference"] == "tiktoken"


def test_the_thousands_of_a_count_are_separated(run: Run, tmp_path: Path) -> None:
    vocab = {f"{number}": number for number in range(1234)}
    fields = document(model={"type": "WordLevel", "vocab": vocab, "unk_token": "1000"})
    (tmp_path / "tokenizer.json").write_text(json.dumps(fields), encoding="utf-8")
    shown = run("inspect", tmp_path).text
    assert re.search("^ids +1,234$", shown, re.MULTILINE)
    assert re.search("^unknown id +1000$", shown, re.MULTILINE)


def test_a_template_names_a_token_as_it_is_written(run: Run, tmp_path: Path) -> None:
    """Not as it is decoded, by WordPiece with a space before it."""
    fields = document(
        added_tokens=[added("[CLS]", 1, special=True)],
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": False},
        model={"type": "WordLevel", "vocab": {"a": 0, "[CLS]": 1}, "unk_token": "a"},
        post_processor={"type": "BertProcessing", "sep": ["[CLS]", 1], "cls": ["[CLS]", 1]},
    )
    (tmp_path / "tokenizer.json").write_text(json.dumps(fields), encoding="utf-8")
    assert re.search(
        r"^template +\[CLS\] \$A \[CLS\] \(CRC", run("inspect", tmp_path).text, re.MULTILINE
    )


def test_every_section_has_a_name() -> None:
    assert all(tag.holds and not tag.holds.endswith(")") for tag in Tag)


SMALL = ("gpt2", "qwen", "falcon", "deepseek", "added", "shuffled", "unknown", "ranks")


@pytest.mark.parametrize("name", [*golden_files.NAMES, *SMALL])
def test_every_kind_of_file_can_be_described(name: str, run: Run, small_file: PathOf) -> None:
    path = small_file(name) if name in SMALL else golden_files.FOLDER / f"{name}.bin"
    outcome = run("inspect", path)
    assert (outcome.code, outcome.stderr) == (0, "")
    model = ModelType(Header.parse(path.read_bytes()).model)
    assert re.search(f"^model +{model.name.lower()}$", outcome.text, re.MULTILINE)
    assert "not known" not in outcome.text
    assert all(tag in outcome.text for tag, _ in tokexport.load(path).sections())
    assert name in golden_files.NAMES or "self test" in outcome.text
