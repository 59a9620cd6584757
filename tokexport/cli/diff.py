"""tokexport diff: in what two tokenizers differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np

from tokexport.cli.console import json_option, plural, say, say_json
from tokexport.cli.contents import Contents
from tokexport.cli.decoding import decoding_text, edits_text, forms_text
from tokexport.cli.options import read_special_tokens, source_options
from tokexport.cli.sources import converted, is_tokexport_file, opened
from tokexport.conversion import Options
from tokexport.escape import escape, visible
from tokexport.file.layout import Tag
from tokexport.model import Token
from tokexport.sources.hub import is_repository, local_source

EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class Difference:
    """One part in which two files differ, how many of its items do, and the first of them."""

    part: str
    count: int
    examples: tuple[str, ...]


@click.command()
@click.argument("first", type=click.Path())
@click.argument("second", type=click.Path())
@source_options
@json_option
@click.pass_context
def diff(
    context: click.Context,
    first: str,
    second: str,
    pattern: str | None,
    special_tokens: Path | None,
    revision: str | None,
    as_json: bool,
) -> None:
    """Compares two tokenizers token by token, and all else that decides an id.

    Each is a tokexport file or a source, which is converted in memory first: a file, a directory,
    or the name of a repository of the Hugging Face hub. Where the files came from and what their
    self tests hold does not count. Exit code 0: no difference; 1: they differ.

    \b
    tokexport diff old.bin new.bin
    tokexport diff tokenizer.bin tokenizer.json
    tokexport diff qwen3.bin Qwen/Qwen3-0.6B
    """
    one, two = contents_of(first, second, pattern, read_special_tokens(special_tokens), revision)
    differences = list(compare(one, two))
    if as_json:
        say_json(
            {
                "same": not differences,
                "differences": [asdict(difference) for difference in differences],
            }
        )
    elif not differences:
        tokens, merges = plural(one.header.token_count, "token"), plural(len(one.merges()), "merge")
        say(f"no difference: {tokens}, {merges}, and all else that decides an id")
    for difference in () if as_json else differences:
        say(f"{difference.part}: {plural(difference.count, 'difference')}")
        for example in difference.examples:
            say(f"  {example}")
        if difference.count > len(difference.examples):
            say(f"  and {difference.count - len(difference.examples):,} more")
    context.exit(1 if differences else 0)


def contents_of(
    first: str,
    second: str,
    pattern: str | None,
    special_tokens: dict[str, int] | None,
    revision: str | None,
) -> tuple[Contents, Contents]:
    """Opens both. A source becomes a file like the other one: with scores and encoder where that
    has them.
    """
    if not is_repository(first) and not is_repository(second):
        local_source(second, revision)  # which refuses a revision that is for neither
    files = {path: opened(path)[1] for path in (first, second) if is_tokexport_file(path)}
    model = next(iter(files.values()), None)
    options = Options(
        decode_only=model is not None and not model.encodes,
        scores=model is None or model.section(Tag.SCORES) is not None,
    )

    def contents(path: str) -> Contents:
        its_revision = revision if is_repository(path) else None
        return files.get(path) or Contents(
            converted(path, pattern, special_tokens, its_revision, options)
        )

    return contents(first), contents(second)


def compare(one: Contents, two: Contents) -> Iterator[Difference]:
    """Compares part by part; parts without a difference give nothing."""
    tokens, others = one.tokens(), two.tokens()
    show = shower(tokens, others)
    for part, examples in (
        ("tokens", list(token_differences(tokens, others))),
        ("merges", list(merge_differences(one, two, show))),
        ("order of merges", list(order_differences(one, two, show))),
        ("scores", list(score_differences(one, two))),
        (
            "added tokens",
            list(
                item_differences(
                    {str(t) for t in one.added_tokens()}, {str(t) for t in two.added_tokens()}
                )
            ),
        ),
        ("everything else", list(other_differences(one, two))),
    ):
        if examples:
            yield Difference(part, len(examples), tuple(examples[:EXAMPLES]))


def shower(tokens: list[Token | None], others: list[Token | None]) -> Callable[[int], str]:
    """How an id is shown: with its bytes, from the first file that has it."""

    def show(token_id: int) -> str:
        for side in (tokens, others):
            token = side[token_id] if token_id < len(side) else None
            if token is not None:
                return f'{token_id} "{escape(token.content)}"'
        return str(token_id)

    return show


def describe(token: Token | None) -> str:
    """A token with what is said of it."""
    if token is None:
        return "no token"
    words = [
        token.kind.value,
        *["special"] * token.special,
        *["fallback"] * token.fallback,
        *(f'{place} "{form}"' for place, form in forms_text(token).items()),
    ]
    return f'"{escape(token.content)}" ({", ".join(words)})'


def token_differences(tokens: list[Token | None], others: list[Token | None]) -> Iterator[str]:
    """Ids whose bytes, kind or flag differ."""
    for token_id in range(max(len(tokens), len(others))):
        one = tokens[token_id] if token_id < len(tokens) else None
        two = others[token_id] if token_id < len(others) else None
        if one != two:
            yield f"id {token_id}: {describe(one)} | {describe(two)}"


def merge_differences(one: Contents, two: Contents, show: Callable[[int], str]) -> Iterator[str]:
    """Merges that one file has and the other has not."""
    rules, others = ({tuple(rule) for rule in side.merges().tolist()} for side in (one, two))
    for side, only in (("first", rules - others), ("second", others - rules)):
        for left, right, product in sorted(only):
            yield f"only in the {side}: {show(left)} + {show(right)} = {show(product)}"


def order_differences(one: Contents, two: Contents, show: Callable[[int], str]) -> Iterator[str]:
    """Common merges whose place in the order of ranks differs."""
    products = np.intersect1d(one.merges()[:, 2], two.merges()[:, 2]).astype(np.int64)
    first, second = (
        products[np.argsort(side.ranks()[products], kind="stable")] for side in (one, two)
    )
    for place in np.flatnonzero(first != second).tolist():
        yield f"merge number {place}: {show(int(first[place]))} | {show(int(second[place]))}"


def score_differences(one: Contents, two: Contents) -> Iterator[str]:
    """Ids whose scores differ."""
    scores, others = one.scores(), two.scores()
    if scores is None or others is None:
        if (scores is None) != (others is None):
            yield f"only the {'second' if scores is None else 'first'} has scores"
        return
    common = min(len(scores), len(others))
    for token_id in np.flatnonzero(scores[:common] != others[:common]).tolist():
        yield f"id {token_id}: {scores[token_id]} | {others[token_id]}"


def item_differences(items: set[str], others: set[str]) -> Iterator[str]:
    """What is in one set only."""
    for side, only in (("first", items - others), ("second", others - items)):
        for item in sorted(only):
            yield f"only in the {side}: {visible(item)}"


def other_differences(one: Contents, two: Contents) -> Iterator[str]:
    """Flags, stages, normalizer, decoder, template, special ids, chat template: each whole."""
    parts: list[tuple[str, Callable[[Contents], object]]] = [
        ("encodes", lambda side: side.encodes),
        ("flags", lambda side: ", ".join(side.flags) or "none"),
        ("unknown id", lambda side: side.header.unknown_id),
        ("normalizer", lambda side: side.normalizer or "none"),
        ("decoder", lambda side: decoding_text(side.decoding, edits_text(side.section(Tag.EDITS)))),
        ("template", lambda side: side.template()),
        ("special ids", lambda side: side.special_ids()),
    ]
    for name, value in parts:
        if value(one) != value(two):
            yield f"{name}: {value(one)} | {value(two)}"
    stages, others = one.stages(), two.stages()
    if len(stages) != len(others):
        yield f"pre-tokenizer: {plural(len(stages), 'stage')} | {plural(len(others), 'stage')}"
    for number, (stage, other) in enumerate(zip(stages, others, strict=False), 1):
        if stage != other:
            yield f"pre-tokenizer stage {number}: {stage} | {other}" + (
                " (the tables differ)" if str(stage) == str(other) else ""
            )
    if one.section(Tag.CHAT_TEMPLATE) != two.section(Tag.CHAT_TEMPLATE):
        yield "chat template"
