"""A wrong argument is an error that names it, and nothing is written; no option is ignored."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import PathOf, Run
from repository import ROOT, small_source

import tokexport


@pytest.mark.parametrize(
    ("wrong", "error", "reason"),
    [
        ({"reference": "tokenizers"}, ValueError, "reference must be None or .*, not 'tokenizers'"),
        ({"reference": ""}, ValueError, "reference must be"),
        ({"pattern": 5}, TypeError, "pattern must be a str or None, not int"),
        ({"special_tokens": {"a": "b"}}, TypeError, "special_tokens must map str to int, not 'a'"),
        ({"special_tokens": ["a"]}, TypeError, "special_tokens must be a mapping or None"),
        ({"revision": 5}, TypeError, "revision must be a str or None, not int"),
        ({"special_tokens": {"\ud800": 1}}, tokexport.errors.SourceError, "has a surrogate"),
        ({"source": ""}, tokexport.errors.SourceError, "an empty path names no file"),
        ({"target": 5}, TypeError, "target must be a path or a binary file, not int"),
    ],
)
def test_wrong_values_of_convert_are_errors_that_name_them(
    wrong: dict[str, Any], error: type[Exception], reason: str, tmp_path: Path
) -> None:
    target = tmp_path / "it.bin"
    with pytest.raises(error, match=reason):
        tokexport.convert(**({"source": small_source("gpt2"), "target": target} | wrong))
    assert not target.exists()


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"strings": "x"}, "strings must be an int, not str"),
        ({"seed": 1.5}, "seed must be an int, not float"),
        ({"jobs": None}, "jobs must be an int, not NoneType"),
        ({"texts": "book.txt"}, "texts must be several paths, not str"),
        ({"texts": None}, "texts must be several paths, not NoneType"),
        ({"strings": -1}, r"strings \(-1\) must be at least 0"),
        ({"jobs": 0}, r"jobs \(0\) at least 1"),
        ({"only": 5}, "only must be a str or None, not int"),
    ],
)
def test_wrong_values_of_verify_are_errors_that_name_them(
    wrong: dict[str, Any], reason: str, small_file: PathOf
) -> None:
    with pytest.raises((TypeError, ValueError), match=reason):
        tokexport.verify(small_file("gpt2"), against=small_source("gpt2"), **wrong)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("inspect FILE --token 5 --tokens", "--token, --tokens and --added exclude one another"),
        ("inspect FILE --added --tokens", "--token, --tokens and --added exclude one another"),
        ("inspect FILE --token 1000000", "id 1000000: no such id"),
        ("encode FILE --tokens --offsets a", "--offsets excludes --tokens"),
        ("encode FILE a --file b", "Give TEXT or --file, not both"),
        ("encode FILE a --unit byte", "--unit requires --offsets"),
        ("encode FILE --tokns a", "--tokns"),
        ("bench FILE --seconds x", "'x' is not a valid number."),
        ("train TEXT --vocab-size x -o DIR", "'x' is not a valid integer."),
        ("train TEXT --vocab-size 300 --special-id x y -o DIR", "'y' is not a valid integer."),
        ("count TEXT --pattern x -o DIR", "pattern: 'x' is not a known name"),
        ("verify FILE --against SOURCE --only x", "only (--only) is 'x', which names no"),
        ("bench FILE --text TEXT", "TEXT: the text is empty"),
        ("bench FILE --seconds inf", "inf is not in the range 0<=x<=3600"),
        ("diff FILE FILE --pattern gpt2", "--pattern is for sources"),
        ("convert FILE --to llm.c -o DIR --reference transformers", "--reference is for sources"),
        *(
            (f"convert SOURCE -o DIR {options}", reason)
            for options, reason in (
                ("--to llama2.c --no-chat-template", "--to excludes --no-chat-template"),
                ("--to llama2.c --decode-only", "--to excludes --decode-only"),
                ("--to llama2.c --verbose", "--to excludes --verbose"),
                ("--to llama2.c --output -", "--to excludes --output -."),
                ("--from llama2.c --no-chat-template", "--from excludes --no-chat-template"),
                ("--from llama2.c --pattern cl100k_base", "--from excludes --pattern"),
                ("--from llama2.c --to gguf", "--from excludes --to"),
                ("--to llama2.c --into x.gguf", "--into requires --to gguf"),
                ("--strict", "--strict requires --to"),
            )
        ),
        ("convert SOURCE --to gguf", "--to gguf requires -o FILE.gguf"),
        ("convert SOURCE --to vocab.json", "--to vocab.json requires -o DIR"),
        ("demo SOURCE -o TEXT", "TEXT exists already"),
        ("view FILE --file nothing.txt -o TEXT", "nothing.txt: cannot be read: No such file"),
        ("verify FILE --as qwen3.c --against FILE", "FILE is a tokexport file: leave out --as"),
        ("verify FILE --against nothing.json", "nothing.json: cannot be read"),
        ("bench FILE --text BYTES", "BYTES: not UTF-8 at byte 2; convert it to UTF-8"),
        ("decode FILE \udcff", "is not an id"),
        ("decode FILE 99999999", "FILE: id 99999999: no such id; this tokenizer's ids are 0 to 4"),
        ("decode FILE 1 12x", "word 2: '12x' is not an id"),
        ("decode FILE -1", "'-1' is not an id"),
        ("decode FILE 1 2 -", "'-' is not an id"),
        ("decode FILE 1 2 99999999", "FILE: id 99999999: no such id"),
        (f"decode FILE {21 * '1'}", "1' is not an id; it has more than 20 digits: put spaces or"),
        ("encode -", "standard input can only be read once"),
        ("encode FOLDER a", "FOLDER: cannot be read: Is a directory; name a file"),
        ("decode - -", "standard input can only be read once"),
        *(
            (f"{command} -o -", "this command does not write to standard output")
            for command in (
                "embed FILE FILE",
                "tokenize FILE BYTES",
                "count BYTES",
                "train BYTES --vocab-size 256",
                "model export DIR",
                "demo",
            )
        ),
        *(
            (f"{command} --output /dev/null", "only a regular file is replaced; name a file")
            for command in ("embed FILE FILE", "count TEXT", "demo SOURCE")
        ),
        ("tokenize FILE TEXT -o /dev/null", "/dev/null is not a directory; name another"),
        ("tokenize FILE TEXT -o FILE", "FILE is not a directory; name another"),
        ("count BYTES -o COUNTS --pattern ''", "Invalid value for '--pattern': the value is empty"),
        ("tokenize FILE BYTES -o DIR --field ''", "for '--field': the value is empty"),
        ("chat-template FILE CHAT --template TEMPLATE", "CHAT: a text has the surrogate"),
        ("chat-template FILE CHAT --template BROKEN", "BROKEN: line 1 of the chat template is not"),
        ("chat-template FILE BROKEN --template TEMPLATE", "BROKEN: message 0 is of type str; give"),
        ("chat-template FILE CHAT --set messages=[]", "messages come from MESSAGES.json"),
        ("chat-template FILE CHAT --set tokenize=0", "tokenize is no variable of a template"),
        (
            "chat-template FILE CHAT --add-generation-prompt --continue-final-message",
            "--add-generation-prompt excludes --continue-final-message",
        ),
        ("chat-template FILE CUT", "CUT: line 1, column 11 is not JSON: the file ends in the mid"),
        ("chat-template FILE CUT", "of the string that begins there; it seems to be cut off: get"),
        ("chat-template FILE TEXT", "TEXT: it is empty, and not JSON"),
        ("chat-template FILE BYTES", "BYTES: not UTF-8 at byte 2; convert it to UTF-8"),
        *(  # since Python 3.12, what json reads can be rendered
            [("chat-template FILE NESTED --template TEMPLATE", "NESTED: nested too deeply")]
            if sys.version_info < (3, 12)
            else []
        ),
        ("chat-template FILE DEEP", "DEEP: nested too deeply"),
        ("model export FOLDER -o DIR", "config.json: it is not JSON: it is nested too deeply"),
        ("tokenize FILE TEXT -o FOLDER", "not an index of token shards: it is nested too deeply"),
        ("tokenize FILE TEXT -o DIR --begin <no>", "`tokexport inspect --added` lists its special"),
        ("verify LLAMA2C --as llama2.c --against FILE --quick", "--as excludes --quick"),
    ],
)
def test_wrong_or_useless_arguments_of_commands_are_refused(
    command: str, reason: str, run: Run, small_file: PathOf, tmp_path: Path
) -> None:
    made = ("BROKEN", "BYTES", "CHAT", "CUT", "DEEP", "FOLDER", "NESTED", "TEMPLATE")
    names = {name: tmp_path / name for name in made}
    names |= {"SOURCE": small_source("gpt2"), "DIR": tmp_path / "DIR"}
    names["TEXT"] = tmp_path / "text.txt"
    names["TEXT"].touch()
    names["BYTES"].write_bytes(b"ab\xff")
    names["CHAT"].write_text(json.dumps([{"role": "user", "content": "\ud800"}]))
    names["NESTED"].write_text(f'[{{"role": "user", "content": {900 * "["}{900 * "]"}}}]')
    names["FOLDER"].mkdir()
    for path in (names["DEEP"], names["FOLDER"] / "config.json", names["FOLDER"] / "index.json"):
        path.write_text(100_000 * "[")
    names["CUT"].write_text('[{"role": "us')
    names["TEMPLATE"].write_text("{{ messages[0].content }}")
    names["BROKEN"].write_text('["{{"]')
    names |= {"FILE": small_file("gpt2"), "LLAMA2C": ROOT / "formats/llama2.c/golden.bin"}
    stdin = small_file("gpt2").read_bytes()
    found = run(*(names.get(word, word) for word in shlex.split(command)), stdin=stdin).refusal
    for name, path in names.items():
        found = found.replace(str(path), name)
    assert reason in found
    assert not names["DIR"].exists()


@pytest.mark.parametrize("read", [tokexport.load, tokexport.read, tokexport.convert])
def test_a_path_with_a_null_byte_is_an_error_that_names_it(read: Callable[[str], Any]) -> None:
    with pytest.raises(tokexport.errors.SourceError, match="null byte"):
        read("a\0b")


def test_a_source_whose_name_is_not_utf8_converts(tmp_path: Path) -> None:
    source = tmp_path / "a\udcff.json"
    try:
        source.write_bytes(small_source("gpt2").read_bytes())
    except OSError:
        pytest.skip("the file system has no such names")
    done = tokexport.convert(source, tmp_path / "it.bin")
    assert [*done.model.provenance.sha256] == [source.name]
    assert [*tokexport.load(tmp_path / "it.bin").provenance["sha256"]] == ["a?.json"]
