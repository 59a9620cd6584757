"""Pairs of ASCII characters between which a text may be cut, for streams and threads.

Encoding the two sides of such a pair separately gives the ids of the whole text, whatever the
context. A pair is safe when

- each operation of the normalizer, and each stage up to one that is *hard* there, is *clean* there:
  no match crosses the boundary, a match that ends there also ends there at the end of a text, a
  scan that starts there has no lookbehind and no `\\G`, an unbounded lookahead has the same result
  on the left side as at the end of a text, and nothing is inserted at the ends of a text;
- the hard stage always cuts between the two, so that all later stages see them separately; or all
  stages are clean there, and no token joins the two, so that it does not matter whether they are in
  one pre-token (it does for Unigram in double precision: scores are added, and rounded, from the
  start of a pre-token; sums in single precision go on after a cut);
- no added token can contain the pair, strip white space across it, or test the character on the
  other side.

The two characters are traced through normalization as long as each stays one character, the right
one as itself and as each character that it composes to with marks after it. A pair that cannot be
proved safe is left out: that costs a cut, never an id.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from tokexport.compiler.normalizer import rewriting
from tokexport.compiler.normalizer.rewriting import Op
from tokexport.compiler.tables import Pairs
from tokexport.model import AddedToken, Behavior, NormalForm, SpellBytes, Split
from tokexport.model.byte_alphabet import to_characters
from tokexport.model.normalization.character_map import CharacterMapping
from tokexport.model.normalization.charsmap import CharacterSequences, keys, rules_of
from tokexport.model.normalization.normal_forms import normalization_tables
from tokexport.patterns import MATCH_ENDS, Dialect, LabelTable, SplitProgram, compile_pattern
from tokexport.patterns.dfa import sure_to_match
from tokexport.unicode.store import distinct

ASCII = 128
BYTES = 256
SPACES = [ord(character) for character in "\t\n\v\f\r "]
LOST = -1  # an image that is no longer traced

# What each ASCII character left of the boundary has become, or LOST, shape (128,). Right of it, the
# first row is for the character alone, the others are for what it has composed to, or begins with
# where a match was replaced.
Images = npt.NDArray[np.int64]


def safe_cuts(
    normalizer: Sequence[Op],
    stages: Sequence[tuple[Split, SplitProgram] | tuple[Op, ...]],
    added: Sequence[AddedToken],
    normalized_contents: Sequence[bytes],
    uncrossed: Pairs | None = None,
) -> Pairs:
    """Where a text may be cut, shape (128, 128); ``uncrossed``: what the model never joins."""
    boundary = _Boundary()
    for op in normalizer:
        boundary.pass_op(op)
    boundary.refuse_doubled()
    verbatim = [token.content.encode() for token in added if not token.normalized]
    touched = _touched(verbatim, added)[:ASCII, :ASCII]
    touched |= boundary.seen(_touched(normalized_contents, added))
    cuts = np.zeros((ASCII, ASCII), np.bool_)
    for stage in stages:
        if isinstance(stage[0], Split):
            split, program = stage
            boundary.pass_program(program)
            cuts |= boundary.clean & boundary.at(_hard(split, program), program)
        else:
            for op in stage:
                boundary.pass_op(op)
                if isinstance(op, rewriting.AffixOp) and op.only_first:
                    cuts[:] = False  # at any cut, the right side would become the first
            boundary.refuse_doubled()
    if uncrossed is not None:
        cuts |= boundary.clean & ~boundary.seen(~np.pad(uncrossed, (0, 1)))
    return cuts & ~touched


class _Boundary:
    """The state of the boundary between each pair after some operations and stages."""

    def __init__(self) -> None:
        self.clean: Pairs = np.ones((ASCII, ASCII), np.bool_)
        self._left: Images = np.arange(ASCII)
        self._right: Images = np.arange(ASCII)[None]
        # After a cut, the right side begins with this character once more than in the whole text.
        self._doubled = ""

    def at(self, read: npt.NDArray[np.bool_], program: SplitProgram) -> Pairs:
        """For each pair, the entry in a table by program input; False where an image is lost."""
        # From pairs of program inputs to pairs of input classes, through the label table.
        classes = read if program.labels is None else _before_labels(program.labels, read)
        # A program over bytes reads more than one for a character that is not ASCII.
        end = ASCII if len(program.classes) == BYTES else len(program.classes)
        left, right = (np.where(images < end, images, LOST) for images in (self._left, self._right))
        held = classes[program.classes[left]][:, program.classes[right]].all(axis=1)
        pairs: Pairs = held & (left != LOST)[:, None] & (right != LOST).all(axis=0)
        return pairs

    def seen(self, pairs: Pairs) -> Pairs:
        """For each pair, the entry in a table by ASCII pair, with a last row and column for other
        characters; True where an image is lost.
        """
        left, right = np.minimum(self._left, ASCII), np.minimum(self._right, ASCII)
        found = pairs[left][:, right].any(axis=1)
        seen: Pairs = found | (left == LOST)[:, None] | (right == LOST).any(axis=0)
        return seen

    def pass_program(self, program: SplitProgram) -> None:
        """A scan over the text: no match may cross the boundary."""
        self.clean &= self.at(_clean(program), program)

    def refuse_doubled(self) -> None:
        self.clean &= not self._doubled
        self._doubled = ""

    def pass_op(self, op: Op) -> None:
        if not (isinstance(op, rewriting.ReplaceOp) and _squeezes(op, self._doubled)):
            self.refuse_doubled()
        self._doubled = ""
        match op:
            case NormalForm():
                # Normalization never composes two ASCII characters.
                self._become(np.arange(ASCII), _composites(op))
            case CharacterMapping():
                self._map(op.apply)
            case rewriting.ReplaceOp(program, content):
                self.pass_program(program)
                if program.may_be_empty:
                    self.clean[:] = False  # each side may get the content at the boundary
                # A match that contains the left character ends with it, as none crosses; one that
                # contains the right character begins with it.
                left = _replaced(self._left, program, content[-1:])
                self._left = np.where(left == self._left, left, LOST)
                if content or _accepts(program)[:, : program.n_classes].any():
                    right = _replaced(self._right, program, content[:1])
                    self._right = _each_once(np.concatenate([self._right, right]))
                # Else a match that contains the right character is the whole right side.
            case rewriting.CharsmapOp():
                self._pass_charsmap(op)
            case SpellBytes():
                self._map(lambda character: to_characters(character.encode()))
            case rewriting.AffixOp(content, append, unless_present, only_first):
                # After a cut, the right side gets the content too, unless it starts with it.
                has = self._right == (ord(content) if len(content) == 1 else LOST - 1)
                self.clean &= has.all(axis=0) & (not append and not only_first)
                self._doubled = "" if unless_present else content

    def _pass_charsmap(self, op: rewriting.CharsmapOp) -> None:
        if op.clusters is None:
            last, firsts, crossed = _edges_of_sequences(op)
            self.clean &= ~self.seen(crossed)
        else:
            self.pass_program(op.clusters)
            last, firsts = _edges_of_clusters(op.sequences, op.clusters)
        self._become(last, firsts)

    def _become(self, last: Images, firsts: Images) -> None:
        """Each ASCII character becomes a text that ends with the one in ``last`` and begins with
        one of those in ``firsts``, shape (n, ASCII); other characters are not traced.
        """
        left, right = (
            np.where(images < ASCII, images, LOST) for images in (self._left, self._right)
        )
        self._left = np.where(left == LOST, LOST, last[left])
        first = np.where(right == LOST, LOST, firsts[:, right])
        self._right = _each_once(first.reshape(-1, ASCII))

    def _map(self, apply: Callable[[str], str]) -> None:
        self._left = _image(self._left, lambda character: apply(character)[-1:])
        self._right = _image(self._right, lambda character: apply(character)[:1])


def _replaced(images: Images, program: SplitProgram, character: str) -> Images:
    """What becomes of characters in a match of a program: a character of the content, or LOST."""
    stays = (images == LOST) | _unmatched(program)[program.classes[images]]
    return np.where(stays, images, ord(character) if character else LOST)


def _image(images: Images, apply: Callable[[str], str]) -> Images:
    each, where = np.unique(images, return_inverse=True)
    texts = [apply(chr(c)) if c >= 0 else "" for c in each]
    mapped = np.array([ord(text) if text else LOST for text in texts], np.int64)
    return mapped[where].reshape(images.shape)


def _squeezes(op: rewriting.ReplaceOp, character: str) -> bool:
    """Whether an operation replaces each run of two or more of a character by a single one."""
    if op.content != character or len(character) != 1:
        return False
    runs = compile_pattern(re.escape(character) + "{2,}", Dialect.ONIGURUMA)
    # All of a program without labels and without \G.
    arrays = attrgetter("transitions", "starts", "classes.starts", "classes.values")
    return all(map(np.array_equal, arrays(op.program), arrays(runs)))


def _edges_of_sequences(op: rewriting.CharsmapOp) -> tuple[Images, Images, Pairs]:
    """The same as ``_edges_of_clusters`` for a charsmap of longest sequences; and the pairs of
    characters that are in one, as ``_touched`` returns them.
    """
    texts = {text.encode(): text.encode() for text in op.protected}
    rules = rules_of(op.sequences)
    last, first = ([{c} for c in range(ASCII)] for _ in range(2))
    for rule in rules:
        if len(rule) == 1 and rule.isascii() and rule not in texts:
            last[rule[0]].clear()
            first[rule[0]].clear()
    for text, becomes in itertools.chain(rules.items(), texts.items()):
        for sides, at, image in ((last, text[-1], becomes[-1:]), (first, text[0], becomes[:1])):
            if at < ASCII:
                sides[at].add(image[0] if image and image.isascii() else LOST)
    left = [min(images) if len(images) == 1 else LOST for images in last]
    return np.array(left), _padded([*map(sorted, first)]), _touched([*rules, *texts], ())


def _edges_of_clusters(
    sequences: CharacterSequences, clusters: SplitProgram
) -> tuple[Images, Images]:
    """What a charsmap of grapheme clusters makes of ASCII characters beside a boundary: the last
    character of what one becomes, LOST if its cluster may become a text; and the first one, by
    itself and in each sequence that it begins, shape (n, ASCII).

    A sequence replaces the cluster that it begins, with all that follows in it.
    """
    last = np.arange(ASCII)
    first = [{c} for c in range(ASCII)]
    joins = _joins(clusters)
    in_clusters = np.zeros(ASCII, np.bool_)
    lead_bytes = [*range(ASCII), *(character.encode()[0] for character in joins)]
    for texts, places in keys(sequences.units):
        for row in np.flatnonzero(np.isin(texts[:, 0], lead_bytes)).tolist():
            character = texts[row].tobytes().decode()[0]
            if character in joins:
                in_clusters |= joins[character]
            if character.isascii():
                content = sequences.replacement(int(places[row])).decode()
                if texts.shape[1] == 1:
                    last[ord(character)] = ord(content[-1]) if content else LOST
                    first[ord(character)].clear()
                first[ord(character)].add(ord(content[0]) if content else LOST)
    last[in_clusters] = LOST
    return last, _padded([*map(sorted, first)])


def _joins(clusters: SplitProgram) -> dict[str, npt.NDArray[np.bool_]]:
    """With which ASCII characters each character that can begin a cluster with one does, (128,)."""
    after = _targets(clusters)[clusters.starts[0]]
    ascii_classes = clusters.classes[np.arange(ASCII)]
    joins = (after != 0)[:, None] & (_targets(clusters)[after][:, ascii_classes] != 0)
    firsts = np.flatnonzero(clusters.classes.array(joins.any(axis=1)))
    return {chr(first): joins[clusters.classes[first]] for first in firsts.tolist()}


def _composites(form: NormalForm) -> Images:
    """By ASCII character: itself, and what it composes to with marks after it."""
    tables = normalization_tables(form)
    found = [[c] for c in range(ASCII)]
    for composite in sorted({*tables.compositions.values()}):
        first = tables.decompositions[composite][0]
        if first < ASCII:
            found[first].append(composite)
    return _padded(found)


def _padded(found: list[list[int]]) -> Images:
    """By character, what it may become; padded with the first."""
    longest = max(map(len, found))
    padded: Images = np.array([each + each[:1] * (longest - len(each)) for each in found]).T
    return padded


def _each_once(images: Images) -> Images:
    """The images of each character, each of them once: without that, their number would grow
    exponentially with that of operations. The first stays the first.
    """
    return _padded([[*dict.fromkeys(column)] for column in images.T.tolist()])


def _targets(program: SplitProgram) -> npt.NDArray[np.uint16]:
    targets: npt.NDArray[np.uint16] = program.transitions & np.uint16(MATCH_ENDS - 1)
    return targets


def _accepts(program: SplitProgram) -> npt.NDArray[np.bool_]:
    accepts: npt.NDArray[np.bool_] = (program.transitions & np.uint16(MATCH_ENDS)) != 0
    return accepts


def _clean(program: SplitProgram) -> npt.NDArray[np.bool_]:
    """By left and right input: no match crosses, and neither side depends on the other."""
    targets, accepts = _targets(program), _accepts(program)
    end = program.n_classes
    clean = np.zeros((end, end), np.bool_)
    # On its own, the right side begins with a search; in the whole text it may start earlier.
    searched = program.starts if program.search_starts is None else program.search_starts
    alone = program.transitions[searched[end], :end]
    for left in range(end):
        after = distinct(targets[:, left])
        after = after[after != 0]
        dead = (targets[after, :end] == 0).all(axis=0)
        same_end = (accepts[after, :end] == accepts[after, end:]).all(axis=0)
        starts = program.transitions[[program.starts[left], searched[left]], :end]
        clean[left] = dead & same_end & (starts == alone).all(axis=0)
    return clean


def _hard(split: Split, program: SplitProgram) -> npt.NDArray[np.bool_]:
    """By left and right input: whether the stage, where it is clean, cuts between the two."""
    targets = _targets(program)
    end = program.n_classes
    start = int(program.starts[end])
    if (program.starts != start).any() or program.search_starts is not None:
        return np.zeros((end, end), np.bool_)
    # matched: a scan that starts on this class finds a match; unmatched: no match contains it.
    first = targets[start, :end]
    matched = sure_to_match(targets, _accepts(program))[first]
    unmatched = (targets[:, :end] == 0).all(axis=0)
    if split.behavior in (Behavior.ISOLATED, Behavior.REMOVED):
        pairs = matched[:, None] | matched[None, :]
    elif split.behavior is Behavior.CONTIGUOUS:
        pairs = matched[:, None] & unmatched[None, :] | unmatched[:, None] & matched[None, :]
    elif split.invert:
        pairs = np.zeros((end, end), np.bool_)
    else:
        is_next = split.behavior is Behavior.MERGED_WITH_NEXT
        pairs = np.broadcast_to(matched[None, :] if is_next else matched[:, None], (end, end))
    return pairs


def _unmatched(program: SplitProgram) -> npt.NDArray[np.bool_]:
    """The classes whose symbols are never in a match, shape (n_classes,)."""
    unread: npt.NDArray[np.bool_] = (_targets(program)[:, : program.n_classes] == 0).all(axis=0)
    return unread if program.labels is None else np.all(unread[program.labels.labels], axis=0)


def _before_labels(table: LabelTable, pairs: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """From pairs of labels to pairs of inputs of the label table.

    Each symbol has several labels, and all must be in ``pairs``. The left symbol, which is read
    second, must get the same label as at the end of a text, and lead to the same state: then all
    labels before it are those of the left side alone.
    """
    n_symbols = table.next.shape[1]
    found = np.zeros((n_symbols, n_symbols), np.bool_)
    for right in range(n_symbols):
        states = distinct(table.next[:, right])
        same = (table.next[states] == table.next[0]) & (table.labels[states] == table.labels[0])
        held = pairs[table.labels[0]][:, distinct(table.labels[:, right])]
        found[:, right] = same.all(axis=0) & held.all(axis=1)
    return found


def _touched(contents: Sequence[bytes], added: Sequence[AddedToken]) -> Pairs:
    """By ASCII pair; the last row and column are for other characters."""
    touched = np.zeros((ASCII + 1, ASCII + 1), np.bool_)
    for content in contents:
        for left, right in itertools.pairwise(content):
            touched[min(left, ASCII), min(right, ASCII)] = True
    for token in added:
        if token.lstrip:
            touched[[*SPACES, ASCII], :] = True
        if token.rstrip:
            touched[:, [*SPACES, ASCII]] = True
    if any(token.single_word for token in added):
        for content in filter(None, contents):
            touched[min(content[-1], ASCII), :] = True
            touched[:, min(content[0], ASCII)] = True
    return touched
