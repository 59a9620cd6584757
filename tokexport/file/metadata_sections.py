"""The sections that no id depends on: roles of ids, provenance, self test, frame of a template."""

import json
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

import tokexport.file.layout as layout
from tokexport.chat.frame import Frame, marks
from tokexport.compiler.tables import SelfTestCase, Tables
from tokexport.file.layout import NONE
from tokexport.file.pack import struct
from tokexport.version import __version__

_SIZES = [field.name for field in layout.FrameHeader.subcons][4:]


def special_ids(tables: Tables) -> bytes | None:
    """SPID, or None if no id has a role."""
    value = tables.model.special_ids
    if value == type(value)():
        return None
    roles = {"bos": value.bos, "eos": value.eos, "pad": value.pad, "unk": value.unk}
    header = struct(
        layout.SpecialIdsHeader,
        stop_count=len(value.stop),
        **{name: NONE if role is None else role for name, role in roles.items()},
    )
    return header + np.array(value.stop, "<u4").tobytes()


def provenance(tables: Tables, reference_version: str | None) -> bytes:
    """PROV: JSON with sorted keys and no spaces."""
    reference = tables.model.reference.value
    if reference_version is not None:
        reference = f"{reference} {reference_version}"
    found: dict[str, Any] = {
        "exporter": f"tokexport {__version__}",
        "reference": reference,
        "sha256": {_utf8(name): each for name, each in tables.model.provenance.sha256.items()},
        "source": _utf8(tables.model.provenance.source),
    }
    chat = tables.model.chat
    settings = {"templates": dict(chat.named), "variables": dict(chat.variables)}
    if stored := {name: value for name, value in settings.items() if value}:
        found["chat"] = stored
    return json.dumps(found, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _utf8(name: str) -> str:
    """The name of a file, with ``?`` for bytes that are not UTF-8."""
    return name.encode(errors="replace").decode()


def self_test(cases: Sequence[SelfTestCase]) -> bytes:
    """TEST."""
    records = np.zeros(len(cases), layout.SELF_TEST_CASE)
    ids: list[int] = []
    text = bytearray()
    for index, case in enumerate(cases):
        content = case.text.encode()
        flags = layout.CaseFlag.SPECIAL * case.special
        records[index] = (len(text), len(content), len(ids), len(case.ids), flags)
        ids.extend(case.ids)
        text += content
    header = struct(
        layout.SelfTestHeader, case_count=len(cases), id_count=len(ids), text_size=len(text)
    )
    return header + records.tobytes() + np.array(ids, "<u4").tobytes() + bytes(text)


def frame(value: Frame | None, special: Collection[str]) -> bytes | None:
    """FRAM, or None if there is no frame. ``special``: the special tokens."""
    if value is None:
        return None
    offsets = marks(value.texts, special)
    texts = [text.encode() for text in (*value.texts, *value.reserved)]
    sizes = [len(text) for text in texts]
    reserved = sizes[len(_SIZES) :]
    flags = [layout.FrameFlag[f"STRIP_{role.upper()}"] for role in value.stripped]
    flags += [layout.FrameFlag[f"TRIMMED_{role.upper()}"] for role in value.trimmed]
    flags += [layout.FrameFlag.HAS_SYSTEM] * (value.system is not None)
    flags += [layout.FrameFlag.TAKES_EMPTY] * value.takes_empty
    header = struct(
        layout.FrameHeader,
        flags=sum(flags),
        mark_count=len(offsets),
        reserved_count=len(reserved),
        text_size=sum(sizes),
        **dict(zip(_SIZES, sizes, strict=False)),
    )
    numbers = np.array(offsets, layout.FRAME_MARK).tobytes()
    return header + numbers + np.array(reserved, layout.RESERVED_SIZE).tobytes() + b"".join(texts)
