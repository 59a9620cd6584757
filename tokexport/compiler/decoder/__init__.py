"""Decoding as tables: how surface forms are stored, and the edits of the joined text."""
