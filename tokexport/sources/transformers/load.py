"""Loads with ``AutoTokenizer`` of ``transformers``, and checks for what it silently leaves out."""

import importlib
import importlib.util
import os
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from tokexport.errors import MissingLibraryError, SourceError, UnsupportedError, naming_temporary
from tokexport.sources.config import ADDED_TOKENS, CONFIG, MODEL_CONFIG, TOKENIZER_JSON
from tokexport.sources.files import SourceFiles
from tokexport.sources.hub import FILES
from tokexport.sources.json_node import Node
from tokexport.sources.named_class import VOCABULARIES, NamedClass, named_class

INSTALL: Final = "pip install 'tokexport[transformers]'"
# The classes it uses for a tokenizer without a named class.
_GENERIC: Final = ("TokenizersBackend", "PythonBackend", "MistralCommonBackend")
# Files that a class does not require.
_OPTIONAL: Final = (
    "tokenizer_file normalizer_file tokenizer_config_file target_vocab_file entity_vocab_file"
)
_SETTINGS: Final = (CONFIG, MODEL_CONFIG, "special_tokens_map.json", ADDED_TOKENS)
# The ends of the names of files of which each class needs at least one.
_VOCABULARIES: Final = (*VOCABULARIES, ".model", ".spm", ".tokenizer")
_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class Loaded:
    """A tokenizer of the library: its backend, and its special tokens and chat template in the form
    of a tokenizer_config.json, whose file is called by the class and its release.
    """

    backend: Any
    settings: Node
    files: SourceFiles


def reads(files: SourceFiles) -> bool:
    """Whether the library reads a directory without a tokenizer.json: decided by the named class.

    If the library is not installed: yes, unless the class may be code in the repository.
    """
    named = named_class(files)
    names = [path.name for path in files.folder.glob("*")] if files.folder else ()
    if named is None or not any(name.endswith(_VOCABULARIES) for name in names):
        return False
    if importlib.util.find_spec("transformers") is None:
        return not named.remote
    _version(str(files.folder), named)
    kind = _class(named)
    return kind is not None and bool(_needed(kind)) and all(map(files.has, _needed(kind)))


def from_folder(files: SourceFiles, where: str) -> Loaded:
    """The tokenizer of a directory (``where`` for the user), by the class that its files name.

    MissingLibraryError without the library, UnsupportedError for a class that exists only in
    Python, SourceError for files that the library refuses or does not find.
    """
    assert files.folder is not None
    version = _version(where, named_class(files))
    return _loaded(_load(files.folder, where, version), version, files, TOKENIZER_JSON)


def from_vocabulary(files: SourceFiles, where: str) -> Loaded | None:
    """The same for a vocabulary that the user named: without a tokenizer.json, which a class would
    read first. None if only a model type is named, and it implies no class.

    UnsupportedError also for a class that the library does not have.
    """
    import tempfile  # only here, as other sources need none

    assert files.folder is not None
    named = named_class(files)
    version = _version(where, named)
    if named is None or (named.name is None and _class(named) is None):
        return None
    if _class(named) is None:
        _refuse(where, named, f"transformers {version} has no such class")
    with tempfile.TemporaryDirectory() as copy:
        for path in files.folder.iterdir():
            is_read = any(fnmatchcase(path.name, pattern) for pattern in FILES)
            if path.is_file() and is_read and path.name != TOKENIZER_JSON:
                content = path.read_bytes()
                with naming_temporary():
                    Path(copy, path.name).write_bytes(content)
        # Checked first, as the library's own error for a missing file names none.
        _check_files(where, _class(named), Path(copy))
        tokenizer = _load(Path(copy), where, version)
    return _loaded(tokenizer, version, files)


def from_object(tokenizer: Any) -> Loaded | None:
    """The tokenizer of an object that the caller has loaded; None for any other object."""
    if not hasattr(tokenizer, "backend_tokenizer"):
        return None
    return _loaded(tokenizer, _version(type(tokenizer).__name__, None), SourceFiles(None))


def _loaded(tokenizer: Any, version: str, files: SourceFiles, *more: str) -> Loaded:
    read = {*type(tokenizer).vocab_files_names.values(), *_SETTINGS} - {TOKENIZER_JSON}
    for name in sorted({*read, *more}):
        files.beside(name)  # records the digest
    # A translation class sets its template only when it is called.
    getattr(tokenizer, "_switch_to_input_mode", lambda: None)()
    settings = {name: token for name, token in tokenizer.special_tokens_map.items() if token}
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, dict):
        template = [{"name": name, "template": text} for name, text in template.items()]
    source = f"{type(tokenizer).__name__} of transformers {version}"
    node = Node(source, "", {**settings, "chat_template": template})
    return Loaded(tokenizer.backend_tokenizer, node, files)


def _version(where: str, named: NamedClass | None) -> str:
    """The release of the library, which without two others misreads SentencePiece models."""
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")  # it has no weights to load
    try:
        for needed in ("sentencepiece", "google.protobuf"):
            importlib.import_module(needed)
        import transformers
    except ImportError as error:
        why = "the library `transformers` decides its ids"
        if named is not None:
            place = "in" if Path(where).is_dir() else "beside"
            why = f"a file {place} it names {named} of `transformers`, which decides its ids"
        name = "protobuf" if str(error.name).startswith("google") else error.name
        problem = f"{where}: {why}, and {name} is not installed"
        raise MissingLibraryError(problem, INSTALL) from error
    return str(transformers.__version__)


def _class(named: NamedClass) -> Any:
    """The class of the library; None if it has none that reads vocabularies in its own way."""
    from transformers.models.auto import tokenization_auto as auto

    name = named.name or auto.TOKENIZER_MAPPING_NAMES.get(named.model_type or "")
    kind: Any = None if name is None else auto.tokenizer_class_from_name(name)
    is_own = hasattr(kind, "vocab_files_names") and kind.__name__ not in _GENERIC
    return kind if is_own else None


def _needed(kind: Any) -> list[str]:
    """The files without which a class silently makes a tokenizer without tokens."""
    return [name for key, name in kind.vocab_files_names.items() if key not in _OPTIONAL.split()]


def _load(folder: Path, where: str, version: str) -> Any:
    from transformers import AutoTokenizer
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        load = AutoTokenizer.from_pretrained
        tokenizer = load(str(folder), trust_remote_code=False, local_files_only=True)
    except Exception as error:  # it may raise anything
        found = " ".join(str(error).split())[:_SHOWN]
        if "trust_remote_code" in str(error):
            found = "the class is code of the repository, which is not run"
        raise SourceError(f"{where}: transformers {version} refuses it: {found}") from error
    finally:
        logging.set_verbosity(verbosity)
    kind = type(tokenizer)
    if not hasattr(tokenizer, "backend_tokenizer"):
        why = f"transformers {version} has it only in Python, and no tokenizer.json is equivalent"
        _refuse(where, NamedClass(kind.__name__), why)
    _check_files(where, kind, folder)
    return tokenizer


def _check_files(where: str, kind: Any, folder: Path) -> None:
    needed = _needed(kind)
    missing = [name for name in needed if not (folder / name).is_file()]
    if (missing or not needed) and not (folder / TOKENIZER_JSON).is_file():
        raise SourceError(
            f"{where}: {kind.__name__} of transformers is read from"
            f" {' and '.join(needed) or TOKENIZER_JSON}, and"
            f" {' and '.join(missing) or TOKENIZER_JSON} is not there"
        )


def _refuse(where: str, named: NamedClass, why: str) -> None:
    hint = f"{why}; give a tokenizer.json, if there is one"
    raise UnsupportedError(Path(where).name or where, f"{named} is not supported", hint)
