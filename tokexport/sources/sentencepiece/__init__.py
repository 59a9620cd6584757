"""SentencePiece .model files."""
