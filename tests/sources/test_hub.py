"""A repository of the Hugging Face hub is a source: it converts to the same file as its folder, or
is refused with a sentence that says what to do.

The library looks up names and caches files; here it is replaced by one folder of files, and by the
errors that it raises.
"""

import json
import sys
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from command_line import Run
from repository import printed, small_source

import tokexport
from tokexport.errors import SourceError, TokexportError
from tokexport.sources.hub import is_repository, local_source
from tokexport.sources.registry import SOURCES, open_source

huggingface_hub = pytest.importorskip("huggingface_hub")
errors = pytest.importorskip("huggingface_hub.errors")
httpx = pytest.importorskip("httpx2")

NAME = "somebody/a-model.v2"
COMMIT = "0123456789abcdef"
SETTINGS = {
    "tokenizer_config.json": b'{"eos_token": "<|im_end|>"}',
    "generation_config.json": b'{"eos_token_id": [3]}',
    "chat_template.jinja": b"{{ messages }}",
}
OTHERS = {
    "model.safetensors": b"weights",
    "pytorch_model.bin": b"weights",
    "model.gguf": b"weights",
    "original/tokenizer.model": b"something else",
    "README.md": b"about it",
}


class Hub:
    """One repository; ``error`` is raised instead of returning a file."""

    def __init__(self, cache: Path) -> None:
        self.folder = cache / COMMIT
        self.files: dict[str, bytes] = {}
        self.error: Exception | None = None
        self.is_listed = True
        self.asked: list[tuple[str, str | None]] = []

    def snapshot_download(
        self, name: str, revision: str | None, allow_patterns: list[str], ignore_patterns: list[str]
    ) -> str:
        self.asked.append((name, revision))
        if self.error is not None:
            raise self.error
        for path, content in self.files.items():
            if any(fnmatchcase(path, pattern) for pattern in allow_patterns) and not any(
                fnmatchcase(path, pattern) for pattern in ignore_patterns
            ):
                (self.folder / path).write_bytes(content)
        return str(self.folder)

    def get_cached_repo_tree(self, name: str, revision: str) -> list[str]:
        assert revision == COMMIT
        if not self.is_listed:
            raise errors.CachedRepoTreeNotFoundError("no list")
        return []


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    hub = Hub(tmp_path / "cache")
    hub.folder.mkdir(parents=True)
    for name in ("snapshot_download", "get_cached_repo_tree"):
        monkeypatch.setattr(huggingface_hub, name, getattr(hub, name))
    monkeypatch.chdir(tmp_path)
    return hub


def http_error(kind: Callable[..., Exception], status: int, message: str = "") -> Exception:
    answer = httpx.Response(status, request=httpx.Request("GET", "https://x"))
    return kind(message, response=answer, server_message=message)


def test_a_repository_converts_to_the_same_file_as_a_folder(
    hub: Hub, run: Run, tmp_path: Path
) -> None:
    document = small_source("qwen").read_bytes()
    hub.files = {"tokenizer.json": document, **SETTINGS, **OTHERS}
    (tmp_path / "folder").mkdir()
    for name, content in {"tokenizer.json": document, **SETTINGS}.items():
        (tmp_path / "folder" / name).write_bytes(content)
    done = run("convert", NAME, "-o", "hub.tkx", "--revision", "main", "--json")
    assert done.values["commit"] == COMMIT
    assert hub.asked == [(NAME, "main")]
    tokexport.convert(tmp_path / "folder", tmp_path / "folder.tkx")
    assert (tmp_path / "hub.tkx").read_bytes() == (tmp_path / "folder.tkx").read_bytes()
    assert {path.name for path in hub.folder.iterdir()} == {"tokenizer.json", *SETTINGS}
    for arguments in (("diff", "hub.tkx", NAME), ("inspect", NAME)):
        assert run(*arguments).code == 0
    verified = run("verify", "hub.tkx", "--against", NAME, "--only", "added-tokens:0")
    assert verified.code == 0, verified.stderr


def test_a_vocabulary_is_fetched_with_the_files_it_depends_on(hub: Hub, tmp_path: Path) -> None:
    words = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nWord\nword\n"
    hub.files = {"vocab.txt": words, "tokenizer_config.json": b'{"do_lower_case": false}'}
    done = tokexport.convert(NAME, tmp_path / "it.tkx")
    assert done.commit == COMMIT
    assert tokexport.load(tmp_path / "it.tkx").encode("Word word") == [5, 6]


def test_the_files_of_every_source_are_fetched(hub: Hub) -> None:
    names = [name.replace("*", "x") for one in SOURCES for name in one.files]
    hub.files = dict.fromkeys(names, b"")
    with pytest.raises(SourceError):  # none of them holds anything
        open_source(NAME)
    assert {path.name for path in hub.folder.iterdir()} == {*names}


def test_nothing_is_downloaded_for_a_target_that_exists(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "it.tkx").touch()
    with pytest.raises(TokexportError, match=r"it\.tkx exists already"):
        tokexport.convert(NAME, tmp_path / "it.tkx")
    assert hub.asked == []


def test_an_existing_path_takes_precedence_and_has_no_revision(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir(parents=True)
    (tmp_path / NAME / "tokenizer.json").write_bytes(small_source("gpt2").read_bytes())
    assert tokexport.convert(NAME, tmp_path / "it.tkx").commit is None
    with pytest.raises(SourceError, match="a revision is only for a repository"):
        local_source(NAME, "main")
    assert hub.asked == []


PATHS = "gpt2 m/tokenizer.json a/b/c ./a/b /a/b a/b/ a--b/c ../b .a/b a/b. a/"


@pytest.mark.parametrize("source", PATHS.split())
def test_a_string_that_cannot_be_a_repository_is_a_path(source: str) -> None:
    assert is_repository("nobody/nothing")
    assert not is_repository(Path("nobody/nothing"))
    assert not is_repository(source)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (http_error(errors.RepositoryNotFoundError, 404), "no such repository .*hf auth login"),
        (http_error(errors.GatedRepoError, 403), rf"access .*/{NAME}.*hf auth login"),
        (http_error(errors.RevisionNotFoundError, 404), "no revision 'v9'.*branch"),
        (http_error(errors.HfHubHTTPError, 503), "answered with status 503; try again later"),
        (http_error(errors.HfHubHTTPError, 401, "bad token"), '401 "bad token"; log in with'),
        (
            httpx.ConnectError("[Errno -2] No name"),
            r"reached \(Conn.*: No name\); check the network",
        ),
        (json.JSONDecodeError("x", "<html>", 0), "did not answer with JSON.*HF_ENDPOINT"),
    ],
)
def test_errors_of_the_library_become_one_sentence(
    error: Exception, words: str, hub: Hub, run: Run
) -> None:
    hub.error = error
    assert run("convert", NAME, "--revision", "v9").refusal.count("\n") == 1
    with pytest.raises(TokexportError, match=words):
        local_source(NAME, "v9")


def test_offline_an_incomplete_cache_is_reported(hub: Hub) -> None:
    hub.error = errors.LocalEntryNotFoundError("no entry")
    hub.error.__cause__ = errors.OfflineModeIsEnabled("offline")
    with pytest.raises(TokexportError, match=r"no such file.*hold all of.*HF_HUB_OFFLINE is set"):
        local_source(NAME)


def test_a_possibly_incomplete_cache_is_not_used(hub: Hub) -> None:
    hub.files, hub.is_listed = {"tokenizer.json": b"{}"}, False
    problem = r"the cache may not hold .*; run this once with network access"
    with pytest.raises(TokexportError, match=problem):
        local_source(NAME)


def test_an_error_names_a_repository_without_a_tokenizer(hub: Hub) -> None:
    hub.files = OTHERS
    with pytest.raises(SourceError, match=r"holds no tokenizer file; looked for tokenizer\.j"):
        local_source(NAME)


def test_without_the_library_the_sentence_says_what_to_install(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(TokexportError, match=r"no such file .*pip install 'tokexport\[hub\]'"):
        local_source(NAME)


def test_a_conversion_of_a_file_imports_no_library_of_another_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        f"import sys, tokexport; tokexport.convert({str(small_source('gpt2'))!r});"
        " print([name for name in ('huggingface_hub', 'transformers') if name in sys.modules])"
    )
    monkeypatch.chdir(tmp_path)
    assert printed("-c", code) == "[]\n"
