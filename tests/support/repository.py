"""Where things lie in the repository, its scripts as modules, programs in processes of their own,
and the switch for slow tests.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
SMALL = FIXTURES / "small"

# TOKEXPORT_SLOW=1: tests compare much more, which takes more than an hour.
SLOW = os.environ.get("TOKEXPORT_SLOW", "") not in ("", "0")


def small_source(name: str) -> Path:
    """The source of a small tokenizer."""
    return SMALL / ("ranks.tiktoken" if name == "ranks" else f"{name}.json")


def printed(*command: object, **environment: str) -> str:
    """What a Python of its own, which imports what this one does, prints for a command."""
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, **environment}
    words = [sys.executable, *map(str, command)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def called(file: str, call: str, **environment: str) -> str:
    """The text that a call of a function of a file gives in another Python."""
    program = "import pathlib, repository\n"
    program += f"print(repository.script(pathlib.Path({file!r})).{call}, end='')"
    return printed("-c", program, **environment)


def script(path: Path) -> ModuleType:
    """A script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module
