"""The errors that tokexport raises; each says where it is, what was found and what to do."""

import os


class TokexportError(Exception):
    """The base class of tokexport's errors. The command line exits with 2."""


class MissingLibraryError(TokexportError):
    """A library that reads a source, decides its ids or runs its chat template is not installed."""


class ChatTemplateError(TokexportError, ValueError):
    """A chat template is missing or broken, or refuses the messages."""


class SourceError(TokexportError):
    """A source file is broken: not what its format says, or refused by the reference library.

    ``name`` is the base name of a file of the source, ``file`` its path, once that is known.
    """

    def __init__(self, problem: str, name: str | None = None) -> None:
        super().__init__(problem)
        self.name = name
        self.file: str | None = None

    def __str__(self) -> str:
        where = self.file or self.name
        return f"{where}: {self.args[0]}" if where else str(self.args[0])


class UnsupportedError(TokexportError):
    """A source needs something that cannot be exact in the file, so the conversion is refused.

    ``path`` names the field (``pre_tokenizer.pretokenizers[0].pattern.Regex``), ``problem`` says
    what was found there, ``hint`` what to do. ``file`` is the source, once it is known.

    >>> error = UnsupportedError("normalizer.type", '"Nmt" is not supported', "use null or NFC")
    >>> error.file = "model/tokenizer.json"
    >>> print(error)
    model/tokenizer.json: normalizer.type: "Nmt" is not supported; use null or NFC
    """

    def __init__(self, path: str, problem: str, hint: str) -> None:
        super().__init__(f"{path}: {problem}; {hint}")
        self.path = path
        self.problem = problem
        self.hint = hint
        self.file: str | None = None

    def __str__(self) -> str:
        if self.file is None:
            return super().__str__()
        # The refusal of a whole file has the file's name as its path.
        where = (
            self.file if self.path == os.path.basename(self.file) else f"{self.file}: {self.path}"
        )
        return f"{where}: {self.problem}; {self.hint}"


class TextError(TokexportError, ValueError):
    """A text that cannot be encoded: it is too long, or the model has neither a token for a part of
    it nor an unknown id, or it is not UTF-8, from ``byte_offset`` on.
    """

    byte_offset: int | None = None


class ConversationError(TokexportError, ValueError):
    """A conversation that cannot be rendered. ``index`` is that of the message, None if there is no
    message; ``problem`` says what was found there, ``hint`` what is expected.

    >>> print(ConversationError(2, "", "the role is None", "use user"))
    messages[2]: the role is None; use user
    """

    def __init__(self, index: int | None, path: str, problem: str, hint: str) -> None:
        where = "conversation" if index is None else f"messages[{index}]{path}"
        super().__init__(f"{where}: {problem}; {hint}")
        self.index = index
        self.problem = problem
        self.hint = hint


class FormatError(TokexportError):
    """A file that is damaged, too new, or not a tokexport file. ``code``: the C runtime's error."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class IdError(TokexportError, KeyError):
    """An id without a token, of ``id_count`` ids: out of range, or a hole. ``args[0]`` is the id.

    >>> print(IdError(50257, 50257))
    id 50257: no such id; this tokenizer's ids are 0 to 50,256
    """

    def __init__(self, id: int, id_count: int = 0) -> None:
        super().__init__(id)
        self.id_count = id_count

    def __str__(self) -> str:
        if 0 <= self.args[0] < self.id_count:
            return f"id {self.args[0]} is a hole: no token has it"
        return f"id {self.args[0]}: no such id; this tokenizer's ids are 0 to {self.id_count - 1:,}"
