"""tokexport train: texts in, a tokenizer out."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tokexport import Tokenizer, load
from tokexport.cli.console import (
    Output,
    ProgressLine,
    bytes_value,
    output_options,
    plural,
    quoted,
    size,
    table,
)
from tokexport.cli.contents import converted
from tokexport.cli.count import counting, doc_cap_option, max_chars_option, pattern_option
from tokexport.cli.options import (
    AnyPath,
    InputPath,
    Integer,
    Utf8,
    document_options,
    given_name,
    is_standard_input,
    number_option,
    parts_of_file,
    path_option,
    refuse_beside,
    target_option,
    token_option,
)
from tokexport.corpus.documents import (
    Batch,
    ByteStream,
    InputFile,
    LongDocument,
    Position,
    find_files,
    read_documents,
    read_stream,
    repeated,
)
from tokexport.errors import TokexportError
from tokexport.output import resolve
from tokexport.runtime.embedded import is_tokexport_file
from tokexport.training.counting import Run, WordCounts
from tokexport.training.files import count_documents, decoded, stream_run, strings
from tokexport.training.report import Sample, report
from tokexport.training.train import (
    TIE_BREAKS,
    Roles,
    SpecialTokens,
    refuse_settings,
    train_from_counts,
)
from tokexport.training.trained import FILES, Trained
from tokexport.training.word_counts_file import read_word_counts


@click.command()
@click.argument("inputs", metavar="[INPUT...]", nargs=-1, type=AnyPath())
@path_option("--counts", "counts_file", type=InputPath(), help="Word counts instead of INPUT.")
@number_option("--vocab-size", required=True, help="The number of ids.")
@target_option("folder", required=True, metavar="DIR", help="The files' folder.")
@pattern_option
@token_option(
    "--special-token", "special", multiple=True, help="A special token; its id is one of the last."
)
@click.option(
    "--special-id",
    "placed",
    type=(Utf8(), Integer(0)),
    multiple=True,
    metavar="T ID",
    help="A special token with its id.",
)
@token_option("--bos", help="The special token that begins a text.")
@token_option("--eos", help="The special token that ends a text and a generation.")
@token_option("--pad", help="The special token that pads a batch.")
@token_option("--stop", multiple=True, help="Another special token that ends a generation.")
@click.option("--split-special", is_flag=True, help="Cut texts at special tokens.")
@click.option(
    "--tie-break",
    type=click.Choice(TIE_BREAKS),
    default=TIE_BREAKS[0],
    help="Which of the most frequent pairs is merged.",
)
@max_chars_option
@doc_cap_option
@document_options
@path_option(
    "--held-out", multiple=True, metavar="PATH", help="Texts to measure on, not to learn from."
)
@path_option("--beside", multiple=True, type=InputPath(), help="Another tokenizer to measure.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@output_options
def train(
    inputs: tuple[str, ...],
    counts_file: str | None,
    vocab_size: int,
    folder: str,
    special: tuple[str, ...],
    placed: tuple[tuple[str, int], ...],
    bos: str | None,
    eos: str | None,
    pad: str | None,
    stop: tuple[str, ...],
    tie_break: Any,
    held_out: tuple[str, ...],
    beside: tuple[str, ...],
    force: bool,
    output: Output,
    **how: Any,
) -> None:
    """Learns a byte-level BPE tokenizer from texts.

    INPUT is what `tokexport tokenize` reads: .txt, .jsonl, .parquet, compressed or not, or a folder
    of them; or - for standard input: one text, lines of text (--lines), or lines of JSON (--field).
    --counts names a file of `tokexport count` instead. Memory grows only with the distinct words.
    The vocabulary size includes the 256 bytes and the special tokens, which are plain text in the
    texts, or cut them (--split-special). DIR gets tokenizer.bin, tokenizer.json, ranks.tiktoken and
    merges.tsv, which all produce the same ids; and ranks.json, tokenizer_config.json and
    generation_config.json, with the special tokens and their roles.

    --bos, --eos, --pad and --stop give special tokens a role: every runtime of tokenizer.bin ends a
    generation at --eos and --stop, and so does transformers.

    The report shows bytes per token on samples of at most 4 million characters, one of INPUT and
    one of --held-out, whose files may be among those of INPUT.

    \b
    tokexport train corpus/ --vocab-size 32768 -o mine --special-token '<|bos|>'
    tokexport train *.parquet --vocab-size 65536 -o mine --max-chars 2000000000
    tokexport train corpus/ --vocab-size 32768 -o mine --held-out corpus/last.txt
    """
    specials: SpecialTokens = special
    if placed:
        specials = dict(placed)
        if special or len(specials) < len(placed):
            raise TokexportError(
                "give each special token once, all with --special-id or all with --special-token"
            )
    roles = Roles(bos, eos, pad, stop)
    if counts_file is None:
        refuse_settings(vocab_size, specials, tie_break, roles)
    files, _ = (find_files([*filter("-".__ne__, names)]) for names in (inputs, held_out))
    compared = {given_name(name): _opened(name) for name in beside}
    counts = None if counts_file is None else _read(counts_file, inputs, held_out, how)
    for name in FILES:  # after what is missing was named
        resolve(Path(folder) / name, force=force)
    place = next(path for path in (Path(folder), *Path(folder).absolute().parents) if path.exists())
    if not os.access(place, os.W_OK):  # training may take hours
        raise TokexportError(f"{place}: it is not allowed to write files there", "name another")
    if "-" in inputs and "-" in held_out:
        raise click.UsageError("standard input can only be read once")
    sample, held = Sample(), Sample()
    for text in _texts(held_out, how):
        held.add(text)
    with ProgressLine(output.quiet) as line:
        if counts is not None:
            specials = specials or counts.special_tokens
        else:
            counts = WordCounts(
                how["pattern"] or "nanochat", tuple(specials) if how["split_special"] else ()
            )
            _count(counts, inputs, held_out, line, sample.add, how)
        trained = train_from_counts(
            counts,
            vocab_size,
            special_tokens=specials,
            roles=roles,
            tie_break=tie_break,
            progress=line,
        )
    trained.save(folder, force=force)
    tokenizers = {folder: load(trained.to_bytes()), **compared}
    encoders = {name: tokenizer.encode_to_numpy for name, tokenizer in tokenizers.items()}
    found = report(trained, encoders, sample.texts, held.texts)
    notes = repeated(files) + ([] if trained.note is None else [f"note: {trained.note}"])
    text = describe(trained, found, folder)
    output.give("train", as_object(trained, found, folder), text, notes)


def as_object(trained: Trained, found: dict[str, Any], folder: str) -> dict[str, object]:
    """The result for a program."""
    names = ("special_tokens", "words", "distinct_words", "text_bytes", "text_tokens", "note")
    return {
        "folder": folder,
        "tokens": len(trained),
        "merges": len(trained.merges),
        **{name: getattr(trained, name) for name in names},
        "special_ids": asdict(trained.special_ids),
        **found,
        "longest": [bytes_value(token) for token in found["longest"]],
        "never_used": [bytes_value(token) for token in found["never_used"]],
    }


def describe(trained: Trained, found: dict[str, Any], folder: str) -> str:
    """The result for a person."""
    mean = trained.text_bytes / trained.text_tokens
    learned = f"{plural(len(trained), 'token')} of {plural(trained.words, 'word')}"
    on_texts = f"{mean:.3f} bytes per token on {size(trained.text_bytes)} of text"
    rows = [
        (name, *("-" if value is None else f"{value:.3f}" for value in values))
        for name, *values in (row.values() for row in found["bytes_per_token"])
        if any(values)
    ]
    total, unused = sum(found["kinds"].values()), len(found["never_used"])
    shares = (f"{name} {100 * count / total:.1f} %" for name, count in found["kinds"].items())
    lines = [
        f"{folder}: {learned} ({trained.distinct_words:,} distinct), {on_texts}",
        *([table([("bytes per token", "training", "held out"), *rows])] if rows else []),
        f"kinds: {', '.join(shares)}",
        f"longest: {', '.join(map(quoted, found['longest']))}",
        f"never used in the texts: {plural(unused, 'token')} ({100 * unused / total:.1f} %)",
    ]
    return "\n".join(lines)


def _read(
    counts_file: str, inputs: Sequence[str], held_out: Sequence[str], how: dict[str, Any]
) -> WordCounts:
    """Reads a counts file. Raises TokexportError for options that were fixed when it was made."""
    decided = ["pattern", "split_special", "max_chars", "doc_cap"]
    if not held_out:  # which are read with these
        decided += ["field", "lines"]
    if inputs:
        raise click.UsageError("--counts excludes INPUT.")
    refuse_beside("--counts", {name: how[name] for name in decided})
    counts = read_word_counts(counts_file)
    counts.refuse_incomplete(counts_file)
    return counts


def _count(
    counts: WordCounts,
    inputs: Sequence[str],
    held_out: Sequence[str],
    line: ProgressLine,
    seen: Callable[[str], None],
    how: dict[str, Any],
) -> None:
    if not inputs:
        raise TokexportError(
            "no texts are named", "name texts to learn from, or word counts (--counts FILE)"
        )
    field, lines = how["field"], how["lines"]
    caps = {"doc_cap": how["doc_cap"], "max_chars": how["max_chars"]}
    names: Sequence[str | Path]
    if is_standard_input(inputs):
        run = stream_run(field=field, lines=lines, **caps)
        names, documents = _standard_input(how)
    else:
        left_out = {path.resolve() for path in find_files([*{*held_out} - {"-"}])}
        names = files = [path for path in find_files(inputs) if path.resolve() not in left_out]
        if not files:
            raise TokexportError("all texts are held out", "name others to learn from")
        counted = tuple(map(InputFile.of, files))
        run = Run(counted, field or "text", lines, **caps)
        documents = read_documents(files, field=run.field, lines=lines, start=run.next)
    show = counting(line, sum(file.size for file in run.files))
    for _, read in count_documents(counts, documents, names, run, how["threads"], seen, show):
        show(counts, read)


def _texts(paths: Sequence[str], how: dict[str, Any]) -> Iterator[str]:
    """The documents of files or of standard input, long ones in parts."""
    files: Sequence[str | Path]
    if is_standard_input(paths):
        files, documents = _standard_input(how)
    else:
        files, field = find_files(paths), how["field"] or "text"
        documents = read_documents(files, field=field, lines=how["lines"], start=Position())
    for batch in documents:
        if isinstance(batch, LongDocument):
            yield from decoded(batch.parts, str(files[batch.first.file]))
        else:
            yield from strings(batch, files)


def _standard_input(how: dict[str, Any]) -> tuple[list[str], Iterator[Batch | LongDocument]]:
    """The name of standard input and its documents."""
    stream = ByteStream(parts_of_file("-"), "standard input")
    return [stream.name], read_stream(stream, field=how["field"], lines=how["lines"])


def _opened(name: str) -> Tokenizer:
    """Opens a tokexport file, or a source, which is converted in memory."""
    tokenizer = load(name) if is_tokexport_file(name) else load(converted(name, {}))
    tokenizer.encode("")  # FormatError for a decode-only file, before training
    return tokenizer
