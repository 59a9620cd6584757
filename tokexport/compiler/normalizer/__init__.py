"""Normalizers: what rewrites a text before it is split."""
