"""The CMake project is usable without Python: from its folder, fetched, and installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from c_harness import RUNTIME, run
from repository import ROOT

from tokexport.version import __version__

pytestmark = pytest.mark.skipif(not shutil.which("cmake"), reason="no CMake")

CONSUMER = """
cmake_minimum_required(VERSION 3.19)
project(consumer LANGUAGES C)
{import_code}
add_executable(consumer use.c)
target_link_libraries(consumer PRIVATE tokexport::tokexport)
"""
USE = """
#include <stdio.h>
#include "tokexport_extra.h"
int main(void) {
    tkx t;
    tkx_prefix range;
    size_t count;
    if (tkx_prefix_ids(NULL, "", 0, &range) != TKX_E_ARGUMENT) return 1;
    if (tkx_chat_encode(NULL, NULL, 0, NULL, 0, &count, NULL) != TKX_E_ARGUMENT) return 1;
    return puts(tkx_error(tkx_open(&t, "", 0))) < 0;
}
"""
NEEDED = ["tokexport.c", "tokexport.h", "tokexport_extra.c", "tokexport_extra.h", "pkg-config.in"]
PRINTED = "The file is empty.\n"


def consumer(folder: Path, import_code: str, *options: str) -> str:
    """Builds a program that uses the library in some way, and returns its output."""
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(CONSUMER.format(import_code=import_code))
    (folder / "use.c").write_text(USE)
    run(["cmake", "-S", folder, "-B", folder / "build", *options])
    run(["cmake", "--build", folder / "build"])
    return run([folder / "build" / "consumer"])


def test_its_version_equals_that_of_the_package() -> None:
    header = (RUNTIME / "tokexport.h").read_text(encoding="utf-8")
    assert re.findall(r'#define TKX_RUNTIME_VERSION "(.*)"', header) == [__version__]


def test_a_project_can_use_add_subdirectory(tmp_path: Path) -> None:
    printed = consumer(
        tmp_path / "use",
        f'add_subdirectory("{ROOT}" tokexport)',
        "-DTOKEXPORT_WITHOUT=UNIGRAM;OFFSETS",
        "-DCMAKE_DISABLE_FIND_PACKAGE_Python=ON",
    )
    assert printed == PRINTED


def test_a_part_that_does_not_exist_cannot_be_left_out(tmp_path: Path) -> None:
    command = ["cmake", "-S", str(ROOT), "-B", str(tmp_path), "-DTOKEXPORT_WITHOUT=UNIGRAM;BANANA"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "no part is named BANANA" in done.stderr


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
@pytest.mark.parametrize("shared", ["OFF", "ON"])
def test_a_project_can_use_fetch_content(tmp_path: Path, shared: str) -> None:
    """From a repository with only the files that the C library needs."""
    repository = tmp_path / "repository"
    for name in ["CMakeLists.txt", *(f"formats/tokexport/{name}" for name in NEEDED)]:
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, repository / name)
    git = ["git", "-C", str(repository), "-c", "user.name=-", "-c", "user.email=-"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "-"]):
        run([*git, *command])
    from_git = f"tokexport GIT_REPOSITORY {repository.as_uri()} GIT_TAG HEAD"
    import_code = f"include(FetchContent)\nFetchContent_Declare({from_git})\n"
    import_code += "FetchContent_MakeAvailable(tokexport)"
    assert consumer(tmp_path / "use", import_code, f"-DBUILD_SHARED_LIBS={shared}") == PRINTED


@pytest.mark.parametrize("shared", ["OFF", "ON"])
def test_a_project_finds_an_installation(tmp_path: Path, shared: str) -> None:
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    options = ("-DCMAKE_INSTALL_LIBDIR=lib", f"-DBUILD_SHARED_LIBS={shared}")
    run(["cmake", "-S", ROOT, "-B", build, *options])
    run(["cmake", "--build", build])
    run(["cmake", "--install", build, "--prefix", prefix])
    import_code = f"find_package(tokexport {__version__} REQUIRED)"
    assert consumer(tmp_path / "use", import_code, f"-DCMAKE_PREFIX_PATH={prefix}") == PRINTED
    (tmp_path / "use.c").write_text(USE)
    if not shutil.which("pkg-config"):
        return
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "tokexport"],
        env={"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    program = tmp_path / "with_pc"
    run(["cc", tmp_path / "use.c", *flags, f"-Wl,-rpath,{prefix}/lib", "-o", program])
    assert run([program]) == PRINTED
