"""The worked values and hex dumps of SPEC.md are right."""

from __future__ import annotations

import re
import zlib

import pytest
import spec_decoder
import spec_document
import spec_encoder
import spec_reader

DECODE_DUMP = "11 A decode-only file, byte by byte"
BPE_DUMP = "12 An encodable file, byte by byte"


def test_the_worked_hashes_are_what_the_rules_give() -> None:
    ((_, rows),) = spec_document.tables(spec_document.section("### 5.1 Hashing"))
    for row in rows:
        if row["Function"] == "hash_bytes":
            value = spec_reader.hash_bytes(row["Argument"].strip('"').encode())
        else:
            left, right = map(int, row["Argument"].split(","))
            value = spec_reader.hash_pair(left, right)
        assert int(row["Hash"], 16) == value, row
    assert len(rows) == 11


def test_the_constants_of_the_hash_are_those_that_the_reader_uses() -> None:
    constants = dict(re.findall(r"(K\d) = (0x\w{16})", spec_document.section("### 5.1 Hashing")))
    assert {name: int(value, 16) for name, value in constants.items()} == {
        "K0": spec_reader.K0,
        "K1": spec_reader.K1,
        "K2": spec_reader.K2,
        "K3": spec_reader.K3,
    }


def test_the_worked_checksum_is_right() -> None:
    assert f"`123456789` is 0x{zlib.crc32(b'123456789'):08X}" in spec_document.text()


@pytest.mark.parametrize(
    ("heading", "name"), [(DECODE_DUMP, "smallest-decode.bin"), (BPE_DUMP, "smallest-bpe.bin")]
)
def test_a_hex_dump_is_its_golden_file_byte_for_byte(heading: str, name: str) -> None:
    assert f"`golden/{name}`" in spec_document.section(heading)
    assert spec_document.dump(heading) == (spec_document.FOLDER / "golden" / name).read_bytes()


def test_the_decode_only_dump_is_a_file_that_decodes() -> None:
    file = spec_reader.open_file(spec_document.dump(DECODE_DUMP))
    spec_reader.check_file(file)
    assert spec_decoder.decode(file, [0, 0]) == b"AA"
    with pytest.raises(spec_reader.RefusalError, match="TKX_E_NO_ENCODER"):
        spec_encoder.encode(file, b"A")


def test_the_encodable_dump_is_a_file_that_encodes_what_the_text_says() -> None:
    file = spec_reader.open_file(spec_document.dump(BPE_DUMP))
    spec_reader.check_file(file)
    found = re.search(r"`(\w+)` gives ([\d ]+)\.", spec_document.section(BPE_DUMP))
    assert found is not None
    assert spec_encoder.encode(file, found[1].encode()) == [
        int(number) for number in found[2].split()
    ]


@pytest.mark.parametrize(
    ("content", "decoded"), [("F09F9841", "\ufffdA"), ("EDA080", "\ufffd" * 3), ("E228", "\ufffd(")]
)
def test_the_worked_replacements_of_broken_characters_are_those_of_python(
    content: str, decoded: str
) -> None:
    assert bytes.fromhex(content).decode(errors="replace") == decoded


@pytest.mark.parametrize(
    "known", ["F0 9F 98 then 41 gives U+FFFD `A`", "ED A0 80 gives three", "E2 28 gives U+FFFD `(`"]
)
def test_the_worked_replacements_stand_in_the_specification(known: str) -> None:
    assert known in spec_document.section("### 5.7 Decoding")
