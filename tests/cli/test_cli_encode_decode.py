"""tokexport encode and decode: text is bytes, ids are numbers, and nothing is added or taken away."""

from __future__ import annotations

import json

import pytest

import tokexport

TEXT = "We've 4,312 books: naïve, 渡船 🙂\\n\t end  \r\n\n"


def test_a_text_from_the_argument_a_file_and_stdin_gives_the_same_ids(run, small_file, tmp_path):
    path = small_file("llama3")
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    expected = " ".join(map(str, tokexport.load(path).encode(TEXT))) + "\n"
    assert run("encode", path, TEXT).text == expected
    assert run("encode", path, "--file", tmp_path / "text.txt").text == expected
    assert run("encode", path, stdin=TEXT.encode()).text == expected


def test_line_ends_are_kept_and_escapes_are_not_processed(run, small_file):
    path = small_file("gpt2")
    texts = ("a", "a\n", "a\r\n", "a\\n", " a", "a ")
    outputs = [run("encode", path, stdin=text.encode()).text for text in texts]
    assert len(set(outputs)) == len(texts)
    for text, output in zip(texts, outputs, strict=True):
        assert run("decode", path, stdin=output.encode()).stdout == text.encode()


@pytest.mark.parametrize("name", ["gpt2", "ranks", "qwen"])
def test_decode_writes_exactly_the_bytes_of_the_text(name, run, small_file):
    text = "plain, naïve, 渡船\x00\x07\r\n"
    ids = run("encode", small_file(name), stdin=text.encode()).stdout
    assert run("decode", small_file(name), stdin=ids).stdout == text.encode()


def test_half_a_character_is_decoded_as_its_bytes(run, small_file):
    path = small_file("gpt2")
    ids = tokexport.load(path).encode("🙂")
    assert len(ids) > 1
    assert run("decode", path, ids[0]).stdout == tokexport.load(path).decode_bytes(ids[:1])


def test_special_tokens_are_text_unless_they_are_asked_for(run, small_file):
    path, content = small_file("gpt2"), "<|endoftext|>"
    assert run("encode", path, "--special", content).text == "0\n"
    plain = run("encode", path, content).text.split()
    assert len(plain) > 1
    assert run("decode", path, *plain).text == content


@pytest.mark.parametrize("unit", ["char", "byte"])
def test_offsets_are_a_line_a_token_or_json(unit, run, small_file):
    path = small_file("gpt2")
    encoding = tokexport.load(path).encode_with_offsets(TEXT, unit=unit)
    lines = run("encode", path, "--offsets", "--unit", unit, stdin=TEXT.encode()).text.splitlines()
    assert [tuple(map(int, line.split()[:3])) for line in lines] == [
        (id, start, end) for id, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)
    ]
    shown = json.loads(
        run("encode", path, "--offsets", "--unit", unit, "--json", stdin=TEXT.encode()).text
    )
    assert [tuple(pair) for pair in shown["offsets"]] == encoding.offsets
    assert (shown["ids"], shown["unit"]) == (encoding.ids, unit)


def test_the_template_is_added_on_request(run, small_file):
    path = small_file("llama3")
    bos = tokexport.load(path).encode_single_token("<|begin_of_text|>")
    assert run("encode", path, "--add-special-tokens", "a").text.split()[0] == str(bos)
    assert run("encode", path, "a").text.split()[0] != str(bos)


def test_json_holds_ids_and_escaped_tokens(run, small_file):
    path = small_file("gpt2")
    result = json.loads(run("encode", path, "--json", "the cat\n").text)
    assert result["ids"] == tokexport.load(path).encode("the cat\n")
    assert "".join(result["tokens"]) == "the cat\\n"
    assert (result["count"], result["bytes"]) == (len(result["ids"]), 8)


def test_tokens_are_shown_a_line_each(run, small_file):
    path = small_file("gpt2")
    lines = run("encode", path, "--tokens", "the\n").text.splitlines()
    assert [line.split(None, 1)[0] for line in lines] == [
        str(each) for each in tokexport.load(path).encode("the\n")
    ]
    assert lines[-1].endswith('\\n"')


def test_ids_may_be_separated_by_spaces_commas_and_brackets(run, small_file):
    path = small_file("gpt2")
    ids = tokexport.load(path).encode("the ferry left")
    for text in (json.dumps(ids), " ".join(map(str, ids)), "\n".join(map(str, ids)) + "\n"):
        assert run("decode", path, stdin=text.encode()).text == "the ferry left"


def test_special_tokens_can_be_left_out_of_what_is_decoded(run, small_file):
    path = small_file("gpt2")
    ids = tokexport.load(path).encode("a<|endoftext|>b", allowed_special="all")
    assert run("decode", path, *ids).text == "a<|endoftext|>b"
    assert run("decode", path, "--skip-special-tokens", *ids).text == "ab"


def test_decode_as_json_gives_text_and_tokens(run, small_file):
    path = small_file("gpt2")
    result = json.loads(run("decode", path, "--json", *tokexport.load(path).encode("a b")).text)
    assert result["text"] == "a b"
    assert "".join(result["tokens"]) == "a b"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["99999999"], "no id 99999999; its ids are 0 to "),
        (["12x"], "'12x' is not an id"),
        (["-1"], "'-1' is not an id"),
    ],
)
def test_a_bad_id_is_an_error_in_one_sentence(arguments, sentence, run, small_file):
    outcome = run("decode", small_file("gpt2"), *arguments)
    assert outcome.code == 2
    assert outcome.stdout == b""
    assert sentence in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_a_hole_is_a_bad_id(run, small_file):
    tokenizer = tokexport.load(small_file("shuffled"))
    holes = [each for each in range(tokenizer.n_vocab) if tokenizer.records[each]["flags"] & 3 == 0]
    assert holes
    assert run("decode", small_file("shuffled"), holes[0]).code == 2


def test_text_that_is_not_utf8_is_refused_with_its_offset(run, small_file):
    outcome = run("encode", small_file("gpt2"), stdin=b"abc\xff")
    assert outcome.code == 2
    assert outcome.stdout == b""
    assert "at byte 3" in outcome.stderr


def test_text_and_file_together_are_refused(run, small_file):
    assert run("encode", small_file("gpt2"), "a", "--file", "b").code == 2


def test_a_decode_only_file_decodes_and_does_not_encode(run, small_source, tmp_path):
    target = tmp_path / "it.bin"
    assert run("convert", small_source("gpt2"), "-o", target, "--decode-only").code == 0
    ids = tokexport.load(target)
    assert run("decode", target, 1, 2, 3).stdout == ids.decode_bytes([1, 2, 3])
    outcome = run("encode", target, "a")
    assert outcome.code == 2
    assert outcome.stderr.startswith("tokexport: ")
