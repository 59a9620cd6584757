"""The C core produces the ids of the slow encoder written from the specification alone."""

import pytest
import tokexport_reader
from hypothesis import given
from runtime_samples import NAMES, cases, content
from sample_texts import SUBJECTS, TEXTS


@pytest.mark.parametrize("name", SUBJECTS)
@given(text=TEXTS)
def test_both_encoders_produce_the_same_ids(name: str, text: str) -> None:
    data, subject = SUBJECTS[name]
    file = tokexport_reader.open_file(data)
    assert subject.encode(text) == tokexport_reader.encode(file, text.encode())
    ids = tokexport_reader.encode(file, text.encode(), tokexport_reader.ALL)
    assert subject.encode(text, allowed_special="all") == ids


@pytest.mark.parametrize("name", NAMES)
def test_the_slow_encoder_produces_the_ids_of_the_reference(name: str) -> None:
    file = tokexport_reader.open_file(content(name))
    for case in cases(name):
        if not case["add_special"]:
            allowed = tokexport_reader.ALL if case["special"] else ()
            ids = tokexport_reader.encode(file, case["text"].encode(), allowed)
            assert ids == case["ids"], case
