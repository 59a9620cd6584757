"""tokexport convert: a source in, a tokexport file out."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tokexport.cli.console import Output, ProgressLine, output_options, plural, size, table
from tokexport.cli.contents import refuse_options, section_rows
from tokexport.cli.options import InputPath, path_option, refuse_beside, source_options
from tokexport.conversion import Conversion
from tokexport.conversion import convert as library
from tokexport.runtime.embedded import is_tokexport_file
from tokexport.sources.registry import SOURCES, SUPPORTED
from tokexport.targets.from_runtime import Converted, convert_from
from tokexport.targets.registry import TARGETS, target_of
from tokexport.targets.write import Written, write_target

FORMAT = click.Choice([*TARGETS])
TARGET_HELP = (
    "The file to write, usually .bin or .tkx, in a folder that is made if missing; - is standard"
    " output.  [tokenizer.bin]"
)
TO_HELP = (
    f"Write another runtime's format: {', '.join(TARGETS)}. Warns of what it cannot represent"
    " (docs/TARGETS.md)."
)
FROM_HELP = "SOURCE has this format of --to; refused if any id would differ (docs/TARGETS.md)."
INTO_HELP = "With --to gguf: write a copy of this file, weights included, with this tokenizer."
SCORES_HELP = (
    "Leave out the scores of BPE. No id needs them, but engines that merge by score (llama2.c) do."
)
PREFIX_INDEX_HELP = (
    "Add an index that finds the tokens with a given prefix, for constrained decoding"
    " and token healing: 4 bytes per token."
)


@click.command(epilog=f"Formats of SOURCE: {SUPPORTED}.")
@click.argument("source", type=InputPath())
@path_option("-o", "--output", "target", help=TARGET_HELP)
@source_options
@click.option("--to", "format", type=FORMAT, metavar="FORMAT", help=TO_HELP)
@click.option("--from", "origin", type=FORMAT, metavar="FORMAT", help=FROM_HELP)
@click.option("--into", type=InputPath(), metavar="FILE.gguf", help=INTO_HELP)
@click.option("--strict", is_flag=True, help="With --to: any loss is an error.")
@click.option("--decode-only", is_flag=True, help="Only what decoding needs: the smallest file.")
@click.option("--no-scores", is_flag=True, help=SCORES_HELP)
@click.option("--prefix-index", is_flag=True, help=PREFIX_INDEX_HELP)
@click.option("--no-chat-template", is_flag=True, help="Leave out the chat templates.")
@click.option("--no-self-test", is_flag=True, help="Skip the self test, which needs the reference.")
@click.option("--force", is_flag=True, help="Overwrite the target.")
@click.option("-v", "--verbose", is_flag=True, help="Also show the sections of the file.")
@output_options
def convert(
    source: str,
    target: str | None,
    how: dict[str, Any],
    format: str | None,
    origin: str | None,
    into: str | None,
    strict: bool,
    force: bool,
    verbose: bool,
    output: Output,
    **parts: bool,
) -> None:
    """Converts a tokenizer to a tokexport file.

    SOURCE is a tokenizer in one of the formats named at the end, or a directory that holds one (and
    a tokenizer_config.json). Its format is detected from its content. What cannot be exact is
    refused.

    SOURCE may also be a repository of the Hugging Face hub, owner/name, if no local path has that
    name (pip install 'tokexport[hub]'). Only the tokenizer's files are downloaded, into the hub's
    own cache.

    \b
    tokexport convert tokenizer.json
    tokexport convert model/ -o model.tkx --force
    tokexport convert Qwen/Qwen3-0.6B --revision main -o qwen3.bin
    tokexport convert cl100k_base.tiktoken --pattern cl100k_base -o cl100k.bin
    tokexport convert my.tiktoken --pattern '\\w+|\\W' --special-tokens special.json
    tokexport convert tokenizer.model --to llama2.c -o tokenizer.bin --strict
    tokexport convert tok512.bin --from llama2.c -o tok512.tkx
    """
    if format is not None and origin is None and target is None:
        suffix = TARGETS[format].golden.suffix
        raise click.UsageError(f"--to {format} requires -o {f'FILE{suffix}' if suffix else 'DIR'}.")
    target = target or "tokenizer.bin"
    excluded: dict[str, object] = {**parts, "verbose": verbose, "output -": target == "-"}
    if origin is not None:
        excluded |= {"to": format, "into": into, "strict": strict, **how}
        refuse_beside("--from", excluded)
        show_converted(convert_from(source, origin, target, force=force), origin, target, output)
        return
    if format is not None:
        refuse_beside("--to", excluded)
        if into is not None and format != "gguf":
            raise click.UsageError("--into requires --to gguf.")
        if is_tokexport_file(source):
            refuse_options(source, how)
        common: dict[str, Any] = {"into": into, "strict": strict, "force": force, **how}
        show_written(write_target(source, format, target, **common), target, output)
        return
    if strict or into is not None:
        raise click.UsageError(f"--{'strict' if strict else 'into'} requires --to.")
    to_stdout = target == "-"
    if to_stdout and sys.stdout.isatty():
        raise click.UsageError("-o - writes a binary file: redirect standard output.")
    for name, given in parts.items():  # such as scores=False for --no-scores
        how[name.removeprefix("no_")] = given != name.startswith("no_")
    with ProgressLine(output.quiet) as progress:
        written = sys.stdout.buffer if to_stdout else target
        done = library(source, written, **how, force=force, progress=progress)
    text, notes = describe(done, source, verbose), [f"note: {each}" for each in done.notes]
    output.give("convert", as_object(done), text, notes, err=to_stdout)


def as_object(done: Conversion) -> dict[str, object]:
    model = done.model
    return {
        "target": None if done.target is None else str(done.target),
        "size": done.size,
        "source": model.provenance.source,
        "source_size": done.source_size,
        "sha256": dict(model.provenance.sha256),
        "commit": done.commit,
        "reference": model.reference.value,
        "ids": len(model.tokens),
        "tokens": sum(token is not None for token in model.tokens),
        "added_tokens": len(model.added_tokens),
        "sections": dict(done.sections),
        "notes": list(done.notes),
    }


def describe(done: Conversion, source: str, verbose: bool) -> str:
    """The result for a person: what was read, and what is in the file."""
    model = done.model
    tokens = sum(token is not None for token in model.tokens)
    holes = f", {plural(len(model.tokens) - tokens, 'hole')}" if tokens < len(model.tokens) else ""
    names = {path.name for one in SOURCES for name in one.files for path in Path(source).glob(name)}
    others = names - {*model.provenance.sha256}
    steps = [str(getattr(step, "value", type(step).__name__)) for step in model.normalizer]
    special = sum(token.special for token in model.added_tokens)
    facts = [
        ("source", f"{model.provenance.source}, whose reference is {model.reference.value}"),
        ("read", ", ".join(model.provenance.sha256)),
        *([("not read", ", ".join(sorted(others)))] if others else []),
        *([("repository", f"{source} at commit {done.commit}")] if done.commit else []),
        ("model", type(model.model).__name__.removesuffix("Model")),
        ("vocabulary", f"{plural(tokens, 'token')}{holes}"),
        ("added tokens", f"{len(model.added_tokens):,}, {special:,} of them special"),
        ("normalizer", ", ".join(steps) or "none"),
        # The file may have fewer stages: some steps become one, and some have no effect.
        ("pre-tokenizer", plural(len(model.pre_tokenizer), "step")),
    ]
    compared = f" (the source: {size(done.source_size)})" if done.source_size else ""
    shown = f"{done.target or 'standard output'}: {size(done.size)}{compared}\n\n{table(facts)}"
    sections = section_rows({tag.encode(): count for tag, count in done.sections.items()})
    return f"{shown}\n\n{table(sections)}" if verbose else shown


def show_written(done: Written, target: str, output: Output) -> None:
    """Shows the files of another runtime, and what they cannot represent."""
    tokens = plural(sum(token is not None for token in done.source.tokens), "token")
    name = target_of(done.format).runtime_name
    lines = [f"{path}: {size(count)}, {tokens}, for {name}" for path, count in done.files.items()]
    losses = [f"warning: {loss}" for loss in done.losses]
    values: dict[str, object] = {
        "target": str(target),
        "format": done.format,
        "files": {str(path): count for path, count in done.files.items()},
        "ids": len(done.source.tokens),
        "losses": [{"part": loss.part.value, "meaning": loss.meaning} for loss in done.losses],
    }
    output.give("convert", values, "\n".join(lines), losses)


def show_converted(done: Converted, format: str, target: str, output: Output) -> None:
    """Shows a file converted from another runtime's, and what was compared."""
    name, notes = target_of(format).runtime_name, []
    if not done.encodes:
        notes = [f"note: decode-only: the file does not say how {name} encodes"]
    elif done.compared:
        notes = [f"note: same ids as {name} for all {done.compared:,} random strings"]
    values = {"target": target, "format": format, **asdict(done)}
    text = f"{target}: {size(done.size)}, {plural(done.tokens, 'token')}"
    output.give("convert", values, text, notes)
