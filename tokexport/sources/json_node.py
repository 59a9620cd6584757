"""JSON with paths: every value knows its path, for error messages.

As strict as the reference library's parser (serde_json): UTF-8 without a byte order mark, no NaN,
no lone surrogates, and numbers as it rounds them. A key that occurs twice in one object is refused
where it is not clear which counts; in a vocabulary the last one does.
"""

from __future__ import annotations

import base64
import json
import mmap
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from tokexport._core import long_values
from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources.files import SourceFiles, decoded
from tokexport.sources.serde_number import serde_number

_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_U32: Final = 1 << 32
_SHOWN: Final = 120


class _RepeatedKeys(dict[str, object]):
    """An object in which a key occurred more than once; the last value counts."""


@dataclass(frozen=True, slots=True)
class LongValue:
    """An array or object of a document, as its bytes: Python objects are ten times as large."""

    document: bytes | mmap.mmap = field(repr=False)
    begin: int
    end: int

    @property
    def objects(self) -> Any:
        text = self.document[self.begin : self.end]
        return json.loads(text, object_pairs_hook=_object, parse_float=serde_number)

    def release(self) -> None:
        """Releases the memory of a mapped document, which is loaded again when read."""
        if isinstance(self.document, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self.document.madvise(mmap.MADV_DONTNEED)

    @property
    def is_array(self) -> bool:
        return self.document[self.begin : self.begin + 1] == b"["


def show(value: object) -> str:
    """A value as JSON, in ASCII and truncated, for an error message and a terminal.

    >>> show("naïve")
    '"na\\\\u00efve"'
    """
    text = json.dumps(value, default=lambda x: x.objects if isinstance(x, LongValue) else repr(x))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


@dataclass(frozen=True, slots=True)
class Node:
    """One JSON value and its location: ``file`` is a base name, ``path`` like ``model.merges[3]``.

    ``ignored`` collects the paths of unread fields where the reference ignores these; without it
    they are refused. A node shares it with its children.
    """

    file: str
    path: str
    value: Any
    ignored: list[str] | None = field(default=None, compare=False, repr=False)

    def fail(self, expected: str) -> NoReturn:
        """Raises the SourceError with the location, what was found and what was expected."""
        self.broken(f"is {show(self.value)}", f"expected {expected}")

    def broken(self, what: str, hint: str = "") -> NoReturn:
        """Raises the SourceError with the location and what is wrong there."""
        raise SourceError(f"{self.path or 'the document'} {what}", hint, name=self.file)

    def unsupported(self, problem: str, hint: str) -> NoReturn:
        raise UnsupportedError(self.path or self.file, problem, hint)

    def object(
        self, known: Collection[str] | None = None, *, repeats: bool = False
    ) -> dict[str, Any]:
        """The value as an object with ``known`` fields: others are refused, or recorded."""
        if not isinstance(self.value, dict):
            self.fail("an object")
        if isinstance(self.value, _RepeatedKeys) and not repeats:
            self.broken("has a key twice", "each key may occur once")
        known = self.value if known is None else known
        for other in [self.member(name) for name in self.value if name not in known]:
            if self.ignored is None:
                hint = f"the fields known here are {', '.join(sorted(known))}"
                other.unsupported("this field is unknown", hint)
            self.ignored.append(other.path)
        return self.value

    def member(self, name: str) -> Node:
        """The value of a key that exists."""
        path = f"{self.path}.{name}" if self.path else name
        if not _PLAIN_KEY.fullmatch(name):
            path = f"{self.path}[{show(name)}]"
        return Node(self.file, path, self.value[name], self.ignored)

    def element(self, number: int) -> Node:
        return Node(self.file, f"{self.path}[{number}]", self.value[number], self.ignored)

    def get(self, name: str) -> Node | None:
        """The field ``name`` of an object, or None if it is absent."""
        return self.member(name) if name in self.object() else None

    def field(self, name: str) -> Node:
        """The field ``name`` of an object, which must exist."""
        node = self.get(name)
        return self.broken(f"lacks the required field {name!r}") if node is None else node

    def optional(self, name: str) -> Node | None:
        """The field ``name`` of an object, or None if it is absent or null."""
        node = self.get(name)
        return None if node is None or node.value is None else node

    def items(self) -> Iterator[Node]:
        if not isinstance(self.value, list):
            self.fail("an array")
        return map(self.element, range(len(self.value)))

    def members(self) -> Iterator[tuple[str, Node]]:
        return ((name, self.member(name)) for name in self.object())

    def string(self) -> str:
        return self.value if isinstance(self.value, str) else self.fail("a string")

    def base64(self) -> bytes:
        try:
            return base64.b64decode(self.string(), validate=True)
        except ValueError:
            return self.fail("base64")

    def boolean(self) -> bool:
        return self.value if isinstance(self.value, bool) else self.fail("true or false")

    def u32(self) -> int:
        """The value as an integer from 0 to 2**32 - 1."""
        if type(self.value) is not int or not 0 <= self.value < _U32:
            self.fail("an integer from 0 to 4294967295")
        return self.value

    def flag(self, name: str, otherwise: bool = False) -> bool:
        """The field ``name``, true or false; ``otherwise`` if it is absent or null."""
        node = self.optional(name)
        return otherwise if node is None else node.boolean()


def line_of(file: str, number: int, line: str | bytes) -> Node:
    """A line of a text, for errors.

    >>> line_of("x.txt", 3, b"ab").path
    'line 3'
    """
    return Node(file, f"line {number}", line if isinstance(line, str) else line.decode("latin-1"))


def parse(data: bytes, file: str, number: Callable[[str], float] = serde_number) -> Node:
    """The document in ``data``, from the file with the base name ``file``; SourceError if it is not
    JSON. ``number`` reads numbers with a fraction or an exponent.

    >>> parse(b'{"a": [1]}', "x.json").field("a").value
    [1]
    """
    text = decoded(data, file, "JSON must be UTF-8")
    if text.startswith("\ufeff"):
        problem = "it starts with a byte order mark, which JSON may not have"
        raise SourceError(problem, "remove its first three bytes", name=file)
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=number
        )
        # Python accepts lone surrogates, the reference does not. Such escapes are rare.
        if _SURROGATE_ESCAPE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        near = error.object[max(error.start - 20, 0) : error.end + 20]
        problem = f"it holds a lone surrogate, in {show(near)}"
        raise SourceError(problem, "it is not text", name=file) from None
    except json.JSONDecodeError as error:
        raise SourceError(*not_json(error), name=file) from None
    except RecursionError:
        raise SourceError("it is nested too deeply", name=file) from None
    except ValueError as error:
        # Python's own sentence is about its settings.
        is_long = "int_max_str_digits" in str(error)
        problem = "it holds a number of thousands of digits, which no reader accepts"
        raise SourceError(problem if is_long else str(error), name=file) from None
    return Node(file, "", value)


def not_json(error: json.JSONDecodeError) -> tuple[str, str]:
    """The problem and the hint for a text that is not JSON.

    >>> not_json(json.JSONDecodeError("Expecting value", "[", 1))[0]
    'line 1, column 2 is not JSON: the file ends there, before its JSON does'
    """
    if not error.doc.strip():
        return "it is empty, and not JSON", ""
    what, hint = error.msg.removesuffix(" at"), "it seems to be cut off: get the whole file again"
    if what.startswith("Unterminated string"):
        what = "the file ends in the middle of the string that begins there"
    elif error.pos >= len(error.doc.rstrip()):
        what = "the file ends there, before its JSON does"
    else:
        hint = ""
    return f"line {error.lineno}, column {error.colno} is not JSON: {what}", hint


def parse_beside(files: SourceFiles, name: str) -> Node:
    """The document of a file, or an empty object if it does not exist. It is parsed once."""
    if name not in files.documents:
        data = files.beside(name)
        files.documents[name] = parse(b"{}" if data is None else data, name)
    found: Node = files.documents[name]
    return found


def parse_large(data: bytes | mmap.mmap, file: str) -> Node | None:
    """The same, but the vocabulary and the merges in ``model`` are each a :class:`LongValue` if
    they contain only strings and numbers. None if neither does, or if something else in the
    document is wrong.

    >>> parse_large(b'{"model": {"merges": ["a b"]}}', "x.json").value["model"]["merges"].objects
    ['a b']
    """
    values = long_values(data)
    if not values:
        return None
    starts = [0, *(end for _, _, end in values)]
    parts = [data[start:begin] for start, (_, begin, _) in zip(starts, values, strict=False)]
    try:
        root = parse(b"null".join([*parts, data[starts[-1] :]]), file)
    except SourceError:
        return None
    model = root.value["model"]
    if isinstance(root.value, _RepeatedKeys) or isinstance(model, _RepeatedKeys):
        return None
    model |= {name: LongValue(data, begin, end) for name, begin, end in values}
    model[values[0][0]].release()
    return root


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else _RepeatedKeys(fields)


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
