"""Canonical merges: for each token the one rule that can ever fire.

Run BPE on the first symbols of a token alone. If the result is the token, the pair joined last is
its canonical merge; any other rule for the same token can never fire in any text, because the
token's own symbols would have been joined the canonical way first. So a file needs one rule per
token, whether its source lists merges or bare ranks.

The first symbols of a token follow from the rules, from the shortest token on: any sequence that
becomes ``left``, followed by any that becomes ``right``. Almost always that is one sequence. There
can be several where a symbol is also spelled out, as ``b##`` with a suffix and ``b``, ``#``, ``#``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport._core import Keys, merges_of_contents, ways_of_merges
from tokexport.compiler.merges.first_symbols import FirstSymbols, first_symbols
from tokexport.errors import UnsupportedError
from tokexport.model import BytePairModel, ByteStrings, Vocabulary
from tokexport.model.byte_strings import Numbers, ranges


@dataclass(frozen=True, slots=True)
class Ways:
    """The sequences of first symbols that become a token: way i is
    ``symbols[bounds[i] : bounds[i + 1]]``, and a token has the ``counts[token]`` ways from
    ``firsts[token]`` on.
    """

    firsts: Numbers
    counts: Numbers
    bounds: Numbers
    symbols: Numbers

    def of(self, tokens: Numbers) -> tuple[Numbers, Numbers]:
        """For each way of the given tokens: the index of its token in them, and its number."""
        counts = self.counts[tokens]
        first = self.firsts[tokens].astype(np.int64)
        return np.repeat(np.arange(len(tokens)), counts), ranges(first, counts)

    def __iter__(self) -> Iterator[tuple[int, list[int]]]:
        indices, ways = self.of(np.arange(len(self.firsts)))
        bounds = np.stack([self.bounds[ways], self.bounds[ways + 1]], axis=1).tolist()
        rows = zip(indices.tolist(), bounds, strict=True)
        return ((token, self.symbols[begin:end].tolist()) for token, (begin, end) in rows)


@dataclass(frozen=True, slots=True)
class CanonicalMerges:
    """The rules that can fire, and what follows from them.

    ``rules`` has a row for each merged id: (merged, left, right, rank). ``ways`` has the sequences
    of first symbols that become a token; ``whole`` the tokens that their own spelling becomes.
    """

    first: FirstSymbols
    rules: Numbers
    ways: Ways
    whole: Numbers


def canonical_merges(model: BytePairModel) -> CanonicalMerges:
    """Reduces the merges of a model to those that can fire.

    Raises UnsupportedError where a token can be merged in two ways of different rank.

    >>> vocab = {b"a": 0, b"b": 1, b"ab": 2, b"abb": 3}
    >>> model = BytePairModel(vocab, merges=np.array([[0, 1, 2], [2, 1, 3]]))
    >>> canonical_merges(model).rules.tolist()
    [[2, 0, 1, 0], [3, 2, 1, 1]]
    """
    first, vocab = first_symbols(model), Vocabulary.of(model.vocab)
    if model.merges is None:
        # A content is spelled by its units only: byte tokens and the unknown token do not merge.
        merges, ranks = _by_content(model, vocab)
        symbols = {*first.tables[0].values()}
    else:
        # A pair listed twice has the rank of its last occurrence, as in the reference's map.
        merges, ranks, symbols = model.merges, np.zeros(0, np.uint32), first.every()
    rules, ways = _found_ways(merges, ranks, np.array(sorted(symbols), np.uint32), vocab.ids)
    return CanonicalMerges(first, rules, ways, _whole(vocab, first, ways))


def _whole(vocab: Vocabulary, first: FirstSymbols, ways: Ways) -> Numbers:
    """The tokens for which the symbols of the content are one of the ways."""
    done, found = 0, [np.zeros(0, np.uint32)]
    for part in vocab.strings.parts():
        tokens = vocab.ids[done : done + len(part)]
        found.append(tokens[_are_whole(part, tokens, first, ways)])
        done += len(part)
    return np.concatenate(found)


def _are_whole(contents: ByteStrings, tokens: Numbers, first: FirstSymbols, ways: Ways) -> Numbers:
    """The indexes of the contents whose symbols are one of the ways of their token."""
    begins, ends, symbols = first.of_all(contents)
    indices, way = ways.of(tokens)
    first_symbol = ways.bounds[way].astype(np.int64)
    sizes = ways.bounds[way + 1] - first_symbol
    is_long = (ends - begins)[indices] == sizes
    indices, first_symbol, sizes = indices[is_long], first_symbol[is_long], sizes[is_long]
    same = symbols[ranges(begins[indices], sizes)] == ways.symbols[ranges(first_symbol, sizes)]
    is_same = np.logical_and.reduceat(same, np.cumsum(sizes) - sizes) if len(sizes) else same
    found: Numbers = indices[is_same]
    return found


def _by_content(model: BytePairModel, vocab: Vocabulary) -> tuple[Numbers, Numbers]:
    """The merges of a model that lists none (two tokens that join to a third), and their ranks."""
    keys = Keys(vocab.strings.data, vocab.strings.ends)
    merges = merges_of_contents(keys, vocab.ids).reshape(-1, 3)
    ranks: Numbers = merges[:, 2]
    if model.ranks is not None:
        ranks = np.array([model.ranks[merged] for merged in ranks.tolist()], np.int64)
    return merges, ranks


def _found_ways(
    merges: Numbers, ranks: Numbers, symbols: npt.NDArray[np.uint32], ids: Numbers
) -> tuple[Numbers, Ways]:
    """The rules, and the sequences of ``symbols`` that become a token. ``merges`` are (left, right,
    merged); ``ranks`` is empty where the merges are already in order of rank.
    """
    id_count = 1 + max(int(numbers.max(initial=0)) for numbers in (merges, symbols, ids))
    merges, ranks = (numbers.astype(np.int32, copy=False) for numbers in (merges, ranks))
    found = ways_of_merges(
        merges.reshape(-1).view(np.uint32), ranks.view(np.uint32), symbols, id_count
    )
    if len(found) == 2:
        token, has_too_many = found
        if has_too_many:
            raise UnsupportedError(
                "model.merges",
                f"more than 1,000 sequences of symbols may become the id {token}",
                "use fewer tokens that are both symbols and results of merges",
            )
        problem = f"merges that produce the id {token} from itself are not supported"
        hint = "a merge produces a longer token from two shorter ones"
        raise UnsupportedError("model.merges", problem, hint)
    rows, *ways = (array.view(np.int32) for array in found)
    rules = np.empty((len(rows), 4), np.int32)
    for column, numbers in enumerate((merges[:, 2], merges[:, 0], merges[:, 1], ranks)):
        rules[:, column] = numbers[rows] if len(numbers) else rows
    # If a token has two different last merges, the second one is the last rule found.
    for token, *pair in rules[-1:, :3].tolist():
        others = rules[rules[:, 0] == token, 1:3]
        if (others != pair).any():
            raise UnsupportedError(
                "model.merges",
                f"two merges that can both produce the id {token}, {tuple(others[0].tolist())} and"
                f" {tuple(pair)}, are not supported",
                "each token may have only one merge that can fire",
            )
    return rules, Ways(*ways)
