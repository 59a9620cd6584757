r"""From a pre-tokenizer's regular expression to a table that splits text.

A backtracking engine tries alternatives in order and goes back when one fails. The table here does
neither: it is a deterministic automaton, run once over the text, yet it finds the same match.

**Leftmost-first.** The threads of a pattern are in the order in which an engine would try them.
Where one has matched, those after it are cut, as the engine would never reach them. In ``a|ab`` the
first alternative cuts the second, so the ``b`` is never read:

>>> program = compile_pattern("a|ab", Dialect.ONIGURUMA)
>>> spans(program, "ab")
['a']

**A match ends on a transition.** Whether ``\s+(?!\S)`` ends after a space depends on the next
character, so the automaton decides when it reads that character: the transition says "a match ends
before this symbol". The symbol is an input class (here 1 is white space, 0 is not) or the end of
the text. The automaton starts at each position and runs until it dies; the last end seen is the
match:

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

State 0 is dead and 1 is the start; state 2 reads a word, state 3 white space. At class 0, state 3
dies without an end (``0``): the space before a word does not match.

**Lookaround.** A condition on one character on either side costs nothing: the automaton knows the
next one, and where it matters states remember the last. Unbounded lookahead, such as digits in
groups of three from the right, needs another pass over the text, from its end: a second automaton
gives each symbol a *label*, which is its class and whether the lookahead matches there, and the
first automaton reads labels in place of classes.

>>> program = compile_pattern(r"\d{1,3}(?=(?:\d{3})*\b)", Dialect.ONIGURUMA)
>>> spans(program, "1234567")
['1', '234', '567']
>>> program.labels.next.shape  # states and classes of the automaton that labels
(4, 3)

**Where a search begins.** ``\G`` holds where the last match ended. Such a pattern has a second row
of start states for those positions:

>>> spans(compile_pattern(r"\A\d{3}|\G\d{3}", Dialect.ONIGURUMA), "1234567 890")
['123', '456']

**What it costs.** Compiling takes milliseconds, or a second with large counted repeats. A table has
at most 4,096 states and 254 classes; that of GPT-4's pattern has 17 states and 11 classes. Text is
read in linear time: where an automaton may repeatedly read on past a match end, as in
``[a-z]+!|[a-z]``, it names the states to remember (:attr:`SplitProgram.n_memo`).

**When it refuses.** A pattern that has no such table, or a construct that no published tokenizer
needs, raises :class:`PatternError` with the offset. There is no approximation.

>>> try:
...     compile_pattern(r"a(?<=ba)", Dialect.ONIGURUMA)
... except PatternError as error:
...     print(error.problem)
a lookbehind over more than one character at offset 1

The steps, a module each: ``oniguruma`` or ``fancy`` parse a pattern (with ``parser``, which they
share, and ``casefold``) into a ``tree``; ``backreferences`` and ``lookaround`` rewrite what is not
regular as what is; ``nfa`` makes the threads, ``dfa`` the alphabet and the automaton,
``unbounded_lookaround`` the labels, ``linear_time`` the states to remember; ``program`` runs all
steps.
"""

from tokexport.patterns.program import MATCH_ENDS as MATCH_ENDS
from tokexport.patterns.program import SplitProgram as SplitProgram
from tokexport.patterns.program import compile_pattern as compile_pattern
from tokexport.patterns.program import compile_tree as compile_tree
from tokexport.patterns.program import spans as spans
from tokexport.patterns.tree import PatternError as PatternError
from tokexport.patterns.unbounded_lookaround import LabelTable as LabelTable
from tokexport.unicode import Dialect as Dialect
