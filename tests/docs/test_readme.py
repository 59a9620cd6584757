"""What the README tells a person to type works."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
from repository import ROOT, SMALL

import tokexport

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a tokenizer.json, as a reader has one."""
    shutil.copy(SMALL / "llama3.json", tmp_path / "tokenizer.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_shell_commands_work(folder):
    _, _, commands = blocks("sh")
    main = f"{sys.executable} -c 'from tokexport.cli import main; main()'"
    script = f'tokexport() {{ {main} "$@"; }}\n{commands}'
    run = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "no differences" in run.stdout
    assert "Hello, world" in run.stdout


def test_the_python_example_works(folder, capsys):
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out == "Hello, world"


def test_the_c_example_compiles_without_warnings_and_gives_the_ids(folder):
    compiler = shutil.which("cc")
    assert compiler, "a C compiler is needed"
    (example,) = blocks("c")
    tokexport.convert("tokenizer.json", "tokenizer.bin")
    main = """
int main(void) {
    static unsigned char data[1 << 20];
    size_t size = fread(data, 1, sizeof data, stdin);
    return -print_ids(data, size, "Hello, world", 12);
}
"""
    (folder / "example.c").write_text(example + main, encoding="utf-8")
    include = tokexport.get_include()
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{include}"]
    subprocess.run(
        [compiler, *flags, "-o", "example", "example.c", f"{include}/tokexport.c"], check=True
    )
    content = (folder / "tokenizer.bin").read_bytes()
    run = subprocess.run(["./example"], input=content, capture_output=True, check=True)
    assert [int(word) for word in run.stdout.split()] == tokexport.load("tokenizer.bin").encode(
        "Hello, world"
    )


def test_every_path_that_the_readme_names_is_there():
    named = set(
        re.findall(r"`((?:tokexport|formats|fixtures|tests|benchmarks|\.ci)/[\w./]*)`", README)
    )
    assert named
    missing = [name for name in named if not (ROOT / name).exists() and name != "fixtures/cache"]
    assert missing == []
