"""What `tokexport inspect` says about the parts of a source: which are exact, which refused."""

from __future__ import annotations

from tokexport.cli.console import plural, table
from tokexport.cli.diagnose import Parts


def describe_parts(source: str, parts: Parts) -> str:
    """The parts for a person: a line each, and the refusals below."""
    rows = [
        (part.place, "refused" if part.refusals else "exact", part.what) for part in parts.parts
    ]
    sentences = [sentence for part in parts.parts for sentence in part.refusals]
    verdict = (
        "every part is exact"
        if parts.exact
        else f"{plural(len(sentences), 'refusal')}, so it is not converted"
    )
    return "\n\n".join([f"{source}: {verdict}", table(rows), *sentences])
