"""Rank files and tiktoken.Encoding objects are read as by tiktoken."""

import base64
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken.load
from references import refused
from regex_patterns import TOKENIZER_JSON
from tiktoken_ext import openai_public

from tokexport.conversion import convert
from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import (
    Behavior,
    BytePairModel,
    Dialect,
    Reference,
    SpecialIds,
    Split,
    TokenizerModel,
)
from tokexport.sources import read
from tokexport.sources.tiktoken.known_patterns import KNOWN
from tokexport.sources.tiktoken.ranks import parse_ranks
from tokexport.sources.tiktoken.reference import TiktokenReference

BYTES = {bytes([byte]): byte for byte in range(256)}
PATTERN = r"\w+|\s+|[^\w\s]+"


def write(path: Path, ranks: dict[bytes, int], more: bytes = b"") -> Path:
    lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    path.write_bytes(b"".join(lines) + more)
    return path


def encoding_of(
    ranks: dict[bytes, int], special: dict[str, int], pattern: str = PATTERN
) -> tiktoken.Encoding:
    return tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)


def special_ids(model: TokenizerModel) -> dict[str, int]:
    return {token.content: token.id for token in model.added_tokens}


def same_as(encoding: tiktoken.Encoding, model: TokenizerModel) -> None:
    """Compares the bytes of every id, the special tokens and the ranks with the reference."""
    for number in range(encoding.max_token_value + 2):
        token = model.tokens[number] if number < len(model.tokens) else None
        try:
            expected: bytes | None = encoding.decode_single_token_bytes(number)
        except KeyError:
            expected = None
        assert (None if token is None else token.content) == expected
        assert token is None or token.special == encoding.is_special_token(number)
    assert special_ids(model) == encoding._special_tokens
    assert all(token.special and not token.normalized for token in model.added_tokens)
    assert isinstance(model.model, BytePairModel)
    assert dict(model.model.vocab) == {
        data: rank for data, rank in encoding._mergeable_ranks.items() if data
    }
    assert model.model.merges is None
    assert model.model.whole_pre_token_first
    assert model.reference is Reference.TIKTOKEN
    split = Split(encoding._pat_str, Behavior.REMOVED, True, Dialect.FANCY_REGEX, path="pattern")
    assert model.pre_tokenizer == (split,)


def test_ranks_with_holes_and_special_tokens_in_them_are_read(tmp_path: Path) -> None:
    ranks = {**BYTES, b"ab": 256, b"abc": 260}
    special = {"<|a|>": 258, "<|end|>": 300}
    model = read(write(tmp_path / "x.tiktoken", ranks), pattern=PATTERN, special_tokens=special)
    same_as(encoding_of(ranks, special), model)
    assert model.tokens[257] is None


def test_an_encoding_object_is_read_and_its_digest_does_not_depend_on_order() -> None:
    ranks = {**BYTES, b"ab": 256}
    shuffled = list(ranks.items())
    random.Random(1).shuffle(shuffled)
    models = []
    for given in (ranks, dict(shuffled)):
        encoding = encoding_of(given, {"<|end|>": 257})
        same_as(encoding, read(encoding))
        models.append(read(encoding))
    assert models[0] == models[1]
    other = encoding_of(ranks, {"<|end|>": 257}, PATTERN + "|x")
    assert read(other).provenance != models[0].provenance


def test_a_token_without_bytes_decodes_but_is_never_emitted(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tiktoken", BYTES, b"= 256\n")
    model = read(path, pattern=PATTERN, special_tokens={"<|end|>": 257})
    same_as(encoding_of({**BYTES, b"": 256}, {"<|end|>": 257}), model)


@pytest.mark.parametrize("name", sorted(openai_public.ENCODING_CONSTRUCTORS))
def test_a_known_name_has_the_librarys_pattern_and_special_tokens(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
    monkeypatch.setattr(openai_public, "data_gym_to_mergeable_bpe_ranks", lambda *_, **__: {})
    theirs = openai_public.ENCODING_CONSTRUCTORS[name]()
    assert KNOWN[name].pattern == theirs["pat_str"]
    assert KNOWN[name].special_tokens(0) == theirs["special_tokens"]


def numbered(count: int) -> dict[bytes, int]:
    return {b"%d" % rank: rank for rank in range(count)}


def test_a_refusal_suggests_a_pattern_by_a_name_and_the_number_of_ranks(tmp_path: Path) -> None:
    refusal = "without a pattern is not supported; name one \\({}\\), or"
    path = write(tmp_path / "x.tiktoken", BYTES)
    refused(UnsupportedError, refusal.format("--pattern NAME") + ".* cl100k_base.*llama3", path)
    refused(UnsupportedError, "cl100k_bse", path, pattern="cl100k_bse")
    for name, suggested, count in (
        ("qwen", "probably --pattern qwen", 151643),
        ("qwen3_6", "probably --pattern qwen3_5", 248044),
        ("qwen4", "--pattern NAME", 256),
        ("other", "--pattern NAME", 151643),
    ):
        with pytest.raises(UnsupportedError, match=refusal.format(suggested)):
            read(write(tmp_path / f"{name}.tiktoken", numbered(count)))
    kimi = write(tmp_path / "tiktoken.model", numbered(163584))
    auto_map = {"AutoTokenizer": ["tokenization_kimi.TikTokenTokenizer", None]}
    config = {"tokenizer_class": "TikTokenTokenizer", "auto_map": auto_map}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    refused(UnsupportedError, refusal.format("probably --pattern kimi_k2"), kimi)


def test_qwen_3_5_has_the_pattern_and_special_tokens_of_its_package() -> None:
    known, special = KNOWN["qwen3_5"], KNOWN["qwen3_5"].special_tokens(0)
    assert known.pattern == TOKENIZER_JSON["qwen35-llamacpp-synthetic"]
    assert [*special.values()] == [*range(248044, 248077)]
    assert [special[name] for name in ("<|im_end|>", "<think>", "<|audio_pad|>")] == [
        *(248046, 248068, 248076)
    ]


def test_an_id_that_two_special_tokens_share_decodes_as_in_tiktoken(tmp_path: Path) -> None:
    special = KNOWN["o200k_harmony"].special_tokens(0)
    encoding = encoding_of(BYTES, special)
    assert special["<|endofprompt|>"] == special["<|reserved_200018|>"] == 200018
    path = write(tmp_path / "x.tiktoken", BYTES)
    for model in (read(encoding), read(path, pattern="o200k_harmony")):
        token = model.tokens[200018]
        assert token is not None
        assert token.content == encoding.decode_single_token_bytes(200018)
        assert sum(added.id == 200018 for added in model.added_tokens) == 2


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_every_known_name_makes_an_encoding_tiktoken_accepts(name: str, tmp_path: Path) -> None:
    model = read(write(tmp_path / "x.tiktoken", BYTES), pattern=name)
    encoding = encoding_of(BYTES, special_ids(model), KNOWN[name].pattern)
    assert encoding.encode("it's 1234 a", disallowed_special=()) == list(b"it's 1234 a")


def test_numbered_special_tokens_start_after_the_ranks(tmp_path: Path) -> None:
    ranks = {**BYTES, b"ab": 256}
    path = write(tmp_path / "x.tiktoken", ranks)
    nanochat, llama3, whisper = (
        special_ids(read(path, pattern=name)) for name in ("nanochat", "llama3", "whisper")
    )
    assert [*nanochat.values()] == [*range(257, 266)]
    assert (llama3["<|begin_of_text|>"], llama3["<|eot_id|>"], len(llama3)) == (257, 266, 256)
    assert (whisper["<|endoftext|>"], whisper["<|0.00|>"], whisper["<|30.00|>"]) == (257, 364, 1864)


def test_a_note_says_if_the_special_tokens_belong_to_other_ranks(tmp_path: Path) -> None:
    """As with Whisper's for CosyVoice, which has 58,836 ranks and special tokens of its own."""
    path = write(tmp_path / "x.tiktoken", BYTES)
    (found,) = (note for note in read(path, pattern="whisper").notes if "ranks;" in note)
    assert "of whisper, which has 50,256 or 50,257 ranks; x.tiktoken has 256" in found
    for model in (
        read(path, pattern="whisper", special_tokens={}),
        *(read(path, pattern=pattern) for pattern in ("nanochat", PATTERN)),
    ):
        assert "ranks;" not in " ".join(model.notes)


def test_a_json_beside_the_ranks_has_the_pattern_and_the_special_tokens(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.tiktoken", BYTES)
    (tmp_path / "mine.json").write_text(
        json.dumps({"pattern": "nanochat", "special_tokens": {"<|end|>": 300}})
    )
    model = read(path)
    split = model.pre_tokenizer[0]
    assert isinstance(split, Split)
    assert split.pattern == KNOWN["nanochat"].pattern
    assert special_ids(model) == {"<|end|>": 300}
    assert sorted(model.provenance.sha256) == ["mine.json", "mine.tiktoken"]
    given = read(path, pattern=PATTERN, special_tokens={})
    assert given.pre_tokenizer[0] == replace(split, pattern=PATTERN)
    (tmp_path / "mine.json").write_text(json.dumps({"pat_str": "x"}))
    refused(UnsupportedError, "pat_str", path)


def test_a_config_beside_the_ranks_overrides_the_tokens_of_a_known_name(tmp_path: Path) -> None:
    path = write(tmp_path / "tokenizer.model", BYTES)
    config = {
        "added_tokens_decoder": {"256": {"content": "<|bos|>"}, "264": {"content": "<|mine|>"}},
        "bos_token": "<|bos|>",
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config | {"eos_token": "<|mine|>"}))
    model = read(path, pattern="nanochat")
    known = {number: name for name, number in KNOWN["nanochat"].special_tokens(256).items()}
    contents = {token.id: token.content for token in model.added_tokens}
    assert contents == known | {264: "<|mine|>"}
    assert model.special_ids == SpecialIds(bos=256, eos=264, stop=(264,))


@pytest.mark.parametrize("key", ["-1", "x", "1" * 5000])
def test_a_key_of_a_tokenizer_config_that_is_no_id_is_refused(key: str, tmp_path: Path) -> None:
    path = write(tmp_path / "tokenizer.model", BYTES)
    config = {"added_tokens_decoder": {key: {"content": "<|mine|>"}}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(SourceError, match=r"added_tokens_decoder has the key .* expected an id"):
        read(path, pattern="nanochat")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"YWI", "line 257 is "),
        (b"YWI= x", "line 257 is "),
        (b"YWI= 1_0", "line 257 is "),
        (b"YWI= " + b"1" * 5000, "line 257 is "),  # more digits than int() accepts
        (b"YWI= 256 7", "line 257 is "),
        (b"YW-= 256", "line 257 is .*in base64"),
        (b"YWI 256", "line 257 is .*in base64"),
        (b"YQ== 256", "line 257 .* a token other than that of rank 97"),
        (b"YWI= 97", "the rank 97 has two tokens"),
        (b"YWI= 4194304", "the rank 4194304"),
    ],
)
def test_an_error_numbers_a_broken_line(line: bytes, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.tiktoken", BYTES, line + b"\n")
    refused((SourceError, UnsupportedError), message, path, pattern="nanochat")


def test_ranks_equal_those_that_tiktoken_loads(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tiktoken", {**BYTES, b"\x00\xff": 256, b"ab ": 300})
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n", 3) + b"\n\n")
    assert parse_ranks(path.read_bytes(), "x") == tiktoken.load.load_tiktoken_bpe(str(path))


@pytest.mark.parametrize("pattern", ["", "a*"])
def test_an_empty_match_is_refused_although_tiktoken_panics(pattern: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.tiktoken", BYTES)
    with pytest.raises(UnsupportedError, match="a possible match of the empty string"):
        convert(path, tmp_path / "it.bin", pattern=pattern)


def test_a_missing_byte_is_refused(tmp_path: Path) -> None:
    ranks = {token: rank for token, rank in BYTES.items() if token not in (b"\x07", b"z")}
    with pytest.raises(SourceError, match="2 of the 256 single bytes, the first of them 0x07"):
        read(write(tmp_path / "x.tiktoken", ranks), pattern="nanochat")


@pytest.mark.parametrize(
    ("special", "path"),
    [
        ({"<a": 256, "<a>": 257}, r'special_tokens\["<a"\]'),
        ({"": 256}, r'special_tokens\[""\]: tiktoken finds an empty text without end'),
        ({"": 256, "<a>": 257}, r'special_tokens\[""\]'),
        ({"<a>": 97}, r'special_tokens\["<a>"\]: the id 97 is also a rank'),
        ({"<a>": 256, "<b>": 256}, r'special_tokens\["<b>"\]: the id 256 is also that of "<a>"'),
        ({"<a>": -1}, r'special_tokens\["<a>"\]: the id -1 is negative'),
    ],
)
def test_ambiguous_special_tokens_are_refused(special: Any, path: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=path):
        read(write(tmp_path / "x.tiktoken", BYTES), pattern=PATTERN, special_tokens=special)


def test_a_pattern_that_tiktoken_refuses_is_named() -> None:
    with pytest.raises(SourceError, match=r'the pattern "\(": .* refuses it: Pars.*; correct this'):
        TiktokenReference.from_parts(BYTES, "(", {})
