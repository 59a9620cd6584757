"""The commands and examples of the README work: shell, Python and C."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT, SMALL

import tokexport

README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXT = "Hello, world"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a tokenizer.json in a clone, as a user has one."""
    shutil.copy(SMALL / "llama3.json", tmp_path / "tokenizer.json")
    for name in ("examples", "fixtures", "formats"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_two_commands_are_run_by_continuous_integration() -> None:
    demo, tests, *_ = blocks("sh")
    assert demo == "pip install '.[demo]' && tokexport demo\n"
    assert tests == "pip install '.[test]' && pytest\n"


@pytest.mark.parametrize(
    ("block", "expected"), [(2, ["no differences", TEXT]), (3, [TEXT]), (4, ["a happy bird"])]
)
def test_the_shell_commands_work(folder: Path, block: int, expected: list[str]) -> None:
    commands = blocks("sh")[block]
    (folder / "corpus").mkdir()
    (folder / "corpus" / "readme.txt").write_text(README, encoding="utf-8")
    main = f"{sys.executable} -c 'from tokexport.cli import main; main()'"
    script = f'tokexport() {{ {main} "$@"; }}\n{commands}'
    run = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert all(text in run.stdout for text in expected)


def test_the_python_example_works(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = blocks("python")
    names: dict[str, object] = {"__name__": "readme"}
    exec(compile(example, "README.md", "exec"), names)
    assert capsys.readouterr().out == f"{TEXT}\n"
    assert names["ids"] == tokexport.load("tokenizer.bin").encode(TEXT)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed C core as an object file."""
    target = tmp_path_factory.mktemp("core") / "core.o"
    subprocess.run(["cc", "-c", f"{tokexport.get_include()}/tokexport.c", "-o", target], check=True)
    return target


@pytest.mark.parametrize("standard", ["c99", "c++11"])
def test_the_c_example_compiles_without_warnings_and_encodes(
    folder: Path, standard: str, core: Path
) -> None:
    compiler = shutil.which("c++" if "+" in standard else "cc")
    assert compiler, "a C compiler is needed"
    (example,) = blocks("c")
    tokexport.convert("tokenizer.json", "tokenizer.bin")
    main = f"""
#include <stdio.h>
int main(void) {{
    static unsigned char data[1 << 20];
    uint32_t ids[256];
    size_t i, count, size = fread(data, 1, sizeof data, stdin);
    int code = encode(data, size, "{TEXT}", ids, &count);
    for (i = 0; code == TKX_OK && i < count; i++) printf("%u ", (unsigned)ids[i]);
    return -code;
}}
"""
    source = folder / f"example.{'cc' if '+' in standard else 'c'}"
    source.write_text(example + main, encoding="utf-8")
    include = tokexport.get_include()
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    flags = [f"-std={standard}", *warnings, f"-I{include}"]
    subprocess.run([compiler, *flags, source, core, "-o", "example"], check=True)
    content = (folder / "tokenizer.bin").read_bytes()
    run = subprocess.run(["./example"], input=content, capture_output=True, check=True)
    ids = [int(word) for word in run.stdout.split()]
    tokenizer = tokexport.load("tokenizer.bin")
    assert ids == tokenizer.encode(TEXT, add_special_tokens=True) != tokenizer.encode(TEXT)


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 180
