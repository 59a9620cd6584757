"""tokexport inspect: what a file holds, or which parts of a source are exact."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import click

from tokexport import Tokenizer, load
from tokexport.cli.console import (
    bytes_value,
    is_absent,
    json_option,
    note,
    plural,
    quoted,
    say,
    say_json,
    size,
    table,
    words,
)
from tokexport.cli.contents import MODELS, Contents, Operation, Stage
from tokexport.cli.decoding import decoding_text, token_value
from tokexport.cli.diagnose import Parts, parts_of
from tokexport.cli.options import InputPath, read_special_tokens, source_options
from tokexport.cli.source_parts import describe_parts
from tokexport.cli.sources import converted, is_tokexport_file, opened
from tokexport.errors import TokexportError
from tokexport.escape import escape
from tokexport.file.layout import NONE, ModelType, Tag
from tokexport.model import AddedToken, StripChars

ROLES = ("bos", "eos", "pad", "unk")
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
    pattern: str | None,
    special_tokens: str | None,
    revision: str | None,
    as_json: bool,
) -> None:
    """Shows what a file holds, or which parts of a source are exact.

    The checksums of a tokexport file are compared first, and its self test is run.

    Of a source (a file, a directory, or the name of a repository of the Hugging Face hub) it says
    for each part whether it is exact or refused, and then what the file would hold; exit code 0:
    all are exact, 1: something is refused.

    \b
    tokexport inspect tokenizer.bin
    tokexport inspect tokenizer.bin --token 9906
    tokexport inspect tokenizer.bin --tokens | grep hello
    tokexport inspect tokenizer.json
    tokexport inspect Qwen/Qwen3-0.6B
    """
    if is_tokexport_file(path):
        if pattern is not None or special_tokens is not None:
            raise TokexportError(
                f"{path}: --pattern and --special-tokens are for sources; a tokexport file has"
                " its own"
            )
        tokenizer, contents = opened(path, revision)
    else:
        special = read_special_tokens(special_tokens)
        if token_id is None and not show_tokens and not show_added:
            parts = parts_of(path, pattern=pattern, special_tokens=special, revision=revision)
            context.exit(show_source(path, parts, as_json))
        content = converted(path, pattern, special, revision)
        tokenizer, contents = load(content), Contents(content, path)
    if token_id is not None:
        facts = token_facts(contents, token_id)
        if as_json:
            say_json("inspect", {"token": facts})
        else:
            say(token_text(contents, facts))
    elif show_tokens:
        tokens = ((number, token) for number, token in enumerate(contents.tokens) if token)
        if as_json:
            rows = [{"id": number, **token_value(token)} for number, token in tokens]
            return say_json("inspect", {"tokens": rows})
        for number, token in tokens:
            kind = "special" if token.special else token.kind.value
            say(f"{number}\t{kind}\t{escape(token.content)}")
    elif show_added:
        values = [added_value(token) for token in contents.added_tokens]
        if as_json:
            return say_json("inspect", {"added_tokens": values})
        for added, value in zip(contents.added_tokens, values, strict=True):
            flags = " ".join(name for name in FLAGS if value[name])
            say(f"{added.id}\t{escape(added.content.encode())}\t{flags}")
    else:
        facts = file_facts(path, tokenizer, contents)
        say_json("inspect", facts) if as_json else say(describe(facts, contents))
    return None


def show_source(source: str, parts: Parts, as_json: bool) -> int:
    """Prints the parts of a source and what its file would hold; the exit code: 0 where all parts
    are exact, else 1.
    """
    facts, text = None, ""
    if parts.content is not None:
        contents = Contents(parts.content, source)
        facts = file_facts(source, load(parts.content), contents)
        text = f"\n\n{describe(facts, contents)}"
    if as_json:
        shown = {"parts": [asdict(part) for part in parts.parts], "notes": parts.notes}
        say_json("inspect", {"source": source, "exact": parts.exact, **shown, "file": facts})
    else:
        say(describe_parts(source, parts) + text)
        for sentence in parts.notes:
            note(f"note: {sentence}")
    return 0 if parts.exact else 1


def added_value(token: AddedToken) -> dict[str, object]:
    """An added token for a program."""
    flags = {name: getattr(token, name) for name in FLAGS}
    return {"id": token.id, **bytes_value(token.content.encode()), **flags}


def token_facts(contents: Contents, token_id: int) -> dict[str, Any]:
    """All that the file says about one id. Raises TokexportError where there is no such id."""
    tokens = contents.tokens
    if not 0 <= token_id < len(tokens):
        raise TokexportError(
            f"{contents.name}: no id {token_id}; its ids are 0 to {len(tokens) - 1:,}"
        )
    token = tokens[token_id]
    if token is None:
        raise TokexportError(f"{contents.name}: id {token_id} is a hole: no token has it")
    facts: dict[str, Any] = {"id": token_id, **token_value(token), "length": len(token.content)}
    facts |= {"merge": None, "rank": None, "score": None}
    for left, right, _ in contents.merges[contents.merges[:, 2] == token_id].tolist():
        facts |= {"merge": [left, right], "rank": int(contents.ranks[token_id])}
    score = None if contents.scores is None else float(contents.scores[token_id])
    return facts | {"score": score if score is not None and math.isfinite(score) else None}


def token_text(contents: Contents, facts: dict[str, Any]) -> str:
    """The facts about a token for a person: what is none or false is left out."""
    content, merge = bytes.fromhex(facts["bytes"]), facts["merge"]
    if merge is not None:
        parts = [quoted(token.content) for id in merge if (token := contents.tokens[id])]
        merge = f"{merge[0]} + {merge[1]}: {' + '.join(parts)}"
    shown = {"id": facts["id"], "bytes": quoted(content), "hex": content.hex(" "), "merge": merge}
    shown |= {name: value for name, value in facts.items() if name not in (*shown, "text")}
    return table([(name, words(value)) for name, value in shown.items() if not is_absent(value)])


def file_facts(path: str, tokenizer: Tokenizer, contents: Contents) -> dict[str, Any]:
    """All that the file says about itself."""
    header, added, special = contents.header, contents.added_tokens, contents.special_ids
    chat_template = contents.section(Tag.CHAT_TEMPLATE)
    return {
        "file": path,
        "is_source": not is_tokexport_file(path),
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
        "ranks_are_ids": contents.section(Tag.RANKS) is None,
        "flags": contents.flags,
        "unknown_id": None if header.unknown_id == NONE else header.unknown_id,
        "normalizer": [asdict(operation) for operation in contents.normalizer],
        "stages": [asdict(stage) for stage in contents.stages],
        "decoder": decoding_value(contents),
        "added_tokens": len(added),
        "special_added_tokens": sum(token.special for token in added),
        "special_ids": {**{role: getattr(special, role) for role in ROLES}, "stop": special.stop},
        "template": template_value(contents),
        "chat_template_size": None if chat_template is None else len(chat_template),
        "provenance": tokenizer.provenance,
        "self_test": tokenizer.self_test() if contents.section(Tag.SELF_TEST) is not None else None,
        "sections": [
            {"tag": entry.tag, "size": entry.size, "required": entry.required}
            for entry in contents.sections
        ],
    }


def decoding_value(contents: Contents) -> dict[str, object]:
    """The rules of decoding for a program."""
    rules = contents.decoding
    return {
        "byte_fallback": rules.byte_fallback,
        "fallback_by_character": rules.fallback_by_character,
        "repeats_once": rules.repeats_once,
        "first_is": rules.first_is.value,
        "stripped": [edit.character for edit in rules.edits if isinstance(edit, StripChars)],
        "edits": contents.digest(Tag.EDITS),
    }


def template_value(contents: Contents) -> list[dict[str, object]]:
    """The template for one text; nothing where it adds nothing."""
    items = contents.template.single
    if all(item.id is None for item in items):
        return []
    return [{"sequence": item.sequence, "id": item.id, "type_id": item.type_id} for item in items]


def operation_text(operation: Operation) -> str:
    """An operation in a few words."""
    content = f' "{operation.content}"' if operation.content else ""
    return " ".join([operation.kind, *operation.flags]) + content


def stage_text(stage: Stage) -> str:
    """A stage in a line."""
    if stage.operations:
        return ", ".join(map(operation_text, stage.operations))
    name = stage.behavior.replace("_", " ")
    options = " inverted" * stage.invert + " on bytes" * stage.on_bytes
    return f"{name}{options}, {stage.classes} classes, {stage.states} states"


def template_text(contents: Contents) -> str:
    """The template for one text, with its tokens' contents."""
    tokens = [
        None if item.id is None else contents.tokens[item.id] for item in contents.template.single
    ]
    return " ".join("$A" if token is None else escape(token.content) for token in tokens)


def made_from(provenance: dict[str, Any]) -> str:
    """Where the file came from, in a line; other exporters may say less than this one."""
    prefixes = {"source": "", "reference": "reference ", "exporter": "by "}
    parts = [
        f"{prefix}{provenance[name]}" for name, prefix in prefixes.items() if name in provenance
    ]
    return ", ".join(parts) or "not said"


def describe(facts: dict[str, Any], contents: Contents) -> str:
    """The facts for a person."""
    holes = f", {plural(facts['holes'], 'hole')}" if facts["holes"] else ""
    added, special = facts["added_tokens"], facts["special_added_tokens"]
    name = MODELS[ModelType(contents.header.model)]
    model = name if facts["unit"] is None else f"{name} over {facts['unit']}"
    stages = [stage_text(stage) for stage in contents.stages]
    normalizer = ", ".join(map(operation_text, contents.normalizer))
    order = "that of ids" if facts["ranks_are_ids"] else "by the section RANK"
    unknown, digests = facts["unknown_id"], facts["provenance"].get("sha256")
    template = template_text(contents) if facts["template"] else "none"
    rows = [
        ("model", model if facts["encodes"] else f"{model}, for decoding only"),
        ("ids", f"{facts['ids']:,}: {plural(facts['tokens'], 'token')}{holes}"),
        ("longest token", plural(facts["longest_token"], "byte")),
        ("merges", f"{facts['merges']:,}, their order {order}"),
        ("flags", words(facts["flags"])),
        ("unknown text", "has no id" if unknown is None else f"gives id {unknown}"),
        ("normalizer", normalizer or "none"),
        ("pre-tokenizer", plural(len(stages), "stage")),
        *(("", f"{number}: {stage}") for number, stage in enumerate(stages, 1)),
        ("decoder", decoding_text(contents.decoding, contents.digest(Tag.EDITS))),
        ("added tokens", f"{added:,}, {special:,} of them special" if added else "none"),
        ("special ids", words(facts["special_ids"])),
        ("template", template),
        ("chat template", size(facts["chat_template_size"] or 0)),
        ("self test", f"{plural(facts['self_test'] or 0, 'case')} passed"),
        ("checksums", "OK"),  # load() has compared them
        ("made from", made_from(facts["provenance"])),
    ]
    if isinstance(digests, dict):
        rows += [("", f"sha256 {digest} {file}") for file, digest in digests.items()]
    absent = {"merges"} if contents.header.model != ModelType.BPE else set()
    absent |= {"chat template"} if facts["chat_template_size"] is None else set()
    absent |= {"self test"} if facts["self_test"] is None else set()
    if not facts["encodes"]:
        absent |= {"merges", "flags", "unknown text", "normalizer", "pre-tokenizer", "template"}
        absent |= {"self test", "added tokens"}
    rows = [row for row in rows if row[0] not in absent]
    sections = [(entry.tag, f"{entry.size:,}", entry.meaning) for entry in contents.sections]
    form = "a source, as it would be converted," if facts["is_source"] else "tokexport file,"
    title = f"{facts['file']}: {form} version {facts['version']}, {size(facts['size'])}"
    return f"{title}\n\n{table(rows)}\n\n{table(sections)}"
