"""Added tokens as ``formats/tokexport/SPEC.md`` describes them: a part of ``spec_encoder.py``."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from spec_reader import NONE, SpecFile, read_class_table, require, u16

SEARCH_ANEW, RESCAN_SPECIAL = 4, 8
ADDED_SPECIAL, SINGLE_WORD, LSTRIP, RSTRIP = 1, 2, 4, 8
CLASS_SPACE, CLASS_WORD = 1, 2


def added_tokens(file: SpecFile) -> list[tuple[int, bytes, int]]:
    """Id, content and flags of each added token."""
    if b"ADDT" not in file.sections:
        return []
    added = file.sections[b"ADDT"]
    count, raw_nodes, raw_edges, nodes, edges, text_size = struct.unpack_from("<6I", added)
    text = added[
        96 + 16 * count + 8 * (raw_nodes + 1) + 4 * raw_edges + 8 * (nodes + 1) + 4 * edges :
    ]
    tokens = []
    for at in range(96, 96 + 16 * count, 16):
        token, offset, length, flags = struct.unpack_from("<4I", added, at)
        require(token < file.id_count and offset + length <= text_size, "TKX_E_CORRUPT")
        tokens.append((token, text[offset : offset + length], flags))
    return tokens


def trie_contents(file: SpecFile, normalized: bool) -> dict[bytes, int]:
    """Every content that a trie spells, with the index of its token."""
    added = file.sections[b"ADDT"]
    count, raw_nodes, raw_edges, nodes, edges, _ = struct.unpack_from("<6I", added)
    at_nodes = 96 + 16 * count + (8 * (raw_nodes + 1) + 4 * raw_edges if normalized else 0)
    spelled = trie_spells(
        added, at_nodes, *((nodes, edges) if normalized else (raw_nodes, raw_edges))
    )
    require(all(token < count for token in spelled.values()), "TKX_E_CORRUPT")
    return spelled


def trie_spells(added: bytes, at_nodes: int, node_count: int, edge_count: int) -> dict[bytes, int]:
    """Every byte string that a trie spells, with its number."""
    at_edges = at_nodes + 8 * (node_count + 1)
    contents: dict[bytes, int] = {}
    waiting = [(0, b"")] if node_count else []
    while waiting:
        node, spelled = waiting.pop()
        require(len(spelled) <= node_count, "TKX_E_CORRUPT")  # a loop
        first, token, last = struct.unpack_from("<3I", added, at_nodes + 8 * node)
        require(first <= last <= edge_count, "TKX_E_CORRUPT")
        if token != NONE:
            contents[spelled] = token
        for edge in struct.unpack_from(f"<{last - first}I", added, at_edges + 4 * first):
            require(edge & 0xFFFFFF < node_count, "TKX_E_CORRUPT")
            waiting.append((edge & 0xFFFFFF, spelled + bytes([edge >> 24])))
    return contents


def find_added(
    file: SpecFile, text: bytes, special: bool, normalized: bool
) -> Iterator[bytes | int]:
    """The ids of the added tokens found in a text, and the stretches between them that are not
    empty.
    """
    for start, stop, token in added_ranges(file, text, special, normalized):
        yield text[start:stop] if token is None else token


def added_ranges(
    file: SpecFile, text: bytes, special: bool, normalized: bool
) -> Iterator[tuple[int, int, int | None]]:
    """Where the added tokens found in a text stand, with their ids, and where the stretches between
    them, with None.
    """
    contents = trie_contents(file, normalized) if b"ADDT" in file.sections else {}
    tokens = added_tokens(file)
    going_on = done = edge = 0
    anew = bool(file.flags & SEARCH_ANEW)
    while going_on < len(text):
        here = [content for content in contents if content and text.startswith(content, going_on)]
        if not here:
            going_on += 1
            continue
        content = max(here, key=len)
        start, stop = going_on, going_on + len(content)
        going_on = stop
        token, _, flags = tokens[contents[content]]
        if flags & ADDED_SPECIAL and not special:
            if file.flags & RESCAN_SPECIAL:
                going_on = start + len(text[start:].decode()[0].encode())
            edge = going_on if anew else 0
            continue
        before, after = text[:start].decode(), text[stop:].decode()
        beside = (before[-1:] if start > edge else "", after[:1])
        if flags & SINGLE_WORD and any(is_in(file, character, CLASS_WORD) for character in beside):
            if anew:
                going_on = edge = start + len(text[start:].decode()[0].encode())
            continue
        if flags & LSTRIP:
            while is_in(file, before[-1:], CLASS_SPACE):
                before = before[:-1]
            start = max(len(before.encode()), done)
        if flags & RSTRIP:
            while is_in(file, after[:1], CLASS_SPACE):
                after = after[1:]
            stop = len(text) - len(after.encode())
        if anew:
            going_on = edge = stop
        if start >= stop:
            continue  # white space that the token before has taken with it
        if done < start:
            yield done, start, None
        yield start, stop, token
        done = stop
    if done < len(text):
        yield done, len(text), None


def is_in(file: SpecFile, character: str, wanted: int) -> bool:
    """Whether there is a character, and it is in a class of ACLS."""
    section = file.sections[b"ACLS"]
    table = read_class_table(section, 8, u16(section, 0), u16(section, 2))
    return character != "" and bool(table[ord(character)] & wanted)
