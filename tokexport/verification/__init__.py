"""Shows that a tokexport file gives the ids of the library that its source belongs to, and counts
what it compared.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.sources.references import ReferenceTokenizer, reference_for, version_note
from tokexport.verification.again import compare_again
from tokexport.verification.classes import check_classes
from tokexport.verification.comparison import Comparison, Progress
from tokexport.verification.generators import Vocabulary
from tokexport.verification.ids import check_ids, check_sequences
from tokexport.verification.offsets import check_offsets
from tokexport.verification.report import Difference, Verification
from tokexport.verification.texts import check_file, check_pairs, check_strings, check_surrogates
from tokexport.verification.tokens import check_added_tokens, check_tokens

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

__all__ = ["Difference", "Progress", "Verification", "compare", "verify"]

ENCODER = "SPLT"  # a section that every file has which encodes
PAIRS_IN_STRINGS = 200  # one pair for so many strings
OFFSETS_IN_STRINGS = 20  # one string whose offsets are compared for so many strings
SEQUENCES_IN_STRINGS = 5  # one sequence of random ids for so many strings


def verify(
    path: str | os.PathLike[str],
    *,
    against: str | os.PathLike[str] | tiktoken.Encoding | tokenizers.Tokenizer,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    revision: str | None = None,
    strings: int = 100_000,
    seed: int = 0,
    texts: Sequence[str | os.PathLike[str]] = (),
    only: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Compares a tokexport file with the source that it was made from, as the reference library
    reads that.

    ``against``, ``pattern``, ``special_tokens`` and ``revision`` are those of
    :func:`tokexport.convert`. ``strings`` is the number of random strings; each is a function of
    ``seed``, its generator and its index. ``texts`` are files to compare whole and by lines.
    ``only`` repeats one comparison, by the key that a :class:`Difference` has.

    Raises FormatError for a file that is none, SourceError for a source that the library refuses,
    and TokexportError if the library is not installed or ``only`` names nothing.

    >>> import tiktoken
    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    >>> source = tiktoken.Encoding("tiny", pat_str=r"\\w+|\\W", mergeable_ranks=ranks, special_tokens={"<end>": 257})
    >>> path = tokexport.convert(source, directory / "tiny.bin", force=True).target
    >>> verify(path, against=source, only="added-tokens:7").lines()[-1]
    '7 comparisons: no differences'
    """
    tokenizer = load(path)
    reference = reference_for(
        against, pattern=pattern, special_tokens=special_tokens, revision=revision
    )
    return compare(
        tokenizer,
        reference,
        strings=strings,
        seed=seed,
        texts=texts,
        only=only,
        progress=progress,
        again=_command(path, against, pattern, special_tokens is not None, revision),
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
    token_step: int = 1,
) -> Verification:
    """What :func:`verify` does, with three that are open.

    ``again`` is the command that repeats a comparison. ``code_points=False`` leaves the code points
    out, which take longest. Of the tokens, each ``token_step``-th is encoded.
    """
    comparison = Comparison(tokenizer, reference, seed, again, progress)
    vocabulary = Vocabulary(
        tokens=tuple(
            token for id in reference.ids() if (token := _material(tokenizer, reference, id))
        ),
        added=tuple(token.content for token in reference.added_tokens()),
    )
    notes = [note for note in (version_note(reference),) if note is not None]
    if only is not None:
        compare_again(comparison, vocabulary, only)
        return comparison.result(tuple(notes))
    check_ids(comparison)
    check_sequences(comparison, strings // SEQUENCES_IN_STRINGS)
    if ENCODER not in comparison.sections:
        notes.append(
            "the file is decode-only: there is nothing in it that encodes, so nothing was encoded"
        )
        return comparison.result(tuple(notes))
    check_tokens(comparison, step=token_step)
    check_added_tokens(comparison)
    if code_points:
        check_classes(comparison)
    check_strings(comparison, vocabulary, strings)
    check_pairs(comparison, vocabulary, range(strings // PAIRS_IN_STRINGS))
    check_surrogates(comparison)
    notes += [
        note
        for note in (check_offsets(comparison, vocabulary, range(strings // OFFSETS_IN_STRINGS)),)
        if note
    ]
    notes += [
        note for note in (check_file(comparison, Path(text)) for text in texts) if note is not None
    ]
    return comparison.result(tuple(notes))


def _material(tokenizer: Tokenizer, reference: ReferenceTokenizer, id: int) -> bytes | None:
    """What strings are made of: the bytes of a token, those of the file where the library does not
    say.
    """
    token = reference.token_bytes(id)
    if token is None:
        with suppress(KeyError):  # counted as a difference where ids are decoded
            token = tokenizer.decode_single_token_bytes(id)
    return token


def _command(
    path: object, against: object, pattern: str | None, special_tokens: bool, revision: str | None
) -> str:
    """The command line that verifies the same two; nothing for a source that is no file."""
    if not isinstance(against, (str, os.PathLike)):
        return ""
    words = ["tokexport", "verify", str(path), "--against", os.fspath(against)]
    if pattern is not None:
        words += ["--pattern", pattern]
    if special_tokens:
        words += ["--special-tokens", "FILE.json"]
    if revision is not None:
        words += ["--revision", revision]
    return shlex.join(words)
