"""Decode-only tokenizers from a vocabulary and a decoder, the reference's and ours; streams."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import tokenizers
from bare_models import merge_rows, tokenizer_model
from parts.cases import document
from reader_samples import reference

from tokexport.conversion import Options, file_bytes
from tokexport.model import BytePairModel, Decoding, Token, Vocabulary
from tokexport.runtime.decode_stream import DecodeStream
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.sources.json_node import parse
from tokexport.sources.tokenizer_json.decoder import read_decoder
from tokexport.sources.tokenizer_json.decoder_chain import decode_forms


def theirs(decoder: Any, vocab: Sequence[str]) -> tokenizers.Tokenizer:
    """The reference, with ``vocab[id]`` as the token of an id."""
    ids = {token: id for id, token in enumerate(vocab)}
    model = {"type": "WordLevel", "vocab": ids, "unk_token": vocab[0]}
    return reference(document(model, decoder=decoder))


def decode_only(tokens: Sequence[Token | None], decoding: Decoding) -> bytes:
    """A file that decodes these tokens."""
    model = tokenizer_model(tokens, BytePairModel({}, merge_rows()), decoding=decoding)
    return file_bytes(model, Options(decode_only=True))


def ours(decoder: Any, spelling: Mapping[int, str]) -> Tokenizer:
    """The same by our reader and a file. UnsupportedError if the reader refuses."""
    strings = Vocabulary.of({text.encode(): id for id, text in spelling.items()})
    root = parse(json.dumps({"decoder": decoder}).encode(), "tokenizer.json")
    tokens, decoding = decode_forms(strings, read_decoder(root))
    return load(decode_only(tokens, decoding))


def streamed(tokenizer: Tokenizer, ids: Sequence[int], skip: bool = False) -> str:
    """The text of ids that arrive one at a time; no part may be empty."""
    stream = DecodeStream(tokenizer, skip_special_tokens=skip)
    parts = [*map(stream.step, ids), stream.flush()]
    assert "" not in parts
    assert stream.flush() is None
    return "".join(part for part in parts if part is not None)
