"""tokexport: any model's tokenizer as one small file that a runtime maps into memory, with exactly the same ids."""

from __future__ import annotations

from pathlib import Path

from tokexport import errors, version
from tokexport.convert import convert
from tokexport.readers import read
from tokexport.runtime.decode_stream import DecodeStream
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.verify import verify

__version__ = version.VERSION

__all__ = [
    "DecodeStream",
    "Tokenizer",
    "__version__",
    "convert",
    "errors",
    "get_include",
    "load",
    "read",
    "verify",
]


def get_include() -> str:
    """The directory that holds ``tokexport.h``, ``tokexport.c`` and the format's specification, for those who build against them.

    >>> sorted(path.name for path in Path(get_include()).glob("tokexport.*"))
    ['tokexport.c', 'tokexport.h']
    """
    package = Path(__file__).parent
    installed = package / "include"
    # An editable install runs from the repository, where these files lie beside the package.
    return str(installed if installed.is_dir() else package.parent / "formats" / "tokexport")
