"""A ``.model`` of minbpe (https://github.com/karpathy/minbpe): a pattern, special tokens, and
merges by pairs of ids.

Its lines are ``minbpe v1``, the pattern (empty for its BasicTokenizer), the number of special
tokens, one of these a line with its id, then a merge a line; the first one makes the id 256. It
becomes the tokenizer.json that says the same, so that the reference is `tokenizers`: minbpe itself
merges the same pairs in the same order.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from tokexport.errors import SourceError, UnsupportedError
from tokexport.limits import MAX_IDS
from tokexport.model import TokenizerModel
from tokexport.sources.files import lines_of
from tokexport.sources.json_node import Node, show
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import Given, Input, Source, always
from tokexport.sources.tokenizer_json import document
from tokexport.sources.tokenizer_json.read import read_tokenizer_json
from tokexport.unicode.byte_alphabet import to_characters

_MAGIC: Final = b"minbpe v1"


def minbpe_document(data: bytes, file: str) -> dict[str, Any]:
    """The tokenizer.json for the file ``file`` with the bytes ``data``; SourceError, with the line,
    where it is none of minbpe's.

    >>> minbpe_document(b"minbpe v1\\n\\n0\\n97 98\\n", "x.model")["model"]["merges"]
    [['a', 'b']]
    """
    lines = lines_of(data, file)
    pattern = lines[1].strip() if len(lines) > 1 else ""
    number_of_special = _line(lines, 2, file).strip()
    if not number_of_special.isdecimal() or len(number_of_special) > 9:
        _fail(lines, 2, file, "the number of special tokens")
    count = int(number_of_special)
    special: dict[str, int] = {}
    for index in range(3, 3 + count):
        content, _, number = _line(lines, index, file).strip().partition(" ")
        if not content or not number.isdecimal() or content in special:
            _fail(lines, index, file, "a special token of its own, a space and its id")
        special[content] = int(number)
    tokens = [bytes((byte,)) for byte in range(256)]
    merges: list[list[str]] = []
    for index in range(3 + count, len(lines)):
        parts = lines[index].split()
        known = (part.isdecimal() and int(part) < len(tokens) for part in parts)
        if len(parts) != 2 or not all(known):
            made = f"two ids under {len(tokens)}, which the merges before it make"
            _fail(lines, index, file, made)
        left, right = (tokens[int(part)] for part in parts)
        merges.append([to_characters(left), to_characters(right)])
        tokens.append(left + right)
    vocab = {to_characters(token): number for number, token in enumerate(tokens)}
    if len(vocab) < len(tokens):
        raise UnsupportedError(
            file,
            "two merges that make the same bytes is not supported",
            "each token must have bytes of its own",
        )
    return _document(file, pattern, special, vocab, merges)


def _document(
    file: str, pattern: str, special: dict[str, int], vocab: dict[str, int], merges: list[list[str]]
) -> dict[str, Any]:
    number_of = dict(sorted(special.items(), key=lambda item: item[1]))
    for content, number in number_of.items():
        if not len(merges) + 256 <= number < MAX_IDS or vocab.get(content, number) != number:
            raise UnsupportedError(
                file,
                f"the special token {show(content)} with the id {number} is not supported",
                f"it needs an id from {len(vocab)} on",
            )
        longer = [other for other in special if other != content and other.startswith(content)]
        if longer:
            raise UnsupportedError(
                file,
                f"the special token {show(content)}, with which {show(longer[0])} begins, is not"
                " supported",
                "minbpe takes either by their order",
            )
    return document.tokenizer_document(
        added_tokens=[
            document.added_token(number, content, special=True)
            for content, number in number_of.items()
        ],
        pre_tokenizer=document.sequence(
            document.split(pattern, "Removed", invert=True), document.byte_level(False)
        )
        if pattern
        else document.byte_level(False),
        decoder=document.byte_level(False),
        # In the vocabulary a special token keeps the id that the file gives it.
        model={"type": "BPE", "vocab": vocab | number_of, "merges": merges},
    )


def _line(lines: list[str], index: int, file: str) -> str:
    return lines[index] if index < len(lines) else _fail(lines, index, file, "one more line")


def _fail(lines: list[str], index: int, file: str, expected: str) -> NoReturn:
    found = show(lines[index]) if index < len(lines) else "the end of the file"
    raise SourceError(f"{file}: line {index + 1} is {found}; expected {expected}")


def _sniff(source: Input) -> bytes | None:
    return source.data if source.head.startswith(_MAGIC) else None


def _read(source: Input, data: bytes, given: Given) -> TokenizerModel:
    root = Node(source.name, "", minbpe_document(data, source.name))
    return read_tokenizer_json(root, source.files, "minbpe model")


def _reference(source: Input, data: bytes, given: Given) -> ReferenceTokenizer:
    from tokexport.sources.tokenizer_json.reference import TokenizersReference

    made = minbpe_document(data, source.name)
    return TokenizersReference.from_document(made, str(source.path))


SOURCE = Source("minbpe model", _sniff, _read, _reference, under_any_name=always)
