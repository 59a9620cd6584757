r"""Wasted reading by the automaton: past the last match end, or where nothing matches.

``[a-z]+!|[a-z]`` reads a whole word to match one letter, then the remaining letters again for the
next one: quadratic, unless the runtime remembers where a state led to nothing. ``\s*[\r\n]+|\s+``
also reads the spaces after a line feed in vain, but the next match takes them.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from tokexport.patterns.dfa import DEAD, Automaton, sure_to_match
from tokexport.unicode.store import distinct

Node = TypeVar("Node")

MAX_PAIRS: Final = 1 << 17  # pairs of states to examine: under a second


def states_to_remember(automaton: Automaton, may_be_empty: bool = False) -> npt.NDArray[np.bool_]:
    """The states through which a run can pass without bound while no match ends, if two starts can
    do so over the same text.

    If two never can, each character is read at most a constant number of times, and there is
    nothing to remember. ``may_be_empty``: after an empty match the next start reads the same text
    again, so the states are remembered whatever the starts do.

    >>> from tokexport.patterns.dfa import determinise, minimise
    >>> from tokexport.patterns.fancy import parse
    >>> from tokexport.patterns.nfa import nfa_of
    >>> for pattern in ("a+!|a", "a+!|a+"):
    ...     automaton = determinise(nfa_of(parse(pattern)), np.arange(128))
    ...     print(states_to_remember(minimise(automaton)).sum())
    1
    0
    """
    n_states = len(automaton.next)
    silent = np.zeros((n_states, n_states), dtype=np.bool_)
    states, symbols = np.nonzero(~automaton.ends & (automaton.next != DEAD))
    silent[states, automaton.next[states, symbols]] = True
    silent[sure_to_match(automaton.next, automaton.ends)] = False
    after, before = (
        _after_cycles({state: set(np.flatnonzero(row).tolist()) for state, row in enumerate(edges)})
        for edges in (silent, silent.T)
    )
    found = after & before  # the states on cycles, or on paths between cycles
    unbounded = np.zeros(n_states, dtype=np.bool_)
    if found and (may_be_empty or _two_starts_overrun(automaton, found)):
        unbounded[[*found]] = True
    return unbounded


def _after_cycles(edges: Mapping[Node, set[Node]]) -> set[Node]:
    """The nodes on cycles and all reachable from them, by removing nodes that no edge leads to."""
    degrees = Counter(target for targets in edges.values() for target in targets)
    queue = [node for node in edges if not degrees[node]]
    for node in queue:
        degrees.subtract(edges[node])
        queue += [target for target in edges[node] if not degrees[target]]
    return edges.keys() - queue


def _two_starts_overrun(automaton: Automaton, unbounded: set[int]) -> bool:
    """Whether two runs, one started while the other is reading, can loop without a match end.

    Explores all reachable pairs of states (older run, younger run), over every symbol. If there are
    too many, the answer is yes: remembering needlessly costs only memory.
    """
    sure = sure_to_match(automaton.next, automaton.ends)
    following, ends = automaton.next.tolist(), automaton.ends.tolist()
    n_symbols = len(following[0])
    starts = distinct(automaton.starts).tolist()
    pairs = {(older, younger) for older in unbounded for younger in starts}
    queue = sorted(pairs)
    together: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for older, younger in queue:
        together[older, younger] = set()
        for symbol in range(n_symbols):
            pair = following[older][symbol], following[younger][symbol]
            if ends[older][symbol] or DEAD in pair or pair[0] not in unbounded:
                continue
            if not (ends[younger][symbol] or sure[pair[1]]):
                together[older, younger].add(pair)
            if pair not in pairs:
                if len(pairs) == MAX_PAIRS:
                    return True
                pairs.add(pair)
                queue.append(pair)
    return bool(_after_cycles(together))
