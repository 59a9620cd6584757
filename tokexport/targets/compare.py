"""Counts the texts for which another runtime's own algorithm gives different ids than the original
library, so that this is known before a file is shipped.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from tokexport.errors import reading
from tokexport.sources.reference import ReferenceStopsError, ReferenceTokenizer
from tokexport.sources.registry import open_source
from tokexport.targets.registry import target_of
from tokexport.targets.target import Runtime
from tokexport.verification.generators import Vocabulary, every
from tokexport.verification.report import Difference, Verification

Value = tuple[int, ...] | str  # ids, or the decoded text

ENCODE: Final = "encode"
DECODE: Final = "decode"
LINES: Final = "lines of files"
NO_SUCH_ID: Final = "(one of the ids is not in the file)"
ONLY_DECODES: Final = "the runtime only decodes, so nothing was encoded"
EXAMPLES: Final = 3  # of each kind


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
) -> Verification:
    """Encodes and decodes with another runtime's file as that runtime does, and compares with the
    library of the source ``against``, which is opened with the options ``how``.

    ``strings`` random strings and the lines of the files ``texts`` are encoded; the library's ids
    are decoded. Special tokens in a text are ids if the runtime finds them, otherwise text.

    Raises SourceError for a file that is not of the format, and TokexportError for a source whose
    library is not installed.
    """
    target = target_of(format)
    with reading(path):
        runtime = target.runtime(Path(path), how)
    reference = open_source(against, **how).reference()
    added = (token.content for token in reference.added_tokens())
    vocabulary = Vocabulary.of(reference.ids(), reference.token_bytes, added)
    contents = (Path(path).read_bytes().decode("utf-8", "replace") for path in texts)
    lines = (line for content in contents for line in content.splitlines() if line)
    cases = [*every(vocabulary, seed, strings), *((LINES, line) for line in lines)]
    counts, differing = Counter[str](), Counter[str]()
    examples: list[Difference] = []
    for number, (name, text) in enumerate(cases):
        if progress is not None and number % 64 == 0:
            progress(name, number, len(cases))
        for action, expected, found in _compared(runtime, reference, text):
            kind = DECODE if action == DECODE else f"{ENCODE} {name}"
            counts[kind] += 1
            if expected == found:
                continue
            differing[kind] += 1
            if sum(other.action == action for other in examples) < EXAMPLES:
                examples.append(Difference(name, "", action, text, None, expected, found))
    return Verification(
        f"{reference.library} {reference.version}",
        seed,
        dict(counts),
        dict(differing),
        notes=(ONLY_DECODES,) if counts.keys() == {DECODE} else (),
        runtime=target.runtime_name,
        examples=tuple(examples),
    )


def _compared(
    runtime: Runtime, reference: ReferenceTokenizer, text: str
) -> Iterator[tuple[str, Value, Value]]:
    """What a text and its ids become by the library and the runtime, unless the library stops."""
    try:
        expected = reference.encode(text, runtime.finds_special_tokens)
    except ReferenceStopsError:
        return
    found = runtime.encode(text)
    if found is not None:
        yield ENCODE, tuple(expected), tuple(found)
    try:
        shown = runtime.decode(expected).decode("utf-8", "replace")
    except (IndexError, KeyError):
        shown = NO_SUCH_ID
    yield DECODE, reference.decode_batch([expected], False)[0], shown
