"""Formats of other runtimes have the golden bytes and lose, read back, exactly the listed parts."""

import errno
import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT, script
from struct_fields import fields

from tokexport.conversion import convert
from tokexport.errors import SourceError, TokexportError
from tokexport.model import Charsmap, SpecialIds, Token
from tokexport.targets.material import Material, material
from tokexport.targets.parts import Part
from tokexport.targets.registry import TARGETS
from tokexport.targets.write import write_target

GOLDEN = script(ROOT / "formats" / "golden_targets.py")
NAMES = [*TARGETS]


def refused(problem: str, source: Path, name: str, target: Path, **options: Any) -> None:
    with pytest.raises(TokexportError, match=problem):
        write_target(source, name, target, **options)


def source_of(name: str, sources: tuple[Path, Path]) -> Path:
    path: Path = GOLDEN.golden_source(name, *sources)
    return path


def test_the_output_equals_the_golden_file() -> None:
    for path, data in GOLDEN.golden_files().items():
        assert (ROOT / "formats" / path).read_bytes() == data, path


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_the_readme_matches_the_declared_layout(name: str) -> None:
    target = TARGETS[name]
    readme = (ROOT / "formats" / target.golden).parent / "README.md"
    lines = readme.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    for layout in target.layouts:
        for offset, kind, field, _ in fields(layout):
            rows = [row for row in cells if row[:2] == [offset, kind.split()[-1]]]
            assert any(row[2].startswith(f"`{field}`") for row in rows), field


@pytest.mark.parametrize("name", NAMES)
def test_reading_a_file_back_loses_exactly_the_listed_parts(
    name: str, sources: tuple[Path, Path], tmp_path: Path
) -> None:
    source = source_of(name, sources)
    result = write_target(source, name, tmp_path / "file")
    expected, actual = dict(material(source).parts), TARGETS[name].read(tmp_path / "file").parts
    lost = {loss.part for loss in result.losses}
    if TARGETS[name].whole:
        expected = dict(actual)
    names = expected.pop(Part.BYTES)
    assert Part.BYTES in lost or names.items() <= actual[Part.BYTES].items()
    assert all(actual[part] == expected[part] for part in expected if part not in lost)
    assert all(actual.get(part) != expected[part] for part in lost - {Part.BYTES})
    assert {part.name for part in lost} == LOST[name]


# Parts of the sources that are lost. The tokenizer.json has NFC, a pattern, special tokens, EOS and
# a decoder that replaces invalid UTF-8; the model has BOS, EOS and an unknown token.
BYTES_LOST = {"NORMALIZER", "PRE_TOKENIZER", "ADDED_TOKENS", "SPECIAL"}
LOST: dict[str, set[str]] = {
    "llama2.c": {"ROLES"},
    "llama2.c-mobile": {"ROLES"},
    "qwen3.c": BYTES_LOST,
    "qwen3-rs": BYTES_LOST,
    "llm.c": BYTES_LOST | {"MODEL", "ORDER"},
    "whisper.cpp": BYTES_LOST | {"MODEL", "ORDER", "BYTES", "BOS_EOS"},
    "tiktoken": BYTES_LOST | {"BYTES", "BOS_EOS"},
    "gguf": {"NORMALIZER"},
    "tokenizer.json": {"BOS_EOS"},
    "vocab.json": {"NORMALIZER", "ADDED_TOKENS", "SPECIAL", "BOS_EOS"},
    "c-array": set(),
}


@pytest.mark.parametrize("name", NAMES)
def test_strict_makes_a_loss_an_error_and_writes_nothing(
    name: str, sources: tuple[Path, Path], tmp_path: Path
) -> None:
    target, source = tmp_path / "file", source_of(name, sources)
    if LOST[name]:
        refused("cannot carry all of this tokenizer", source, name, target, strict=True)
        assert not target.exists()
    else:
        write_target(source, name, target, strict=True)
        assert target.exists()


@pytest.mark.parametrize("name", NAMES)
def test_no_file_is_overwritten_without_force(
    name: str, sources: tuple[Path, Path], tmp_path: Path
) -> None:
    target, source = tmp_path / "file", source_of(name, sources)
    write_target(source, name, target)
    refused("exists already", source, name, target)
    write_target(source, name, target, force=True)


def test_the_files_of_a_source_directory_are_not_overwritten(tmp_path: Path) -> None:
    source, pair = changed(tmp_path), tmp_path / "pair"
    before = source.read_bytes()
    refused("is the source itself", tmp_path, "tokenizer.json", source, force=True)
    assert source.read_bytes() == before
    write_target(tmp_path, "vocab.json", pair)
    refused(r"vocab\.json is the source itself", pair, "vocab.json", pair, force=True)


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    target, problem = tmp_path / "file", "file is not a directory; name another"
    target.touch()
    refused(problem, changed(tmp_path), "vocab.json", target, force=True)


@pytest.mark.parametrize("size", [4, 24, 1000])
def test_a_damaged_file_does_not_get_a_tokenizer(
    size: int, sources: tuple[Path, Path], tmp_path: Path
) -> None:
    data = (ROOT / "formats" / TARGETS["gguf"].golden).read_bytes()[:size]
    (tmp_path / "cut.gguf").write_bytes(data)
    with pytest.raises(SourceError, match=r"cut\.gguf: it is cut off or damaged"):
        write_target(sources[0], "gguf", tmp_path / "new", into=tmp_path / "cut.gguf")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", [name for name in NAMES if TARGETS[name].layouts])
def test_a_file_that_is_cut_off_is_refused(name: str, tmp_path: Path) -> None:
    golden = ROOT / "formats" / TARGETS[name].golden
    for size in (2, len(golden.read_bytes()) - 1):
        (tmp_path / "file").write_bytes(golden.read_bytes()[:size])
        with pytest.raises(SourceError, match="cut off"):
            TARGETS[name].read(tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "index", "problem"),
    [
        ("llama2.c", 0, "not BPE over characters"),
        ("qwen3.c", 1, "not BPE over bytes"),
        ("qwen3-rs", 1, "not BPE over bytes"),
        ("tiktoken", 1, "not BPE over bytes"),
        ("whisper.cpp", 1, "not BPE over bytes"),
    ],
)
def test_a_model_of_another_kind_is_refused(
    name: str, index: int, problem: str, sources: tuple[Path, Path], tmp_path: Path
) -> None:
    refused(f"{name} cannot hold .*{problem}", sources[index], name, tmp_path / "file")


def test_a_model_over_bytes_without_merges_is_refused(tmp_path: Path) -> None:
    lines = "".join(f"{byte + 1} {bytes([byte])!r} 1\n" for byte in range(256))
    (tmp_path / "rwkv_vocab.txt").write_text(lines, encoding="utf-8")
    refused("not BPE over bytes", tmp_path / "rwkv_vocab.txt", "vocab.json", tmp_path / "file")


@pytest.mark.parametrize("name", ["qwen3.c", "whisper.cpp", "gguf", "vocab.json"])
def test_bpe_that_marks_the_end_of_a_word_is_refused(name: str, tmp_path: Path) -> None:
    source = changed(tmp_path, "e</w>", "t</w>", end_of_word_suffix="</w>")
    refused("not BPE over bytes", source, name, tmp_path / "file")
    if name in ("qwen3.c", "whisper.cpp"):
        convert(source, tmp_path / "it.bin", self_test=False)
        refused("not BPE over bytes", tmp_path / "it.bin", name, tmp_path / "file")


def test_the_refusal_of_a_charsmap_does_not_contain_its_bytes(sources: tuple[Path, Path]) -> None:
    original = material(sources[1])
    steps = (Charsmap(bytes(1000), by_grapheme=False),)
    with pytest.raises(TokexportError) as refusal:
        TARGETS["tokenizer.json"].write(
            replace(original, parts={**original.parts, Part.NORMALIZER: steps})
        )
    assert "its normalizer has the step Charsmap; " in str(refusal.value)


def changed(folder: Path, *tokens: str, **parts: Any) -> Path:
    """The tokenizer.json with more tokens and with other parts of its model."""
    document = GOLDEN.byte_document(tokens)
    document["model"] |= parts
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_llmc_refuses_holes_and_long_tokens(tmp_path: Path) -> None:
    vocab = GOLDEN.byte_document()["model"]["vocab"]
    target = tmp_path / "file"
    refused("is a hole", changed(tmp_path, vocab=vocab | {"ab": 300}), "llm.c", target)
    refused("has 256 bytes", changed(tmp_path, "x" * 256), "llm.c", target)
    write_target(changed(tmp_path, "x" * 255), "llm.c", target)


def test_ranks_that_are_not_ids_are_refused(tmp_path: Path) -> None:
    model = GOLDEN.byte_document()["model"]
    first, second, *rest = model["merges"]
    source = changed(tmp_path, merges=[*rest[:2], first, second, *rest[2:]])
    target = tmp_path / "file"
    refused("is merged before one with a smaller id", source, "tiktoken", target)
    refused("no merge produces the token 269", changed(tmp_path, "zz"), "tiktoken", target)


@pytest.mark.parametrize(
    ("roles", "ends"),
    [
        (SpecialIds(bos=1, eos=2, stop=(2, 3)), (1, 2)),
        (SpecialIds(eos=2, stop=(2, 3)), (3, 2)),
        (SpecialIds(eos=2, stop=(2,)), (0xFFFFFFFF, 2)),
        (SpecialIds(stop=(5, 7)), (7, 5)),
        (SpecialIds(), (0xFFFFFFFF, 0xFFFFFFFF)),
    ],
)
def test_qwen3c_ends_at_eos_and_at_bos_or_another_stop_id(
    roles: SpecialIds, ends: tuple[int, int], sources: tuple[Path, Path]
) -> None:
    source = replace(material(sources[0]), special_ids=roles)
    data = TARGETS["qwen3.c"].write(source)[""]
    assert struct.unpack_from("<2I", data, 4) == ends


def test_a_hole_does_not_change_the_ids_after_it(tmp_path: Path) -> None:
    source = changed(tmp_path, vocab=GOLDEN.byte_document()["model"]["vocab"] | {"ab": 300})
    result = write_target(source, "qwen3.c", tmp_path / "file")
    assert TARGETS["qwen3.c"].read(tmp_path / "file").tokens[300] == Token(b"ab")
    assert Part.HOLES not in {loss.part for loss in result.losses}


def test_every_part_that_can_be_lost_has_a_sentence() -> None:
    for target in TARGETS.values():
        parts: dict[Part, Any] = {part: {0: b"a"} for part in Part}
        empty = Material("none", (), {Part.BYTES: {}}, SpecialIds())
        full = Material("all", (), parts, SpecialIds())
        expected = [] if target.whole else [*Part]
        assert [loss.part for loss in target.losses(full, empty)] == expected
        assert all(loss.meaning for loss in target.losses(full, empty))


@pytest.mark.parametrize("name", ["llama2.c", "gguf", "vocab.json", "tokenizer.json"])
@pytest.mark.parametrize("index", [0, 1])
def test_a_tokexport_file_that_lacks_what_a_target_needs_is_not_called_another_model(
    name: str, index: int, sources: tuple[Path, Path], tmp_path: Path
) -> None:
    convert(sources[index], tmp_path / "it.bin", self_test=False)
    sentence = f"it.bin: a tokexport file does not hold .*, which {name}.* needs; give the source"
    refused(sentence, tmp_path / "it.bin", name, tmp_path / "file")


@pytest.mark.parametrize("name", ["tiktoken", "qwen3.c"])
def test_a_file_without_scores_is_not_refused_as_another_model(
    name: str, sources: tuple[Path, Path], tmp_path: Path
) -> None:
    convert(sources[0], tmp_path / "it.bin", decode_only=True)
    sentence = f"without scores .* order of .*, which {name} needs"
    refused(sentence, tmp_path / "it.bin", name, tmp_path / "file")


@pytest.mark.parametrize("name", NAMES)
def test_the_document_says_which_formats_can_be_made_from_a_tokexport_file(
    name: str, sources: tuple[Path, Path], tmp_path: Path
) -> None:
    rows = (ROOT / "docs" / "TARGETS.md").read_text(encoding="utf-8").splitlines()
    cell = next(row for row in rows if row.startswith(f"| [`{name}`]")).split(" | ")[3]
    options: list[dict[str, Any]] = [{}, {"scores": False}, {"decode_only": True}]
    for option in options:
        file = tmp_path / "it.bin"
        convert(source_of(name, sources), file, force=True, **option)
        if cell == "no" or (cell == "with scores" and option):
            refused("give the source that it was converted from", file, name, tmp_path / "file")
        else:
            assert cell in ("yes", "with scores")
            write_target(file, name, tmp_path / "file", force=True)


def test_a_tokexport_file_with_bytes_for_missing_characters_is_not_bpe_over_bytes(
    sources: tuple[Path, Path], tmp_path: Path
) -> None:
    convert(sources[1], tmp_path / "it.bin", self_test=False)
    refused("not BPE over bytes", tmp_path / "it.bin", "qwen3.c", tmp_path / "file")


def test_a_copy_that_a_full_disk_ends_is_named(
    sources: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    existing, target = ROOT / "formats" / TARGETS["gguf"].golden, tmp_path / "copy.gguf"

    def full(source: Material, existing: Path, target: Path) -> None:
        target.write_bytes(b"a part")
        raise OSError(errno.ENOSPC, "No space left on device")

    problem, missing = r"missing\.gguf: cannot be read: No such", tmp_path / "missing.gguf"
    refused(problem, sources[0], "gguf", target, into=missing)
    monkeypatch.setattr("tokexport.targets.gguf.add_to", full)
    problem = r"copy\.gguf: cannot be written: No space left"
    refused(problem, sources[0], "gguf", target, into=existing)
    assert not [*tmp_path.glob("*copy*"), *tmp_path.glob(".tokexport*")]
