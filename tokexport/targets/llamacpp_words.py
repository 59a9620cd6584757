"""WordPiece in llama.cpp: words between spaces and punctuation, by the longest tokens in turn."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from tokexport.sources.gguf.source import GgufTokenizer
from tokexport.targets.longest_first import added_tokens, encode_between

_WORD: Final = "\u2581"  # begins a token that begins a word
_SPACES: Final = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    + "".join(map(chr, range(0x2000, 0x200B)))
)
# Controls are dropped, except unassigned code points.
_DROPPED: Final = frozenset(("Cc", "Cf", "Co", "Cs"))
_IDEOGRAPHS: Final = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
)


class WordRuntime:
    """What llama.cpp does with a GGUF whose ``tokenizer.ggml.model`` is ``bert``. Its tables are
    those of Unicode 15, the ones used here are Python's.
    """

    finds_special_tokens = True

    def __init__(self, source: GgufTokenizer) -> None:
        self._source = source
        self._ids = {token: id for id, token in enumerate(source.tokens)}
        self._longest = max(map(len, source.tokens))
        unknown = source.number("unknown_token_id")
        self._unknown = 100 if unknown is None else unknown  # BERT's
        self._lowercase = source.flag("normalizer.lowercase", True)
        self._strips = source.flag("normalizer.strip_accents", self._lowercase)
        self._groups = added_tokens(source)

    def encode(self, text: str) -> list[int]:
        return encode_between(self._groups, self._ids, self._encode, text)

    def _encode(self, text: str) -> list[int]:
        return [id for word in self._words(text) for id in self._tokens(word)]

    def decode(self, ids: Sequence[int]) -> bytes:
        return "".join(self._source.tokens[id].replace(_WORD, " ") for id in ids).encode()

    def _words(self, text: str) -> Iterator[str]:
        word = ""
        for own in text:
            # Of a decomposed character, only the first code point is kept.
            character = unicodedata.normalize("NFD", own)[0] if self._strips else own
            category = unicodedata.category(character)
            is_space = character in _SPACES
            is_mark = self._strips and category[0] == "M"
            if not is_space and (is_mark or character in "\0\ufffd" or category in _DROPPED):
                continue
            is_sign = category[0] == "P" or (category[0] == "S" and character < "\x7f")
            is_alone = is_sign or _IDEOGRAPHS.match(character)
            written = character.lower()[0] if self._lowercase else character
            if not is_space and not is_alone:
                word += written
                continue
            if word:
                yield word
            if not is_space:
                yield written
            word = ""
        if word:
            yield word

    def _tokens(self, word: str) -> list[int]:
        """The longest tokens from the left; only the unknown id if one position has no token."""
        text, at, ids = _WORD + word, 0, []
        while at < len(text):
            ends = range(min(len(text), at + self._longest), at, -1)
            end = next((end for end in ends if text[at:end] in self._ids), None)
            if end is None:
                return [self._unknown]
            ids.append(self._ids[text[at:end]])
            at = end
        return ids
