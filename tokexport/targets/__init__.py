"""Targets: converts a tokenizer to a file that another runtime loads, and lists what is lost.

Each format is a module with a ``Target``: how it is written and read back, and what the program
that loads it does with a text. ``registry.py`` lists them all.
"""
