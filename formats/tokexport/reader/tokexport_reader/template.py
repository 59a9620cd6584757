"""The template: what is added around one text or two (SPEC 3.7)."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from .added_tokens import ALL
from .data import require, u32s
from .encode import encode
from .file import File

ID, SEQUENCE_A, SEQUENCE_B = range(3)


@dataclass(frozen=True)
class Item:
    """One item of a template."""

    kind: int
    id: int
    type_id: int


def template(file: File, *, pair: bool) -> list[Item]:
    """The items of the template for one text, or for two."""
    if b"POST" not in file.sections:
        return [Item(SEQUENCE_A, 0, 0), Item(SEQUENCE_B, 0, 1)][: 1 + pair]
    section = file.sections[b"POST"]
    single_count, pair_count = u32s(section, 0, 2)
    items = [Item(*u32s(section, 8 + 12 * at, 3)) for at in range(single_count + pair_count)]
    for item in items:
        require(item.kind in (ID, SEQUENCE_A, SEQUENCE_B), "TKX_E_CORRUPT")
        require(item.kind != ID or item.id < file.header.id_count, "TKX_E_CORRUPT")
    return items[single_count:] if pair else items[:single_count]


def encode_with_template(
    file: File,
    text: bytes,
    pair: bytes | None = None,
    allowed: Container[int] = ALL,
    *,
    special: bool = True,
) -> tuple[list[int], list[int]]:
    """The ids of one text or two with their template, and the type id of each; ``special``: include
    the ids that the template adds.
    """
    sequences = {SEQUENCE_A: encode(file, text, allowed)}
    if pair is not None:
        sequences[SEQUENCE_B] = encode(file, pair, allowed)
    ids: list[int] = []
    type_ids: list[int] = []
    for item in template(file, pair=pair is not None):
        if item.kind == ID and not special:
            continue
        added = [item.id] if item.kind == ID else sequences[item.kind]
        ids += added
        type_ids += [item.type_id] * len(added)
    return ids, type_ids
