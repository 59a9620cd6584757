"""Decoding as tables: how the forms of a token are stored, and the edits of the joined text."""
