"""WordPiece and RWKV in GGUF: the ids when read back and in llama.cpp, and its tokens."""

from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from references import converted

import tokexport
from tokexport.errors import TokexportError
from tokexport.sources.gguf.metadata import read_metadata
from tokexport.targets.registry import TARGETS
from tokexport.targets.write import write_target

gguf = pytest.importorskip("gguf")

WORDS = [
    *("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "un", "##aff", "##able", "a", "##a"),
    *("he", "##llo", "e", "##\u0301", "\u00e9", "\u4e2d", "!", "[", "]", "H", "##e", "x"),
]
RWKV = [*(bytes([byte]) for byte in range(256)), b"ab", b"'\"", "\u4e2d".encode(), b"\\\n"]
PARTS = ["[Q] ", "<ent>", "a!x", "[SEP]", *"unaffable he H\u00e9e\u0301\u4e2d![]x'\"\\\n"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)
NAMES = ["uncased", "cased", "added", "rwkv"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Sources by name, each with the model read from its GGUF."""
    folder = tmp_path_factory.mktemp("words")
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", "utf-8")
    cased = folder / "cased"
    cased.mkdir()
    (cased / "vocab.txt").write_text("\n".join(WORDS) + "\n", "utf-8")
    (cased / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    lines = [b"%d %s %d\n" % (id, repr(x).encode(), len(x)) for id, x in enumerate(RWKV, 1)]
    (folder / "rwkv_vocab_tiny.txt").write_bytes(b"".join(lines))
    library = tokenizers.BertWordPieceTokenizer({word: id for id, word in enumerate(WORDS)})
    library.add_special_tokens(["[Q] ", "<ent>"])
    library.add_tokens(["a!x"])
    library.save(str(folder / "tokenizer.json"))
    sources = {"uncased": "vocab.txt", "cased": "cased", "rwkv": "rwkv_vocab_tiny.txt"}
    sources["added"] = "tokenizer.json"
    read_back = {name: _pair(folder / path, folder / name) for name, path in sources.items()}
    return {"folder": folder, **read_back}


def _pair(source: Path, target: Path) -> tuple[tokexport.Tokenizer, tokexport.Tokenizer]:
    gguf_path = target.with_suffix(".gguf")
    result = write_target(source, "gguf", gguf_path)
    losses = [str(loss) for loss in result.losses]
    assert ["before it normalizes" in loss for loss in losses[1:]] == [True] * (
        target.name == "added"
    )
    assert len(losses[:1]) == (target.name != "rwkv")
    assert all("knows more punctuation" in loss for loss in losses[:1])
    assert all(("drops every mark" in loss) == (target.name != "cased") for loss in losses[:1])
    return converted(source, self_test=False), converted(gguf_path, self_test=False)


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS)
def test_a_file_read_back_has_the_same_ids(name: str, text: str, pairs: dict[str, Any]) -> None:
    original, read_back = pairs[name]
    for allowed in ((), "all"):
        expected = original.encode(text, allowed_special=allowed)
        assert read_back.encode(text, allowed_special=allowed) == expected


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS)
def test_llama_cpp_produces_the_ids_of_ordinary_texts(
    name: str, text: str, pairs: dict[str, Any]
) -> None:
    runtime = TARGETS["gguf"].runtime(pairs["folder"] / f"{name}.gguf", {})
    assert runtime.encode(text) == pairs[name][0].encode(text, allowed_special="all")


def test_llama_cpp_keeps_only_the_first_character_of_a_decomposition(tmp_path: Path) -> None:
    words = [*WORDS[:5], "\u0915", "##\u0940", "\u110b"]
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n", "utf-8")
    write_target(tmp_path / "vocab.txt", "gguf", tmp_path / "it.gguf")
    runtime = TARGETS["gguf"].runtime(tmp_path / "it.gguf", {})
    # Hindi with a vowel sign, which is a spacing mark, and a Hangul syllable.
    assert runtime.encode("\u0915\u0940 \uc774 x") == [5, 7, 0]
    assert runtime.decode([5, 7, 0]) == " \u0915 \u110b[UNK]".encode()
    assert converted(tmp_path / "vocab.txt").encode("\u0915\u0940 \uc774") == [5, 6, 0]


def test_the_ids_around_a_text_are_keys(pairs: dict[str, Any]) -> None:
    path = pairs["folder"] / "added.gguf"
    values = read_metadata(path.read_bytes(), path.name, ("tokenizer.",))
    keys = ("bos_token_id", "seperator_token_id")
    assert [values[f"tokenizer.ggml.{key}"] for key in keys] == [1, 2]
    assert pairs["added"][1].encode("", add_special_tokens=True) == [1, 2]


def test_lower_case_is_a_key(pairs: dict[str, Any]) -> None:
    uncased, cased = pairs["uncased"][1], pairs["cased"][1]
    assert uncased.encode("He") == [WORDS.index("he")]
    assert cased.encode("He") == [WORDS.index("H"), WORDS.index("##e")]


def test_another_wordpiece_is_refused(tmp_path: Path) -> None:
    model = tokenizers.models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]")
    tokenizers.Tokenizer(model).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(TokexportError, match="not normalized and cut as in BERT"):
        write_target(tmp_path / "tokenizer.json", "gguf", tmp_path / "it.gguf")


def test_tokens_equal_those_of_the_converter_of_llama_cpp(shared: Path, tmp_path: Path) -> None:
    source = shared / "tokenizers" / "gguf" / "ggml-vocab-bert-bge.gguf"
    write_target(source, "gguf", tmp_path / "it.gguf", pattern="bert-bge")
    original, written = (
        read_metadata(path.read_bytes(), path.name, ("tokenizer.",))
        for path in (source, tmp_path / "it.gguf")
    )
    assert written["tokenizer.ggml.tokens"] == original["tokenizer.ggml.tokens"]
    assert len(original["tokenizer.ggml.tokens"]) > 30000
