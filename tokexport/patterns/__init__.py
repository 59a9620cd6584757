r"""From a pre-tokenizer's regular expression to a table that splits text.

A backtracking engine tries alternatives in order and goes back where one fails. The table here does
neither: it is a deterministic automaton, run once over the text, and it still gives the match that
the engine would take.

**Leftmost-first.** The threads of a pattern are kept in the order in which an engine would try
them. Where one has matched, those after it are cut, as the engine would never come to them. In
``a|ab`` the first alternative cuts the second, so the ``b`` is never read:

>>> program = compile_pattern("a|ab", Dialect.ONIGURUMA)
>>> spans(program, "ab")
['a']

**A match ends on a transition.** Whether ``\s+(?!\S)`` ends after a space depends on the next
character, so the automaton decides when it reads that one: the transition says "a match ends before
this symbol". The symbol is a class of characters (here 0 is not white space, 1 is), or that the
text ends. A start state at each place, run as long as the automaton lives; the last end that was
met is the match:

>>> program = compile_pattern(r"\s+(?!\S)|\S+", Dialect.ONIGURUMA)
>>> program.read("a  b"), program.n_classes
([0, 1, 1, 0], 2)
>>> spans(program, "a  b  ")  # the last space before a b is in no match
['a', ' ', 'b', '  ']
>>> for row in program.transitions.tolist():  # by state; class 0, class 1, end of text; * is an end
...     print([f"{target % MATCH_ENDS}{'*' * (target >= MATCH_ENDS)}" for target in row])
['0', '0', '0']
['2', '3', '0']
['2*', '0*', '0*']
['0', '3*', '0*']

State 0 is dead and 1 is the start; in 2 a word is being read, in 3 white space. Before a class 0,
state 3 dies without an end (``0``): the space before a word does not match.

**Lookaround.** What asks about one character on either side costs nothing: the automaton knows the
next one, and where it matters states remember the last. A lookahead over more, as in digits in
groups of three from the right, reads the text once more, from its end: a second automaton gives
each symbol a *label*, which is its class and whether the lookahead matches there, and the first
automaton reads labels in place of classes.

>>> program = compile_pattern(r"\d{1,3}(?=(?:\d{3})*\b)", Dialect.ONIGURUMA)
>>> spans(program, "1234567")
['1', '234', '567']
>>> program.labels.next.shape  # states and classes of the automaton that labels
(4, 3)

**Where a search begins.** ``\G`` holds where the last match ended. Such a pattern has a second row
of start states for those places:

>>> spans(compile_pattern(r"\A\d{3}|\G\d{3}", Dialect.ONIGURUMA), "1234567 890")
['123', '456']

**What it costs.** Compiling takes milliseconds, or a second with large counted repeats. A table has
at most 4,096 states and 254 classes; that of GPT-4's pattern has 17 states and 11 classes. Text is
read in linear time: where an automaton may read far past a match end again and again, as in
``[a-z]+!|[a-z]``, it says which states to remember (:attr:`SplitProgram.n_memo`).

**When it refuses.** What cannot be such a table, and what no published tokenizer needs, raises
:class:`PatternError` with the offset. There is no approximation.

>>> try:
...     compile_pattern(r"a(?<=ba)", Dialect.ONIGURUMA)
... except PatternError as error:
...     print(f"{error.found} at offset {error.offset}")
a lookbehind over more than one character at offset 1

The way of a pattern, a module each: ``oniguruma`` or ``fancy`` parse it (``parser`` is what they
share, ``casefold`` and the ``_set`` modules what they ask) into a ``tree``; ``backreferences``,
``lookaround`` and ``search_start`` write what is not regular in terms of what is; ``nfa`` makes the
threads, ``classes`` the alphabet, ``dfa`` the automaton, ``unbounded_lookaround`` the labels,
 ``linear_time`` what to remember; ``program`` is the way as a whole.
"""

from __future__ import annotations

from tokexport.patterns.program import MATCH_ENDS as MATCH_ENDS
from tokexport.patterns.program import SplitProgram as SplitProgram
from tokexport.patterns.program import compile_pattern as compile_pattern
from tokexport.patterns.program import compile_tree as compile_tree
from tokexport.patterns.program import spans as spans
from tokexport.patterns.tree import PatternError as PatternError
from tokexport.patterns.unbounded_lookaround import LabelTable as LabelTable
from tokexport.unicode import Dialect as Dialect
