"""Replaces the compiled module if it is not next to these sources, as in a clone after
``pip install .``: Python finds the clone's package first. Uses the installed module if it was built
from the same sources.
"""

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def _installed(package: Path) -> Path:
    try:
        installed = Path(str(distribution("tokexport").locate_file("tokexport")))
    except PackageNotFoundError:
        problem = "no package is installed"
    else:
        paths = [installed / f"_core{suffix}" for suffix in EXTENSION_SUFFIXES]
        found = [path for path in paths if path.is_file()]
        names = ("tokexport.c", "tokexport.h", "tokexport_extra.c", "tokexport_extra.h")
        core = [package.parent / "formats/tokexport" / name for name in names]
        files = [(file, installed / "include" / file.name) for file in core]
        files += [(package / name, installed / name) for name in ("_core.pyi", "version.py")]
        if found and all(b.is_file() and a.read_bytes() == b.read_bytes() for a, b in files):
            return found[0]
        other = "was built from other sources" if found else "is not compiled for this Python"
        problem = f"the installed package {other}"
    raise ImportError(
        f"tokexport is imported from its sources in {package.parent}, without a compiled module,"
        f" and {problem}; run `pip install -e .` there, or start in another folder",
        name=__name__,
    )


spec = spec_from_file_location(__name__, _installed(Path(__file__).parent))
assert spec is not None
assert spec.loader is not None
module = module_from_spec(spec)
spec.loader.exec_module(module)
sys.modules[__name__] = module
