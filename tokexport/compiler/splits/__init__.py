"""Pre-tokenizers: the stages that cut a text, and where it is safe to cut."""
