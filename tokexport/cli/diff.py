"""tokexport diff: how two tokenizers differ."""

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any
from zlib import crc32

import click
import numpy as np

from tokexport.cli.console import Output, output_options, plural, quoted, words
from tokexport.cli.contents import Contents, Fact, converted, opened
from tokexport.cli.inspect import added_value, parts_shown, token_value
from tokexport.cli.options import InputPath, source_options
from tokexport.conversion import Options
from tokexport.file.layout import ModelType, Tag
from tokexport.model import AddedToken, Token
from tokexport.runtime.embedded import is_tokexport_file
from tokexport.sources.hub import is_repository, local_source

EXAMPLES = 10
Example = tuple[str, tuple[Any, Any], tuple[Any, Any]]  # an item and its values, as of `shown`
RUN = re.compile(r"(\\x..|\\.|.)\1{39,}")  # 40 times the same character, escaped or not
# Sections that are compared by their digests.
BY_DIGEST = (Tag.CHARACTERS, Tag.KEYS, Tag.TRIMMING, Tag.ALIGNMENT)


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
    differences: list[Fact] = []
    lines: list[str] = []
    for part, count, found in compare(one, two):
        examples = [{"item": item, "first": a, "second": b} for item, (a, _), (b, _) in found]
        differences.append({"part": part, "count": count, "examples": examples})
        lines += lines_of(part, count, found)
    tokens, merges = plural(one.header.token_count, "token"), plural(len(one.merges), "merge")
    same = f"no difference: {tokens}, {merges}, and everything else that decides an id"
    values = {"same": not differences, "differences": differences}
    output.give("diff", values, "\n".join(lines) or same)
    context.exit(1 if differences else 0)


def contents_of(first: str, second: str, how: dict[str, Any]) -> tuple[Contents, Contents]:
    """Opens both. A source is converted with scores and an encoder if the other file has them."""
    if not is_repository(first) and not is_repository(second):
        local_source(second, how["revision"])  # refuses a revision that applies to neither
    paths = [path for path in (first, second) if is_tokexport_file(path)]
    # The options are for the other one, if it is a source.
    files = {path: opened(path, how if len(paths) == 2 else {}) for path in paths}
    model = next(iter(files.values()), None)
    decode_only = model is not None and not model.encodes
    options = Options(decode_only, scores=model is None or model.tokenizer.scores is not None)

    def contents(path: str) -> Contents:
        its = how if is_repository(path) else {**how, "revision": None}
        return files.get(path) or Contents(converted(path, its, options), path)

    return contents(first), contents(second)


def compare(one: Contents, two: Contents) -> Iterator[tuple[str, int, list[Example]]]:
    """Compares the items of each part by their values; equal parts yield nothing."""
    merges = merge_names(one, two), merge_names(two, one)
    common = {*merges[0]}.intersection(merges[1])
    orders = ([merge for merge in side if merge in common] for side in merges)
    same, sides = one.tokens == two.tokens, (one, two)
    parts: dict[str, list[dict[str, Any]]] = {
        "tokens": [
            {f"id {id}": (id, token) for id, token in enumerate(side.tokens) if token}
            for side in sides
        ],
        "merges": [dict.fromkeys(side, True) for side in merges],
        "order of merges": [
            {f"merge number {number}": merge for number, merge in enumerate(order)}
            for order in orders
        ],
        "scores": [score_items(one, two), score_items(two, one)],
        "added tokens": [added_items(side) for side in sides],
        "everything else": [other_items(side, same) for side in sides],
    }
    for part, (first, second) in parts.items():
        items = [each for each in {**first, **second} if first.get(each) != second.get(each)]
        if items:
            pairs = ((each, first.get(each), second.get(each)) for each in items[:EXAMPLES])
            yield part, len(items), [(each, shown(a), shown(b)) for each, a, b in pairs]


def shown(found: Any) -> tuple[Any, Any]:
    """A value for a program and for a person; None where a side lacks the item."""
    if isinstance(found, AddedToken):
        value = added_value(found)
        return value, {**value, "id": None, "bytes": None}
    if isinstance(found, tuple) and isinstance(found[1], Token):
        value = token_value(found[1])
        return {"id": found[0], **value}, value
    return found if isinstance(found, tuple) else (found, found)


def lines_of(part: str, count: int, examples: list[Example]) -> Iterator[str]:
    """The number of differing items, and the first of them."""
    yield f"{part}: {plural(count, 'difference')}"
    for item, (_, first), (_, second) in examples:
        if first is not None and second is not None:
            line = f"{item}: {words(first)} | {words(second)}"
        else:
            side, value = ("second", second) if first is None else ("first", first)
            line = f"only in the {side}: {item}" + ("" if value is True else f": {words(value)}")
        yield f"  {shortened(line)}"
    if count > len(examples):
        yield f"  and {count - len(examples):,} more"


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


def score_items(side: Contents, other: Contents) -> dict[str, Any]:
    """The scores of ids that both have; those of BPE follow from the merges."""
    scores, others = side.tokenizer.scores, other.tokenizer.scores
    if scores is None or others is None:
        return {} if scores is None else {"scores": True}
    if ModelType.BPE in (side.header.model, other.header.model):
        return {}
    common = scores[: len(others)]
    values = [score if isfinite(score) else None for score in common.tolist()]
    return {f"id {id}": each for id, each in enumerate(zip(values, map(str, common), strict=True))}


def added_items(side: Contents) -> dict[str, Any]:
    return {f"id {token.id} {quoted(token.content.encode())}": token for token in side.added_tokens}


def other_items(side: Contents, with_tables: bool) -> dict[str, Any]:
    """All other parts that decide an id; ``with_tables``: also sections that hold ids."""
    values: dict[str, Any] = {"model": ModelType(side.header.model).name.lower()}
    values |= {"encodes": (side.encodes, words(side.encodes)), **parts_shown(side)}
    for name, template in side.tokenizer.chat_templates.items():
        part = "chat template" if name == "default" else f"chat template {name}"
        content = template.encode()
        text = f"{plural(len(content), 'byte')} (CRC-32 {crc32(content):08x})"
        values[part] = template, text
    digests = {tag.holds: side.digest(tag) for tag in BY_DIGEST if with_tables}
    return {**values, **digests}
