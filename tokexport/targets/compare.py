"""Counts the texts for which another runtime's own algorithm gives different ids than the original
library, so that this is known before a file is shipped.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tokexport.sources.reference import ReferenceStopsError, ReferenceTokenizer
from tokexport.sources.registry import open_source
from tokexport.targets.registry import target_of
from tokexport.targets.target import Runtime
from tokexport.verification.generators import Vocabulary, every
from tokexport.verification.report import Outcome, shown, window

ENCODE: Final = "encode"
DECODE: Final = "decode"
LINES: Final = "lines of files"
NO_SUCH_ID: Final = "(one of the ids is not in the file)"
ONLY_DECODES: Final = "the runtime only decodes, so nothing was encoded"
EXAMPLES: Final = 3  # of each kind


@dataclass(frozen=True, slots=True)
class Example:
    """A text for which the runtime differs. ``action`` is what was done; ``expected`` and ``found``
    are ids, or the decoded text.
    """

    action: str
    text: str
    expected: tuple[int, ...] | str
    found: tuple[int, ...] | str

    def lines(self) -> list[str]:
        """The example for a person."""
        pairs = zip(self.expected, self.found, strict=False)
        same = next((n for n, (a, b) in enumerate(pairs) if a != b), len(self.expected))
        return [
            f"{self.action} {shown(self.text)}",
            f"  library: {window(self.expected, same)}",
            f"  runtime: {window(self.found, same)}",
        ]


@dataclass(frozen=True, slots=True)
class Comparison(Outcome):
    """What was found, with examples of differences."""

    runtime: str
    examples: tuple[Example, ...]
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The outcome for a person: a line per kind, the sum, examples, notes."""
        width = max(map(len, self.counts), default=0)
        lines = [f"{self.runtime} against {self.reference}, seed {self.seed}:"]
        for name, count in self.counts.items():
            wrong = self.differing.get(name, 0)
            lines.append(f"  {name:<{width}}  {wrong:>7,} of {count:,} differ")
        lines.append(f"{self.compared:,} comparisons: {self.differences:,} differ")
        lines += [line for example in self.examples for line in example.lines()]
        return lines + [f"note: {note}" for note in self.notes]


def compare_runtime(
    path: str | os.PathLike[str],
    format: str,
    *,
    against: Any,
    strings: int = 1000,
    seed: int = 0,
    texts: Sequence[str | os.PathLike[str]] = (),
    progress: Callable[[str, int, int], None] | None = None,
    **how: Any,
) -> Comparison:
    """Encodes and decodes with another runtime's file as that runtime does, and compares with the
    library of the source ``against``, which is opened with the options ``how``.

    ``strings`` random strings and the lines of the files ``texts`` are encoded; the library's ids
    are decoded. Special tokens in a text are ids if the runtime finds them, otherwise text.

    Raises SourceError for a file that is not of the format, and TokexportError for a source whose
    library is not installed.
    """
    target = target_of(format)
    runtime = target.runtime(Path(path), how)
    reference = open_source(against, **how).reference()
    added = (token.content for token in reference.added_tokens())
    vocabulary = Vocabulary.of(reference.ids(), reference.token_bytes, added)
    cases = [*every(vocabulary, seed, strings), *_lines(texts)]
    counts, differing = Counter[str](), Counter[str]()
    examples: list[Example] = []
    for number, (name, text) in enumerate(cases):
        if progress is not None and number % 64 == 0:
            progress(name, number, len(cases))
        for kind, example in _compared(runtime, reference, name, text):
            counts[kind] += 1
            if example.expected == example.found:
                continue
            differing[kind] += 1
            if sum(other.action == example.action for other in examples) < EXAMPLES:
                examples.append(example)
    return Comparison(
        f"{reference.library} {reference.version}",
        seed,
        dict(counts),
        dict(differing),
        target.runtime_name,
        tuple(examples),
        (ONLY_DECODES,) if counts.keys() == {DECODE} else (),
    )


def _compared(
    runtime: Runtime, reference: ReferenceTokenizer, name: str, text: str
) -> Iterator[tuple[str, Example]]:
    """One text, encoded and decoded. A text at which the library stops is left out."""
    try:
        expected = reference.encode(text, runtime.finds_special_tokens)
    except ReferenceStopsError:
        return
    found = runtime.encode(text)
    if found is not None:
        yield f"{ENCODE} {name}", Example(ENCODE, text, tuple(expected), tuple(found))
    decoded = reference.decode_batch([expected], False)[0]
    try:
        shown = runtime.decode(expected).decode("utf-8", "replace")
    except (IndexError, KeyError):
        shown = NO_SUCH_ID
    yield DECODE, Example(DECODE, text, decoded, shown)


def _lines(paths: Sequence[str | os.PathLike[str]]) -> Iterator[tuple[str, str]]:
    """The non-empty lines of files, without line ends."""
    for path in paths:
        for line in Path(path).read_bytes().decode("utf-8", "replace").splitlines():
            if line:
                yield LINES, line
