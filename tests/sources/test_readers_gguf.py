"""GGUF files like those of llama.cpp's converters produce the ids of their originals."""

import contextlib
import random
import re
import struct
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gguf
import pytest
import sentencepiece
from gguf_files import gguf_of, written
from hypothesis import given, settings
from hypothesis import strategies as st
from references import converted, reference_for, refused
from sentencepiece_training import SENTENCES, train

from tokexport import Tokenizer
from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources import read
from tokexport.sources.gguf.metadata import read_metadata
from tokexport.sources.rwkv import RwkvReference
from tokexport.sources.sentencepiece.proto import SPACE_SYMBOL, parse_model

UNUSED = gguf.TokenType.UNUSED
PARTS = [
    *" \u2581\u00a0\t\n\x01\u200baethqoé.,½①中한1\u0301<>\\'\"x",
    *("the", " quick", "</s>", "<pad>", "[PAD3]", "\U0010ffff"),
]


def texts(count: int) -> list[str]:
    dice = random.Random(7)
    return ["".join(dice.choices(PARTS, k=dice.randrange(14))) for _ in range(count)]


def same_ids(path: Path, model: bytes, samples: list[str]) -> Tokenizer:
    """The converted tokenizer, after comparing its ids with those of a SentencePiece model."""
    tokenizer = converted(path)
    library = sentencepiece.SentencePieceProcessor(model_proto=model)
    for text in samples:
        assert tokenizer.encode(text, add_special_tokens=False) == library.encode(text), text
    return tokenizer


def unigram(**options: Any) -> bytes:
    """The bytes of a small model with T5's reserved ids: padding, end, unknown."""
    reserved: dict[str, Any] = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    return train(model_type="unigram", vocab_size=80, **reserved, **options)


def t5(
    path: Path,
    model: bytes,
    padding: int = 3,
    first: int | None = None,
    added: Mapping[str, int] = MappingProxyType({}),
) -> Path:
    """As convert_hf_to_gguf.py writes T5; ``first``: the number in the name of the padding,
    ``added``: the types of added tokens, ``<mask>`` among them is the mask.
    """
    source = parse_model(model, "spiece.model")
    tokens = [token.encode() for token in (*(piece.text for piece in source.pieces), *added)]
    scores = [*(piece.score for piece in source.pieces), *[-1000.0] * len(added)]
    types = [*(piece.type for piece in source.pieces), *added.values()]
    values = {
        "pre": "default",
        "scores": [*scores, *[-10000.0] * padding],
        "token_type": [*types, *[UNUSED] * padding],
        "mask_token_id": tokens.index(b"<mask>") if "<mask>" in added else None,
        "add_space_prefix": source.normalizer.add_dummy_prefix,
        "remove_extra_whitespaces": source.normalizer.remove_extra_whitespaces,
        "precompiled_charsmap": [*source.normalizer.charsmap] or None,
        "eos_token_id": 1,
        "padding_token_id": 0,
    }
    first = len(tokens) if first is None else first
    tokens += [f"[PAD{number}]".encode() for number in range(first, first + padding)]
    return gguf_of(path, "t5", tokens, values, "t5")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"normalization_rule_name": "identity"},
        {"normalization_rule_name": "nmt_nfkc_cf", "remove_extra_whitespaces": False},
        {"add_dummy_prefix": False},
    ],
    ids=["plain", "identity", "folded", "no prefix"],
)
def test_a_t5_gguf_produces_the_ids_of_its_sentencepiece_model(
    options: dict[str, object], tmp_path: Path
) -> None:
    model = unigram(**options)
    path = t5(tmp_path / "t5.gguf", model)
    samples = [*SENTENCES, *texts(400)]
    tokenizer = same_ids(path, model, samples)
    for text in samples:
        assert tokenizer.encode(text, add_special_tokens=True) == [*tokenizer.encode(text), 1], text
    assert read(path).special_ids.stop == (1,)


@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("rule", ["nmt_nfkc", "identity"])
def test_a_token_in_a_text_of_a_t5_gguf_is_its_id(prefix: bool, rule: str, tmp_path: Path) -> None:
    """As in llama.cpp, and in the tokenizer.json of T5 and XLM-R: the text after it is a text."""
    model = unigram(add_dummy_prefix=prefix, normalization_rule_name=rule)
    added = {"<extra_id_0>": gguf.TokenType.USER_DEFINED, "<mask>": gguf.TokenType.CONTROL}
    path = t5(tmp_path / "t5.gguf", model, added=added)
    library = sentencepiece.SentencePieceProcessor(model_proto=model)
    size = library.get_piece_size()
    ids = {"<pad>": 0, "</s>": 1, "<unk>": 2, "<extra_id_0>": size, "<mask>": size + 1}

    def expected(text: str, found: str) -> list[int]:
        parts = enumerate(re.split(f"({found})", text))
        each = ([ids[part.lstrip()]] if at % 2 else library.encode(part) for at, part in parts)
        return [*chain.from_iterable(each)]

    dice = random.Random(3)
    parts = [*PARTS, *ids, " <mask>", "\n<mask> ", "<extra_id_0", "the quick</s> fox"]
    tokenizer, reference = converted(path), reference_for(path)
    found = {False: "<extra_id_0>", True: r"<pad>|</s>|<unk>|<extra_id_0>|\s*<mask>"}
    for _ in range(1000):
        text = "".join(dice.choices(parts, k=dice.randrange(14)))
        for is_special, tokens in found.items():
            here = tokenizer.encode(text, "all" if is_special else ())
            assert here == expected(text, tokens) == reference.encode(text, is_special), text
    assert tokenizer.decode(expected("the</s>fox", "</s>")) == f"the</s>{' ' * prefix}fox"


def test_a_user_defined_token_of_unigram_costs_nothing_if_the_normalizer_makes_it(
    tmp_path: Path,
) -> None:
    path = t5(tmp_path / "t5.gguf", unigram(), added={"<x>": gguf.TokenType.USER_DEFINED})
    tokenizer = converted(path)
    number = tokenizer.encode("<x>")[0]
    # The ids of llama.cpp.
    assert (
        tokenizer.encode("\uff1cx\uff1e")[-1]
        == number
        == reference_for(path).encode("\uff1cx\uff1e", False)[-1]
    )


def test_runs_of_spaces_that_gemma_defines_are_found(tmp_path: Path) -> None:
    options: dict[str, Any] = {"add_dummy_prefix": False, "remove_extra_whitespaces": False}
    runs = [SPACE_SYMBOL * size for size in (2, 3, 5)]
    symbols = {"user_defined_symbols": [*runs, "\n\n"], "normalization_rule_name": "identity"}
    model = train(model_type="bpe", byte_fallback=True, vocab_size=400, **options, **symbols)
    pieces = parse_model(model, "tokenizer.model").pieces
    values = {
        "scores": [piece.score for piece in pieces],
        "token_type": [piece.type for piece in pieces],
        "add_space_prefix": False,
        "unknown_token_id": 0,
    }
    # As convert_hf_to_gguf.py writes user-defined tokens, and only these.
    tokens = [
        piece.text.replace(SPACE_SYMBOL, " ") if piece.text in runs else piece.text
        for piece in pieces
    ]
    assert "  " in tokens
    dice = random.Random(5)
    parts = [" ", "  ", "     ", "\n", "\n\n", "the", "fox", "\u2581", "\u2581\u2581", "é", "\t"]
    samples = ["".join(dice.choices(parts, k=dice.randrange(14))) for _ in range(3_000)]
    same_ids(gguf_of(tmp_path / "gemma.gguf", "llama", tokens, values), model, samples)


def rwkv(path: Path, vocab: dict[int, bytes], size: int) -> Path:
    """The values that convert_hf_to_gguf.py writes for RWKV."""
    tokens = [repr(vocab[number])[2:-1].encode() for number in range(1, max(vocab) + 1)]
    types = [gguf.TokenType.CONTROL, *[gguf.TokenType.NORMAL] * len(tokens)]
    padding = [f"[PAD{number}]".encode() for number in range(len(types), size)]
    types += [UNUSED] * len(padding)
    ids = {"bos_token_id": 0, "eos_token_id": 0}
    return gguf_of(path, "rwkv", [b"<s>", *tokens, *padding], {"token_type": types, **ids}, "rwkv6")


@pytest.mark.parametrize("seed", range(6))
def test_an_rwkv_gguf_produces_the_ids_of_its_vocabulary_file(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    found = {"".join(dice.choices(PARTS, k=dice.randrange(1, 4))).encode() for _ in range(150)}
    odd = (b"'", b'"', b"'\"", b"\\", b"\\x41", b"\\n", b"\n\n", b"\xff\xfe", b"\xe4\xb8", b"\\'")
    found |= {*odd}
    found -= {bytes((byte,)) for byte in range(256)}
    vocab = dict(enumerate([*(bytes((byte,)) for byte in range(256)), *sorted(found)], 1))
    path = rwkv(tmp_path / "rwkv.gguf", vocab, len(vocab) + 5)
    lines = [f"{number} {token!r} {len(token)}\n" for number, token in vocab.items()]
    reference = RwkvReference("".join(lines).encode())
    tokenizer = converted(path)
    for text in texts(300):
        assert tokenizer.encode(text) == reference.encode(text, False), text
    for number, token in vocab.items():
        assert tokenizer.decode_bytes([number]) == token
    assert read(path).special_ids.eos == 0


def test_the_end_of_a_text_of_an_rwkv_gguf_is_an_id_in_a_text(tmp_path: Path) -> None:
    """As in llama.cpp, and in RWKV's class for `transformers`, whose prompts begin with it."""
    vocab = dict(enumerate([*(bytes((byte,)) for byte in range(256)), b"the", b"a<", b">>"], 1))
    path = rwkv(tmp_path / "rwkv.gguf", vocab, len(vocab) + 2)
    tokenizer, reference = converted(path), reference_for(path)
    ids = [0, 257, ord("a") + 1, 0, ord(">") + 1, ord(" ") + 1, 0]
    text = "<s>thea<s>> <s>"
    assert tokenizer.encode(text, allowed_special="all") == ids == reference.encode(text, True)
    assert 0 not in tokenizer.encode(text)
    assert tokenizer.encode(text) == reference.encode(text, False)
    for skips, decoded in ((False, text), (True, "thea> ")):
        assert tokenizer.decode(ids, skip_special_tokens=skips) == decoded
        assert reference.decode_batch([ids], skips) == [decoded]


def test_a_token_that_is_not_an_rwkv_escape_is_refused(tmp_path: Path) -> None:
    types = {"token_type": [gguf.TokenType.CONTROL, gguf.TokenType.NORMAL]}
    path = gguf_of(tmp_path / "x.gguf", "rwkv", [b"<s>", b"a\\q"], types)
    refused(SourceError, r"tokens\[1\] is .*escapes as Python writes them", path)


def test_an_unused_token_of_a_unigram_gguf_is_padding_whatever_its_name(tmp_path: Path) -> None:
    """convert_hf_to_gguf.py numbers the names of XLM-R's padding from one less than their ids."""
    model = unigram()
    size = len(parse_model(model, "spiece.model").pieces)
    path = t5(tmp_path / "t5.gguf", model, first=size - 1)
    tokenizer = same_ids(path, model, [*SENTENCES, f"the[PAD{size - 1}]", *texts(100)])
    assert tokenizer.n_vocab == size + 3
    assert tokenizer.decode([*range(size, size + 3)]) == ""


def header(values: int, version: int = 3, tensors: int = 0) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, values)


def item(kind: int, data: bytes, name: str = "tokenizer.ggml.tokens") -> bytes:
    return struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind) + data


def value(kind: int, data: bytes, name: str = "tokenizer.ggml.tokens") -> bytes:
    return header(1) + item(kind, data, name)


OTHER = "general.other"
HOSTILE = {
    "nothing": (b"GGUF", "is truncated: 4 bytes expected"),
    "a version to come": (header(0, version=9), "version 9"),
    "more values than the file": (header(1 << 63), "is truncated: "),
    "a string without end": (value(8, struct.pack("<Q", 1 << 63)), "is truncated: "),
    "an array of bytes without end": (value(9, struct.pack("<IQ", 0, 1 << 62)), "is truncated: "),
    "an array of strings without end": (
        value(9, struct.pack("<IQ", 8, (1 << 64) - 1), OTHER),
        "is truncated: ",
    ),
    "strings that are not there": (value(9, struct.pack("<IQQ", 8, 1, 9)), "is truncated: "),
    "a byte that is not there": (value(0, b""), "is truncated: 1 byte expected,"),
    "a text without its byte": (value(8, struct.pack("<Q", 1)), "is truncated: 1 byte expected,"),
    "an unknown kind": (value(77, b""), "unknown type 77"),
    "arrays in arrays": (value(9, struct.pack("<IQ", 9, 1) * 20_000, OTHER), "array of arrays"),
    "an array of arrays": (value(9, struct.pack("<IQIQII", 9, 1, 4, 2, 7, 7)), "array of arrays"),
    "bytes that are no text": (value(8, struct.pack("<Q", 1) + b"\xff"), "not UTF-8"),
    "a name twice": (header(2) + item(0, b"\0") * 2, "has tokenizer.ggml.tokens twice"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_an_error_with_problem_and_location(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    data, message = HOSTILE[name]
    path.write_bytes(data)
    hint = "versions 2 and 3 are supported" if "version" in name else "it is damaged or cut off"
    refused(SourceError, rf"x\.gguf: it .*{message}.*at byte \d+; {hint}$", path)


def test_unneeded_values_are_skipped() -> None:
    others = [item(kind, bytes(1), f"other.{kind}") for kind in (0, 1, 7)]
    others.append(item(9, struct.pack("<IQIQII", 9, 1, 4, 2, 7, 7), OTHER))
    wanted = item(4, struct.pack("<I", 42))
    data = header(5, tensors=1 << 40) + b"".join(others) + wanted + b"tensors"
    assert read_metadata(data, "x.gguf", ("tokenizer.",)) == {"tokenizer.ggml.tokens": 42}


@given(
    values=st.dictionaries(
        st.text(min_size=1),
        st.booleans()
        | st.text()
        | st.integers(-(2**31), 2**31 - 1)
        | st.floats(width=32)
        | st.lists(st.text(), min_size=1)
        | st.lists(st.integers(0, 255), min_size=1)
        | st.lists(st.floats(width=32), min_size=1),
        min_size=1,
        max_size=6,
    ),
    endian=st.sampled_from(gguf.GGUFEndian),
)
def test_values_equal_those_that_the_gguf_package_reads(
    values: dict[str, Any], endian: gguf.GGUFEndian, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("values") / "x.gguf"
    writer = gguf.GGUFWriter(path, "x", endianess=endian)
    for name, found in values.items():
        writer.add_key_value(name, found, gguf.GGUFValueType.get_type(found))
    written(path, writer)
    theirs = gguf.GGUFReader(path).fields
    ours = read_metadata(path.read_bytes(), "x.gguf", ("",))
    named = {name: field for name, field in theirs.items() if not name.startswith("GGUF.")}
    assert repr(ours) == repr({name: field.contents() for name, field in named.items()})


@settings(max_examples=150)
@given(data=st.data())
def test_a_damaged_file_causes_only_a_documented_error(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    vocab = dict(enumerate([bytes((byte,)) for byte in range(256)], 1))
    whole = bytearray(rwkv(folder / "x.gguf", vocab, 260).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(4, len(whole) - 1) | st.integers(4, 200))
        whole[at] = data.draw(st.integers(0, 255))
    end = data.draw(st.sampled_from([len(whole), len(whole) // 2, len(whole) - 40]))
    (folder / "x.gguf").write_bytes(whole[:end])
    with contextlib.suppress(SourceError, UnsupportedError):
        read(folder / "x.gguf")
