"""python -m tests.parts prints the table; python -m tests.parts docs/LIMITS.md updates the file."""

import sys
from pathlib import Path

import click

from .cases import cases
from .outcomes import measure, put, table


@click.command()
@click.argument("document", required=False, type=click.Path(exists=True, dir_okay=False))
def parts(document: str | None) -> None:
    """Compares each part of a tokenizer.json with the library, and prints the table, or puts it
    into DOCUMENT, which is docs/LIMITS.md.

    Exit code 1 if a converted part differs from the library; then no file is changed.
    """
    outcomes = [measure(case) for case in cases()]
    differences = [f"{row.case.name}: {row.difference}" for row in outcomes if row.difference]
    if document is not None and not differences:
        path = Path(document)
        path.write_text(put(path.read_text("utf-8"), table(outcomes)), "utf-8")
    else:
        click.echo(table(outcomes))
    sys.exit("\n".join(differences) or 0)


if __name__ == "__main__":
    parts(prog_name="python -m tests.parts")
