"""An encoding as JSON, as tiktoken's packages for JavaScript have it, has the ids of its parts."""

import base64
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import tiktoken
from references import assert_same, reference_for, refused

from tokexport.conversion import file_bytes
from tokexport.errors import SourceError
from tokexport.sources import read

PATTERN = r"'s| ?\p{L}+| ?\p{N}+|\s+(?!\S)|\s+|[^\s\p{L}\p{N}]+"
BYTES = [bytes([byte]) for byte in range(256)]


def packed(encoding: tiktoken.Encoding) -> dict[str, object]:
    """The fields of a file, with a line for each run of consecutive ranks."""
    lines: list[str] = []
    last = -2
    for token, rank in sorted(encoding._mergeable_ranks.items(), key=lambda item: item[1]):
        lines += [f"! {rank}"] * (rank != last + 1)
        lines[-1] += f" {base64.b64encode(token).decode()}"
        last = rank
    fields = {"explicit_n_vocab": encoding.n_vocab, "pat_str": encoding._pat_str}
    return fields | {"special_tokens": encoding._special_tokens, "bpe_ranks": "\n".join(lines)}


def random_encoding(seed: int) -> tiktoken.Encoding:
    """Special tokens are before, between and after the ranks, as Claude's and p50k_base's are."""
    generator = random.Random(seed)
    tokens = [*BYTES]
    while len(tokens) < 400:
        token = generator.choice(tokens) + generator.choice([*tokens[256:], *BYTES[97:123], b" "])
        tokens += [token] * (token not in tokens and len(token) < 12)
    ranks = {token: rank + 5 + 3 * (rank >= 300) for rank, token in enumerate(tokens)}
    special = {"<EOT>": 0, "<META>": 1, "<|between|>": 306, "<|after|>": 420}
    return tiktoken.Encoding(
        "packed", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=special
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_file_is_read_like_its_encoding(seed: int, tmp_path: Path) -> None:
    encoding, path = random_encoding(seed), tmp_path / "claude.json"
    path.write_text(json.dumps(packed(encoding)))
    model, expected = read(path), read(encoding)
    assert replace(model, provenance=expected.provenance) == expected
    assert_same(file_bytes(model), reference_for(path), strings=1000, code_points=False)
    assert read(tmp_path).tokens == model.tokens  # the only tokenizer of its directory


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ("YQ== 0\nYg== 1", r'line 1 of bpe_ranks is "YQ== 0"; expected "!", a rank, and tokens'),
        ("! 0 YQ==\n! x Yg==", 'line 2 of bpe_ranks is "! x Yg=="'),
        ("! 0 YQ== ?", r'line 1 of bpe_ranks is "\?"; expected base64'),
        ("! 0 YQ== Yg== YQ==", "line 1 of bpe_ranks has the token YQ== of rank 0 again"),
        ("! 0 YQ==", "the ranks lack 255 of the 256 single bytes"),
    ],
)
def test_other_lines_are_refused(ranks: str, message: str, tmp_path: Path) -> None:
    fields = packed(random_encoding(0)) | {"bpe_ranks": ranks}
    (tmp_path / "x.json").write_text(json.dumps(fields))
    refused(SourceError, message, tmp_path / "x.json")
