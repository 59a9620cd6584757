"""python -m tests.parts: prints the table. Exit code 1 where a part that is converted differs from the library."""

from __future__ import annotations

import sys

from .cases import cases
from .measure import measure
from .table import table

outcomes = [measure(case) for case in cases()]
for outcome in outcomes:
    if outcome.difference:
        print(f"{outcome.case.name}: {outcome.difference}", file=sys.stderr)
print(table(outcomes))
sys.exit(any(outcome.difference for outcome in outcomes))
