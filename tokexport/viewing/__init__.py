"""Tokens for the eye: in colours on a terminal, or as a page for a browser."""
