"""The models that look text up in TRIE: Unigram, WordPiece, WordLevel, greedy (SPEC 3.6)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import groupby

from .container import GREEDY, UNIGRAM, WORDLEVEL, WORDPIECE
from .data import NONE, characters, require, u64
from .file import File

SINGLE_PRECISION = 1
NO_TOKEN = 0x1FFFFF
LARGEST_SUM = 100_000

Found = tuple[int, int, int]  # an id, and the bytes of the pre-token that it stands for


@dataclass(frozen=True)
class Trie:
    """The head of TRIE, and its nodes."""

    file: File
    unit_count: int
    root: int
    continuation: int
    max_characters: int
    unknown_score: float
    flags: int

    def tokens(self, text: bytes, base: int) -> list[tuple[int, int]]:
        """Size and id of each token that a text begins with, shorter ones first."""
        found = []
        for size, byte in enumerate(text, 1):
            unit_at = (base + byte) & 0xFFFFFFFF
            require(unit_at < self.unit_count, "TKX_E_CORRUPT")
            unit = u64(self.file.sections[b"TRIE"], 32 + 8 * unit_at)
            label, token, base = unit & 0x1FF, unit >> 9 & NO_TOKEN, unit >> 32
            require(label <= 256, "TKX_E_CORRUPT")
            if label != byte:
                break
            require(size <= self.depth, "TKX_E_CORRUPT")
            if token != NO_TOKEN:
                require(token < self.file.header.id_count, "TKX_E_CORRUPT")
                found.append((size, token))
        return found

    @property
    def depth(self) -> int:
        """An upper bound for the length of strings in the trie."""
        return min(self.file.header.max_token_bytes, self.unit_count)

    def whole(self, text: bytes) -> int | None:
        """The token that equals a text, or None."""
        return dict(self.tokens(text, self.root)).get(len(text))


def read_trie(file: File) -> Trie:
    """TRIE, after checks of its header."""
    fields = struct.unpack_from("<4Id2I", file.sections[b"TRIE"])
    unit_count, root, continuation, max_characters, unknown_score, flags, reserved = fields
    require(flags & ~SINGLE_PRECISION == 0 and reserved == 0, "TKX_E_CORRUPT")
    require(not file.stages or not flags & SINGLE_PRECISION, "TKX_E_CORRUPT")
    return Trie(file, unit_count, root, continuation, max_characters, unknown_score, flags)


def encode_pre_token(file: File, text: bytes) -> list[Found]:
    """The ids of a pre-token."""
    trie = read_trie(file)
    if file.header.model == UNIGRAM:
        return Unigram(file, trie, text).encode()
    if file.header.model == WORDPIECE:
        if len(characters(text)) <= trie.max_characters:
            found = longest_first(trie, text, trie.continuation)
            if all(id is not None for id, _, _ in found):
                return [(id, start, end) for id, start, end in found if id is not None]
        return [(unknown(file), 0, len(text))]
    if file.header.model == WORDLEVEL:
        token = trie.whole(text)
        return [(unknown(file) if token is None else token, 0, len(text))]
    assert file.header.model == GREEDY
    return [
        (unknown(file) if id is None else id, start, end)
        for id, start, end in longest_first(trie, text, trie.root)
    ]


def is_unknown_word(file: File, text: bytes) -> bool:
    """Whether a pre-token is unknown to WordLevel."""
    return file.header.model == WORDLEVEL and read_trie(file).whole(text) is None


def unknown(file: File) -> int:
    """The unknown token."""
    require(file.header.unknown_id != NONE, "TKX_E_UNKNOWN_TEXT")
    return file.header.unknown_id


def longest_first(trie: Trie, text: bytes, next_base: int) -> list[tuple[int | None, int, int]]:
    """The longest token, then again for the rest of the text; None, for one byte, if none fits."""
    found: list[tuple[int | None, int, int]] = []
    at, base = 0, trie.root
    while at < len(text):
        size, token = max(trie.tokens(text[at:], base), default=(1, None))
        found.append((token, at, at + size))
        at, base = at + size, next_base
    return found


@dataclass(frozen=True)
class Unigram:
    """The segmentation of a pre-token with the largest sum of scores."""

    file: File
    trie: Trie
    text: bytes

    def encode(self) -> list[Found]:
        """The ids."""
        found: list[Found] = []
        unknown_id = self.file.header.unknown_id
        for is_unknown, group in groupby(self.segmentation(), lambda step: step[0] == unknown_id):
            steps = list(group)
            if is_unknown:
                found += self.unknown_text(steps[0][1], steps[-1][2])
            else:
                found += steps
        return found

    def segmentation(self) -> list[Found]:
        """The tokens of the best segmentation, in the order of the text."""
        text, single = self.text, bool(self.trie.flags & SINGLE_PRECISION)
        best: dict[int, tuple[float, int, int]] = {0: (0.0, 0, NONE)}

        def offer(end: int, total: float, start: int, token: int) -> None:
            total = rounded(total) if single else total
            if end not in best or total > best[end][0]:
                require(token != NONE, "TKX_E_UNKNOWN_TEXT")
                best[end] = total, start, token

        at = 0
        while at < len(text):
            total = best[at][0]
            if single and abs(total) > LARGEST_SUM:
                for end in [end for end in best if end >= at]:
                    best[end] = rounded(best[end][0] - total), *best[end][1:]
                total = 0.0
            tokens = self.trie.tokens(text[at:], self.trie.root)
            for size, token in tokens:
                offer(at + size, self.score(token) + total, at, token)
            character = len(characters(text[at:])[0])
            if character not in dict(tokens):
                score = self.trie.unknown_score + total
                offer(at + character, score, at, self.file.header.unknown_id)
            at += character
        way = []
        end = len(text)
        while end > 0:
            _, start, token = best[end]
            way.append((token, start, end))
            end = start
        return way[::-1]

    def unknown_text(self, start: int, end: int) -> list[Found]:
        """The ids of unknown text."""
        whole = self.trie.whole(self.text[start:end])
        if whole is not None and not self.trie.flags & SINGLE_PRECISION:
            return [(whole, start, end)]
        if b"BIDS" in self.file.sections:
            tokens = [self.file.byte_id(byte) for byte in self.text[start:end]]
            if NONE not in tokens:
                if b"ALGN" in self.file.sections:
                    return [(token, start + i, start + i + 1) for i, token in enumerate(tokens)]
                return [(token, start, end) for token in tokens]
        return [(unknown(self.file), start, end)]

    def score(self, token: int) -> float:
        """The score of a token."""
        if b"SC64" in self.file.sections:
            return float(struct.unpack_from("<d", self.file.sections[b"SC64"], 8 * token)[0])
        return float(struct.unpack_from("<f", self.file.sections[b"SCOR"], 4 * token)[0])


def rounded(value: float) -> float:
    """A double, rounded to single precision."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])
