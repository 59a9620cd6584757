"""Hugging Face's tokenizer.json, with the files that may stand beside it.

The reference is the ``tokenizers`` library: what it makes of the file is what counts, also where the file says
something else.
"""

from __future__ import annotations

from typing import Final

from tokexport.errors import UnsupportedError
from tokexport.layout import MAX_IDS
from tokexport.model import Decoding, Provenance, Reference, Template, Token, TokenizerModel, TokenKind
from tokexport.readers.decoder_chain import decode_forms
from tokexport.readers.huggingface_added_tokens import AddedVocabulary, read_added_tokens
from tokexport.readers.huggingface_config import read_config, read_roles
from tokexport.readers.huggingface_decoder import read_decoder
from tokexport.readers.huggingface_model import HuggingFaceModel, read_model
from tokexport.readers.huggingface_normalizer import read_normalizer
from tokexport.readers.huggingface_post_processor import read_post_processor, template_ids
from tokexport.readers.huggingface_pre_tokenizer import read_pre_tokenizer
from tokexport.readers.huggingface_trimming import read_trimming
from tokexport.readers.huggingface_version_2 import VERSION as _VERSION_2
from tokexport.readers.huggingface_version_2 import as_matched, decoded_as_added, read_normalizers, version_1
from tokexport.readers.json_node import Node
from tokexport.readers.source_files import SourceFiles

_FIELDS: Final = frozenset(
    (
        "version",
        "truncation",
        "padding",
        "added_tokens",
        "normalizer",
        "pre_tokenizer",
        "post_processor",
        "decoder",
        "model",
    )
)
_VERSION: Final = "1.0"


def read_tokenizer_json(root: Node, files: SourceFiles, source: str = "tokenizer.json") -> TokenizerModel:
    """The model in the parsed tokenizer.json ``root``.

    ``files`` finds what stands beside it, ``source`` names the kind of source in the provenance. Raises
    UnsupportedError for what cannot be exact, SourceError for what the reference refuses.
    """
    version = root.get("version")
    version_2 = version is not None and version.value == _VERSION_2
    if version_2:
        normalizer, normalizer_of_added = read_normalizers(root.optional("normalizer"))
        root = version_1(root, normalizer_of_added)
    root.object(_FIELDS)
    if not version_2 and version is not None and version.string() != _VERSION:
        version.unsupported(f'the versions "{_VERSION}" and "{_VERSION_2}" of tokenizer.json are supported')
    if not version_2:
        normalizer = normalizer_of_added = read_normalizer(root.get("normalizer"))
    pre_tokenizer = read_pre_tokenizer(root, mapped=normalizer.byte_level)
    huggingface = read_model(root, byte_level=pre_tokenizer.byte_level)
    added = read_added_tokens(root, huggingface.vocab, normalizer_of_added, size=len(huggingface.spelling))
    added_ids = {token.content: token.id for token in added.tokens}
    if version_2:
        added = as_matched(added)
    template = read_post_processor(root)
    tokens, decoding = _tokens(root, huggingface, added)
    if version_2:
        tokens = tuple(decoded_as_added(tokens, added, byte_level=pre_tokenizer.byte_level))
    _check_template(template, tokens)
    config = read_config(files)
    roles = read_roles(files, config, {**huggingface.vocab, **added_ids}, tokens, huggingface.unk_id)
    return TokenizerModel(
        tokens=tokens,
        model=huggingface.model,
        reference=Reference.TOKENIZERS,
        provenance=Provenance(source, dict(sorted(files.sha256.items()))),
        normalizer=normalizer.steps,
        splits=pre_tokenizer.steps,
        added_tokens=added.tokens,
        template=template,
        trimming=read_trimming(root, huggingface, tokens, added.tokens),
        decoding=decoding,
        special_ids=roles.special_ids,
        chat_template=roles.chat_template,
        notes=(*added.notes, *_switched_on(root), *roles.notes),
    )


def _tokens(
    root: Node, huggingface: HuggingFaceModel, added: AddedVocabulary
) -> tuple[tuple[Token | None, ...], Decoding]:
    """Every id with what it decodes to, and what is done to the whole. Where an id is in the vocabulary and added, the
    reference decodes what was added.
    """
    spelling = {**huggingface.spelling, **added.spelling}
    in_vocab = set(huggingface.spelling)
    if spelling and max(spelling) >= MAX_IDS:
        raise UnsupportedError("added_tokens", f"the id {max(spelling)}", f"ids are supported up to {MAX_IDS - 1}")
    decoded = decode_forms(spelling, read_decoder(root))
    tokens: list[Token | None] = [None] * (max(spelling, default=-1) + 1)
    for number, text in spelling.items():
        kind = TokenKind.ADDED
        if number in in_vocab:
            kind = TokenKind.UNKNOWN if number == huggingface.unk_id else TokenKind.MODEL
        tokens[number] = decoded.token(number, kind, text in added.special)
    return tuple(tokens), decoded.decoding


def _switched_on(root: Node) -> list[str]:
    return [
        f"{name} is switched on in {root.file}: the reference applies it in encode(); it is no part of the "
        "mapping from text to ids, and the converted file does not hold it."
        for name in ("truncation", "padding")
        if root.optional(name) is not None
    ]


def _check_template(template: Template, tokens: tuple[Token | None, ...]) -> None:
    """The reference adds the ids of the post-processor as they are written, whatever ids the tokens got: they must be
    tokens.
    """
    for number in sorted(template_ids(template)):
        if number >= len(tokens) or tokens[number] is None:
            raise UnsupportedError(
                "post_processor", f"the id {number}, which is no token,", "it may add the ids of tokens"
            )
