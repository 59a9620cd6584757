"""tokexport inspect: the contents of a file, or which parts of a source are exact."""

import math
from dataclasses import asdict
from typing import Any

import click

from tokexport.cli.console import (
    Output,
    bytes_value,
    is_absent,
    json_option,
    plural,
    quoted,
    size,
    table,
    words,
)
from tokexport.cli.contents import Contents, Fact, converted, opened, section_rows, tag_text
from tokexport.cli.diagnose import Parts, parts_of
from tokexport.cli.options import InputPath, given_name, source_options
from tokexport.errors import IdError, TokexportError
from tokexport.escape import escape
from tokexport.file.layout import NONE, ModelType, SectionFlag, Tag
from tokexport.model import AddedToken, Token
from tokexport.runtime.embedded import is_tokexport_file

APART = (
    *("file", "is_source", "version", "size", "stages", "pair_template", "provenance", "sections"),
)
FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")


@click.command()
@click.argument("path", metavar="TOKENIZER", type=InputPath())
@click.option("--token", "token_id", type=int, metavar="ID", help="Show one token.")
@click.option("--tokens", "show_tokens", is_flag=True, help="List every token: id, kind, bytes.")
@click.option("--added", "show_added", is_flag=True, help="List the added tokens and their flags.")
@source_options
@json_option
@click.pass_context
def inspect(
    context: click.Context,
    path: str,
    token_id: int | None,
    show_tokens: bool,
    show_added: bool,
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Shows a file's contents, or whether a source is exact.

    For a tokexport file, checks the whole file and runs the self test.

    For a source (a file, a directory, or a repository of the hub), shows whether each part is exact
    or refused, and then what the file would contain; exit code 0: all exact, 1: refused.

    \b
    tokexport inspect tokenizer.bin
    tokexport inspect tokenizer.bin --token 9906
    tokexport inspect tokenizer.bin --tokens | grep hello
    tokexport inspect tokenizer.json
    tokexport inspect Qwen/Qwen3-0.6B
    """
    listed = (token_id is not None) + show_tokens + show_added
    if listed > 1:
        raise click.UsageError("--token, --tokens and --added exclude one another.")
    name = given_name(path)
    if is_tokexport_file(path):
        contents = opened(path, how)
        contents.name = name
    else:
        if not listed:
            context.exit(show_source(name, parts_of(path, **how), as_json))
        contents = Contents(converted(path, how), name)
    if token_id is not None:
        facts, text = token_facts(contents, token_id)
        facts = {"token": facts}
    elif show_tokens:
        tokens = [(id, token) for id, token in enumerate(contents.tokens) if token]
        facts = {"tokens": [{"id": id, **token_value(token)} for id, token in tokens]}
        kinds = ["special" if token.special else token.kind.value for _, token in tokens]
        rows = zip(tokens, kinds, strict=True)
        text = "\n".join(f"{id}\t{kind}\t{escape(token.content)}" for (id, token), kind in rows)
    elif show_added:
        facts = {"added_tokens": [added_value(token) for token in contents.added_tokens]}
        text = "\n".join(map(added_text, contents.added_tokens))
    else:
        facts = file_facts(contents)
        contents.check_indexes()
        text = "" if as_json else describe(facts, contents)
    Output(False, as_json).give("inspect", facts, text)


def show_source(source: str, parts: Parts, as_json: bool) -> int:
    """Prints the parts of a source and its file; returns the exit code, 0 if all are exact."""
    contents = None if parts.content is None else Contents(parts.content, source)
    facts = None if contents is None else file_facts(contents)
    shown = {"parts": [asdict(part) for part in parts.parts], "notes": parts.notes}
    values = {"source": source, "exact": parts.exact, **shown, "file": facts}
    text = describe_parts(source, parts)
    if contents is not None and facts is not None:
        text += "\n\n" + describe(facts, contents)
    notes = [f"note: {sentence}" for sentence in parts.notes]
    Output(False, as_json).give("inspect", values, text, notes)
    return 0 if parts.exact else 1


def token_value(token: Token) -> dict[str, object]:
    """A token for a program, with the surface forms that differ from its content.

    >>> token_value(Token(b" a", first=b"a"))["first"]
    {'text': 'a', 'bytes': '61'}
    """
    forms = zip(("first", "last"), token.forms[1:], strict=True)
    return {
        **bytes_value(token.content),
        "kind": token.kind.value,
        "special": token.special,
        "fallback": token.fallback,
        **{place: None if form == token.content else bytes_value(form) for place, form in forms},
    }


def added_value(token: AddedToken) -> dict[str, object]:
    flags = {name: getattr(token, name) for name in FLAGS}
    return {"id": token.id, **bytes_value(token.content.encode()), **flags}


def added_text(token: AddedToken) -> str:
    flags = " ".join(name for name in FLAGS if getattr(token, name))
    return f"{token.id}\t{escape(token.content.encode())}\t{flags}"


def token_facts(contents: Contents, token_id: int) -> tuple[dict[str, Any], str]:
    """The facts about one id, for a program and a person. TokexportError for an unknown id."""
    tokens, scores = contents.tokens, contents.tokenizer.scores
    token = tokens[token_id] if 0 <= token_id < len(tokens) else None
    if token is None:
        error = IdError(token_id, len(tokens))
        raise TokexportError(f"{contents.name}: {error.problem}", error.hint)
    facts: dict[str, Any] = {"id": token_id, **token_value(token), "length": len(token.content)}
    facts |= {"merge": None, "rank": None, "score": None}
    shown = {"id": token_id, "bytes": quoted(token.content), "hex": token.content.hex(" ")}
    for left, right, _ in contents.merges[contents.merges[:, 2] == token_id].tolist():
        facts |= {"merge": [left, right], "rank": int(contents.ranks[token_id])}
        parts = [quoted(part.content) for id in (left, right) if (part := tokens[id])]
        shown["merge"] = f"{left} + {right}: {' + '.join(parts)}"
    if scores is not None and math.isfinite(scores[token_id]):
        facts["score"] = float(scores[token_id])
    shown |= {name: value for name, value in facts.items() if name not in (*shown, "text")}
    rows = [(name, words(value)) for name, value in shown.items() if not is_absent(value)]
    return facts, table(rows)


def file_facts(contents: Contents) -> dict[str, Any]:
    header, added, tokenizer = contents.header, contents.added_tokens, contents.tokenizer
    chat_template, frame = contents.section(Tag.CHAT_TEMPLATE), tokenizer.chat_frame
    return {
        "file": contents.name,
        "is_source": tokenizer.path is None,
        "version": f"{header.version_major}.{header.version_minor}",
        "size": header.file_size,
        "model": ModelType(header.model).name.lower(),
        "unit": contents.unit,
        "ids": header.id_count,
        "tokens": header.token_count,
        "holes": header.id_count - header.token_count,
        "longest_token": max((len(token.content) for token in contents.tokens if token), default=0),
        "encodes": contents.encodes,
        "merges": len(contents.merges),
        "ranks_are_ids": contents.section(Tag.RANKS) is None if len(contents.merges) else None,
        "flags": contents.flags,
        "unknown_id": None if header.unknown_id == NONE else header.unknown_id,
        "normalizer": contents.normalizer,
        "stages": contents.stages,
        "decoder": contents.decoding,
        "added_tokens": len(added),
        "special_added_tokens": sum(token.special for token in added),
        "special_ids": asdict(contents.special_ids),
        "template": contents.templates[0],
        "pair_template": contents.templates[1],
        "chat_frame": frame
        and {**asdict(frame), "stripped": sorted(frame.stripped), "trimmed": sorted(frame.trimmed)},
        "chat_template_size": None if chat_template is None else len(chat_template),
        "provenance": tokenizer.provenance,
        "self_test": tokenizer.self_test() if contents.section(Tag.SELF_TEST) is not None else None,
        "sections": [
            {
                "tag": tag_text(entry.tag),
                "size": entry.size,
                "required": bool(entry.flags & SectionFlag.REQUIRED),
            }
            for entry in contents.sections
        ],
    }


def frame_text(frame: dict[str, Any] | None) -> str:
    """Which conversations the frame covers."""
    if frame is None:
        return "none: the template does more than add fixed texts, or was not examined"
    roles = "user, assistant" if frame["system"] is None else "system, user, assistant"
    reserved = ", ".join(frame["reserved"])
    return f"for {roles}" + (f"; not for messages with {reserved}" if reserved else "")


def parts_shown(contents: Contents) -> dict[str, tuple[object, str]]:
    """The parts that decide an id, besides tokens and merges, for a program and for a person; equal
    parts have equal values and texts.
    """
    unknown = None if contents.header.unknown_id == NONE else contents.header.unknown_id
    flags, operations, rules = contents.flags, contents.normalizer, contents.decoding
    special = asdict(contents.special_ids)
    templates = dict(zip(("template", "pair_template"), contents.templates, strict=True))
    return {
        "flags": (flags, words(flags)),
        "unknown id": (unknown, words(unknown)),
        "normalizer": (operations, ", ".join(map(operation_text, operations)) or "none"),
        **{
            f"pre-tokenizer stage {number}": (stage, stage_text(stage))
            for number, stage in enumerate(contents.stages, 1)
        },
        "decoder": (rules, decoding_text(rules)),
        "special ids": (special, words(special)),
        "template": (templates, template_text(contents)),
    }


def operation_text(operation: Fact) -> str:
    content = [f'"{operation["content"]}"'] if operation["content"] else []
    table = [f"(CRC-32 {operation['table']})"] if operation["table"] else []
    return " ".join([operation["kind"], *operation["flags"], *content, *table])


def stage_text(stage: Fact) -> str:
    if stage["operations"]:
        return ", ".join(map(operation_text, stage["operations"]))
    name = stage["behavior"].replace("_", " ")
    options = " inverted" * stage["invert"] + " on bytes" * stage["on_bytes"]
    size = f"{stage['classes']} classes, {stage['states']} states"
    return f"{name}{options}, {size} (CRC-32 {stage['tables']})"


def decoding_text(rules: Fact) -> str:
    first_is = None if rules["first_is"] == "id" else rules["first_is"]
    stripped = [quoted(character.encode()) for character in rules["stripped"]]
    shown = words({**rules, "first_is": first_is, "stripped": stripped})
    return "joins the bytes of tokens" if shown == "none" else shown


def template_text(contents: Contents) -> str:
    """The template for one text, with its tokens' contents."""
    # Not as an added token decodes, in BERT with a space before it.
    added = {token.id: token.content.encode() for token in contents.added_tokens}
    ids = [item["id"] for item in contents.templates[0]]
    tokens = {id: contents.tokens[id] for id in ids if id is not None}
    named = {id: escape(added.get(id, token.content)) for id, token in tokens.items() if token}
    shown = " ".join(named.get(id, "$A") for id in ids) if named else "none"
    digest = contents.digest(Tag.TEMPLATE)  # also of the template for two texts
    return f"{shown} (CRC-32 {digest})" if digest else shown


def describe(facts: Fact, contents: Contents) -> str:
    """The facts for a person, under the names of --json."""
    named = {name.replace("_", " "): value for name, value in facts.items() if name not in APART}
    named |= {name: f"{value:,}" for name, value in named.items() if type(value) is int}
    named["encodes"] = words(facts["encodes"])
    if facts["chat_template_size"] is not None:
        named["chat frame"] = frame_text(facts["chat_frame"])
    parts = {name: text for name, (_, text) in parts_shown(contents).items()}
    shown = {name: value for name, value in named.items() if name not in parts}
    # load() has checked the checksums.
    shown |= {**parts, "checksums": "OK", "provenance": facts["provenance"]}
    rows = [(name, words(value)) for name, value in shown.items() if not is_absent(value)]
    sections = section_rows({entry.tag: entry.size for entry in contents.sections})
    form = "a source, as it would be converted," if facts["is_source"] else "tokexport file,"
    title = f"{facts['file']}: {form} version {facts['version']}, {size(facts['size'])}"
    return f"{title}\n\n{table(rows)}\n\n{table(sections)}"


def describe_parts(source: str, parts: Parts) -> str:
    """The parts for a person: one line each, and the refusals below."""
    rows = [
        (part.place, "refused" if part.refusals else "exact", part.what) for part in parts.parts
    ]
    sentences = [sentence for part in parts.parts for sentence in part.refusals]
    verdict = "every part is exact"
    if sentences:
        verdict = f"{plural(len(sentences), 'refusal')}, so it cannot be converted"
    return "\n\n".join([f"{source}: {verdict}", table(rows), *sentences])
