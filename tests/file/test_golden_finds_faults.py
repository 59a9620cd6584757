"""The educational reader with any one fault disagrees with a golden file."""

import struct
from pathlib import Path

import golden_files
import golden_run
import pytest
from reader_faults import Fault, dropped_checks, faults, faulty_reader

FAULTS = [*faults()]
ERRORS = {golden_files.error_of(name) for name in golden_files.REFUSED_NAMES}
CHECKS = [
    fault
    for fault in dropped_checks(ERRORS)
    if fault.title != "content_size <= MAX_CONTENT"  # only a file of 64 KB would reveal it
    and (fault.golden != "TKX_E_CORRUPT" or fault.module == "check")  # others: while working
]
ONCE_UNSEEN = (
    *("SINGLE_PRECISION", "words are always"),
    *("a template", "a pair", "type ids", "special tokens are", "exceptions", "KEYS", "WHOLE is"),
    *("WHOLE_FIRST", "RESCAN_SPECIAL", "ONLY_FIRST", "SUFFIX", "texts are not protected"),
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.module}: {fault.title}")
def test_a_golden_file_reveals_a_faulty_reader(fault: Fault, tmp_path: Path) -> None:
    reader = faulty_reader(fault, tmp_path)
    assert any(golden_run.disagreements_about(reader, fault.golden))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.module}: {check.title}")
def test_a_refused_file_reveals_a_reader_without_a_check(check: Fault, tmp_path: Path) -> None:
    reader = faulty_reader(check, tmp_path)
    assert any(disagrees(reader, name) for name in golden_files.REFUSED_NAMES)


def disagrees(reader: object, name: str) -> bool:
    """Whether a reader does not refuse a file with the error in its name, or fails otherwise."""
    try:
        error = golden_run.opened(reader, golden_files.refused(name))
    except (KeyError, ValueError, struct.error):
        return True
    return error != golden_files.error_of(name)


def test_the_table_has_the_faults_that_were_once_missed() -> None:
    titles = [fault.title for fault in FAULTS]
    assert [words for words in ONCE_UNSEEN if not any(words in title for title in titles)] == []
    assert len(FAULTS) == len({(fault.module, fault.title) for fault in FAULTS}) > 130
    assert len(CHECKS) > 100
