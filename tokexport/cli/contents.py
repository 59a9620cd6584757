"""The contents of a tokexport file: header, sections, tokens, stages, merges.

Reads by the declarations of :mod:`tokexport.file.layout`. The runtime has already opened the file
and checked what its own safety needs; other damage raises a FormatError that names the section.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from enum import IntFlag
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
from construct import Array, ConstructError, Container

import tokexport.file.layout as layout
from tokexport.errors import FormatError, SourceError
from tokexport.escape import escape
from tokexport.file.layout import DecoderFlag, ModelType, RecordFlag, StageFlag, Tag
from tokexport.model import AddedToken, SpecialIds, Token, TokenKind
from tokexport.runtime.metadata import damaged, section
from tokexport.runtime.tokenizer import load

if TYPE_CHECKING:
    from tokexport.conversion import Options

Result = TypeVar("Result")
Fact = dict[str, Any]  # as `inspect --json` prints it

KINDS = {RecordFlag[f"KIND_{kind.name}"]: kind for kind in TokenKind}
DAMAGE = (ConstructError, struct.error, ValueError, LookupError, OverflowError, RecursionError)


def section_rows(sizes: Mapping[bytes, int]) -> list[tuple[str, str, str]]:
    """A row for each section: its tag, its size in bytes, and what it holds."""
    meanings = {tag.value: tag.holds for tag in Tag}
    return [
        (tag_text(tag), f"{size:,}", meanings.get(tag, "not known to this version"))
        for tag, size in sizes.items()
    ]


def tag_text(tag: bytes) -> str:
    return tag.decode("ascii", "backslashreplace")


def reads(tag: Tag) -> Callable[[Callable[[Contents], Result]], cached_property[Result]]:
    """A property that reads a section: any error becomes a FormatError that names the section."""

    def decorate(method: Callable[[Contents], Result]) -> cached_property[Result]:
        @wraps(method)
        def reading(self: Contents) -> Result:
            try:
                return method(self)
            except DAMAGE as error:
                raise self.damaged(tag, "its content violates its layout") from error

        return cached_property(reading)

    return decorate


class Contents:
    """The header and sections of a file, or of bytes called ``name``, checked by the runtime.

    >>> contents = Contents(directory / "example.bin")
    >>> contents.header.id_count, len(contents.merges)
    (301, 9)
    """

    def __init__(self, source: bytes | str | Path, name: str = "the file") -> None:
        self.name = name if isinstance(source, bytes) else str(source)
        self.tokenizer = load(source)
        data = self.tokenizer.to_bytes()
        self.header: Container[Any] = layout.Header.parse(data)
        count, start = self.header.section_count, layout.Header.sizeof()
        self.sections = tuple(Array(count, layout.Section).parse(data[start:]))

    def damaged(self, tag: Tag, problem: str) -> FormatError:
        """The error for a section with invalid content."""
        return damaged(self.tokenizer, tag_text(tag), problem)

    def check_indexes(self) -> None:
        """Raises FormatError if a key or a pair is not found; anything else damaged is named by
        what reads it.
        """
        try:
            self.tokenizer.check()
        except FormatError as error:
            problem = "a key or a pair is not where it is looked for"
            raise damaged(self.tokenizer, "TIDX or PIDX", problem) from error

    def section(self, tag: bytes) -> bytes | None:
        return section(self.tokenizer, tag)

    def digest(self, tag: bytes) -> str | None:
        section = self.section(tag)
        return None if section is None else _crc(section)

    @property
    def encodes(self) -> bool:
        """Whether the file can encode, not only decode."""
        return self.section(Tag.TOKEN_INDEX) is not None or self.section(Tag.TRIE) is not None

    @reads(Tag.CHARACTERS)
    def unit(self) -> str | None:
        """What a BPE model's first symbols are: characters or bytes; None for other models."""
        if ModelType(self.header.model) is not ModelType.BPE or not self.encodes:
            return None
        section = self.section(Tag.CHARACTERS)
        unit = None if section is None else layout.CharactersHeader.parse(section).unit
        return "characters" if unit == layout.SymbolUnit.CHARACTER else "bytes"

    @property
    def flags(self) -> list[str]:
        return _names(layout.HeaderFlag, self.header.flags)

    @reads(Tag.NORMALIZER)
    def normalizer(self) -> list[Fact]:
        section = self.section(Tag.NORMALIZER)
        if section is None:
            return []
        return self._operations(0, layout.RewriteHeader.parse(section).normalizer_count)

    def _operations(self, first: int, count: int) -> list[Fact]:
        section = self.section(Tag.NORMALIZER) or b""
        start = layout.RewriteHeader.sizeof() + layout.RewriteOp.sizeof() * first
        ops = Array(count, layout.RewriteOp).parse(section[start:])
        return [_operation(section, op) for op in ops]

    @reads(Tag.RECORDS)
    def tokens(self) -> list[Token | None]:
        """The token of each id; None for a hole."""
        blob, has_forms = self.section(Tag.BYTES) or b"", self.section(Tag.DECODER) is not None
        records = np.frombuffer(self.section(Tag.RECORDS) or b"", layout.RECORD)
        ends = records["offset"].astype(np.uint64) + records["length"]
        outside = np.flatnonzero((ends > len(blob)) & (records["flags"] & 3 != 0))
        if len(outside):
            raise self.damaged(Tag.RECORDS, f"the bytes of id {outside[0]} are not in BYTS")
        return [_token(blob, has_forms, *record) for record in records.tolist()]

    @reads(Tag.DECODER)
    def decoding(self) -> Fact:
        section = self.section(Tag.DECODER)
        rules = layout.Decoder.parse(section or bytes(layout.Decoder.sizeof()))
        by_content = "content" if rules.flags & DecoderFlag.FIRST_BY_CONTENT else "id"
        return {
            "byte_fallback": bool(rules.flags & DecoderFlag.BYTE_FALLBACK),
            "fallback_by_character": bool(rules.flags & DecoderFlag.BY_CHARACTER),
            "first_is": "text" if rules.flags & DecoderFlag.FIRST_BY_TEXT else by_content,
            "edits": self.digest(Tag.EDITS),
            "stripped": [chr(rules.strip_left)] if rules.strip_left else [],
        }

    @property
    def ranks(self) -> npt.NDArray[np.uint32]:
        """The rank of each id's merge; the ids themselves if they are in that order."""
        ranks = self.tokenizer.ranks
        return np.arange(self.header.id_count, dtype=np.uint32) if ranks is None else ranks

    @reads(Tag.ADDED_TOKENS)
    def added_tokens(self) -> tuple[AddedToken, ...]:
        return self.tokenizer.added_tokens

    @reads(Tag.SPECIAL_IDS)
    def special_ids(self) -> SpecialIds:
        return self.tokenizer.special_ids

    @reads(Tag.TEMPLATE)
    def templates(self) -> tuple[list[Fact], list[Fact]]:
        """The items around one text, and those around a pair."""
        section = self.section(Tag.TEMPLATE)
        if section is None:
            first, second = ({"sequence": "AB"[n], "id": None, "type_id": n} for n in (0, 1))
            return [first], [first, second]
        header, start = layout.TemplateHeader.parse(section), layout.TemplateHeader.sizeof()
        count = header.single_count + header.pair_count
        items: list[Fact] = []
        rows = np.frombuffer(section, layout.TEMPLATE_ITEM, count, start)
        for kind, id, type_id in rows.tolist():
            if kind == layout.ItemKind.ID and self.tokens[id] is None:
                raise self.damaged(Tag.TEMPLATE, f"no token has the id {id}")
            sequence = {layout.ItemKind.SEQUENCE_A: "A", layout.ItemKind.SEQUENCE_B: "B"}.get(kind)
            items.append({"sequence": sequence, "id": None if sequence else id, "type_id": type_id})
        return items[: header.single_count], items[header.single_count :]

    @reads(Tag.PAIR_INDEX)
    def merges(self) -> npt.NDArray[np.uint64]:
        """The merges, sorted, as rows of (left, right, merged id)."""
        section = self.section(Tag.PAIR_INDEX)
        if section is None:
            return np.zeros((0, 3), np.uint64)
        header, start = layout.PairIndexHeader.parse(section), layout.PairIndexHeader.sizeof()
        slots = np.frombuffer(section, layout.PAIR_SLOT, header.slot_count, start)
        used = np.sort(slots[slots != 0xFFFFFFFFFFFFFFFF])
        bits, mask = np.uint64(layout.ID_BITS), np.uint64((1 << layout.ID_BITS) - 1)
        merges = np.stack([used >> bits * np.uint64(2), used >> bits & mask, used & mask], axis=1)
        wrong = merges[merges >= self.header.id_count]
        if len(wrong):
            problem = f"a merge uses the id {wrong[0]}, which does not exist"
            raise self.damaged(Tag.PAIR_INDEX, problem)
        return merges

    @reads(Tag.SPLITS)
    def stages(self) -> list[Fact]:
        section = self.section(Tag.SPLITS)
        if section is None:
            return []
        count = layout.SplitsHeader.parse(section).stage_count
        stages = Array(count, layout.Stage).parse(section[layout.SplitsHeader.sizeof() :])
        return [self._stage(section, stage) for stage in stages]

    def _stage(self, section: bytes, stage: Container[Any]) -> Fact:
        rewrites = bool(stage.flags & StageFlag.REWRITE)
        end = stage.transitions_offset + (stage.state_count * 2 << stage.row_shift)
        behavior = layout.StageBehavior(stage.behavior).name.lower()
        return {
            "behavior": "rewrite" if rewrites else behavior,
            "invert": bool(stage.flags & StageFlag.INVERT),
            "on_bytes": bool(stage.flags & StageFlag.ON_BYTES),
            "classes": stage.class_count,
            "states": stage.state_count,
            "tables": None if rewrites else _crc(section[stage.classes_offset : end]),
            "operations": self._operations(stage.first_op, stage.op_count),
        }


def _token(blob: bytes, has_forms: bool, offset: int, length: int, flags: int) -> Token | None:
    """The token of a record; None for a hole. ValueError for a surface form outside BYTS."""
    if not flags & RecordFlag.KIND_MASK:
        return None
    content = blob[offset : offset + length]
    kind = KINDS[RecordFlag(flags & RecordFlag.KIND_MASK)]
    special = bool(flags & RecordFlag.SPECIAL)
    if not has_forms:
        return Token(content, kind, special)
    begin = offset + RecordFlag.FIRST_SKIP.get(flags) - RecordFlag.FIRST_MORE.get(flags)
    end = offset + length - RecordFlag.LAST_SKIP.get(flags)
    if begin < 0 or end < offset or begin > offset + length:
        raise ValueError("a surface form of a token is outside the section BYTS")
    forms = blob[begin : offset + length], blob[offset:end]
    first, last = (None if form == content else form for form in forms)
    return Token(content, kind, special, first, last, bool(flags & RecordFlag.FALLBACK))


def _operation(section: bytes, op: Container[Any]) -> Fact:
    kind = layout.OpKind(op.kind)
    content = section[op.content_offset : op.content_offset + op.content_size]
    table = section[op.table_offset : op.table_offset + op.table_size]
    name = kind.name.lower()
    if kind is layout.OpKind.FORM:
        name = layout.NormalFormCode(layout.FormHeader.parse(table).form).name
    flags = _names(layout.OpFlag, op.flags)
    shown = {"kind": name, "flags": flags, "content": escape(content)}
    return {**shown, "table": _crc(table) if table else None}


def _names(flags: type[IntFlag], value: int) -> list[str]:
    names = [name for name, flag in flags.__members__.items() if flag & value]
    return [name.lower().replace("_", " ") for name in names]


def _crc(table: bytes) -> str:
    return f"{zlib.crc32(table):08x}"


def refuse_options(source: str, how: Mapping[str, Any]) -> None:
    """Raises SourceError for options that only sources take, not a tokexport file."""
    for name, value in how.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            problem = f"{source}: {option} is for sources, and this is a tokexport file"
            raise SourceError(problem, "leave it out")


def opened(source: str, how: Mapping[str, Any]) -> Contents:
    """Opens a tokexport file. Raises SourceError for options that only sources take."""
    refuse_options(source, how)
    return Contents(source)


def converted(source: str, how: Mapping[str, Any], options: Options | None = None) -> bytes:
    """Converts a source in memory, without a self test; ``options`` may leave out more."""
    from tokexport.conversion import file_bytes
    from tokexport.sources.registry import open_source

    opened = open_source(source, **how)
    with opened.input.naming_the_file():
        return file_bytes(opened.read(), options)
