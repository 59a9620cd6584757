"""Normalizers on Python strings, exactly as in the reference libraries, but slow."""
