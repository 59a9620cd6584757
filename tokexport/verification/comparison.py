"""Compares a file with a reference, text by text, and counts."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from tokexport.runtime.tokenizer import Tokenizer
from tokexport.sources.reference import Mode, ReferenceStopsError, ReferenceTokenizer
from tokexport.verification.report import Difference, Verification

Item = TypeVar("Item")
Result = TypeVar("Result")
Case: TypeAlias = tuple[str, str]  # key and text
Ids: TypeAlias = Sequence[int]
Modes: TypeAlias = Sequence[Mode]
Encoded: TypeAlias = list[int] | str  # ids, or an error message
Value: TypeAlias = bytes | str | tuple[int, ...]
ENCODER: Final = "SPLT"  # a section of every file that encodes
BATCH_TEXTS: Final = 4000
BATCH_CHARACTERS: Final = 400_000
# Both implementations encode each text; in a program, the sizes of texts determine which one does.
# By name, the size in bytes of the smallest text that the bulk engine encodes.
BULK_FROM: Final = {"engine": 0, "core": sys.maxsize}
LONG: Final = 1 << 16  # characters; two threads of the engine encode a longer text, too, in parts
WAYS: Final = (*BULK_FROM, "threads")
SHRINK_LIMIT: Final = 20_000  # characters; a longer text is not shrunk


@dataclass(slots=True)
class Found:
    """What was compared, what differs, and the number of texts at which the reference fails."""

    counts: Counter[str] = field(default_factory=Counter)
    differing: Counter[str] = field(default_factory=Counter)
    first: Difference | None = None
    stopped: int = 0
    notes: list[str] = field(default_factory=list)  # for the user

    def add(self, other: Found) -> None:
        self.counts += other.counts
        self.differing += other.differing
        self.first = self.first or other.first
        self.stopped += other.stopped
        self.notes += [note for note in other.notes if note not in self.notes]


class Comparison:
    """A file, its reference, and what their comparison found."""

    def __init__(self, tokenizer: Tokenizer, reference: ReferenceTokenizer, seed: int = 0) -> None:
        # With empty caches, so that no comparison depends on the ones before it. `tokenizer` is the
        # core, which also decodes and gives offsets.
        self.engine, self.tokenizer = map(tokenizer._with_bulk_from, BULK_FROM.values())
        self.reference = reference
        self.sections = dict(tokenizer.sections())
        self.encodes = ENCODER in self.sections
        self.seed = seed
        self.found = Found()

    def part(self, check: Callable[[Comparison], object]) -> Found:
        """What one check finds, apart from previous findings."""
        apart = Comparison(self.tokenizer, self.reference, self.seed)
        check(apart)
        return apart.found

    def each(self, encode: Callable[[Tokenizer], Result]) -> list[Result | str]:
        """What the engine gives, and what the core gives, or their error messages."""
        return [or_error(partial(encode, file)) for file in (self.engine, self.tokenizer)]

    def how(self, mode: Mode) -> dict[str, Any]:
        allowed = self.reference.allowed_special(mode)
        return {"allowed_special": allowed, "add_special_tokens": mode is Mode.TEMPLATE}

    def texts(self, check: str, cases: Iterable[Case], modes: Modes, decode: bool = False) -> None:
        """Compares ids of (key, text) in each mode; with ``decode``, also their text, once."""
        for batch in batches(cases):
            decoded: dict[str, list[list[int]]] = {}
            for mode in modes:
                known = self._known(batch, mode)
                self._encoded(check, known, mode)
                if decode:
                    new = [(key, ids) for (key, _), ids in known if ids not in decoded.get(key, ())]
                    self.decodes(f"{check}, decoded", new)
                    for key, ids in new:
                        decoded.setdefault(key, []).append(ids)

    def answers(
        self, questions: Sequence[Item], ask: Callable[[Sequence[Item]], Sequence[Result]]
    ) -> list[tuple[Item, Result]]:
        """Questions with the reference's answers; those that stop it are only counted."""
        try:
            return [*zip(questions, ask(questions), strict=True)]
        except ReferenceStopsError:
            half = len(questions) // 2
            if half == 0:
                self.found.stopped += 1
                return []
            return [*self.answers(questions[:half], ask), *self.answers(questions[half:], ask)]

    def _known(self, batch: Sequence[Case], mode: Mode) -> list[tuple[Case, list[int]]]:
        encode = self.reference.encode_batch
        return self.answers(batch, lambda cases: encode([text for _, text in cases], mode))

    def _encoded(self, check: str, known: Sequence[tuple[Case, list[int]]], mode: Mode) -> None:
        texts = [text for (_, text), _ in known]
        self.found.counts[check] += len(texts)
        for (case, wanted), got in zip(known, self._ids(texts, mode), strict=True):
            if got.count(wanted) < len(got):
                self._encode_differs(check, case, mode, wanted, got)

    def decodes(self, check: str, cases: Sequence[tuple[str, Ids]], stream: bool = False) -> None:
        """Compares what ids decode to; with ``stream``, one id at a time."""
        text, decode = self._streamed if stream else self._text, self.reference.decode_batch
        for skip in (False, True):
            action = "decode" + " as a stream" * stream + " without special tokens" * skip
            ask = partial(lambda skip, cases: decode([ids for _, ids in cases], skip), skip)
            for (key, ids), wanted in self.answers(cases, ask):
                got = or_error(partial(text, ids, skip))
                self.value(check, key, action, ids, wanted, got)

    def _text(self, ids: Ids, skip: bool) -> str:
        return self.tokenizer.decode(ids, skip_special_tokens=skip)

    def _streamed(self, ids: Ids, skip: bool) -> str:
        stream = self.tokenizer.decode_stream(skip_special_tokens=skip)
        return "".join(part or "" for part in (*map(stream.step, ids), stream.flush()))

    def value(
        self, check: str, key: str, action: str, of: str | Ids, expected: Value, *found: Value
    ) -> None:
        """Compares a value of a text or of ids with the file's, or with those of :meth:`each`."""
        self.found.counts[check] += 1
        text, ids = (of, None) if isinstance(of, str) else (None, tuple(of))
        if found.count(expected) < len(found):
            got, by = wrong(expected, found)
            self.differs(Difference(check, key, action, text, ids, expected, got, by=by))

    def differs(self, difference: Difference) -> None:
        """Counts a difference; keeps the first one."""
        self.found.differing[difference.check] += 1
        self.found.first = self.found.first or difference

    def result(self, notes: Sequence[str] = (), again: str = "") -> Verification:
        """All findings. ``again`` is the command that repeats a comparison."""
        found, library = self.found, f"{self.reference.library} {self.reference.version}"
        first, said = found.first, [*notes, *found.notes]
        if first is not None and again:
            command = f"{again} --seed {self.seed} --only {shlex.quote(first.key)}"
            first = replace(first, reproduce=(command,))
        if found.stopped:
            why = "" if self.reference.reading_note is None else ", or a note says why"
            said.append(
                f"{found.stopped:,} texts were left out: {library} itself fails on them{why}"
            )
        counts, differing = dict(found.counts), dict(found.differing)
        return Verification(library, self.seed, counts, differing, first, tuple(said))

    def shortest(self, text: str, differs: Callable[[str], bool]) -> str | None:
        """The shortest differing part of a text; only for the first difference, in a short text."""
        if self.found.first is not None or len(text) > SHRINK_LIMIT:
            return None
        return shrink(text, differs)

    def _encode_differs(
        self, check: str, case: Case, mode: Mode, wanted: list[int], got: Sequence[Encoded]
    ) -> None:
        (found, by), (key, text) = wrong(wanted, got), case
        ids, action = found if isinstance(found, str) else tuple(found), f"encode, {mode.value}"
        difference = Difference(check, key, action, text, None, tuple(wanted), ids, by=by)
        if self.found.first is None:
            starts = [*self.reference.starts(text, mode), len(text.encode())]
            offset = starts[min(difference.index, len(starts) - 1)]
            smallest = self.shortest(text, lambda part: self._differs_alone(part, mode))
            difference = replace(difference, byte_offset=offset, smallest=smallest)
        self.differs(difference)

    def _differs_alone(self, text: str, mode: Mode) -> bool:
        known = self._known([("", text)], mode)
        return any(got.count(ids) < len(got) for _, ids in known for got in self._ids([text], mode))

    def _ids(self, texts: Sequence[str], mode: Mode) -> list[tuple[Encoded, ...]]:
        """What each text is encoded to, in each of the WAYS."""
        ways = [(self.engine, 1), (self.tokenizer, 1)]
        if len(texts) == 1 and len(texts[0]) > LONG:
            ways.append((self.engine, 2))
        how = self.how(mode)
        encode = [partial(file.encode_batch, num_threads=number, **how) for file, number in ways]
        return [*zip(*(ids_or_errors(each, texts) for each in encode), strict=True)]


def ids_or_errors(
    encode: Callable[[Sequence[str]], list[list[int]]], texts: Sequence[str]
) -> Sequence[Encoded]:
    ids = or_error(partial(encode, texts))
    if isinstance(ids, str):  # find out which text causes it
        return [or_error(partial(lambda text: encode([text])[0], text)) for text in texts]
    return ids


def wrong(expected: Result, found: Sequence[Result | str]) -> tuple[Result | str, tuple[str, ...]]:
    """The first of the values in the order of WAYS that is not the expected one, and the ways in
    which it is not; none if all are wrong.
    """
    values = {way: value for way, value in zip(WAYS, found, strict=False) if value != expected}
    ways = tuple(values) if len(values) < len(found) else ()
    return next(iter(values.values())), ways


def or_error(call: Callable[[], Result]) -> Result | str:
    """The result of a call to the file, or its error message, which counts as a difference."""
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def batches(cases: Iterable[Case]) -> Iterator[list[Case]]:
    """Groups of texts of limited number and total length; or of one long text.

    >>> [len(batch) for batch in batches([("a", "x" * 300_000), ("b", "y" * 300_000)])]
    [1, 1]
    """
    batch: list[Case] = []
    size = 0
    for case in cases:
        if batch and (len(batch) == BATCH_TEXTS or size + len(case[1]) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(case)
        size += len(case[1])
    if batch:
        yield batch


def shrink(text: str, differs: Callable[[str], bool]) -> str:
    """The shortest text found by leaving out parts while ``differs`` stays true, called at most 600
    times. First halves are left out, then quarters, down to single characters: delta debugging
    (Zeller and Hildebrandt, IEEE TSE 28, 2002).

    >>> shrink("some long text with an x in it", lambda text: "x" in text and "t" in text)
    'xt'
    """
    size, tries = max(1, len(text) // 2), 600
    while tries > 0:
        start = 0
        shorter = text
        while start < len(shorter) and tries > 0:
            candidate = shorter[:start] + shorter[start + size :]
            tries -= 1
            if candidate and differs(candidate):
                shorter = candidate
            else:
                start += size
        if size == 1 and shorter == text:
            break
        text = shorter
        size = max(1, min(size // 2, len(text) // 2))
    return text
