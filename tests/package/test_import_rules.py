"""Data flows one way, source -> model -> tables -> bytes -> ids: no part imports a later one."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from repository import ROOT

# The imports of each part from the package, besides itself and those allowed everywhere.
RULES = {
    "unicode": {"model"},
    "model": {"_core"},  # native code joins and compares its columns
    "patterns": {"unicode"},
    "normalization": {"model", "patterns", "unicode"},
    # Some formats spell tokens in GPT-2's byte alphabet; added tokens decode to normalized texts.
    "sources": {"model", "normalization.normalize", "unicode.byte_alphabet", "_core"},
    "compiler": {"model", "normalization", "patterns", "unicode", "_core"},
    "file": {"chat.frame", "compiler.tables", "version"},
    "corpus": {"output", "runtime"},
    "targets": {"conversion", "model", "output", "runtime", "sources", "unicode", "verification"}
    | {"compiler", "file.layout", "patterns"},
    "training": {"conversion", "corpus", "model", "output", "sources", "unicode", "_core"},
    "chat": set(),
    "nanochat": {"conversion", "output", "runtime", "sources", "training"},
    "viewing": {"runtime"},
    "embedding": {"output", "runtime"},
    "weights": {"output"},
    "runtime": {"chat", "_core"},
}
ANYTHING = {"errors", "escape", "limits", "special_tokens", "temporary"}


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def imports(path: Path) -> Iterator[str]:
    """The modules of the package that a module imports, without the package's name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module == "tokexport":
            modules = [f"tokexport.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = [name if is_module(name) else node.module for name in names]
        yield from (name.removeprefix("tokexport.") for name in modules if "tokexport." in name)


@pytest.mark.parametrize("part", RULES)
def test_a_part_imports_only_earlier_parts(part: str) -> None:
    allowed = RULES[part] | ANYTHING | {part}
    folder = ROOT / "tokexport"
    broken = {
        (path.relative_to(folder).as_posix(), name)
        for path in sorted((folder / part).rglob("*.py"))
        for name in imports(path)
        if not any(name == prefix or name.startswith(f"{prefix}.") for prefix in allowed)
    }
    assert not broken
