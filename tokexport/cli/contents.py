"""What a tokexport file holds, for a person to look at: header, sections, stages, merges.

Reads by the declarations of :mod:`tokexport.file.layout`. The file has been opened by the runtime
before, which has checked it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from construct import Array, Container

import tokexport.file.layout as layout
from tokexport.cli.decoding import read_decoding, read_token
from tokexport.escape import escape
from tokexport.file.layout import (
    AddedFlag,
    HeaderFlag,
    ModelType,
    SectionFlag,
    StageBehavior,
    StageFlag,
    SymbolUnit,
    Tag,
)
from tokexport.model import AddedToken, Decoding, SpecialIds, Template, TemplateItem, Token

MODELS: Mapping[ModelType, str] = {
    ModelType.BPE: "BPE",
    ModelType.UNIGRAM: "Unigram",
    ModelType.WORDPIECE: "WordPiece",
    ModelType.WORDLEVEL: "WordLevel",
    ModelType.GREEDY: "greedy, the longest token at each place",
}
MEANINGS: Mapping[bytes, str] = {
    Tag.RECORDS: "where each id's bytes are, its kind and flags",
    Tag.BYTES: "the tokens' bytes",
    Tag.DECODER: "what decoding does besides joining bytes",
    Tag.EDITS: "what decoding changes in the joined text",
    Tag.SCORES: "a score for each id",
    Tag.DOUBLE_SCORES: "a score for each id, in double precision",
    Tag.RANKS: "a rank for each id",
    Tag.BYTE_IDS: "the id of each single byte",
    Tag.CHARACTERS: "the symbol of each character",
    Tag.KEYS: "what is looked up, where that is not what a token stands for",
    Tag.TOKEN_INDEX: "bytes to id",
    Tag.PAIR_INDEX: "merges: a pair of ids to an id",
    Tag.PAIR_GRID: "merges of two ASCII characters",
    Tag.TRIE: "the vocabulary as a trie",
    Tag.CROSSINGS: "characters between which no merge joins",
    Tag.SPLITS: "the pre-tokenizer's programs",
    Tag.CUTS: "places where a text may be cut",
    Tag.NORMALIZER: "what rewrites a text before it is split, and pieces",
    Tag.ADDED_TOKENS: "added and special tokens",
    Tag.ADDED_CLASSES: "white space and words, for added tokens",
    Tag.TEMPLATE: "the post-processor's template",
    Tag.TRIMMING: "white space that spans leave out",
    Tag.UNUSED: "what unused tokens are taken apart to",
    Tag.ALIGNMENT: "how spans follow the normalizer",
    Tag.SPECIAL_IDS: "ids with a role",
    Tag.CHAT_TEMPLATE: "the chat template",
    Tag.PROVENANCE: "where the file came from",
    Tag.SELF_TEST: "texts with the reference's ids",
}


@dataclass(frozen=True, slots=True)
class SectionEntry:
    """One line of the section table. ``offset`` and ``size`` are in bytes."""

    tag: str
    offset: int
    size: int
    required: bool
    meaning: str


def _operation(section: bytes, op: Container[Any]) -> str:
    kind = layout.OpKind(op.kind)
    content = section[op.content_offset : op.content_offset + op.content_size]
    table = section[op.table_offset : op.table_offset + op.table_size]
    if kind is layout.OpKind.FORM:
        return layout.NormalFormCode(layout.FormHeader.parse(table).form).name
    flags = [
        name.lower().replace("_", " ")
        for name, flag in layout.OpFlag.__members__.items()
        if flag & op.flags
    ]
    words = [kind.name.lower(), *flags]
    return " ".join([*words, f'"{escape(content)}"'] if content else words)


@dataclass(frozen=True, slots=True)
class RewritingStage:
    """A stage that rewrites each piece."""

    operations: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(self.operations)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the pre-tokenizer. ``tables``: its classes, start states and transitions, as
    bytes.
    """

    behavior: str
    invert: bool
    on_bytes: bool
    class_count: int
    state_count: int
    tables: bytes

    def __str__(self) -> str:
        words = [
            self.behavior,
            "inverted" if self.invert else "",
            "on bytes" if self.on_bytes else "",
        ]
        return (
            f"{' '.join(filter(None, words))}, {self.class_count} classes, {self.state_count}"
            " states"
        )


class Contents:
    """A file's header and sections.

    >>> contents = Contents.of(directory / "example.bin")
    >>> contents.header.id_count, len(contents.merges())
    (301, 9)
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.header: Container[Any] = layout.Header.parse(data)
        table = Array(self.header.section_count, layout.Section).parse(
            data[layout.Header.sizeof() :]
        )
        self.sections = tuple(
            SectionEntry(
                entry.tag.decode("ascii", "backslashreplace"),
                entry.offset,
                entry.size,
                bool(entry.flags & SectionFlag.REQUIRED),
                MEANINGS.get(entry.tag, "not known to this version"),
            )
            for entry in table
        )

    @classmethod
    def of(cls, path: Path) -> Contents:
        """Reads a file."""
        return cls(path.read_bytes())

    def section(self, tag: bytes) -> bytes | None:
        """The bytes of a section, or None where the file has none."""
        for entry in self.sections:
            if entry.tag == tag.decode():
                return self.data[entry.offset : entry.offset + entry.size]
        return None

    def _section(self, tag: bytes) -> bytes:
        section = self.section(tag)
        assert section is not None, tag  # the runtime has refused a file without it
        return section

    @property
    def encodes(self) -> bool:
        """Whether it is more than a table for decoding."""
        return self.section(Tag.TOKEN_INDEX) is not None or self.section(Tag.TRIE) is not None

    @property
    def model(self) -> str:
        """The model, in words; for BPE also what its first symbols are."""
        model = ModelType(self.header.model)
        if model is not ModelType.BPE or not self.encodes:
            return MODELS[model]
        section = self.section(Tag.CHARACTERS)
        unit = None if section is None else layout.CharactersHeader.parse(section).unit
        return f"{MODELS[model]} over {'characters' if unit == SymbolUnit.CHARACTER else 'bytes'}"

    @property
    def flags(self) -> list[str]:
        """The header's flags, in words."""
        return [
            flag.name.lower().replace("_", " ")
            for flag in HeaderFlag
            if flag & self.header.flags and flag.name
        ]

    @property
    def normalizer(self) -> str | None:
        """The operations of the normalizer, or None."""
        return ", ".join(self._operations(0, self._rewriting().normalizer_count)) or None

    def _rewriting(self) -> Container[Any]:
        empty = layout.RewriteHeader.build({"op_count": 0, "normalizer_count": 0, "reserved": None})
        return layout.RewriteHeader.parse(self.section(Tag.NORMALIZER) or empty)

    def _operations(self, first: int, count: int) -> list[str]:
        """Some operations of NORM, in words."""
        section = self.section(Tag.NORMALIZER) or b""
        start = layout.RewriteHeader.sizeof() + layout.RewriteOp.sizeof() * first
        return [
            _operation(section, op) for op in Array(count, layout.RewriteOp).parse(section[start:])
        ]

    def tokens(self) -> list[Token | None]:
        """Every id's token; None is a hole."""
        blob, has_forms = self._section(Tag.BYTES), self.section(Tag.DECODER) is not None
        return [
            read_token(blob, offset, length, flags, has_forms)
            for offset, length, flags in np.frombuffer(
                self._section(Tag.RECORDS), layout.RECORD
            ).tolist()
        ]

    @property
    def decoding(self) -> Decoding:
        """What decoding does besides joining what tokens stand for."""
        return read_decoding(self.section(Tag.DECODER))

    def ranks(self) -> npt.NDArray[np.uint32]:
        """The rank of the merge that makes each id; the ids themselves where they are in that
        order.
        """
        section = self.section(Tag.RANKS)
        return (
            np.arange(self.header.id_count, dtype=np.uint32)
            if section is None
            else np.frombuffer(section, layout.RANK)
        )

    def scores(self) -> npt.NDArray[np.float32] | None:
        """The score of each id, or None where the file has none."""
        section = self.section(Tag.SCORES)
        return None if section is None else np.frombuffer(section, layout.SCORE)

    def added_tokens(self) -> list[AddedToken]:
        """The added tokens, in the file's order."""
        section = self.section(Tag.ADDED_TOKENS)
        if section is None:
            return []
        header = layout.AddedHeader.parse(section)
        rows = np.frombuffer(
            section, layout.ADDED_TOKEN, header.token_count, layout.AddedHeader.sizeof()
        ).tolist()
        text = section[len(section) - header.text_size :]
        return [
            AddedToken(
                token_id,
                text[offset : offset + length].decode("utf-8", "replace"),
                special=bool(flags & AddedFlag.SPECIAL),
                single_word=bool(flags & AddedFlag.SINGLE_WORD),
                lstrip=bool(flags & AddedFlag.LSTRIP),
                rstrip=bool(flags & AddedFlag.RSTRIP),
                normalized=bool(flags & AddedFlag.NORMALIZED),
            )
            for token_id, offset, length, flags in rows
        ]

    def special_ids(self) -> SpecialIds:
        """The ids with a role."""
        section = self.section(Tag.SPECIAL_IDS)
        if section is None:
            return SpecialIds()
        header = layout.SpecialIdsHeader.parse(section)
        roles = {
            name: None if header[name] == layout.NONE else header[name]
            for name in ("bos", "eos", "pad", "unk")
        }
        stop = np.frombuffer(
            section, "<u4", header.stop_count, layout.SpecialIdsHeader.sizeof()
        ).tolist()
        return SpecialIds(**roles, stop=tuple(stop))

    def template(self) -> Template:
        """What the post-processor puts around one text and around a pair."""
        section = self.section(Tag.TEMPLATE)
        if section is None:
            return Template()
        header = layout.TemplateHeader.parse(section)
        rows = np.frombuffer(
            section,
            layout.TEMPLATE_PIECE,
            header.single_count + header.pair_count,
            layout.TemplateHeader.sizeof(),
        )
        names = {layout.PieceKind.SEQUENCE_A: "A", layout.PieceKind.SEQUENCE_B: "B"}
        pieces = tuple(
            (
                TemplateItem(id=piece_id, type_id=type_id)
                if kind == layout.PieceKind.ID
                else TemplateItem(sequence=names[kind], type_id=type_id)
            )
            for kind, piece_id, type_id in rows.tolist()
        )
        return Template(pieces[: header.single_count], pieces[header.single_count :])

    def merges(self) -> npt.NDArray[np.uint64]:
        """The merges, sorted, as rows of (left, right, product)."""
        section = self.section(Tag.PAIR_INDEX)
        if section is None:
            return np.zeros((0, 3), np.uint64)
        header = layout.PairIndexHeader.parse(section)
        slots = np.frombuffer(
            section, layout.PAIR_SLOT, header.slot_count, layout.PairIndexHeader.sizeof()
        )
        used = np.sort(slots[slots != 0xFFFFFFFFFFFFFFFF])
        bits, mask = np.uint64(layout.ID_BITS), np.uint64((1 << layout.ID_BITS) - 1)
        return np.stack([used >> bits * np.uint64(2), used >> bits & mask, used & mask], axis=1)

    def stages(self) -> list[Stage | RewritingStage]:
        """The pre-tokenizer's stages, in their order."""
        section = self.section(Tag.SPLITS)
        if section is None:
            return []
        count = layout.SplitsHeader.parse(section).stage_count
        stages = Array(count, layout.Stage).parse(section[layout.SplitsHeader.sizeof() :])
        return [
            (
                RewritingStage(tuple(self._operations(stage.first_op, stage.op_count)))
                if stage.flags & StageFlag.REWRITE
                else Stage(
                    StageBehavior(stage.behavior).name.lower().replace("_", " "),
                    bool(stage.flags & StageFlag.INVERT),
                    bool(stage.flags & StageFlag.ON_BYTES),
                    stage.class_count,
                    stage.state_count,
                    section[
                        stage.classes_offset : stage.transitions_offset
                        + (stage.state_count * 2 << stage.row_shift)
                    ],
                )
            )
            for stage in stages
        ]
