"""tiktoken's rank files (``.tiktoken``, Llama-3's ``tokenizer.model``): a base64 token per line.

The pattern and the special tokens, which it lacks, come from the first of these that has them:

1. the arguments ``pattern`` and ``special_tokens``;
2. a JSON beside it (``NAME.json`` for ``NAME.tiktoken``, ``NAME.EXT.json`` for another name), with
   the fields ``pattern`` (a regular expression or a known name) and ``special_tokens`` (ids by
   content);
3. the pattern: the known name for the file's SHA-256;
4. the special tokens: those of the known name, overridden by id by those of a
   tokenizer_config.json beside the file.
"""

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from tokexport.errors import UnsupportedError
from tokexport.model import Provenance, TokenizerModel
from tokexport.sources.config import added_tokens_decoder, read_config, with_roles
from tokexport.sources.json_node import line_of, parse_beside
from tokexport.sources.source import Input
from tokexport.sources.tiktoken.encoding import build
from tokexport.sources.tiktoken.known_patterns import KNOWN, KNOWN_RANKS, KnownEncoding

_SUFFIX: Final = ".tiktoken"
# Words of the file's name, or of the class that a config names. The known name that begins so and
# has as many ranks is only suggested: other models can have other patterns.
_FAMILIES: Final = ("kimi", "qwen")
# The spelling of a token without bytes in whisper's multilingual.tiktoken.
_EMPTY_TOKEN: Final = b"="


def parse_ranks(data: bytes, file: str) -> dict[bytes, int]:
    """The ranks by token; SourceError for a line other than base64, a space and a number.

    >>> parse_ranks(b"IQ== 0\\nIg== 1\\n", "x.tiktoken")
    {b'!': 0, b'"': 1}
    """
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.splitlines(), 1):
        if not line:
            continue
        parts = line.split()
        try:
            if len(parts) != 2 or not parts[1].isdigit():
                raise ValueError
            token = b"" if parts[0] == _EMPTY_TOKEN else base64.b64decode(parts[0], validate=True)
            rank = int(parts[1])  # ValueError for thousands of digits
        except ValueError:
            line_of(file, number, line).fail("a token in base64, a space and its rank")
        if token in ranks:
            line_of(file, number, line).fail(f"a token other than that of rank {ranks[token]}")
        ranks[token] = rank
    return ranks


def rank_encoding(
    source: Input, data: bytes
) -> tuple[KnownEncoding, Mapping[str, int], tuple[str, ...]]:
    """The pattern of a rank file, its special tokens, and notes; see the head of this file."""
    name, files = source.name, source.files
    pattern, special_tokens = source.given.pattern, source.given.special_tokens
    notes: list[str] = []
    beside = parse_beside(files, name.removesuffix(_SUFFIX) + ".json")
    beside.object({"pattern", "special_tokens"})
    own, special = beside.optional("pattern"), beside.optional("special_tokens")
    if pattern is None and own is not None:
        pattern = own.string()
    if special_tokens is None and special is not None:
        special_tokens = {content: number.u32() for content, number in special.members()}
    if pattern is None and (recognised := KNOWN_RANKS.get(files.sha256[name])) is not None:
        pattern = recognised
        notes.append(
            f"{name} is known by its SHA-256 as {recognised}, whose pattern and special tokens are"
            " used."
        )
    count = sum(1 for line in data.splitlines() if line)
    if pattern is None:
        problem = "a file of tiktoken ranks without a pattern is not supported"
        settings = read_config(files).object()
        names = f"{name} {settings.get('tokenizer_class')} {settings.get('auto_map')}".lower()
        families = tuple(word for word in _FAMILIES if word in names)
        alike = (name for name in KNOWN if name.startswith(families))
        suggested = [name for name in alike if count in KNOWN[name].ranks]
        which = f"probably --pattern {suggested[0]}" if suggested else "--pattern NAME"
        hint = f"name one ({which}), or give the regular expression itself; known names are "
        raise UnsupportedError(name, problem, hint + ", ".join(KNOWN))
    known = KNOWN.get(pattern) or KnownEncoding(regular_expression(pattern))
    if special_tokens is None:
        config = added_tokens_decoder(read_config(files))
        special_tokens = _overridden(known.special_tokens(count), config)
        if known.ranks and count not in known.ranks and not config:
            others = " or ".join(f"{number:,}" for number in known.ranks)
            notes.append(
                f"The special tokens are those of {pattern}, which has {others} ranks; {name} has"
                f" {count:,}. If its model has others, name them with --special-tokens."
            )
    if known.note is not None:
        notes.append(known.note)
    if not special_tokens:
        notes.append("No special tokens were given, so the converted file has none.")
    return known, special_tokens, tuple(notes)


def read_ranks(source: Input, data: bytes) -> TokenizerModel:
    ranks = parse_ranks(data, source.name)
    known, special, notes = rank_encoding(source, data)
    provenance = Provenance("tiktoken")
    model = build(source.name, ranks, known.pattern, special, provenance, known.spelling)
    files = source.files
    return with_roles(replace(model, notes=notes), files, read_config(files), special.get)


def regular_expression(pattern: str) -> str:
    """A pattern that is not a known name; a plain word is a misspelt name."""
    if pattern.translate({ord(character): None for character in "_-."}).isalnum():
        hint = f"use a regular expression or one of the known names {', '.join(KNOWN)}"
        raise UnsupportedError("pattern", f"{pattern!r} is not a known name", hint)
    return pattern


def _overridden(known: Mapping[str, int], config: Mapping[int, str]) -> dict[str, int]:
    own = {content: number for number, content in config.items()}
    return {name: id for name, id in known.items() if id not in config and name not in own} | own
