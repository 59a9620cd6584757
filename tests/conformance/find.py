"""The tokenizers under a folder, found by their content, and the files that are not tokenizers."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources.registry import open_source
from tokexport.sources.source import AnySource
from tokexport.sources.tiktoken import RANKS

# A file with one of these names and unknown content is a broken tokenizer, not something else.
_NAMES: Final = ("tokenizer.json", "*.model", "*.tiktoken", "*.gguf", "tekken*.json")
# Kinds of files beside tokenizers, in the words of their refusals.
_OTHER_FILES: Final = (
    "a tokenizer_config.json",
    "the config.json of a model",
    "a JSON object of another kind",
    "JSON that is not an object",
    "text that is not a vocabulary",
    "a tokexport file",
    "a text of pairs of numbers",
    "a list of ",
)
# The names of vocabularies that belong to a file of merges, by the end of its name.
_VOCABULARIES: Final = {"merges.txt": ("vocab.json",), "vocab.bpe": ("encoder.json", "vocab.json")}

# Ranks contain no pattern: known names that fit a path, if the file's digest is not known.
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
    """A tokenizer: its path below the folder, with ``/``, and for ranks the name of the pattern."""

    name: str
    pattern: str = ""


@dataclass(frozen=True, order=True)
class Other:
    """A file that is not a tokenizer, and a sentence that says what it is."""

    name: str
    what: str


def find(folder: Path, patterns: Sequence[tuple[str, str]] = ()) -> tuple[list[Found], list[Other]]:
    """Every tokenizer under ``folder`` and every other file, both sorted by name; names that begin
    with a dot are skipped.

    A vocab.json and its merges are one tokenizer, named after the vocabulary. Ranks are found once
    for each matching one of ``patterns`` (a glob of the path, the name of a pattern), or else of
    PATTERNS.
    """
    found: list[Found] = []
    others: list[Other] = []
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if not path.is_file() or any(part.startswith(".") for part in relative.parts):
            continue
        name = relative.as_posix()
        kind = _kind(path)
        if isinstance(kind, Other):
            others.append(Other(name, kind.what))
        elif kind is RANKS:
            names = _fitting(name, patterns) or _fitting(name, PATTERNS) or [""]
            found += [Found(name, pattern) for pattern in names]
        else:
            found.append(Found(name))
    return sorted(found), sorted(others)


def _fitting(name: str, patterns: Sequence[tuple[str, str]]) -> list[str]:
    return [pattern for glob, pattern in patterns if fnmatchcase(name, glob)]


def _kind(path: Path) -> AnySource | Other | None:
    """The source of a tokenizer, or None if it is one that cannot be read."""
    for merges, names in _VOCABULARIES.items():
        prefix = path.name.removesuffix(merges)
        for vocab in [prefix + name for name in names] if path.name.endswith(merges) else ():
            if path.with_name(vocab).is_file():
                return Other(path.name, f"it belongs to {vocab}")
    try:
        return open_source(path).format
    except UnsupportedError as refusal:
        reason = refusal.problem.removeprefix("it is ")
        return Other(path.name, reason) if reason.startswith(_OTHER_FILES) else None
    except SourceError as error:
        is_broken = any(fnmatchcase(path.name, glob) for glob in _NAMES)
        problem = str(error).removeprefix(f"{path}: ").partition("; ")[0]
        return None if is_broken else Other(path.name, problem)
