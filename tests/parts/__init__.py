"""The table of README.md that says which parts of a tokenizer.json are exact and which are refused; `python -m tests.parts` prints it.

In reading order: ``bases`` (small tokenizers that a part is put into), ``cases`` (every part with its options), ``measure`` (one case: it
is converted, and compared with the library, or refused), ``table`` (Markdown).
"""
