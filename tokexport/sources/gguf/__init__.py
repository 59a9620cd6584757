"""GGUF files: the metadata keys `tokenizer.ggml.*`."""
