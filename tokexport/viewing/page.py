"""A self-contained HTML page with the tokens of a text; it needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape as html_escape
from importlib.resources import files
from pathlib import PurePath
from string import Template
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tokexport.errors import FormatError, TokexportError
from tokexport.escape import escape
from tokexport.runtime.tokenizer import Tokenizer
from tokexport.viewing.token_text import TokenTexts, parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tokexport.runtime.tokenizer import AllowedSpecial

# A browser lays out a hundred thousand elements in seconds, and a million in minutes.
MOST_TOKENS: Final = 100_000
_COLOURS: Final = 4

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Side:
    """A tokenizer to show, with its merges as rows (left, right, merged id) and ranks by id."""

    name: str
    tokenizer: Tokenizer
    merges: NDArray[np.uint64]
    ranks: NDArray[np.uint32]


def page(
    text: str,
    sides: Sequence[Side],
    *,
    allowed_special: AllowedSpecial = (),
    add_special_tokens: bool = False,
) -> str:
    """The page that shows the tokens of a text by each of the tokenizers.

    Raises TokexportError for a text of more than 100,000 tokens.
    """
    how: dict[str, Any] = {
        "allowed_special": allowed_special,
        "add_special_tokens": add_special_tokens,
    }
    encoded = [_encoded(side, text, how) for side in sides]
    spans = [None if spans is None else {*spans} for _, spans in encoded]
    panes = []
    for number, (side, (ids, own)) in enumerate(zip(sides, encoded, strict=True)):
        others = [found for other, found in enumerate(spans) if other != number]
        panes.append(_pane(side, text, ids, own, others[0] if others else None))
    comparing = len(sides) > 1
    legend = ' <span class="key">Underlined</span>: the other side cuts elsewhere.'
    style, script = _shipped("page.css"), _shipped("page.js")
    return Template(_shipped("page.html")).substitute(
        policy=f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)};"
        " base-uri 'none'; form-action 'none'",
        title="Tokens, side by side" if comparing else "Tokens",
        legend=legend if comparing else "",
        style=style,
        script=script,
        panes="\n".join(panes),
        data=_json(
            [_data(side, ids, own) for side, (ids, own) in zip(sides, encoded, strict=True)]
        ),
    )


def _encoded(side: Side, text: str, how: dict[str, Any]) -> tuple[list[int], list[Span] | None]:
    """Ids, and the span of characters of each; None if the tokenizer has no offsets."""
    try:
        encoding = side.tokenizer.encode_with_offsets(text, **how)
        ids, spans = encoding.ids, encoding.offsets
    except FormatError:
        ids, spans = side.tokenizer.encode(text, **how), None
    if len(ids) > MOST_TOKENS:
        raise TokexportError(
            f"the text has {len(ids):,} tokens by {side.name}, and a page shows at most"
            f" {MOST_TOKENS:,}",
            "give a part of it",
        )
    return ids, spans


def _pane(
    side: Side, text: str, ids: Sequence[int], own: list[Span] | None, others: set[Span] | None
) -> str:
    texts = TokenTexts(side.tokenizer)
    spans: Sequence[Span | None] = own or [None] * len(ids)
    shown = []
    differing = 0
    for number, (id, span) in enumerate(zip(ids, spans, strict=True)):
        special = side.tokenizer.is_special_token(id)
        names = ["t", "s" if special else f"c{number % _COLOURS}"]
        if others is not None and span is not None and span not in others:
            names.append("d")
            differing += 1
        shown.append(
            f'<span class="{" ".join(names)}" tabindex="{-1 if number else 0}"'
            f' title="id {id}">{_drawn(texts.content(id))}</span>'
        )
    size = len(text.encode("utf-8", "surrogatepass"))
    facts = [
        _count(len(ids), "token"),
        _count(size, "byte"),
        f"{size / len(ids):.2f} bytes per token" if ids else "nothing to show",
        f"{side.tokenizer.token_count:,} in the vocabulary",
    ]
    if others is not None and own is not None:
        facts.append(f"{differing:,} that the other side cuts elsewhere")
    name = html_escape(side.name)
    return (
        f'<section><h2>{name}</h2>\n<p class="facts">{" · ".join(facts)}</p>\n'
        f'<div class="text" role="group" aria-label="Tokens by {name}">'
        f"{''.join(shown)}</div></section>"
    )


def _drawn(content: bytes) -> str:
    drawn = ""
    for part in parts(content):
        text = html_escape(part.text)
        drawn += f'<span class="g">{text}</span>' if part.is_sign else text
        drawn += "\n" * part.breaks
    return drawn


def _data(side: Side, ids: Sequence[int], spans: list[Span] | None) -> dict[str, Any]:
    """What the script shows of a side: ids, their spans, and all tokens in the trees of merges."""
    texts, scores = TokenTexts(side.tokenizer), side.tokenizer.scores
    merged, firsts = np.unique(side.merges[:, 2], return_index=True)
    merge_of = dict(zip(merged.tolist(), firsts.tolist(), strict=True))
    tokens: dict[int, dict[str, Any]] = {}
    pending = list(dict.fromkeys(ids))
    while pending:
        id = pending.pop()
        if id in tokens:
            continue
        content = texts.content(id)
        at = merge_of.get(id)
        left, right = (None, None) if at is None else side.merges[at, :2].tolist()
        is_scored = scores is not None and math.isfinite(scores[id])
        tokens[id] = {
            "shown": f'"{escape(content)}"',
            "bytes": side.tokenizer.decode_single_token_bytes(id).hex(),
            "score": float(str(scores[id])) if scores is not None and is_scored else None,
            "rank": int(side.ranks[id]) if left is not None else None,
            "left": left,
            "right": right,
            "special": side.tokenizer.is_special_token(id),
        }
        pending += [part for part in (left, right) if part is not None]
    return {"name": side.name, "ids": list(ids), "spans": spans, "tokens": tokens}


def _json(value: object) -> str:
    """JSON that cannot end a script element or begin an HTML comment."""
    text = json.dumps(value, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _digest(content: str) -> str:
    """The policy source that allows one script or style, by its SHA-256."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _shipped(name: str) -> str:
    return files(__package__ or "").joinpath(PurePath(name).name).read_text("utf-8")


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
