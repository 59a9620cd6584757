"""Pre-tokenizers and other patterns as tables: classes of characters, and an automaton."""
