"""A vocabulary of strings and a list of merges, for all sources with both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt

from tokexport._core import Keys, merges_of_array, merges_of_strings, strings_and_numbers
from tokexport.errors import UnsupportedError
from tokexport.limits import MAX_IDS, check_id
from tokexport.model import ByteStrings, Vocabulary
from tokexport.sources.json_node import LongValue, Node, show

_PAIR: Final = "a pair of strings"
_MISSING: Final = -1  # what merges_of_strings returns for a missing token


@dataclass(frozen=True, slots=True)
class Names(Mapping[str, int]):
    """A vocabulary as a source spells it, in columns: ``index`` finds its strings."""

    vocabulary: Vocabulary
    index: Keys

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Names:
        return cls(vocabulary, Keys(vocabulary.strings.data, vocabulary.strings.ends))

    def __getitem__(self, name: str) -> int:
        place = self.index.place(name.encode())
        if place is None:
            raise KeyError(name)
        return int(self.vocabulary.ids[place])

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __iter__(self) -> Iterator[str]:
        return map(bytes.decode, self.vocabulary)


def read_names(node: Node) -> Names:
    """The same as :func:`read_vocab`, but in columns; a LongValue is never parsed into objects."""
    if isinstance(value := node.value, LongValue) and not value.is_array:
        data, ends, ids = strings_and_numbers(value.document, value.begin)
        value.release()
        names = Names.of(Vocabulary(ByteStrings(data, ends), ids))
        is_plain = ids.max() < MAX_IDS and np.bincount(ids).max() == 1
        if is_plain and (names.index.firsts() == np.arange(len(ids))).all():
            return names
        node = replace(node, value=value.objects)
    vocab = read_vocab(node)
    return Names.of(Vocabulary.of({name.encode(): number for name, number in vocab.items()}))


def read_vocab(node: Node) -> dict[str, int]:
    """The vocabulary at ``node``, ids by string. Of a string that occurs twice, the last id counts.

    Raises SourceError for a value that is not an id, UnsupportedError for two strings with the same
    id or for an id that a file cannot hold.
    """
    vocab: dict[str, int] = node.object(repeats=True)
    are_numbers = {*map(type, vocab.values())} <= {int}
    ids = {*vocab.values()} if are_numbers else {-1}
    if len(ids) == len(vocab) and 0 <= min(ids, default=0) <= max(ids, default=0) < MAX_IDS:
        return vocab
    owners: dict[int, str] = {}
    for token, number in vocab.items():
        if type(number) is not int or not 0 <= number < MAX_IDS:
            entry = Node(node.file, f"{node.path}[{show(token)}]", number)
            check_id(entry.path, entry.u32())
        other = owners.setdefault(number, token)
        if other is not token:
            problem = f"the id {number} stands for two tokens, {show(other)} and {show(token)}"
            hint = "the reference decodes it to either, by chance; give each token its own id"
            raise UnsupportedError(node.path or node.file, problem, hint)
    return vocab


def split_merge(line: Node) -> list[str]:
    """The two tokens of a merge in one string."""
    pair: list[str] = line.value.split(" ")
    return pair if len(pair) == 2 else line.fail("a merge: two tokens with one space between them")


def refuse_merge(merge: Node, pair: Sequence[str], missing: str) -> NoReturn:
    merge.broken(
        f"is {' '.join(map(show, pair))}, and the token {show(missing)} is not in the vocabulary",
        "these merges do not belong to this vocabulary",
    )


def read_merges(node: Node, names: Names, prefix_size: int) -> npt.NDArray[np.int32]:
    """The ids of the merges at ``node``, whose right tokens begin with a prefix of this size.

    Raises SourceError for an entry that is not a merge, and for a merge of unknown tokens.
    """
    merges = _found(node, names, prefix_size)
    if "" in names:
        merges = merges[(merges[:, :2] != names[""]).all(axis=1)]
    return _last_of_each_pair(merges)


def _found(node: Node, names: Names, prefix_size: int) -> npt.NDArray[np.int32]:
    keys, ids = names.index, names.vocabulary.ids
    if isinstance(array := node.value, LongValue):
        found = merges_of_array(keys, ids, array.document, array.begin, prefix_size)
        array.release()
        if found.min() >= 0:
            return found.reshape(-1, 3)
        node = replace(node, value=array.objects)
    spelled, numbers = _spelled(node)
    merges = merges_of_strings(keys, ids, spelled, prefix_size).reshape(-1, 3)
    for row in np.flatnonzero((merges < 0).any(axis=1))[:1].tolist():
        _refuse(node.element(numbers[row]), merges[row].tolist(), prefix_size)
    return merges


def _spelled(node: Node) -> tuple[list[Any], Sequence[int]]:
    """The merges, all of them pairs or all of them strings with one space, and their numbers."""
    values: list[Any] = node.value
    if not isinstance(values, list):
        node.fail("an array of merges")
    kinds = [*map(type, values)]
    if kinds.count(str) == len(kinds):
        # Lines of a merges.txt, possibly with its header, which has no rank.
        numbers = [n for n, line in enumerate(values) if not line.startswith("#version")]
        return [values[number] for number in numbers], numbers
    if str in kinds:
        node.element(kinds.index(str)).fail(f"{_PAIR}, like the other merges")
    return values, range(len(values))


def _refuse(merge: Node, ids: list[int], prefix_size: int) -> NoReturn:
    """Raises the SourceError of an invalid merge, or of a merge with missing tokens."""
    if isinstance(merge.value, str):
        left, right = split_merge(merge)
    elif min(ids) < _MISSING:
        merge.fail(_PAIR)
    else:
        left, right = merge.value
    joined = left + right.encode()[prefix_size:].decode(errors="replace")
    refuse_merge(merge, (left, right), (left, right, joined)[ids.index(_MISSING)])


def _last_of_each_pair(merges: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """A pair that occurs twice keeps its last rank, as in the reference's map of ranks."""
    pairs = np.sort(merges[:, 0].astype(np.int64) * MAX_IDS + merges[:, 1])
    if (pairs[1:] != pairs[:-1]).all():
        return merges
    _, from_end = np.unique(merges[::-1, :2], axis=0, return_index=True)
    return merges[np.sort(len(merges) - 1 - from_end)]
