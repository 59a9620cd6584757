"""Added tokens, which are searched for before anything else (SPEC 3.2)."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import TypeAlias, Union

from .container import RESCAN_SPECIAL, SEARCH_ANEW
from .data import NONE, require, u16, u32, u32s
from .file import File
from .tables import ByteTrie, class_table

SPECIAL, SINGLE_WORD, LSTRIP, RSTRIP = 1, 2, 4, 8
SPACE, WORD = 1, 2  # classes of ACLS
HEADER_SIZE, TOKEN_SIZE = 96, 16

ALL = range(NONE)  # `allowed`: every special token is found
Allowed: TypeAlias = Union[Container[int], "Places"]
Part = tuple[int, int, int | None]  # bytes from, up to; an id, or None for a segment


@dataclass(frozen=True)
class Places:
    """Where special tokens are allowed: only where they begin at certain bytes of the input."""

    bytes: frozenset[int]


def is_allowed(allowed: Allowed, index: int, place: int | None) -> bool:
    """Whether a special token is allowed, given the byte of the input where it begins, if known."""
    return place in allowed.bytes if isinstance(allowed, Places) else index in allowed


@dataclass(frozen=True)
class AddedToken:
    """One added token."""

    id: int
    flags: int


def added_count(file: File) -> int:
    """The number of added tokens."""
    return u32(file.sections[b"ADDT"], 0) if b"ADDT" in file.sections else 0


def added_token(file: File, index: int) -> AddedToken:
    """An added token by its index."""
    require(index < added_count(file), "TKX_E_CORRUPT")
    id, _, _, flags = u32s(file.sections[b"ADDT"], HEADER_SIZE + TOKEN_SIZE * index, 4)
    require(id < file.header.id_count, "TKX_E_CORRUPT")
    return AddedToken(id, flags)


def content(file: File, index: int) -> bytes:
    """The content of an added token, as in the source. Encoding does not need it."""
    section = file.sections[b"ADDT"]
    _, offset, length, _ = u32s(section, HEADER_SIZE + TOKEN_SIZE * index, 4)
    text_size = u32(section, 20)
    require(offset + length <= text_size, "TKX_E_CORRUPT")
    start = len(section) - text_size + offset
    return section[start : start + length]


def added_trie(file: File, normalized: bool) -> ByteTrie:
    """The raw or the normalized trie."""
    section = file.sections.get(b"ADDT", bytes(HEADER_SIZE + 16))
    count, raw_nodes, raw_edges, nodes, edges = u32s(section, 0, 5)
    raw = ByteTrie(section, HEADER_SIZE + TOKEN_SIZE * count, raw_nodes, raw_edges)
    return ByteTrie(section, raw.at + raw.size, nodes, edges) if normalized else raw


def find(
    file: File, text: bytes, allowed: Allowed, *, normalized: bool, begin: int | None = 0
) -> Iterator[Part]:
    """The added tokens of one of the tries in a text, and the segments between them; ``begin``:
    where the text begins in the input, if it is a part of it.
    """
    trie = added_trie(file, normalized)
    search_anew = bool(file.header.flags & SEARCH_ANEW)
    at = done = edge = 0
    while (found := first_content(trie, text, at)) is not None:
        start, stop, index = found
        at = stop
        token = added_token(file, index)
        require(begins_character(text, start) and begins_character(text, stop), "TKX_E_CORRUPT")
        next_character = start + len(character_at(text, start))
        place = None if begin is None else begin + start
        if token.flags & SPECIAL and not is_allowed(allowed, index, place):
            if file.header.flags & RESCAN_SPECIAL:
                at = next_character
            if search_anew:
                edge = stop
            continue
        if token.flags & SINGLE_WORD and (
            (start > edge and is_in(file, character_before(text, start), WORD))
            or (stop < len(text) and is_in(file, character_at(text, stop), WORD))
        ):
            if search_anew:
                at = edge = next_character
            continue
        if token.flags & LSTRIP:
            while start > done and is_in(file, character_before(text, start), SPACE):
                start -= len(character_before(text, start))
            start = max(start, done)
        if token.flags & RSTRIP:
            while stop < len(text) and is_in(file, character_at(text, stop), SPACE):
                stop += len(character_at(text, stop))
        if search_anew:
            at = edge = stop
        if start >= stop:
            continue  # the previous token has stripped all of it
        if done < start:
            yield done, start, None
        yield start, stop, token.id
        done = stop
    if done < len(text):
        yield done, len(text), None


def first_content(trie: ByteTrie, text: bytes, at: int) -> tuple[int, int, int] | None:
    """The first content at or after an offset, the longest one there: start, stop, and index."""
    for start in range(at, len(text)):
        stop, index = trie.longest(text, start)
        if stop > start:
            return start, stop, index
    return None


def begins_character(text: bytes, at: int) -> bool:
    """Whether an offset is between two characters of a text, or at one of its ends."""
    return at == len(text) or text[at] & 0xC0 != 0x80


def character_at(text: bytes, at: int) -> bytes:
    """The character that begins at an offset."""
    end = at + 1
    while not begins_character(text, end):
        end += 1
    return text[at:end]


def character_before(text: bytes, at: int) -> bytes:
    """The character that ends at an offset."""
    start = at - 1
    while not begins_character(text, start):
        start -= 1
    return text[start:at]


def is_in(file: File, character: bytes, wanted: int) -> bool:
    """Whether a character is of a class of ACLS."""
    if b"ACLS" not in file.sections:
        return False
    section = file.sections[b"ACLS"]
    table = class_table(section, 8, u16(section, 0), u16(section, 2))
    return bool(table[ord(character.decode())] & wanted)
