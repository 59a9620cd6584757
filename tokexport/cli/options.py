"""Options for what a source does not state itself, and files that may be standard input."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial, wraps
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from tokexport.errors import SourceError, TokexportError, naming_temporary, reading

Result = TypeVar("Result")
PART = 1 << 18  # bytes
COPIES = "copies of pipes"  # in the context: the name that was given, by temporary file


class AnyPath(click.Path):
    """A path, as a str, but not an empty one, which is the current directory for ``pathlib``. With
    ``reads``, a pipe is copied to a temporary file, and so is standard input (``-``); with
    ``writes``, ``-`` is refused.
    """

    def __init__(self, reads: bool = False, writes: bool = False) -> None:
        super().__init__()
        self.reads, self.writes = reads, writes

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        name = str(value) or self.fail("an empty path names no file", param, ctx)
        if self.writes and name == "-":
            self.fail("this command does not write to standard output; name a file", param, ctx)
        if ctx is None or not self.reads or (name != "-" and not Path(name).is_fifo()):
            return name
        copies = ctx.meta.setdefault(COPIES, {})
        shown = "standard input" if name == "-" else name
        if shown in copies.values():
            self.fail(f"{shown} can only be read once", param, ctx)
        content = b"".join(parts_of_file(name))
        with naming_temporary():
            folder = Path(ctx.with_resource(TemporaryDirectory()))
            path = folder / ("stdin" if name == "-" else Path(name).name)
            path.write_bytes(content)
        copies[str(path)] = shown
        return str(path)


def given_name(path: str) -> str:
    """The name that was given for a path, which may be a temporary copy."""
    name: str = click.get_current_context().meta.get(COPIES, {}).get(path, path)
    return name


InputPath = partial(AnyPath, reads=True)
path_option = partial(click.option, type=AnyPath(), metavar="FILE")
target_option = partial(path_option, "-o", "--output", type=AnyPath(writes=True))


def parts_of_file(name: str) -> Iterator[bytes]:
    """The bytes of a file, or of standard input (``-``), in parts as they arrive."""
    if name == "-" and sys.stdin is None:
        raise SourceError("standard input is closed")
    context = click.get_current_context(silent=True)
    if name == "-" and context and "standard input" in context.meta.get(COPIES, {}).values():
        raise click.UsageError("standard input can only be read once")
    if name == "-":
        return _parts("standard input", nullcontext(sys.stdin.buffer))
    with reading(name):
        return _parts(name, open(name, "rb"))


def _parts(name: str, opened: AbstractContextManager[Any]) -> Iterator[bytes]:
    with reading(name), opened as file:
        while part := file.read1(PART):
            yield part


def is_standard_input(inputs: Sequence[str]) -> bool:
    """Whether INPUT is standard input. Raises TokexportError if files are named too."""
    if "-" in inputs and len(inputs) > 1:
        hint = "name only files, or send all texts to standard input"
        raise TokexportError("standard input (-) cannot be combined with files", hint)
    return tuple(inputs) == ("-",)


def given_text(text: str | None, text_file: str | None) -> tuple[str, Iterator[bytes]]:
    """The name and the parts of TEXT, a file or standard input (``-``); UsageError for both."""
    if text is not None and text_file is not None:
        raise click.UsageError("Give TEXT or --file, not both.")
    if text is not None and text != "-":
        return "TEXT", iter([os.fsencode(text)])
    name = text_file or "-"
    return "standard input" if name == "-" else name, parts_of_file(name)


def not_utf8(name: str, place: int) -> TokexportError:
    """The error for a text whose byte at ``place`` is not UTF-8."""
    return TokexportError(f"{name}: not UTF-8 at byte {place:,}", "convert it to UTF-8")


def read_text(name: str, parts: Iterable[bytes]) -> str:
    """A text as a whole. TokexportError if it is not UTF-8."""
    try:
        return b"".join(parts).decode()
    except UnicodeDecodeError as error:
        raise not_utf8(name, error.start) from error


def read_json(path: str) -> Any:
    """A JSON document. SourceError if the file holds something else."""
    try:
        return json.loads(b"".join(parts_of_file(path)))
    except json.JSONDecodeError as error:
        from tokexport.sources.json_node import not_json

        problem, hint = not_json(error)
        raise SourceError(f"{path}: {problem}", hint) from error
    except RecursionError as error:
        raise SourceError(f"{path}: nested too deeply") from error
    except UnicodeDecodeError as error:
        raise not_utf8(path, error.start) from error
    except ValueError as error:  # more digits than Python converts
        raise SourceError(f"{path}: not JSON: {error}") from error


class Utf8(click.types.StringParamType):
    """A text whose bytes on the command line are UTF-8, and not empty."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            value.encode()
        except UnicodeEncodeError:
            self.fail("the value is not UTF-8", param, ctx)
        return value or self.fail("the value is empty", param, ctx)


class Integer(click.IntRange):
    """An int, for an error that does not call it an "integer range"."""

    name = "integer"


token_option = partial(click.option, type=Utf8(), metavar="T")
number_option = partial(click.option, type=Integer(1), metavar="N")


def document_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Adds the options of all commands that read documents."""
    field_help = "The field or column of the text.  [text]"
    field = click.option("--field", type=Utf8(), metavar="NAME", help=field_help)
    lines_help = "Each line of a .txt file is a document."
    lines = click.option("--lines", is_flag=True, help=lines_help)
    return field(lines(number_option("--threads", help="Threads.  [one per processor]")(command)))


class DashCommand(click.Command):
    """A command whose arguments may begin with a dash: a word with a dash is an argument unless it
    is an option of the command. Two dashes and a word are always an option.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the arguments after ``--``, as click requires."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        values = {name: 0 if param.is_flag else 1 for param in options for name in param.opts}
        named: list[str] = []
        arguments: list[str] = []
        for word in (rest := iter(args)):
            name = word.split("=", 1)[0]
            if word == "--":
                arguments += rest
            elif name in values or (name[:2] == "--" and " " not in name):
                taken = [*islice(rest, wanted := values.get(word, 0))]
                if len(taken) < wanted:  # click says that its value is missing
                    return super().parse_args(ctx, [word])
                named += [word, *taken]
            else:
                arguments.append(word)
        return super().parse_args(ctx, [*named, "--", *arguments])


class Group(click.Group):
    """A group whose help wraps the summaries that click would cut in a narrow terminal."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            rows = [(name, one.get_short_help_str(1000)) for name, one in commands if one]
            formatter.write_dl(rows)


def refuse_beside(option: str, others: Mapping[str, object]) -> None:
    """UsageError for the first of the parameters, by name, that was given besides ``option``."""
    for name, value in others.items():
        if value is not None and value is not False:
            raise click.UsageError(f"{option} excludes --{name.replace('_', '-')}.")


def complete_pattern(ctx: click.Context, param: click.Parameter, word: str) -> list[CompletionItem]:
    from tokexport.sources.gguf.patterns import ORIGINALS, SPLIT_AS
    from tokexport.sources.tiktoken.known_patterns import KNOWN

    names = sorted({*KNOWN, *ORIGINALS, *SPLIT_AS})
    return [CompletionItem(name) for name in names if name.startswith(word)]


def source_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Adds the options for reading a source, passed to the command as ``how``."""

    @click.option(
        "--pattern",
        metavar="NAME|REGEX",
        shell_complete=complete_pattern,
        help="For ranks: whose pattern and special tokens to use (cl100k_base, llama3, ...), or a"
        " regular expression. For a GGUF with an unknown pre-tokenizer: a known one (gpt-2, qwen2,"
        " ...).",
    )
    @click.option(
        "--special-tokens",
        type=InputPath(),
        metavar="FILE.json",
        help='For ranks: a JSON object from content to id, {"<|end|>": 100257}.',
    )
    @click.option(
        "--reference",
        type=click.Choice(["transformers"]),
        help="Use AutoTokenizer's ids where tokenizer.json gives different ones.",
    )
    @click.option(
        "--revision", metavar="NAME", help="For a hub repository: a branch, a tag or a commit."
    )
    @wraps(command)
    def packed(*arguments: Any, special_tokens: str | None, **others: Any) -> Result:
        how = {name: others.pop(name) for name in ("pattern", "reference", "revision")}
        tokens = read_special_tokens(special_tokens)
        return command(*arguments, how={**how, "special_tokens": tokens}, **others)

    return packed


def read_special_tokens(path: str | None) -> dict[str, int] | None:
    """Reads a JSON object from content to id. Raises SourceError if it is anything else."""
    if path is None:
        return None
    tokens = read_json(path)
    values = tokens.values() if isinstance(tokens, dict) else [None]
    if not all(type(value) is int and value >= 0 for value in values):
        raise SourceError(
            f'{path}: special tokens must be a JSON object from content to id, such as {{"<|end|>":'
            " 100257}"
        )
    return dict(tokens)
