"""The runtime has the sizes stated in tokexport.h."""

import platform
import re
from pathlib import Path

import pytest
from c_harness import COMPILERS, GOLDEN, RUNTIME, Builder, run
from repository import script

sizes = script(RUNTIME / "sizes.py")
NAME = re.compile(r"\b\w+_\w+\b")
HEADER = (RUNTIME / "tokexport.h").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(
    "gcc" not in COMPILERS or platform.machine() != "x86_64", reason="needs gcc on x86-64"
)


def test_the_sizes_of_a_tkx_and_of_the_code() -> None:
    if not run(["gcc", "-dumpversion"]).startswith("12"):
        pytest.skip("needs gcc 12")
    assert sizes.stated(HEADER, sizes.measured()) == HEADER, "run python formats/tokexport/sizes.py"


@pytest.mark.parametrize("level", ["-O2", "-Os"])
def test_the_stack_of_a_call(build: Builder, level: str) -> None:
    (bound,) = re.findall(r"at\s+most\s+(\d+)\s+KB\s+of\s+stack", HEADER)
    used = int(run([build("gcc", "stack_use", level), *GOLDEN]))
    assert 1000 * int(bound) / 2 < used <= 1000 * int(bound)


@pytest.mark.parametrize("level", ["-O2", "-Os"])
def test_the_header_names_the_largest_frames(tmp_path: Path, level: str) -> None:
    options = ["-std=c99", level, "-fstack-usage", "-c"]
    run(["gcc", *options, RUNTIME / "tokexport.c", "-o", tmp_path / "made.o"])
    lines = (tmp_path / "made.su").read_text(encoding="utf-8").splitlines()
    frames = {line.split("\t")[0].split(":")[-1]: int(line.split("\t")[1]) for line in lines}
    large = {name: round(size / 1000) for name, size in frames.items() if size > 2500}
    (stated,) = re.findall(r"largest frames, in KB:(.*?)\.\n", HEADER, re.DOTALL)
    parts = re.findall(r"(.*?)(\d)", stated, re.DOTALL)
    assert large == {name: int(size) for names, size in parts for name in NAME.findall(names)}
