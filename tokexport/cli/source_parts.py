"""What `tokexport inspect` says about a source: which of its parts are exact and which are refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from tokexport.cli.console import note, plural, say, say_json, table
from tokexport.parts import Parts, parts_of


def inspect_source(path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None, as_json: bool) -> bool:
    """Prints the parts; True if all of them are exact."""
    parts = parts_of(path, pattern=pattern, special_tokens=special_tokens)
    if as_json:
        say_json({"source": str(path), "exact": parts.exact, **asdict(parts)})
    else:
        say(describe_parts(path, parts))
        for sentence in parts.notes:
            note(f"note: {sentence}")
    return parts.exact


def describe_parts(path: Path, parts: Parts) -> str:
    """The parts for a person: a line each, and the refusals below."""
    rows = [(part.place, "refused" if part.refusals else "exact", part.what) for part in parts.parts]
    sentences = [sentence for part in parts.parts for sentence in part.refusals]
    verdict = "every part is exact" if parts.exact else f"{plural(len(sentences), 'refusal')}, so it is not converted"
    return "\n\n".join([f"{path}: {verdict}", table(rows), *sentences])
