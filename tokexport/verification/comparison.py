"""Compares a file with a reference, text by text, and keeps the books."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tokexport.sources.reference import Mode, ReferenceStopsError, ReferenceTokenizer
from tokexport.verification.report import Difference, Verification
from tokexport.verification.shrink import shrink

if TYPE_CHECKING:
    from tokexport.runtime.tokenizer import Tokenizer

ENCODER: Final = "SPLT"  # a section that every file has which encodes
BATCH_TEXTS: Final = 4000
BATCH_CHARACTERS: Final = 400_000
SHRINK_LIMIT: Final = 20_000  # characters; a longer text is shown as it is


@dataclass(frozen=True, slots=True)
class Part:
    """What one check has found; ``note`` is for the person."""

    counts: Counter[str]
    differing: Counter[str]
    first: Difference | None
    stopped: int
    note: str | None


class Comparison:
    """A file and a reference, side by side."""

    def __init__(
        self, tokenizer: Tokenizer, reference: ReferenceTokenizer, seed: int = 0, threads: int = 0
    ) -> None:
        self.tokenizer = tokenizer
        self.reference = reference
        self.sections = dict(tokenizer.sections())
        self.encodes = ENCODER in self.sections
        self.seed = seed
        self.threads = threads or os.cpu_count()
        self.counts: Counter[str] = Counter()
        self.differing: Counter[str] = Counter()
        self.first: Difference | None = None
        self.stopped = 0  # texts at which the reference itself fails

    def part(self, check: Callable[[Comparison], str | None]) -> Part:
        """What a check finds, apart from what was found before."""
        found = Comparison(self.tokenizer, self.reference, self.seed, self.threads or 0)
        note = check(found)
        return Part(found.counts, found.differing, found.first, found.stopped, note)

    def add(self, part: Part) -> None:
        """Adds what a check has found."""
        self.counts += part.counts
        self.differing += part.differing
        self.first = self.first or part.first
        self.stopped += part.stopped

    def encode(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        """The file's ids of texts in a mode."""
        return self.tokenizer.encode_batch(
            texts,
            allowed_special=self.reference.allowed_special(mode),
            add_special_tokens=mode is Mode.TEMPLATE,
            num_threads=self.threads,
        )

    def texts(
        self,
        check: str,
        cases: Iterable[tuple[str, str]],
        modes: Sequence[Mode],
        *,
        decode: bool = False,
    ) -> None:
        """Compares the ids of every (key, text) in every mode, and where ``decode``, the text of
        these ids, once for the same ids.
        """
        for batch in batches(cases):
            decoded: dict[str, list[list[int]]] = {}
            for mode in modes:
                known = self._known(batch, mode)
                self._encoded(check, known, mode)
                if decode:
                    new = [(key, ids) for key, _, ids in known if ids not in decoded.get(key, ())]
                    self.decodes(f"{check}, decoded", new)
                    for key, ids in new:
                        decoded.setdefault(key, []).append(ids)

    def _known(
        self, batch: Sequence[tuple[str, str]], mode: Mode
    ) -> list[tuple[str, str, list[int]]]:
        """Key, text and the reference's ids; texts at which the reference itself fails are left
        out, and counted.
        """
        try:
            encoded = self.reference.encode_batch([text for _, text in batch], mode)
        except ReferenceStopsError:
            if len(batch) == 1:
                self.stopped += 1
                return []
            return [known for case in batch for known in self._known([case], mode)]
        return [(key, text, ids) for (key, text), ids in zip(batch, encoded, strict=True)]

    def _encoded(self, check: str, known: Sequence[tuple[str, str, list[int]]], mode: Mode) -> None:
        texts = [text for _, text, _ in known]
        try:
            found: Sequence[list[int] | str] = self.encode(texts, mode)
        except (
            Exception
        ):  # whatever the file does wrong is what is looked for: find out which text it is
            found = [self._ids_or_error(text, mode) for text in texts]
        self.counts[check] += len(texts)
        for (key, text, wanted), got in zip(known, found, strict=True):
            if wanted != got:
                self._encode_differs(check, key, text, mode, wanted, got)

    def decodes(self, check: str, cases: Sequence[tuple[str, Sequence[int]]]) -> None:
        """Compares what ids decode to, with special tokens and without."""
        for skip in (False, True):
            for key, ids, wanted in self._decoded(cases, skip):
                self.counts[check] += 1
                got = self._text_or_error(ids, skip)
                if wanted != got:
                    action = "decode without special tokens" if skip else "decode"
                    self.differs(Difference(check, key, action, None, tuple(ids), wanted, got))

    def streams(self, check: str, cases: Sequence[tuple[str, Sequence[int]]]) -> None:
        """Compares what ids decode to one at a time, with special tokens and without."""
        for skip in (False, True):
            for key, ids, wanted in self._decoded(cases, skip):
                self.counts[check] += 1
                got = self._stream_or_error(ids, skip)
                if wanted != got:
                    action = "decode as a stream" + " without special tokens" * skip
                    self.differs(Difference(check, key, action, None, tuple(ids), wanted, got))

    def _decoded(
        self, cases: Sequence[tuple[str, Sequence[int]]], skip: bool
    ) -> list[tuple[str, Sequence[int], str]]:
        """Key, ids and the reference's text; ids at which the reference itself fails are left out,
        and counted.
        """
        try:
            texts = self.reference.decode_batch([ids for _, ids in cases], skip)
        except ReferenceStopsError:
            if len(cases) == 1:
                self.stopped += 1
                return []
            half = len(cases) // 2
            return [*self._decoded(cases[:half], skip), *self._decoded(cases[half:], skip)]
        return [(key, ids, text) for (key, ids), text in zip(cases, texts, strict=True)]

    def value(
        self,
        check: str,
        key: str,
        action: str,
        expected: bytes | str,
        found: bytes | str,
        ids: tuple[int, ...] | None = None,
        text: str | None = None,
    ) -> None:
        """Compares two values that somebody else has fetched."""
        self.counts[check] += 1
        if expected != found:
            self.differs(Difference(check, key, action, text, ids, expected, found))

    def differs(self, difference: Difference) -> None:
        """Notes a difference; the first one is kept."""
        self.differing[difference.check] += 1
        self.first = self.first or difference

    def result(self, notes: tuple[str, ...] = (), again: str = "") -> Verification:
        """All that was found. ``again`` is the command that repeats a comparison."""
        first = self.first
        if first is not None and again:
            command = f"{again} --seed {self.seed} --only {shlex.quote(first.key)}"
            first = replace(first, reproduce=(command,))
        if self.stopped:
            library = f"{self.reference.library} {self.reference.version}"
            notes = (
                *notes,
                f"{self.stopped:,} texts were left out: {library} itself fails at them",
            )
        return Verification(
            library=self.reference.library,
            version=self.reference.version,
            seed=self.seed,
            counts=dict(self.counts),
            differing=dict(self.differing),
            first=first,
            notes=notes,
        )

    def _encode_differs(
        self,
        check: str,
        key: str,
        text: str,
        mode: Mode,
        expected: list[int],
        found: list[int] | str,
    ) -> None:
        got = found if isinstance(found, str) else tuple(found)
        difference = Difference(
            check, key, f"encode, {mode.value}", text, None, tuple(expected), got
        )
        if self.first is None:
            starts = self.reference.starts(text, mode)
            offset = (
                starts[difference.index] if difference.index < len(starts) else len(text.encode())
            )
            smallest = (
                shrink(text, lambda part: self._differs_alone(part, mode))
                if len(text) <= SHRINK_LIMIT
                else None
            )
            difference = replace(difference, byte_offset=offset, smallest=smallest)
        self.differs(difference)

    def _differs_alone(self, text: str, mode: Mode) -> bool:
        known = self._known([("", text)], mode)
        return bool(known) and known[0][2] != self._ids_or_error(text, mode)

    def _ids_or_error(self, text: str, mode: Mode) -> list[int] | str:
        try:
            return self.encode([text], mode)[0]
        except (
            Exception
        ) as error:  # any error is a difference, and its sentence is what the report shows
            return f"{type(error).__name__}: {error}"

    def _stream_or_error(self, ids: Sequence[int], skip: bool) -> str:
        stream = self.tokenizer.decode_stream(skip_special_tokens=skip)
        try:
            return "".join(part or "" for part in (*map(stream.step, ids), stream.flush()))
        except Exception as error:  # as above
            return f"{type(error).__name__}: {error}"

    def _text_or_error(self, ids: Sequence[int], skip: bool) -> str:
        try:
            return self.tokenizer.decode(ids, skip_special_tokens=skip)
        except Exception as error:  # as above
            return f"{type(error).__name__}: {error}"


def batches(cases: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Groups of texts that are neither too many nor too long together; a text longer than that is a
    group alone.

    >>> [len(batch) for batch in batches([("a", "x" * 300_000), ("b", "y" * 300_000)])]
    [1, 1]
    """
    iterator = iter(cases)
    batch: list[tuple[str, str]] = []
    size = 0
    for case in iterator:
        if batch and (len(batch) == BATCH_TEXTS or size + len(case[1]) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(case)
        size += len(case[1])
    if batch:
        yield batch
