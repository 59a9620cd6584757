"""tokexport convert --to and --from: files of other runtimes, out and in."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from tokexport.cli.console import Output, plural, size
from tokexport.targets.registry import target_of
from tokexport.targets.take_in import take_in
from tokexport.targets.write import Written, write_target


def to_target(
    source: str,
    format: str,
    target: str,
    into: str | None,
    how: dict[str, Any],
    strict: bool,
    force: bool,
    output: Output,
) -> None:
    """Writes the file, and shows what it cannot say."""
    done = write_target(source, format, target, into=into, strict=strict, force=force, **how)
    tokens = plural(sum(token is not None for token in done.source.tokens), "token")
    runtime = target_of(format).runtime_name
    lines = [
        f"{path}: {size(count)}, {tokens}, for {runtime}" for path, count in done.files.items()
    ]
    losses = [f"warning: {loss}" for loss in done.losses]
    output.give("convert", as_object(done, Path(target)), "\n".join(lines), losses)


def from_target(source: str, format: str, target: str, force: bool, output: Output) -> None:
    """Writes the tokexport file of another runtime's file, and shows what was compared."""
    done = take_in(source, format, target, force=force)
    name, notes = target_of(format).runtime_name, []
    if not done.encodes:
        notes = [f"note: it decodes and no more: the file does not say how {name} encodes"]
    elif done.compared:
        notes = [f"note: the ids of {name} in all of {done.compared:,} random strings"]
    values = {"target": target, "format": format, **asdict(done)}
    text = f"{target}: {size(done.size)}, {plural(done.tokens, 'token')}"
    output.give("convert", values, text, notes)


def as_object(done: Written, target: Path) -> dict[str, object]:
    return {
        "target": str(target),
        "format": done.format,
        "files": {str(path): count for path, count in done.files.items()},
        "ids": len(done.source.tokens),
        "losses": [{"part": loss.part.value, "meaning": loss.meaning} for loss in done.losses],
    }
