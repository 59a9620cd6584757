"""The C runtime keeps the promises of tokexport.h, with any compiler and on damaged files."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from c_harness import (
    COMPILERS,
    EMULATE,
    EMULATED,
    GOLDEN,
    RUNTIME,
    SANITIZED,
    Builder,
    compile_c,
    run,
)
from repository import SLOW

from tokexport.file.layout import HeaderFlag, Tag
from tokexport.file.write import assemble

MUTATIONS = 10_000 if SLOW else 250
ALL_FILES = f"{len(GOLDEN)} files\n"

each_compiler = pytest.mark.parametrize("compiler", COMPILERS)


@each_compiler
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"] if SLOW else ["-O0", "-O3"])
def test_it_compiles_without_warnings_and_needs_only_four_functions(
    compiler: str, level: str, build: Builder
) -> None:
    flags = (level, "-Wsign-conversion", "-Wshadow", "-ffreestanding", "-nostdlib")
    units = [build.runtime(compiler, *flags), build.extra(compiler, *flags)]
    symbols = re.findall(r"^[0-9a-f ]* (\w) (\S+)$", run(["nm", *units]), re.MULTILINE)
    needed = {name for kind, name in symbols if kind == "U" and not name.startswith("tkx_")}
    assert needed - {"_GLOBAL_OFFSET_TABLE_"} <= {"memcpy", "memmove", "memset", "memcmp"}
    assert not [name for kind, name in symbols if kind in "bBdDC"], "there are writable globals"


@each_compiler
@pytest.mark.parametrize("standard", ["c99", "gnu17"])
def test_it_compiles_for_a_machine_that_widens_half_floats(
    compiler: str, standard: str, tmp_path: Path
) -> None:
    """AVX512-FP16: FLT_EVAL_METHOD is 16 there, unless the standard is a strict one."""
    flags = ("-march=sapphirerapids", f"-std={standard}", "-fsyntax-only")
    asked = [compiler, *flags, "-x", "c", os.devnull]
    if subprocess.run(asked, capture_output=True, check=False).returncode:
        pytest.skip(f"{compiler} does not support this machine")
    compile_c(compiler, [RUNTIME / "tokexport.c"], tmp_path / "none", *flags)


@each_compiler
def test_only_the_functions_of_the_header_are_visible(compiler: str, build: Builder) -> None:
    runtime, extra = build.runtime(compiler, "-O2"), build.extra(compiler, "-O2")
    for name, library in (("tokexport.h", runtime), ("tokexport_extra.h", extra)):
        visible = set(re.findall(r" T (\S+)$", run(["nm", library]), re.MULTILINE))
        text = (RUNTIME / name).read_text(encoding="utf-8")
        header = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        assert visible == set(re.findall(r"^\S.*?\b(tkx_\w+)\(", header, re.MULTILINE))


@each_compiler
def test_every_way_to_call_it_has_the_same_results(compiler: str, build: Builder) -> None:
    rounds = ("200", "1000000") if SLOW else ("20", "100000")
    assert run([build(compiler, "test_runtime", "-O2"), *rounds, *GOLDEN]) == ALL_FILES


@each_compiler
def test_it_accesses_only_its_own_memory(compiler: str, build: Builder) -> None:
    rounds = ("100", "50000") if SLOW else ("5", "10000")
    assert run([build(compiler, "test_runtime", *SANITIZED), *rounds, *GOLDEN]) == ALL_FILES


@each_compiler
def test_no_file_makes_it_access_other_memory(compiler: str, build: Builder) -> None:
    program = build(compiler, "fuzz_runtime", *SANITIZED)
    for seed in range(3 if SLOW else 1):
        output = run([program, str(seed + 1), str(MUTATIONS), *GOLDEN])
        taken, corrupt, refused = map(int, re.findall(r"\d+", output))
        assert taken > refused / 2
        assert corrupt > taken / 10


@EMULATE
@pytest.mark.parametrize("compiler", list(EMULATED))
def test_it_runs_on_other_architectures(compiler: str, build: Builder) -> None:
    if not (shutil.which(compiler) and shutil.which(EMULATED[compiler])):
        pytest.skip(f"{compiler} or {EMULATED[compiler]} is not installed")
    program = build(compiler, "test_runtime", "-O2", "-static")
    assert run([EMULATED[compiler], program, "3", "50000", *GOLDEN]) == ALL_FILES
    program = build(compiler, "fuzz_runtime", "-O2", "-static")
    assert "taken" in run([EMULATED[compiler], program, "1", "200", *GOLDEN])


def large_file(ids: int) -> bytes:
    """A file of zeros in sections for that many ids, which passes all checks of opening."""
    counts = ids.to_bytes(4, "little") * 2
    contents: dict[bytes, bytes] = {
        Tag.RECORDS: bytes(8 * ids),
        Tag.BYTES: bytes(8 * ids),
        Tag.BYTE_IDS: bytes(1024),
        Tag.TOKEN_INDEX: counts + bytes(6 * ids),
        Tag.PAIR_INDEX: counts + bytes(8 + 10 * ids + 4 * (ids + 1)),
        Tag.SPLITS: bytes(8),
    }
    none = {"token_count": 0, "flags": HeaderFlag(0), "unknown_id": 0xFFFFFFFF}
    return b"".join(assemble(contents, id_count=ids, max_token_bytes=1, **none))


@each_compiler
def test_opening_reads_no_vocabulary(compiler: str, tmp_path: Path, build: Builder) -> None:
    path = tmp_path / "large.bin"
    path.write_bytes(large_file(1_000_000))
    answer = run([build(compiler, "test_open", "-O2"), path])
    assert int(answer.split()[0]) > 5_000


@each_compiler
def test_the_header_is_also_a_cxx_header(compiler: str, tmp_path: Path) -> None:
    source = tmp_path / "use.cpp"
    source.write_text('#include "tokexport_extra.h"\nint use() { return tkx_check(nullptr); }\n')
    flags = ("-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", f"-I{RUNTIME}")
    run([compiler, *flags, source])
