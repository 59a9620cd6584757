"""Which file of a directory is its tokenizer, and which others lie there that could be one.

Names are looked for first, in a fixed order; where none is there, a file of another name that is a
tokenizer by its content is taken if it is the only one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tokexport.errors import SourceError, TokexportError
from tokexport.sources.detect import Kind, are_settings, detect
from tokexport.sources.files import SourceFiles
from tokexport.sources.gguf.read import MAGIC as GGUF_MAGIC
from tokexport.sources.json_node import parse
from tokexport.sources.tokenizer_json.config import CONFIG
from tokexport.sources.vocab_files.gpt2_pair import pair_in

TOKENIZER_JSON: Final = "tokenizer.json"
VOCABULARY: Final = "vocab.txt"
# Looked for in this order, after tokenizer.json and GPT-2's pairs.
_SINGLE_FILES: Final = (
    "tiktoken.model",
    "tokenizer.model",
    "tokenizer.tiktoken",
    "spiece.model",
    "sentencepiece.bpe.model",
    "spm.model",
    "tekken.json",
    VOCABULARY,
)
# Files whose names go on: RWKV's, and CLIP's as it is packed and not.
_NAMES_BEGIN: Final = ("rwkv_vocab_*.txt", "bpe_simple_vocab_*.txt.gz", "bpe_simple_vocab_*.txt")
_PICKLE: Final = "tokenizer.pkl"
# Names under which a tokenizer may lie that has none of the usual ones, and what it then must be.
_OTHER_NAMES: Final = ("*.json", "*.model", "*.spm", "*.gguf")
_OTHER_KINDS: Final = (Kind.TOKENIZER_JSON, Kind.SENTENCEPIECE, Kind.TEKKEN, Kind.MINBPE)


def tokenizer_file(path: Path) -> Path:
    """The file that a source is read from: the path itself, or the tokenizer in a directory; else
    SourceError.
    """
    return _in_directory(path) if path.is_dir() else path


def directory_notes(folder: Path, taken: Path) -> tuple[str, ...]:
    """Notes where a directory holds more than one tokenizer by its names, of which ``taken`` is
    read.

    What lies beside a tokenizer.json is usually the same tokenizer in another form.
    """
    if taken.name == TOKENIZER_JSON:
        return ()
    return (*_hidden(folder, taken), *_others(folder, taken))


def _hidden(folder: Path, taken: Path) -> Iterator[str]:
    if (folder / TOKENIZER_JSON).is_file():
        yield (
            f"{TOKENIZER_JSON} in the directory holds settings only, as {CONFIG} does, and no"
            f" vocabulary; it is not read, but {taken.name}."
        )


def _others(folder: Path, taken: Path) -> tuple[str, ...]:
    pair = pair_in(folder)
    others = {path.name for path in _named(folder)} | {path.name for path in folder.glob("*.model")}
    others |= {path.name for path in folder.glob("*.spm")} | (
        {pair.name} if pair is not None else set()
    )
    left = sorted(others - {taken.name, _PICKLE})
    if not left:
        return ()
    return (
        (
            f"Of the tokenizers in the directory {taken.name} is read; also there, and not read:"
            f" {', '.join(left)}."
        ),
    )


def _named(folder: Path) -> Iterator[Path]:
    """The files with one of the usual names, rank files first."""
    yield from sorted(folder.glob("*.tiktoken"))
    for name in _SINGLE_FILES:
        if (folder / name).is_file():
            yield folder / name
    for pattern in _NAMES_BEGIN:
        yield from sorted(folder.glob(pattern))
    if (folder / _PICKLE).is_file():
        yield folder / _PICKLE


def _in_directory(folder: Path) -> Path:
    """The file of a directory that is the tokenizer."""
    if (folder / TOKENIZER_JSON).is_file() and not _holds_settings(folder / TOKENIZER_JSON):
        return folder / TOKENIZER_JSON
    pair = pair_in(folder)
    if pair is not None:
        return pair
    ranks = sorted(folder.glob("*.tiktoken"))
    if len(ranks) > 1:
        names = ", ".join(path.name for path in ranks)
        raise SourceError(
            f"{folder}: there is more than one rank file in this directory ({names}); give one of"
            " them"
        )
    for path in _named(folder):
        return path
    others = [
        path for name in _OTHER_NAMES for path in sorted(folder.glob(name)) if _is_tokenizer(path)
    ]
    if len(others) > 1:
        names = ", ".join(path.name for path in others)
        raise SourceError(
            f"{folder}: there is more than one tokenizer in this directory ({names}); give one of"
            " them"
        )
    for path in others:
        return path
    raise SourceError(
        f"{folder}: there is no tokenizer in this directory{_only_settings(folder)}; looked for"
        " tokenizer.json, vocab.json with merges.txt, rank files (*.tiktoken),"
        f" {', '.join((*_SINGLE_FILES, *_NAMES_BEGIN))}, and for {', '.join(_OTHER_NAMES)} that are"
        " one by their content"
    )


def _only_settings(folder: Path) -> str:
    named = next((name for name in (TOKENIZER_JSON, CONFIG) if (folder / name).is_file()), None)
    if named is None:
        return ""
    return (
        f", only the settings of one ({named}): its vocabulary is missing, get that from where the"
        " model comes from"
    )


def _holds_settings(path: Path) -> bool:
    """Whether a file called tokenizer.json is in truth a tokenizer_config.json."""
    data = SourceFiles(path.parent).read(path.name)
    if b'"model"' in data:  # which spares a large one a second parsing
        return False
    try:
        return are_settings(parse(data, path.name).object(repeats=True))
    except TokexportError:
        return False


def _is_tokenizer(path: Path) -> bool:
    files = SourceFiles(path.parent)
    try:
        if files.starts_with(path.name, GGUF_MAGIC):
            return True
        kind, node = detect(files.read(path.name), path.name)
    except TokexportError:  # it is none, and nobody asked for it
        return False
    if kind is Kind.TOKENIZER_JSON:
        # A "model" may be anything in a file of settings.
        model = None if node is None else node.object().get("model")
        return isinstance(model, dict) and "vocab" in model
    return kind in _OTHER_KINDS
