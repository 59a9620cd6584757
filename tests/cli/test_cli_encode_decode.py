"""tokexport encode and decode: text is bytes, ids are numbers, nothing is added or removed."""

import json
from itertools import chain
from pathlib import Path

import pytest
from command_line import PathOf, Run

import tokexport
from tokexport.cli.decode import parse_ids
from tokexport.errors import TokexportError

TEXT = "We've 4,312 books: naïve, 渡船 🙂\\n\t end  \r\n\n"


@pytest.fixture
def path(small_file: PathOf) -> Path:
    return small_file("gpt2")


def test_a_text_has_the_same_ids_from_an_argument_a_file_and_stdin(
    run: Run, small_file: PathOf, tmp_path: Path
) -> None:
    path = small_file("llama3")
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    expected = " ".join(map(str, tokexport.load(path).encode(TEXT))) + "\n"
    assert run("encode", path, TEXT).text == expected
    assert run("encode", path, "--file", tmp_path / "text.txt").text == expected
    assert run("encode", path, stdin=TEXT.encode()).text == expected


def test_line_ends_are_kept_and_escapes_are_not_processed(run: Run, path: Path) -> None:
    texts = ("a", "a\n", "a\r\n", "a\\n", " a", "a ", "naïve, 渡船\x00\x07\r\n")
    outputs = [run("encode", path, stdin=text.encode()).text for text in texts]
    assert len(set(outputs)) == len(texts)
    for text, output in zip(texts, outputs, strict=True):
        assert run("decode", path, stdin=output.encode()).stdout == text.encode()


def test_half_a_character_is_decoded_as_its_bytes(run: Run, path: Path) -> None:
    ids = tokexport.load(path).encode("🙂")
    assert len(ids) > 1
    assert run("decode", path, ids[0]).stdout == tokexport.load(path).decode_bytes(ids[:1])


def test_special_tokens_are_text_unless_allowed(run: Run, path: Path) -> None:
    content = "<|endoftext|>"
    assert run("encode", path, "--special", content).text == "0\n"
    plain = run("encode", path, content).text.split()
    assert len(plain) > 1
    assert run("decode", path, *plain).text == content


def test_json_contains_ids_or_tokens_and_decode_reads_both(run: Run, path: Path) -> None:
    shown = run("encode", path, "--json", "the cat\n").stdout
    result = json.loads(shown)
    assert result["ids"] == tokexport.load(path).encode("the cat\n")
    assert (result["count"], result["bytes"]) == (len(result["ids"]), 8)
    tokens = run("encode", path, "--json", "--tokens", "the cat\n").stdout
    assert "".join(token["text"] for token in json.loads(tokens)["tokens"]) == "the cat\n"
    assert [token["id"] for token in json.loads(tokens)["tokens"]] == result["ids"]
    for printed in (shown, tokens):
        assert run("decode", path, stdin=printed).text == "the cat\n"
    for wrong in (b"{", b'{"ids": 5}', b'{"tokens": [5]}', b'{"ids": ["a"]}', b"{}"):
        assert run("decode", path, stdin=wrong).code == 2


def test_tokens_are_shown_one_per_line(run: Run, path: Path) -> None:
    lines = run("encode", path, "--tokens", "the\n").text.splitlines()
    ids = tokexport.load(path).encode("the\n")
    assert [line.split(None, 1)[0] for line in lines] == [*map(str, ids)]
    assert lines[-1].endswith('\\n"')


def test_a_text_without_tokens_has_no_line_for_one(run: Run, path: Path) -> None:
    printed = {option: run("encode", path, *option, "").text for option in ((), ("--tokens",))}
    assert printed == {(): "\n", ("--tokens",): ""}
    assert run("encode", path, "--offsets", "").text == ""


def test_a_word_without_end_is_refused_at_once() -> None:
    parts = iter([b"1 2 ", b"\0" * 100, b"3"])
    with pytest.raises(TokexportError, match=r"'(\\x00){40}' is not an id"):
        [*parse_ids(parts)]
    assert [*parts] == [b"3"]


def test_the_ids_of_an_object_are_read_as_they_arrive(run: Run, path: Path) -> None:
    printed = run("encode", path, "--json", "the ferry left").stdout
    ids = tokexport.load(path).encode("the ferry left")
    for size in (1, 7, 1000):
        parts = [printed[at : at + size] for at in range(0, len(printed), size)]
        assert [*chain.from_iterable(parse_ids(parts))] == ids
    arriving = iter([printed[:100], printed[100:]])
    first = next(parse_ids(arriving))
    assert first == ids[: len(first)] != ids
    assert next(arriving) == printed[100:]
    for end in (printed.index(b"]"), -2):
        with pytest.raises(TokexportError, match="is not an object with ids"):
            list(parse_ids([printed[:end]]))


def test_decoding_can_skip_special_tokens(run: Run, path: Path) -> None:
    ids = tokexport.load(path).encode("a<|endoftext|>b", allowed_special="all")
    assert run("decode", path, *ids).text == "a<|endoftext|>b"
    assert run("decode", path, "--skip-special-tokens", *ids).text == "ab"


def test_text_that_is_not_utf8_is_refused_with_its_offset(run: Run, small_file: PathOf) -> None:
    for options in ([], ["--json"]):
        refused = run("encode", small_file("gpt2"), *options, stdin=b"abc\xff")
        assert "standard input: not UTF-8 at byte 3" in refused.refusal


def test_a_text_may_begin_with_a_dash_and_a_dash_is_standard_input(run: Run, path: Path) -> None:
    tokenizer = tokexport.load(path)
    for text in ("- item", "-x hello", "-h is no help here", "-5", "-- the end", "--- a\n"):
        ids = tokenizer.encode(text)
        assert run("encode", path, text).text.split() == [str(id) for id in ids]
        assert run("encode", path, "--json", "--", text).text.startswith('{"schema_version": 2')
    expected = run("encode", path, "the").text
    for arguments in (("-",), ("--file", "-"), ()):
        assert run("encode", path, *arguments, stdin=b"the").text == expected
    assert run("decode", path, "-", stdin=expected.encode()).text == "the"
    assert run("encode", "-", "the", stdin=path.read_bytes()).text == expected
    assert "-h, --help" in run("encode", "-h").text
    assert "'--file' requires an argument" in run("encode", path, "--file").refusal


def test_a_long_text_in_any_parts_has_the_ids_of_one_call(
    run: Run, small_file: PathOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, text = small_file("llama3"), "the cat naïve 渡船 " * 500
    ids = tokexport.load(path).encode(text, add_special_tokens=True)
    for size in (1, 7, 1000):
        monkeypatch.setattr("tokexport.cli.options.PART", size)
        arguments = ("encode", path, "--add-special-tokens")
        printed = run(*arguments, stdin=text.encode())
        assert printed.text == " ".join(map(str, ids)) + "\n"
        assert run(*arguments, "--json", stdin=text.encode()).values["ids"] == ids
        decoded = run("decode", path, "--skip-special-tokens", stdin=printed.stdout)
        assert decoded.stdout == text.encode()


def test_ids_are_printed_in_blocks(run: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of a tokenizer that encodes a text as a whole come all at once."""
    stdin = (TEXT * 3).encode()
    for options in ([], ["--tokens"], ["--offsets"], ["--json"], ["--offsets", "--json"]):
        whole = run("encode", path, *options, stdin=stdin)
        for size in (1, 2, 5):
            with monkeypatch.context() as changes:
                changes.setattr("tokexport.cli.encode.BLOCK", size)
                assert run("encode", path, *options, stdin=stdin) == whole
