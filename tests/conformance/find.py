"""The tokenizers under a folder, found by their content, and the files that are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources.detect import TEXTS_WITHOUT_IDS, Kind, detect
from tokexport.sources.files import SourceFiles
from tokexport.sources.vocab_files.gpt2_pair import sibling

# What `detect` calls the files that lie beside tokenizers, and its own target.
_BESIDE: Final = frozenset(
    (
        "a tokenizer_config.json",
        "a JSON object of another kind",
        "a JSON array",
        "text of another kind",
        "a tokexport file, the result of a conversion",
        *TEXTS_WITHOUT_IDS,
    )
)
# A file of these names whose content is not recognised is a broken tokenizer, not something else.
_NAMES: Final = ("tokenizer.json", "*.model", "*.tiktoken", "*.gguf", "tekken*.json")

# Ranks hold no pattern: the known names that fit to a path, where its file is not known by its
# digest.
PATTERNS: Final = (
    ("*kimi*", "kimi_k2"),
    ("*llama3*", "llama3"),
    ("*llama-3*", "llama3"),
    ("*llama4*", "llama4"),
    ("*llama-4*", "llama4"),
    ("*nanochat*", "nanochat"),
    ("*qwen*", "qwen"),
    ("*whisper*/gpt2.tiktoken", "whisper"),
    ("*whisper*/multilingual.tiktoken", "whisper_large_v3"),
    ("*o200k_base.tiktoken", "o200k_base"),
    ("*o200k_base.tiktoken", "o200k_harmony"),
    ("*p50k_base.tiktoken", "p50k_base"),
    ("*p50k_base.tiktoken", "p50k_edit"),
)


@dataclass(frozen=True, order=True)
class Found:
    """A tokenizer: its path below the folder, with ``/``, and for ranks the name of its pattern."""

    name: str
    pattern: str = ""


@dataclass(frozen=True, order=True)
class Other:
    """A file that is no tokenizer, and the sentence that says what it is."""

    name: str
    what: str


def find(folder: Path, patterns: Sequence[tuple[str, str]] = ()) -> tuple[list[Found], list[Other]]:
    """Every tokenizer under ``folder`` and every other file, both sorted by name; what begins with
    a dot is left out.

    A vocab.json and its merges are one tokenizer, called by the vocabulary. Ranks are found once
    for each of ``patterns`` (a glob of the path, the name of a pattern) that fits, or else for each
    of PATTERNS.
    """
    found: list[Found] = []
    others: list[Other] = []
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if not path.is_file() or any(part.startswith(".") for part in relative.parts):
            continue
        name = relative.as_posix()
        kind = _kind(path)
        if isinstance(kind, str):
            others.append(Other(name, kind))
        elif kind is Kind.RANKS:
            names = _fitting(name, patterns) or _fitting(name, PATTERNS) or [""]
            found += [Found(name, pattern) for pattern in names]
        else:
            found.append(Found(name))
    return sorted(found), sorted(others)


def _fitting(name: str, patterns: Sequence[tuple[str, str]]) -> list[str]:
    return [pattern for glob, pattern in patterns if fnmatchcase(name, glob)]


def _kind(path: Path) -> Kind | str | None:
    """What a tokenizer is, or None where it is one that cannot be read, or a few words where it is
    none.
    """
    try:
        kind, _ = detect(path.read_bytes(), path.name)
    except UnsupportedError as refusal:
        found = refusal.problem.removesuffix(" is not supported")
        return found if found in _BESIDE else None
    except SourceError as error:
        return (
            None if any(fnmatchcase(path.name, glob) for glob in _NAMES) else _reason(error, path)
        )
    if kind in (Kind.VOCAB_JSON, Kind.MERGES):
        try:
            vocab, _ = sibling(path.name, SourceFiles(path.parent))
        except SourceError as error:
            return _reason(error, path)
        return kind if path.name == vocab else f"it belongs to {vocab}"
    return kind


def _reason(error: SourceError, path: Path) -> str:
    """The first half of a sentence: what is wrong, without the file and without what to do."""
    return str(error).removeprefix(f"{path.name}: ").partition("; ")[0]
