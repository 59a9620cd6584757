"""Where things lie in the repository, its scripts as modules, and the switch for slow tests."""

from __future__ import annotations

import importlib.util
import os
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


def script(path: Path) -> ModuleType:
    """A script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module
