"""Data flows one way, source -> model -> tables -> bytes -> ids: no part imports a later one."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from repository import ROOT

PACKAGE = ROOT / "tokexport"
IMPORT = re.compile(r"^ *(?:from|import) tokexport(?:\.| import )([\w.(]+)", re.MULTILINE)
# What each part imports besides itself and what any may import; `_core` is native code.
ANY = "_core errors escape limits special_tokens"
RULES = {
    "unicode": "",
    "patterns": "unicode",
    "chat": "",
    "model": "patterns unicode",
    "sources": "model",
    "compiler": "model patterns unicode",
    "file": "chat.frame compiler.tables version",
    "runtime": "chat",
    "verification": "model runtime sources unicode",
    "conversion": "chat compiler file model output runtime.metadata sources verification.selftest",
    "corpus": "output runtime",
    "embedding": "output runtime sources.gguf",
    "viewing": "runtime",
    "weights": "output",
    "training": "conversion corpus model output runtime sources unicode",
    "targets": "compiler conversion file.layout model output patterns runtime sources verification",
    "nanochat": "conversion output runtime sources training",
}
# But for the runtime, whose modules are methods of one class.
FOLDERS = {"", *(path.parent.name for path in PACKAGE.glob("*/__init__.py"))} - {"runtime"}


def imported(path: Path) -> set[str]:
    """What a module, or the modules in a folder, import from the package, without its name."""
    files = [path, *path.rglob("*.py")]
    texts = [file.read_text(encoding="utf-8") for file in files if file.suffix == ".py"]
    return {name for text in texts for name in IMPORT.findall(text)}


@pytest.mark.parametrize("part", RULES)
def test_a_part_imports_only_earlier_parts(part: str) -> None:
    (path,) = (path for path in PACKAGE.iterdir() if path.stem == part)
    allowed = tuple(f"{name}." for name in f"{part} {RULES[part]} {ANY}".split())
    assert {name for name in imported(path) if not f"{name}.".startswith(allowed)} == set()


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_no_two_folders_or_modules_beside_each_other_import_each_other(folder: str) -> None:
    start = f"{folder}." if folder else ""
    graph: dict[str, set[str]] = {}
    for path in (PACKAGE / folder).glob("[!_]*"):
        names = [name.removeprefix(start) for name in imported(path) if name.startswith(start)]
        graph[path.stem] = {name.split(".")[0] for name in names} - {path.stem}
    TopologicalSorter(graph).prepare()
