"""Finds the file of a directory that is its tokenizer, and the others that could be one.

Each format names its files; if none of these exists, a file of another name that is a tokenizer by
its content is used if it is the only one.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from tokexport.errors import SourceError, TokexportError, UnsupportedError
from tokexport.sources.config import CONFIG, TOKENIZER_JSON
from tokexport.sources.files import SourceFiles
from tokexport.sources.named_class import named_class
from tokexport.sources.source import AnySource, Input
from tokexport.sources.unreadable import are_settings, refuse_by_head

# The model of ChatGLM.
_ICE: Final = "ice_text.model"
# Names of tokenizers that have none of the usual names (Mistral's tokenizer.model.v3).
_OTHER_NAMES: Final = ("*.json", "*.model", "*.model.v*", "*.spm", "*.gguf")
# A vocabulary without its merges: refused with what is missing.
_ALONE: Final = ("vocab.json", "encoder.json")
# What a directory may have of a tokenizer besides its vocabulary.
_PARTS: Final = {"settings": (TOKENIZER_JSON, CONFIG), "merges": ("merges.txt", "vocab.bpe")}


def sniffed(source: Input, sources: Sequence[AnySource]) -> tuple[AnySource, Any] | None:
    """The first format that recognises an input, with the parsed content."""
    for one in sources:
        content = one.sniff(source)
        if content is not None:
            return one, content
    return None


def tokenizer_in(folder: Path, sources: Sequence[AnySource]) -> Input:
    """The tokenizer file of a directory, or the directory; SourceError for none or several."""
    for path in _named(folder, sources):
        return Input(path)
    if (folder / _ICE).is_file():
        _refuse_chatglm(SourceFiles(folder))
    paths = (path for name in _OTHER_NAMES for path in sorted(folder.glob(name)))
    others = {path: one for path in paths if _is_tokenizer(one := Input(path), sources)}
    if others:
        return others[_only(folder, [*others], "tokenizer")]
    for name in _ALONE:
        if (folder / name).is_file():
            return Input(folder / name)
    parts = [
        f"the {part} of one ({found[0]})"
        for part, names in _PARTS.items()
        if (found := [name for name in names if (folder / name).is_file()])
    ]
    hint = "its vocabulary is missing, get it where the model comes from"
    only_parts = f", only {' and '.join(parts)}: {hint}" if parts else ""
    raise SourceError(
        f"{folder}: there is no tokenizer in this directory{only_parts}",
        f"looked for {', '.join(name for one in sources for name in one.files)}, and for"
        f" {', '.join(_OTHER_NAMES)} that contain one",
    )


def _refuse_chatglm(files: SourceFiles) -> None:
    named = named_class(files)
    if named is not None and named.name == "ChatGLMTokenizer":
        hint = (
            "its code adds num_image_tokens to every id and rewrites newlines and runs of spaces;"
            f" give {_ICE} itself for the ids of sentencepiece"
        )
        raise UnsupportedError(_ICE, f"{named} is not supported", hint)


def directory_notes(folder: Path, taken: str, sources: Sequence[AnySource]) -> tuple[str, ...]:
    """Notes if a directory has tokenizers, by name, other than ``taken``, which is read.

    Files beside a tokenizer.json are usually the same tokenizer in another format.
    """
    if taken == TOKENIZER_JSON:
        return ()
    notes = []
    if (folder / TOKENIZER_JSON).is_file():
        notes.append(
            f"{TOKENIZER_JSON} in the directory holds only settings, as {CONFIG} does, and no"
            f" vocabulary; {taken} is read instead."
        )
    left = ", ".join(unread(folder, taken, sources))
    if left:
        notes.append(f"Of the tokenizers in the directory, {taken} is read; not read: {left}.")
    return tuple(notes)


def unread(folder: Path, taken: str, sources: Sequence[AnySource]) -> list[str]:
    """The files of a directory that are tokenizers by name, without ``taken``."""
    found = {
        path.name
        for one in sources
        for name in one.files
        for path in folder.glob(name)
        if one.is_whole(path)
    }
    found |= {path.name for name in ("*.model", "*.spm") for path in folder.glob(name)}
    return sorted(found - {taken, TOKENIZER_JSON})


def _named(folder: Path, sources: Sequence[AnySource]) -> Iterator[Path]:
    """The files with one of the usual names, in order of formats."""
    for one in sources:
        if one.whole_folder is not None and one.whole_folder(SourceFiles(folder)):
            yield folder
        for name in one.files:
            found = [path for path in sorted(folder.glob(name)) if one.is_whole(path)]
            if name == TOKENIZER_JSON:
                found = [path for path in found if not _holds_settings(path)]
            if found:
                yield _only(folder, found, one.name)


def _only(folder: Path, found: Sequence[Path], what: str) -> Path:
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        one = f"file of {what}" if what.endswith("ranks") else what
        problem = f"{folder}: there is more than one {one} in this directory ({names})"
        raise SourceError(problem, "give one of them")
    return found[0]


def _holds_settings(path: Path) -> bool:
    """Whether a file called tokenizer.json is actually a tokenizer_config.json."""
    source = Input(path)
    if source.view.find(b'"model"') >= 0:  # avoids parsing a large file twice
        return False
    try:
        return source.json is not None and are_settings(source.json.object(repeats=True))
    except TokexportError:
        return False


def _is_tokenizer(source: Input, sources: Sequence[AnySource]) -> bool:
    try:
        refuse_by_head(source)
        found = sniffed(source, [one for one in sources if one.under_any_name])
        known = found is not None and found[0].under_any_name
        return known(found[1]) if found and callable(known) else bool(known)
    except TokexportError:  # it is not one, and the caller did not name it
        return False
