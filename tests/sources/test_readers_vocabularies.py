"""Files of tekken, GGUF, BERT, RWKV, minbpe and CLIP convert to the ids of their references."""

import base64
import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from gguf_files import gguf_of
from peer_trainers import joined
from reader_samples import CHARACTERS, reference
from references import converted, reference_for, refused
from tiktoken_encodings import byte_encoding

from tokexport import Tokenizer
from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources import read
from tokexport.sources.clip import END, START, clip_document

TEXTS = (
    *("", " ", "ab abc", "The CAT\n\tsat; isn't 123", "<s>é中\U0001f600</s>"),
    "a" * 30,
    "[MASK] x\u0301 \u2581 \x00",
)


def same_ids(source: Path) -> Tokenizer:
    """The converted tokenizer, after comparing its ids and texts with the reference."""
    tokenizer, library = converted(source), reference_for(source)
    for mode in library.modes:
        for text in TEXTS:
            ids = tokenizer.encode(text, allowed_special=library.allowed_special(mode))
            if mode.name != "TEMPLATE":
                assert ids == library.encode_batch([text], mode)[0]
                assert tokenizer.decode(ids) == library.decode_batch([ids], False)[0]
    return tokenizer


def gguf(path: Path, *, model: str, tokens: list[str], **values: Any) -> Path:
    return gguf_of(path, model, tokens, values)


BYTE_LEVEL: dict[str, Any] = {
    "model": "gpt2",
    "pre": "gpt-2",
    "tokens": [*CHARACTERS, "ab", "abc", "<s>", "</s>", "[PAD260]"],
    "token_type": [1] * 258 + [3, 4, 5],
    "merges": ["a b", "ab c"],
    "bos_token_id": 258,
    "eos_token_id": 259,
    "add_bos_token": True,
}
LLAMA: dict[str, Any] = {
    "model": "llama",
    "tokens": [
        *("<unk>", "<s>", "</s>"),
        *(f"<0x{byte:02X}>" for byte in range(256)),
        *("\u2581", "a", "b", "\u2581a", "ab", "[PAD264]"),
    ],
    "scores": [0.0] * 259 + [-4.0, -5.0, -6.0, -1.0, -2.0, 0.0],
    "token_type": [2, 3, 3, *[6] * 256, *[1] * 5, 5],
    "bos_token_id": 1,
    "eos_token_id": 2,
}


@pytest.mark.parametrize("values", [BYTE_LEVEL, LLAMA], ids=["gpt2", "llama"])
def test_a_gguf_produces_the_ids_of_its_original(values: dict[str, Any], tmp_path: Path) -> None:
    path = gguf(tmp_path / "x.gguf", **values)
    same_ids(path)
    model = read(path)
    assert model.special_ids.bos == values["bos_token_id"]
    assert model.special_ids.stop == (values["eos_token_id"],)
    assert model.template.single[0].id == values["bos_token_id"]


def test_a_gguf_without_the_ids_of_bos_and_eos_has_llama_cpp_s(tmp_path: Path) -> None:
    absent = dict.fromkeys(["bos_token_id", "eos_token_id"])
    named, model = (read(gguf(tmp_path / "x.gguf", **LLAMA | ids)) for ids in ({}, absent))
    assert (model.special_ids, model.template) == (named.special_ids, named.template)
    assert read(gguf(tmp_path / "x.gguf", **BYTE_LEVEL | absent)).special_ids.bos is None


def test_padding_of_a_gguf_is_not_a_token(tmp_path: Path) -> None:
    assert len(read(gguf(tmp_path / "x.gguf", **BYTE_LEVEL)).tokens) == 260


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"token_type": [1]}, r"token_type is \[1\]; expected an array of 261 values of type int"),
        ({"token_type": [9] * 261}, r"token_type\[0\] is 9"),
        ({"merges": "a b"}, "merges is .*; expected an array"),
        ({"tokens": ["a"] * 261}, r'tokens\[1\] is "a"; expected a token other than tokens\[0\]'),
        ({"bos_token_id": 300}, "bos_token_id is 300; expected the id of a token"),
        ({"add_bos_token": 1}, "add_bos_token is 1; expected true or false"),
    ],
)
def test_a_gguf_that_cannot_be_read_is_refused(
    changes: dict[str, object], message: str, tmp_path: Path
) -> None:
    path = gguf(tmp_path / "x.gguf", **{**BYTE_LEVEL, **changes})
    refused(SourceError, message, path)


BYTES = [bytes((byte,)) for byte in range(256)]
TEKKEN = [*BYTES, b"ab", b"abc", b"left out"]


def tekken(**changes: object) -> dict[str, Any]:
    vocab = [
        {"rank": n, "token_bytes": base64.b64encode(t).decode(), "token_str": None}
        for n, t in enumerate(TEKKEN)
    ]
    config = {
        "pattern": r"\w+|\W",
        "num_vocab_tokens": 259,
        "default_vocab_size": 282,
        "default_num_special_tokens": 24,
        "version": "v3",
    }
    return {"config": config, "vocab": vocab, **changes}


def test_a_tekken_json_has_the_ids_of_tiktoken_after_the_special_tokens(tmp_path: Path) -> None:
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(tekken()))
    tokenizer = same_ids(path)
    theirs = byte_encoding(r"\w+|\W", TEKKEN[256:258])
    for text in TEXTS:
        assert tokenizer.encode(text) == [24 + number for number in theirs.encode_ordinary(text)]
    assert tokenizer.encode("</s>[INST]<SPECIAL_20>", allowed_special="all") == [2, 3, 20]


WORDS = [*map(chr, range(128)), *BYTES[128:], "ab", "abc", " the", "é", "'s"]
RWKV = "".join(
    f"{number} {token!r} {len(token.encode() if isinstance(token, str) else token)}\n"
    for number, token in enumerate(WORDS, 1)
)


def test_an_rwkv_vocabulary_produces_the_longest_token_at_each_position(tmp_path: Path) -> None:
    path = tmp_path / "rwkv_vocab.txt"
    path.write_text(RWKV, encoding="utf-8", newline="")
    assert same_ids(path).encode("abcab'sé") == [258, 257, 261, 260]


def test_padding_ids_of_an_rwkv_vocabulary_decode_to_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rwkv_vocab.txt"
    path.write_text(RWKV + "270 '' 0\n271 '' 0\n", encoding="utf-8", newline="")
    assert same_ids(path).decode([258, 270, 271, 257]) == "abcab"


@pytest.mark.parametrize(
    "config", [None, {"do_lower_case": False}, {"do_lower_case": True, "strip_accents": False}]
)
def test_a_vocab_txt_produces_the_ids_of_bertwordpiecetokenizer(
    config: dict[str, bool] | None, tmp_path: Path
) -> None:
    words = [
        *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "The", "cat", "##s", "##at", "s"),
        *("x", "a", "##a", "ab", ";"),
    ]
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n")
    if config is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tokenizer = same_ids(tmp_path / "vocab.txt")
    assert any("lower-cases" in note for note in read(tmp_path).notes) == (config is None)
    assert tokenizer.encode("the", add_special_tokens=True) == [2, 5, 3]


@pytest.mark.parametrize(
    ("name", "settings", "noted"),
    [
        ("special_tokens_map.json", {"additional_special_tokens": ["the"]}, True),
        ("tokenizer_config.json", {"additional_special_tokens": ["the"]}, True),
        ("tokenizer_config.json", {"added_tokens_decoder": {"5": {"content": "the"}}}, True),
        ("added_tokens.json", {"<new>": 16}, True),
        ("special_tokens_map.json", {"additional_special_tokens": [], "pad_token": "[PAD]"}, False),
    ],
)
def test_a_note_says_which_added_tokens_beside_a_vocab_txt_are_not_read(
    name: str, settings: object, noted: bool, tmp_path: Path
) -> None:
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n")
    (tmp_path / name).write_text(json.dumps(settings))
    same_ids(tmp_path)
    found = [note for note in read(tmp_path).notes if "added tokens" in note]
    assert [note.startswith(f"AutoTokenizer takes added tokens from {name}") for note in found] == (
        [True] if noted else []
    )


MINBPE = "minbpe v1\n\\w+|\\W\n1\n<|end|> 300\n97 98\n256 99\n97 97\n258 258\n"


def test_a_minbpe_model_merges_like_minbpe(tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    path.write_text(MINBPE)
    ids = same_ids(path).encode("abc aaaaaab<|end|>", allowed_special="all")
    assert ids == [257, 32, *minbpe("aaaaaab"), 300]


def minbpe(text: str) -> list[int]:
    """minbpe's encode of one chunk: merges all pairs of the lowest merge until none is left."""
    merges = {(97, 98): 256, (256, 99): 257, (97, 97): 258, (258, 258): 259}
    ids = tuple(text.encode())
    while pairs := [pair for pair in pairwise(ids) if pair in merges]:
        pair = min(pairs, key=lambda found: merges[found])
        ids = joined(ids, pair, merges[pair])
    return [*ids]


def test_special_tokens_of_clip_are_found_as_by_its_class() -> None:
    transformers = pytest.importorskip("transformers")
    tokens = [*CHARACTERS, *(f"{character}</w>" for character in CHARACTERS), START, END]
    vocab = {token: number for number, token in enumerate(tokens)}
    ours = reference(clip_document(vocab, []))
    theirs = transformers.CLIPTokenizer(vocab=vocab, merges=[]).backend_tokenizer
    for text in (START, START.upper(), f"a{END}b {END.upper()}", f" {START} é{END}"):
        assert ours.encode(text).ids == theirs.encode(text).ids, text


S, U = SourceError, UnsupportedError
CONTROL = {"rank": 1, "token_str": "<s>", "is_control": True}
TWICE = [{"rank": n, "token_str": "<s>"} for n in range(2)]
CLIP = "bpe_simple_vocab\n"
LATE = CLIP + "a b\n" * 9 + "a b c\n" + "a b\n" * 50000
LONG = "1" * 5000  # more digits than int() accepts
DOUBLING = "minbpe v1\n\n0\n97 97\n" + "".join(f"{n} {n}\n" for n in range(256, 320))
BROKEN: dict[str, list[tuple[type, Any, str]]] = {
    "tekken.json": [
        (S, tekken(special_tokens=[CONTROL]), "expected 0: special tokens are in the order"),
        (S, tekken(special_tokens=TWICE), "no 24 different special tokens"),
        (S, tekken(vocab=[]), "default_vocab_size is 282; expected 0 different tokens"),
        (S, tekken(vocab=[{"rank": 4, "token_bytes": "AA=="}]), "expected 0: ranks are in order"),
        (S, tekken(vocab=[{"rank": 0, "token_bytes": "?"}]), "expected base64"),
    ],
    "rwkv.txt": [
        (S, RWKV + "262 'ab' 3\n", "line 262 .* expected the length 2"),
        (S, RWKV + "262 open('x') 1\n", "expected an id, a Python literal"),
        (S, RWKV + "262 'a' + 'b' 2\n", "expected an id, a Python literal"),
        (U, RWKV + "262 'ab' 2\n", "line 262: an earlier line has the same token"),
        (U, RWKV + "5 'new' 3\n", "line 262: an earlier line has the same id"),
    ],
    "minbpe.model": [
        (S, "minbpe v1\n\n", "it ends before line 3; expected"),
        (S, "minbpe v1\n\nx\n", "expected the number of special tokens"),
        (S, "minbpe v1\n\n1\n<|end|>\n", "expected a distinct special token, a space and its id"),
        (S, f"minbpe v1\n\n1\n<|end|> {LONG}\n", "expected a distinct special token, a space"),
        (S, "minbpe v1\n\n0\n97 256\n", "line 4 is .* expected two ids under 256"),
        (S, f"minbpe v1\n\n0\n97 {LONG}\n", "line 4 is .* expected two ids under 256"),
        (U, DOUBLING, "line 19: 65,536 bytes in one token are too many"),
    ],
    "clip.gz": [
        (S, "hello\n", "not CLIP's bpe_simple_vocab_16e6.txt.gz; .* decompress it first"),
        (S, CLIP + "a b\n", "not CLIP's bpe_simple_vocab_16e6.txt.gz"),
        (S, LATE, 'line 11 is "a b c"; expected a merge'),
    ],
}


@pytest.mark.parametrize(
    ("name", "error", "content", "message"),
    [(name, *row) for name, rows in BROKEN.items() for row in rows],
)
def test_a_broken_vocabulary_is_refused(
    name: str, error: type, content: Any, message: str, tmp_path: Path
) -> None:
    data = (content if isinstance(content, str) else json.dumps(content)).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    refused(error, message, tmp_path / name)
