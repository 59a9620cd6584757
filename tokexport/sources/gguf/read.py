"""The tokenizer in a GGUF file (``tokenizer.ggml.*``).

A GGUF holds less than its original, so it is read as the original: a byte-level BPE ("gpt2") or a
WordPiece vocabulary ("bert") as the tokenizer.json with the same tokens, a SentencePiece vocabulary
("llama", "t5") as the ``.model`` with the same pieces, RWKV's ("rwkv") as the vocabulary file. The
references load the same. Truncation and most flags of added tokens are missing.

Control tokens are tokens of the text itself, as in llama.cpp and in the model's own files: see
``added_in_text``.
"""

import re
from dataclasses import replace
from typing import Any, Final

from tokexport.model import (
    AddedToken,
    ChatTemplates,
    Provenance,
    SpecialIds,
    Token,
    TokenizerModel,
    TokenKind,
)
from tokexport.sources.files import SourceFiles
from tokexport.sources.gguf import patterns
from tokexport.sources.gguf.source import ARCHITECTURE, NAME, GgufTokenizer
from tokexport.sources.json_node import Node, show
from tokexport.sources.rwkv import read_rwkv
from tokexport.sources.sentencepiece import proto
from tokexport.sources.sentencepiece import read as sentencepiece
from tokexport.sources.sentencepiece.proto import SPACE_SYMBOL, Piece, PieceType
from tokexport.sources.tokenizer_json import document
from tokexport.sources.tokenizer_json.post_processor import read_post_processor
from tokexport.sources.tokenizer_json.read import read_tokenizer_json
from tokexport.sources.wordpiece import BertSettings, wordpiece_document

_NEMOTRON: Final = "nemotron_h"
_ROLES: Final = {
    "bos": "bos_token_id",
    "eos": "eos_token_id",
    "pad": "padding_token_id",
    "unk": "unknown_token_id",
}
_STOPS: Final = ("eos_token_id", "eot_token_id", "eom_token_id")
# The unknown id if there is no tokenizer.ggml.unknown_token_id.
_UNKNOWN: Final = {"llama": 0, "t5": 2}
_CHARSMAP: Final = "precompiled_charsmap"
_SUPPORTED: Final = (
    'the models "gpt2", "llama", "t5", "bert" and "rwkv" are supported; convert the tokenizer.json'
    " of any other"
)
_INCOMPLETE: Final = {
    "gemma4": (
        "a GGUF does not say which of Gemma's tokens are found before its merges; convert its"
        " tokenizer.json instead"
    )
}
# Phi-3's tokens that keep white space after them; a GGUF has no flags, llama.cpp goes by its name.
_PHI_3: Final = ("phi-3", "phi3")
_KEEP_SPACE: Final = ("<unk>", "<s>", "<|endoftext|>")
# Bytes as Python's repr writes them, without the quotes.
_ESCAPED: Final = re.compile(r"(?:[ -\[\]-~]|\\x[0-9a-f]{2}|\\[tnr\\'\"])*")


def read_gguf(source: GgufTokenizer, files: SourceFiles) -> TokenizerModel:
    name, files = source.file, files.alone()  # files beside a GGUF do not belong to it
    found = equivalent(source)
    if isinstance(found, dict):
        model = read_tokenizer_json(Node(name, "", found), files, "GGUF")
    elif isinstance(found, bytes):
        model = _with_added(read_rwkv(found, name, files, "GGUF"), source)
    else:
        model = sentencepiece.build(found, files, Provenance("GGUF"))
        # llama.cpp's defaults: BOS before a text of "llama", EOS after one of "t5".
        parts = _post_processor(source, source.model == "llama", source.model == "t5", False)
        root = Node(name, "", {"post_processor": parts})
        model = _with_added(replace(model, template=read_post_processor(root)), source)
    ids = {role: source.number(key) for role, key in _ROLES.items()}
    stops = {number for key in _STOPS if (number := source.number(key)) is not None}
    named = {f"{role}_token": source.tokens[id] for role, id in ids.items() if id is not None}
    return replace(
        model,
        special_ids=SpecialIds(**ids, stop=tuple(sorted(stops))),
        chat=replace(source.chat, variables=named if source.chat != ChatTemplates() else {}),
    )


def equivalent(source: GgufTokenizer) -> dict[str, Any] | bytes | proto.SentencePieceModel:
    """What the file is read as: a tokenizer.json, RWKV's vocabulary file, or pieces."""
    if source.model in ("gpt2", "bert"):
        return gguf_document(source)
    return gguf_rwkv(source) if source.model == "rwkv" else gguf_sentencepiece(source)


def gguf_document(source: GgufTokenizer) -> dict[str, Any]:
    """The equivalent tokenizer.json, for the models "gpt2" and "bert"."""
    seen: dict[str, int] = {}
    for number, token in enumerate(source.tokens):
        if seen.setdefault(token, number) != number:
            expected = f"a token other than tokens[{seen[token]}]: a token has one id"
            source.node("tokens").element(number).fail(expected)
    if source.model == "bert":
        return _words_document(source)
    original = _original(source)
    merges: list[str] = source.array("merges", str, None)
    vocab = {token: id for id, token in enumerate(source.tokens) if not _is_padding(source, id)}
    return document.tokenizer_document(
        added_tokens=_added_tokens(source, original),
        normalizer=original.normalizer,
        pre_tokenizer=original.pre_tokenizer,
        post_processor=_post_processor(source, original.add_bos, False, original.add_sep),
        decoder=document.byte_level(True),
        model={
            "type": "BPE",
            # Training makes at most one merge per token; ranks give one for each split in two.
            "ignore_merges": len(merges) > len(source.tokens)
            if original.ignore_merges is None
            else original.ignore_merges,
            "vocab": vocab,
            "merges": _by_ranks(source, merges) if original.ranks else merges,
        },
    )


def _original(source: GgufTokenizer) -> patterns.Original:
    name = str(source.values.get("pre"))
    if name == patterns.PIXTRAL and str(source.values.get(ARCHITECTURE)).startswith(_NEMOTRON):
        return patterns.NEMOTRON_3
    if name == patterns.PIXTRAL and "[IMG]" in source.tokens:
        return patterns.PIXTRAL_12B
    original = patterns.ORIGINALS.get(name)
    if original is None:
        pre = source.node("pre")
        found = "no pattern" if pre.value is None else f"the pattern {show(pre.value)}"
        pre.unsupported(f"{found} is not supported", _unknown(name))
    return original


def _unknown(name: str) -> str:
    which = "convert the tokenizer.json of the model instead, or say with --pattern (pattern=)"
    like = patterns.SPLIT_AS.get(name)
    if like is None:
        known = ", ".join(patterns.ORIGINALS)
        return f"the names whose pattern is known are {known}; {which} which of them it is"
    normalizer = patterns.ORIGINALS[like].normalizer
    first = "no normalizer" if normalizer is None else f"{normalizer['type']} before"
    return (
        f"llama.cpp splits a text as for {show(like)}, but what else the original does is not"
        f" known; {which} that it is {like}, with {first}"
    )


def _by_ranks(source: GgufTokenizer, merges: list[str]) -> list[list[str]]:
    """The merges of the file, which come from ranks, and those that its converter left out.

    From ranks the converter writes one merge per token: the two parts that lower ranks leave of it.
    It leaves out a token of which they leave more; tiktoken merges it from any two parts. If there
    are two parts, no others ever become adjacent: lower ranks are merged first.
    """
    pairs = [pair for merge in merges if len(pair := merge.split(" ")) == 2]
    made = {"".join(pair) for pair in pairs}
    numbered = enumerate(source.tokens)
    ranks = {token: id for id, token in numbered if source.types[id] is PieceType.NORMAL}
    for token in ranks.keys() - made:
        parts = ([token[:at], token[at:]] for at in range(1, len(token)))
        pairs += [pair for pair in parts if pair[0] in ranks and pair[1] in ranks]
    last = len(source.tokens)
    return sorted(pairs, key=lambda pair: (ranks.get("".join(pair), last), len(pair[0])))


def _added_tokens(source: GgufTokenizer, original: patterns.Original) -> list[dict[str, Any]]:
    mask = source.number("mask_token_id") if original.mask_lstrip else None
    return [
        document.added_token(
            number,
            source.tokens[number],
            special=kind is PieceType.CONTROL,
            normalized=original.normalized and kind is PieceType.USER_DEFINED,
            lstrip=number == mask,
        )
        for number, kind in enumerate(source.types)
        if kind in (PieceType.CONTROL, PieceType.USER_DEFINED) and not _is_padding(source, number)
    ]


def _is_padding(source: GgufTokenizer, number: int) -> bool:
    """Whether a converter added it to pad the ids to the size of the embedding."""
    return source.types[number] is PieceType.UNUSED or source.tokens[number] == f"[PAD{number}]"


def _bert_settings(source: GgufTokenizer) -> BertSettings:
    """The settings that newer files have; otherwise those of the name."""
    lowercase, accents = "normalizer.lowercase", "normalizer.strip_accents"
    if lowercase in source.values:
        return BertSettings(
            lowercase=source.flag(lowercase, True),
            strip_accents=source.flag(accents, False) if accents in source.values else None,
        )
    if source.values.get("pre") in patterns.UNCASED:
        return BertSettings()
    pre = source.node("pre")
    return pre.unsupported(
        f"neither {lowercase} nor the name {show(pre.value)} says whether to lower-case a text",
        "convert the tokenizer.json of the model instead, or name one that lower-cases with"
        f" --pattern (pattern=): {', '.join(patterns.UNCASED)}",
    )


def _words_document(source: GgufTokenizer) -> dict[str, Any]:
    """The tokenizer.json for the model "bert". As in `tokenizers`, special tokens are found in the
    text, and others in the normalized text, unless they are made otherwise.
    """
    names = [*map(_wordpiece, source.tokens, source.types)]
    vocab = {name: number for number, name in enumerate(names)}
    if len(vocab) < len(names):
        source.node("tokens").broken("has two tokens that are one in WordPiece's spelling")
    found = wordpiece_document(vocab, source.file, _bert_settings(source))
    added = {token["id"]: token for token in found["added_tokens"]}
    for number, kind in enumerate(source.types):
        if kind in (PieceType.CONTROL, PieceType.USER_DEFINED):
            special = kind is PieceType.CONTROL
            token = document.added_token(
                number, names[number], special=special, normalized=not special
            )
            added.setdefault(number, token)
    return {**found, "added_tokens": [added[number] for number in sorted(added)]}


def _wordpiece(token: str, kind: PieceType) -> str:
    """WordPiece's spelling: a GGUF marks the start of a word, not its continuation."""
    if kind is PieceType.CONTROL or (token.startswith("[") and token.endswith("]")):
        return token
    if token.startswith(SPACE_SYMBOL) or kind is PieceType.USER_DEFINED:
        return token.removeprefix(SPACE_SYMBOL)
    return "##" + token


def gguf_rwkv(source: GgufTokenizer) -> bytes:
    """The equivalent vocabulary file (``rwkv_vocab_*.txt``), for the model "rwkv".

    The converter writes a token as the repr of its bytes, without the quotes. The first token,
    which ends a text, is not in such files.
    """
    lines = []
    for number, written in enumerate(source.tokens):
        if source.types[number] is PieceType.CONTROL or _is_padding(source, number):
            continue
        if not _ESCAPED.fullmatch(written):
            expected = "printable ASCII and escapes as Python writes them"
            source.node("tokens").element(number).fail(expected)
        token = written.encode().decode("unicode_escape").encode("latin-1")
        lines.append(b"%d %s %d\n" % (number, repr(token).encode("ascii"), len(token)))
    return b"".join(lines)


def gguf_sentencepiece(source: GgufTokenizer) -> proto.SentencePieceModel:
    """The equivalent SentencePiece model, for the models "llama" and "t5"."""
    algorithms = {"llama": proto.Algorithm.BPE, "t5": proto.Algorithm.UNIGRAM}
    if source.model not in algorithms:
        problem = f"the model {show(source.model)} is not supported"
        source.node("model").unsupported(problem, _INCOMPLETE.get(source.model, _SUPPORTED))
    charsmap = source.array(_CHARSMAP, int, None) if _CHARSMAP in source.values else []
    unigram = source.model == "t5"
    unknown = _unknown_id(source)
    scores = enumerate(_scores(source))
    return proto.SentencePieceModel(
        file=source.file,
        pieces=tuple(_piece(source, number, score, unknown) for number, score in scores),
        algorithm=algorithms[source.model],
        byte_fallback=PieceType.BYTE in source.types,
        normalizer=proto.NormalizerSpec(
            charsmap=bytes(value & 0xFF for value in charsmap),  # signed in some files
            add_dummy_prefix=source.flag("add_space_prefix", True),
            remove_extra_whitespaces=source.flag("remove_extra_whitespaces", unigram),
        ),
    )


def added_in_text(source: GgufTokenizer) -> list[AddedToken]:
    """The tokens of "llama", "t5" and "rwkv" that are found in the text itself, so that the text
    after one is a text of its own: control tokens where special tokens are ids, and user-defined
    ones. With BPE that makes no difference for those if no space is put before each text, and they
    are found as in the library, with U+2581 for a space.
    """
    special = {PieceType.CONTROL: True}
    if source.model != "rwkv":
        special[PieceType.UNKNOWN] = True
        if source.model == "t5" or source.flag("add_space_prefix", True):
            special[PieceType.USER_DEFINED] = False
    name = str(source.values.get(NAME)).lower()
    is_phi_3 = source.model == "llama" and any(part in name for part in _PHI_3)
    mask = source.number("mask_token_id") if source.model == "t5" else None  # XLM-R's
    return [
        AddedToken(
            number,
            source.tokens[number],
            special=special[kind],
            lstrip=number == mask,
            rstrip=is_phi_3 and source.tokens[number] not in _KEEP_SPACE,
        )
        for number, kind in enumerate(source.types)
        if kind in special and not _is_padding(source, number)
    ]


def _with_added(model: TokenizerModel, source: GgufTokenizer) -> TokenizerModel:
    """With the tokens that are found in a text. Control tokens decode to what they are there."""
    added = added_in_text(source)
    found = {token.id: token for token in (*model.added_tokens, *added)}
    normalizer = model.piece_normalizer
    if normalizer is not None and not all(token.special for token in added):
        normalizer = replace(normalizer, protected=())  # no user-defined piece is in its texts
    tokens = [*model.tokens]
    for one in added:
        token = tokens[one.id] or Token(b"", TokenKind.ADDED, special=True)  # RWKV's are no words
        if token.special:
            tokens[one.id] = replace(token, content=one.content.encode())
    return replace(
        model,
        tokens=tuple(tokens),
        added_tokens=tuple(found[id] for id in sorted(found)),
        piece_normalizer=normalizer,
    )


def without_user_defined(model: proto.SentencePieceModel) -> proto.SentencePieceModel:
    """A model that finds no user-defined piece: a control piece is in no text."""
    return model.retyped(lambda piece: piece.type is PieceType.USER_DEFINED, PieceType.CONTROL)


def _piece(source: GgufTokenizer, number: int, score: float, unknown: int) -> Piece:
    text, kind = source.tokens[number], _piece_type(source, number, unknown)
    if kind is PieceType.USER_DEFINED and source.model == "t5":
        # Found in the text before (`added_in_text`), but a normalizer can make one of other text.
        return Piece(text, 0.0)
    if kind is PieceType.USER_DEFINED and not source.flag("add_space_prefix", True):
        # llama.cpp's converter writes their mark as a space (Gemma's runs).
        text = text.replace(" ", SPACE_SYMBOL)
    return Piece(text, score, kind)


def _scores(source: GgufTokenizer) -> list[float]:
    """The scores, which some converters write as integers."""
    values = source.values.get("scores")
    whole = isinstance(values, list) and bool(values) and type(values[0]) is int
    return [*map(float, source.array("scores", int if whole else float, len(source.tokens)))]


def _unknown_id(source: GgufTokenizer) -> int:
    """The id in the file; otherwise the only token of the type; otherwise llama.cpp's default."""
    number = source.number("unknown_token_id")
    if number is not None:
        return number
    typed = [number for number, kind in enumerate(source.types) if kind is PieceType.UNKNOWN]
    return typed[0] if len(typed) == 1 else _UNKNOWN[source.model]


def _piece_type(source: GgufTokenizer, number: int, unknown: int) -> PieceType:
    """Converters disagree on padding and the unknown token. CONTROL: no text is encoded to it."""
    if number == unknown:
        return PieceType.UNKNOWN
    kind = source.types[number]
    is_padding = source.tokens[number] == f"[PAD{number}]"
    # Unigram skips unused pieces; BPE merges texts to them and splits these again.
    is_unused = kind is PieceType.UNUSED and source.model == "t5"
    is_control = kind is PieceType.UNKNOWN or is_padding or is_unused
    return PieceType.CONTROL if is_control else kind


def _post_processor(
    source: GgufTokenizer, add_bos: bool, add_eos: bool, add_sep: bool
) -> dict[str, Any] | None:
    """The template, if ids are added around a text or between two; "seperator" is GGUF's spelling.
    With a separator a pair is as in RoBERTa, whose type ids are all 0.
    """
    bos = source.number("bos_token_id") if source.flag("add_bos_token", add_bos) else None
    eos = source.number("eos_token_id") if source.flag("add_eos_token", add_eos) else None
    sep = source.number("seperator_token_id") if source.flag("add_sep_token", add_sep) else None
    if bos is None and eos is None:
        return None

    def around(first: int | None, name: str, type_id: int) -> list[dict[str, Any]]:
        before, after = (
            [] if number is None else [document.special(source.tokens[number], type_id)]
            for number in (first, eos)
        )
        return [*before, document.text(name, type_id), *after]

    single = around(bos, "A", 0)
    second = around(bos, "B", 1) if sep is None else around(sep, "B", 0)
    ids = {source.tokens[number]: number for number in (bos, eos, sep) if number is not None}
    return document.template(single, [*single, *second], ids)
