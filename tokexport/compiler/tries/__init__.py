"""Tries: over a vocabulary, for models other than BPE, and over added tokens."""
