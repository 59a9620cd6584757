"""The worked values and hex dumps in SPEC.md are correct."""

import re
import zlib

import pytest
import spec_document
import tokexport_reader
from tokexport_reader import lookup

DUMP = "Annex D"


def test_the_worked_hashes_follow_from_the_rules() -> None:
    body = " ".join(spec_document.section("2.4").split())
    of_bytes = re.findall(r'hash_bytes\("([^"]*)"\) (0x\w{16})', body)
    of_pairs = re.findall(r"hash_pair\((\d+), (\d+)\) (0x\w{16})", body)
    for text, value in of_bytes:
        assert int(value, 16) == lookup.hash_bytes(text.encode()), text
    for left, right, value in of_pairs:
        assert int(value, 16) == lookup.hash_pair(int(left), int(right)), (left, right)
    assert (len(of_bytes), len(of_pairs)) == (8, 3)


def test_the_reader_uses_the_hash_constants_of_the_text() -> None:
    constants = re.findall(r"(K\d) = (0x\w{16})", spec_document.section("2.4"))
    assert {name: int(value, 16) for name, value in constants} == {
        name: getattr(lookup, name) for name in ("K0", "K1", "K2", "K3")
    }


def test_the_worked_checksum_is_right() -> None:
    assert f"`123456789` is 0x{zlib.crc32(b'123456789'):08X}" in spec_document.text()


def test_the_hex_dump_is_its_golden_file_byte_for_byte() -> None:
    content = (spec_document.FOLDER / "golden" / "smallest-bpe.bin").read_bytes()
    assert "`golden/smallest-bpe.bin`" in spec_document.section(DUMP)
    assert spec_document.dump(DUMP) == content


def test_the_hex_dump_is_a_file_that_encodes_as_the_text_says() -> None:
    file = tokexport_reader.open_file(spec_document.dump(DUMP))
    tokexport_reader.check_file(file)
    match = re.search(r"`(\w+)` gives ([\d ]+)\.", spec_document.section(DUMP))
    assert match is not None
    ids = [int(number) for number in match[2].split()]
    assert tokexport_reader.encode(file, match[1].encode()) == ids


@pytest.mark.parametrize(
    ("content", "decoded", "words"),
    [
        ("F09F9841", "\ufffdA", "F0 9F 98 then 41 gives U+FFFD `A`"),
        ("EDA080", "\ufffd" * 3, "ED A0 80 gives three"),
        ("E228", "\ufffd(", "E2 28 gives U+FFFD `(`"),
    ],
)
def test_the_worked_replacements_of_broken_characters_match_python(
    content: str, decoded: str, words: str
) -> None:
    assert words in spec_document.section("3.8")
    assert bytes.fromhex(content).decode(errors="replace") == decoded
