r"""How far the automaton reads for nothing: past the last match end, or where nothing matches.

``[a-z]+!|[a-z]`` reads a whole word to match one letter, and reads the rest of it again for the
next one: quadratic, unless the runtime remembers where a state led to nothing. ``\s*[\r\n]+|\s+``
reads the spaces after a line feed for nothing too, but the next match takes them.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport.patterns.dfa import DEAD, Automaton, sure_to_match
from tokexport.unicode.store import distinct

MAX_PAIRS: Final = 1 << 17  # of states, that are followed: under a second


def states_to_remember(automaton: Automaton, may_be_empty: bool = False) -> npt.NDArray[np.bool_]:
    """The states that can be passed through without bound while no match ends, if two starts can do
    so over the same text.

    Where two never can, no character is read more than a constant number of times, and there is
    nothing to remember. ``may_be_empty``: a match that holds nothing leaves what was read to the
    next start, so the states are remembered whatever the starts do.

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
    # What is on cycles, or on ways between them.
    unbounded = _after_cycles(silent) & _after_cycles(silent.T)
    if not unbounded.any() or not (may_be_empty or _two_starts_overrun(automaton, unbounded)):
        return np.zeros(n_states, dtype=np.bool_)
    return unbounded


def _after_cycles(edges: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The nodes on cycles and those that they lead to: what is left after each node to which
    nothing leads has been taken away, again and again.
    """
    degrees: npt.NDArray[np.int64] = edges.sum(axis=0)
    queue = np.flatnonzero(degrees == 0).tolist()
    for node in queue:
        degrees -= edges[node]
        queue += np.flatnonzero(edges[node] & (degrees == 0)).tolist()
    return degrees > 0


def _two_starts_overrun(automaton: Automaton, unbounded: npt.NDArray[np.bool_]) -> bool:
    """Whether two runs, one started while the other was reading, can loop without a match end.

    All pairs of states (of the older run, of the younger) that can be met are followed, over every
    symbol. Where they are too many the answer is yes: remembering needlessly costs only memory.
    """
    sure = sure_to_match(automaton.next, automaton.ends)
    following, ends = automaton.next.tolist(), automaton.ends.tolist()
    n_symbols = len(following[0])
    pairs = {
        (int(older), int(younger))
        for older in np.flatnonzero(unbounded)
        for younger in distinct(automaton.starts)
    }
    queue = sorted(pairs)
    together: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for older, younger in queue:
        together[older, younger] = set()
        for symbol in range(n_symbols):
            pair = following[older][symbol], following[younger][symbol]
            if ends[older][symbol] or DEAD in pair or not unbounded[pair[0]]:
                continue
            if not (ends[younger][symbol] or sure[pair[1]]):
                together[older, younger].add(pair)
            if pair not in pairs:
                if len(pairs) == MAX_PAIRS:
                    return True
                pairs.add(pair)
                queue.append(pair)
    # As in _after_cycles: without a cycle each pair is taken away.
    degrees = Counter(pair for targets in together.values() for pair in targets)
    queue = [pair for pair in together if not degrees[pair]]
    for taken in queue:
        degrees.subtract(together[taken])
        queue += [pair for pair in together[taken] if not degrees[pair]]
    return len(queue) < len(together)
