"""The reader written from SPEC.md and the runtime refuse files with the same errors."""

import struct
import zlib
from collections.abc import Callable

import golden_files
import golden_run
import pytest
import tokexport_reader
from hypothesis import given, settings
from hypothesis import strategies as st
from tokexport_reader import container, template

BPE = golden_files.content("smallest-bpe")
ADDED = golden_files.content("added")


def by_specification(content: bytes) -> str:
    """The error with which the reader written from the specification refuses a file, or TKX_OK."""
    try:
        file = tokexport_reader.open_file(content)
        for pair in (False, True):
            template.template(file, pair=pair)  # the runtime reads them on opening
        tokexport_reader.check_file(file)
    except tokexport_reader.TokexportError as error:
        return error.name
    return "TKX_OK"


def by_runtime(content: bytes) -> str:
    """The same for the runtime: opened, then checked in full."""
    return golden_run.opened(golden_run.Runtime(), content)


def sealed(content: bytes | bytearray) -> bytes:
    """The file with correct checksums of all sections, and of header and table."""
    changed = bytearray(content)
    count = int.from_bytes(changed[12:16], "little")
    for at in range(64, min(64 + 32 * count, len(changed) - 31), 32):
        offset, size = struct.unpack_from("<QQ", changed, at + 8)
        struct.pack_into("<I", changed, at + 24, zlib.crc32(changed[offset : offset + size]))
    struct.pack_into("<I", changed, 60, zlib.crc32(changed[:60] + changed[64 : 64 + 32 * count]))
    return bytes(changed)


@pytest.mark.parametrize("refusal", [by_specification, by_runtime])
@pytest.mark.parametrize("name", golden_files.REFUSED_NAMES)
def test_a_refused_file_names_its_error(name: str, refusal: Callable[[bytes], str]) -> None:
    assert refusal(golden_files.refused(name)) == golden_files.error_of(name)


@pytest.mark.parametrize("name", golden_files.NAMES)
def test_a_golden_file_is_not_refused(name: str) -> None:
    content = golden_files.content(name)
    assert by_specification(content) == by_runtime(content) == "TKX_OK"


def test_there_is_a_refused_file_for_every_error_about_a_file() -> None:
    on_opening = {name for code, name in golden_run.NAMES_OF_CODES.items() if -37 <= code <= -20}
    assert {golden_files.error_of(name) for name in golden_files.REFUSED_NAMES} == on_opening


def test_a_file_cut_off_anywhere_is_reported_as_truncated() -> None:
    for size in range(1, len(BPE)):
        assert by_specification(BPE[:size]) == by_runtime(BPE[:size]) == "TKX_E_TRUNCATED"


def test_every_flipped_bit_is_detected() -> None:
    for offset in range(len(BPE)):
        flipped = bytearray(BPE)
        flipped[offset] ^= 1 << offset % 8
        error = by_specification(bytes(flipped))
        assert error != "TKX_OK"
        assert by_runtime(bytes(flipped)) == error, offset


def test_a_newer_minor_version_and_a_section_that_is_not_required_are_read() -> None:
    for content in (BPE[:10] + b"\x07\x00" + BPE[12:], ADDED.replace(b"CHAT", b"futu", 1)):
        assert by_specification(sealed(content)) == by_runtime(sealed(content)) == "TKX_OK"


def positions_to_change(content: bytes) -> list[int]:
    """Offsets in header, section table and the first 80 bytes of each section with a header."""
    table_end = 64 + 32 * int.from_bytes(content[12:16], "little")
    offsets = [
        int.from_bytes(content[at + 8 : at + 16], "little") for at in range(64, table_end, 32)
    ]
    positions = [*range(8, table_end), *(offset + i for offset in offsets[2:] for i in range(80))]
    return [position for position in positions if position < len(content)]


@settings(max_examples=300)
@given(
    st.sampled_from(["smallest-bpe", "added", "byte-fallback", "byte-suffix"]),
    st.lists(st.tuples(st.integers(0), st.integers(0)), min_size=1, max_size=2),
)
def test_both_readers_agree_on_changed_headers(name: str, changes: list[tuple[int, int]]) -> None:
    content = bytearray(golden_files.content(name))
    positions = positions_to_change(bytes(content))
    for number, value in changes:
        at = positions[number % len(positions)]
        values = [0, 1, 2, 3, 4, 8, 64, 127, 128, 255, content[at] ^ 1]
        content[at] = values[value % len(values)]
    changed = sealed(content)
    assert by_specification(changed) == by_runtime(changed)


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_both_readers_agree_on_random_bytes(content: bytes) -> None:
    for data in (content, container.MAGIC + content, BPE[:64] + content):
        assert by_specification(data) == by_runtime(data) != "TKX_OK"
