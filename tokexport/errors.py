"""The errors that tokexport raises; each message is a sentence that says where, what was found and what to do."""

from __future__ import annotations


class TokexportError(Exception):
    """Anything that tokexport could not do. The command line exits with 2."""


class SourceError(TokexportError):
    """A source file is broken: not what its format says, or what the reference library itself refuses."""


class UnsupportedError(TokexportError):
    """A source file asks for something that cannot be exact in the file, so the conversion is refused.

    ``path`` names the field (``pre_tokenizer.pretokenizers[0].pattern.Regex``), ``found`` is its value, ``supported`` says what could be.
    """

    def __init__(self, path: str, found: str, supported: str) -> None:
        super().__init__(f"{path}: {found} is not supported; {supported}")
        self.path = path
        self.found = found
        self.supported = supported


class FormatError(TokexportError):
    """A tokexport file is damaged, truncated, too new, or no tokexport file at all. ``code`` is the C runtime's error code."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code
