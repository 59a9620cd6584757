"""python -m tests.conformance FOLDER. Exit code 0: no differences; 1: differences; 2: failure."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

from .find import find
from .isolated import measure_all
from .measure import Job, Outcome
from .table import report, versions

COUNT = click.IntRange(min=0)
JOBS = click.IntRange(min=1)
EXISTING = click.Path(path_type=Path, exists=True)
TARGET = click.Path(path_type=Path)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--strings", type=COUNT, default=10_000, show_default=True, help="Random strings each."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which random strings.")
@click.option("--texts", type=EXISTING, help="Texts: a folder's files, or a file.")
@click.option("--vectors", type=EXISTING, help="A folder of published ids.")
@click.option("--pattern", "patterns", multiple=True, metavar="GLOB=NAME", help="Name for ranks.")
@click.option("--only", multiple=True, metavar="GLOB", help="Only tokenizers with such a path.")
@click.option("--no-code-points", is_flag=True, help="Do not compare every code point: faster.")
@click.option("--jobs", type=JOBS, default=2, show_default=True, help="How many at once.")
@click.option("-o", "--output", type=TARGET, help="Write the table there, and not to stdout.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, not the table.")
@click.pass_context
def conformance(
    context: click.Context,
    folder: Path,
    strings: int,
    seed: int,
    texts: Path | None,
    vectors: Path | None,
    patterns: tuple[str, ...],
    only: tuple[str, ...],
    no_code_points: bool,
    jobs: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Converts every tokenizer under FOLDER, compares each with its own library, and prints one
    table.
    """
    named = [(glob, name) for glob, _, name in (pattern.rpartition("=") for pattern in patterns)]
    found, others = find(folder, named)
    chosen = [item for item in found if any(fnmatchcase(item.name, glob) for glob in only or "*")]
    if not chosen:
        click.echo(f"{folder}: there is no tokenizer in it that could be compared", err=True)
        context.exit(2)
    work = [
        Job(folder, item, strings, seed, text_files(texts), vectors, not no_code_points)
        for item in chosen
    ]
    typed = command(context.params)
    outcomes: list[Outcome] = []
    for outcome in measure_all(work, jobs):
        outcomes.append(outcome)
        click.echo(
            f"{len(outcomes)} of {len(work)}: {outcome.name} {outcome.pattern} {outcome.state}",
            err=True,
        )
        # A run takes an hour, so finished rows are written in case a later tokenizer stops it.
        if output is not None and not as_json:
            output.write_text(report(outcomes, [], typed), encoding="utf-8")
    if as_json:
        result = {
            "versions": dict(versions()),
            "tokenizers": [asdict(outcome) for outcome in outcomes],
            "others": [asdict(other) for other in others],
        }
        click.echo(json.dumps(result))
    else:
        document = report(outcomes, [] if only else others, typed)
        if output is None:
            click.echo(document, nl=False)
        else:
            output.write_text(document, encoding="utf-8")
    states = {outcome.state for outcome in outcomes}
    context.exit(1 if "differs" in states else 2 if "crashed" in states else 0)


def text_files(texts: Path | None) -> tuple[Path, ...]:
    """All files of a folder, or the one file."""
    paths = () if texts is None else (texts, *texts.rglob("*"))
    return tuple(sorted(path for path in paths if path.is_file()))


def command(parameters: Mapping[str, Any]) -> str:
    """The command line, with words in place of this machine's folders."""
    words = ["python", "-m", "tests.conformance", "FOLDER"]
    words += ["--strings", str(parameters["strings"]), "--seed", str(parameters["seed"])]
    words += ["--texts", "TEXTS"] if parameters["texts"] is not None else []
    words += ["--vectors", "VECTORS"] if parameters["vectors"] is not None else []
    words += [word for pattern in parameters["patterns"] for word in ("--pattern", pattern)]
    words += [word for glob in parameters["only"] for word in ("--only", glob)]
    words += ["--no-code-points"] if parameters["no_code_points"] else []
    return shlex.join(words)


if __name__ == "__main__":
    conformance(prog_name="python -m tests.conformance")
