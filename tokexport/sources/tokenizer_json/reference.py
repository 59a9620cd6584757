"""The `tokenizers` library (Hugging Face) as a reference."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from tokexport.errors import needs
from tokexport.model import AddedToken
from tokexport.sources.reference import (
    BYTE_OF,
    PANIC,
    Mode,
    ReferenceStopsError,
    ReferenceTokenizer,
    reading_note,
    refusal,
)
from tokexport.sources.tokenizer_json.read import STRIP_NOTE, word_end

with needs(
    "verify",
    "the library `tokenizers` 0.23, the reference for this source, is not installed (1.0 reads only"
    " tokenizer.json 2.0)",
):
    import tokenizers
    from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer


# Tokens that no decoder changes, to put around another one.
_BEFORE: Final = "\ue000"
_AFTER: Final = "\ue001"
# The byte 0 in GPT-2's alphabet.
_NUL: Final = "\u0100"
# The library's messages if a model without an unknown token needs one.
NO_UNKNOWN_TOKEN: Final = ("Missing [UNK] token", "Unk token `", "`unk_id` is missing")


class TokenizersReference(ReferenceTokenizer):
    """A tokenizer.json, or GPT-2's vocab.json and merges.txt, in the library itself.

    Truncation and padding are switched off during a call: they concern batches, not the ids of a
    text. The object may be the caller's, so it is left as it was.
    """

    library = "tokenizers"
    version = tokenizers.__version__
    modes = (Mode.TEXT, Mode.IDS, Mode.TEMPLATE)  # it has no option for some special tokens

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._word_end = word_end(tokenizer)
        if self._word_end is not None:
            self.reading_note = STRIP_NOTE

    @classmethod
    def from_text(cls, text: str | bytes, name: str) -> TokenizersReference:
        """Loads a tokenizer.json, ``name`` in errors. SourceError if the library refuses it."""
        kind = tokenizers.Tokenizer
        with _refuses(name):
            loaded = kind.from_buffer(text) if isinstance(text, bytes) else kind.from_str(text)
        # A file may have a truncation that the library does not accept when it is set again.
        loaded.no_truncation()
        return cls(loaded)

    @classmethod
    def from_document(cls, document: Mapping[str, Any], name: str) -> TokenizersReference:
        """Loads a tokenizer.json that tokexport made from the file ``name``."""
        reference = cls.from_text(json.dumps(document), name)
        reference.reading_note = reading_note(os.path.basename(name), "tokenizer.json")
        return reference

    @classmethod
    def from_wordpiece(cls, vocab: str, **settings: Any) -> TokenizersReference:
        """Loads a vocab.txt as the library's own BertWordPieceTokenizer does."""
        with _refuses(vocab):
            return cls(BertWordPieceTokenizer(vocab, **settings)._tokenizer)

    @classmethod
    def from_vocab_and_merges(
        cls, vocab: Path, merges: Path, special_tokens: Iterable[str]
    ) -> TokenizersReference:
        """Loads the library's own ByteLevelBPETokenizer, and adds special tokens in this order."""
        with _refuses(str(vocab)):
            tokenizer = ByteLevelBPETokenizer(str(vocab), str(merges))._tokenizer
        tokenizer.add_special_tokens([*special_tokens])
        return cls(tokenizer)

    def encode_batch(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        return [encoding.ids for encoding in self._encoded(texts, mode)]

    def encode_pair(self, first: str, second: str, mode: Mode = Mode.TEMPLATE) -> list[int]:
        return self._encoded([(first, second)], mode)[0].ids

    def offsets(self, text: str, mode: Mode) -> list[tuple[int, int]]:
        return self._encoded([text], mode)[0].offsets

    def _encoded(
        self, texts: Sequence[str | tuple[str, str]], mode: Mode
    ) -> list[tokenizers.Encoding]:
        with _stops(), _set_for(self._tokenizer, mode):
            return self._tokenizer.encode_batch([*texts], add_special_tokens=mode is Mode.TEMPLATE)

    def decode_batch(self, batch: Sequence[Sequence[int]], skip_special_tokens: bool) -> list[str]:
        """Ids to text; the library skips ids that it does not know."""
        if self._word_end is not None:
            return [self._decode(ids, skip_special_tokens) for ids in batch]
        with _stops():
            return self._tokenizer.decode_batch(
                [list(ids) for ids in batch], skip_special_tokens=skip_special_tokens
            )

    def _decode(self, ids: Sequence[int], skip: bool) -> str:
        """The result of the object's own decode(). ReferenceStopsError if that drops more at the
        end than a file does, which is left out.
        """
        own: str = self._tokenizer.decode([*ids], skip_special_tokens=skip)
        decode = tokenizers.Tokenizer.decode
        text = decode(self._tokenizer, [*ids], skip_special_tokens=skip)
        text = text.replace(self._word_end or "", " ").lstrip()
        if text[len(text.rstrip()) :] not in ("", " "):
            raise ReferenceStopsError(STRIP_NOTE)
        return own

    def token_bytes(self, id: int) -> bytes | None:
        """What a token decodes to between two others; None for parts of characters."""
        token = self._tokenizer.id_to_token(id)
        if token is None:
            return None
        decoder = self._tokenizer.decoder
        if decoder is None:
            return f" {token}".encode()
        if isinstance(decoder, tokenizers.decoders.ByteLevel):
            # A token with a character outside the byte alphabet is used unchanged.
            known = all(character in BYTE_OF for character in token)
            return bytes(BYTE_OF[character] for character in token) if known else token.encode()
        after, filled = self._after, self._decoded(_BEFORE, token, _AFTER)
        if after is None or filled is None:
            return None
        content = filled[len(_BEFORE) : len(filled) - len(after)]
        if "\ufffd" in content or filled != _BEFORE + content + after:
            return None
        return content.encode()

    @cached_property
    def _after(self) -> str | None:
        """What _AFTER becomes after _BEFORE; None if a token between them does not tell its bytes:
        if the decoder adds something around it, or if ByteLevel works on the joined text, which one
        other character leaves unchanged.
        """
        if self._decoded(_BEFORE) != _BEFORE or (nul := self._decoded(_NUL)) is None:
            return None
        if nul == "\0" and _NUL in (self._decoded(_BEFORE, _NUL) or _NUL):
            return None
        joined = self._decoded(_BEFORE, _AFTER)
        return None if joined is None else joined[len(_BEFORE) :]

    def _decoded(self, *tokens: str) -> str | None:
        """What the decoder makes of tokens; None if it stops at them."""
        with suppress(ReferenceStopsError), _stops():
            text: str = self._tokenizer.decoder.decode([*tokens])
            return text
        return None

    def ids(self) -> Sequence[int]:
        return self._ids

    @cached_property
    def _ids(self) -> Sequence[int]:
        # More than the library's vocabulary has, if Unigram lists a piece twice.
        vocabulary = self._tokenizer.get_vocab(with_added_tokens=True)
        last = max([*vocabulary.values(), *self._added()], default=-1)
        return [id for id in range(last + 1) if self._tokenizer.id_to_token(id) is not None]

    def added_tokens(self) -> Sequence[AddedToken]:
        """Numbered by the library, not always as in the file."""
        added = sorted(self._added().items())
        return [AddedToken(id, token.content, token.special) for id, token in added]

    def _added(self) -> dict[int, tokenizers.AddedToken]:
        return self._tokenizer.get_added_tokens_decoder()


@contextmanager
def _set_for(tokenizer: tokenizers.Tokenizer, mode: Mode) -> Iterator[None]:
    """Changes the settings of a tokenizer for one call."""
    truncation, padding = tokenizer.truncation, tokenizer.padding
    as_text, tokenizer.encode_special_tokens = tokenizer.encode_special_tokens, mode is Mode.TEXT
    tokenizer.no_truncation()
    tokenizer.no_padding()
    try:
        yield
    finally:
        tokenizer.encode_special_tokens = as_text
        if truncation is not None:
            tokenizer.enable_truncation(**truncation)
        if padding is not None:
            tokenizer.enable_padding(**padding)


@contextmanager
def _refuses(path: str) -> Iterator[None]:
    """Turns a refusal of the library while loading, or a panic, into a SourceError."""
    try:
        yield
    except BaseException as error:
        # The library raises bare Exception.
        if isinstance(error, Exception) or type(error).__name__ == PANIC:
            raise refusal(path, "tokenizers", tokenizers.__version__, error) from error
        raise


@contextmanager
def _stops() -> Iterator[None]:
    """Turns a panic, or unknown text without an unknown token, into a ReferenceStopsError."""
    try:
        yield
    except BaseException as error:
        lacks_token = any(sentence in str(error) for sentence in NO_UNKNOWN_TOKEN)
        if type(error).__name__ == PANIC or (type(error) is Exception and lacks_token):
            raise ReferenceStopsError(str(error)) from None
        raise
