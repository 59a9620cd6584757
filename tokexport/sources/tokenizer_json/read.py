"""Hugging Face's tokenizer.json, with the optional files beside it.

The reference is the ``tokenizers`` library: its reading of the file counts, even where the file
says something else.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from inspect import getclosurevars
from typing import Any, Final

import numpy as np

from tokexport.errors import UnsupportedError
from tokexport.limits import check_id
from tokexport.model import (
    ByteStrings,
    Decoding,
    Provenance,
    Reference,
    ReplaceLiteral,
    SpellBytes,
    StripWhiteSpace,
    Template,
    TokenizerModel,
    TokenKind,
    Tokens,
    Vocabulary,
)
from tokexport.model.tokens import KINDS
from tokexport.sources.config import read_config, with_roles
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, parse, show
from tokexport.sources.tokenizer_json.added_tokens import (
    AddedVocabulary,
    as_matched,
    decoded_as_added,
    read_added_tokens,
)
from tokexport.sources.tokenizer_json.decoder import read_decoder
from tokexport.sources.tokenizer_json.decoder_chain import decode_forms
from tokexport.sources.tokenizer_json.model import HuggingFaceModel, read_model
from tokexport.sources.tokenizer_json.normalizer import Steps, read_normalizer
from tokexport.sources.tokenizer_json.post_processor import (
    read_post_processor,
    read_trimming,
    template_ids,
)
from tokexport.sources.tokenizer_json.pre_tokenizer import read_pre_tokenizer

_FIELDS: Final = (
    "version truncation padding added_tokens normalizer pre_tokenizer post_processor decoder model"
)
_VERSION: Final = "1.0"
_SHOWN: Final = 5
# What CLIP's class puts in place of its backend's decode().
_CLIP_DECODE: Final = "._wrap_decode_method_backend_tokenizer.<locals>.new_decode_method"
STRIP_NOTE: Final = (
    "The class of CLIP drops all white space at both ends of a decoded text; the file drops it at"
    " the start, and one space at the end. Ids that end in more decode to the rest, too: no text"
    " has such ids, except some with U+001C to U+001F."
)


def read_tokenizer_json(
    root: Node,
    files: SourceFiles,
    source: str = "tokenizer.json",
    config: Node | None = None,
    normalizers: tuple[Steps, Steps] | None = None,
) -> TokenizerModel:
    """The model in the parsed tokenizer.json ``root``, of version 1.0.

    ``files`` finds the files beside it, ``source`` names the kind of source in the provenance, and
    ``config`` replaces the tokenizer_config.json. ``normalizers``, of texts and added tokens, are
    those of a document that was rewritten from version 2.0: then the reference is `tokenizers` 1.0.
    Raises UnsupportedError where ids could not be exact, SourceError where the reference refuses.
    """
    config = read_config(files) if config is None else config
    of_release_1 = normalizers is not None
    if normalizers is None:
        root.field("model")  # without it, other fields say that it is a file of another kind
        for name in sorted(root.object().keys() - _FIELDS.split()):
            root.broken(f"has the field {show(name)}, which the reference refuses", "remove it")
        version = root.get("version")
        if version is not None and version.string() != _VERSION:
            version.unsupported(f"version {show(version.value)} is unknown", 'use "1.0" or "2.0"')
        root = replace(root, ignored=[])
        normalizers = (read_normalizer(root.get("normalizer")),) * 2
    normalizer, normalizer_of_added = normalizers
    pre_tokenizer = read_pre_tokenizer(root)
    huggingface = read_model(root)
    size = len(huggingface.spelling.ids)
    added = read_added_tokens(root, huggingface.vocab, normalizer_of_added, size=size)
    added_ids = {token.content: token.id for token in added.tokens}
    if of_release_1:
        added = as_matched(added)
    template = read_post_processor(root)
    tokens, decoding = _tokens(root, huggingface, added)
    if of_release_1:
        tokens = Tokens.of(decoded_as_added(tokens, added, SpellBytes() in pre_tokenizer))
    tokens = _with_template_ids(template, tokens)
    model = TokenizerModel(
        tokens=tokens,
        model=huggingface.model,
        reference=Reference.TOKENIZERS,
        provenance=Provenance(source),
        normalizer=normalizer,
        pre_tokenizer=pre_tokenizer,
        added_tokens=added.tokens,
        template=template,
        # For other tokens it makes no difference.
        restart_after_added=of_release_1
        and any(one.single_word or one.rstrip for one in added.tokens),
        offset_trimming=read_trimming(root, huggingface, tokens, added.tokens),
        decoding=decoding,
        notes=(*added.notes, *_notes(root, template, tokens)),
    )
    return with_roles(
        model,
        files,
        config,
        lambda content: added_ids.get(content, huggingface.vocab.get(content)),
        huggingface.model.unk_id,
    )


def _tokens(
    root: Node, huggingface: HuggingFaceModel, added: AddedVocabulary
) -> tuple[Tokens, Decoding]:
    """Every id with what it decodes to, and the edits of the whole text. If an id is both in the
    vocabulary and added, the reference decodes the added token.
    """
    ids, unk_id = huggingface.spelling.ids, huggingface.model.unk_id
    known = np.zeros(int(ids.max(initial=0)) + 1, np.bool_)
    known[ids] = True
    more = {number for number in added.spelling if number >= len(known) or not known[number]}
    check_id("added_tokens", max([len(known) - 1, *more]))
    spelling = _with_texts(huggingface.spelling, added.spelling)
    tokens, decoding = decode_forms(spelling, read_decoder(root))
    tokens.kinds[[*more]] = KINDS.index(TokenKind.ADDED)
    if unk_id is not None:
        tokens.kinds[unk_id] = KINDS.index(TokenKind.UNKNOWN)
    special = {token.content.encode() for token in added.tokens if token.special}
    # There may be thousands of both: only texts with the first byte of a special token are checked.
    for lead in {text[:1] for text in special}:
        for index in spelling.strings.indices_of_prefix(lead).tolist():
            if spelling.strings[index] in special:
                tokens.special[spelling.ids[index]] = True
    return tokens, decoding


def _with_texts(spelling: Vocabulary, texts: Mapping[int, str]) -> Vocabulary:
    """The strings of ids, and the texts of more ids, or instead of the strings of some."""
    more = {number: text.encode() for number, text in texts.items()}
    places = np.flatnonzero(np.isin(spelling.ids, [*more])).tolist()
    known = {place: more.pop(int(spelling.ids[place])) for place in places}
    # Most strings are unchanged; any change copies all of them.
    changed = {place: text for place, text in known.items() if spelling.strings[place] != text}
    strings, ids = spelling.strings.replaced(changed), spelling.ids
    if more:
        strings = ByteStrings.joined([strings, ByteStrings.of(more.values())])
        ids = np.append(ids, np.array([*more], np.uint32))
    return Vocabulary(strings, ids)


def _with_template_ids(template: Template, tokens: Tokens) -> Tokens:
    """The tokens, and holes up to the largest id of the post-processor: it need not be a token."""
    largest = max(template_ids(template), default=-1)
    check_id("post_processor", largest)
    holes = [None] * (largest + 1 - len(tokens))
    return Tokens.of([*tokens, *holes]) if holes else tokens


def _notes(root: Node, template: Template, tokens: Tokens) -> Iterator[str]:
    for name in ("truncation", "padding"):
        if root.optional(name) is not None:
            yield (
                f"{name} is switched on in {root.file}: the reference applies it in encode(); it is"
                " not part of the mapping from text to ids, and the converted file does not hold"
                " it."
            )
    ignored = list(dict.fromkeys(root.ignored or ()))
    if ignored:
        more = f" and {len(ignored) - _SHOWN} more" if len(ignored) > _SHOWN else ""
        yield f"{root.file}: the reference ignores {', '.join(ignored[:_SHOWN])}{more}."
    holes = sorted(number for number in template_ids(template) if tokens[number] is None)
    if holes:
        found = ", ".join(map(str, holes))
        yield f"{root.file}: the post_processor adds the id {found}, which is not a token."


def word_end(tokenizer: Any) -> str | None:
    """The text that an object's decode() replaces by a space, if it is what CLIP's class put in its
    place; this is not saved. UnsupportedError for another function.
    """
    decode = vars(tokenizer).get("decode")
    if decode is None:
        return None
    name = getattr(decode, "__qualname__", type(decode).__name__)
    if not name.endswith(_CLIP_DECODE):
        problem = f"a decode() that Python code replaced by {name} is not supported"
        raise UnsupportedError("decoder", problem, "only CLIP's class may replace decode()")
    found: str = getclosurevars(decode).nonlocals["end_of_word_suffix"]
    return found


def read_object(
    tokenizer: Any, name: str, files: SourceFiles, config: Node | None = None
) -> TokenizerModel:
    """The model of a ``tokenizers.Tokenizer``, ``name`` in errors: of the tokenizer.json that it
    saves, whose digest is used if ``files`` has no folder.

    Raises UnsupportedError for parts in Python, and if the object has other ids than the file that
    it saves: then loading that file would not restore it.
    """
    try:
        data = tokenizer.to_str().encode("utf-8")
    except Exception as error:  # the library raises bare Exception
        hint = "use parts of the library instead of parts in Python"
        raise UnsupportedError(name, f"it cannot be saved ({error})", hint) from error
    if getattr(tokenizer.model, "alpha", None) is not None:
        problem = "sampling is not supported: ids depend on chance"
        raise UnsupportedError(f"{name}.model.alpha", problem, "use None")
    end = word_end(tokenizer)
    if files.folder is None:
        files.sha256[name] = sha256(data).hexdigest()
    # The object has the numbers that it prints, not those that its library would read.
    model = read_tokenizer_json(parse(data, name, float), files, name, config)
    read = {token.id: token.content for token in model.added_tokens}
    added = {id: token.content for id, token in tokenizer.get_added_tokens_decoder().items()}
    if read != added:
        number = min({*read.items()} ^ {*added.items()})[0]
        raise UnsupportedError(
            f"{name}.added_tokens[{number}]",
            f"it is {added.get(number)!r}, but {read.get(number)!r} in the file that is saved",
            "save the tokenizer with tokenizer.save(), load it again, and give that",
        )
    if end is None:
        return model
    edits = (*model.decoding.edits, ReplaceLiteral(end, " "), StripWhiteSpace())
    decoding = replace(model.decoding, edits=edits)
    return replace(model, decoding=decoding, notes=(*model.notes, STRIP_NOTE))
