"""tokenizer.json 1.0, from any BPE: the source's own document, or one with the same parts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tokexport.model import (
    AddedToken,
    Behavior,
    BytePairModel,
    CharacterMap,
    CharacterTest,
    Charsmap,
    Dialect,
    NormalForm,
    NormalizerStep,
    Prepend,
    PreTokenizerStep,
    Replace,
    Split,
    Template,
    TemplateItem,
    Token,
)
from tokexport.model.byte_alphabet import to_characters
from tokexport.sources.patterns import oniguruma
from tokexport.sources.registry import open_source
from tokexport.sources.sentencepiece.proto import (
    SPACE_SYMBOL,
    Algorithm,
    PieceType,
    SentencePieceModel,
)
from tokexport.sources.tokenizer_json import document as parts
from tokexport.targets.material import Material, material, refuse_file
from tokexport.targets.parts import Part, merges_of, refuse
from tokexport.targets.target import LibraryRuntime, Target, single

_NAME: Final = "tokenizer.json"
_BYTES: Final = parts.byte_level(False)
_INSTEAD: Final = "give the tokenizer.json that comes with the model"
_SOURCE_ONLY: Final = "the list of merges and the pattern of the pre-tokenizer"
_NAMED: Final = (
    *(NormalForm.NFC, NormalForm.NFD, NormalForm.NFKC, NormalForm.NFKD),
    *(CharacterMap.LOWERCASE, CharacterMap.STRIP_ACCENTS, CharacterMap.NMT),
)


def document(source: Material) -> dict[str, Any]:
    """The tokenizer.json. TokexportError for anything but BPE, or a part that it cannot hold."""
    if source.document is not None:
        return source.document
    refuse_file(source, _NAME, _SOURCE_ONLY)
    model, pieces = source.model, source.pieces
    if model is None or not isinstance(inner := model.model, BytePairModel):
        raise refuse(_NAME, "only BPE is written", _INSTEAD)
    steps = source.parts.get(Part.NORMALIZER, ())
    return parts.tokenizer_document(
        added_tokens=_added_tokens(model.added_tokens, pieces),
        normalizer=_sequence("normalizers", [_normalizer(step) for step in steps]),
        pre_tokenizer=_pre_tokenizer(source),
        post_processor=_post_processor(model.template, source.tokens),
        decoder=_decoder(steps) if pieces else parts.byte_level(True),
        model=_pieces_model(pieces, inner) if pieces else _bytes_model(source),
    )


def _bytes_model(source: Material) -> dict[str, Any]:
    """The model, with added tokens in its vocabulary if there are holes: the library gives an added
    token outside the vocabulary the first id after it.
    """
    model = bytes_model(source, _NAME)
    if Part.HOLES in source.parts:
        added = source.parts.get(Part.ADDED_TOKENS, {})
        model["vocab"] |= {text: id for id, text in added.items()}
    return model


def bytes_model(source: Material, name: str, hint: str = _INSTEAD) -> dict[str, Any]:
    """The model of a tokenizer.json, over GPT-2's alphabet, for BPE over bytes."""
    refuse_file(source, name, _SOURCE_ONLY)
    model = source.model.model if source.model else None
    of_pieces = source.of_characters or source.pieces is not None
    if source.model is None or of_pieces or not isinstance(model, BytePairModel):
        raise refuse(name, "it is not BPE over bytes", hint)
    added = {token.id for token in source.model.added_tokens}
    spelled = {
        id: to_characters(token.content)
        for id, token in enumerate(source.tokens)
        if token is not None and id not in added and token.content
    }
    vocab = {text: id for id, text in spelled.items()}
    if len(vocab) < len(spelled):
        raise refuse(name, "two ids have the same bytes", _INSTEAD)
    pairs = _pairs(model, spelled, vocab)
    return parts.byte_pair_model(vocab, pairs) | {"ignore_merges": model.whole_pre_token_first}


def _pairs(
    model: BytePairModel, spelled: Mapping[int, str], vocab: Mapping[str, int]
) -> list[tuple[str, str]]:
    """The merges, or if there are none every two parts of each token, in order of rank."""
    if model.merges is not None:
        return [(spelled[left], spelled[right]) for left, right, _ in merges_of(model)]
    ranks = model.ranks or {id: id for id in spelled}
    return _any_two({id: text for id, text in spelled.items() if id in ranks}, ranks, vocab)


def _any_two(
    spelled: Mapping[int, str], ranks: Mapping[int, int], vocab: Mapping[str, int]
) -> list[tuple[str, str]]:
    """Every two tokens that form a token."""
    found = []
    for id, text in spelled.items():
        halves = ((text[:at], text[at:]) for at in range(1, len(text)))
        found += [(ranks[id], pair) for pair in halves if pair[0] in vocab and pair[1] in vocab]
    return [pair for _, pair in sorted(found, key=lambda one: one[0])]


def _pieces_model(pieces: SentencePieceModel, model: BytePairModel) -> dict[str, Any]:
    if pieces.algorithm is not Algorithm.BPE:
        raise refuse(_NAME, "of SentencePiece's models only BPE is written", _INSTEAD)
    vocab = {piece.text: id for id, piece in enumerate(pieces.pieces)}
    in_use = {key.decode(): id for key, id in model.vocab.items()}
    merges = _any_two({id: text for text, id in in_use.items()}, model.ranks or {}, in_use)
    unknown = None if model.unk_id is None else pieces.pieces[model.unk_id].text
    flags = {"fuse_unk": model.fuse_unk, "byte_fallback": pieces.byte_fallback}
    return parts.byte_pair_model(vocab, merges) | {"unk_token": unknown, **flags}


def _added_tokens(
    added: Sequence[AddedToken], pieces: SentencePieceModel | None
) -> list[dict[str, Any]]:
    if pieces is not None:
        return [
            parts.added_token(id, piece.text, special=piece.type is not PieceType.USER_DEFINED)
            for id, piece in enumerate(pieces.pieces)
            if piece.type in (PieceType.CONTROL, PieceType.UNKNOWN, PieceType.USER_DEFINED)
        ]
    flags = ("single_word", "lstrip", "rstrip", "normalized")
    return [
        parts.added_token(token.id, token.content, special=token.special)
        | {name: getattr(token, name) for name in flags}
        for token in sorted(added, key=lambda token: token.id)
    ]


def _normalizer(step: NormalizerStep) -> dict[str, Any]:
    match step:
        case NormalForm() | CharacterMap() if step in _NAMED:
            return {"type": step.value}
        case Replace(dialect=Dialect.ONIGURUMA):
            kind = "String" if step.literal else "Regex"
            return {"type": "Replace", "pattern": {kind: step.pattern}, "content": step.content}
        case Prepend(unless_present=False, only_first=False):
            return {"type": "Prepend", "prepend": step.content}
    shown = "Charsmap" if isinstance(step, Charsmap) else step  # its data has 200 KB
    raise refuse(_NAME, f"its normalizer has the step {shown}", _INSTEAD)


def _pre_tokenizer(source: Material) -> dict[str, Any] | None:
    """The splits, with ByteLevel at the position of the byte spelling."""
    steps = source.parts.get(Part.PRE_TOKENIZER, ())
    found = [_split(step) for step in steps]
    if source.pieces is None:
        on_bytes = [isinstance(step, Split) and step.on_bytes for step in steps]
        found.insert(on_bytes.index(True) if True in on_bytes else len(steps), _BYTES)
    return _sequence("pretokenizers", found)


def _split(step: PreTokenizerStep) -> dict[str, Any]:
    if isinstance(step, Split):
        alone = step.behavior is Behavior.ISOLATED
        match step.pattern:
            case str():
                return parts.split(oniguruma(step.pattern), step.behavior.value, invert=step.invert)
            case CharacterTest.NUMERIC if not step.invert:
                return {"type": "Digits", "individual_digits": alone}
            case CharacterTest.PUNCTUATION if not step.invert:
                return {"type": "Punctuation", "behavior": step.behavior.value}
            case CharacterTest.WHITESPACE if step.behavior is Behavior.REMOVED:
                return {"type": "WhitespaceSplit"}
    raise refuse(_NAME, f"its pre-tokenizer has the step {step}", _INSTEAD)


def _sequence(name: str, steps: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    if len(steps) < 2:
        return steps[0] if steps else None
    return {"type": "Sequence", name: list(steps)}


def _decoder(normalizer: Sequence[NormalizerStep]) -> dict[str, Any]:
    """SentencePiece's decoder: spaces, bytes, and removal of the dummy space."""
    replaced = {"type": "Replace", "pattern": {"String": SPACE_SYMBOL}, "content": " "}
    decoders = [replaced, {"type": "ByteFallback"}, {"type": "Fuse"}]
    if Prepend(" ") in normalizer:
        decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": decoders}


def _post_processor(template: Template, tokens: Sequence[Token | None]) -> dict[str, Any] | None:
    if template == Template():
        return None

    def item(one: TemplateItem) -> dict[str, Any]:
        if one.id is None:
            return parts.text(one.sequence or "A", one.type_id)
        return parts.special(names[one.id], one.type_id)

    used = [one.id for one in (*template.single, *template.pair) if one.id is not None]
    names = {id: (tokens[id] or Token(b"")).content.decode() for id in used}
    ids = {names[id]: id for id in used}
    return parts.template([*map(item, template.single)], [*map(item, template.pair)], ids)


def library(path: Path, how: Mapping[str, Any]) -> LibraryRuntime:
    """The library that reads a file, or the files of a folder."""
    return LibraryRuntime(open_source(path).reference())


TOKENIZER_JSON: Final = Target(
    "tokenizer.json",
    "tokenizers",
    lambda source: single(json.dumps(document(source), ensure_ascii=False, indent=1).encode()),
    lambda path: replace(material(path), document=None),
    library,
    Path("tokenizer.json/golden.json"),
    {
        Part.NORMALIZER: "its steps differ",
        Part.PRE_TOKENIZER: "its patterns are run by another regex engine, Oniguruma",
        Part.ADDED_TOKENS: "special tokens are found in every text",
        Part.BOS_EOS: "tokenizer_config.json says which ids begin and end a text",
        Part.ROLES: "tokenizer_config.json names padding, unknown and stop ids",
        Part.CHAT_TEMPLATE: "tokenizer_config.json holds it",
        Part.DECODER: "invalid UTF-8 and leading spaces decode differently",
        Part.PAIRS: "two tokens of equal rank are merged in the order of the list",
    },
)
