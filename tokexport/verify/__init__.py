"""Shows that a tokexport file gives the ids of the library that its source belongs to, and counts what it compared."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tokexport.errors import TokexportError
from tokexport.references import ReferenceTokenizer, reference_for, version_note
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.strings import GENERATORS, Vocabulary
from tokexport.verify.classes import check_classes
from tokexport.verify.comparison import Comparison, Progress
from tokexport.verify.ids import check_ids, check_sequences
from tokexport.verify.report import Difference, Verification
from tokexport.verify.texts import check_file, check_pairs, check_string, check_strings, check_surrogates
from tokexport.verify.tokens import check_added_tokens, check_tokens

if TYPE_CHECKING:
    import tiktoken

__all__ = ["Difference", "Progress", "Verification", "compare", "verify"]

KINDS = ("id", "ids", "token", "added", "class", "pair", "surrogates", "file", "line")
PAIRS_IN_STRINGS = 200  # one pair for so many strings
SEQUENCES_IN_STRINGS = 5  # one sequence of random ids for so many strings


def verify(
    path: str | os.PathLike[str],
    *,
    against: str | os.PathLike[str] | tiktoken.Encoding,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    strings: int = 100_000,
    seed: int = 0,
    texts: Sequence[str | os.PathLike[str]] = (),
    only: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Compares a tokexport file with the source that it was made from, as the reference library reads that.

    ``against``, ``pattern`` and ``special_tokens`` are those of :func:`tokexport.convert`. ``strings`` is the number
    of random strings; each is a function of ``seed``, its generator and its index. ``texts`` are files to compare
    whole and by lines. ``only`` repeats one comparison, by the key that a :class:`Difference` has.

    Raises FormatError for a file that is none, SourceError for a source that the library refuses, and TokexportError
    if the library is not installed or ``only`` names nothing.

    >>> verify(directory / "tiny.bin", against=encoding, strings=100).ok
    True
    """
    tokenizer = load(path)
    reference = reference_for(against, pattern=pattern, special_tokens=special_tokens)
    return compare(
        tokenizer,
        reference,
        strings=strings,
        seed=seed,
        texts=texts,
        only=only,
        progress=progress,
        again=_command(path, against, pattern),
    )


def compare(
    tokenizer: Tokenizer,
    reference: ReferenceTokenizer,
    *,
    strings: int = 100_000,
    seed: int = 0,
    texts: Sequence[str | os.PathLike[str]] = (),
    only: str | None = None,
    progress: Progress | None = None,
    again: str = "",
    code_points: bool = True,
) -> Verification:
    """What :func:`verify` does, with two that are open.

    ``again`` is the command that repeats a comparison. ``code_points=False`` leaves the code points out, which take longest.
    """
    comparison = Comparison(tokenizer, reference, seed, again, progress)
    vocabulary = Vocabulary(
        tokens=tuple(token for token in map(reference.token_bytes, reference.ids()) if token),
        added=tuple(token.content for token in reference.added_tokens()),
    )
    notes = [note for note in (version_note(reference),) if note is not None]
    if only is not None:
        _one(comparison, vocabulary, only)
        return comparison.result(tuple(notes))
    check_ids(comparison)
    check_sequences(comparison, strings // SEQUENCES_IN_STRINGS)
    check_tokens(comparison)
    check_added_tokens(comparison)
    if code_points:
        check_classes(comparison)
    check_strings(comparison, vocabulary, strings)
    check_pairs(comparison, vocabulary, range(strings // PAIRS_IN_STRINGS))
    check_surrogates(comparison)
    notes += [note for note in (check_file(comparison, Path(text)) for text in texts) if note is not None]
    return comparison.result(tuple(notes))


def _one(comparison: Comparison, vocabulary: Vocabulary, key: str) -> None:
    """Repeats the comparison of one key."""
    kind, _, name = key.partition(":")
    try:
        if kind == "id":
            check_ids(comparison, int(name))
        elif kind == "ids":
            check_sequences(comparison, 1, int(name))
        elif kind == "token":
            check_tokens(comparison, int(name))
        elif kind == "added":
            check_added_tokens(comparison, int(name))
        elif kind == "class":
            check_classes(comparison, int(name, 16))
        elif kind == "pair":
            check_pairs(comparison, vocabulary, [int(name)])
        elif kind == "surrogates":
            check_surrogates(comparison)
        elif kind == "file":
            check_file(comparison, Path(name))
        elif kind == "line":
            check_file(comparison, Path(name.rpartition(":")[0]))
        elif kind in GENERATORS:
            check_string(comparison, vocabulary, kind, [int(name)])
        else:
            raise ValueError
    except ValueError:
        kinds = [*KINDS, *GENERATORS]
        raise TokexportError(
            f"only: {key!r} names no comparison; it is KIND:NAME, KIND one of {', '.join(kinds)}"
        ) from None


def _command(path: object, against: object, pattern: str | None) -> str:
    """The command line that verifies the same two; nothing for a source that is no file."""
    if not isinstance(against, (str, os.PathLike)):
        return ""
    words = ["tokexport", "verify", str(path), "--against", os.fspath(against)]
    if pattern is not None:
        words += ["--pattern", pattern]
    return shlex.join(words)
