"""tokexport: any model's tokenizer as one small file, mapped into memory, with the same ids."""

# Not from typing, which takes longer to import than this package: type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from tokexport import errors as errors
    from tokexport.conversion import convert as convert
    from tokexport.runtime.decode_stream import DecodeStream as DecodeStream
    from tokexport.runtime.offsets import Encoding as Encoding
    from tokexport.runtime.offsets import NumpyEncoding as NumpyEncoding
    from tokexport.runtime.tokenizer import Tokenizer as Tokenizer
    from tokexport.runtime.tokenizer import load as load
    from tokexport.sources import read as read
    from tokexport.special_tokens import AddedToken as AddedToken
    from tokexport.special_tokens import SpecialIds as SpecialIds
    from tokexport.training.train import train_from_iterator as train_from_iterator
    from tokexport.verification import verify as verify
    from tokexport.version import __version__ as __version__

# A process that only runs a tokenizer does not import the code that makes and compares files.
_ON_DEMAND = {
    "__version__": "tokexport.version",
    "AddedToken": "tokexport.special_tokens",
    "DecodeStream": "tokexport.runtime.decode_stream",
    "Encoding": "tokexport.runtime.offsets",
    "NumpyEncoding": "tokexport.runtime.offsets",
    "SpecialIds": "tokexport.special_tokens",
    "Tokenizer": "tokexport.runtime.tokenizer",
    "convert": "tokexport.conversion",
    "errors": "tokexport.errors",
    "load": "tokexport.runtime.tokenizer",
    "read": "tokexport.sources",
    "train_from_iterator": "tokexport.training.train",
    "verify": "tokexport.verification",
}
__all__ = [*_ON_DEMAND, "get_include"]


if not TYPE_CHECKING:  # a type checker reports unknown names itself

    def __getattr__(name):
        if name not in _ON_DEMAND:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = __import__(_ON_DEMAND[name], fromlist=("",))
        value = getattr(module, name, module)  # a module is returned itself
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def get_include() -> str:
    """The directory with ``tokexport.h``, ``tokexport.c`` and SPEC.md, for builds that use them.

    >>> import pathlib
    >>> sorted(path.name for path in pathlib.Path(get_include()).glob("tokexport.*"))
    ['tokexport.c', 'tokexport.h']
    """
    from pathlib import Path

    package = Path(__file__).parent
    installed = package / "include"
    # An editable install runs from the repository, where formats/ is next to the package.
    return str(installed if installed.is_dir() else package.parent / "formats" / "tokexport")
