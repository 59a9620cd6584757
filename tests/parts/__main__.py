"""python -m tests.parts prints the table; python -m tests.parts docs/LIMITS.md updates the file.

Exit code 1 if a converted part differs from the library; then no file is changed.
"""

import sys
from pathlib import Path

from .cases import cases
from .outcomes import measure, put, table

outcomes = [measure(case) for case in cases()]
differences = [f"{row.case.name}: {row.difference}" for row in outcomes if row.difference]
if len(sys.argv) > 1 and not differences:
    document = Path(sys.argv[1])
    document.write_text(put(document.read_text("utf-8"), table(outcomes)), "utf-8")
else:
    print(table(outcomes))
sys.exit("\n".join(differences) or 0)
