"""Targets: a tokenizer becomes the file that another runtime loads, with a list of what is lost.

Each format is a module with a ``Target``: how it is written, how it is read back, and what the
program that loads it does with a text. ``registry.py`` lists them all.
"""

from __future__ import annotations
