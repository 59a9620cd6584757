"""tiktoken ranks, `tiktoken.Encoding` objects, and tekken.json."""
