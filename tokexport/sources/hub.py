"""Repositories of the Hugging Face hub: their tokenizer files, through ``huggingface_hub``.

The library is an extra, imported only when a name is looked up.
"""

import json
import os
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final, TypeVar

from tokexport.errors import SourceError, TokexportError

T = TypeVar("T")

# What repositories call a tokenizer's files; no weights, so no *.gguf and no *.bin.
FILES: Final = (
    *("tokenizer.json", "tokenizer_config.json", "config.json", "special_tokens_map.json"),
    *("added_tokens.json", "generation_config.json", "chat_template.*", "tekken.json"),
    *("vocab.json", "merges.txt", "*-vocab.json", "*-merges.txt", "vocab.txt"),
    *("*.model", "*.model.v*", "*.spm", "*.tiktoken", "tokenizer.pkl"),
)
# A star in a pattern also matches slashes, so "*.model" would match in subfolders.
_FOLDERS: Final = "*/*"

# The hub's own rules for names; a name without an owner could also be a file's.
_PART: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?"
_NAME: Final = re.compile(rf"(?!.*(?:--|\.\.)){_PART}/{_PART}")
_LONGEST_NAME: Final = 96
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)
_LOG_IN: Final = "log in with `hf auth login` or set HF_TOKEN"
# A misspelt path to a file is not looked up on the network.
_FILE_SUFFIXES: Final = (".json", ".model", ".txt", ".tiktoken", ".gguf", ".bin", ".pkl", ".git")


def is_repository(source: object) -> bool:
    """Whether a source is a string ``owner/name`` and no such path exists.

    A ``pathlib.Path`` is always a path.

    >>> [is_repository(name) for name in ("Qwen/Qwen3-0.6B", "model/tokenizer.json", "gpt2")]
    [True, False, False]
    """
    return (
        isinstance(source, str)
        and len(source) <= _LONGEST_NAME
        and _NAME.fullmatch(source) is not None
        and not source.endswith(_FILE_SUFFIXES)
        and not os.path.lexists(source)
    )


def local_source(source: T, revision: str | None = None, files: Sequence[str] = ()) -> T | Path:
    """The source itself or, if it names a repository, the folder in the hub's cache with its
    tokenizer files, named by the commit. ``revision``: a branch, a tag or a commit, or None.
    ``files``: the names or globs of sources, besides the usual ones.

    Raises SourceError for a revision without a repository, for a repository or revision that does
    not exist and for a URL, and TokexportError if the library is missing, access is not granted, or
    the hub cannot be reached and the cache does not hold all files.

    >>> local_source("tokenizer.json")
    'tokenizer.json'
    """
    if isinstance(source, str) and is_repository(source):
        return _folder(source, revision, [*dict.fromkeys((*FILES, *files))])
    if revision is not None:
        raise SourceError(
            f"{source}: a revision is only for a repository of the Hugging Face hub, owner/name,"
            " and not for a local path"
        )
    if not isinstance(source, str) or os.path.lexists(source):
        return source
    if not source or "\0" in source:
        what = "a path with a null byte" if source else "an empty path"
        raise SourceError(f"{what} names no file", "give a file, a directory or owner/name")
    if _URL.fullmatch(source):
        raise SourceError(
            f"{source}: a URL is not read",
            "give the name of a repository of the Hugging Face hub, owner/name, or download the"
            " file and give its path",
        )
    if re.fullmatch(_PART, source) and not source.endswith(_FILE_SUFFIXES):
        hint = "a repository of the Hugging Face hub is named with its owner, owner/name"
        raise SourceError("cannot be read: No such file or directory", hint, name=source)
    return source


def _folder(name: str, revision: str | None, files: list[str]) -> Path:
    try:
        from httpx2 import HTTPError
        from huggingface_hub import errors, get_cached_repo_tree, snapshot_download
        from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]
    except ImportError as error:
        hint = "to read a repository of the Hugging Face hub, pip install 'tokexport[hub]'"
        raise TokexportError(f"{name}: there is no such file or directory here", hint) from error

    of_cache = (errors.LocalEntryNotFoundError, errors.CachedRepoTreeNotFoundError)
    of_hub = (errors.HfHubHTTPError, errors.FileMetadataError, HTTPError, json.JSONDecodeError)
    try:
        # The library would draw progress bars into a log file too.
        with nullcontext() if sys.stderr.isatty() else disable_progress_bars():
            found = snapshot_download(
                name, revision=revision, allow_patterns=files, ignore_patterns=[_FOLDERS]
            )
        folder = Path(found)
        # Offline the library falls back on its cache, and cannot tell whether that is complete
        # without a list of the commit's files: another program may have cached only some of them.
        get_cached_repo_tree(name, revision=folder.name)
    except (*of_cache, *of_hub) as error:
        raise _refusal(name, revision, error) from error
    if not any(folder.glob("*")):
        problem = f"{name}: the repository holds no tokenizer file"
        raise SourceError(problem, f"looked for {', '.join(files)}")
    return folder


def _refusal(name: str, revision: str | None, error: BaseException | None) -> TokexportError:
    """Why the hub and its cache returned nothing, and what to do."""
    from huggingface_hub import constants, errors

    kind, hub, start = TokexportError, constants.ENDPOINT, ""
    if isinstance(error, errors.LocalEntryNotFoundError):
        error = error.__cause__
        start = "there is no such file here, the cache does not hold all of such a repository, and "
    match error:
        case errors.GatedRepoError():
            problem = "access to this repository must be granted"
            hint = f"request it at {hub}/{name}, then {_LOG_IN}"
        case errors.RepositoryNotFoundError():
            kind = SourceError
            problem = f"there is no such file or directory here, and no such repository at {hub}"
            hint = f"if it is a private one, {_LOG_IN}"
        case errors.RevisionNotFoundError():
            kind, problem = SourceError, f"the repository has no revision {revision!r}"
            hint = "a revision is a branch, a tag or a commit"
        case errors.CachedRepoTreeNotFoundError():
            problem = f"{hub} was not reached, and the cache may not hold all the tokenizer's files"
            hint = "run this once with network access"
        case errors.OfflineModeIsEnabled():
            problem, hint = "the hub is not asked because HF_HUB_OFFLINE is set", "unset it"
        case errors.HfHubHTTPError():
            status = error.response.status_code
            said = " ".join((error.server_message or "").split())
            problem = f"{hub} answered with status {status}" + (f' "{said}"' if said else "")
            hint = _LOG_IN if status in (401, 403) else "try again later"
        case json.JSONDecodeError():
            problem = f"{hub} did not answer with JSON, as a hub does"
            hint = "check HF_ENDPOINT, and whether the network requires a login"
        case _:
            said = re.sub(r"\[Errno -?\d+\] ", "", str(error))
            problem = f"{hub} cannot be reached ({type(error).__name__}: {said})"
            hint = "check the network, HF_ENDPOINT and the proxy"
    return kind(f"{name}: {start}{problem}", hint)
