"""Writes a tokexport file, version 1 (``formats/tokexport/SPEC.md``).

The same model gives the same bytes on every platform: everything is little-endian, in a defined
order, and carries no time stamp.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from tokexport.compiler.compile import Tables, compile_model
from tokexport.compiler.merges.byte_pair import BytePairTables
from tokexport.compiler.tries.trie_tables import TrieTables
from tokexport.errors import UnsupportedError
from tokexport.file import sections, trie_sections
from tokexport.file.decoding import decoder
from tokexport.file.layout import (
    ALIGNMENT,
    MAGIC,
    NONE,
    VERSION_MAJOR,
    VERSION_MINOR,
    Header,
    HeaderFlag,
    ModelType,
    Section,
    SectionFlag,
    Tag,
)
from tokexport.file.rewriting import rewriting
from tokexport.model import BytePairModel, Reference, SelfTestCase, TokenizerModel, WordLevelModel

REQUIRED_TAGS = frozenset(tag for tag in Tag if tag.required)


@dataclass(frozen=True, slots=True)
class Options:
    """What goes into the file.

    ``decode_only``: records, bytes and decoder, special ids, chat template and provenance, and no
    more. ``scores``: one float an id. ``reference_version`` is written into the provenance,
    ``self_test`` holds texts with the reference's ids.
    """

    decode_only: bool = False
    scores: bool = True
    reference_version: str | None = None
    self_test: Sequence[SelfTestCase] = ()


def write(model: TokenizerModel, options: Options | None = None) -> bytes:
    """The bytes of a tokexport file for a model.

    Raises UnsupportedError where the model cannot be exact in the file.
    """
    options = options or Options()
    if not model.tokens:
        raise UnsupportedError(
            "the vocabulary", "no token at all is not supported", "a file holds one or more"
        )
    tables = None if options.decode_only else compile_model(model)
    return assemble(
        {
            tag: content
            for tag, content in _contents(model, tables, options).items()
            if content is not None
        },
        id_count=len(model.tokens),
        token_count=sum(token is not None for token in model.tokens),
        flags=_flags(model),
        max_token_bytes=_longest(tables.encoder) if tables else 0,
        unknown_id=NONE if model.model.unk_id is None else model.model.unk_id,
        model=trie_sections.MODEL_TYPES[type(model.model)],
    )


def assemble(
    contents: dict[bytes, bytes],
    *,
    id_count: int,
    token_count: int,
    flags: HeaderFlag,
    max_token_bytes: int,
    unknown_id: int,
    model: ModelType = ModelType.BPE,
) -> bytes:
    """Puts sections, in the order given, after a header and a section table with their checksums."""
    table = bytearray()
    body = bytearray()
    first = _aligned(Header.sizeof() + Section.sizeof() * len(contents))
    for tag, content in contents.items():
        body += bytes(_aligned(first + len(body)) - first - len(body))
        table += Section.build(
            {
                "tag": tag,
                "flags": SectionFlag.REQUIRED if tag in REQUIRED_TAGS else 0,
                "offset": first + len(body),
                "size": len(content),
                "crc32": zlib.crc32(content),
                "reserved": None,
            }
        )
        body += content
    header = Header.build(
        {
            "magic": MAGIC,
            "version_major": VERSION_MAJOR,
            "version_minor": VERSION_MINOR,
            "section_count": len(contents),
            "file_size": first + len(body),
            "id_count": id_count,
            "token_count": token_count,
            "model": model,
            "flags": flags,
            "max_token_bytes": max_token_bytes,
            "unknown_id": unknown_id,
            "reserved": None,
            "crc32": 0,
        }
    )[:-4]
    head = header + zlib.crc32(table, zlib.crc32(header)).to_bytes(4, "little") + table
    return bytes(head + bytes(first - len(head)) + body)


def _contents(
    model: TokenizerModel, tables: Tables | None, options: Options
) -> dict[bytes, bytes | None]:
    records, blob = sections.records_and_bytes(model, tables)
    contents: dict[bytes, bytes | None] = {
        Tag.RECORDS: records,
        Tag.BYTES: blob,
        Tag.DECODER: decoder(model),
    }
    if tables is not None:
        contents |= _encoder_contents(model, tables.encoder, options, records, blob)
        contents |= {
            Tag.SPLITS: sections.splits(tables.normalizer, tables.stages),
            Tag.CUTS: sections.cuts(tables.cuts),
            Tag.NORMALIZER: rewriting(tables.normalizer, tables.stage_ops),
            Tag.ADDED_TOKENS: sections.added_tokens(tables.added),
            Tag.ADDED_CLASSES: sections.added_classes(tables.added),
            Tag.TEMPLATE: sections.template(model.template),
            Tag.TRIMMING: sections.trimming(model.offset_trimming),
            Tag.ALIGNMENT: sections.alignment(model.offset_alignment, tables.normalizer),
        }
    contents |= {
        Tag.SPECIAL_IDS: sections.special_ids(model.special_ids),
        Tag.CHAT_TEMPLATE: model.chat_template.encode() if model.chat_template else None,
        Tag.PROVENANCE: sections.provenance(model, options.reference_version),
    }
    if tables is not None and options.self_test:
        contents[Tag.SELF_TEST] = sections.self_test(options.self_test)
    return contents


def _encoder_contents(
    model: TokenizerModel,
    encoder: BytePairTables | TrieTables,
    options: Options,
    records: bytes,
    blob: bytes,
) -> dict[bytes, bytes | None]:
    if isinstance(encoder, TrieTables):
        scores, double_scores = trie_sections.scores(model, options.scores)
        return {
            Tag.SCORES: scores,
            Tag.DOUBLE_SCORES: double_scores,
            Tag.BYTE_IDS: (
                None if encoder.byte_ids is None else encoder.byte_ids.astype("<u4").tobytes()
            ),
            Tag.TRIE: trie_sections.trie(encoder),
        }
    keys, blob_with_keys = sections.keys(model, encoder.tokens, records, blob)
    return {
        Tag.BYTES: blob_with_keys,
        Tag.SCORES: sections.scores(model, encoder.merges) if options.scores else None,
        Tag.RANKS: sections.ranks(model, encoder.merges),
        Tag.BYTE_IDS: encoder.byte_ids.astype("<u4").tobytes(),
        Tag.CHARACTERS: sections.characters(encoder.characters),
        Tag.KEYS: keys,
        Tag.TOKEN_INDEX: sections.token_index(encoder.tokens),
        Tag.PAIR_INDEX: sections.pair_index(encoder.pairs),
        Tag.PAIR_GRID: sections.pair_grid(encoder.grid),
        Tag.CROSSINGS: sections.crossings(encoder.crossings),
        Tag.UNUSED: sections.unused(encoder.unused),
    }


def _flags(model: TokenizerModel) -> HeaderFlag:
    flags = HeaderFlag(0)
    if isinstance(model.model, BytePairModel) and model.model.whole_pre_token_first:
        flags |= HeaderFlag.WHOLE_PIECE_FIRST
    if isinstance(model.model, BytePairModel | WordLevelModel) and model.model.fuse_unk:
        flags |= HeaderFlag.FUSE_UNKNOWN
    if isinstance(model.model, BytePairModel) and model.model.unknown_stops:
        flags |= HeaderFlag.UNKNOWN_STOPS
    if model.restart_after_added:
        flags |= HeaderFlag.SEARCH_ANEW
    if model.reference is Reference.TIKTOKEN:
        flags |= HeaderFlag.RESCAN_SPECIAL | HeaderFlag.REPLACE_SURROGATES
    return flags


def _longest(encoder: BytePairTables | TrieTables) -> int:
    return encoder.longest if isinstance(encoder, TrieTables) else encoder.tokens.longest


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
