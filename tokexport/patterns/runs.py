"""The runs of one script that the UnicodeScripts pre-tokenizer cuts a text into, as a pattern."""

from __future__ import annotations

import numpy as np

from tokexport.patterns.tree import Characters, Choice, Node, Repeat, Sequence
from tokexport.unicode.character_data import script_sets


def script_runs() -> Node:
    """A character of some script, then all that follow of the same script or of none.

    What comes before the first such character is in no run: the reference drops it.
    """
    none, *scripts = script_sets()
    return Choice(
        tuple(
            Sequence(
                (
                    Characters(script),
                    Repeat(Characters(np.logical_or(script, none)), 0, None, greedy=True),
                )
            )
            for script in scripts
        )
    )
