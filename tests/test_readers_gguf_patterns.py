"""The name in tokenizer.ggml.pre chooses the pre-tokenizer and the normalizer of a byte-level GGUF."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import pytest
from repository import SMALL

from tokexport.errors import UnsupportedError
from tokexport.readers import read
from tokexport.readers.gguf_patterns import ORIGINALS
from tokexport.references import reference_for
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.verification import compare
from tokexport.writers.tokexport_file import Options, write

# Words, runs of digits and of white space, letters without case, marks that NFC composes, punctuation of two scripts.
TEXT = "It's the  end of 12345 days\n\n中文字 and\u3000。、!! e\u0301 \t ﬁ x1y22 ¡Hé!"
PIECES = {
    "gpt-2": ["It", "'s", " the", " ", " end", " of", " 12345", " days"],
    "starcoder": ["It", "'s", " the", " ", " end", " of", " ", "1", "2", "3", "4", "5", " days"],
    "deepseek-llm": ["It", "'", "s", " the", " ", " end", " of", " ", "1", "2", "3", "4", "5", " days"],
    "llama-bpe": ["It", "'s", " the", " ", " end", " of", " ", "123", "45", " days"],
}


def small_gguf(path: Path, pre: str) -> Path:
    """The vocabulary of the small GPT-2 under a name."""
    document = json.loads((SMALL / "gpt2.json").read_text("utf-8"))
    spelling = {number: text for text, number in document["model"]["vocab"].items()}
    spelling |= {token["id"]: token["content"] for token in document["added_tokens"]}
    added = {token["id"] for token in document["added_tokens"]}
    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list([spelling[number] for number in sorted(spelling)])
    types = [gguf.TokenType.CONTROL if number in added else gguf.TokenType.NORMAL for number in sorted(spelling)]
    writer.add_token_types(types)
    merges = document["model"]["merges"]
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def converted(path: Path) -> Tokenizer:
    return load(write(read(path), Options()))


@pytest.mark.parametrize("pre", ORIGINALS)
def test_every_name_gives_the_ids_of_its_original(pre: str, tmp_path: Path) -> None:
    path = small_gguf(tmp_path / "it.gguf", pre)
    tokenizer, reference = converted(path), reference_for(path)
    result = compare(tokenizer, reference, strings=150, code_points=False)
    assert result.ok, "\n".join(result.lines())
    assert tokenizer.decode(tokenizer.encode("héllo wörld 123")) == "héllo wörld 123"


@pytest.mark.parametrize("pre", PIECES)
def test_no_token_goes_beyond_a_piece(pre: str, tmp_path: Path) -> None:
    tokenizer = converted(small_gguf(tmp_path / "it.gguf", pre))
    text = "".join(PIECES[pre])
    assert TEXT.startswith(text)
    assert tokenizer.encode(text) == [number for piece in PIECES[pre] for number in tokenizer.encode(piece)]
    ends = {sum(map(len, PIECES[pre][: count + 1])) for count in range(len(PIECES[pre]))}
    assert ends <= {end for _, end in tokenizer.encode_with_offsets(text).offsets}


@pytest.mark.parametrize("pre", [name for name in ORIGINALS if ORIGINALS[name].normalizer is not None])
def test_marks_are_composed_where_the_original_does(pre: str, tmp_path: Path) -> None:
    tokenizer = converted(small_gguf(tmp_path / "it.gguf", pre))
    assert tokenizer.encode("e\u0301") == tokenizer.encode("é") != []


def test_a_name_that_is_not_known_is_refused(tmp_path: Path) -> None:
    path = small_gguf(tmp_path / "it.gguf", "new-model")
    with pytest.raises(UnsupportedError, match=r'tokenizer\.ggml\.pre: "new-model".*deepseek-coder, .*tekken'):
        read(path)
