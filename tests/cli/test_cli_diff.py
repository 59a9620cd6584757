"""tokexport diff: no difference between equals; every part that decides an id is compared."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import PathOf, Run
from json_parts import digits, pre_tokenizers
from repository import small_source

from tokexport.sources.tokenizer_json.document import template, text

Document = dict[str, Any]
Change = Callable[[Document], None]


def changed(tmp_path: Path, name: str, change: Change) -> Path:
    """A small tokenizer after a change to its JSON."""
    source = json.loads(small_source(name).read_text(encoding="utf-8"))
    change(source)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(source), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["gpt2", "llama3", "added", "shuffled", "ranks", "unknown"])
def test_a_file_and_its_source_do_not_differ(name: str, run: Run, small_file: PathOf) -> None:
    outcome = run("diff", small_file(name), small_source(name))
    assert outcome.code == 0, outcome.text
    assert "no difference" in outcome.text
    document = run("diff", small_source(name), small_file(name), "--json").values
    assert (document["same"], document["differences"]) == (True, [])


def test_files_with_fewer_parts_are_compared_in_those_they_have(run: Run, tmp_path: Path) -> None:
    for option in ("--decode-only", "--no-scores"):
        run("convert", small_source("gpt2"), "-o", tmp_path / "it.bin", option, "--force")
        assert run("diff", tmp_path / "it.bin", small_source("gpt2")).code == 0


def swap(items: Any, first: Any, second: Any) -> None:
    items[first], items[second] = items[second], items[first]


@pytest.mark.parametrize(
    ("change", "part", "word"),
    [
        (lambda it: swap(it["model"]["vocab"], "a", "b"), "tokens", '"a"'),
        (lambda it: it["model"]["merges"].pop(), "merges", "only in the first"),
        (lambda it: swap(it["model"]["merges"], 0, 1), "order of merges", "merge number 0"),
        (lambda it: it.update(normalizer={"type": "NFC"}), "everything else", "NFC"),
        (
            lambda it: it.update(pre_tokenizer=pre_tokenizers(digits(), it["pre_tokenizer"])),
            "everything else",
            "only in the second: pre-tokenizer stage 2",
        ),
        (lambda it: it["model"].update(ignore_merges=True), "everything else", "whole first"),
        (lambda it: it["added_tokens"][0].update(lstrip=True), "added tokens", "special, lstrip"),
    ],
)
def test_a_change_is_found_and_named(
    change: Change, part: str, word: str, run: Run, tmp_path: Path
) -> None:
    other = changed(tmp_path, "gpt2", change)
    outcome = run("diff", small_source("gpt2"), other)
    assert outcome.code == 1
    assert f"{part}: " in outcome.text
    assert word in outcome.text
    result = run("diff", small_source("gpt2"), other, "--json").values
    assert result["same"] is False
    assert [difference["part"] for difference in result["differences"]] == [part]
    quiet = run("diff", small_source("gpt2"), other, "-q")
    assert (quiet.code, quiet.stdout, quiet.stderr) == (1, b"", "")


@pytest.mark.parametrize("other", ["added", "unknown"])
def test_values_for_a_program_are_those_of_inspect(
    other: str, run: Run, small_file: PathOf
) -> None:
    paths = {"first": small_file("roberta"), "second": small_file(other)}
    differences = run("diff", *paths.values(), "--json").values["differences"]
    parts = {each["part"]: each["examples"] for each in differences}
    assert parts.keys() >= {"tokens", "added tokens", "everything else"}
    examples = [each for part in parts if "merges" not in part for each in parts[part]]
    for side, path in paths.items():
        facts = run("inspect", path, "--json").values
        values = {name.replace("_", " "): value for name, value in facts.items()}
        stages = enumerate(facts["stages"], 1)
        values |= {f"pre-tokenizer stage {number}": stage for number, stage in stages}
        values["template"] = {name: facts[name] for name in ("template", "pair_template")}
        tokens = run("inspect", path, "--tokens", "--json").values["tokens"]
        values |= {f"id {token['id']}": token for token in tokens}
        added = run("inspect", path, "--added", "--json").values["added_tokens"]
        values |= {f'id {token["id"]} "{token["text"]}"': token for token in added}
        for example in examples:
            assert example[side] == values.get(example["item"])


def template_of_pairs(type_id: int) -> Change:
    first, second = text("A"), text("B", type_id)
    value = template([first], [first, second], {})
    return lambda source: source.update(post_processor=value)


def test_templates_of_pairs_are_compared(run: Run, tmp_path: Path) -> None:
    paths = []
    for type_id in (0, 1):
        (folder := tmp_path / str(type_id)).mkdir()
        paths.append(changed(folder, "gpt2", template_of_pairs(type_id)))
    outcome = run("diff", *paths)
    assert (outcome.code, "template: none (CRC-32 " in outcome.text) == (1, True)
    assert run("diff", paths[0], paths[0]).code == 0
    (difference,) = run("diff", *paths, "--json").values["differences"]
    (example,) = difference["examples"]
    items = [example[side]["pair_template"] for side in ("first", "second")]
    assert [[item["type_id"] for item in pair] for pair in items] == [[0, 0], [0, 1]]


def add_tokens_of_dashes(source: Document) -> None:
    model = source["model"]
    first = max(model["vocab"].values()) + 1
    for power in range(8):  # of 2 to 256 dashes
        half = "-" * (1 << power)
        model["vocab"][half * 2] = first + power
        model["merges"].append([half, half])


def test_no_unknown_id_is_shown_as_none(run: Run, small_file: PathOf) -> None:
    outcome = run("diff", small_file("gpt2"), small_file("unknown"))
    assert "\n  unknown id: none | " in outcome.text


def test_models_have_the_names_that_inspect_shows(
    run: Run, small_file: PathOf, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    model = {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}
    other.write_text(json.dumps({"version": "1.0", "model": model}))
    assert "\n  model: bpe | wordlevel\n" in run("diff", small_file("gpt2"), other).text


def test_long_runs_are_shortened_only_for_a_person(run: Run, tmp_path: Path) -> None:
    other = changed(tmp_path, "gpt2", add_tokens_of_dashes)
    text = run("diff", small_source("gpt2"), other).text
    assert '"----------[118 more]" (kind model)' in text
    assert '"----------[54 more]" + "----------[54 more]" = "----------[118 more]"' in text
    assert "-" * 32 in text
    assert "-" * 40 not in text
    assert "-" * 256 in run("diff", small_source("gpt2"), other, "--json").text


def test_many_differences_are_counted_and_the_first_shown(run: Run, small_file: PathOf) -> None:
    outcome = run("diff", small_file("gpt2"), small_file("shuffled"))
    assert outcome.code == 1
    assert "more" in outcome.text
    assert len(outcome.text.splitlines()) < 80


def test_a_source_that_cannot_be_compiled_is_named_with_the_part(run: Run, tmp_path: Path) -> None:
    split = {"type": "Split", "pattern": {"Regex": "(a"}, "behavior": "Isolated", "invert": False}
    other = changed(tmp_path, "gpt2", lambda it: it.update(pre_tokenizer=split))
    outcome = run("diff", small_source("gpt2"), other)
    assert outcome.code == 2
    assert outcome.stderr.startswith(f"tokexport: {other}: pre_tokenizer: ")
