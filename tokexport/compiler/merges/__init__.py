"""BPE: canonical merges, first symbols, and the tables that speed up their lookup."""
