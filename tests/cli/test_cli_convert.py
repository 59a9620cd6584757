"""tokexport convert: writes the requested file, or nothing."""

import json
from pathlib import Path

import pytest
from command_line import Run
from repository import small_source

import tokexport


def test_a_conversion_describes_the_file(run: Run, tmp_path: Path) -> None:
    arguments = ("convert", small_source("qwen"), "-o", tmp_path / "it.bin", "--force")
    short, long = run(*arguments), run(*arguments, "-v")
    assert (short.code, short.stderr) == (0, "")
    for word in ("it.bin", "qwen.json", "NFC", "444 tokens"):
        assert word in short.text
    assert "PIDX" not in short.text
    assert all(tag in long.text for tag in ("RECS", "PIDX", "TEST"))
    quiet = run(*arguments, "-q")
    assert (quiet.code, quiet.stdout, quiet.stderr) == (0, b"", "")


def test_a_conversion_names_the_model(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "tokenizer.json"
    models = {
        "WordLevel": {"type": "WordLevel", "vocab": {"a": 0, "?": 1}, "unk_token": "?"},
        "Unigram": {"type": "Unigram", "vocab": [["?", 0.0], ["a", -1.0]], "unk_id": 0},
    }
    for name, model in models.items():
        source.write_text(json.dumps({"version": "1.0", "model": model}), encoding="utf-8")
        outcome = run("convert", source, "-o", tmp_path / "it.bin", "--force")
        assert ["model", name] in [line.split() for line in outcome.text.splitlines()]
        for shown in (outcome, run("inspect", tmp_path / "it.bin")):
            rows = [line.split() for line in shown.text.splitlines()]
            assert ["normalizer", "none"] in rows


def test_json_has_the_sizes_of_all_sections(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "it.bin"
    result = run("convert", small_source("gpt2"), "-o", target, "--json").values
    assert result["size"] == target.stat().st_size
    assert result["source_size"] == small_source("gpt2").stat().st_size
    assert result["sections"] == dict(tokexport.load(target).sections())
    assert result["reference"] == "tokenizers"


def test_for_a_directory_the_files_read_and_not_read_are_listed(run: Run, tmp_path: Path) -> None:
    for name in ("tokenizer.json", "vocab.txt"):
        (tmp_path / name).write_bytes(small_source("gpt2").read_bytes())
    lines = run("convert", tmp_path, "-o", tmp_path / "it.bin").text.splitlines()
    assert ["read", "tokenizer.json"] in [line.split() for line in lines]
    assert ["not", "read", "vocab.txt"] in [line.split() for line in lines]


def test_the_source_may_be_standard_input(run: Run, tmp_path: Path) -> None:
    content = small_source("gpt2").read_bytes()
    assert run("convert", "-", "-o", tmp_path / "it.tkx", stdin=content).code == 0
    file = (tmp_path / "it.tkx").read_bytes()
    assert run("diff", "-", small_source("gpt2"), stdin=file).code == 0
    assert "once" in run("diff", "-", "-", stdin=content).refusal
    assert run("convert", "-").refusal == "tokexport: standard input: the file is empty\n"
    error = run("diff", small_source("gpt2"), "-", "--json", stdin=b"5").values["error"]
    assert error["file"] == "standard input"
    assert error["message"].startswith("standard input: it is text that is not a vocabulary")


def test_the_default_target_is_tokenizer_bin(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("convert", small_source("gpt2")).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.bin"]


def test_a_dash_is_standard_output(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("convert", small_source("gpt2"), "-o", "-")
    assert outcome.code == 0
    assert tokexport.load(outcome.stdout).n_vocab > 0
    assert "standard output" in outcome.stderr
    assert list(tmp_path.iterdir()) == []


def test_no_control_character_of_an_error_reaches_the_terminal(run: Run, tmp_path: Path) -> None:
    refusal = run("convert", tmp_path / "\x1b[2J.json").refusal
    assert "\x1b" not in refusal
    assert "\\x1b[2J.json" in refusal


def test_options_leave_out_or_add_parts(run: Run, tmp_path: Path) -> None:
    def tags(*options: str) -> set[str]:
        arguments = ("-o", tmp_path / "it.bin", "--force", "--json", *options)
        return set(run("convert", small_source("llama3"), *arguments).values["sections"])

    everything = tags()
    assert {"SCOR", "TEST", "PIDX"} <= everything
    assert tags("--no-scores") == everything - {"SCOR"}
    assert tags("--no-self-test") == everything - {"TEST"}
    assert tags("--prefix-index") == everything | {"SORT"}
    assert not {"PIDX", "TIDX", "SCOR", "TEST"} & tags("--decode-only")


def test_ranks_take_their_pattern_and_special_tokens_from_options(
    run: Run, tmp_path: Path, without_code_points: None
) -> None:
    ranks = tmp_path / "my.tiktoken"
    ranks.write_bytes(small_source("ranks").read_bytes())
    special = tmp_path / "special.json"
    special.write_text('{"<|bos|>": 999}', encoding="ascii")
    assert "--pattern" in run("convert", ranks, "-o", tmp_path / "it.bin").refusal
    options = ("--pattern", r"\w+|\W", "--special-tokens", special)
    assert run("convert", ranks, "-o", tmp_path / "it.bin", *options).code == 0
    assert tokexport.load(tmp_path / "it.bin").encode("<|bos|>", allowed_special="all") == [999]
    answer = run("verify", tmp_path / "it.bin", "--against", ranks, *options, "--strings", 500)
    assert answer.code == 0, answer.text


@pytest.mark.parametrize("content", ["[1]", '{"a": "b"}', '{"a": -1}', '{"a": true}', "{"])
def test_special_tokens_that_do_not_map_contents_to_ids_are_refused(
    content: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "special.json").write_text(content, encoding="ascii")
    special = ("--special-tokens", tmp_path / "special.json")
    refused = run("convert", small_source("ranks"), "-o", tmp_path / "it.bin", *special)
    assert "special.json" in refused.refusal


def test_notes_are_written_to_stderr_or_into_the_json(run: Run, tmp_path: Path) -> None:
    ranks = tmp_path / "my.tiktoken"
    ranks.write_bytes(small_source("ranks").read_bytes())
    arguments = ("convert", ranks, "-o", tmp_path / "it.bin", "--pattern", r"\w+|\W", "--force")
    assert "note: " in run(*arguments).stderr
    outcome = run(*arguments, "--json")
    assert outcome.stderr == ""
    assert outcome.values["notes"]
