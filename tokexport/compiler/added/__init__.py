"""Added tokens: the tries that find them in a text."""
