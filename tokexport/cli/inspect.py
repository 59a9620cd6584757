"""tokexport inspect: what a file holds, or which parts of a source are exact."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tokexport import Tokenizer, load
from tokexport.cli.console import json_option, note, plural, say, say_json, size, table
from tokexport.cli.contents import Contents
from tokexport.cli.decoding import decoding_text, edits_text, forms_text
from tokexport.cli.diagnose import Parts, parts_of
from tokexport.cli.options import read_special_tokens, source_options
from tokexport.cli.source_parts import describe_parts
from tokexport.cli.sources import converted, is_tokexport_file, opened
from tokexport.errors import TokexportError
from tokexport.escape import escape
from tokexport.file.layout import NONE, Tag
from tokexport.model import AddedToken


@click.command()
@click.argument("path", metavar="TOKENIZER", type=click.Path())
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
    special_tokens: Path | None,
    revision: str | None,
    as_json: bool,
) -> None:
    """Shows what a tokexport file holds, after comparing its checksums and running its self test.

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
        tokenizer, contents = load(content), Contents(content)
    if token_id is not None:
        facts = one_token(contents, path, token_id)
        (
            say_json(facts)
            if as_json
            else say(table([(name, str(value)) for name, value in facts.items()]))
        )
    elif show_tokens or show_added:
        rows = (
            all_tokens(contents)
            if show_tokens
            else [added_token(token) for token in contents.added_tokens()]
        )
        (
            say_json(rows)
            if as_json
            else say("\n".join("\t".join(map(str, row.values())) for row in rows))
        )
    else:
        facts = file_facts(path, tokenizer, contents)
        say_json(facts) if as_json else say(describe(facts))


def show_source(source: str, parts: Parts, as_json: bool) -> int:
    """Prints the parts of a source and what its file would hold; the exit code: 0 where all parts
    are exact, else 1.
    """
    content = parts.content
    facts = None if content is None else file_facts(source, load(content), Contents(content))
    if as_json:
        shown = [asdict(part) for part in parts.parts]
        say_json(
            {
                "source": source,
                "exact": parts.exact,
                "parts": shown,
                "notes": parts.notes,
                "file": facts,
            }
        )
    else:
        say(
            "\n\n".join(
                [describe_parts(source, parts), *([] if facts is None else [describe(facts)])]
            )
        )
        for sentence in parts.notes:
            note(f"note: {sentence}")
    return 0 if parts.exact else 1


def all_tokens(contents: Contents) -> list[dict[str, object]]:
    """A row for each id that is not a hole."""
    return [
        {
            "id": number,
            "kind": "special" if token.special else token.kind.value,
            "bytes": escape(token.content),
        }
        for number, token in enumerate(contents.tokens())
        if token is not None
    ]


def added_token(token: AddedToken) -> dict[str, object]:
    """A row for an added token."""
    names = ("special", "single_word", "lstrip", "rstrip", "normalized")
    flags = [name for name in names if getattr(token, name)]
    return {"id": token.id, "content": escape(token.content.encode()), "flags": " ".join(flags)}


def one_token(contents: Contents, path: str, token_id: int) -> dict[str, object]:
    """All that the file says about one id. Raises TokexportError where there is no such id."""
    tokens = contents.tokens()
    if not 0 <= token_id < len(tokens):
        raise TokexportError(f"{path}: no id {token_id}; its ids are 0 to {len(tokens) - 1}")
    token = tokens[token_id]
    if token is None:
        raise TokexportError(f"{path}: id {token_id} is a hole: no token has it")
    facts: dict[str, object] = {
        "id": token_id,
        "bytes": escape(token.content),
        "hex": token.content.hex(" "),
        "length": len(token.content),
        "kind": token.kind.value,
        "special": token.special,
        **{f"as the {place}": form for place, form in forms_text(token).items()},
    }
    if token.fallback:
        facts["fallback"] = True
    merges = contents.merges()
    for left, right, _ in merges[merges[:, 2] == token_id].tolist():
        parts = [tokens[left], tokens[right]]
        facts["merge"] = f"{left} + {right}: " + " + ".join(
            escape(part.content) for part in parts if part
        )
        facts["rank"] = int(contents.ranks()[token_id])
    scores = contents.scores()
    if scores is not None:
        facts["score"] = float(scores[token_id])
    return facts


def file_facts(path: str, tokenizer: Tokenizer, contents: Contents) -> dict[str, Any]:
    """All that the file says about itself."""
    header = contents.header
    special = contents.special_ids()
    roles = {
        name: getattr(special, name)
        for name in ("bos", "eos", "pad", "unk")
        if getattr(special, name) is not None
    }
    added = contents.added_tokens()
    return {
        "file": path,
        "form": "tokexport file" if is_tokexport_file(path) else "converted to a tokexport file",
        "version": f"{header.version_major}.{header.version_minor}",
        "size": header.file_size,
        "model": contents.model,
        "ids": header.id_count,
        "tokens": header.token_count,
        "holes": header.id_count - header.token_count,
        "longest_token": max(
            (len(token.content) for token in contents.tokens() if token), default=0
        ),
        "encodes": contents.encodes,
        "merges": len(contents.merges()),
        "rank_order": (
            "by the RANK section" if contents.section(Tag.RANKS) is not None else "that of ids"
        ),
        "flags": contents.flags,
        "unknown_id": None if header.unknown_id == NONE else header.unknown_id,
        "normalizer": contents.normalizer,
        "stages": [str(stage) for stage in contents.stages()],
        "decoder": decoding_text(contents.decoding, edits_text(contents.section(Tag.EDITS))),
        "added_tokens": len(added),
        "special_added_tokens": sum(token.special for token in added),
        "special_ids": {**roles, **({"stop": list(special.stop)} if special.stop else {})},
        "template": template_text(contents),
        "chat_template": len(contents.section(Tag.CHAT_TEMPLATE) or b"") or None,
        "provenance": tokenizer.provenance,
        "self_test": tokenizer.self_test() if contents.section(Tag.SELF_TEST) is not None else None,
        "checksums": "right",  # load() has compared them
        "sections": [
            {
                "tag": entry.tag,
                "size": entry.size,
                "required": entry.required,
                "what": entry.meaning,
            }
            for entry in contents.sections
        ],
    }


def template_text(contents: Contents) -> str | None:
    """The template for one text, with its tokens' contents; None where it adds nothing."""
    tokens = contents.tokens()
    pieces = contents.template().single
    if all(piece.id is None for piece in pieces):
        return None
    parts = [None if piece.id is None else tokens[piece.id] for piece in pieces]
    return " ".join("$A" if part is None else escape(part.content) for part in parts)


def role_text(roles: dict[str, Any]) -> str:
    """The ids with a role in a line.

    >>> role_text({"bos": 0, "stop": [1, 2]})
    'bos 0, stop 1 2'
    """
    return ", ".join(
        f"{role} {' '.join(map(str, ids)) if isinstance(ids, list) else ids}"
        for role, ids in roles.items()
    )


def made_from(provenance: dict[str, Any]) -> str:
    """Where the file came from, in a line; other exporters may say less than this one."""
    words = {"source": "", "reference": "reference ", "exporter": "by "}
    return (
        ", ".join(f"{word}{provenance[name]}" for name, word in words.items() if name in provenance)
        or "not said"
    )


def describe(facts: dict[str, Any]) -> str:
    """The facts for a person."""
    holes = f", {plural(facts['holes'], 'hole')}" if facts["holes"] else ""
    added, special = facts["added_tokens"], facts["special_added_tokens"]
    provenance = facts["provenance"]
    rows = [
        ("model", facts["model"] if facts["encodes"] else f"{facts['model']}, for decoding only"),
        ("ids", f"{facts['ids']:,}: {plural(facts['tokens'], 'token')}{holes}"),
        ("longest token", plural(facts["longest_token"], "byte")),
        ("merges", f"{facts['merges']:,}, their order {facts['rank_order']}"),
        ("flags", ", ".join(facts["flags"]) or "none"),
        (
            "unknown text",
            "has no id" if facts["unknown_id"] is None else f"gives id {facts['unknown_id']}",
        ),
        ("normalizer", facts["normalizer"] or "none"),
        ("pre-tokenizer", plural(len(facts["stages"]), "stage")),
        *(("", f"{number}: {stage}") for number, stage in enumerate(facts["stages"], 1)),
        ("decoder", facts["decoder"]),
        ("added tokens", f"{added:,}, {special:,} of them special" if added else "none"),
        ("special ids", role_text(facts["special_ids"]) or "none"),
        ("template", facts["template"] or "none"),
        ("chat template", size(facts["chat_template"]) if facts["chat_template"] else "none"),
        (
            "self test",
            (
                "none"
                if facts["self_test"] is None
                else f"{plural(facts['self_test'], 'case')} passed"
            ),
        ),
        ("checksums", facts["checksums"]),
        ("made from", made_from(provenance)),
        *(("", f"sha256 {digest} {name}") for name, digest in provenance.get("sha256", {}).items()),
    ]
    decoding_only = (
        "merges",
        "flags",
        "unknown text",
        "normalizer",
        "pre-tokenizer",
        "template",
        "self test",
        "added tokens",
    )
    if not facts["encodes"]:
        rows = [row for row in rows if row[0] not in decoding_only]
    if not facts["model"].startswith("BPE"):
        rows = [row for row in rows if row[0] != "merges"]
    sections = [(entry["tag"], f"{entry['size']:,}", entry["what"]) for entry in facts["sections"]]
    title = f"{facts['file']}: {facts['form']}, version {facts['version']}, {size(facts['size'])}"
    return f"{title}\n\n{table(rows)}\n\n{table(sections)}"
