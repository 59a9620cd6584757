"""A slow, obvious decoder, written from section 5.7 of ``formats/tokexport/SPEC.md`` and from
nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from spec_reader import RECORD_SPECIAL, SpecFile, require

FALLBACK, FORMS = 16, 2048
BYTE_FALLBACK, BY_CHARACTER, REPEATS_ONCE, FIRST_BY_CONTENT, FIRST_BY_TEXT, EDGES = (
    1,
    2,
    4,
    8,
    16,
    32,
)
DECODER_FLAGS = 63
RUN_EDGE, TOKEN_EDGE = 2, 1  # the class, from the end of the classes
REPLACEMENT = "\ufffd"


@dataclass
class Part:
    """A part of a text, and the edge before it."""

    data: bytes
    edge: int | None


@dataclass
class Edits:
    """What DECO does to the whole text: the next state, what is written, and whether the byte is
    too.
    """

    classes: bytes
    class_count: int
    steps: list[tuple[int, bytes, bool]]
    ends: list[tuple[int, bytes, bool]]
    edges: bool

    def apply(self, parts: Sequence[Part]) -> list[bytes]:
        """What becomes of each part of a text."""
        state, given = 0, []
        for part in parts:
            written = b""
            if part.edge is not None and self.edges:
                state, written, _ = self.steps[
                    state * self.class_count + self.class_count - part.edge
                ]
            for byte in part.data:
                state, text, keeps = self.steps[state * self.class_count + self.classes[byte]]
                written += text + bytes([byte]) * keeps
            given.append(written)
        return [*given[:-1], given[-1] + self.ends[state][1]] if given else []


@dataclass
class Rules:
    """DECO."""

    flags: int
    left: tuple[str, int]
    right: tuple[str, int]
    edits: Edits | None


@dataclass
class Given:
    """What one id gives at its place; ``fallback``: it belongs to a run."""

    data: bytes
    fallback: bool


def read_rules(file: SpecFile) -> Rules | None:
    """The rules of a file, or None."""
    section = file.sections.get(b"DECO")
    if section is None:
        return None
    flags, left_count, right_count, left, right = struct.unpack_from("<5I", section)
    require(flags & ~DECODER_FLAGS == 0 and section[28:32] == bytes(4), "TKX_E_CORRUPT")
    require(not flags & BY_CHARACTER or bool(flags & BYTE_FALLBACK), "TKX_E_CORRUPT")
    require(not (flags & FIRST_BY_CONTENT and flags & FIRST_BY_TEXT), "TKX_E_CORRUPT")
    for count, character in ((left_count, left), (right_count, right)):
        require(count > 0 or character == 0, "TKX_E_CORRUPT")
        require(character < 0x110000 and not 0xD800 <= character < 0xE000, "TKX_E_CORRUPT")
    require(not flags & EDGES or flags == EDGES | BYTE_FALLBACK, "TKX_E_CORRUPT")
    return Rules(flags, (chr(left), left_count), (chr(right), right_count), read_edits(section))


def read_edits(section: bytes) -> Edits | None:
    """The edits of DECO, or None."""
    states, class_count, text_size = struct.unpack_from("<HHI", section, 20)
    edges = bool(section[0] & EDGES)
    if not states:
        require(not class_count and not text_size and not edges, "TKX_E_CORRUPT")
        return None
    require(section[4:12] == bytes(8) and class_count <= 256, "TKX_E_CORRUPT")
    classes, text = section[32:288], section[len(section) - text_size :]
    require(max(classes) < class_count - 2 * edges, "TKX_E_CORRUPT")
    entries = [*struct.iter_unpack("<HHI", section[288 : len(section) - text_size])]
    edits = []
    for following, length, offset in entries:
        require(following < states and offset + (length & 0x7FFF) <= text_size, "TKX_E_CORRUPT")
        edits.append((following, text[offset : offset + (length & 0x7FFF)], bool(length & 0x8000)))
    return Edits(
        classes, class_count, edits[: states * class_count], edits[states * class_count :], edges
    )


def form(file: SpecFile, token: int, first: bool, last: bool) -> bytes:
    """What a token decodes to at a place."""
    offset, length, flags = file.record(token)
    content = file.token_bytes(token)
    stored = file.sections[b"BYTS"]
    if not first and not last:
        return content
    if flags & FORMS:
        at = offset + length
        require(at + 6 <= len(stored), "TKX_E_CORRUPT")
        lengths = struct.unpack_from("<3H", stored, at)
        require(at + 6 + sum(lengths) <= len(stored), "TKX_E_CORRUPT")
        number = 2 if first and last else 1 if last else 0
        begin = at + 6 + sum(lengths[:number])
        return stored[begin : begin + lengths[number]]
    begin, end = offset, offset + length
    if first:
        begin += (flags >> 5 & 3) - (flags >> 7 & 3)
        require((flags >> 5 & 3) <= length and (flags >> 7 & 3) <= offset, "TKX_E_CORRUPT")
    if last:
        require((flags >> 9 & 3) <= end - begin, "TKX_E_CORRUPT")
        end -= flags >> 9 & 3
    return stored[begin:end]


def given(file: SpecFile, rules: Rules, ids: Sequence[int]) -> list[Given]:
    """What each id gives: steps 3.1 to 3.3. Ids that do not count give nothing."""
    counting = [
        i
        for i, token in enumerate(ids)
        if not (rules.flags & REPEATS_ONCE and i and ids[i - 1] == token)
    ]
    placed = [i for i in counting if not rules.flags & FIRST_BY_CONTENT or file.record(ids[i])[1]]
    parts = [Given(b"", True) for _ in ids]  # an id that does not count ends no run
    so_far = b""
    for i in counting:
        token = ids[i]
        fallback = bool(file.record(token)[2] & FALLBACK and rules.flags & BYTE_FALLBACK)
        first = not so_far if rules.flags & FIRST_BY_TEXT else bool(placed) and i == placed[0]
        last = bool(placed) and i == placed[-1]
        if fallback or i not in placed:
            parts[i] = Given(file.token_bytes(token), fallback)
        else:
            parts[i] = Given(form(file, token, first, last), False)
        so_far += parts[i].data
    return parts


def decode_tokens(file: SpecFile, ids: Sequence[int], skip_special: bool = False) -> list[bytes]:
    """The bytes of each id that is wanted."""
    for token in ids:
        file.token_bytes(token)
    ids = [token for token in ids if not (skip_special and file.record(token)[2] & RECORD_SPECIAL)]
    rules = read_rules(file)
    if rules is None:
        return [file.token_bytes(token) for token in ids]
    row = given(file, rules, ids)
    if rules.edits:
        return rules.edits.apply(with_edges(row))
    parts = [part.data for part in row]
    whole = b"".join(parts)
    left, right = rules.left[0].encode(), rules.right[0].encode()
    begin = 0
    while begin < len(left) * rules.left[1] and whole[begin:].startswith(left):
        begin += len(left)
    end = len(whole)
    while len(whole) - end < len(right) * rules.right[1] and whole[begin:end].endswith(right):
        end -= len(right)
    kept, at = [], 0
    for part in parts:
        kept.append(whole[max(at, begin) : min(at + len(part), end)])
        at += len(part)
    return kept


def with_edges(row: Sequence[Given]) -> list[Part]:
    """What ids give, each after its edge."""
    parts, begun = [], False
    for part in row:
        if not part.fallback:
            parts.append(Part(part.data, TOKEN_EDGE))
            begun = False
        else:
            parts.append(Part(part.data, RUN_EDGE if part.data and not begun else None))
            begun |= bool(part.data)
    return parts


def decode(file: SpecFile, ids: Sequence[int], skip_special: bool = False) -> bytes:
    """The joined bytes of ids."""
    return b"".join(decode_tokens(file, ids, skip_special))


def decode_text(file: SpecFile, ids: Sequence[int]) -> str:
    """The text of ids."""
    rules = read_rules(file)
    if rules is None:
        return decode(file, ids).decode("utf-8", "replace")
    texts = whole_text(rules, given(file, rules, ids))
    if rules.edits:
        return b"".join(
            rules.edits.apply([Part(text.encode(), edge) for text, edge in texts])
        ).decode()
    text = "".join(text for text, _ in texts)
    for _ in range(rules.left[1]):
        text = text.removeprefix(rules.left[0])
    for _ in range(rules.right[1]):
        text = text.removesuffix(rules.right[0])
    return text


def whole_text(rules: Rules, parts: Sequence[Given]) -> list[tuple[str, int]]:
    """The texts of what ids give, before anything is stripped, and the edge before each."""
    if not rules.flags & BYTE_FALLBACK:
        return [(b"".join(part.data for part in parts).decode("utf-8", "replace"), TOKEN_EDGE)]
    by_character = bool(rules.flags & BY_CHARACTER)
    texts: list[tuple[str, int]] = []
    for fallback, row in groupby(parts, key=lambda part: part.fallback):
        if fallback:
            run = b"".join(part.data for part in row)
            text = run_text(run, by_character)
            valid = by_character or is_text(run)
            texts += [(each, RUN_EDGE) for each in ([text] if valid else text) if each]
        elif by_character:
            texts += [(run_text(part.data, True), TOKEN_EDGE) for part in row]
        else:
            texts += [(part.data.decode("utf-8", "replace"), TOKEN_EDGE) for part in row]
    return texts


def run_text(run: bytes, by_character: bool) -> str:
    """The text of a run."""
    if is_text(run):
        return run.decode()
    if not by_character:
        return REPLACEMENT * len(run)
    text = ""
    while run:
        character = next((run[:n].decode() for n in (1, 2, 3, 4) if is_character(run[:n])), None)
        text += character or REPLACEMENT
        run = run[len(character.encode()) if character else 1 :]
    return text


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
