"""Encodes with a TokenizerModel in slow and plain Python, to test models without the compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property

import numpy as np

from tokexport.model import (
    AddedToken,
    Append,
    Behavior,
    BytePairModel,
    Charsmap,
    GreedyModel,
    NormalizerStep,
    Prepend,
    Replace,
    Split,
    TokenizerModel,
    UnigramModel,
    WordLevelModel,
)
from tokexport.unicode.charsmap import read_charsmap, rules_of


@cache
def charsmap_rules(data: bytes) -> tuple[dict[bytes, bytes], int]:
    """What a charsmap replaces by what, and the most bytes that it replaces at once."""
    table = rules_of(read_charsmap(data))
    return table, max(map(len, table))


class SlowEncoder:
    """A model and its ``encode``."""

    def __init__(self, model: TokenizerModel) -> None:
        self._model = model

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        for step in self._model.normalizer:
            text = self._normalized(step, text)
        ids: list[int] = []
        for part in self._around_added(text):
            if isinstance(part, AddedToken):
                ids.append(part.id)
            elif part:
                ids += self._model_ids(self._pre_tokens(part))
        return ids

    def _normalized(self, step: NormalizerStep, text: str) -> str:
        if isinstance(step, Prepend):
            return step.content + text if text else text
        if isinstance(step, Append):
            return text + step.content if text else text
        if isinstance(step, Replace):
            regex = step.pattern.replace(r"\z", r"\Z")
            pattern = re.escape(step.pattern) if step.literal else regex
            return re.sub(pattern, lambda _: step.content, text)
        assert isinstance(step, Charsmap)
        assert not step.by_grapheme
        return self._mapped(step, text.encode())

    def _mapped(self, step: Charsmap, data: bytes) -> str:
        table, longest = charsmap_rules(step.data)
        protected = sorted((text.encode() for text in step.protected), key=len, reverse=True)
        result = b""
        at = 0
        while at < len(data):
            whole = next((text for text in protected if data.startswith(text, at)), None)
            if whole is not None:
                result += whole
                at += len(whole)
                continue
            for size in range(longest, 0, -1):
                if data[at : at + size] in table:
                    result += table[data[at : at + size]]
                    at += size
                    break
            else:
                size = len(data[at:].decode("utf-8", "ignore")[:1].encode())
                result += data[at : at + size]
                at += size
        return result.decode()

    @cached_property
    def _verbatim(self) -> re.Pattern[str] | None:
        assert all(token.normalized and token.verbatim for token in self._model.added_tokens)
        contents = [token.content for token in self._model.added_tokens]
        contents.sort(key=len, reverse=True)
        return re.compile("|".join(map(re.escape, contents))) if contents else None

    def _around_added(self, text: str) -> Iterator[str | AddedToken]:
        by_content = {token.content: token for token in self._model.added_tokens}
        at = 0
        for match in self._verbatim.finditer(text) if self._verbatim else ():
            yield text[at : match.start()]
            yield by_content[match.group()]
            at = match.end()
        yield text[at:]

    def _pre_tokens(self, text: str) -> list[str]:
        pre_tokens = [text]
        for step in self._model.pre_tokenizer:
            assert isinstance(step, Split)
            assert step.behavior is Behavior.MERGED_WITH_NEXT
            assert isinstance(step.pattern, str)
            cut = re.compile(f"(?={step.pattern})")
            pre_tokens = [part for whole in pre_tokens for part in cut.split(whole) if part]
        return pre_tokens

    def _model_ids(self, pre_tokens: list[str]) -> list[int]:
        model = self._model.model
        if isinstance(model, WordLevelModel):
            assert model.unk_id is not None
            ids = [model.vocab.get(word.encode(), model.unk_id) for word in pre_tokens]
            return fused(ids, model.unk_id if model.fuse_unk else None)
        if isinstance(model, GreedyModel):
            return [number for part in pre_tokens for number in greedy(model, part.encode())]
        if isinstance(model, UnigramModel):
            return [number for part in pre_tokens for number in unigram(model, part)]
        assert isinstance(model, BytePairModel)
        return [number for part in pre_tokens for number in byte_pairs(model, part)]


def fused(ids: list[int], unk_id: int | None) -> list[int]:
    """Neighbouring unknown ids made one."""
    return [
        number
        for at, number in enumerate(ids)
        if number != unk_id or at == 0 or ids[at - 1] != unk_id
    ]


def greedy(model: GreedyModel, data: bytes) -> Iterator[int]:
    """The longest token at each place."""
    longest = max(map(len, model.vocab))
    while data:
        size = next(size for size in range(longest, 0, -1) if data[:size] in model.vocab)
        yield model.vocab[data[:size]]
        data = data[size:]


def byte_pairs(model: BytePairModel, text: str) -> list[int]:
    """The best pair first, of equal ones the leftmost, over characters."""
    symbols = list(text)
    ranks = model.ranks or {}
    while model.merges is None:
        pairs = [
            (ranks[number], at)
            for at in range(len(symbols) - 1)
            if (number := model.vocab.get((symbols[at] + symbols[at + 1]).encode())) is not None
        ]
        if not pairs:
            break
        at = min(pairs)[1]
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
    ids: list[int] = []
    unknown = False
    for symbol in symbols:
        number = model.vocab.get(symbol.encode())
        if number is not None:
            ids.append(number)
            unknown = False
        else:
            ids += unknown_ids(model, symbol, unknown)
            unknown = True
    return ids


def unknown_ids(model: BytePairModel, symbol: str, after_unknown: bool) -> list[int]:
    """The bytes of a character that is no token, or the unknown id."""
    assert model.characters is not None
    assert model.unk_id is not None
    if model.characters.byte_ids is not None:
        ids = [model.characters.byte_ids[byte] for byte in symbol.encode()]
        return [number for number in ids if number is not None]
    return [] if model.fuse_unk and after_unknown else [model.unk_id]


def unigram(model: UnigramModel, text: str) -> list[int]:
    """The best path, as the library's EncodeOptimized finds it, with sums rounded to 32 bits."""
    data = text.encode()
    ends: list[tuple[float, int, int | None] | None] = [None] * (len(data) + 1)
    ends[0] = (0.0, 0, None)
    longest = max(map(len, model.vocab))
    at = 0
    for character in text:
        here = ends[at]
        assert here is not None
        size = len(character.encode())
        found = False
        for end in range(at + 1, min(at + longest, len(data)) + 1):
            number = model.vocab.get(data[at:end])
            if number is not None:
                offer(ends, end, model.scores[number] + here[0], at, number)
                found = found or end == at + size
        if not found:
            offer(ends, at + size, model.unk_score + here[0], at, None)
        at += size
    path: list[tuple[int, int, int | None]] = []
    while at:
        node = ends[at]
        assert node is not None
        path.append((node[1], at, node[2]))
        at = node[1]
    ids: list[int] = []
    unknown = False
    for start, end, number in reversed(path):
        if number is not None:
            ids.append(number)
        elif model.byte_ids is not None:
            known = [model.byte_ids[byte] for byte in data[start:end]]
            ids += [number for number in known if number is not None]
        elif not unknown:
            assert model.unk_id is not None
            ids.append(model.unk_id)
        unknown = number is None
    return ids


def offer(
    ends: list[tuple[float, int, int | None] | None],
    end: int,
    score: float,
    start: int,
    number: int | None,
) -> None:
    """Takes a path to ``end`` where it is better than the one that is known."""
    known = ends[end]
    rounded = float(np.float32(score))
    if known is None or rounded > known[0]:
        ends[end] = (rounded, start, number)
