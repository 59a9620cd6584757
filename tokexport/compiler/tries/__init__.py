"""The tries of Unigram, WordPiece and WordLevel models."""
