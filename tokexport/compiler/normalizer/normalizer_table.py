"""The NORM section's tables: what a normalizer needs to know of every code point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.compiler.normalizer.normalization import (
    normalization_tables,
    quick_check_no_or_maybe,
)
from tokexport.compiler.splits.class_table import CODE_POINTS, ClassTable, class_table
from tokexport.file.layout import COMPOSITION, NORMALIZER_ENTRY, NORMALIZER_POINT
from tokexport.model import NormalForm


@dataclass(frozen=True, slots=True)
class NormalizerTable:
    """``numbers`` leads from a code point to its entry; an entry leads to its decomposition in
    ``points``.
    """

    form: NormalForm
    numbers: ClassTable
    entries: npt.NDArray[np.void]
    points: npt.NDArray[np.uint32]
    compositions: npt.NDArray[np.void]


def joined_form(forms: Sequence[NormalForm]) -> NormalForm | None:
    """The one form that a sequence of forms comes to: compatible if any is, composed if the last
    is.

    >>> joined_form([NormalForm.NFKD, NormalForm.NFC]).value
    'NFKC'
    """
    if not forms:
        return None
    compatible = any(form.is_compatible for form in forms)
    composed = forms[-1].composes
    return NormalForm("NF" + "K" * compatible + ("C" if composed else "D"))


def normalizer_table(form: NormalForm) -> NormalizerTable:
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
    return NormalizerTable(
        form,
        class_table(numbers),
        np.array([(*entry, 0) for entry in entries], NORMALIZER_ENTRY),
        np.array(points, NORMALIZER_POINT),
        np.array(compositions, COMPOSITION),
    )
