"""A vocabulary of strings and a list of merges become the BPE model; tokenizer.json and merges.txt
share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tokexport.errors import NotBytesError, SourceError, UnsupportedError
from tokexport.limits import MAX_IDS
from tokexport.model import BytePairModel, CharacterSymbols
from tokexport.sources.json_node import Node, show
from tokexport.unicode.byte_alphabet import BYTES_OF_TEXT, CHARACTERS, to_bytes, to_characters


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
                f"one id, {number}, for two tokens, {show(other)} and {show(token)}, is not supported",
                "the reference decodes it to either of them by chance; give each token an id of"
                " its own",
            )
    return vocab


def split_merge(line: str, number: int, file: str, place: str) -> Merge:
    """The merge in a line of text: two tokens with one space between them. ``place`` is a format
    for ``number``: ``line {}``.
    """
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
    merges: Iterable[Merge],
    place: str,
    *,
    whole_pre_token_first: bool = False,
    unk_id: int | None = None,
    unknown_stops: bool = False,
    fuse_unk: bool = False,
    characters: CharacterSymbols | None = None,
) -> BytePairModel:
    """The model. Its vocabulary and merges keep what text can reach: over GPT-2's alphabet, another
    string never comes up.

    ``place`` is a format for the number of a merge, for errors: ``model.merges[{}]``.
    Raises SourceError for a merge of tokens that are not in ``vocab``, as the reference does.
    """
    of_bytes = characters is None or characters.of_bytes
    spelled = to_bytes if of_bytes else str.encode
    keys = {
        data: number
        for token, number in vocab.items()
        if token and (data := spelled(token)) is not None
    }
    reachable = set(keys.values())
    # A byte without a token becomes the unknown token, which merges like any other.
    unknown_merges = of_bytes and unk_id is not None and lacks_bytes(vocab)
    # The library counts bytes of UTF-8.
    prefix_size = 0
    if characters is not None:
        prefix_size = len(
            to_characters(characters.prefix).encode() if of_bytes else characters.prefix
        )
    # A pair that stands twice keeps its last rank, as in the reference's map from pairs to ranks.
    ranked: dict[tuple[int, int], int] = {}
    for left, right, number in merges:
        product = _joined(left, right, prefix_size) if prefix_size else left + right
        if left not in vocab or right not in vocab or product is None or product not in vocab:
            missing = (
                left
                if left not in vocab
                else right
                if right not in vocab
                else product or left + right
            )
            raise SourceError(
                f"{file}: {place.format(number)} is {show(left)} {show(right)}, and the token"
                f" {show(missing)} is not in the vocabulary; these merges do not belong to this"
                " vocabulary"
            )
        pair = vocab[left], vocab[right]
        if unknown_merges and unk_id in pair:
            raise NotBytesError(
                place.format(number),
                f"a merge of the unk_token, {show([left, right])}, is not supported",
                "it may not merge",
            )
        if pair[0] in reachable and pair[1] in reachable:
            ranked.pop(pair, None)
            ranked[pair] = vocab[product]
    return BytePairModel(
        vocab=keys,
        merges=tuple((left, right, result) for (left, right), result in ranked.items()),
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


def lacks_bytes(vocab: Mapping[str, int]) -> bool:
    """Whether a byte that text can hold has no token of its own, so that the unknown token matters."""
    return any(CHARACTERS[byte] not in vocab for byte in BYTES_OF_TEXT)
