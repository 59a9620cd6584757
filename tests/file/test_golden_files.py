"""The golden files equal the output of the writer, with the results of the reference libraries."""

import hashlib
import json
import struct
from pathlib import Path

import golden_files
import pytest
import tokexport_reader
from repository import SLOW, printed
from tokexport_reader.data import u32

import tokexport.file.layout as layout


@pytest.fixture(scope="module")
def output() -> dict[str, bytes]:
    files: dict[str, bytes] = golden_files.maker().make()
    return files


def committed(*suffixes: str) -> dict[str, bytes]:
    paths = (path for path in golden_files.FOLDER.rglob("*") if path.suffix in suffixes)
    return {path.relative_to(golden_files.FOLDER).as_posix(): path.read_bytes() for path in paths}


def test_the_list_of_digests_matches_the_files() -> None:
    lines = (golden_files.FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    files = committed(".bin", ".json")
    assert listed == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def test_the_script_reproduces_every_file_byte_for_byte(output: dict[str, bytes]) -> None:
    files = {name: content for name, content in output.items() if name.endswith(".bin")}
    assert files == committed(".bin")


@pytest.mark.parametrize("seed", ["1", "20261121"] if SLOW else ["20261121"])
def test_a_process_with_another_hash_seed_makes_the_same_files(seed: str, tmp_path: Path) -> None:
    environment = {"PYTHONHASHSEED": seed, "TZ": "Asia/Kathmandu", "LC_ALL": "C"}
    printed(golden_files.FOLDER / "make.py", tmp_path, **environment)
    for name, content in committed(".bin").items():
        assert (tmp_path / name).read_bytes() == content, name


def test_the_expected_ids_match_the_installed_reference_libraries(output: dict[str, bytes]) -> None:
    for name in golden_files.EXPECTED_NAMES + golden_files.DECODER_NAMES:
        results = json.loads(output[f"{name}.json"])
        assert results | {"reference": ""} == golden_files.expected(name) | {"reference": ""}, name


def test_the_golden_files_are_small() -> None:
    sizes = [*map(len, committed(".bin", ".json").values())]
    assert (sum(sizes) < 720_000, max(sizes) < 40_000) == (True, True)


def test_the_golden_files_together_contain_every_section_and_flag() -> None:
    files = [tokexport_reader.open_file(golden_files.content(name)) for name in golden_files.NAMES]
    assert {tag for file in files for tag in file.sections} == set(layout.Tag)
    stages = [stage for file in files for stage in file.stages]
    assert {stage.behavior for stage in stages} == set(layout.StageBehavior)
    assert any(stage.memo_count for stage in stages)
    records = [
        flags for file in files for (flags,) in struct.iter_unpack("<6xH", file.sections[b"RECS"])
    ]
    kinds = {flags & layout.RecordFlag.KIND_MASK for flags in records}
    assert kinds == set(range(layout.RecordFlag.KIND_MASK + 1))
    headers = [file.header.flags for file in files]
    for used, declared in (
        (headers, layout.HeaderFlag),
        ([stage.flags for stage in stages], layout.StageFlag),
        (records, layout.RecordFlag),
        (section_flags(files, b"ADDT", 24), layout.AddedFlag),
        (section_flags(files, b"DECO", 0), layout.DecoderFlag),
        (section_flags(files, b"EDIT", 4), layout.EditsFlag),
        (section_flags(files, b"TRIE", 24), layout.TrieFlag),
        (section_flags(files, b"ALGN", 0), layout.AlignmentFlag),
    ):
        missing = [flag for flag in declared if flag and not any(value & flag for value in used)]
        assert missing == [], declared


def section_flags(files: list[tokexport_reader.File], tag: bytes, offset: int) -> list[int]:
    """The flags at an offset of a section, in the files that have it."""
    return [u32(file.sections[tag], offset) for file in files if tag in file.sections]
