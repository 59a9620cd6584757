"""How the ``post_processor`` of a tokenizer.json trims white space from offsets.

The reference counts the white space in the names of tokens, as the vocabulary spells them, not in
the text; U+0120, GPT-2's letter for a space, counts too. See ``process_offsets`` in byte_level.rs.
"""

from collections.abc import Sequence
from typing import Final

from tokexport.model import AddedToken, Token, Trimming, UnigramModel
from tokexport.sources.byte_pair import Names
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.model import HuggingFaceModel
from tokexport.sources.tokenizer_json.parts import PROCESSORS, flat, processor_type
from tokexport.unicode.byte_alphabet import CHARACTERS

# White_Space of Unicode, which is Rust's char::is_whitespace, and the letter for a space.
_SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000" + CHARACTERS[0x20]
)


def read_trimming(
    root: Node,
    huggingface: HuggingFaceModel,
    tokens: Sequence[Token | None],
    added: Sequence[AddedToken],
) -> Trimming | None:
    """The trimming of the tokenizer.json ``root``; None if offsets cannot be computed."""
    passes: list[bool] = []
    first_is_moved = False
    for processor in flat(root.optional("post_processor"), PROCESSORS):
        kind = processor_type(processor)
        if kind in ("ByteLevel", "RobertaProcessing") and processor.field("trim_offsets").boolean():
            if first_is_moved:
                return None  # the first token of a text depends on add_special_tokens
            passes.append(processor.field("add_prefix_space").boolean())
        first_is_moved |= kind in ("BertProcessing", "RobertaProcessing")
    if not passes:
        return Trimming()
    # In a Unigram model the name of an unknown token is its text.
    if isinstance(huggingface.model, UnigramModel) or _has_mapped_edges(root, added):
        return None
    return Trimming(tuple(passes), _exceptions(huggingface.vocab, tokens))


def _exceptions(names: Names, tokens: Sequence[Token | None]) -> dict[int, tuple[int, int]]:
    exceptions = {}
    for name, number in zip(names, names.vocabulary.ids.tolist(), strict=True):
        token = tokens[number]
        content = "" if token is None else token.content.decode("latin-1")
        counts = _edges(name, _SPACES)
        if counts != _edges(content, " "):
            exceptions[number] = counts
    return exceptions


def _edges(text: str, spaces: str) -> tuple[int, int]:
    """The number of leading and of trailing characters of a text that are in ``spaces``."""
    return len(text) - len(text.lstrip(spaces)), len(text) - len(text.rstrip(spaces))


def _has_mapped_edges(root: Node, added: Sequence[AddedToken]) -> bool:
    """Whether a ByteLevel normalizer turns white space at an end of an added token into letters."""
    steps = flat(root.optional("normalizer"), "normalizers")
    if not any(step.field("type").string() == "ByteLevel" for step in steps):
        return False
    contents = [token.content.replace(" ", "_") for token in added if token.normalized]
    return any(content != content.strip(_SPACES) for content in contents)
