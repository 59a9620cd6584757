"""What a normalization form needs to know of every code point, packed."""

from __future__ import annotations

import numpy as np

from tokexport.compiler.class_table import CODE_POINTS, class_table
from tokexport.compiler.tables import FormTable
from tokexport.model import NormalForm
from tokexport.normalization.normal_forms import normalization_tables, quick_check_no_or_maybe


def form_table(form: NormalForm) -> FormTable:
    """Packs the tables of a form."""
    tables = normalization_tables(form)
    check = quick_check_no_or_maybe(tables)
    points: list[int] = []
    starts: dict[tuple[int, ...], int] = {(): 0}
    entries: dict[tuple[int, int, int, int], int] = {(0, 0, 0, 0): 0}
    numbers = np.zeros(CODE_POINTS, np.uint16)
    for code_point in sorted({*tables.decompositions, *tables.combining_classes, *check}):
        decomposition = tables.decompositions.get(code_point, ())
        if decomposition not in starts:
            starts[decomposition] = len(points)
            points.extend(decomposition)
        entry = (
            starts[decomposition],
            len(decomposition),
            tables.combining_classes.get(code_point, 0),
            int(code_point in check),
        )
        numbers[code_point] = entries.setdefault(entry, len(entries))
    compositions = sorted((*pair, composite) for pair, composite in tables.compositions.items())
    return FormTable(
        form.unversioned.name,
        class_table(numbers),
        np.array([*entries], np.int64),
        np.array(points, np.int64),
        np.array(compositions, np.int64).reshape(-1, 3),
    )
