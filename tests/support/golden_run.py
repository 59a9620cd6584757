"""Everything that the golden files require of a reader, and the runtime as a reader."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import golden_files
from repository import ROOT

from tokexport._core import Core
from tokexport.errors import FormatError, TextError
from tokexport.runtime.chat import ROLES
from tokexport.runtime.tokenizer import Tokenizer, load

_HEADER = (ROOT / "formats" / "tokexport" / "tokexport.h").read_text(encoding="utf-8")
NAMES_OF_CODES = {int(code): name for name, code in re.findall(r"(TKX_E_\w+) = (-?\d+)", _HEADER)}


@dataclass(eq=False)
class RefusedError(Exception):
    """The runtime refuses a file or a text; ``name`` is the error of SPEC.md."""

    name: str


@dataclass(frozen=True)
class RuntimeFile:
    """An open file, as the reader's."""

    tokenizer: Tokenizer

    def token_bytes(self, token: int) -> bytes:
        try:
            return self.tokenizer.decode_single_token_bytes(token)
        except KeyError as error:
            raise RefusedError("TKX_E_ID") from error


class Runtime:
    """The runtime of this package, with the function names of the educational reader."""

    ALL = "all"
    TokexportError = RefusedError

    def open_file(self, content: bytes) -> RuntimeFile:
        """Opened and fully checked."""
        try:
            Core(content, "golden").check(whole=True)
        except FormatError as error:
            raise RefusedError(NAMES_OF_CODES[error.code]) from error
        return RuntimeFile(load(content))

    def check_file(self, file: RuntimeFile) -> None:
        """Nothing to do: ``open_file`` has checked it."""

    def encode(self, file: RuntimeFile, text: bytes, allowed: Any) -> list[int]:
        if allowed != self.ALL:
            allowed = {file.tokenizer.added_tokens[index].content for index in allowed}
        try:
            return file.tokenizer.encode(text.decode(), allowed_special=allowed)
        except TextError as error:
            raise RefusedError("TKX_E_UNKNOWN_TEXT") from error

    def encode_spans(self, file: RuntimeFile, text: bytes, allowed: Any) -> list[tuple[int, Any]]:
        encoding = file.tokenizer.encode_with_offsets(text.decode(), allowed_special=allowed)
        return [*zip(encoding.ids, encoding.offsets, strict=True)]

    def encode_with_template(
        self, file: RuntimeFile, text: bytes, pair: bytes | None, *, special: bool
    ) -> tuple[list[int], list[int]]:
        options: dict[str, Any] = {"allowed_special": "all", "add_special_tokens": special}
        if pair is None:
            encoding = file.tokenizer.encode_with_offsets(text.decode(), **options)
        else:
            encoding = file.tokenizer.encode_pair_with_offsets(
                text.decode(), pair.decode(), **options
            )
        return list(encoding.ids), list(encoding.type_ids)

    def prefix_ids(self, file: RuntimeFile, prefix: bytes) -> list[int]:
        return [*map(int, file.tokenizer.prefix_ids(prefix))]

    def encode_chat(self, file: RuntimeFile, messages: list[tuple[str, bytes]]) -> list[int]:
        roles = [ROLES.index(role) for role, _ in messages]
        texts = [text.decode() for _, text in messages]
        result = file.tokenizer._core.encode_chat(roles, texts)
        if isinstance(result, tuple):
            raise RefusedError(NAMES_OF_CODES[result[0]])
        return result

    def decode_text(self, file: RuntimeFile, ids: list[int], skip_special: bool) -> str:
        return file.tokenizer.decode(ids, skip_special_tokens=skip_special)


def opened(reader: Any, content: bytes) -> str:
    """The error with which a reader refuses a file, or TKX_OK."""
    try:
        reader.check_file(reader.open_file(content))
    except reader.TokexportError as error:
        return str(error.name)
    return "TKX_OK"


def disagreements_about(reader: Any, name: str) -> Iterator[str]:
    """The disagreements of a reader with one valid golden file."""
    try:
        file = reader.open_file(golden_files.content(name))
    except reader.TokexportError as error:
        yield f"{name} is refused: {error.name}"
        return
    expected = golden_files.expected(name)
    for token, content in enumerate(expected["tokens"]):
        try:
            actual: Any = file.token_bytes(token).hex()
        except reader.TokexportError as error:
            actual = None if error.name == "TKX_E_ID" else error.name
        if actual != content:
            yield f"{name}: the bytes of {token} are {actual}"
    for kind, query in QUERIES.items():
        for case in expected.get(kind, ()):
            try:
                actual = query(reader, file, case)
            except reader.TokexportError as error:
                actual = {"error": error.name}
            answers = actual.keys() | case.keys() & {"ids", "type_ids", "spans", "error"}
            if kind == "decode":
                answers = {"text"}
            if any(actual.get(key) != case.get(key) for key in answers):
                yield f"{name}: {case} gives {actual}"


def _encode(reader: Any, file: Any, case: dict[str, Any]) -> dict[str, Any]:
    text = case["text"].encode()
    allowed = case.get("allowed", reader.ALL if case.get("special") else ())
    actual: dict[str, Any] = {"ids": reader.encode(file, text, allowed)}
    if "spans" in case:
        spans = reader.encode_spans(file, text, allowed)
        actual["spans"] = [list(span) for _, span in spans]
        if [id for id, _ in spans] != actual["ids"]:
            actual["ids"] = spans
    return actual


def _template(reader: Any, file: Any, case: dict[str, Any]) -> dict[str, Any]:
    pair = case["pair"].encode() if "pair" in case else None
    text = case["text"].encode()
    special = case["add_special_tokens"]
    ids, type_ids = reader.encode_with_template(file, text, pair, special=special)
    return {"ids": ids, "type_ids": type_ids}


def _chat(reader: Any, file: Any, case: dict[str, Any]) -> dict[str, Any]:
    messages = [(role, text.encode()) for role, text in case["messages"]]
    return {"ids": reader.encode_chat(file, messages)}


QUERIES: dict[str, Callable[[Any, Any, dict[str, Any]], dict[str, Any]]] = {
    "encode": _encode,
    "encode_some": _encode,
    "refused": _encode,
    "template": _template,
    "decode": lambda reader, file, case: {
        "text": reader.decode_text(file, case["ids"], case.get("skip_special", False))
    },
    "prefix": lambda reader, file, case: {
        "ids": reader.prefix_ids(file, bytes.fromhex(case["prefix"]))
    },
    "chat": _chat,
}
