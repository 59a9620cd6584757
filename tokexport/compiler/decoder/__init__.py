"""Decoders: the edits of a decoded text."""
