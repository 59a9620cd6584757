"""Models other than BPE as tables: a trie over the vocabulary, and a few numbers.

The trie is a double array (J. Aoe, "An Efficient Digital Search Algorithm by Using a Double-Array
Structure", 1989): one memory access per step. Every node with children has a *base* of its own. The
child for byte c is unit base + c and carries c as its label. As no two nodes share a base, a unit
with label c at index p can only be a child of the node with base p - c: comparing the label is
enough. A leaf has base 0.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport import _core
from tokexport.compiler.tables import TrieTables, numbers_of
from tokexport.limits import MAX_IDS, MAX_TOKEN_BYTES, check_count
from tokexport.model import GreedyModel, UnigramModel, Vocabulary, WordLevelModel, WordPieceModel

TrieModel = UnigramModel | WordPieceModel | WordLevelModel | GreedyModel

NO_TOKEN: Final = MAX_IDS
LABEL: Final = 0x1FF  # the bits of a unit
_MAX_CHARACTERS: Final = 0xFFFFFFFF  # more than a text can have


def trie_tables(model: TrieModel) -> TrieTables:
    """Compiles a model. UnsupportedError for a key that is too long."""
    vocab = Vocabulary.of(model.vocab)
    sizes = vocab.strings.sizes
    longest = int(sizes.max(initial=0))
    if longest:
        noun = f"bytes in one token (id {vocab.ids[sizes.argmax()]})"
        check_count("model.vocab", longest, noun, MAX_TOKEN_BYTES)
    trie = double_array(vocab)
    match model:
        case UnigramModel():
            return TrieTables(
                *trie,
                longest,
                unknown_score=model.unk_score,
                single_precision=model.single_precision,
                byte_ids=None if model.byte_ids is None else numbers_of(model.byte_ids),
            )
        case WordPieceModel():
            return TrieTables(
                *trie,
                longest,
                continuation=base_of(*trie, model.prefix),
                max_characters=min(model.max_characters, _MAX_CHARACTERS),
            )
        case _:
            return TrieTables(*trie, longest)


def double_array(vocab: Mapping[bytes, int]) -> tuple[npt.NDArray[np.uint64], int]:
    """The units of a vocabulary's trie, without the empty key, and the base of its root.

    >>> units, root = double_array({b"a": 7, b"ab": 8})
    >>> divmod(int(units[root + ord("a")]) & 0xFFFFFFFF, 512), base_of(units, root, b"b")
    ((7, 97), 0)
    """
    keys = Vocabulary.of(vocab).without_empty
    strings = keys.strings
    return _core.double_array(strings.data, strings.ends, keys.ids, NO_TOKEN)


def base_of(units: npt.NDArray[np.uint64], root: int, key: bytes) -> int:
    """The base of the node that a key leads to; 0 if no longer key begins with it."""
    base = root
    for byte in key:
        unit = int(units[base + byte])
        if unit & LABEL != byte:
            return 0
        base = unit >> 32
    return base
