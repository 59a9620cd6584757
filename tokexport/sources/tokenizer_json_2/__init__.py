"""tokenizer.json 2.0, as the release candidates of `tokenizers` 1.0 write it."""
