"""tokexport diff: how two tokenizers differ."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import click
import numpy as np

from tokexport.cli.console import Output, output_options, plural, quoted, words
from tokexport.cli.contents import Contents, converted, opened
from tokexport.cli.inspect import added_value, part_texts, token_value
from tokexport.cli.options import InputPath, source_options
from tokexport.conversion import Options
from tokexport.file.layout import ModelType, Tag
from tokexport.runtime.embedded import is_tokexport_file
from tokexport.sources.hub import is_repository, local_source

EXAMPLES = 10
ABSENT = None, None
RUN = re.compile(r"(\\x..|\\.|.)\1{39,}")  # 40 times the same character, escaped or not
# Sections that are compared by their digests.
BY_DIGEST = (Tag.CHARACTERS, Tag.KEYS, Tag.TRIMMING, Tag.ALIGNMENT)


@dataclass(frozen=True, slots=True)
class Example:
    """What differs, and its value on both sides; None where a side lacks it."""

    item: str
    first: object
    second: object

    def __str__(self) -> str:
        if self.first is not None and self.second is not None:
            return shortened(f"{self.item}: {words(self.first)} | {words(self.second)}")
        side, value = ("second", self.second) if self.first is None else ("first", self.first)
        more = "" if value is True else f": {words(value)}"
        return shortened(f"only in the {side}: {self.item}{more}")


@dataclass(frozen=True, slots=True)
class Difference:
    """A part in which two files differ, the number of differing items, and the first of them."""

    part: str
    count: int
    examples: tuple[Example, ...]

    def lines(self) -> list[str]:
        more = self.count - len(self.examples)
        return [
            f"{self.part}: {plural(self.count, 'difference')}",
            *(f"  {example}" for example in self.examples),
            *([f"  and {more:,} more"] if more else []),
        ]


def shortened(line: str) -> str:
    """Cuts long runs of one character: a token may be hundreds of spaces.

    >>> shortened(f'id 7: "{"-" * 90}" (kind model) | none')
    'id 7: "----------[80 more]" (kind model) | none'
    """
    return RUN.sub(lambda run: f"{run[1] * 10}[{len(run[0]) // len(run[1]) - 10} more]", line)


@click.command()
@click.argument("first", type=InputPath())
@click.argument("second", type=InputPath())
@source_options
@output_options
@click.pass_context
def diff(
    context: click.Context, first: str, second: str, how: dict[str, Any], output: Output
) -> None:
    """Compares two tokenizers and shows how they differ.

    Compares every token, and everything else that decides an id. Each tokenizer is a tokexport
    file or a source (a file, a directory, or a repository of the Hugging Face hub), which is
    converted in memory first. Ignores the origin of the files, their self tests, and the values of
    BPE's scores, which follow from the merges. Exit code 0: no difference; 1: they differ.

    \b
    tokexport diff old.bin new.bin
    tokexport diff tokenizer.bin tokenizer.json
    tokexport diff qwen3.bin Qwen/Qwen3-0.6B
    """
    one, two = contents_of(first, second, how)
    differences = list(compare(one, two))
    tokens, merges = plural(one.header.token_count, "token"), plural(len(one.merges), "merge")
    same = f"no difference: {tokens}, {merges}, and everything else that decides an id"
    values = [asdict(difference) for difference in differences]
    text = "\n".join(line for difference in differences for line in difference.lines())
    output.give("diff", {"same": not differences, "differences": values}, text or same)
    context.exit(1 if differences else 0)


def contents_of(first: str, second: str, how: dict[str, Any]) -> tuple[Contents, Contents]:
    """Opens both. A source is converted with scores and an encoder if the other file has them."""
    if not is_repository(first) and not is_repository(second):
        local_source(second, how["revision"])  # refuses a revision that applies to neither
    paths = [path for path in (first, second) if is_tokexport_file(path)]
    # The options are for the other one, if it is a source.
    files = {path: opened(path, how if len(paths) == 2 else {}) for path in paths}
    model = next(iter(files.values()), None)
    options = Options(
        decode_only=model is not None and not model.encodes,
        scores=model is None or model.tokenizer.scores is not None,
    )

    def contents(path: str) -> Contents:
        its = how if is_repository(path) else {**how, "revision": None}
        return files.get(path) or Contents(converted(path, its, options), path)

    return contents(first), contents(second)


def compare(one: Contents, two: Contents) -> Iterator[Difference]:
    """Compares part by part; equal parts yield nothing."""
    merges = merge_names(one, two), merge_names(two, one)
    for part, differences in (
        ("tokens", token_differences(one, two)),
        ("merges", merge_differences(*merges)),
        ("order of merges", order_differences(*merges)),
        ("scores", score_differences(one, two)),
        ("added tokens", added_differences(one, two)),
        ("everything else", other_differences(one, two)),
    ):
        found = list(differences)
        if found:
            yield Difference(part, len(found), tuple(found[:EXAMPLES]))


def token_differences(one: Contents, two: Contents) -> Iterator[Example]:
    for token_id, sides in enumerate(zip_longest(one.tokens, two.tokens)):
        if sides[0] != sides[1]:
            first, second = (None if token is None else token_value(token) for token in sides)
            yield Example(f"id {token_id}", first, second)


def merge_names(side: Contents, other: Contents) -> list[str]:
    """The merges by rank, named by their bytes, and also by ids if both files have the same tokens.
    If they do not, differing ids are already reported as tokens, and not repeated here.
    """
    tokens = side.tokens
    same = tokens == other.tokens
    ranks = side.ranks[side.merges[:, 2].astype(np.int64)]

    def name(token_id: int) -> str:
        token = tokens[token_id]
        shown = "a hole" if token is None else quoted(token.content)
        return f"{token_id} {shown}" if same else shown

    rows = side.merges[np.argsort(ranks, kind="stable")].tolist()
    return [f"{name(left)} + {name(right)} = {name(merged)}" for left, right, merged in rows]


def merge_differences(merges: Sequence[str], others: Sequence[str]) -> Iterator[Example]:
    yield from (Example(merge, True, None) for merge in sorted({*merges} - {*others}))
    yield from (Example(merge, None, True) for merge in sorted({*others} - {*merges}))


def order_differences(merges: Sequence[str], others: Sequence[str]) -> Iterator[Example]:
    common = {*merges} & {*others}
    orders = ([merge for merge in side if merge in common] for side in (merges, others))
    for place, (merge, other) in enumerate(zip(*orders, strict=False)):
        if merge != other:
            yield Example(f"merge number {place}", merge, other)


def score_differences(one: Contents, two: Contents) -> Iterator[Example]:
    """Ids whose scores differ; those of BPE follow from the merges."""
    scores, others = one.tokenizer.scores, two.tokenizer.scores
    if scores is None or others is None:
        if scores is not others:
            yield Example("scores", scores is not None or None, others is not None or None)
    elif ModelType.BPE not in (one.header.model, two.header.model):
        common = min(len(scores), len(others))
        for token_id in np.flatnonzero(scores[:common] != others[:common]).tolist():
            first, second = (str(side[token_id]) for side in (scores, others))
            yield Example(f"id {token_id}", first, second)


def added_differences(one: Contents, two: Contents) -> Iterator[Example]:
    sides = [
        {(token.content, token.id): added_value(token) for token in side.added_tokens}
        for side in (one, two)
    ]
    for content, token_id in sorted({*sides[0], *sides[1]}):
        first, second = (side.get((content, token_id)) for side in sides)
        if first != second:
            flags = [
                value and {k: v for k, v in value.items() if v is True} for value in (first, second)
            ]
            yield Example(f"id {token_id} {quoted(content.encode())}", *flags)


def other_differences(one: Contents, two: Contents) -> Iterator[Example]:
    """Everything else that decides an id, part by part; says so if only tables differ."""
    same_tokens = one.tokens == two.tokens
    first, second = rest(one, same_tokens), rest(two, same_tokens)
    for name in {**first, **second}:
        (value, shown), (other, other_shown) = first.get(name, ABSENT), second.get(name, ABSENT)
        if value != other:
            tables = " (the tables differ)" if shown == other_shown else ""
            yield Example(name, shown, other_shown and other_shown + tables)


def rest(side: Contents, with_tables: bool) -> dict[str, tuple[object, str | None]]:
    """All other parts by name, each with its text; ``with_tables``: also those that hold ids."""
    model = ModelType(side.header.model).name
    values: dict[str, tuple[object, str | None]] = {
        "model": (model, model),
        "encodes": (side.encodes, words(side.encodes)),
        **part_texts(side),
    }
    for name, template in side.tokenizer.chat_templates.items():
        part = "chat template" if name == "default" else f"chat template {name}"
        values[part] = template, plural(len(template.encode()), "byte")
    for tag in BY_DIGEST if with_tables else ():
        values[tag.holds] = side.digest(tag), side.digest(tag)
    return values
