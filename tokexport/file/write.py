"""Tables to bytes: writes a tokexport file, version 1 (``formats/tokexport/SPEC.md``).

The same tables produce the same bytes on every platform: everything is little-endian, in a defined
order, without a time stamp.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import tokexport.file.layout as layout
from tokexport.chat.frame import Frame
from tokexport.compiler.tables import EncodingTables, Tables, TrieTables
from tokexport.file import encoder_sections, metadata_sections, text_sections, token_sections
from tokexport.file.layout import Tag
from tokexport.file.options import Options
from tokexport.file.pack import Part, bits, struct

# A section, whole or in parts.
Content = Part | Sequence[Part]

REQUIRED_TAGS = frozenset(tag for tag in Tag if tag.required)


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections of a file, in order, and the fields of its header."""

    contents: dict[bytes, Content | None]
    fields: dict[str, int]
    # The special tokens.
    special: frozenset[str]

    def parts(self, chat_frame: Frame | None) -> list[Part]:
        """The file with this frame of its chat template; its first part is header and table."""
        frame = metadata_sections.frame(chat_frame, self.special)
        contents = self.contents | {Tag.CHAT_FRAME: frame}
        found = {tag: content for tag, content in contents.items() if content is not None}
        return assemble(found, **self.fields)


def sections(tables: Tables, options: Options) -> Sections:
    """The sections of a file, without the frame of its chat template."""
    model = tables.model
    records, blob = token_sections.records_and_bytes(tables)
    contents: dict[bytes, Content | None] = {
        Tag.RECORDS: records,
        Tag.BYTES: blob,
        Tag.DECODER: token_sections.decoder(tables.decoder),
        Tag.EDITS: token_sections.edits(tables.decoder),
    }
    if tables.encoding is not None:
        contents |= _encoder(tables, tables.encoding, options.scores, records, blob)
        contents |= _text(tables, tables.encoding)
    contents |= {
        Tag.SORTED_IDS: token_sections.sorted_ids(tables) if options.prefix_index else None,
        Tag.CHAT_FRAME: None,  # stored last
        Tag.SPECIAL_IDS: metadata_sections.special_ids(tables),
        Tag.CHAT_TEMPLATE: model.chat.default.encode() if model.chat.default else None,
        Tag.PROVENANCE: metadata_sections.provenance(tables, options.reference_version),
    }
    if tables.encoding is not None and options.self_test:
        contents[Tag.SELF_TEST] = metadata_sections.self_test(options.self_test)
    fields = {
        "id_count": len(tables.tokens),
        "token_count": int((~tables.tokens.is_hole).sum()),
        "flags": layout.HeaderFlag(sum(layout.HeaderFlag[name] for name in tables.flags)),
        "max_token_bytes": tables.encoding.encoder.longest if tables.encoding else 0,
        "unknown_id": layout.NONE if model.model.unk_id is None else model.model.unk_id,
        "model": layout.ModelType[tables.kind],
    }
    special = frozenset(token.content for token in model.added_tokens if token.special)
    return Sections(contents, fields, special)


def assemble(
    contents: Mapping[bytes, Content], *, model: int = layout.ModelType.BPE, **fields: int
) -> list[Part]:
    """A file's parts: first a header with these fields and the section table, then the sections."""
    table = bytearray()
    parts: list[Part] = []
    first = end = _aligned(layout.Header.sizeof() + layout.Section.sizeof() * len(contents))
    for tag, content in contents.items():
        begin = _aligned(end)
        section = [content] if isinstance(content, Part) else content
        size = checksum = 0
        for part in section:
            size, checksum = size + len(part), zlib.crc32(part, checksum)
        table += struct(
            layout.Section,
            tag=tag,
            flags=layout.SectionFlag.REQUIRED if tag in REQUIRED_TAGS else 0,
            offset=begin,
            size=size,
            crc32=checksum,
        )
        parts += [bytes(begin - end), *section]
        end = begin + size
    header = struct(
        layout.Header,
        version_major=layout.VERSION_MAJOR,
        version_minor=layout.VERSION_MINOR,
        section_count=len(contents),
        file_size=end,
        model=model,
        **fields,
    )[:-4]
    head = header + zlib.crc32(table, zlib.crc32(header)).to_bytes(4, "little") + table
    return [head + bytes(first - len(head)), *parts]


def _encoder(
    tables: Tables, encoding: EncodingTables, scores: bool, records: memoryview, blob: bytes
) -> dict[bytes, Content | None]:
    encoder = encoding.encoder
    single, double = token_sections.scores(encoding, scores)
    if isinstance(encoder, TrieTables):
        return {
            Tag.SCORES: single,
            Tag.DOUBLE_SCORES: double,
            Tag.BYTE_IDS: token_sections.ids(encoder.byte_ids),
            Tag.TRIE: encoder_sections.trie(encoder),
        }
    keys, blob_with_keys = token_sections.keys(tables, encoder.tokens, records, blob)
    return {
        Tag.BYTES: blob_with_keys,
        Tag.SCORES: single,
        Tag.RANKS: token_sections.ids(encoder.ranks),
        Tag.BYTE_IDS: token_sections.ids(encoder.byte_ids),
        Tag.CHARACTERS: encoder_sections.characters(encoder.characters),
        Tag.KEYS: keys,
        Tag.TOKEN_INDEX: encoder_sections.token_index(encoder.tokens),
        Tag.PAIR_INDEX: encoder_sections.pair_index(encoder.pairs),
        Tag.CROSSINGS: encoder_sections.crossings(encoder.crossings),
    }


def _text(tables: Tables, encoding: EncodingTables) -> dict[bytes, Content | None]:
    normalizer, stages = encoding.normalizer, encoding.stages
    return {
        Tag.SPLITS: text_sections.splits(normalizer, stages),
        Tag.LABELS: text_sections.labels(stages),
        Tag.CUTS: bits(encoding.cuts) if encoding.cuts.any() else None,
        Tag.NORMALIZER: text_sections.rewriting(normalizer, stages),
        Tag.ADDED_TOKENS: text_sections.added_tokens(encoding.added),
        Tag.ADDED_CLASSES: text_sections.added_classes(encoding.added),
        Tag.TEMPLATE: text_sections.template(tables),
        Tag.TRIMMING: text_sections.trimming(tables),
        Tag.ALIGNMENT: text_sections.alignment(tables, encoding.protected),
    }


def _aligned(offset: int) -> int:
    return -(-offset // layout.ALIGNMENT) * layout.ALIGNMENT
