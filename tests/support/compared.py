"""Compares a tokenizer.json or SentencePiece model in its library with its file in both readers."""

import re
from collections.abc import Callable
from functools import cache, partial
from itertools import accumulate, product
from pathlib import Path
from typing import Any

import tokexport_reader
from reader_samples import BYTES, CHARACTERS, read_document, reference
from sentencepiece import SentencePieceProcessor
from sentencepiece_training import library_of, model_of

from tokexport.conversion import file_bytes
from tokexport.errors import TextError, UnsupportedError
from tokexport.runtime.tokenizer import load
from tokexport.sources.sentencepiece.proto import SentencePieceModel
from tokexport.sources.tokenizer_json.reference import NO_UNKNOWN_TOKEN

NO_SPANS = b"\xff" * 4  # the beginning of TRIM in a file without offsets


@cache
def merged(letters: str) -> dict[str, Any]:
    """A model that shows where pre-tokens end, because any two bytes of the letters merge."""
    pool = [CHARACTERS[byte] for byte in sorted(set(letters.encode()))]
    pairs = [[left, right] for left, right in product(pool, pool)]
    vocab = BYTES | {left + right: 256 + number for number, (left, right) in enumerate(pairs)}
    return {"vocab": vocab, "merges": pairs}


def ids_or_none(encode: Callable[..., Any], *text: Any) -> list[int] | None:
    """The ids of a library, runtime or reader; None if it stops at text outside the vocabulary."""
    result = encoding_or_none(encode, *text)
    return None if result is None else list(getattr(result, "ids", result))


def encoding_or_none(encode: Callable[..., Any], *text: Any) -> Any:
    try:
        return encode(*text)
    except TextError:
        return None
    except Exception as error:  # the reference raises no narrower type
        if not any(words in str(error) for words in (*NO_UNKNOWN_TOKEN, "TKX_E_UNKNOWN_TEXT")):
            raise
        return None


def file_or_none(fields: dict[str, Any], folder: Path) -> bytes | None:
    """The file of a tokenizer.json; None if it is refused."""
    try:
        return file_bytes(read_document(fields, folder))
    except UnsupportedError:
        return None


def compared_or_none(fields: dict[str, Any], folder: Path, why: str = "") -> "Compared | None":
    """The readers of a tokenizer.json; None if it is refused, in words that match ``why``."""
    try:
        return Compared(fields, folder)
    except UnsupportedError as error:
        if not re.search(why, str(error)):
            raise
        return None


class Compared:
    """The reference, the C runtime and the slow reader of SPEC.md, side by side."""

    def __init__(self, fields: dict[str, Any], folder: Path) -> None:
        data = file_bytes(read_document(fields, folder))
        self.reference, self.runtime = reference(fields), load(data)
        self.spec = tokexport_reader.open_file(data)
        trimming = self.spec.sections.get(b"TRIM", b"")
        self._has_spans, self._trims = trimming[:4] != NO_SPANS, bool(trimming)

    def check(self, text: str, *, slow: bool = True) -> bool:
        """Compares ids and offsets of a text with the reference, and with SPEC.md's reader if
        ``slow``; False if the reference panics, or if it stops at text outside the vocabulary.
        """
        data, allowed = text.encode(), tokexport_reader.ALL
        try:
            expected = encoding_or_none(self.reference.encode, text, None, False, False)
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            return False
        ids = None if expected is None else expected.ids
        encode = partial(self.runtime.encode, allowed_special="all")
        assert ids_or_none(encode, text) == ids, ascii(text)
        if slow:
            found = ids_or_none(tokexport_reader.encode, self.spec, data, allowed)
            assert found == ids, ascii(text)
        if ids is None:
            return False
        spans = expected.offsets
        if self._has_spans:
            encoding = self.runtime.encode_with_offsets(text, allowed_special="all")
            assert (encoding.ids, encoding.offsets) == (ids, spans), ascii(text)
            if slow:
                specified = tokexport_reader.encode_spans(self.spec, data, allowed)
                assert specified == [*zip(ids, spans, strict=True)], ascii(text)
            if self._trims:  # in bytes it trims one byte, in characters a whole character
                return True
            starts = [0, *accumulate(len(character.encode()) for character in text)]
            encoding = self.runtime.encode_with_offsets(text, allowed_special="all", unit="byte")
            assert encoding.offsets == [(starts[a], starts[b]) for a, b in spans], ascii(text)
        return True


class ComparedPieces:
    """The library of a SentencePiece model, and both readers of its file."""

    def __init__(self, content: bytes, library: SentencePieceProcessor) -> None:
        self.library, self.runtime = library, load(content)
        self.spec = tokexport_reader.open_file(content)

    @classmethod
    def of(cls, source: SentencePieceModel) -> "ComparedPieces":
        return cls(file_bytes(model_of(source)), library_of(source))

    def check(self, text: str, *, slow: bool = False) -> list[int]:
        """Compares ids, their text and their offsets with the library, and ids and offsets with
        SPEC.md's reader if ``slow``. Returns the ids.
        """
        data, wanted = text.encode(), self.library.EncodeAsOffsetMapping(text)
        ids: list[int] = wanted["ids"]
        found = self.runtime.encode_with_offsets(text)
        assert self.runtime.encode(text) == ids, text
        assert (found.ids, found.offsets) == (ids, wanted["offsets"]), text
        in_bytes = self.library.EncodeAsOffsetMapping(data)["offsets"]
        assert self.runtime.encode_with_offsets(text, unit="byte").offsets == in_bytes, text
        assert self.runtime.decode(ids) == self.library.decode(ids), text
        if slow:
            assert tokexport_reader.encode(self.spec, data) == ids, text
            spans = [*zip(ids, wanted["offsets"], strict=True)]
            assert tokexport_reader.encode_spans(self.spec, data) == spans, text
        return ids
