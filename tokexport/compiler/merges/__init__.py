"""BPE: canonical merges, first symbols, and what speeds their look-up."""
