"""Checks that a file gives the ids of its source's own library, and counts what it compared."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, SupportsIndex

from tokexport.errors import TokexportError
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.sources.reference import ReferenceTokenizer, reference_notes
from tokexport.sources.registry import Opened, open_source
from tokexport.verification.comparison import Comparison
from tokexport.verification.generators import Vocabulary
from tokexport.verification.plan import Extent, task_of_key, tasks_of
from tokexport.verification.report import Difference, Verification
from tokexport.verification.work import in_order

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

__all__ = ["Difference", "Progress", "Verification", "compare", "verify"]

# Called before each task with its name, the number of finished tasks, and the number of tasks.
Progress = Callable[[str, int, int], None]
NOT_ALONE: Final = (
    "the first difference depends on what was compared before it: the same command repeats it, but"
    " not --only {}"
)


def verify(
    path: str | os.PathLike[str],
    *,
    against: str | os.PathLike[str] | tiktoken.Encoding | tokenizers.Tokenizer,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    revision: str | None = None,
    reference: Literal["transformers"] | None = None,
    strings: int = 100_000,
    seed: int = 0,
    texts: Sequence[str | os.PathLike[str]] = (),
    only: str | None = None,
    quick: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Verification:
    """Compares a tokexport file with its source as the reference reads it.

    ``against``, ``pattern``, ``special_tokens``, ``revision`` and ``reference`` are those of
    :func:`tokexport.convert`. ``strings`` is the number of random strings; each is a function of
    ``seed``, its generator and its index. ``texts`` are files to compare whole and by lines.
    ``only`` repeats one comparison, by the key of a :class:`Difference`. ``quick`` compares a
    sample in a second or two after its library has loaded the source. ``jobs`` is the number of
    forked processes; the outcome does not depend on it.

    Each text is encoded by the C core alone and by the bulk engine alone, which otherwise encodes
    only long texts; one of more than 65,536 characters also for two threads, which cut it.

    Raises FormatError for anything but a tokexport file, SourceError for a source that the library
    refuses, and TokexportError if the library is not installed or ``only`` is unknown.

    >>> import tiktoken
    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    >>> how = {"pat_str": r"\\w+|\\W", "mergeable_ranks": ranks}
    >>> source = tiktoken.Encoding("tiny", **how, special_tokens={"<end>": 257})
    >>> path = tokexport.convert(source, directory / "tiny.bin", force=True).target
    >>> verify(path, against=source, only="added-tokens:7").lines()[-1]
    '7 comparisons: no differences'
    """
    how: dict[str, Any] = {"pattern": pattern, "revision": revision, "reference": reference}
    tokenizer = load(path)
    opened = open_source(against, special_tokens=special_tokens, **how)
    note = another_source(tokenizer, opened)
    if note is not None and progress is not None:
        progress(note, 0, 0)
    return compare(
        tokenizer,
        opened.reference(),
        strings=strings,
        seed=seed,
        texts=texts,
        only=only,
        quick=quick,
        jobs=jobs,
        progress=progress,
        again=_command(
            path, against, {**how, "special-tokens": special_tokens and "FILE.json"}, quick
        ),
        notes=() if note is None else (note,),
    )


def compare(
    tokenizer: Tokenizer,
    reference: ReferenceTokenizer,
    *,
    strings: int = 100_000,
    seed: int = 0,
    texts: Sequence[str | os.PathLike[str]] = (),
    only: str | None = None,
    quick: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
    again: str = "",
    notes: tuple[str, ...] = (),
    code_points: bool = True,
    token_step: int = 1,
) -> Verification:
    """Like :func:`verify`, for an open tokenizer and an open reference.

    ``again`` is the command that repeats a comparison. ``code_points=False`` leaves out the code
    points, which take longest. Every ``token_step``-th token is encoded.
    """
    for name, number in (("strings", strings), ("seed", seed), ("jobs", jobs)):
        if not isinstance(number, SupportsIndex):
            raise TypeError(f"{name} must be an int, not {type(number).__name__}")
    if strings < 0 or jobs < 1:
        raise ValueError(f"strings ({strings}) must be at least 0, and jobs ({jobs}) at least 1")
    if isinstance(texts, str | os.PathLike) or not isinstance(texts, Iterable):
        raise TypeError(f"texts must be several paths, not {type(texts).__name__}")
    if not isinstance(only, str | None):
        raise TypeError(f"only must be a str or None, not {type(only).__name__}")
    comparison = Comparison(tokenizer, reference, seed)
    ids = reference.ids()
    extent = Extent(strings, token_step=token_step, group_step=int(code_points))
    if quick:
        extent = Extent.quick(len(ids), len(reference.added_tokens()))
    vocabulary = Vocabulary.of(
        ids[:: extent.vocabulary_step],
        # A KeyError is counted as a difference when ids are decoded.
        lambda id: reference.token_bytes(id) or tokenizer.decode_single_token_bytes(id),
        (token.content for token in reference.added_tokens()),
    )
    said = [*notes, *reference_notes(reference)]
    if quick:
        said.append("--quick compared a sample; without it every id and token is compared")
    if not comparison.encodes:
        said.append("the file is decode-only, so nothing was encoded")
    tasks = [*tasks_of(comparison, vocabulary, extent, [Path(text) for text in texts])]
    if only is not None:
        tasks = [task_of_key(comparison, vocabulary, only)]
    parts = in_order([partial(comparison.part, check) for _, check in tasks], jobs)
    for number, (name, _) in enumerate(tasks):
        if progress is not None:
            progress(name, number, len(tasks))
        comparison.found.add(next(parts))
    if only is not None and not comparison.found.counts and not comparison.found.stopped:
        raise TokexportError(
            f"only (--only) is {only!r}, and the file has nothing to compare there",
            "the number of a token is its id, and added tokens have keys of their own (added:ID)",
        )
    if only is None and (first := comparison.found.first) is not None:
        # Alone, with empty caches: what `only` will show.
        alone = comparison.part(task_of_key(comparison, vocabulary, first.key)[1]).first
        if alone is None:
            said.append(NOT_ALONE.format(first.key))
            again = ""
        comparison.found.first = alone or first
    return comparison.result(said, again)


def another_source(tokenizer: Tokenizer, opened: Opened) -> str | None:
    """A sentence if, by its digests, the file was made from another source; otherwise None."""
    digests = tokenizer.provenance.get("sha256")
    if not isinstance(digests, dict) or not digests:
        return None
    read = opened.input.files.sha256
    others = [name for name, digest in read.items() if digest not in digests.values()]
    problem = f"{', '.join(others)}: not what the file was made from, as the SHA-256 differs"
    return problem if others else None


def _command(path: object, against: object, how: Mapping[str, Any], quick: bool) -> str:
    """The command line that repeats the verification; empty if the source is not a file."""
    if not isinstance(against, (str, os.PathLike)):
        return ""
    options = [word for name, value in how.items() if value for word in (f"--{name}", str(value))]
    options += ["--quick"] * quick
    return shlex.join(["tokexport", "verify", str(path), "--against", os.fspath(against), *options])
