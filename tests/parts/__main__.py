"""python -m tests.parts: prints the table; python -m tests.parts docs/LIMITS.md puts it there.

Exit code 1 where a part that is converted differs from the library; then no file is changed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .cases import cases
from .measure import measure
from .table import put, table


@click.command()
@click.argument(
    "document", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False
)
def parts(document: Path | None) -> None:
    """Says which parts of a tokenizer.json are exact and which are refused, from small tokenizers
    that have them.
    """
    outcomes = [measure(case) for case in cases()]
    differences = [
        f"{outcome.case.name}: {outcome.difference}" for outcome in outcomes if outcome.difference
    ]
    if document is None or differences:
        click.echo(table(outcomes))
    else:
        document.write_text(put(document.read_text("utf-8"), table(outcomes)), "utf-8")
    for difference in differences:
        click.echo(difference, err=True)
    sys.exit(bool(differences))


if __name__ == "__main__":
    parts(prog_name="python -m tests.parts")
