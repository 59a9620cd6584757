"""tokexport chat-template: a conversation in, its prompt out."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from tokexport import load
from tokexport.cli.console import json_option, say_json
from tokexport.cli.options import InputPath, parts_of_file, path_option, read_json, read_text
from tokexport.errors import ChatTemplateError, SourceError
from tokexport.escape import visible


@click.command("chat-template")
@click.argument("path", metavar="TOKENIZER", type=InputPath())
@click.argument("messages", metavar="[MESSAGES.json]", default="-", type=InputPath())
@click.option("--text", "as_text", is_flag=True, help="Print the text, not its ids.")
@click.option("--add-generation-prompt", is_flag=True, help="End where the answer begins.")
@click.option("--continue-final-message", is_flag=True, help="End within the last message.")
@click.option("--tools", metavar="FILE.json", type=InputPath(), help="A JSON array of tools.")
@path_option(
    "--template",
    metavar="NAME|FILE",
    help="Another template: its name in the tokenizer, or a file.",
)
@click.option(
    "--set",
    "variables",
    metavar="NAME=JSON",
    multiple=True,
    help="A variable of the template, such as enable_thinking=false.",
)
@json_option
def chat_template(
    path: str,
    messages: str,
    as_text: bool,
    tools: str | None,
    template: str | None,
    variables: tuple[str, ...],
    as_json: bool,
    **how: Any,
) -> None:
    """Renders messages with a chat template and prints the ids.

    MESSAGES.json (default: standard input) is a JSON array of objects with a role and a content,
    or an object with this array as "messages" and, optionally, "tools" and "documents". The
    template is a program that came with the model; it runs in jinja2's sandbox, as in
    transformers.

    \b
    tokexport chat-template tokenizer.bin messages.json --add-generation-prompt
    tokexport chat-template qwen3.bin messages.json --set enable_thinking=false
    echo '[{"role": "user", "content": "Hi"}]' | tokexport chat-template qwen3.bin
    """
    from tokexport.chat.environment import compiled  # needs jinja2
    from tokexport.chat.render import choose

    tokenizer = load(path)
    conversation = read_json(messages)
    given = conversation if isinstance(conversation, dict) else {"messages": conversation}
    if not given.get("messages"):
        raise SourceError(
            f"{messages}: there are no messages",
            'give an array with at least one, or an object with this array as "messages"',
        )
    templates, at_fault = tokenizer.chat_templates, path
    if template is not None and template not in templates:
        template, at_fault = read_template(template, templates), template
    how["tools"] = given.get("tools") if tools is None else read_json(tools)
    how |= {"documents": given.get("documents"), "chat_template": template}
    how |= dict(map(read_variable, variables))
    if how["add_generation_prompt"] and how["continue_final_message"]:
        raise click.UsageError("--add-generation-prompt excludes --continue-final-message.")
    try:
        compiled(choose(templates, template, with_tools=how["tools"] is not None))
        at_fault = messages if tools is None else f"{messages} or {tools}"
        text = tokenizer.apply_chat_template(given["messages"], **how, tokenize=False)
        text.encode()
    except ChatTemplateError as error:
        raise ChatTemplateError(f"{at_fault}: {error.problem}", error.hint) from error
    except RecursionError as error:
        raise SourceError(f"{messages}: nested too deeply") from error
    except UnicodeEncodeError as error:
        raise SourceError(
            f"{messages}: a text has the surrogate {text[error.start]!a}, half of a character",
            "write both halves, or the character itself",
        ) from error
    if as_text and not as_json:
        click.echo(visible(text) if sys.stdout.isatty() else text.encode(), nl=False)
        return
    ids = tokenizer.encode(text, allowed_special="all")
    if as_json:
        say_json("chat-template", {"text": text, "ids": ids, "count": len(ids)})
    else:
        click.echo(" ".join(map(str, ids)))


def read_template(path: str, names: dict[str, str]) -> str:
    """Reads a template from a file. Raises SourceError if no file or template has this name."""
    if not Path(path).is_file():
        known = ", ".join(sorted(names)) or "none"
        raise SourceError(
            f"{path}: neither a file nor a chat template of the tokenizer",
            f"its templates are: {known}",
        )
    return read_text(path, parts_of_file(path))


def read_variable(word: str) -> tuple[str, Any]:
    """Parses NAME=JSON. Raises UsageError if it is not a name with a JSON value."""
    name, sign, value = word.partition("=")
    if name in ("self", "messages", "tokenize"):  # arguments of apply_chat_template itself
        why = "come from MESSAGES.json" if name == "messages" else "is no variable of a template"
        raise click.UsageError(f"--set {word}: {name} {why} and cannot be set.")
    try:
        if not (sign and name.isidentifier()):
            raise ValueError
        return name, json.loads(value)
    except (ValueError, RecursionError):
        raise click.UsageError(
            f"--set {word}: give a name and a JSON value, such as enable_thinking=false or"
            ' date="2026-01-31".'
        ) from None
