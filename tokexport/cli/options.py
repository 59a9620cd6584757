"""The options that say what a source does not say itself: ranks carry no pattern and no special
tokens, a repository's name no revision.
"""

from __future__ import annotations

import json
from pathlib import Path

import click
from click.decorators import FC

from tokexport.errors import SourceError

PATTERN_HELP = (
    "For ranks: whose pattern and special tokens (cl100k_base, llama3, ...), or a regular"
    " expression. For a GGUF without a known tokenizer.ggml.pre: a name that is known (gpt-2,"
    " llama-bpe, qwen2, ...)."
)
REVISION_HELP = "For a repository of the Hugging Face hub: a branch, a tag or a commit."
SPECIAL_HELP = 'For ranks: a JSON object of contents and ids, {"<|end|>": 100257}.'


def source_options(command: FC) -> FC:
    """Adds --pattern, --special-tokens and --revision."""
    pattern = click.option("--pattern", metavar="NAME|REGEX", help=PATTERN_HELP)
    special = click.option(
        "--special-tokens", type=click.Path(path_type=Path), metavar="FILE.json", help=SPECIAL_HELP
    )
    revision = click.option("--revision", metavar="REVISION", help=REVISION_HELP)
    return pattern(special(revision(command)))


def read_special_tokens(path: Path | None) -> dict[str, int] | None:
    """Reads a JSON object of contents and ids. Raises SourceError where it is something else."""
    if path is None:
        return None
    try:
        tokens = json.loads(path.read_bytes())
    except ValueError as error:
        raise SourceError(f"{path}: not JSON: {error}") from error
    if not isinstance(tokens, dict) or not all(
        type(value) is int and value >= 0 for value in tokens.values()
    ):
        raise SourceError(
            f'{path}: special tokens are a JSON object of contents and ids, such as {{"<|end|>":'
            " 100257}"
        )
    return tokens
