"""A slow, obvious decoder, written from section 5.7 of ``formats/tokexport/SPEC.md`` and from
nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from spec_reader import RECORD_SPECIAL, SpecFile, require

FALLBACK = 16
BYTE_FALLBACK, BY_CHARACTER, REPEATS_ONCE, FIRST_BY_CONTENT, FIRST_BY_TEXT = 1, 2, 4, 8, 16
DECODER_FLAGS = 31
READS_TOKENS = 1
REPLACEMENT = "\ufffd"


@dataclass
class Part:
    """What one id gives at its place; ``in_run``: it is a byte of a run, or belongs to none."""

    data: bytes
    in_run: bool


@dataclass
class Edits:
    """EDIT: the next state, what is written, and whether the byte is too."""

    classes: bytes
    class_count: int
    steps: list[tuple[int, bytes, bool]]
    ends: list[tuple[int, bytes, bool]]
    reads_tokens: bool

    def apply(self, parts: Sequence[Part]) -> list[bytes]:
        """What becomes of each part of a text."""
        state, written = 0, []
        for part in parts:
            out = b""
            if self.reads_tokens and not part.in_run:
                state, out, _ = self.steps[(state + 1) * self.class_count - 1]
            for byte in part.data:
                state, text, keeps = self.steps[state * self.class_count + self.classes[byte]]
                out += text + bytes([byte]) * keeps
            written.append(out)
        return [*written[:-1], written[-1] + self.ends[state][1]] if written else []


def read_rules(file: SpecFile) -> tuple[int, bytes]:
    """DECO: its flags, and the byte to strip."""
    flags, strip = struct.unpack("<2I", file.sections[b"DECO"])
    require(flags & ~DECODER_FLAGS == 0 and strip < 128, "TKX_E_CORRUPT")
    require(not flags & BY_CHARACTER or bool(flags & BYTE_FALLBACK), "TKX_E_CORRUPT")
    require(not (flags & FIRST_BY_CONTENT and flags & FIRST_BY_TEXT), "TKX_E_CORRUPT")
    return flags, bytes([strip]) if strip else b""


def read_edits(file: SpecFile) -> Edits | None:
    """EDIT, or None."""
    section = file.sections.get(b"EDIT")
    if section is None:
        return None
    states, class_count, flags, text_size, reserved = struct.unpack_from("<HHIII", section)
    require(states > 0 and flags <= READS_TOKENS and reserved == 0, "TKX_E_CORRUPT")
    require(1 <= class_count - flags <= 256, "TKX_E_CORRUPT")
    rules, strip = read_rules(file)
    require(not strip and (not flags or rules == BYTE_FALLBACK), "TKX_E_CORRUPT")
    classes, text = section[16:272], section[len(section) - text_size :]
    require(max(classes) < class_count - flags, "TKX_E_CORRUPT")
    edits = []
    for following, length, offset in struct.iter_unpack(
        "<HHI", section[272 : len(section) - text_size]
    ):
        end = offset + (length & 0x7FFF)
        require(following < states and end <= text_size, "TKX_E_CORRUPT")
        edits.append((following, text[offset:end], bool(length & 0x8000)))
    count = states * class_count
    return Edits(classes, class_count, edits[:count], edits[count:], bool(flags))


def form(file: SpecFile, token: int, first: bool, last: bool) -> bytes:
    """What a token decodes to at a place."""
    offset, length, flags = file.record(token)
    file.token_bytes(token)
    begin, end = offset, offset + length
    if first:
        skip, more = flags >> 5 & 31, flags >> 10 & 3
        require(skip <= length and more <= offset, "TKX_E_CORRUPT")
        begin += skip - more
    if last:
        skip = flags >> 12 & 3
        require(skip <= end - begin, "TKX_E_CORRUPT")
        end -= skip
    return file.sections[b"BYTS"][begin:end]


def parts_of(file: SpecFile, flags: int, ids: Sequence[int]) -> list[Part]:
    """What each id gives: steps 2.1 to 2.3. Ids that do not count give nothing."""
    counting = [
        i for i, token in enumerate(ids) if not (flags & REPEATS_ONCE and i and ids[i - 1] == token)
    ]
    placed = [i for i in counting if not flags & FIRST_BY_CONTENT or file.record(ids[i])[1]]
    parts = [Part(b"", True) for _ in ids]  # an id that does not count ends no run
    so_far = b""
    for i in counting:
        token = ids[i]
        in_run = bool(file.record(token)[2] & FALLBACK and flags & BYTE_FALLBACK)
        if in_run or i not in placed:
            parts[i] = Part(file.token_bytes(token), in_run)
        else:
            first = not so_far if flags & FIRST_BY_TEXT else i == placed[0]
            parts[i] = Part(form(file, token, first, i == placed[-1]), False)
        so_far += parts[i].data
    return parts


def wanted(file: SpecFile, ids: Sequence[int], skip_special: bool) -> list[int]:
    """The ids that are decoded; all of them must be tokens."""
    for token in ids:
        file.token_bytes(token)
    return [token for token in ids if not (skip_special and file.record(token)[2] & RECORD_SPECIAL)]


def decode_tokens(file: SpecFile, ids: Sequence[int], skip_special: bool = False) -> list[bytes]:
    """The bytes of each id that is wanted."""
    ids = wanted(file, ids, skip_special)
    if b"DECO" not in file.sections:
        return [file.token_bytes(token) for token in ids]
    flags, strip = read_rules(file)
    edits = read_edits(file)
    parts = parts_of(file, flags, ids)
    if edits:
        return edits.apply(parts)
    given = [part.data for part in parts]
    for i, data in enumerate(given):
        if data:
            given[i] = data.removeprefix(strip)
            break
    return given


def decode(file: SpecFile, ids: Sequence[int], skip_special: bool = False) -> bytes:
    """The joined bytes of ids."""
    return b"".join(decode_tokens(file, ids, skip_special))


def decode_text(file: SpecFile, ids: Sequence[int], skip_special: bool = False) -> str:
    """The text of ids."""
    ids = wanted(file, ids, skip_special)
    if b"DECO" not in file.sections:
        return decode(file, ids).decode("utf-8", "replace")
    flags, strip = read_rules(file)
    edits = read_edits(file)
    parts = text_parts(flags, parts_of(file, flags, ids))
    if edits:
        return b"".join(edits.apply(parts)).decode()
    return b"".join(part.data for part in parts).removeprefix(strip).decode()


def text_parts(flags: int, parts: Sequence[Part]) -> list[Part]:
    """The text of what ids give, before it is changed."""
    if not flags & BYTE_FALLBACK:
        return [Part(replaced(b"".join(part.data for part in parts)), False)]
    by_character = bool(flags & BY_CHARACTER)
    texts: list[Part] = []
    for in_run, row in groupby(parts, key=lambda part: part.in_run):
        if in_run:
            run = b"".join(part.data for part in row)
            texts.append(Part(run_text(run, by_character), True))
        elif by_character:
            texts += [Part(run_text(part.data, True), False) for part in row]
        else:
            texts += [Part(replaced(part.data), False) for part in row]
    return texts


def replaced(data: bytes) -> bytes:
    """Bytes with U+FFFD for each maximal part of what is no character."""
    return data.decode("utf-8", "replace").encode()


def run_text(run: bytes, by_character: bool) -> bytes:
    """The text of a run."""
    if is_text(run):
        return run
    if not by_character:
        return (REPLACEMENT * len(run)).encode()
    text = ""
    while run:
        character = next((run[:n].decode() for n in (1, 2, 3, 4) if is_character(run[:n])), None)
        text += character or REPLACEMENT
        run = run[len(character.encode()) if character else 1 :]
    return text.encode()


def is_text(data: bytes) -> bool:
    """Whether some bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_character(data: bytes) -> bool:
    """Whether some bytes are one character."""
    return is_text(data) and len(data.decode()) == 1
