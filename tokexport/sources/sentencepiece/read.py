"""A SentencePiece model (BPE, Unigram, char or word) becomes a TokenizerModel.

The reference is ``encode(text)`` of the ``sentencepiece`` library without options: control pieces
in a text are text, user-defined ones are ids, and neither BOS nor EOS is added.
"""

import functools
import math
from dataclasses import replace
from typing import Final

import numpy as np

from tokexport.errors import SourceError, UnsupportedError
from tokexport.limits import MAX_IDS, check_count
from tokexport.model import (
    AddedToken,
    Behavior,
    BytePairModel,
    CharacterSymbols,
    Decoding,
    FirstIs,
    Model,
    PieceNormalizer,
    Provenance,
    Reference,
    SpecialIds,
    Split,
    Token,
    TokenizerModel,
    TokenKind,
    UnigramModel,
    WordLevelModel,
)
from tokexport.sources.config import read_config, with_roles
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, show
from tokexport.sources.named_class import named_class
from tokexport.sources.sentencepiece.proto import (
    SPACE_SYMBOL,
    Algorithm,
    Piece,
    PieceType,
    SentencePieceModel,
    parse_model,
)
from tokexport.sources.tokenizer_json.auto_tokenizer import missing_tokens_note

# Classes of `transformers` that number the pieces as the library does, without "Tokenizer".
_SAME: Final = (
    "Llama CodeLlama Gemma T5 MT5 Udop Barthez BigBird Reformer RemBert DebertaV2 BertGeneration"
    " SpeechT5"
)
# Types of models whose classes number them otherwise.
_OTHER_TYPES: Final = (
    "xlm-roberta layoutxlm mbart nllb plbart xglm seamless_m4t camembert xlm-prophetnet pegasus"
    " marian m2m_100 bartpho albert xlnet"
)
_FAIRSEQ_NAME: Final = "sentencepiece.bpe.model"
_UNKNOWN_PENALTY: Final = np.float32(10)
_NUL: Final = "\0"
_FREEZING: Final = (Algorithm.BPE, Algorithm.CHAR)  # user-defined pieces are found before merges
_BYTE_PIECES: Final = {f"<0x{byte:02X}>": byte for byte in range(256)}


def read_sentencepiece(data: bytes, name: str, files: SourceFiles) -> TokenizerModel:
    """The model of the ``.model`` file ``name`` with the bytes ``data``. Roles (BOS, EOS, ...) are
    those of a tokenizer_config.json beside it, otherwise its own.

    Raises SourceError if the library refuses it, UnsupportedError if ids could not be exact.
    """
    source = parse_model(data, name)
    model = build(source, files, Provenance("sentencepiece"))
    notes = numbering_notes(name, files)
    if not notes:  # those say it of every id
        own = {piece.text for piece in source.pieces if piece.type is not PieceType.NORMAL}
        notes = tuple(filter(None, [missing_tokens_note(name, own, files)]))
    return replace(model, notes=(*model.notes, *notes))


def build(source: SentencePieceModel, files: SourceFiles, provenance: Provenance) -> TokenizerModel:
    """The TokenizerModel of a SentencePiece model; the provenance gets the digests of ``files``."""
    if source.byte_fallback:  # a NUL piece is never used, whatever its type: InternLM has one
        source = source.retyped(lambda piece: piece.text == _NUL, PieceType.NORMAL)
    pieces = _Pieces(source)
    model = _model(source, pieces)
    tokens = tuple(_token(source, piece) for piece in source.pieces)
    user_defined = pieces.of[PieceType.USER_DEFINED]
    frozen = user_defined if source.algorithm in _FREEZING else []
    words = Split(SPACE_SYMBOL, Behavior.MERGED_WITH_NEXT, path="model_type WORD")
    spec, is_suffix = source.normalizer, source.whitespace_as_suffix
    tokenizer = TokenizerModel(
        tokens=tokens,
        model=model,
        reference=Reference.SENTENCEPIECE,
        provenance=provenance,
        pre_tokenizer=(words,) if source.algorithm is Algorithm.WORD else (),
        added_tokens=tuple(
            AddedToken(number, piece.text, normalized=True, verbatim=True)
            for number, piece in frozen
        ),
        piece_normalizer=PieceNormalizer(
            charsmap=spec.charsmap,
            prefix=spec.add_dummy_prefix and not is_suffix,
            suffix=spec.add_dummy_prefix and is_suffix,
            collapses=spec.remove_extra_whitespaces,
            escapes=spec.escape_whitespaces,
            protected=tuple(piece.text for _, piece in user_defined),
        ),
        # The library drops one U+2581 of the first piece that is not a control piece; where it
        # removes extra spaces, of every piece until there is text.
        decoding=Decoding(
            byte_fallback=source.byte_fallback,
            fallback_by_character=source.byte_fallback,
            first_is=FirstIs.TEXT if spec.remove_extra_whitespaces else FirstIs.CONTENT,
        ),
    )
    ids = {piece.text: number for number, piece in enumerate(source.pieces)}
    tokenizer = with_roles(tokenizer, files, read_config(files), ids.get, pieces.unk_id)
    if tokenizer.special_ids.bos is None and tokenizer.special_ids.eos is None:
        return replace(tokenizer, special_ids=_special_ids(source, pieces))
    return tokenizer


class _Pieces:
    """The ids and pieces in use by type, checked as the library does when it loads a model."""

    def __init__(self, source: SentencePieceModel) -> None:
        check_count(source.file, len(source.pieces), "pieces", MAX_IDS - 1)
        self.of: dict[PieceType, list[tuple[int, Piece]]] = {kind: [] for kind in PieceType}
        seen: dict[str, int] = {}
        for number, piece in enumerate(source.pieces):
            is_never_used = source.byte_fallback and piece.text == _NUL
            if piece.type is PieceType.UNUSED:
                problem = f"the UNUSED piece {show(piece.text)} is not supported"
                hint = "only a GGUF of Unigram can have UNUSED pieces; convert the tokenizer.json"
                _place(source, number).unsupported(problem, hint)
            if not piece.text or (_NUL in piece.text and not is_never_used):
                _place(source, number).fail("a non-empty text without NUL")
            other = seen.setdefault(piece.text, number)
            if other != number:
                # The library accepts a control piece and an ordinary piece with the same text.
                problem = f"piece {other} is {show(piece.text)} too"
                _place(source, number).unsupported(problem, "give each piece a text of its own")
            if not math.isfinite(piece.score):
                _place(source, number).fail(f"a piece whose score is a number, not {piece.score}")
            is_byte = piece.text in _BYTE_PIECES and source.byte_fallback
            if piece.type is PieceType.BYTE and not is_byte:
                expected = "<0x00> to <0xFF>, in a model with byte_fallback, for the type BYTE"
                _place(source, number).fail(expected)
            if not is_never_used:
                self.of[piece.type].append((number, piece))
        unknown, in_bytes = self.of[PieceType.UNKNOWN], self.of[PieceType.BYTE]
        if len(unknown) != 1:
            count = f"{len(unknown)} pieces are of type UNKNOWN"
            raise SourceError(count, "a model has one", name=source.file)
        if source.byte_fallback and len(in_bytes) < 256:
            count = f"{len(in_bytes)} pieces are of type BYTE"
            raise SourceError(count, "byte_fallback needs 256 of them", name=source.file)
        self.unk_id = unknown[0][0]
        self.byte_ids = tuple(seen[text] for text in _BYTE_PIECES) if source.byte_fallback else None


def _special_ids(source: SentencePieceModel, pieces: _Pieces) -> SpecialIds:
    """The roles in the file; as in the library, only control pieces have one."""
    controls = {piece.text: number for number, piece in pieces.of[PieceType.CONTROL]}
    bos, eos, pad = map(controls.get, (source.bos, source.eos, source.pad))
    return SpecialIds(bos, eos, pad, pieces.unk_id, () if eos is None else (eos,))


def _place(source: SentencePieceModel, number: int) -> Node:
    return Node(source.file, f"piece {number}", source.pieces[number].text)


def _token(source: SentencePieceModel, piece: Piece) -> Token:
    if piece.type is PieceType.CONTROL:
        return Token(b"", special=True)
    if piece.type is PieceType.UNKNOWN:
        return Token(source.unk_surface.encode(), TokenKind.UNKNOWN)
    if piece.type is PieceType.BYTE:
        return Token(bytes((_BYTE_PIECES[piece.text],)), fallback=True)
    content = _surface(piece.text)
    drops = source.normalizer.add_dummy_prefix or source.normalizer.remove_extra_whitespaces
    first = _surface(piece.text[1:]) if drops and piece.text.startswith(SPACE_SYMBOL) else None
    frozen = piece.type is PieceType.USER_DEFINED and source.algorithm in _FREEZING
    return Token(content, TokenKind.ADDED if frozen else TokenKind.MODEL, first=first)


def _surface(text: str) -> bytes:
    return text.replace(SPACE_SYMBOL, " ").encode()


def _model(source: SentencePieceModel, pieces: _Pieces) -> Model:
    if source.algorithm is Algorithm.UNIGRAM:
        return _unigram(pieces, len(source.pieces))
    if source.algorithm is Algorithm.WORD:
        if source.byte_fallback:
            problem = "byte_fallback in a word model is not supported"
            hint = "use byte_fallback in BPE, Unigram or char models"
            raise UnsupportedError(source.file, problem, hint)
        in_use = sorted(pieces.of[PieceType.NORMAL] + pieces.of[PieceType.USER_DEFINED])
        vocab = {piece.text.encode(): number for number, piece in in_use}
        return WordLevelModel(vocab, pieces.unk_id, fuse_unk=True)
    if source.algorithm is Algorithm.CHAR:
        normal = pieces.of[PieceType.NORMAL]
        ordinary = [(number, piece) for number, piece in normal if len(piece.text) == 1]
    else:
        ordinary = _made_by_merges(source, pieces)
    # sentencepiece 0.2.3 merges 0 before -0, the score of the first piece that its trainer makes.
    keys = {number: (piece.score, math.copysign(1, piece.score)) for number, piece in ordinary}
    rank = {key: at for at, key in enumerate(sorted(set(keys.values()), reverse=True))}
    return BytePairModel(
        vocab={piece.text.encode(): number for number, piece in ordinary},
        merges=None if source.algorithm is Algorithm.BPE else np.empty((0, 3), np.int64),
        unk_id=pieces.unk_id,
        fuse_unk=True,
        characters=CharacterSymbols(byte_ids=pieces.byte_ids),
        ranks={number: rank[key] for number, key in keys.items()},
    )


def _made_by_merges(source: SentencePieceModel, pieces: _Pieces) -> list[tuple[int, Piece]]:
    """The pieces that the encoder can emit; others, such as the <mask> added after BARThez' pieces,
    are for decoding only. A user-defined character is never merged with another.

    The library merges texts: a character that is not a piece can be part of one; this is refused.
    """
    ordinary, user_defined = pieces.of[PieceType.NORMAL], pieces.of[PieceType.USER_DEFINED]
    frozen = {piece.text for _, piece in user_defined if len(piece.text) == 1}
    texts = {piece.text for _, piece in ordinary}

    @functools.cache
    def is_made(text: str) -> bool:
        """Whether merges make the text: a character, or a piece that joins two such texts."""
        if len(text) == 1:
            return text not in frozen
        halves = ((text[:at], text[at:]) for at in range(1, len(text)))
        return text in texts and any(is_made(left) and is_made(right) for left, right in halves)

    made = []
    for number, piece in ordinary:
        if texts.issuperset(piece.text):
            made.append((number, piece))
        elif frozen.isdisjoint(piece.text) and is_made(piece.text):
            missing = next(each for each in piece.text if each not in texts)
            problem = f"the character {show(missing)} of {show(piece.text)} is not a piece"
            hint = "add the character as a piece, or leave out the piece that has it"
            _place(source, number).unsupported(problem, hint)
    return made


def _unigram(pieces: _Pieces, count: int) -> UnigramModel:
    normal, user_defined = pieces.of[PieceType.NORMAL], pieces.of[PieceType.USER_DEFINED]
    lowest = min((piece.score for _, piece in normal), default=np.finfo(np.float32).max)
    scores = [0.0] * count
    for number, piece in normal:
        scores[number] = piece.score
    for number, piece in user_defined:
        # sentencepiece 0.2.3 ignores its own score and uses this (earlier: the highest of all).
        scores[number] = float(np.float32(len(piece.text.encode()) * 0.1 - 0.1))
    return UnigramModel(
        vocab={piece.text.encode(): number for number, piece in normal + user_defined},
        scores=scores,
        unk_id=pieces.unk_id,
        unk_score=float(np.float32(lowest) - _UNKNOWN_PENALTY),
        byte_ids=pieces.byte_ids,
        single_precision=True,
    )


def numbering_notes(name: str, files: SourceFiles) -> tuple[str, ...]:
    """A sentence if a config beside ``name``, or that name, says that ids are different.

    Some tokenizers use the library only to cut a text: fairseq and its descendants number their
    special tokens first, Marian has its own vocabulary file. Others change a text beforehand.
    """
    named = named_class(files)
    name_of_class = named and named.name
    if name_of_class:
        is_other = name_of_class.removesuffix("Tokenizer") not in _SAME.split()
    else:
        is_other = named is not None and named.model_type in _OTHER_TYPES.split()
    if named is not None and (named.remote or is_other):
        code = "is code of the repository, which is not run, and " if named.remote else ""
        other = f"{named}, which {named.file} names, {code}may have others"
    elif name == _FAIRSEQ_NAME and not name_of_class:
        other = "XLM-RoBERTa, mBART, NLLB and CamemBERT, whose models have this name, have others"
    else:
        return ()
    hint = "For those, convert the tokenizer.json, or the directory if transformers has its class."
    return (f"The ids are those of the sentencepiece library; {other}. {hint}",)
