"""A damaged weights file is refused, or run within its bounds."""

import random
import struct
from pathlib import Path

import pytest
from c_harness import NEEDS_COMPILER, SANITIZED
from checkpoints import config, random_tensors, write_checkpoint
from engine_programs import logits_program, output

from tokexport.weights import export
from tokexport.weights.layout import HEADER

pytestmark = NEEDS_COMPILER
SMALL = config(vocab_size=40, hidden_size=64, intermediate_size=64, head_dim=16)
FIELDS = [field.name for field in HEADER.subcons]
# Replacements of a header field, besides flips of a few of its bits.
NUMBERS = (0, 1, 3, 7, 64, 4096, 4097, 1 << 21, (1 << 21) + 1, 1 << 31, (1 << 32) - 1)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return logits_program(tmp_path_factory.mktemp("sanitized"), *SANITIZED)


@pytest.fixture(scope="module", params=["float32", "int8"])
def weights(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("weights")
    checkpoint = write_checkpoint(folder / "model", SMALL, random_tensors(SMALL, 1))
    export(checkpoint, folder / "weights", dtype=request.param)
    return (folder / "weights").read_bytes()


def answer(program: Path, folder: Path, content: bytes) -> bytes:
    (folder / "damaged").write_bytes(content)
    return output(program, str(folder / "damaged"), "2", stdin="1 2 3")


def test_the_unchanged_file_runs(program: Path, weights: bytes, tmp_path: Path) -> None:
    assert len(answer(program, tmp_path, weights)) == 3 * SMALL["vocab_size"] * 4


@pytest.mark.parametrize("field", range(1, 14))
def test_each_number_of_the_header_is_checked(
    field: int, program: Path, weights: bytes, tmp_path: Path
) -> None:
    offset = 8 + 4 * (field - 1)
    refused = 0
    for number in NUMBERS:
        damaged = bytearray(weights)
        struct.pack_into("<I", damaged, offset, number)
        text = answer(program, tmp_path, bytes(damaged))
        refused += text[-1:] == b"\n" and len(text) < 100
    # The norms' epsilon may have any value; the other fields determine the size.
    assert refused or FIELDS[field] == "epsilon"


def test_a_shorter_or_longer_file_is_refused(program: Path, weights: bytes, tmp_path: Path) -> None:
    rng = random.Random(1)
    sizes = [0, 1, 63, 64, len(weights) - 1, *(rng.randrange(len(weights)) for _ in range(10))]
    for size in sizes:
        output = answer(program, tmp_path, weights[:size])
        assert b"not a weights file" in output or b"shorter or longer" in output
    assert b"shorter or longer" in answer(program, tmp_path, weights + b"\0")


def test_tensors_that_do_not_fill_the_file_are_refused(
    program: Path, weights: bytes, tmp_path: Path
) -> None:
    for padding in (b"\0", bytes(64), bytes(4096)):
        content = bytearray(weights + padding)
        struct.pack_into("<Q", content, 56, len(content))
        assert b"the tensors are not" in answer(program, tmp_path, bytes(content))
