"""Refused files whose fault is in NORM: one operation, valid except for one thing."""

from __future__ import annotations

from sections import contents_of, file_of

from tokexport.file.layout import (
    CharsmapHeader,
    FormHeader,
    Header,
    MapHeader,
    OpFlag,
    OpKind,
    RewriteHeader,
    RewriteOp,
    Stage,
    Tag,
)

LEVELS = 544  # the first level of the tables of FORM and MAP
ASCII = 128


def refused_operations(good: bytes) -> dict[str, bytes]:
    """Every refused file, by its name: smallest-decode.bin with a NORM, which is checked in that
    file, too.
    """
    header, contents = Header.parse(good), contents_of(good)
    return {
        f"{name}.bin": file_of(header, contents | {Tag.NORMALIZER: section})
        for name, section in _sections().items()
    }


def _sections() -> dict[str, bytes]:
    form = {
        "form": 0,
        "middle_count": 0,
        "leaf_count": 0,
        "entry_count": 0,
        "point_count": 0,
        "composition_count": 0,
    }
    levels = {"middle_count": 0, "leaf_count": 0, "entry_count": 0, "text_size": 0, "skip_leads": 0}
    sequences = {
        "unit_count": 1,
        "node_count": 0,
        "edge_count": 0,
        "program_size": 0,
        "text_size": 0,
    }
    sequences["first_plain"] = 0
    empty_form = FormHeader.build(form) + bytes(LEVELS)
    empty_map = bytes(ASCII + LEVELS)
    one_unit = bytes(4 + 8)  # and the node after the last one
    return {
        "SECTION_SIZE-operations": _operation(op_count=2, content=b"_"),
        "SPLITS-normalizer-count": _operation(normalizer_count=2, content=b"_"),
        "SPLITS-operation-kind": _operation(kind=6, content=b"_"),
        "SPLITS-operation-flag": _operation(flags=OpFlag.BY_CLUSTER, content=b"_"),
        "SPLITS-operation-flag-of-another-kind": _operation(
            kind=OpKind.FORM, flags=OpFlag.APPEND, table=empty_form
        ),
        "SPLITS-operation-reserved": _reserved(_operation(content=b"_")),
        "SPLITS-operation-content-outside": _operation(content=b"_", content_size=2),
        "SPLITS-operation-content-misaligned": _operation(
            content=b"____", content_offset=49, content_size=3
        ),
        "SPLITS-operation-content-no-text": _operation(content=b"\xff"),
        "SPLITS-operation-table-outside": _operation(
            kind=OpKind.FORM, table=empty_form, table_size=len(empty_form) + 4
        ),
        "SPLITS-affix-with-a-table": _operation(table=bytes(4)),
        "SPLITS-form-unknown": _operation(
            kind=OpKind.FORM, table=FormHeader.build({**form, "form": 4}) + bytes(LEVELS)
        ),
        "SPLITS-form-size": _operation(
            kind=OpKind.FORM, table=FormHeader.build({**form, "point_count": 1}) + bytes(LEVELS)
        ),
        "SPLITS-form-too-short": _operation(kind=OpKind.FORM, table=FormHeader.build(form)[:16]),
        "SPLITS-bytes-with-a-table": _operation(kind=OpKind.BYTES, table=bytes(4)),
        "SPLITS-bytes-with-a-flag": _operation(kind=OpKind.BYTES, flags=OpFlag.APPEND),
        "SPLITS-map-size": _operation(
            kind=OpKind.MAP, table=MapHeader.build({**levels, "entry_count": 1}) + empty_map
        ),
        "SPLITS-map-too-short": _operation(kind=OpKind.MAP, table=MapHeader.build(levels)[:8]),
        "SPLITS-replace-on-bytes": _operation(kind=OpKind.REPLACE, table=_program()),
        "SPLITS-replace-too-short": _operation(kind=OpKind.REPLACE, table=_program()[:20]),
        "SPLITS-charsmap-size": _operation(
            kind=OpKind.CHARSMAP,
            table=CharsmapHeader.build({**sequences, "unit_count": 2}) + one_unit,
        ),
        "SPLITS-charsmap-no-units": _operation(
            kind=OpKind.CHARSMAP,
            table=CharsmapHeader.build({**sequences, "unit_count": 0}) + one_unit[4:],
        ),
        "SPLITS-charsmap-program": _operation(
            kind=OpKind.CHARSMAP,
            table=CharsmapHeader.build({**sequences, "program_size": 4}) + one_unit + bytes(4),
        ),
        "SPLITS-charsmap-plain-without-program": _operation(
            kind=OpKind.CHARSMAP,
            table=CharsmapHeader.build({**sequences, "first_plain": 1}) + one_unit,
        ),
        "SPLITS-charsmap-no-program": _operation(
            kind=OpKind.CHARSMAP,
            flags=OpFlag.BY_CLUSTER,
            table=CharsmapHeader.build(sequences) + one_unit,
        ),
        "SPLITS-charsmap-too-short": _operation(
            kind=OpKind.CHARSMAP, table=CharsmapHeader.build(sequences)[:16]
        ),
        "SPLITS-form-reserved": _operation(
            kind=OpKind.FORM, table=empty_form[:24] + b"\1" + empty_form[25:]
        ),
        "SPLITS-form-with-a-content": _operation(kind=OpKind.FORM, table=empty_form, content=b"_"),
        "SPLITS-replace-removes": _operation(
            kind=OpKind.REPLACE, table=_program(flags=0, behavior=1)
        ),
        "SPLITS-charsmap-flags": _clusters(flags=OpFlag.BY_CLUSTER | OpFlag.APPEND),
        "SPLITS-charsmap-clusters-protected": _clusters(node_count=1),
        "SPLITS-charsmap-clusters-removed": _clusters(program=_program(flags=0, behavior=1)),
        "SPLITS-charsmap-clusters-inverted": _clusters(program=_program(flags=1)),
        "SPLITS-charsmap-clusters-noted": _clusters(
            program=_program(flags=0, memo_count=1, state_count=2)
        ),
        "SPLITS-charsmap-plain": _clusters(first_plain=2),
    }


def _clusters(
    *, flags: int = OpFlag.BY_CLUSTER, program: bytes | None = None, **fields: int
) -> bytes:
    """CHARSMAP by cluster, valid except for the fields given."""
    code = _program(flags=0) if program is None else program
    counts = {"unit_count": 1, "node_count": 0, "edge_count": 0, "program_size": len(code)}
    counts |= {"text_size": 0, "first_plain": 0, **fields}
    table = CharsmapHeader.build(counts) + bytes(4 + 8 * (counts["node_count"] + 1)) + code
    return _operation(kind=OpKind.CHARSMAP, flags=flags, table=table)


def _operation(*, table: bytes = b"", content: bytes = b"", **changes: int) -> bytes:
    """NORM with one operation; ``changes``: other values for fields of the header or of the
    operation.
    """
    header = {"op_count": 1, "normalizer_count": 1, "reserved": None}
    start = RewriteHeader.sizeof() + RewriteOp.sizeof()
    fields = {
        "kind": OpKind.AFFIX,
        "flags": 0,
        "growth": 1,
        "extra": 0,
        "reserved": None,
        "reserved2": None,
    }
    fields |= {"table_offset": start, "table_size": len(table)}
    fields |= {"content_offset": start + len(table), "content_size": len(content)}
    header |= {name: value for name, value in changes.items() if name in header}
    fields |= {name: value for name, value in changes.items() if name in fields}
    return bytes(RewriteHeader.build(header) + RewriteOp.build(fields)) + table + content


def _reserved(section: bytes) -> bytes:
    """Sets a reserved byte of the operation."""
    at = RewriteHeader.sizeof() + 2
    return section[:at] + b"\1" + section[at + 1 :]


def _program(**changes: int) -> bytes:
    """A program that matches nothing, which is a valid stage: on bytes, or on characters if
    ``flags`` say so.
    """
    on_bytes = changes.get("flags", 2) & 2
    classes = bytes(256 if on_bytes else ASCII + LEVELS + 128 + 64)
    blocks = {"middle_count": not on_bytes, "leaf_count": not on_bytes}
    names = [field.name for field in Stage.subcons if field.name != "reserved"]
    fields = {**dict.fromkeys(names, 0), "flags": 2, "class_count": 1, "state_count": 1}
    fields |= {"row_shift": 1, **blocks, **changes, "classes_offset": Stage.sizeof()}
    fields["starts_offset"] = Stage.sizeof() + len(classes)
    fields["transitions_offset"] = fields["starts_offset"] + 4
    transitions = bytes(2 * (fields["state_count"] << fields["row_shift"]))
    return bytes(Stage.build({**fields, "reserved": None})) + classes + bytes(4) + transitions
