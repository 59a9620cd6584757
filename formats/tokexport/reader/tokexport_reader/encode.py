"""Encoding, from the input to ids (SPEC 3.1), with the span of each id (annex A)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from . import bpe, trie_models
from .added_tokens import Allowed, find
from .align import align
from .container import BPE, FUSE_UNKNOWN
from .data import TokexportError, characters, require
from .file import File
from .operations import FIRST_SOURCE, NOWHERE, ONLY_FIRST, Affix, Operation
from .stages import REWRITE, Stage

Source = tuple[int, int]  # bytes of the input from, up to


@dataclass(frozen=True)
class Text:
    """A text being encoded: the input, or the rewritten text of a part of it.

    ``sources``: of each byte, or None if they are not needed. ``is_first``: it begins where the
    input begins.
    """

    data: bytes
    sources: Sequence[Source] | None
    is_first: bool

    def part(self, start: int, end: int) -> Text:
        """A part of the text."""
        sources = None if self.sources is None else self.sources[start:end]
        return Text(self.data[start:end], sources, self.is_first and start == 0)

    def source(self, start: int, end: int) -> Source:
        """From the start of the source of one byte to the end of the source of another."""
        if self.sources is None:
            return 0, 0
        return self.sources[start][0], self.sources[end - 1][1]


@dataclass(frozen=True)
class Found:
    """An id, the part of the input that it stands for, and for an added token the text that it
    stands for.
    """

    id: int
    source: Source
    added: bytes | None = None
    is_unknown_word: bool = False


def encode(file: File, data: bytes, allowed: Allowed = ()) -> list[int]:
    """The ids of a text, without its template; ``allowed``: the special tokens that are found, by
    their index in ADDT or by their offset.
    """
    return [found.id for found in locate(file, data, allowed, follow=False)]


def locate(file: File, data: bytes, allowed: Allowed, *, follow: bool) -> Iterator[Found]:
    """The ids of a text with what they stand for; ``follow``: compute their sources, too."""
    require(b"SPLT" in file.sections, "TKX_E_NO_ENCODER")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise TokexportError("TKX_E_UTF8") from error
    wants = any(isinstance(op, Affix) and op.flags & FIRST_SOURCE for op in file.operations)
    ends = [*accumulate(map(len, characters(data)), initial=0)]
    sources = [source for source in pairwise(ends) for _ in range(*source)]
    text = Text(data, sources if follow or wants else None, is_first=True)
    yield from fused(file, parts(file, text, allowed, follow))


def parts(file: File, text: Text, allowed: Allowed, follow: bool) -> Iterator[Found]:
    """The ids of the input."""
    for start, end, token in find(file, text.data, allowed, normalized=False):
        segment = text.part(start, end)
        if token is not None:
            yield Found(token, text.source(start, end), segment.data)
            continue
        rewritten = normalize(file, segment, follow)
        begin = None if file.normalizer else start
        found = find(file, rewritten.data, allowed, normalized=True, begin=begin)
        for inner_start, inner_end, inner in found:
            part = rewritten.part(inner_start, inner_end)
            if inner is not None:
                yield Found(inner, rewritten.source(inner_start, inner_end), part.data)
            else:
                yield from encode_segment(file, part)


def normalize(file: File, segment: Text, follow: bool) -> Text:
    """A segment after the operations of the normalizer."""
    rewritten = rewrite(segment, file.normalizer)
    if not follow or b"ALGN" not in file.sections or not rewritten.data:
        return rewritten
    assert segment.sources is not None
    return Text(
        rewritten.data, align(file, segment.data, segment.sources, rewritten.data), segment.is_first
    )


def rewrite(text: Text, operations: Sequence[Operation]) -> Text:
    """The text after some operations."""
    for operation in operations:
        if not text.data:
            break
        if isinstance(operation, Affix):
            if operation.flags & ONLY_FIRST and not text.is_first:
                continue
            if operation.flags & FIRST_SOURCE and text.source(0, 1)[0] != 0:
                continue
        made = list(operation.run(text.data))
        sources = None
        if text.sources is not None:
            nowhere = (text.sources[0][0],) * 2
            sources = [
                nowhere if origin == NOWHERE else text.sources[origin]
                for new, origin in made
                for _ in new
            ]
        text = Text(b"".join(new for new, _ in made), sources, text.is_first)
    return text


def encode_segment(file: File, segment: Text) -> Iterator[Found]:
    """The ids of a segment, after the normalizer."""
    texts = [segment]
    for stage in file.stages:
        texts = [part for text in texts for part in run_stage(file, stage, text)]
    model = bpe if file.header.model == BPE else trie_models
    for text in texts:
        is_unknown = file.header.model != BPE and trie_models.is_unknown_word(file, text.data)
        for id, start, end in model.encode_pre_token(file, text.data):
            yield Found(id, text.source(start, end), is_unknown_word=is_unknown)


def run_stage(file: File, stage: Stage, text: Text) -> list[Text]:
    """The parts that a stage makes of a text."""
    if not stage.flags & REWRITE:
        return [text.part(start, end) for start, end in stage.split(text.data)]
    rewritten = rewrite(text, [file.operations[number] for number in stage.operations])
    return [rewritten] if rewritten.data else []


def fused(file: File, found: Iterator[Found]) -> Iterator[Found]:
    """WordLevel with FUSE_UNKNOWN: consecutive unknown pre-tokens become one id."""
    last: Found | None = None
    for next_found in found:
        if (
            last is not None
            and file.header.flags & FUSE_UNKNOWN
            and last.is_unknown_word
            and next_found.is_unknown_word
        ):
            source = last.source[0], next_found.source[1]
            last = Found(last.id, source, is_unknown_word=True)
            continue
        if last is not None:
            yield last
        last = next_found
    if last is not None:
        yield last
