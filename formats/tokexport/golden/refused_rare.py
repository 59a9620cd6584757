"""Refused files whose fault is in something that few files have, or in an excessive number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sections import contents_of, file_of

from tokexport.file.layout import (
    AddedFlag,
    AddedHeader,
    CharactersHeader,
    Header,
    LabelTable,
    ModelType,
    OpKind,
    RewriteHeader,
    RewriteOp,
    SplitsHeader,
    Stage,
    StageFlag,
    SymbolUnit,
    Tag,
    TrieHeader,
)

Contents = dict[bytes, bytes]
ON_BYTES, REWRITE = StageFlag.ON_BYTES, StageFlag.REWRITE


def refused_rare(decode: bytes, bpe: bytes) -> dict[str, bytes]:
    """Every refused file, by its name."""
    header = Header.parse(bpe)
    files = {
        name: _file(header, contents_of(bpe) | sections) for name, sections in _encoders().items()
    }
    files |= {
        name: _file(header, contents_of(decode) | sections, ModelType.UNIGRAM)
        for name, sections in _unigrams().items()
    }
    files |= {
        f"SECTION_SIZE-{name}": _file(header, contents_of(decode) | sections)
        for name, sections in _sizes().items()
    }
    files["MISSING-classes"] = _file(header, contents_of(bpe) | {Tag.ADDED_TOKENS: _stripping()})
    files["HEADER-65-sections"] = _many_sections(decode)
    return {f"{name}.bin": content for name, content in files.items()}


def _encoders() -> dict[str, Contents]:
    """Sections put into smallest-bpe.bin."""
    one_operation = _operations(1)
    rewriting = {"flags": REWRITE, "op_count": 1}
    labels = [{"stage": 0}, {"stage": 1}]
    tables = CharactersHeader.build(
        {"unit": SymbolUnit.CHARACTER, "place_count": 1, "middle_count": 1, "leaf_count": 1}
    )
    characters = tables + bytes(544 + 128) + b"\xff" * 256
    return {
        "SECTION_SIZE-sorted": {Tag.SORTED_IDS: bytes(8)},
        "SPLITS-seventeen-stages": {Tag.SPLITS: _stages(*[{}] * 17)},
        "SPLITS-255-classes": {Tag.SPLITS: _stages({"class_count": 255, "row_shift": 8})},
        "SPLITS-4097-states": {Tag.SPLITS: _stages({"state_count": 4097})},
        "SPLITS-many-states-in-all": {Tag.SPLITS: _stages(*[{"state_count": 800}] * 16)},
        "SPLITS-row-of-512": {Tag.SPLITS: _stages({"row_shift": 9})},
        "SPLITS-stage-unknown-flag": {Tag.SPLITS: _stages({"flags": ON_BYTES | 32})},
        "SPLITS-bytes-of-characters": {Tag.SPLITS: _stages({}), Tag.CHARACTERS: characters},
        "SPLITS-labels-in-another-order": {
            Tag.SPLITS: _stages({}, {}),
            Tag.LABELS: _labels(*labels[::-1]),
        },
        "SPLITS-labels-misaligned-within": {
            Tag.SPLITS: _stages({}),
            Tag.LABELS: _labels({"offset": 18}) + bytes(4),
        },
        "SPLITS-labels-of-a-rewriting-stage": {
            Tag.NORMALIZER: one_operation,
            Tag.SPLITS: _rewriting(rewriting),
            Tag.LABELS: _labels({"stage": 0}),
        },
        "SPLITS-rewriting-inverted": {
            Tag.NORMALIZER: one_operation,
            Tag.SPLITS: _rewriting(rewriting | {"flags": REWRITE | StageFlag.INVERT}),
        },
        "SPLITS-rewriting-with-states": {
            Tag.NORMALIZER: one_operation,
            Tag.SPLITS: _rewriting(rewriting | {"state_count": 1}),
        },
        "SPLITS-rewriting-by-two-of-one": {
            Tag.NORMALIZER: one_operation,
            Tag.SPLITS: _rewriting(rewriting | {"op_count": 2}),
        },
        "SPLITS-25-operations": {Tag.NORMALIZER: _operations(25)},
        "SPLITS-operations-reserved": {
            Tag.NORMALIZER: one_operation[:8] + b"\1" + one_operation[9:]
        },
    }


def _unigrams() -> dict[str, Contents]:
    """Sections put into smallest-decode.bin, whose model then is Unigram."""
    numbers = dict.fromkeys(("unit_count", "root", "continuation", "max_characters", "flags"), 0)
    trie = TrieHeader.build({**numbers, "unknown_score": 0.0, "reserved": None})
    no_stages = SplitsHeader.build({"stage_count": 0, "reserved": None})
    scores = bytes(4 * 3)
    return {
        "MISSING-scores": {Tag.TRIE: trie, Tag.SPLITS: no_stages},
        "SPLITS-bytes-of-unigram": {Tag.TRIE: trie, Tag.SPLITS: _stages({}), Tag.SCORES: scores},
    }


def _sizes() -> dict[str, Contents]:
    """Sections put into smallest-decode.bin, of another size than their header implies."""
    wrong = {
        "scores": (Tag.SCORES, 1),
        "double-scores": (Tag.DOUBLE_SCORES, 1),
        "ranks": (Tag.RANKS, 1),
        "keys": (Tag.KEYS, 1),
        "trie": (Tag.TRIE, 33),
        "decoder": (Tag.DECODER, 9),
        "template": (Tag.TEMPLATE, 9),
        "added-tokens": (Tag.ADDED_TOKENS, 97),
        "added-classes": (Tag.ADDED_CLASSES, 8),
        "trimming": (Tag.TRIMMING, 9),
        "alignment": (Tag.ALIGNMENT, 25),
        "special-ids": (Tag.SPECIAL_IDS, 21),
        "self-test": (Tag.SELF_TEST, 17),
    }
    levels, ascii_map = 544, 128 * 128 // 8
    heads: dict[str, tuple[Tag, tuple[int, ...], int]] = {
        "characters": (Tag.CHARACTERS, (1, 1, 0, 0), 0),
        "characters-without-levels": (Tag.CHARACTERS, (0, 1, 0, 0), 0),
        "characters-unit": (Tag.CHARACTERS, (2, 1, 0, 0), levels),
        "characters-places": (Tag.CHARACTERS, (1, 0, 0, 0), 0),
        "characters-of-bytes-with-blocks": (Tag.CHARACTERS, (1, 1, 1, 0), 1024),
        "crossings": (Tag.CROSSINGS, (0, 6), 0),
        "crossings-rule": (Tag.CROSSINGS, (4, 6), ascii_map + 8),
        "crossings-bits": (Tag.CROSSINGS, (0, 5), ascii_map + 4),
    }
    files: dict[str, Contents] = {name: {tag: bytes(size)} for name, (tag, size) in wrong.items()}
    files |= {
        name: {tag: b"".join(number.to_bytes(4, "little") for number in numbers) + bytes(size)}
        for name, (tag, numbers, size) in heads.items()
    }
    return files | {"edits": {Tag.DECODER: bytes(8), Tag.EDITS: bytes(273)}}


def _file(header: Any, contents: Contents, model: ModelType = ModelType.BPE) -> bytes:
    contents[Tag.RECORDS] = contents[Tag.RECORDS].ljust(8 * header.id_count, b"\0")
    return file_of(header, contents, model)


def _stages(*stages: Mapping[str, int]) -> bytes:
    """Stages on bytes with one class and one state, except for the fields given; their tables have
    the minimum size, and are shared.
    """
    good = {"flags": ON_BYTES, "class_count": 1, "state_count": 1, "row_shift": 1}
    fields = [{**good, **stage} for stage in stages]
    tables = SplitsHeader.sizeof() + Stage.sizeof() * len(stages)
    starts = tables + 256
    transitions = starts + 4 * -(-max(2 * (stage["class_count"] + 1) for stage in fields) // 4)
    size = max(2 * (stage["state_count"] << stage["row_shift"]) for stage in fields)
    offsets = {"classes_offset": tables, "starts_offset": starts, "transitions_offset": transitions}
    entries = b"".join(_stage(stage | offsets) for stage in fields)
    header = SplitsHeader.build({"stage_count": len(stages), "reserved": None})
    return bytes(header) + entries + bytes(transitions + size - tables)


def _rewriting(fields: Mapping[str, int]) -> bytes:
    """One stage without tables."""
    header = SplitsHeader.build({"stage_count": 1, "reserved": None})
    return bytes(header) + _stage(fields)


def _stage(fields: Mapping[str, int]) -> bytes:
    names = [field.name for field in Stage.subcons if field.name != "reserved"]
    return bytes(Stage.build({**dict.fromkeys(names, 0), **fields, "reserved": None}))


def _labels(*tables: Mapping[str, int]) -> bytes:
    """Label tables that share one entry."""
    good = {"stage": 0, "class_count": 1, "state_count": 1, "offset": 8 + 8 * len(tables)}
    entries = b"".join(bytes(LabelTable.build({**good, **table})) for table in tables)
    return len(tables).to_bytes(4, "little") + bytes(4) + entries + bytes(4)


def _operations(count: int) -> bytes:
    """Operations that put an empty text before a text."""
    names = [field.name for field in RewriteOp.subcons if "reserved" not in field.name]
    fields = dict.fromkeys(names, 0) | {"kind": OpKind.AFFIX}
    entry = bytes(RewriteOp.build({**fields, "reserved": None, "reserved2": None}))
    header = RewriteHeader.build({"op_count": count, "normalizer_count": 0, "reserved": None})
    return bytes(header) + entry * count


def _stripping() -> bytes:
    """ADDT without tokens, whose flags claim that some strip white space."""
    names = [field.name for field in AddedHeader.subcons if field.name != "reserved"]
    fields: dict[str, Any] = dict.fromkeys(names, 0)
    fields |= {"flags": AddedFlag.LSTRIP, "reserved": None}
    fields |= {"raw_starts": bytes(32), "normalized_starts": bytes(32)}
    return bytes(AddedHeader.build(fields)) + bytes(8 + 8)


def _many_sections(decode: bytes) -> bytes:
    """One section more than allowed, most of them empty and private."""
    private = {f"a{number:03}".encode(): b"" for number in range(63)}
    return _file(Header.parse(decode), contents_of(decode) | private)
