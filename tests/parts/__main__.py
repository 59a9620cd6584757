"""python -m tests.parts: prints the table; python -m tests.parts docs/LIMITS.md puts it there.

Exit code 1 where a part that is converted differs from the library; then no file is changed.
"""

import sys
from pathlib import Path

from .cases import cases
from .outcomes import measure, put, table

outcomes = [measure(case) for case in cases()]
differences = [f"{one.case.name}: {one.difference}" for one in outcomes if one.difference]
if len(sys.argv) > 1 and not differences:
    document = Path(sys.argv[1])
    document.write_text(put(document.read_text("utf-8"), table(outcomes)), "utf-8")
else:
    print(table(outcomes))
sys.exit("\n".join(differences) or 0)
