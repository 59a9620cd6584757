"""Paths and scripts of the repository, separate processes, and the switch for slow tests."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
SMALL = FIXTURES / "small"

# TOKEXPORT_SLOW=1: tests compare much more, and take over an hour.
SLOW = os.environ.get("TOKEXPORT_SLOW", "") not in ("", "0")


def documents() -> list[Path]:
    """The Markdown files of the repository."""
    ignored = {"build", "dist", "cache", ".git", ".pytest_cache", ".venv", "venv", "node_modules"}
    paths = ROOT.rglob("*.md")
    return sorted(path for path in paths if not ignored & set(path.relative_to(ROOT).parts))


def small_source(name: str) -> Path:
    return SMALL / ("ranks.tiktoken" if name == "ranks" else f"{name}.json")


def made_once(target: Path, make: Callable[[Path], object]) -> Path:
    """A file that ``make`` writes once for all processes, none of which sees it incomplete."""
    if not target.exists():
        temporary = target.with_name(f"{os.getpid()}-{target.name}")
        make(temporary)
        temporary.replace(target)
    return target


def printed(*command: object, **environment: str) -> str:
    """The output of a command in a separate Python with the same import path."""
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, **environment}
    words = [sys.executable, *map(str, command)]
    result = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def called(file: str, call: str, **environment: str) -> str:
    """The text returned by a function call in a file, in a separate Python."""
    program = "import pathlib, repository\n"
    program += f"print(repository.script(pathlib.Path({file!r})).{call}, end='')"
    return printed("-c", program, **environment)


def script(path: Path, name: str = "", folders: list[str] | None = None) -> ModuleType:
    """A script of the repository as a module, or as a package with its modules in ``folders``."""
    name = name or path.stem
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=folders)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look up their module there
    spec.loader.exec_module(module)
    return module
