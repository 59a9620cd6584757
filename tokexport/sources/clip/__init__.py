"""CLIP's vocabulary: OpenAI's bpe_simple_vocab_16e6.txt.gz, or its vocab.json and merges.txt.

It becomes the tokenizer.json of CLIP (``CLIPTokenizerFast``), so that the reference is
`tokenizers`. The other steps of OpenAI's ``simple_tokenizer.py`` (ftfy, HTML) are left out.
"""

import io
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from tokexport.errors import SourceError
from tokexport.model import TokenizerModel
from tokexport.model.byte_alphabet import CHARACTERS
from tokexport.sources.byte_pair import split_merge
from tokexport.sources.files import decoded
from tokexport.sources.json_node import Node, line_of
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import Input, Source
from tokexport.sources.tokenizer_json import document, references
from tokexport.sources.tokenizer_json.read import read_tokenizer_json

# A vocabulary and its merges.
Pair: TypeAlias = tuple[Mapping[str, int], Sequence[Sequence[str]]]

_GZIP: Final = b"\x1f\x8b"
END_OF_WORD: Final = "</w>"
START: Final = "<|startoftext|>"
END: Final = "<|endoftext|>"
# simple_tokenizer.py uses a fifth of the file: 49,152 tokens minus bytes and special tokens.
_MERGES: Final = 49152 - 256 - 2
_LONGEST: Final = 1 << 26  # bytes of the text; the published file has 3 million
_PATTERN: Final = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)


def published_vocabulary(data: bytes, file: str) -> tuple[dict[str, int], list[list[str]]]:
    """The vocabulary and the merges of a bpe_simple_vocab_16e6.txt.gz, as its code builds them."""
    import gzip  # only here, as other sources do not need it

    try:
        with gzip.open(io.BytesIO(data)) as archive:
            text = archive.read(_LONGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"the gzip file is damaged: {error}", name=file) from None
    first, *others = text.split(b"\n")
    if len(text) > _LONGEST or b"bpe_simple_vocab" not in first or len(others) < _MERGES:
        problem = "this gzip file is not CLIP's bpe_simple_vocab_16e6.txt.gz"
        raise SourceError(problem, "if it holds another tokenizer, decompress it first", name=file)
    published = enumerate(decoded(b"\n".join(others[:_MERGES]), file).split("\n"), 2)
    merges = [split_merge(line_of(file, number, line)) for number, line in published]
    alphabet = sorted(CHARACTERS, key=lambda character: (ord(character) > 0xFF, ord(character)))
    ends = (character + END_OF_WORD for character in alphabet)
    tokens = [*alphabet, *ends, *map("".join, merges), START, END]
    return {token: number for number, token in enumerate(tokens)}, merges


def is_clip(vocab: Mapping[str, int]) -> bool:
    """Whether a vocab.json has every byte at the end of a word, and CLIP's special tokens."""
    ends = (character + END_OF_WORD for character in CHARACTERS)
    return all(token in vocab for token in (START, END, *ends))


def clip_document(vocab: Mapping[str, int], merges: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The tokenizer.json for a vocabulary that has CLIP's special tokens."""
    return document.tokenizer_document(
        added_tokens=document.special_tokens({START: vocab[START], END: vocab[END]}),
        normalizer={
            "type": "Sequence",
            "normalizers": [
                {"type": "NFC"},
                {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
                {"type": "Lowercase"},
            ],
        },
        pre_tokenizer=document.sequence(
            document.split(_PATTERN, "Removed", invert=True), document.byte_level(True)
        ),
        post_processor={
            "type": "RobertaProcessing",
            "sep": [END, vocab[END]],
            "cls": [START, vocab[START]],
            "trim_offsets": False,
            "add_prefix_space": False,
        },
        decoder=document.byte_level(True),
        model=document.byte_pair_model(
            vocab, merges, unk_token=END, end_of_word_suffix=END_OF_WORD
        ),
    )


def read_clip(source: Input, pair: Pair) -> TokenizerModel:
    root = Node(source.name, "", clip_document(*pair))
    return read_tokenizer_json(root, source.files, "vocabulary of CLIP")


def reference_of_clip(source: Input, pair: Pair) -> ReferenceTokenizer:
    """The class of `transformers`, made of the same vocabulary; else our own document."""
    try:
        from transformers import CLIPTokenizer
    except ImportError:
        return references().from_document(clip_document(*pair), str(source.path))
    vocab, merges = pair
    pairs: Any = [tuple(merge) for merge in merges]
    made = CLIPTokenizer(vocab=dict(vocab), merges=pairs)
    # Saved, as its decode() does more than that of the tokenizer.json.
    return references().from_text(made.backend_tokenizer.to_str(), str(source.path))


SOURCE = Source(
    "vocabulary of CLIP",
    lambda source: (
        published_vocabulary(source.data, source.name) if source.head[:2] == _GZIP else None
    ),
    read_clip,
    reference_of_clip,
    files=("bpe_simple_vocab_*.txt.gz", "bpe_simple_vocab_*.txt"),
    equivalent=lambda source, pair: clip_document(*pair),
)
