"""Makes all golden files: ``python formats/tokexport/golden/make.py [directory]``.

The same models produce the same bytes on every platform, so this changes nothing unless the format
or the writer has changed. The expected ids come from the reference libraries, not from this one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3] / "fixtures"))
sys.path.insert(0, str(Path(__file__).parents[1] / "reader"))
sys.path.insert(0, str(Path(__file__).parent))

from decoding import GoldenDecoder, golden_decoders
from golden import Golden, Messages, UnknownTextError, merge_rows
from models import goldens
from piece_models import piece_goldens
from rare_models import rare_goldens
from refused import refused_files
from refused_operations import refused_operations
from refused_rare import refused_rare
from sections import contents_of, file_of
from trie_models import trie_goldens
from trimmed_tables import trimmed
from version_2_models import version_2_goldens

from tokexport.compiler.compile import compile_model
from tokexport.compiler.merges.byte_pair import ROW_SHIFT, pair_index
from tokexport.compiler.merges.canonical import canonical_merges
from tokexport.compiler.tables import BytePairTables
from tokexport.conversion import Options, file_bytes
from tokexport.file import encoder_sections
from tokexport.file.layout import NONE, Header, Tag
from tokexport.file.text_sections import splits
from tokexport.file.token_sections import records_and_bytes
from tokexport.file.write import Content, assemble
from tokexport.model import (
    BytePairModel,
    Provenance,
    Reference,
    SelfTestCase,
    Token,
    TokenizerModel,
)


def make() -> dict[str, bytes]:
    """Every generated file, by its path in this folder."""
    files = {"smallest-decode.bin": smallest_decode(), "smallest-bpe.bin": smallest_bpe()}
    for golden in all_goldens():
        file = file_bytes(golden.model, _options(golden))
        contents = contents_of(file)
        if golden.name == "byte-fallback":
            contents |= _tables_of_large_models(golden.model)
        if golden.trimmed:
            contents |= trimmed(contents, golden.texts)
        files[f"{golden.name}.bin"] = _unversioned(file, contents, golden.model)
        files[f"{golden.name}.json"] = _pretty(expected(golden))
    for decoder in golden_decoders():
        file = file_bytes(decoder.model, Options(decode_only=True))
        files[f"{decoder.name}.bin"] = _unversioned(file, contents_of(file), decoder.model)
        files[f"{decoder.name}.json"] = _pretty(expected_texts(decoder))
    refused = refused_files(files["smallest-decode.bin"], files["smallest-bpe.bin"])
    refused |= refused_operations(files["smallest-decode.bin"])
    refused |= refused_rare(files["smallest-decode.bin"], files["smallest-bpe.bin"])
    files |= {f"refused/{name}": content for name, content in refused.items()}
    sums = [
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(files.items())
    ]
    return files | {"SHA256SUMS": "".join(sums).encode()}


def all_goldens() -> list[Golden]:
    """The models of all files that encode."""
    parts = (goldens(), rare_goldens(), trie_goldens(), piece_goldens(), version_2_goldens())
    return [golden for part in parts for golden in part]


def smallest_decode() -> bytes:
    """One id, whose token is the byte A; with only the required sections."""
    token = TokenizerModel(
        (Token(b"A"),),
        BytePairModel({b"A": 0}, merge_rows()),
        Reference.TOKENIZERS,
        Provenance("golden"),
    )
    records, blob = records_and_bytes(compile_model(token, decode_only=True))
    contents: dict[bytes, Content] = {Tag.RECORDS: records, Tag.BYTES: blob}
    return _smallest(contents, id_count=1, longest=0)


def smallest_bpe() -> bytes:
    """Three ids and one merge; with only the sections that an encoder needs."""
    vocab = {b"a": 0, b"b": 1, b"ab": 2}
    model = TokenizerModel(
        tuple(Token(content) for content in vocab),
        BytePairModel(vocab, merge_rows([(0, 1, 2)])),
        Reference.TOKENIZERS,
        Provenance("golden"),
    )
    tables = compile_model(model)
    assert tables.encoding is not None
    encoder = tables.encoding.encoder
    assert isinstance(encoder, BytePairTables)
    records, blob = records_and_bytes(tables)
    contents: dict[bytes, Content] = {
        Tag.RECORDS: records,
        Tag.BYTES: blob,
        Tag.BYTE_IDS: encoder.byte_ids.astype(np.dtype("<u4")).tobytes(),
        Tag.TOKEN_INDEX: encoder_sections.token_index(encoder.tokens),
        Tag.PAIR_INDEX: encoder_sections.pair_index(encoder.pairs),
        Tag.SPLITS: splits((), ()),
    }
    return _smallest(contents, id_count=3, longest=2)


def _smallest(contents: Mapping[bytes, Content], id_count: int, longest: int) -> bytes:
    counts = {"id_count": id_count, "token_count": id_count, "max_token_bytes": longest}
    return b"".join(assemble(contents, **counts, flags=0, unknown_id=NONE))


def expected(golden: Golden) -> dict[str, Any]:
    """The results that a reader must return, in the form of annex C of SPEC.md."""
    asked: dict[str, Any] = {
        "reference": golden.version,
        "tokens": [None if token is None else token.content.hex() for token in golden.model.tokens],
        "encode": [
            _encoded(golden, text, special) for text in golden.texts for special in (False, True)
        ],
    }
    if golden.some:
        asked["encode_some"] = [
            {"text": text, "allowed": list(some), "ids": list(golden.encode(text, some))}
            for text, some in golden.some
        ]
    if golden.unknown:
        asked["refused"] = [_refused(golden, text) for text in golden.unknown]
    if golden.prefixes:
        asked["prefix"] = [_with_prefix(golden.model, prefix) for prefix in golden.prefixes]
    if golden.chats:
        asked["chat"] = [_chat(golden, *chat) for chat in golden.chats]
    if golden.around is not None:
        asked["template"] = [
            _around(golden, *pair, adds) for pair in golden.pairs for adds in (True, False)
        ]
    return asked


def _encoded(golden: Golden, text: str, special: bool) -> dict[str, Any]:
    """A case: ids, and spans in one of the two cases of a text that has several kinds of them."""
    case = {"text": text, "special": special, "ids": list(golden.encode(text, special))}
    if golden.locate is not None and special:
        case["spans"] = [list(span) for span in golden.locate(text, special)]
    return case


def _refused(golden: Golden, text: str) -> dict[str, Any]:
    """A text that the reference refuses as well."""
    try:
        ids = golden.encode(text, True)
    except UnknownTextError:
        return {"text": text, "error": "TKX_E_UNKNOWN_TEXT"}
    raise AssertionError(f"{golden.name}: {text!r} gives {ids}")


def _with_prefix(model: TokenizerModel, prefix: bytes) -> dict[str, Any]:
    """The tokens with a prefix, found by looking at every token."""
    tokens = enumerate(model.tokens)
    found = sorted((token.content, number) for number, token in tokens if token is not None)
    ids = [number for content, number in found if content.startswith(prefix)]
    return {"prefix": prefix.hex(), "ids": ids}


def _chat(golden: Golden, messages: Messages, found: tuple[int, ...] | str) -> dict[str, Any]:
    """The reference's ids for the prompt, with some special tokens; or an error."""
    asked = {"messages": [list(message) for message in messages]}
    fields = [{"role": role, "content": content} for role, content in messages]
    assert golden.frame is not None
    assert golden.frame.takes(fields) == (not isinstance(found, str))
    if isinstance(found, str):
        return {**asked, "error": found}
    return {**asked, "ids": list(golden.encode(golden.frame.render(fields), found))}


def _around(golden: Golden, text: str, pair: str | None, adds: bool) -> dict[str, Any]:
    assert golden.around is not None
    ids, type_ids = golden.around(text, pair, adds)
    texts = {"text": text} if pair is None else {"text": text, "pair": pair}
    return {**texts, "add_special_tokens": adds, "ids": list(ids), "type_ids": list(type_ids)}


def expected_texts(golden: GoldenDecoder) -> dict[str, Any]:
    """The results that a reader must return: the bytes of tokens between others in hexadecimal, and
    the text of ids.
    """
    return {
        "reference": golden.model.reference.value,
        "tokens": [None if token is None else token.content.hex() for token in golden.model.tokens],
        "decode": [
            {"ids": ids, "text": text, **({"skip_special": True} if skip else {})}
            for (ids, skip), text in golden.texts.items()
        ],
    }


def _options(golden: Golden) -> Options:
    if not golden.self_test:
        return Options(prefix_index=bool(golden.prefixes), chat_frame=golden.frame)
    texts = [(text, special) for text in golden.texts for special in (False, True)]
    return Options(
        self_test=[
            SelfTestCase(text, tuple(golden.encode(text, special)), special)
            for text, special in texts
        ]
    )


def _tables_of_large_models(model: TokenizerModel) -> dict[bytes, bytes]:
    """What the writer only makes for thousands of merges: one row for every two ids."""
    assert isinstance(model.model, BytePairModel)
    merges = canonical_merges(model.model)
    index = pair_index(merges.rules, len(model.tokens), ROW_SHIFT)
    return {Tag.PAIR_INDEX: b"".join(encoder_sections.pair_index(index))}


def _unversioned(file: bytes, contents: Mapping[bytes, bytes], model: TokenizerModel) -> bytes:
    """A file with these sections, and a provenance without versions, so that a release does not
    change the golden files.
    """
    reference = model.reference.value
    provenance = (
        f'{{"exporter":"tokexport","reference":"{reference}","sha256":{{}},"source":"golden"}}'
    )
    return file_of(Header.parse(file), {**contents, Tag.PROVENANCE: provenance.encode()})


def _pretty(value: Mapping[str, Any]) -> bytes:
    """JSON with one line per case."""
    lines = [f" {json.dumps(key)}: {_lines(part)}" for key, part in value.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _lines(part: Any) -> str:
    if not (isinstance(part, list) and part and isinstance(part[0], dict)):
        return json.dumps(part, separators=(",", ": "))
    return (
        "[\n"
        + ",\n".join("  " + json.dumps(item, separators=(",", ": ")) for item in part)
        + "\n ]"
    )


def main() -> None:
    """Writes the files beside this script, or into a directory."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("directory", nargs="?", type=Path, default=Path(__file__).parent)
    target = parser.parse_args().directory
    for name, content in make().items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()
