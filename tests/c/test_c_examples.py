"""The examples compile without warnings, and do what their first comments say."""

import subprocess
from pathlib import Path

import golden_files
import numpy as np
import pytest
from c_harness import COMPILERS, NEEDS_COMPILER, RUNTIME, compile_c, run
from safetensors.numpy import save_file

from tokexport import load
from tokexport.embedding import embed

EXAMPLES = RUNTIME / "examples"
ADDED = RUNTIME / "golden" / "added.bin"
NAMES = ["chat_loop", "decode_ids", "embedded", "encode_stdin", "in_model_file", "stream_reply"]

pytestmark = NEEDS_COMPILER


def built(name: str, folder: Path, *flags: str) -> Path:
    sources = [EXAMPLES / f"{name}.c", RUNTIME / "tokexport.c"]
    return compile_c(COMPILERS[0], sources, folder / name, "-O0", *flags)


def lines_of(ids: list[int]) -> str:
    return "".join(f"{token}\n" for token in ids)


def test_every_example_is_tested_here() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.c")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_without_arguments_an_example_says_how_it_is_used(name: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.inc").write_text("0")
    program = built(name, tmp_path, f"-I{tmp_path}")
    done = subprocess.run([program], capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"usage: {name} ".encode())


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("decode_ids", ["nosuch", "1"], b"nosuch: No such file or directory\n"),
        ("decode_ids", [str(ADDED), "1x"], b"decode_ids: 1x is not an id\n"),
        ("stream_reply", [str(ADDED)], b"stream_reply: the input has more than ids\n"),
    ],
)
def test_an_example_says_what_it_cannot_use(
    name: str, arguments: list[str], said: bytes, tmp_path: Path
) -> None:
    command = [str(built(name, tmp_path)), *arguments]
    done = subprocess.run(command, input=b"1 abc", capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, said)


def test_encode_stdin_prints_the_ids_of_standard_input(tmp_path: Path) -> None:
    program = built("encode_stdin", tmp_path)
    golden = RUNTIME / "golden" / "smallest-bpe.bin"
    assert run([program, golden], stdin=b"abba") == "2\n1\n0\n"


def test_decode_ids_prints_the_text_of_its_arguments(tmp_path: Path) -> None:
    ids = load(ADDED).encode("hello, world")
    program = built("decode_ids", tmp_path)
    assert run([program, ADDED, *map(str, ids)]) == load(ADDED).decode(ids) + "\n"


def test_stream_reply_prints_characters_when_they_are_complete(tmp_path: Path) -> None:
    tokenizer = load(ADDED)
    ids = tokenizer.encode("héllo 😀 world")
    assert len(ids) > len("héllo 😀 world") // 2
    program = built("stream_reply", tmp_path)
    assert run([program, ADDED], stdin=lines_of(ids).encode()) == tokenizer.decode(ids) + "\n"
    stopped = lines_of([ids[0], tokenizer.special_ids.stop[0], ids[1]])
    assert run([program, ADDED], stdin=stopped.encode()) == tokenizer.decode(ids[:1]) + "\n"


def test_chat_loop_encodes_markup_as_tokens_and_messages_as_text(tmp_path: Path) -> None:
    tokenizer = load(ADDED)
    program = built("chat_loop", tmp_path)
    lines = run([program, ADDED, "<s>", "</s>"], stdin=b"hello</s>\n").splitlines()
    bos = [] if tokenizer.special_ids.bos is None else [tokenizer.special_ids.bos]
    before, after = (tokenizer.encode(text, allowed_special="all") for text in ("<s>", "</s>"))
    ids = tokenizer.encode("hello</s>")
    assert lines[0] == "fed: " + " ".join(map(str, [*bos, *before, *ids, *after]))
    assert lines[1] == "reply: " + tokenizer.decode(ids, skip_special_tokens=True)


def test_embedded_has_its_tokenizer_in_an_array(tmp_path: Path) -> None:
    content = golden_files.content("added")
    (tmp_path / "tokenizer.inc").write_text(",".join(map(str, content)))
    program = built("embedded", tmp_path, f"-I{tmp_path}")
    ids = load(ADDED).encode("hello, world", add_special_tokens=True)
    assert run([program, "hello, world"]) == lines_of(ids)


def test_in_model_file_finds_the_tokenizer_at_the_end_of_a_model(tmp_path: Path) -> None:
    save_file({"weight": np.arange(5, dtype=np.float32)}, tmp_path / "model.safetensors")
    embed(ADDED, tmp_path / "model.safetensors", tmp_path / "one.safetensors")
    program = built("in_model_file", tmp_path)
    ids = load(ADDED).encode("hello, world")
    assert run([program, tmp_path / "one.safetensors", "hello, world"]) == lines_of(ids)
