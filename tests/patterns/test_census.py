"""docs/CENSUS.md names a published tokenizer for whatever is supported."""

from pathlib import Path

import census
import pytest
from shippers import shipper

import tokexport


def test_every_feature_of_patterns_occurs_in_a_tokenizer_that_the_document_names() -> None:
    users = census.features()
    assert [feature for feature, names in users.items() if not names] == []
    document = census.TARGET.read_text("utf-8")
    assert census.table(users) in document, "run python -m tests.census"


def test_every_part_and_flag_has_somebody_who_ships_it_beside_it() -> None:
    lines = census.TARGET.read_text("utf-8").splitlines()
    rows = [line[2:-2].split(" | ") for line in lines if line.count(" | ") == 2]
    listed = {name: (count, who) for name, count, who in rows}
    for feature in (*census.supported_parts(), *census.file_parts()):
        count, who = listed[feature]
        assert who == shipper(feature) if count == "0" else who, "run python -m tests.census"


def test_the_document_is_not_written_for_another_copy_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokexport, "__file__", str(tmp_path / "tokexport" / "__init__.py"))
    monkeypatch.setattr(census, "TARGET", tmp_path / "CENSUS.md")
    monkeypatch.setattr(census, "features", dict)
    with pytest.raises(SystemExit, match="pip install -e"):
        census.main()
    assert not census.TARGET.exists()
