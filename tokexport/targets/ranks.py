"""tiktoken's ``.tiktoken``: each line is a token in base64 and its rank, which is its id."""

import base64
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from tokexport.model import SpecialIds, Token
from tokexport.sources.registry import open_source
from tokexport.sources.tiktoken.ranks import parse_ranks
from tokexport.targets.material import NO_MERGE, Material, scores_of_bytes
from tokexport.targets.parts import Part, bytes_of, refuse
from tokexport.targets.target import Files, LibraryRuntime, Target, single


def _write(source: Material) -> Files:
    scores = scores_of_bytes(source, "tiktoken", "tiktoken has no other model")
    made = [id for id, score in enumerate(scores) if score > NO_MERGE]
    wrong = next((b for a, b in pairwise(made) if scores[a] <= scores[b]), None)
    if wrong is not None:
        raise refuse(
            "tiktoken",
            f"the token {wrong} is merged before one with a smaller id",
            "ranks are ids there, so ids must be in the order of merges",
        )
    tokens = {id: token for id, token in enumerate(source.tokens) if token and not token.special}
    long = [id for id, token in tokens.items() if len(token.content) > 1 and scores[id] <= NO_MERGE]
    if long:
        raise refuse(
            "tiktoken",
            f"no merge produces the token {long[0]}, which is not special",
            "tiktoken would merge it",
        )
    lines = (b"%s %d\n" % (base64.b64encode(one.content), id) for id, one in tokens.items())
    return single(b"".join(lines))


def _read(path: Path) -> Material:
    ranks = parse_ranks(path.read_bytes(), str(path))
    tokens: list[Token | None] = [None] * (max(ranks.values(), default=-1) + 1)
    for content, rank in ranks.items():
        tokens[rank] = Token(content)
    parts: dict[Part, Any] = {
        Part.BYTES: bytes_of(tokens),
        Part.MODEL: "BytePair",
        Part.ORDER: tuple(sorted(rank for content, rank in ranks.items() if len(content) > 1)),
        Part.HOLES: tuple(id for id, token in enumerate(tokens) if token is None),
    }
    return Material(path.name, tuple(tokens), parts, SpecialIds())


TIKTOKEN: Final = Target(
    "tiktoken",
    "tiktoken, with the pattern and the special tokens that are given",
    _write,
    _read,
    lambda path, how: LibraryRuntime(open_source(path, **how).reference()),
    Path("tiktoken/golden.tiktoken"),
    {
        Part.BYTES: "special tokens are not in it",
        Part.PRE_TOKENIZER: "the program passes the pattern to tiktoken",
        Part.ADDED_TOKENS: "the program passes the special tokens to tiktoken",
    },
)
