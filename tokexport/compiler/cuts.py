"""Places where a text may be cut: pairs of ASCII characters between which nothing is ever joined.

Encoding the two sides of such a pair apart gives the ids of the whole, whatever stands around it. Streams and threads cut there. A pair is
safe when

- every stage is *clean* there: no match runs across, a match that ends there ends there at the end of text as well, a scan that starts
  there does not look back, and what looks far ahead learns on the left side what it learns at the end of text, whatever stands behind the
  right character; and some stage is *hard* there: it always puts a boundary between the two;
- no added token can hold the pair, strip white space across it, or ask what kind of character stands on its other side.

Normalization never joins two ASCII characters. What cannot be shown here is left out: that costs a cut, never an id.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tokexport.compiler.regex import SplitProgram
from tokexport.layout import ACCEPT
from tokexport.model import AddedToken, Behavior, Split

ASCII = 128
SPACES = [ord(character) for character in "\t\n\v\f\r "]

Pairs = npt.NDArray[np.bool_]  # (128, 128): row = left character, column = right character


def safe_cuts(
    stages: Sequence[tuple[Split, SplitProgram]],
    added: Sequence[AddedToken],
    normalized_contents: Sequence[bytes],
    add_prefix_space: bool,
) -> Pairs:
    """The pairs between which a text may be cut, shape (128, 128)."""
    clean = np.ones((ASCII, ASCII), np.bool_)
    hard = np.zeros((ASCII, ASCII), np.bool_)
    for split, program in stages:
        clean &= _clean(program)
        hard |= _hard(split, program)
    cuts = clean & hard & ~_touched(added, normalized_contents)
    if add_prefix_space:
        # The right side would get a space of its own, unless it starts with one.
        cuts[:, [right for right in range(ASCII) if right != ord(" ")]] = False
    return cuts


def pack_cuts(cuts: Pairs) -> bytes:
    """The CUTS section: 16 bytes a row, lowest bit first."""
    return np.packbits(cuts, axis=1, bitorder="little").tobytes()


def _targets(program: SplitProgram) -> npt.NDArray[np.uint16]:
    targets: npt.NDArray[np.uint16] = program.transitions & np.uint16(ACCEPT - 1)
    return targets


def _accepts(program: SplitProgram) -> npt.NDArray[np.bool_]:
    accepts: npt.NDArray[np.bool_] = (program.transitions & np.uint16(ACCEPT)) != 0
    return accepts


def _clean(program: SplitProgram) -> Pairs:
    targets, accepts = _targets(program), _accepts(program)
    end = program.n_classes
    pairs = np.zeros((program.n_classes, program.n_classes), np.bool_)
    for left in range(program.n_classes):
        if program.starts[left] != program.starts[end]:
            continue
        after = np.unique(targets[:, left])
        after = after[after != 0]
        dead = (targets[after, :end] == 0).all(axis=0)
        same_end = (accepts[after, :end] == accepts[after, end:]).all(axis=0)
        pairs[left] = dead & same_end
    return _of_characters(program, pairs)


def _hard(split: Split, program: SplitProgram) -> Pairs:
    targets = _targets(program)
    end = program.n_classes
    start = int(program.starts[end])
    if (program.starts != start).any():
        return np.zeros((ASCII, ASCII), np.bool_)
    # matched: a scan that starts on this class finds a match; unmatched: no match ever holds it.
    first = targets[start, :end]
    matched = _sure(program)[first]
    unmatched = (targets[:, :end] == 0).all(axis=0)
    if split.behavior in (Behavior.ISOLATED, Behavior.REMOVED):
        pairs = matched[:, None] | matched[None, :]
    elif split.behavior is Behavior.CONTIGUOUS:
        pairs = matched[:, None] & unmatched[None, :] | unmatched[:, None] & matched[None, :]
    else:
        pairs = np.zeros((end, end), np.bool_)
    return _of_characters(program, pairs)


def _of_characters(program: SplitProgram, pairs: npt.NDArray[np.bool_]) -> Pairs:
    """The pairs of ASCII characters of which all pairs of what the program reads are in ``pairs``.

    With a labelling a character has several labels. A left one must get the label that it gets at the end of text, and leave the labelling
    in the same state: then all labels before it are those of the left side alone.
    """
    classes = program.classes[:ASCII].astype(np.int64)
    labelling = program.labelling
    if labelling is None:
        return pairs[classes][:, classes]
    n_classes = labelling.next.shape[1]
    by_class = np.zeros((n_classes, n_classes), np.bool_)
    for right in range(n_classes):
        states = np.unique(labelling.next[:, right])
        same = (labelling.next[states] == labelling.next[0]) & (labelling.labels[states] == labelling.labels[0])
        held = pairs[labelling.labels[0]][:, np.unique(labelling.labels[:, right])]
        by_class[:, right] = same.all(axis=0) & held.all(axis=1)
    of_characters: Pairs = by_class[classes][:, classes]
    return of_characters


def _sure(program: SplitProgram) -> npt.NDArray[np.bool_]:
    """The states from which a match ends whatever follows, shape (n_states,): at once, or in a state that is sure."""
    targets, accepts = _targets(program), _accepts(program)
    sure: npt.NDArray[np.bool_] = accepts[:, program.n_classes].copy()
    sure[0] = False
    while True:
        still: npt.NDArray[np.bool_] = sure & (accepts | sure[targets])[:, : program.n_classes].all(axis=1)
        if (still == sure).all():
            return still
        sure = still


def _touched(added: Sequence[AddedToken], normalized_contents: Sequence[bytes]) -> Pairs:
    touched = np.zeros((ASCII, ASCII), np.bool_)
    for content in [*(token.content.encode() for token in added), *normalized_contents]:
        for left, right in itertools.pairwise(content):
            if left < ASCII and right < ASCII:
                touched[left, right] = True
    for token in added:
        if token.lstrip:
            touched[SPACES, :] = True
        if token.rstrip:
            touched[:, SPACES] = True
        if token.single_word:
            content = token.content.encode()
            touched[content[-1] & 0x7F, :] = True
            touched[:, content[0] & 0x7F] = True
    return touched
