"""tokenizer.json 1.0, as `tokenizers` reads and writes it."""
