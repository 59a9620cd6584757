"""docs/CENSUS.md names a published tokenizer for each supported feature of patterns."""

from pathlib import Path

import census
import pytest

import tokexport


def test_every_feature_occurs_in_a_published_tokenizer_that_the_document_names() -> None:
    users = census.features()
    assert [feature for feature, names in users.items() if not names] == []
    document = census.TARGET.read_text("utf-8")
    assert census.table(users) in document, "run python -m tests.census"


def test_the_document_is_not_written_for_another_copy_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokexport, "__file__", str(tmp_path / "tokexport" / "__init__.py"))
    monkeypatch.setattr(census, "TARGET", tmp_path / "CENSUS.md")
    monkeypatch.setattr(census, "features", dict)
    with pytest.raises(SystemExit, match="pip install -e"):
        census.main()
    assert not census.TARGET.exists()
