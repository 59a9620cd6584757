"""The input of a target: a source of any kind, or a tokexport file."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from tokexport.compiler.compile import prepared
from tokexport.errors import TokexportError
from tokexport.file.layout import RecordFlag
from tokexport.model import BytePairModel, Prepend, SpecialIds, Token, TokenizerModel, UnigramModel
from tokexport.runtime.embedded import is_tokexport_file
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.sources.registry import open_source
from tokexport.sources.sentencepiece import proto
from tokexport.sources.sentencepiece.proto import Piece, PieceType
from tokexport.targets.parts import (
    Part,
    Parts,
    merges_of,
    order_of_merges,
    parts_of_file,
    parts_of_model,
    refuse,
)

# The score of a token without a merge, as in a tokexport file.
NO_MERGE: Final = -1e6
# So low that runtimes that merge by score never use it.
NEVER: Final = -1e11


@dataclass(frozen=True, slots=True)
class Material:
    """A tokenizer, as far as targets can represent it.

    ``scores`` are those by which a runtime merges, the largest first, as 32-bit numbers; None for a
    model without scores. ``pieces`` are SentencePiece's, for its BPE and Unigram. ``model`` is what
    was read from a source, ``document`` a tokenizer.json that describes all of it, and ``file`` the
    bytes of a tokexport file. ``of_characters``: its BPE does not begin with bytes, or ends words
    with ``</w>``. ``differs``, of a file of a target: the parts that its program treats differently
    than the file says, with what it does.
    """

    name: str
    tokens: Sequence[Token | None]
    parts: Parts
    special_ids: SpecialIds
    scores: tuple[float, ...] | None = None
    pieces: proto.SentencePieceModel | None = None
    model: TokenizerModel | None = None
    document: dict[str, Any] | None = None
    file: bytes | None = None
    of_characters: bool = False
    differs: Mapping[Part, str] = field(default_factory=dict)

    @property
    def of_bytes(self) -> bool:
        """Whether its BPE begins with bytes, so that there is a token for each byte."""
        if self.of_characters:
            return False
        plain = (token for token in self.tokens if token and not token.special)
        single = {token.content for token in plain if not token.fallback}
        return self.pieces is None and all(bytes((byte,)) in single for byte in range(256))


def refuse_file(source: Material, target: str, what: str, kind: str = "a tokexport file") -> None:
    """Raises if the source is a tokexport file, which does not hold ``what``."""
    if source.file is not None:
        raise TokexportError(
            f"{source.name}: {kind} does not hold {what}, which {target} needs",
            "give the source that it was converted from",
        )


def scores_of_bytes(source: Material, target: str, hint: str) -> tuple[float, ...]:
    """The scores of BPE over bytes, which give the order of its merges. TokexportError for another
    model, with the hint, and for a tokexport file without them.
    """
    if source.of_bytes and source.scores is None:
        kind = "a tokexport file without scores (--decode-only, --no-scores)"
        refuse_file(source, target, "the order of its merges", kind)
    if source.scores is None or not source.of_bytes:
        raise refuse(target, "it is not BPE over bytes", hint)
    return source.scores


def material(source: Any, **how: Any) -> Material:
    """The material of a source, which is opened with the options ``how``, or of a tokexport file.
    Raises the errors of :func:`tokexport.sources.registry.open_source`.
    """
    if isinstance(source, (str, os.PathLike)) and is_tokexport_file(source):
        return of_file(load(source), Path(source).name)
    opened = open_source(source, **how)
    with opened.input.naming_the_file():
        model, found = opened.read(), opened.equivalent()
        pieces = found if isinstance(found, proto.SentencePieceModel) else None
        document = found if isinstance(found, dict) else None
        return replace(of_model(opened.input.name, model, pieces), document=document)


def of_model(
    name: str, source: TokenizerModel, pieces: proto.SentencePieceModel | None = None
) -> Material:
    """The material of a model, and of the pieces that it was read from."""
    model = prepared(source)
    model = replace(model, tokens=tuple(model.tokens))  # they are read many times below
    inner = model.model
    if pieces is None:
        pieces = pieces_of_model(name, model)
    return Material(
        name=name,
        tokens=model.tokens,
        parts=parts_of_model(model),
        special_ids=model.special_ids,
        scores=_scores(model) if pieces is None else tuple(one.score for one in pieces.pieces),
        pieces=pieces,
        model=source,
        of_characters=isinstance(inner, BytePairModel) and inner.characters is not None,
    )


def of_file(tokenizer: Tokenizer, name: str) -> Material:
    """The material of a tokexport file."""
    flags = tokenizer.records["flags"].tolist()
    tokens = tuple(_token(tokenizer, id, flags[id]) for id in range(tokenizer.n_vocab))
    parts = parts_of_file(tokenizer, tokens)
    found = tokenizer.scores
    scores = None if found is None else tuple(map(float, found))
    return Material(
        name,
        tokens,
        parts,
        tokenizer.special_ids,
        scores,
        file=tokenizer.to_bytes(),
        of_characters="CHRS" in dict(tokenizer.sections()),
    )


def pieces_of_model(name: str, model: TokenizerModel) -> proto.SentencePieceModel | None:
    """Pieces equivalent to BPE over characters with tokens for bytes; None for other models.

    Their scores are in the order of the merges. A piece that no text contains has a score so low
    that no two pieces are ever merged into its name.
    """
    inner = model.model
    if not isinstance(inner, BytePairModel) or inner.characters is None:
        return None
    if inner.characters.byte_ids is None or inner.characters.of_bytes or None in model.tokens:
        return None
    spelled = {id: key.decode() for key, id in inner.vocab.items()}
    scores = dict.fromkeys(spelled, 0.0)
    scores |= {id: -float(rank) for rank, id in enumerate(order_of_merges(inner))}
    added = {token.id: token for token in model.added_tokens}
    pieces = []
    for id, token in enumerate(model.tokens):
        assert token is not None
        if token.fallback:
            piece = Piece(f"<0x{token.content[0]:02X}>", 0.0, PieceType.BYTE)
        elif id == inner.unk_id:
            piece = Piece(spelled.get(id, token.content.decode()), 0.0, PieceType.UNKNOWN)
        elif id in added:
            kind = PieceType.CONTROL if added[id].special else PieceType.USER_DEFINED
            piece = Piece(added[id].content, NEVER, kind)
        else:
            text = spelled.get(id) or token.content.decode("utf-8", "replace")
            piece = Piece(text, scores.get(id, NEVER))
        pieces.append(piece)
    steps = (*model.normalizer, *model.pre_tokenizer)
    spec = proto.NormalizerSpec(
        add_dummy_prefix=any(isinstance(step, Prepend) for step in steps),
        remove_extra_whitespaces=False,
    )
    return proto.SentencePieceModel(
        name, tuple(pieces), proto.Algorithm.BPE, byte_fallback=True, normalizer=spec
    )


def _scores(model: TokenizerModel) -> tuple[float, ...] | None:
    if isinstance(model.model, UnigramModel):
        scores = model.model.scores
        return (*scores, *[0.0] * (len(model.tokens) - len(scores)))
    if not isinstance(model.model, BytePairModel):
        return None
    ranks = {}
    if model.model.merges is None:
        ranks = {id: rank for rank, id in enumerate(order_of_merges(model.model))}
    for rank, (_, _, merged) in enumerate(merges_of(model.model)):
        ranks.setdefault(merged, rank)
    return tuple(
        float(np.float32(-math.log(ranks[id] + 1))) if id in ranks else NO_MERGE
        for id in range(len(model.tokens))
    )


def _token(tokenizer: Tokenizer, id: int, flags: int) -> Token | None:
    try:
        content = tokenizer.decode_single_token_bytes(id)
    except KeyError:
        return None
    fallback = bool(flags & RecordFlag.FALLBACK)
    return Token(content, special=tokenizer.is_special_token(id), fallback=fallback)
