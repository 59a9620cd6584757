"""The installed package is complete: its names, its data, its examples."""

import doctest
import importlib
import importlib.metadata
import importlib.resources
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from references import converted
from repository import ROOT, printed
from runtime_samples import content
from tiktoken_encodings import byte_encoding

import tokexport
import tokexport._core
from tokexport import errors

EXTRA = {"tokexport_extra.h", "tokexport_extra.c"}
MODULES = sorted(module.name for module in pkgutil.walk_packages(tokexport.__path__, "tokexport."))


@pytest.fixture(scope="module")
def example_file() -> bytes:
    """The file of ``Tokenizer``'s example."""
    tokens = [b"he", b"ll", b"hell", b"hello", b" w", b"or", b" wor", b" worl", b" world"]
    source = byte_encoding(r" ?\w+|\s|[^\w\s]+", tokens, {"<|end|>": 300})
    return converted(source, prefix_index=True).to_bytes()


@pytest.fixture
def example(
    example_file: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, object]:
    """The names that all examples may use: the current directory, to write to, and a tokenizer."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "example.bin").write_bytes(example_file)
    tokenizer = tokexport.load(tmp_path / "example.bin")
    return {"directory": tmp_path, "tokenizer": tokenizer, "tokexport": tokexport}


@pytest.mark.parametrize("name", ["tokexport", *MODULES])
def test_every_example_of_the_documentation_runs(name: str, example: dict[str, object]) -> None:
    result = doctest.testmod(importlib.import_module(name), extraglobs=example)
    assert result.failed == 0
    assert result.attempted > 25 or name != "tokexport.runtime.tokenizer"


def test_exactly_the_public_names_exist() -> None:
    names = "convert load read verify Tokenizer DecodeStream Encoding get_include errors"
    assert {*names.split()} <= {*tokexport.__all__} <= {*dir(tokexport)}
    assert all(getattr(tokexport, name) is not None for name in tokexport.__all__)
    assert issubclass(errors.FormatError, errors.TokexportError)
    with pytest.raises(AttributeError):
        _ = tokexport.nothing_of_this_name  # type: ignore[attr-defined]


def alone(clone: Path, program: str) -> str:
    """The output of a program without `site`: no other package is found, no reference library."""
    command = [sys.executable, "-S", "-c", program]
    path = {"PYTHONPATH": str(clone.parent / "site")}
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=path).stdout


def test_encoding_alone_imports_almost_nothing(example: dict[str, object], clone: Path) -> None:
    program = (
        "import sys; before = set(sys.modules); import tokexport;"
        "tokenizer = tokexport.load('example.bin'); ids = tokenizer.encode('hello world');"
        "assert tokenizer.decode(ids) == 'hello world'; print(*set(sys.modules) - before)"
    )
    loaded = {*alone(clone, program).split()}
    assert "tokexport._core" in loaded
    assert not loaded & {
        *["collections", "dataclasses", "enum", "json", "numpy", "pathlib", "re", "typing"]
    }


def test_added_tokens_and_ids_with_a_role_need_no_other_package(
    example: dict[str, object], clone: Path
) -> None:
    """Importing numpy and the model would take longer than all the rest."""
    program = (
        "import tokexport; tokenizer = tokexport.load('example.bin');"
        "assert tokenizer.added_tokens == (tokexport.AddedToken(300, '<|end|>', special=True),);"
        "assert tokenizer.special_ids == tokexport.SpecialIds()"
    )
    alone(clone, program)


def test_the_version_is_that_of_the_installed_package() -> None:
    assert importlib.metadata.version("tokexport") == tokexport.__version__


def test_the_command_is_installed() -> None:
    (command,) = importlib.metadata.entry_points(group="console_scripts", name="tokexport")
    assert command.value == "tokexport.cli:main"
    shown = printed("-c", "from tokexport.cli import main; main()", "--version")
    assert tokexport.__version__ in shown


def test_the_package_is_typed_and_contains_the_c_runtime() -> None:
    folder = Path(tokexport.get_include())
    assert {"tokexport.h", "tokexport.c", "SPEC.md", "EXTRA.md"} | EXTRA <= {
        path.name for path in folder.iterdir()
    }
    assert importlib.resources.files("tokexport").joinpath("py.typed").is_file()


def test_a_derived_class_may_extend_a_method_that_is_imported_on_first_use(tmp_path: Path) -> None:
    (tmp_path / "it.bin").write_bytes(content("gpt2"))
    program = (
        "import sys; from tokexport.runtime.tokenizer import Tokenizer, load\n"
        "class Loud(Tokenizer):\n"
        "    def decode(self, ids): return super().decode(ids).upper()\n"
        "one = load(sys.argv[1])\n"
        "loud = Loud(one._core, one._data, one._path, one._cache_size)\n"
        "print(*[each.decode(one.encode('hello')) for each in (loud, one, loud)])\n"
    )
    assert printed("-c", program, tmp_path / "it.bin") == "HELLO hello HELLO\n"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The sources in a folder, and the package installed in another one."""
    modules = shutil.ignore_patterns("_core*.so", "_core*.pyd", "__pycache__")
    shutil.copytree(ROOT / "tokexport", tmp_path / "clone" / "tokexport", ignore=modules)
    installed = tmp_path / "site" / "tokexport"
    shutil.copytree(ROOT / "tokexport", installed, ignore=modules)
    shutil.copy(tokexport._core.__file__, installed)
    for folder in (tmp_path / "clone" / "formats" / "tokexport", installed / "include"):
        folder.mkdir(parents=True)
        for name in ("tokexport.c", "tokexport.h", *EXTRA):
            shutil.copy(ROOT / "formats" / "tokexport" / name, folder)
    metadata = tmp_path / "site" / f"tokexport-{tokexport.__version__}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Name: tokexport\nVersion: {tokexport.__version__}\n")
    return tmp_path / "clone"


def test_a_clone_uses_the_installed_module_or_says_what_to_do(
    clone: Path, example_file: bytes, tmp_path: Path
) -> None:
    (tmp_path / "example.bin").write_bytes(example_file)
    # Without `site`, whose hook of an editable installation would import the repository's sources.
    command = [sys.executable, "-S", "-m", "tokexport", "encode", "../example.bin", "hello"]
    folders = [str(tmp_path / "site"), *filter(None, sys.path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)

    assert (run().stdout, run().stderr) == ("259\n", "")
    with (clone / "formats" / "tokexport" / "tokexport.c").open("a") as source:
        source.write("/* another core */\n")
    refused = run()
    assert (refused.returncode, refused.stdout) == (2, "")
    sentence = f"tokexport: tokexport is imported from its sources in {clone}"
    assert refused.stderr.startswith(sentence)
    assert "pip install -e ." in refused.stderr


def test_a_clone_without_its_dependencies_says_what_to_do(clone: Path) -> None:
    (clone / "click.py").write_text("raise ModuleNotFoundError(name='click')\n")
    command = [sys.executable, "-m", "tokexport", "--version"]
    refused = subprocess.run(command, cwd=clone, capture_output=True, text=True)
    assert (refused.returncode, refused.stdout) == (2, "")
    sentence = "tokexport: click is not installed; run `pip install .` in the clone\n"
    assert refused.stderr == sentence


def test_a_clone_says_its_version_without_an_installation(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "dependencies").mkdir()
    (tmp_path / "dependencies" / "click").symlink_to(Path(click.__file__).parent)
    command = [sys.executable, "-S", "-m", "tokexport", "--version"]
    environment = {"PYTHONPATH": str(tmp_path / "dependencies")}
    shown = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)
    assert (shown.stdout, shown.stderr) == (f"tokexport {tokexport.__version__}\n", "")


def test_a_type_checker_sees_the_public_names(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(
        "import tokexport\n"
        "encoding: tokexport.Encoding = tokexport.load('x').encode_with_offsets('a')\n"
        "ids: tokexport.SpecialIds = tokexport.load('x').special_ids\n"
        "added: tuple[tokexport.AddedToken, ...] = tokexport.load('x').added_tokens\n"
    )
    (tmp_path / "bad.py").write_text("import tokexport\ntokexport.laod('x')\n")
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir=cache", "good.py", "bad.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (found.returncode, found.stdout.count("error:")) == (1, 1)
    assert re.search(r'bad\.py:2: error: .*"laod"', found.stdout)
