"""Data flows one way, source -> model -> tables -> bytes -> ids: no part imports a later one."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from repository import ROOT

PACKAGE = ROOT / "tokexport"
PARTS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
ANYWHERE = {"errors", "escape", "limits", "special_tokens"}
# What each part imports from the package, besides itself. `_core` is native code.
RULES = {
    "unicode": set(),
    "patterns": {"unicode"},
    "model": {"patterns", "unicode", "_core"},
    "sources": {"model", "_core"},
    "compiler": {"model", "patterns", "unicode", "_core"},
    "file": {"chat.frame", "compiler.tables", "version"},
    "runtime": {"chat", "_core"},
    "conversion": {"chat", "compiler", "file", "model", "output", "runtime.metadata", "_core"}
    | {"sources.hub", "sources.registry", "verification.selftest"},
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
}


def imports(path: Path) -> Iterator[str]:
    """What a module imports from the package, without the package's name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names = (start + alias.name for alias in node.names)
            yield from (
                name[len("tokexport.") :] for name in names if name.startswith("tokexport.")
            )


def imported(part: str) -> set[tuple[Path, str]]:
    """The modules in a folder of the package, or one module, each with what it imports."""
    folder = PACKAGE / part
    paths = folder.rglob("*.py") if folder.is_dir() else [folder.with_suffix(".py")]
    return {(path.relative_to(PACKAGE), name) for path in paths for name in imports(path)}


@pytest.mark.parametrize("part", RULES)
def test_a_part_imports_only_earlier_parts(part: str) -> None:
    allowed = tuple(f"{name}." for name in RULES[part] | ANYWHERE | {part})
    assert not {pair for pair in imported(part) if not f"{pair[1]}.".startswith(allowed)}


@pytest.mark.parametrize("part", ["", *sorted(PARTS - {"runtime"})])
def test_no_two_folders_or_modules_beside_each_other_import_each_other(part: str) -> None:
    """Except in the runtime, whose modules are methods of one class."""
    graph: dict[str, set[str]] = {}
    for path, name in imported(part):
        inner = path.relative_to(part).with_suffix("").parts[0]
        if inner != "__init__" and f"{name}.".startswith(f"{part}." if part else ""):
            outer = name.removeprefix(f"{part}.").split(".")[0]
            graph.setdefault(inner, set()).update({outer} - {inner})
    TopologicalSorter(graph).prepare()
