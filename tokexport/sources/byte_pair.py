"""The BPE model of a vocabulary of strings and a list of merges, for all sources that have both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tokexport.errors import SourceError, UnsupportedError
from tokexport.limits import MAX_IDS
from tokexport.model import BytePairModel, CharacterSymbols
from tokexport.sources.json_node import Node, show

_PLAIN: Final = CharacterSymbols()


class Merge(NamedTuple):
    """One merge as the source spells it, and its number there (an index, or a line)."""

    left: str
    right: str
    number: int


def read_vocab(node: Node) -> dict[str, int]:
    """The vocabulary at ``node``: an object of ids by string. Of a string that stands twice, the
    last id counts, as in the reference.

    Raises SourceError for a value that is no id, UnsupportedError for two strings with one id or
    for an id that a file cannot hold.
    """
    vocab: dict[str, int] = node.object(repeats=True)
    ids = set(vocab.values())
    are_ids = set(map(type, ids)) <= {int} and 0 <= min(ids, default=0) <= max(ids, default=0)
    if are_ids and max(ids, default=0) < MAX_IDS and len(ids) == len(vocab):
        return vocab
    owners: dict[int, str] = {}
    for token, number in vocab.items():
        if type(number) is not int or not 0 <= number < MAX_IDS:
            entry = Node(node.file, f"{node.path}[{show(token)}]", number)
            entry.u32()
            entry.unsupported(f"ids are supported up to {MAX_IDS - 1}")
        other = owners.setdefault(number, token)
        if other is not token:
            raise UnsupportedError(
                node.path or node.file,
                f"one id, {number}, for two tokens, {show(other)} and {show(token)}, is not"
                " supported",
                "the reference decodes it to either of them by chance; give each token an id of"
                " its own",
            )
    return vocab


def split_merge(line: str, number: int, file: str, place: str) -> Merge:
    """The merge in a line: two tokens and one space. ``place``, "line {}", is for ``number``."""
    parts = line.split(" ")
    if len(parts) != 2:
        raise SourceError(
            f"{file}: {place.format(number)} is {show(line)}; a merge is two tokens with one space"
            " between them"
        )
    return Merge(parts[0], parts[1], number)


def build(
    file: str,
    vocab: Mapping[str, int],
    pairs: Sequence[Sequence[str]],
    numbers: Sequence[int],
    *,
    whole_pre_token_first: bool = False,
    unk_id: int | None = None,
    unknown_stops: bool = False,
    fuse_unk: bool = False,
    characters: CharacterSymbols = _PLAIN,
) -> BytePairModel:
    """The model, over the vocabulary's characters. ``numbers`` say where in the source each of the
    pairs stands that merge. SourceError for a merge of other tokens.
    """
    keys = {token.encode(): number for token, number in vocab.items() if token}
    size = len(characters.prefix)
    joined = [_joined(left, right, size) if size else left + right for left, right in pairs]
    products = [None if text is None else vocab.get(text) for text in joined]
    merges = [
        (vocab[left], vocab[right], product)
        for (left, right), product in zip(pairs, products, strict=True)
        if left in vocab and right in vocab and product is not None
    ]
    if len(merges) < len(pairs):
        number, (left, right), missing = next(
            (number, pair, next((one for one in (*pair, product) if one not in vocab), None))
            for number, pair, product in zip(numbers, pairs, joined, strict=True)
            if not vocab.keys() >= {*pair, product}
        )
        raise SourceError(
            f"{file}: model.merges[{number}] is {show(left)} {show(right)}, and the token"
            f" {show(missing or left + right)} is not in the vocabulary; these merges do not"
            " belong to this vocabulary"
        )
    if "" in vocab:
        merges = [merge for merge in merges if vocab[""] not in merge[:2]]
    return BytePairModel(
        vocab=keys,
        # A pair that stands twice keeps its last rank, as in the reference's map from pairs to
        # ranks.
        merges=tuple(reversed(dict.fromkeys(reversed(merges)))),
        whole_pre_token_first=whole_pre_token_first,
        unk_id=unk_id,
        unknown_stops=unknown_stops,
        fuse_unk=fuse_unk,
        characters=characters,
    )


def _joined(left: str, right: str, prefix_size: int) -> str | None:
    """What two tokens make: the right one without its first ``prefix_size`` bytes, be they the
    prefix or not, as the reference does it. None where that is no text.
    """
    data = right.encode()
    try:
        return left + data[prefix_size:].decode() if len(data) >= prefix_size else None
    except UnicodeDecodeError:
        return None
