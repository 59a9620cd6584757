"""What the ``post_processor`` of a tokenizer.json does to offsets: it may take white space off
them.

The reference does not look at the text for that but at the names of tokens, as the vocabulary
spells them; a space is also U+0120 there, GPT-2's letter for it. Source: ``process_offsets`` of
``tokenizers``' byte_level.rs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tokexport.model import AddedToken, Token, Trimming, UnigramModel
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.model import HuggingFaceModel
from tokexport.sources.tokenizer_json.parts import PROCESSORS, flat, processor_type
from tokexport.unicode.byte_alphabet import CHARACTERS

# White_Space of Unicode, which Rust's char::is_whitespace is, and the letter for a space.
_RANGES: Final = (
    (0x9, 0xD),
    (0x20, 0x20),
    (0x85, 0x85),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
)
_MORE: Final = ((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000))
_SPACES: Final = CHARACTERS[0x20] + "".join(
    chr(code_point) for first, last in (*_RANGES, *_MORE) for code_point in range(first, last + 1)
)


def read_trimming(
    root: Node,
    huggingface: HuggingFaceModel,
    tokens: Sequence[Token | None],
    added: Sequence[AddedToken],
) -> Trimming | None:
    """The trimming of the tokenizer.json ``root``, whose post-processor has been read; None where
    offsets cannot be told.

    ``tokens`` and ``added`` are those that the model gets.
    """
    passes: list[bool] = []
    first_is_moved = False
    for processor in flat(root.optional("post_processor"), PROCESSORS):
        kind = processor_type(processor)
        if kind in ("ByteLevel", "RobertaProcessing") and processor.field("trim_offsets").boolean():
            if first_is_moved:
                return (
                    None  # whether a token is the first of its text depends on add_special_tokens
                )
            passes.append(processor.field("add_prefix_space").boolean())
        first_is_moved |= kind in ("BertProcessing", "RobertaProcessing")
    if not passes:
        return Trimming()
    if isinstance(huggingface.model, UnigramModel):
        return None  # there the name of an unknown token is its text
    if _has_mapped_edges(root, added):
        return None
    return Trimming(tuple(passes), _exceptions(huggingface.vocab, tokens))


def _exceptions(
    vocab: Mapping[str, int], tokens: Sequence[Token | None]
) -> dict[int, tuple[int, int]]:
    exceptions = {}
    for name, number in vocab.items():
        token = tokens[number]
        content = token.content if token is not None else b""
        counts = len(name) - len(name.lstrip(_SPACES)), len(name) - len(name.rstrip(_SPACES))
        if counts != (
            len(content) - len(content.lstrip(b" ")),
            len(content) - len(content.rstrip(b" ")),
        ):
            exceptions[number] = counts
    return exceptions


def _has_mapped_edges(root: Node, added: Sequence[AddedToken]) -> bool:
    """Whether a ByteLevel normalizer turns white space at the end of an added token into letters
    that are none.
    """
    steps = flat(root.optional("normalizer"), "normalizers")
    if not any(step.field("type").string() == "ByteLevel" for step in steps):
        return False
    contents = [token.content.replace(" ", "_") for token in added if token.normalized]
    return any(content != content.strip(_SPACES) for content in contents)
