"""Data flows one way, source -> model -> tables -> bytes -> ids: no part imports a later one."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from repository import ROOT

# The imports of each part from the package, besides itself and those allowed everywhere.
RULES = {
    "unicode": set(),
    "patterns": {"unicode"},
    "model": {"patterns", "unicode", "_core"},  # native code joins and compares its columns
    "sources": {"model", "_core"},  # native code reads large vocabularies
    "compiler": {"model", "patterns", "unicode", "_core"},
    "file": {"chat.frame", "compiler.tables", "version"},
    "conversion": {"chat", "compiler", "file", "model", "output", "runtime.metadata", "_core"}
    | {"sources.registry", "verification.selftest"},
    "corpus": {"output", "runtime"},
    "targets": {"conversion", "model", "output", "runtime", "sources", "verification"}
    | {"compiler", "file.layout", "patterns"},
    "training": {"conversion", "corpus", "model", "output", "runtime", "sources"}
    | {"unicode", "_core"},
    "chat": set(),
    "nanochat": {"conversion", "output", "runtime", "sources", "training"},
    "verification": {"model", "runtime", "sources", "unicode"},
    "viewing": {"runtime"},
    "embedding": {"output", "runtime"},
    "weights": {"output"},
    "runtime": {"chat", "_core"},
}
PARTS = {path.parent.name for path in (ROOT / "tokexport").glob("*/__init__.py")}
ANYTHING = {"errors", "escape", "limits", "special_tokens"}


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


def within(name: str, prefixes: set[str]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def imported(part: str) -> set[tuple[str, str]]:
    """The modules in a folder of the package, or one module, each with what it imports."""
    folder = ROOT / "tokexport" / part
    paths = folder.rglob("*.py") if folder.is_dir() else [folder.with_suffix(".py")]
    return {(path.relative_to(ROOT).as_posix(), name) for path in paths for name in imports(path)}


@pytest.mark.parametrize("part", RULES)
def test_a_part_imports_only_earlier_parts(part: str) -> None:
    allowed = RULES[part] | ANYTHING | {part}
    found = imported(part)
    assert found
    assert not {(path, name) for path, name in found if not within(name, allowed)}


@pytest.mark.parametrize("part", ["", *sorted(PARTS - {"runtime"})])
def test_no_two_folders_or_modules_beside_each_other_import_each_other(part: str) -> None:
    """Except in the runtime, whose modules are methods of one class."""
    graph: dict[str, set[str]] = {}
    found = imported(part)
    assert found
    for path, name in found:
        inner = Path(path).relative_to(Path("tokexport", part)).with_suffix("").parts[0]
        if inner != "__init__" and (not part or within(name, {part})):
            outer = name.removeprefix(f"{part}.").split(".")[0]
            graph.setdefault(inner, set()).update({outer} - {inner})
    TopologicalSorter(graph).prepare()
