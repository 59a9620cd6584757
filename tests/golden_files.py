"""The golden files, and the script that makes them."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "formats" / "tokexport" / "golden"
NAMES = sorted(path.stem for path in FOLDER.glob("*.bin"))
DECODER_NAMES = sorted(path.stem for path in FOLDER.glob("decode-*.json"))
EXPECTED_NAMES = sorted({path.stem for path in FOLDER.glob("*.json")} - {*DECODER_NAMES})
REFUSED_NAMES = sorted(path.name for path in (FOLDER / "refused").glob("*.bin"))


def content(name: str) -> bytes:
    """A golden file."""
    return (FOLDER / f"{name}.bin").read_bytes()


def expected(name: str) -> dict[str, Any]:
    """What a reader must give for it."""
    value: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return value


def refused(name: str) -> bytes:
    """A file that a reader must refuse."""
    return (FOLDER / "refused" / name).read_bytes()


def error_of(name: str) -> str:
    """The error with which a reader must refuse it: its file name begins with it."""
    return "TKX_E_" + name.removesuffix(".bin").partition("-")[0]


def maker() -> ModuleType:
    """The script that makes them, as a module."""
    if "golden_make" not in sys.modules:
        spec = importlib.util.spec_from_file_location("golden_make", FOLDER / "make.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["golden_make"] = module
        spec.loader.exec_module(module)
    return sys.modules["golden_make"]
