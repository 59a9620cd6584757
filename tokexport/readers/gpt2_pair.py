"""GPT-2's pair of files: vocab.json (ids by token) and merges.txt, also named encoder.json and vocab.bpe.

The pair says nothing of the pattern: it is GPT-2's, as in the encoder.py that it comes from and in
``ByteLevelBPETokenizer`` of ``tokenizers``, which is the reference. It has no special tokens of its own: they can be
given, and an added_tokens.json beside it names added ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import (
    AddedToken,
    Provenance,
    Reference,
    Split,
    Token,
    TokenizerModel,
    TokenKind,
)
from tokexport.readers.added_tokens_json import ADDED_TOKENS, read_added_tokens_json
from tokexport.readers.byte_alphabet import CHARACTERS, decoded
from tokexport.readers.byte_pair import Merge, build, read_vocab, split_merge
from tokexport.readers.huggingface_added_tokens import add_tokens
from tokexport.readers.huggingface_config import read_config, read_roles
from tokexport.readers.huggingface_normalizer import Normalizer
from tokexport.readers.huggingface_pre_tokenizer import GPT2_PATTERN
from tokexport.readers.json_node import Node, show
from tokexport.readers.source_files import SourceFiles

# The names that go together: the vocabulary's and the merges'.
PAIRS: Final = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"), ("vocab.json", "vocab.bpe"))
_END_OF_WORD: Final = "</w>"
_PLACE: Final = "line {}"


def sibling(name: str, files: SourceFiles) -> tuple[str, str]:
    """The names of the vocabulary and of the merges, of which ``name`` is one; SourceError where the other is not
    there.
    """
    for pair in PAIRS:
        if name in pair and all(files.has(other) for other in pair):
            return pair
    others = sorted({other for pair in PAIRS if name in pair for other in pair} - {name})
    raise SourceError(
        f"{name}: it is one of a pair, and {' or '.join(others) or 'vocab.json with merges.txt'} is not beside it"
    )


def read_pair(
    vocab_node: Node, merges: bytes, merges_name: str, files: SourceFiles, special_tokens: Mapping[str, int] | None
) -> TokenizerModel:
    """The model of a parsed vocab.json and the bytes of a merges.txt. UnsupportedError where the vocabulary is not
    GPT-2's kind of bytes.
    """
    vocab = read_vocab(vocab_node)
    _check_byte_level(vocab_node.file, vocab)
    model = build(merges_name, vocab, parse_merges(merges, merges_name), _PLACE)
    declared = pair_added_tokens(files, special_tokens)
    where = ADDED_TOKENS if special_tokens is None else "special_tokens"
    places = [(token, Node(where, f"{where}[{show(token.content)}]", token.id)) for token in declared]
    added = add_tokens(places, vocab, Normalizer())
    spelling = {number: token for token, number in vocab.items()} | dict(added.spelling)
    tokens: list[Token | None] = [None] * (max(spelling) + 1)
    in_vocab = set(vocab.values())
    for number, text in spelling.items():
        kind = TokenKind.MODEL if number in in_vocab else TokenKind.ADDED
        tokens[number] = Token(decoded(text), kind, special=text in added.special)
    roles = read_roles(files, read_config(files), vocab | {token.content: token.id for token in added.tokens}, tokens)
    notes = [*added.notes, *roles.notes]
    if special_tokens is not None and files.has(ADDED_TOKENS):
        notes.append(f"{ADDED_TOKENS} is left out, since special_tokens are given.")
    if not declared:
        notes.append(
            f"{vocab_node.file} names no special tokens, so the converted file has none; give them as special_tokens."
        )
    return TokenizerModel(
        tokens=tuple(tokens),
        model=model,
        reference=Reference.TOKENIZERS,
        provenance=Provenance("vocab.json + merges.txt", dict(sorted(files.sha256.items()))),
        splits=(Split(GPT2_PATTERN, path="GPT-2's pattern"),),
        added_tokens=added.tokens,
        special_ids=roles.special_ids,
        chat_template=roles.chat_template,
        notes=tuple(notes),
    )


def pair_added_tokens(files: SourceFiles, special_tokens: Mapping[str, int] | None) -> list[AddedToken]:
    """The tokens that are added to a pair, by rising id: ``special_tokens``, or else those of an added_tokens.json."""
    if special_tokens is None:
        return read_added_tokens_json(files)
    tokens = [AddedToken(number, content, special=True) for content, number in special_tokens.items()]
    return sorted(tokens, key=lambda token: token.id)


def _check_byte_level(file: str, vocab: Mapping[str, int]) -> None:
    missing = [byte for byte, character in enumerate(CHARACTERS) if character not in vocab]
    if missing:
        raise UnsupportedError(
            file,
            f"a vocabulary without a token for {len(missing)} of the 256 bytes, 0x{missing[0]:02x} first,",
            "byte-level BPE is supported, as GPT-2 has it; give the tokenizer.json where there is one",
        )
    if all(character + _END_OF_WORD in vocab for character in CHARACTERS):
        raise UnsupportedError(
            file,
            f"a vocabulary of tokens that end words with {_END_OF_WORD} (CLIP's)",
            "byte-level BPE is supported without a suffix",
        )


def parse_merges(data: bytes, file: str) -> list[Merge]:
    """The merges in the bytes of a merges.txt; SourceError, with the line, for one that is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(f"{file}: byte {error.start} is not UTF-8") from None
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [
        split_merge(line.removesuffix("\r"), number, file, _PLACE)
        for number, line in enumerate(lines, 1)
        if not line.startswith("#version")
    ]
