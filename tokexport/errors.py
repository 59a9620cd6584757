"""The errors that tokexport raises; each says where it is, what was found and what to do."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


class TokexportError(Exception):
    """The base class of tokexport's errors. The command line exits with 2. ``problem`` says what
    was found, and ``hint`` what to do, or is empty.

    >>> print(TokexportError("model.bin exists already", "choose another target"))
    model.bin exists already; choose another target
    """

    def __init__(self, problem: str, hint: str = "") -> None:
        # Not super().__init__(): ``args`` stays what the subclass was called with, from which
        # pickle and copy rebuild it.
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.problem}; {self.hint}" if self.hint else self.problem


class MissingLibraryError(TokexportError):
    """A library that reads a source, decides its ids or runs its chat template is not installed."""


@contextmanager
def needs(extra: str, problem: str) -> Iterator[None]:
    """Turns the failure of an import into a MissingLibraryError; its hint is to install the extra.

    >>> with needs("model", "it needs safetensors"):
    ...     import no_such_library
    Traceback (most recent call last):
      ...
    tokexport.errors.MissingLibraryError: it needs safetensors; pip install 'tokexport[model]'
    """
    try:
        yield
    except ImportError as error:
        raise MissingLibraryError(problem, f"pip install 'tokexport[{extra}]'") from error


@contextmanager
def naming_temporary() -> Iterator[None]:
    """Names the temporary directory, in which files are written besides the result, in an error."""
    try:
        yield
    except OSError as error:
        from tempfile import gettempdir  # not above: most conversions need none

        problem = f"the temporary directory {gettempdir()} cannot be written"
        hint = "set TMPDIR to another one"
        raise TokexportError(f"{problem}: {error.strerror or error}", hint) from error


class ChatTemplateError(TokexportError, ValueError):
    """A chat template is missing or broken, or refuses the messages."""


class SourceError(TokexportError):
    """A source file is broken: not what its format says, or refused by the reference library.

    ``name`` is the base name of a file of the source, ``file`` its path, once that is known.
    """

    def __init__(self, problem: str, hint: str = "", *, name: str | None = None) -> None:
        super().__init__(problem, hint)
        self.name = self.file = name

    def __str__(self) -> str:
        return f"{self.file}: {super().__str__()}" if self.file else super().__str__()


class UnreadableError(SourceError, OSError):
    """A file that cannot be read. A derived class is also that of Python for its failure."""

    def __init__(self, number: int | None, reason: str, file: str, /) -> None:
        OSError.__init__(self, number, reason, file)
        hint = "name a file in it" if isinstance(self, IsADirectoryError) else ""
        SourceError.__init__(self, f"cannot be read: {reason}", hint)
        self.file = file


class MissingFileError(UnreadableError, FileNotFoundError):
    """A file that does not exist."""


class DirectoryError(UnreadableError, IsADirectoryError):
    """A directory where a file is expected."""


class ForbiddenFileError(UnreadableError, PermissionError):
    """A file that may not be read."""


@contextmanager
def reading(file: str | os.PathLike[str]) -> Iterator[None]:
    """Names the file that is read, unless the error of the system names another."""
    try:
        yield
    except OSError as error:
        kinds = (MissingFileError, DirectoryError, ForbiddenFileError, UnreadableError)
        kind = next(kind for kind in kinds if isinstance(error, kind.__bases__[-1]))
        name = os.fspath(error.filename or file) or "an empty path"
        raise kind(error.errno, error.strerror or str(error), name) from None


def parse_problem(error: Exception) -> str:
    """What a parser of JSON found. Python's sentence about a recursion depends on its release.

    >>> parse_problem(RecursionError("Stack overflow (used 8152 kB)"))
    'it is nested too deeply'
    """
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


class UnsupportedError(TokexportError):
    """A source needs something that cannot be exact in the file, so the conversion is refused.

    ``path`` names the field (``pre_tokenizer.pretokenizers[0].pattern.Regex``). ``file`` is the
    source, once it is known.

    >>> error = UnsupportedError("normalizer.type", 'the type "Nmt" is unknown', "use null or NFC")
    >>> error.file = "model/tokenizer.json"
    >>> print(error)
    model/tokenizer.json: normalizer.type: the type "Nmt" is unknown; use null or NFC
    """

    def __init__(self, path: str, problem: str, hint: str, /) -> None:
        super().__init__(problem, hint)
        self.path = path
        self.file: str | None = None

    def __str__(self) -> str:
        # The refusal of a whole file has the file's name as its path.
        is_whole = self.file is None or self.path == os.path.basename(self.file)
        where = self.file or self.path if is_whole else f"{self.file}: {self.path}"
        return f"{where}: {super().__str__()}"


class TextError(TokexportError, ValueError):
    """A text that cannot be encoded: it is too long, or the model has neither a token for a part of
    it nor an unknown id, or it is not UTF-8, from ``byte_offset`` on.
    """

    byte_offset: int | None = None


class ConversationError(TokexportError, ValueError):
    """A conversation that cannot be rendered. ``index``: that of the message, or None without one.

    >>> print(ConversationError(2, "", "the role is None", "use user"))
    messages[2]: the role is None; use user
    """

    def __init__(self, index: int | None, path: str, problem: str, hint: str, /) -> None:
        where = "conversation" if index is None else f"messages[{index}]{path}"
        super().__init__(f"{where}: {problem}", hint)
        self.index = index


class FormatError(TokexportError):
    """A file that is damaged, too new, or not a tokexport file. ``code``: the C runtime's error."""

    def __init__(self, problem: str, hint: str = "", code: int = 0) -> None:
        super().__init__(problem, hint)
        self.code = code


class IdError(TokexportError, KeyError):
    """An ``id`` without a token, of ``id_count`` ids: out of range, or a hole.

    >>> print(IdError(50257, 50257))
    id 50257: no such id; this tokenizer's ids are 0 to 50,256
    """

    def __init__(self, id: int, id_count: int, /) -> None:
        if 0 <= id < id_count:
            super().__init__(f"id {id} is a hole: no token has it")
        else:
            known = f"this tokenizer's ids are 0 to {id_count - 1:,}"
            super().__init__(f"id {id}: no such id", known)
        self.id = id
