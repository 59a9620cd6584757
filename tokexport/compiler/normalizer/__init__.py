"""Normalizers: the operations that rewrite a text before it is split."""
