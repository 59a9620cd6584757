"""The nightly job runs all slow tests."""

import re

from repository import ROOT


def test_every_folder_with_slow_tests_is_run_at_night() -> None:
    nightly = (ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    found = re.search(r"folder: \[([^]]*)\]", nightly)
    assert found is not None
    slow = {
        path.relative_to(ROOT / "tests").parts[0]
        for path in (ROOT / "tests").rglob("test_*.py")
        if "SLOW" in path.read_text(encoding="utf-8")
    }
    assert slow - {"docs"} - {*re.findall(r"\w+", found[1])} == set()
