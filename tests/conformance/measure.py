"""One tokenizer: converted, compared with its library, with texts and with published vectors."""

import tempfile
import traceback
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tokexport import Tokenizer, load
from tokexport.cli.console import plural
from tokexport.conversion import convert
from tokexport.errors import MissingLibraryError, SourceError, UnsupportedError
from tokexport.model import (
    BytePairModel,
    CharacterSymbols,
    GreedyModel,
    Model,
    UnigramModel,
    WordLevelModel,
    WordPieceModel,
)
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.registry import open_source
from tokexport.verification import compare
from tokexport.verification.texts import FILES, LINES, PAIRS

from .find import Found
from .vectors import Vectors, compare_vectors


@dataclass(frozen=True)
class Job:
    """A tokenizer to measure, with the options of the run."""

    folder: Path
    found: Found
    strings: int
    seed: int
    texts: tuple[Path, ...] = ()
    vectors: Path | None = None
    code_points: bool = True
    token_step: int = 1


@dataclass(frozen=True)
class Outcome:
    """The outcome for one tokenizer; ``state`` is "same", "differs", "refused", "not compared" or
    "crashed".

    ``sentence`` says why it was refused, not compared or crashed, or shows the first difference.
    Sizes are in bytes. ``strings`` counts encoded texts (random strings, pairs, files and their
    lines), ``compared`` everything.
    """

    name: str
    pattern: str
    state: str
    sentence: str = ""
    source: str = ""
    model: str = ""
    ids: int = 0
    source_size: int = 0
    size: int = 0
    strings: int = 0
    compared: int = 0
    differences: int = 0
    vectors: Vectors = field(default_factory=Vectors)
    reference: str = ""
    notes: tuple[str, ...] = ()


def measure(job: Job) -> Outcome:
    """Measures one tokenizer, and never raises: an unexpected exception is a crash."""
    name, pattern = job.found.name, job.found.pattern
    try:
        return _measure(job)
    except (UnsupportedError, SourceError) as refusal:
        return Outcome(name, pattern, "refused", _without(job.folder, str(refusal)))
    except Exception:
        trace = _without(job.folder, traceback.format_exc().strip())
        return Outcome(name, pattern, "crashed", trace)


def _measure(job: Job) -> Outcome:
    source, pattern = job.folder / job.found.name, job.found.pattern or None
    with tempfile.TemporaryDirectory() as directory:
        target = Path(directory, "tokenizer.bin")
        conversion = convert(source, target, pattern=pattern)
        outcome = Outcome(
            job.found.name,
            job.found.pattern,
            "not compared",
            source=conversion.model.provenance.source,
            model=model_name(conversion.model.model),
            ids=len(conversion.model.tokens),
            source_size=conversion.source_size or 0,
            size=conversion.size,
        )
        try:
            reference = open_source(source, pattern=pattern).reference()
        except MissingLibraryError as error:
            return replace(outcome, sentence=_without(job.folder, str(error)))
        return _compared(job, outcome, load(target), reference)


def _compared(
    job: Job, outcome: Outcome, tokenizer: Tokenizer, reference: ReferenceTokenizer
) -> Outcome:
    names = ("strings", "seed", "texts", "code_points", "token_step")
    how: dict[str, Any] = {name: getattr(job, name) for name in names}
    result = compare(tokenizer, reference, **how)
    vectors = Vectors()
    if job.vectors is not None:
        vectors = compare_vectors(tokenizer, reference, job.vectors, job.found)
    tokenizer.self_test()
    lines = [] if result.first is None else result.first.lines("first difference")
    notes = tuple(_without(job.folder, note) for note in result.notes)
    if vectors.disowned:
        count = plural(vectors.disowned, "vector")
        why = "since the library gives other ids for their text, as this file does"
        notes += (f"left out, {why}: {count}",)
    return replace(
        outcome,
        state="same" if result.ok and not vectors.differing else "differs",
        sentence=_without(job.folder, " | ".join(lines) or vectors.first),
        strings=sum(count for check, count in result.counts.items() if _is_text(check)),
        compared=result.compared,
        differences=result.differences + vectors.differing,
        vectors=vectors,
        reference=result.reference,
        notes=notes,
    )


def model_name(model: Model) -> str:
    match model:
        case BytePairModel(characters=None):
            return "BPE, bytes"
        case BytePairModel(characters=CharacterSymbols(byte_ids=None)):
            return "BPE, characters"
        case BytePairModel():
            return "BPE, characters, byte fallback"
        case UnigramModel():
            return "Unigram" if model.byte_ids is None else "Unigram, byte fallback"
        case WordPieceModel():
            return "WordPiece"
        case WordLevelModel():
            return "WordLevel"
        case GreedyModel():
            return "greedy"


def _is_text(check: str) -> bool:
    """Whether a count of `verify` counts encoded texts, not decoded ids."""
    if check.startswith("strings: "):
        return not check.endswith(", decoded")
    return check in (PAIRS, FILES, LINES)


def _without(folder: Path, sentence: str) -> str:
    """A sentence without the path of the folder on this machine."""
    return sentence.replace(f"{folder}/", "")
