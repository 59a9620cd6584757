"""tokexport view: a text in, a page with its tokens out."""

import os
import sys
from pathlib import Path

import click

from tokexport.cli.console import Output, json_option, say_json, size
from tokexport.cli.contents import Contents
from tokexport.cli.options import DashCommand, InputPath, given_text, path_option, read_text
from tokexport.output import refuse_sources, resolve, write_file
from tokexport.viewing.page import Side, page


@click.command(cls=DashCommand)
@click.argument("path", metavar="TOKENIZER", type=InputPath())
@click.argument("text", required=False)
@path_option("--file", "text_file", help="Show this file's text.")
@path_option("-o", "--output", "target", default="page.html", help="The page.")
@click.option("--beside", metavar="TOKENIZER", type=InputPath(), help="A second one to compare.")
@click.option("--special", is_flag=True, help="Special tokens become ids.")
@click.option("--add-special-tokens", is_flag=True, help="Add the template's ids, such as BOS.")
@click.option("--force", is_flag=True, help="Overwrite the page.")
@json_option
def view(
    path: str,
    text: str | None,
    text_file: str | None,
    target: str,
    beside: str | None,
    special: bool,
    add_special_tokens: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Writes a page that shows the tokens of a text.

    The text is TEXT, a file, or standard input (the default, or -). The page is one HTML file that
    needs no network: point at a token to see its id, bytes, score, rank and the merges that make
    it. With --beside, two tokenizers are shown side by side and their cuts compared. -o - is
    standard output.

    \b
    tokexport view tokenizer.bin "Hello, world" -o page.html
    tokexport view llama3.bin --beside qwen3.bin --file README.md --force
    """
    given = given_text(text, text_file)
    sides = [side(name) for name in (path, beside) if name is not None]
    place = None if target == "-" else resolve(target, force=force, streams=True)
    if place is not None:
        refuse_sources(place, [Path(name) for name in (path, beside, text_file) if name])
    content = page(
        read_text(*given),
        sides,
        allowed_special="all" if special else (),
        add_special_tokens=add_special_tokens,
    ).encode()
    if place is None:
        sys.stdout.buffer.write(content)
        if as_json:
            say_json("view", {"target": None, "size": len(content)}, err=True)
        return
    write_file(place, content, force=force)
    text = f"{target}: {size(len(content))}; open it in a browser"
    Output(False, as_json).give("view", {"target": target, "size": len(content)}, text)


def side(path: str) -> Side:
    """A tokenizer with its merges."""
    contents = Contents(path)
    return Side(os.path.basename(path), contents.tokenizer, contents.merges, contents.ranks)
