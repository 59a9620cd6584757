"""An unknown field is noted where the reference ignores it, and refused where it refuses."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from json_parts import replace as replacing
from parts.cases import Case, cases
from reader_samples import BYTE_LEVEL, added, document, read_document, reference
from repository import SLOW

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import TokenizerModel

Json = dict[str, Any]


def objects(value: Any, path: str = "") -> Iterator[tuple[str, Json]]:
    """Every object of a document, except maps with arbitrary names."""
    if isinstance(value, dict):
        yield path, value
        for name, inner in value.items():
            if name not in ("vocab", "special_tokens", "truncation", "padding"):
                yield from objects(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and path != "model.merges":
        for number, inner in enumerate(value):
            yield from objects(inner, f"{path}[{number}]")


def library_reads(fields: Json) -> bool:
    try:
        reference(fields)
    except BaseException:  # a panic is not an Exception
        return False
    return True


def read_or_none(fields: Json, folder: Path) -> TokenizerModel | None:
    try:
        return read_document(fields, folder)
    except UnsupportedError:
        return None


# Compiling tables of edits takes long, and the fields of these decoders also occur in others.
@pytest.mark.parametrize(
    "case",
    [case for case in cases() if SLOW or "whole text" not in case.name],
    ids=lambda case: case.name,
)
def test_an_unknown_field_of_any_object_is_ignored_or_refused_as_in_the_reference(
    case: Case, tmp_path: Path
) -> None:
    expected = read_or_none(case.document, tmp_path)
    if expected is None:
        return
    for path, _ in objects(case.document):
        fields = json.loads(json.dumps(case.document))
        next(found for place, found in objects(fields) if place == path)["other"] = {"NFC": [1]}
        if library_reads(fields):
            model = read_document(fields, tmp_path)
            ignored = [note for note in model.notes if "the reference ignores" in note]
            assert any(f"{path}.other" in note for note in ignored)
            same: Json = {"notes": expected.notes, "provenance": expected.provenance}
            assert replace(model, **same) == expected
        else:
            with pytest.raises(SourceError):
                read_document(fields, tmp_path)


def test_the_cases_have_objects_that_ignore_fields_and_objects_that_refuse_them() -> None:
    for path, reads in (("", False), ("normalizer", True), ("normalizer.pattern", False)):
        fields = document(normalizer=replacing("a", "b"))
        next(found for place, found in objects(fields) if place == path)["other"] = 1
        assert library_reads(fields) == reads


def test_a_note_has_the_path_of_an_ignored_field_of_an_added_token(tmp_path: Path) -> None:
    fields = document(
        added_tokens=[added("<s>"), added("</s>", 1) | {"rank": 1}],
        decoder=BYTE_LEVEL | {"a b": None},
    )
    assert library_reads(fields)
    notes = read_document(fields, tmp_path).notes
    assert 'tokenizer.json: the reference ignores added_tokens[1].rank, decoder["a b"].' in notes


def test_many_ignored_fields_are_counted(tmp_path: Path) -> None:
    fields = document(decoder=BYTE_LEVEL | {f"f{number}": number for number in range(9)})
    notes = read_document(fields, tmp_path).notes
    assert any(note.endswith("decoder.f4 and 4 more.") for note in notes)
