"""A ``.model`` of minbpe (https://github.com/karpathy/minbpe): pattern, special tokens, merges.

Its lines are ``minbpe v1``, the pattern (empty for its BasicTokenizer), the number of special
tokens, a line for each of these with its id, then a line for each merge of two ids; the first merge
makes the id 256. It becomes the equivalent tokenizer.json, so that the reference is `tokenizers`.
"""

import re
from typing import Any, Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.limits import MAX_IDS, MAX_TOKEN_BYTES, check_count
from tokexport.model.byte_alphabet import to_characters
from tokexport.sources.files import lines_of
from tokexport.sources.json_node import Node, line_of, show
from tokexport.sources.source import Input, Source
from tokexport.sources.tokenizer_json import document, references
from tokexport.sources.tokenizer_json.read import read_tokenizer_json

_MAGIC: Final = b"minbpe v1"
_NUMBER: Final = re.compile("[0-9]{1,9}")


def minbpe_document(data: bytes, file: str) -> dict[str, Any]:
    """The tokenizer.json for ``data``; SourceError, with the line, if it is not minbpe's.

    >>> minbpe_document(b"minbpe v1\\n\\n0\\n97 98\\n", "x.model")["model"]["merges"]
    [['a', 'b']]
    """
    texts = enumerate(lines_of(data, file), 1)
    lines = [line_of(file, number, text.strip()) for number, text in texts]
    if len(lines) < 3:
        raise SourceError("it ends before line 3", "expected one more line", name=file)
    pattern, count, rest = lines[1].value, lines[2], lines[3:]
    if not _NUMBER.fullmatch(count.value) or int(count.value) > len(rest):
        count.fail("the number of special tokens, which follow")
    special: dict[str, int] = {}
    for line in rest[: int(count.value)]:
        content, _, number = line.value.partition(" ")
        if not content or not _NUMBER.fullmatch(number) or content in special:
            line.fail("a distinct special token, a space and its id")
        special[content] = int(number)
    tokens = [bytes((byte,)) for byte in range(256)]
    merges: list[list[str]] = []
    for line in rest[len(special) :]:
        numbers = line.value.split()
        ids = [*map(int, numbers)] if all(map(_NUMBER.fullmatch, numbers)) else []
        if len(ids) != 2 or max(ids) >= len(tokens):
            line.fail(f"two ids under {len(tokens)}, which earlier merges produce")
        left, right = (tokens[id] for id in ids)
        # Checked here, because each line may double the size of the longest token.
        size = len(left) + len(right)
        check_count(line.path, size, "bytes in one token", MAX_TOKEN_BYTES)
        merges.append([to_characters(left), to_characters(right)])
        tokens.append(left + right)
    vocab = {to_characters(token): number for number, token in enumerate(tokens)}
    if len(vocab) < len(tokens):
        problem = "two merges that produce the same bytes are not supported"
        raise UnsupportedError(file, problem, "each token must have bytes of its own")
    return _document(file, pattern, special, vocab, merges)


def _document(
    file: str, pattern: str, special: dict[str, int], vocab: dict[str, int], merges: list[list[str]]
) -> dict[str, Any]:
    number_of = dict(sorted(special.items(), key=lambda item: item[1]))
    for content, number in number_of.items():
        place = Node(file, f"special_tokens[{show(content)}]", number)
        if not len(vocab) <= number < MAX_IDS:
            problem = f"the id {number} is {'taken' if number < len(vocab) else 'too large'}"
            place.unsupported(problem, f"use ids from {len(vocab)} to {MAX_IDS - 1}")
        if content in vocab:
            place.unsupported(f"{show(content)} is also an ordinary token", "use another text")
        longer = [other for other in special if other != content and other.startswith(content)]
        if longer:
            problem = f"{show(longer[0])} begins with {show(content)}"
            place.unsupported(problem, "remove one of the two: minbpe finds the one listed first")
    return document.tokenizer_document(
        added_tokens=document.special_tokens(special),
        pre_tokenizer=document.sequence(
            document.split(pattern, "Removed", invert=True), document.byte_level(False)
        )
        if pattern
        else document.byte_level(False),
        decoder=document.byte_level(False),
        # In the vocabulary a special token keeps its id from the file.
        model={"type": "BPE", "vocab": vocab | number_of, "merges": merges},
    )


def _sniff(source: Input) -> Node | None:
    if not source.head.startswith(_MAGIC):
        return None
    return Node(source.name, "", minbpe_document(source.data, source.name))


SOURCE = Source(
    "minbpe model",
    _sniff,
    lambda source, root: read_tokenizer_json(root, source.files, "minbpe model"),
    lambda source, root: references().from_document(root.value, str(source.path)),
    under_any_name=True,
)
