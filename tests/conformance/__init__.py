"""Converts every tokenizer under a folder, compares each with its own library, and prints one table.

    python -m tests.conformance FOLDER --strings 10000 -o CONFORMANCE.md

In reading order: ``find`` (what a folder holds), ``measure`` (one tokenizer), ``vectors`` (ids that others publish),
``isolated`` (one process for each, so that none can stop the others), ``table`` (Markdown), ``__main__``.
"""
